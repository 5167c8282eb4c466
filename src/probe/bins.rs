//! Latencies on a logarithmic scale, in bins of half a percent.

use std::sync::LazyLock;

use super::log::Run;

/// Bins of each natural logarithm: 0.5 % each.
pub(super) const BINS: f64 = 200.0;
/// Latencies up to e^16 cycles.
pub(super) const MOST: usize = 3200;

/// Bits of a fraction by which bins are looked up: parts of an octave that are smaller than a bin.
const FRACTION: u32 = 9;
const DROPPED: u32 = f32::MANTISSA_DIGITS - 1 - FRACTION;
/// The bits of 1 cycle, below which nothing is told apart.
const ONE: u32 = 1.0_f32.to_bits() >> DROPPED;

/// Logarithms take long, and logs have millions of loads: the bin with which each part of an octave begins, and the
/// latency with which each bin does.
static TABLE: LazyLock<(Vec<u16>, Vec<f32>)> = LazyLock::new(|| {
    #[expect(clippy::cast_possible_truncation, reason = "bins are coarse, and less than 3201")]
    let starts: Vec<f32> = (0..=MOST).map(|b| (b as f64 / BINS).exp() as f32).collect();
    let last = starts.last().copied().unwrap_or(1.0).to_bits() >> DROPPED;
    let first = |bits: u32| {
        let latency = f32::from_bits(bits << DROPPED);
        let bin = starts.partition_point(|&s| s <= latency).saturating_sub(1);
        #[expect(clippy::cast_possible_truncation, reason = "less than 3201")]
        let bin = bin as u16;
        bin
    };
    ((ONE..=last).map(first).collect(), starts)
});

/// The bin of a latency.
#[inline]
pub(super) fn bin(latency: f32) -> usize {
    let (firsts, starts) = &*TABLE;
    // What is less than one cycle, or no number, lies in the first bin.
    let at = (latency.max(1.0).to_bits() >> DROPPED) - ONE;
    let Some(&first) = firsts.get(at as usize) else { return MOST - 1 };
    let first = usize::from(first);
    let next = starts.get(first + 1).is_some_and(|&s| latency >= s);
    (first + usize::from(next)).min(MOST - 1)
}

/// The latency in the middle of a bin.
pub(super) fn cycles(bin: f64) -> f64 {
    ((bin + 0.5) / BINS).exp()
}

/// Loads of a run by bin.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    /// Bins that have any, and how many.
    pub(super) all: Vec<(u16, u32)>,
    /// All loads.
    pub(super) loads: usize,
}

impl Counts {
    pub(super) fn new(run: &Run) -> Self {
        let mut counts = vec![0_u32; MOST];
        for load in &run.loads {
            counts[bin(load.latency)] += 1;
        }
        let all = (0_u16..).zip(counts).filter(|c| c.1 > 0).collect();
        Self { all, loads: run.loads.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_the_logarithm() {
        for i in 0..2_000_000_u32 {
            let latency = f32::from_bits(0x3f70_0000 + i * 101);
            let expected = f64::from(latency.max(1.0)).ln() * BINS;
            let found = bin(latency) as f64;
            let inside = expected - 1.0 - 1e-4 < found && found <= expected + 1e-4;
            assert!(inside || expected >= MOST as f64, "{latency}: {found}, {expected}");
        }
        assert_eq!([f32::NAN, -1.0, 0.0, 1.0].map(bin), [0; 4]);
        assert_eq!(bin(f32::INFINITY), MOST - 1);
    }
}
