//! Numbers and shapes of threads that can be held.

use super::number;
use crate::trace::model::Dim3;

/// Threads beyond which a number is hardly meant: each needs a place in memory, whether it does anything or not.
const MOST_THREADS: u64 = 1 << 26;

/// A thread's number, if it is one that can be held.
#[inline]
pub(super) fn thread_number(number: u64) -> Option<u32> {
    if number < MOST_THREADS { u32::try_from(number).ok() } else { None }
}

/// The number of a thread by the number of its block and its place in it.
pub(super) fn thread_of(block: Dim3, group: u64, local: Dim3) -> Option<u32> {
    local.0.iter().zip(block.0).all(|(&l, n)| l < n).then_some(())?;
    thread_number(group.checked_mul(block.volume())?.checked_add(block.linear(local))?)
}

/// Three extents with a separator, the whole text; blanks beside it do not matter.
pub(super) fn extents(text: &[u8], separator: u8) -> Option<Dim3> {
    let mut parts = text.split(|&b| b == separator).map(<[u8]>::trim_ascii).filter(|p| !p.is_empty());
    let mut all = [0; 3];
    for extent in &mut all {
        let (n, rest) = number::decimal(parts.next()?)?;
        rest.is_empty().then_some(())?;
        *extent = u32::try_from(n).ok()?;
    }
    parts.next().is_none().then_some(())?;
    checked(all)
}

/// Extents that are positive and of which all elements can be held.
pub(super) fn checked(extents: [u32; 3]) -> Option<Dim3> {
    let all = Dim3(extents);
    (all.volume() > 0 && all.volume() <= MOST_THREADS).then_some(all)
}
