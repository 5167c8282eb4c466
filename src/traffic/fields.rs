//! What is counted of a device and of a kernel: granularities, and the global fields with what threads do
//! to them.

use crate::device::{Device, signed};
use crate::footprint::{Addressing, Engine, FieldTouches, Refusal, Threads, Uncounted};
use crate::kernel::{AccessKind, FieldId, Kernel, Space};

use crate::space::Block;
use AccessKind::{Atomic, Load, Store};

/// Granularities of a device in bytes.
pub(super) struct Sizes {
    /// What L1 asks of L2.
    pub(super) sector: i64,
    /// What L1 allocates.
    pub(super) line: i64,
    /// What L2 asks of memory.
    pub(super) fetch: i64,
    pub(super) page: i64,
    /// What an L1 holds.
    pub(super) l1: i64,
}

impl Sizes {
    pub(super) fn new(device: &Device) -> Self {
        Self {
            sector: signed(device.l1.sector.value.0),
            line: signed(device.l1.line.value.0),
            fetch: signed(device.dram.fetch.value.0),
            page: signed(device.tlb.page.value.0),
            l1: signed(device.l1.capacity.value.0),
        }
    }
}

/// A global field with what threads do to it.
#[derive(Debug, Clone)]
pub(super) struct TouchedField {
    pub(super) id: FieldId,
    /// Memory of threads, which no other thread changes.
    pub(super) private: bool,
    /// Bytes of an element.
    pub(super) element_bytes: i64,
    /// Identical arrays.
    multiplicity: i64,
    /// Bytes of one of them; `None` if launches change that.
    pub(super) array_bytes: Option<i64>,
    pub(super) loads: FieldTouches,
    pub(super) stores: FieldTouches,
    pub(super) all: FieldTouches,
    /// Whether each thread stores where it fetches and nowhere else.
    in_place: bool,
    /// Only where there are any.
    pub(super) atomics: Option<Atomics>,
    /// The place of an earlier field that is touched in the same way, so that as much is counted of it.
    pub(super) like: Option<usize>,
}

/// Accesses of a field that has atomics.
#[derive(Debug, Clone)]
pub(super) struct Atomics {
    pub(super) alone: FieldTouches,
    pub(super) with_loads: FieldTouches,
}

impl TouchedField {
    /// What is read in the L2: atomics read what they change.
    pub(super) fn fetched(&self) -> &FieldTouches {
        self.atomics.as_ref().map_or(&self.loads, |a| &a.with_loads)
    }

    /// All that is touched: in place, what is fetched is all of it.
    pub(super) fn touched(&self) -> &FieldTouches {
        if self.in_place { self.fetched() } else { &self.all }
    }

    /// Whether lines that are fetched, those that are stored to, and all that are touched are the same.
    pub(super) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Whether as much is counted of another one: threads do the same to both.
    fn is_like(&self, other: &Self) -> bool {
        (self.private, self.element_bytes, self.multiplicity, self.array_bytes)
            == (other.private, other.element_bytes, other.multiplicity, other.array_bytes)
            && self.atomics.is_none()
            && other.atomics.is_none()
            && self.all.touches_as(&other.all)
            && self.loads.touches_as(&other.loads)
            && self.stores.touches_as(&other.stores)
    }

    /// Takes blocks to have another shape, for threads that do not tell one block from another.
    pub(super) fn set_blocks(&mut self, shape: Block) {
        let of_atomics = self.atomics.as_mut().map(|a| [&mut a.alone, &mut a.with_loads]);
        let all = [&mut self.loads, &mut self.stores, &mut self.all];
        all.into_iter().chain(of_atomics.into_iter().flatten()).for_each(|touched| touched.set_blocks(shape));
    }

    /// Identical arrays each take as much.
    pub(super) fn times(&self) -> f64 {
        self.multiplicity as f64
    }
}

/// The global fields that are accessed.
pub(super) fn touched_fields(
    kernel: &Kernel,
    threads: &Threads<'_>,
    addressing: Addressing,
) -> Result<Vec<TouchedField>, Uncounted> {
    let refused = |why: Refusal| Uncounted::Refused(vec![(Engine::Linear, why)]);
    let mut fields: Vec<TouchedField> = Vec::new();
    for (id, field) in (0..=u16::MAX).map(FieldId).zip(&kernel.fields) {
        if field.space == Space::Shared {
            continue;
        }
        let all = threads.touched(id, &[Load, Store, Atomic], addressing).map_err(refused)?;
        if all.is_empty() {
            continue;
        }
        let (loads, stores) = (all.only(&[Load]), all.only(&[Store, Atomic]));
        let atomics = Atomics { alone: all.only(&[Atomic]), with_loads: all.only(&[Load, Atomic]) };
        let atomics = (!atomics.alone.is_empty()).then_some(atomics);
        let (element_bytes, multiplicity) = (field.dtype.bytes, field.multiplicity);
        let private = field.space == Space::Private;
        let constant = field.elements.products().is_empty().then(|| field.elements.constant());
        let array_bytes = constant.and_then(|n| n.checked_mul(element_bytes));
        let fetched = atomics.as_ref().map_or(&loads, |a: &Atomics| &a.with_loads);
        let in_place = !stores.is_empty() && fetched.touches_as(&stores);
        let like = None;
        let mut touched = TouchedField {
            id,
            private,
            element_bytes,
            multiplicity,
            array_bytes,
            loads,
            stores,
            all,
            in_place,
            atomics,
            like,
        };
        touched.like = fields.iter().position(|earlier| touched.is_like(earlier));
        fields.push(touched);
    }
    Ok(fields)
}
