//! The sets and maps of a launch in isl's notation, for experts to read.

use isl_rs::{DimType, Map, PwAff, Set};

use super::build::Coordinates;
use super::session::{IslError, Session, with_session};
use crate::expr::{Coord, Dim, Form, LoopId};
use crate::kernel::{Kernel, Space};
use crate::launch::{Instruction, Item, Launch, Program};

/// Elementary operations that building one set may take.
const QUOTA: u64 = 10_000_000;

/// The sets and maps of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSets {
    /// All threads that work, with the iterations of their loops.
    pub threads: String,
    /// For each memory instruction its field's space and the map from threads to byte addresses
    /// (of the field, whose base lies at 0).
    pub accesses: Vec<(&'static str, String)>,
}

/// Builds and prints the sets and maps of a launch.
pub fn show_sets(kernel: &Kernel, launch: &Launch, program: &Program<i64>) -> Result<ShownSets, IslError> {
    with_session(QUOTA, |session| {
        let shower = Shower { kernel, launch, program, coordinates: coordinates(kernel, session)? };
        let threads = shower.threads()?;
        let accesses =
            program.instructions.iter().map(|i| shower.access(i)).collect::<Result<Vec<_>, IslError>>()?;
        session.unlimited();
        let text = |map: &Map| map.to_str().map(str::to_owned);
        Ok(ShownSets {
            threads: threads.to_str()?.to_owned(),
            accesses: accesses
                .iter()
                .map(|(verb, map)| Ok((*verb, text(map)?)))
                .collect::<Result<_, IslError>>()?,
        })
    })
}

/// bx, by, bz, tx, ty, tz and the loop variables, as far as the kernel has such dimensions.
fn coordinates<'s>(kernel: &Kernel, session: &'s Session<'s>) -> Result<Coordinates<'s>, IslError> {
    let mut named = Vec::new();
    named.extend(Dim::ALL.map(|d| (Coord::BlockIdx(d), format!("b{}", d.letter()))));
    named.extend(Dim::ALL.map(|d| (Coord::ThreadIdx(d), format!("t{}", d.letter()))));
    for (i, l) in kernel.loops.iter().enumerate() {
        let number = u16::try_from(i).expect("kernels have few loops");
        named.push((Coord::Loop(LoopId(number)), l.name.clone()));
    }
    Coordinates::new(session, &named)
}

struct Shower<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    program: &'a Program<i64>,
    coordinates: Coordinates<'a>,
}

impl Shower<'_> {
    /// Threads of the grid for which some work item works, and the iterations of their loops.
    fn threads(&self) -> Result<Set, IslError> {
        let mut set = Set::universe(self.coordinates.space.copy()?)?;
        for d in Dim::ALL {
            let i = d.index();
            set = self.bounded(set, i, self.launch.sizes.grid[i])?;
            set = self.bounded(set, i + 3, self.launch.sizes.block[i])?;
        }
        for (i, l) in self.program.loops.iter().enumerate() {
            let (from, to) = (self.coordinates.form(&l.from)?, self.coordinates.form(&l.to)?);
            let id = LoopId(u16::try_from(i).expect("loops are numbered with 16 bits"));
            let variable = || self.coordinates.form(&Form::coord(Coord::Loop(id)));
            let (low, high) = if l.step > 0 { (from.copy()?, to) } else { (to, from.copy()?) };
            set = set.intersect(variable()?.sub(low)?.nonneg_set()?)?;
            set = set.intersect(high.sub(variable()?)?.nonneg_set()?)?;
            // With a step of -2^63 there is one iteration, as with one of 2^63 - 1.
            let step = l.step.checked_abs().unwrap_or(i64::MAX);
            let step = self.coordinates.session.value(step)?;
            set = set.intersect(variable()?.sub(from)?.mod_val(step)?.zero_set()?)?;
        }
        let mut working = Set::empty(self.coordinates.space.copy()?)?;
        for item in &self.program.items {
            working = working.union(self.working(item, true)?)?;
        }
        // A kernel with its own grid may also work outside the domain.
        if self.program.instructions.iter().any(|i| !i.clipped) {
            for item in &self.program.items {
                working = working.union(self.working(item, false)?)?;
            }
        }
        Ok(set.intersect(working)?.coalesce()?)
    }

    fn bounded(&self, set: Set, dimension: usize, extent: i64) -> Result<Set, IslError> {
        let position = super::build::dimension(dimension);
        let session = self.coordinates.session;
        let set = set.lower_bound_val(DimType::Set, position, session.value(0)?)?;
        Ok(set.upper_bound_val(DimType::Set, position, session.value(extent - 1)?)?)
    }

    /// Threads for which a work item works, inside the domain if it is clipped.
    fn working(&self, item: &Item<i64>, clipped: bool) -> Result<Set, IslError> {
        let mut set = match &item.guard {
            Some(guard) => self.coordinates.condition(guard)?,
            None => Set::universe(self.coordinates.space.copy()?)?,
        };
        if !clipped {
            return Ok(set);
        }
        for (d, extent) in Dim::ALL.into_iter().zip(self.kernel.extents()) {
            set = set.intersect(self.inside(d, item.offset[d.index()], extent)?)?;
        }
        Ok(set)
    }

    /// extent - 1 - fold*(block*B + thread) - offset >= 0.
    fn inside(&self, d: Dim, offset: i64, extent: i64) -> Result<Set, IslError> {
        let (fold, block) = (self.program.fold[d.index()], self.launch.sizes.block[d.index()]);
        let item = Form::coord(Coord::BlockIdx(d))
            .times(&block)
            .and_then(|b| b.plus(&Form::coord(Coord::ThreadIdx(d))))
            .and_then(|thread| thread.times(&-fold))
            .and_then(|item| item.plus(&Form::int(extent - 1 - offset)));
        let item = item.map_err(|_| IslError::Unsupported("a domain of this size"))?;
        Ok(self.coordinates.form(&item)?.nonneg_set()?)
    }

    /// The map from threads to the bytes at which an instruction touches its field.
    fn access(&self, instruction: &Instruction<i64>) -> Result<(&'static str, Map), IslError> {
        let field = self.kernel.field(instruction.field);
        let byte =
            instruction.element.plus(&Form::int(field.offset)).and_then(|e| e.times(&field.dtype.bytes));
        let byte = byte.map_err(|_| IslError::Unsupported("an address of this size"))?;
        let address: PwAff = self.coordinates.form(&byte)?;
        let mut map = Map::from_pw_aff(address)?.set_tuple_name(DimType::Out, &field.name)?;
        if let Some(when) = &instruction.when {
            map = map.intersect_domain(self.coordinates.condition(when)?)?;
        }
        // With several work items in a thread, not all of them work wherever the thread does.
        if self.program.items.len() > 1 {
            let mut works = Set::empty(self.coordinates.space.copy()?)?;
            for i in instruction.items.iter() {
                works =
                    works.union(self.working(&self.program.items[usize::from(i)], instruction.clipped)?)?;
            }
            map = map.intersect_domain(works)?;
        }
        let verb = match (instruction.kind.verb(), field.space) {
            (verb, Space::Global | Space::Private) => verb,
            ("load", Space::Shared) => "load shared",
            ("store", Space::Shared) => "store shared",
            (_, Space::Shared) => "atomic shared",
        };
        Ok((verb, map))
    }
}
