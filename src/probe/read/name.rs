//! Size and stride that a log does not say: from its name, or from the indices.

use super::logs::LogDefaults;
use crate::probe::Load;

/// What is known of a run before its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hints {
    pub(super) n: Option<u64>,
    pub(super) stride: Option<i64>,
    pub(super) element: u32,
    pub(super) cold: bool,
}

impl Hints {
    /// From what was given, or a name such as `fermi-3073element-stride1.txt` or `n3080_s8.csv`.
    pub(super) fn from_name(name: &str, given: LogDefaults) -> Self {
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
        let parts = parts(&base);
        let mut hints = Self {
            n: given.n,
            stride: given.stride,
            element: given.element.unwrap_or(4).max(1),
            cold: given.cold || base.contains("cold"),
        };
        for (i, part) in parts.iter().enumerate() {
            let Ok(number) = part.parse::<u32>() else { continue };
            let is = |at: Option<usize>, words: &[&str]| {
                at.and_then(|a| parts.get(a)).is_some_and(|p| words.contains(&p.as_str()))
            };
            let (before, after) = (i.checked_sub(1), Some(i + 1));
            if hints.n.is_none() && (is(after, &["element", "elements"]) || is(before, &["n"])) {
                hints.n = Some(u64::from(number));
            } else if hints.stride.is_none() && (is(after, &["stride"]) || is(before, &["stride", "s"])) {
                hints.stride = Some(i64::from(number));
            }
        }
        hints
    }
}

/// Runs of digits and of letters.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut kind = 0;
    for c in text.chars() {
        let now = if c.is_ascii_digit() {
            1
        } else if c.is_alphabetic() {
            2
        } else {
            0
        };
        if now != kind && now != 0 {
            parts.push(String::new());
        }
        kind = now;
        if now != 0
            && let Some(last) = parts.last_mut()
        {
            last.push(c);
        }
    }
    parts
}

/// The most common step between loads.
pub(super) fn stride_of(loads: &[Load]) -> Option<i64> {
    let mut counts: std::collections::BTreeMap<i64, usize> = std::collections::BTreeMap::new();
    for pair in loads.windows(2).take(100_000) {
        if let [a, b] = pair
            && a.latency >= 0.0
            && b.latency >= 0.0
        {
            *counts.entry(i64::from(b.index) - i64::from(a.index)).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|c| c.1).map(|c| c.0)
}

/// The size of an array that the chase went round.
pub(super) fn size_of(loads: &[Load], stride: i64) -> Option<u64> {
    let wraps =
        loads.windows(2).any(|p| (i64::from(p[1].index) - i64::from(p[0].index)) * stride.signum() < 0);
    let most = loads.iter().map(|l| u64::from(l.index)).max()?;
    wraps.then(|| most + stride.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_size_and_stride() {
        let of = |name: &str| {
            let hints = Hints::from_name(name, LogDefaults::default());
            (hints.n, hints.stride, hints.cold)
        };
        assert_eq!(of("logs/fermi-3073element-stride1.txt"), (Some(3073), Some(1), false));
        assert_eq!(of("fermi-3112element-8stride.txt"), (Some(3112), Some(8), false));
        assert_eq!(of("n3080_s8-cold.csv"), (Some(3080), Some(8), true));
        assert_eq!(of("results.txt"), (None, None, false));
    }
}
