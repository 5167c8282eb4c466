//! The steps of the clock that timed the loads: latencies are multiples of them, so that one latency is seen as two
//! or three, a step apart.

use super::log::Run;

/// Latencies that are looked at.
const LOOKED_AT: usize = 1 << 14;
/// The longest step that is thought possible, in cycles and as a share of the latency that is seen most.
const MOST: u16 = 16;
const MOST_SHARE: f32 = 0.15;
/// Latencies that must be multiples: a few may be means of several.
const SHARE: f64 = 0.98;
/// Latencies below which no step is looked for.
const LEAST: usize = 8;

/// Cycles of a step; 0 if latencies are no multiples of any.
pub(super) fn step(runs: &[Run]) -> f64 {
    let all: usize = runs.iter().map(|r| r.loads.len()).sum();
    let loads = runs.iter().flat_map(|r| &r.loads).step_by(all.div_ceil(LOOKED_AT).max(1));
    let mut latencies: Vec<f32> = loads.map(|l| l.latency).collect();
    latencies.sort_by(f32::total_cmp);
    if latencies.len() < LEAST {
        return 0.0;
    }
    let counts: Vec<(f32, usize)> =
        latencies.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|same| (same[0], same.len())).collect();
    // What the clock costs may have been taken off: multiples are counted from the latency that is seen most.
    let Some(&(most, _)) = counts.iter().max_by_key(|c| c.1) else { return 0.0 };
    let multiple = |latency: f32, step: f32| ((latency - most) / step).fract() == 0.0;
    let fits = |step: f32| {
        let all: usize = counts.iter().filter(|c| multiple(c.0, step)).map(|c| c.1).sum();
        all as f64 >= SHARE * latencies.len() as f64
    };
    // A hit and a miss without noise are some multiple apart as well: one step apart must have been seen.
    let beside = |step: f32| {
        let often = |latency: f32| {
            let at = counts.partition_point(|c| c.0 < latency - step / 1000.0);
            counts.get(at).is_some_and(|c| c.1 > 1 && c.0 < latency + step / 1000.0)
        };
        counts.iter().any(|c| c.1 > 1 && often(c.0 + step))
    };
    let steps = (1..=MOST).rev().map(f32::from).filter(|&s| s <= most * MOST_SHARE);
    steps.filter(|&s| fits(s)).find(|&s| beside(s)).map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::{ChaseOrder, Load};

    fn clock(latencies: impl IntoIterator<Item = f32>) -> f64 {
        let loads = latencies.into_iter().map(|latency| Load { index: 0, latency }).collect();
        let (n, stride, element, order) = (1, 1, 4, ChaseOrder::Stride);
        step(&[Run { name: String::new(), n, stride, element, order, cold: false, loads }])
    }

    #[test]
    fn steps_are_found_with_and_without_an_offset() {
        let some = |step: u16| (0..500_u16).map(move |i| step * (30 + i % 7 * i % 5));
        assert!((clock(some(2).map(f32::from)) - 2.0).abs() < 1e-9);
        assert!((clock(some(2).map(|l| f32::from(l) - 13.0)) - 2.0).abs() < 1e-9);
        assert!((clock(some(1).map(f32::from)) - 1.0).abs() < 1e-9);
        assert!(clock(some(1).map(|l| f32::from(l) * 1.0371)).abs() < 1e-9);
        assert!(clock([]).abs() < 1e-9 && clock([30.0; 20]).abs() < 1e-9);
        // A hit and a miss, always the same, are no steps.
        assert!(clock([28.0, 60.0].into_iter().cycle().take(50)).abs() < 1e-9);
        assert!(clock([250.0, 490.0, 730.0].into_iter().cycle().take(50)).abs() < 1e-9);
        assert!((clock([28.0, 30.0, 58.0, 60.0].into_iter().cycle().take(50)) - 2.0).abs() < 1e-9);
    }
}
