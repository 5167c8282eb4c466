//! N's two further experiments on simulated caches: what puts what out, and how many loads can be on their way.

use super::cache::Latencies;
use super::chase::{Chase, chase};
use super::spec::ProbeSpec;
use crate::probe::{ChaseOrder, MshrPoint, Run};

/// N 5.1: an array that fills the cache, and beside it, one at a time, lines up to `bits` line bits that
/// differ from the first line in one bit, or in one and a low one.
pub fn set_hash_runs(spec: &ProbeSpec, bits: u32) -> Vec<Run> {
    let Some(level) = spec.levels.first() else { return Vec::new() };
    let element = u64::from(spec.element);
    let lines = level.lines();
    let stride = (level.line / element).cast_signed();
    let n = lines * level.line / element;
    let first = 64 - (lines.max(2) - 1).leading_zeros();
    let beside = (first..bits.min(40)).flat_map(|b| [1 << b, 1 << b | 1]).filter(|&l: &u64| l >= lines);
    let mut runs: Vec<Run> = beside
        .filter_map(|line| {
            let extra = u32::try_from(line * level.line / element).ok()?;
            Some(chase(
                spec,
                &Chase { n, stride, order: ChaseOrder::Evict { extra }, cold: false, rounds: 24 },
            ))
        })
        .collect();
    // An array of a line, so that the noise of hits is known.
    runs.push(chase(spec, &Chase::warm(n / lines, 1, 64)));
    runs
}

/// N 5.2: times of independent loads, for 1 to `warps` warps of 1 to `loads` loads, `times` each.
pub fn mshr_points(spec: &ProbeSpec, warps: u32, loads: u32, times: u32) -> Vec<MshrPoint> {
    let mut clock = Latencies::new(spec, 0, 0x6d73);
    let mut all = Vec::new();
    for (warps, loads) in (1..=warps).flat_map(|w| (1..=loads).map(move |l| (w, l))) {
        // Each warp has its limit and its share of all.
        let share = (spec.mshrs / warps).min(spec.mshrs_per_warp);
        let waves = if share > 0 { loads.div_ceil(share) } else { (warps * loads).div_ceil(spec.mshrs) };
        // Loads are issued one after the other: N's note 4.
        let issue = 2.0 * f64::from(loads) + 0.5 * f64::from(warps * loads);
        for _ in 0..times {
            let cycles = clock.noisy(spec.miss_cycles * f64::from(waves) + issue);
            all.push(MshrPoint { warps, loads, cycles });
        }
    }
    all
}
