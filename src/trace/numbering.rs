//! Numbers of accesses, requests, lines and threads.

/// A number of something of which a trace holds less than 2^32: [`TraceLimits`](super::TraceLimits) allow no memory
/// for more.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "limits of memory see to it")]
pub(crate) fn number(n: usize) -> u32 {
    debug_assert!(u32::try_from(n).is_ok(), "{n} is no number of 32 bits");
    n as u32
}
