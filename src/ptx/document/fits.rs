//! Whether a block fits the shared arrays of a kernel: whether its threads stay inside of them, and find there what they
//! have stored.

use super::statement::{Listed, Status};
use crate::ptx::read::{BaseKind, Operation, Reader};
use crate::ptx::syntax::StateSpace;
use crate::ptx::value::{Atom, AtomId, Cond, Point, Poly};

/// Accesses of threads that are looked at.
const MOST: u64 = 1 << 17;

/// Why a block does not fit: the instruction and the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ptx) struct Unfit {
    pub instruction: usize,
    pub array: String,
    /// Whether the access lies outside of the array; otherwise no thread has stored what it loads.
    pub outside: bool,
}

/// A shared array of fixed size.
struct Array {
    base: u32,
    name: String,
    /// Which of its bytes somebody stores.
    stored: Vec<bool>,
}

/// Why the block of a reading does not fit, if that is certain of a block in the middle of the grid.
pub(super) fn unfit(reader: &Reader<'_>, listed: &[Listed], common: &[Cond]) -> Option<Unfit> {
    let mut arrays = arrays(reader);
    let mut left = MOST;
    // What is counted as always done though data decide may store, but proves nothing.
    let (stores, loads): (Vec<&Listed>, Vec<&Listed>) = listed
        .iter()
        .filter(|l| l.space == StateSpace::Shared && l.status != Status::Refused)
        .partition(|l| l.operation != Operation::Load);
    if listed.iter().any(|l| l.space == StateSpace::Shared && l.status == Status::Refused) {
        return None;
    }
    for (all, loading) in [(stores, false), (loads, true)] {
        for access in all {
            let Some(array) = arrays.iter_mut().find(|a| Some(a.base) == access.base) else { continue };
            let certain = access.status == Status::Exact;
            let mut found = None;
            each(reader, access, common, &mut left, &mut |offset| {
                let from = usize::try_from(offset).ok();
                let to = usize::try_from(offset + i128::from(access.width)).ok();
                let bytes = from.zip(to).and_then(|(from, to)| array.stored.get_mut(from..to));
                match bytes {
                    None => found = found.or(Some(true)).filter(|_| certain),
                    Some(bytes) if loading && certain && !bytes.iter().all(|byte| *byte) => {
                        found = found.or(Some(false));
                    }
                    Some(bytes) if !loading => bytes.fill(true),
                    Some(_) => {}
                }
            })?;
            if let Some(outside) = found {
                let array = reader.module.source_name(&array.name).to_owned();
                let instruction = access.instruction;
                return Some(Unfit { instruction, array, outside });
            }
        }
    }
    None
}

fn arrays(reader: &Reader<'_>) -> Vec<Array> {
    let sized = (0_u32..).zip(&reader.bases).filter_map(|(base, kind)| {
        let BaseKind::Variable(StateSpace::Shared, name) = kind else { return None };
        let variable = reader.function.variable(name).or_else(|| reader.module.variable(name))?;
        variable.count?;
        let bytes = usize::try_from(variable.bytes()).ok().filter(|bytes| *bytes <= 1 << 20)?;
        Some(Array { base, name: name.clone(), stored: vec![false; bytes] })
    });
    sized.collect()
}

/// Does something with the place of each access of all threads of a block; none where that would take too long.
fn each(
    reader: &Reader<'_>,
    access: &Listed,
    common: &[Cond],
    left: &mut u64,
    then: &mut dyn FnMut(i128),
) -> Option<()> {
    let offset = access.offset.as_ref()?;
    let algebra = &reader.algebra;
    // Loops whose counters say where or whether; of the others, one iteration is enough.
    let counts = |id: AtomId| {
        let counter = algebra.atom(id).clone();
        let is = |atom: &Atom| *atom == counter;
        algebra.mentions(offset, &is)
            || algebra.cond_mentions(&access.cond, &is)
            || access.loops.iter().any(|(_, last)| algebra.mentions(last, &is))
    };
    let loops: Vec<(usize, &Poly, bool)> =
        access.loops.iter().map(|(id, last)| (algebra.counter_number(*id), last, counts(*id))).collect();
    let [x, y, z] = *algebra.launch.block;
    for thread in 0..x * y * z {
        let mut at = Point {
            tid: [thread % x, thread / x % y, thread / x / y].into(),
            ctaid: algebra.launch.grid.map(|blocks| blocks / 2).into(),
            counters: vec![0; algebra.counters()],
        };
        iterate(reader, access, common, &loops, &mut at, left, then)?;
    }
    Some(())
}

fn iterate(
    reader: &Reader<'_>,
    access: &Listed,
    common: &[Cond],
    loops: &[(usize, &Poly, bool)],
    at: &mut Point,
    left: &mut u64,
    then: &mut dyn FnMut(i128),
) -> Option<()> {
    *left = left.checked_sub(1)?;
    let algebra = &reader.algebra;
    let Some(((counter, last, all), inner)) = loops.split_first() else {
        if common.iter().chain([&access.cond]).all(|cond| algebra.holds(cond, at)) {
            then(algebra.value(access.offset.as_ref()?, at));
        }
        return Some(());
    };
    let last = algebra.value(last, at);
    for k in 0..=if *all { last } else { last.min(0) } {
        at.counters[*counter] = k;
        iterate(reader, access, common, inner, at, left, then)?;
    }
    at.counters[*counter] = 0;
    Some(())
}
