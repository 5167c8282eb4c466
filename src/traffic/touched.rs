//! The global fields of a kernel with what threads do to them.

use crate::footprint::{Addressing, Engine, Refusal, Threads, Touched, Uncounted};
use crate::kernel::{AccessKind, Field, FieldId, Kernel, Space};

use AccessKind::{Atomic, Load, Store};

/// A global field with what threads do to it.
#[derive(Debug)]
pub(super) struct TouchedField<'k> {
    pub(super) id: FieldId,
    pub(super) field: &'k Field,
    pub(super) loads: Touched,
    pub(super) stores: Touched,
    pub(super) all: Touched,
}

impl TouchedField<'_> {
    /// Identical arrays each take as much.
    pub(super) fn times(&self) -> f64 {
        self.field.multiplicity as f64
    }

    /// The same in blocks of another shape, for threads that do not tell one block from another.
    pub(super) fn in_blocks_of(&self, shape: [i64; 3]) -> Self {
        let [loads, stores, all] = [&self.loads, &self.stores, &self.all].map(|t| t.in_blocks_of(shape));
        Self { loads, stores, all, ..*self }
    }
}

pub(super) fn touched_fields<'k>(
    kernel: &'k Kernel,
    threads: &Threads<'_>,
    addressing: Addressing,
) -> Result<Vec<TouchedField<'k>>, Uncounted> {
    let refused = |why: Refusal| Uncounted::Refused(vec![(Engine::Linear, why)]);
    let mut fields = Vec::new();
    for (number, field) in kernel.fields.iter().enumerate() {
        if field.space == Space::Shared {
            continue;
        }
        let id = FieldId(u16::try_from(number).unwrap_or(u16::MAX));
        let all = threads.touched(id, &[Load, Store, Atomic], addressing).map_err(refused)?;
        if all.is_empty() {
            continue;
        }
        let (loads, stores) = (all.only(&[Load]), all.only(&[Store, Atomic]));
        fields.push(TouchedField { id, field, loads, stores, all });
    }
    Ok(fields)
}
