//! The largest array that fits and the smallest that does not.

use super::super::clusters::Clusters;
use super::super::log::Run;
use super::super::marks::{Marks, significant};

/// Whether an array misses when it is warm.
pub fn overflows(run: &Run, clusters: &Clusters, noise: f64) -> bool {
    let marks = Marks::of(run, clusters, run.stride.unsigned_abs());
    let (loads, misses) = marks.sum();
    // A few places that always miss are more than as many misses here and there.
    let always = |p: &&(u32, u32)| p.0 >= 3 && p.1 * 4 >= p.0 * 3 && f64::from(p.1) > 1.5;
    let steady = marks.places.iter().filter(always).count();
    significant(loads, misses, noise) && (steady > 0 || significant(loads, misses, 2.0 * noise))
        || steady > 0 && misses as f64 > 2.5 + loads as f64 * noise
}

/// Bytes of the largest array that fits below the smallest that does not, and of that.
pub(super) fn edge(runs: &[Run], clusters: &Clusters, noise: f64) -> (Option<u64>, Option<u64>) {
    let mut all: Vec<(u64, bool)> = runs
        .iter()
        .filter(|r| r.is_warm_stride())
        .map(|r| (r.bytes(), overflows(r, clusters, noise)))
        .collect();
    all.sort_unstable();
    let over = all.iter().find(|r| r.1).map(|r| r.0);
    let fits = all.iter().filter(|r| !r.1 && over.is_none_or(|o| r.0 < o)).map(|r| r.0).max();
    (fits, over)
}
