//! The share of hits that look like misses.

use super::super::clusters::Clusters;
use super::super::log::Run;
use super::super::marks::{Marks, significant};

/// Loads below which a share says little.
const LEAST: u64 = 500;
/// What is assumed where nothing tells; 1 % of outliers of which a fifth look like misses.
const ASSUMED: f64 = 0.002;

/// From the smallest arrays, as long as they do not miss more than each other.
pub fn of_runs<'r>(runs: impl IntoIterator<Item = &'r Run>, clusters: &Clusters) -> f64 {
    let mut warm: Vec<&Run> = runs.into_iter().filter(|r| r.is_warm_stride()).collect();
    warm.sort_by_key(|r| r.bytes());
    let (mut loads, mut misses) = (0, 0);
    for run in warm {
        let (l, m) = Marks::of(run, clusters, run.stride.unsigned_abs()).sum();
        let share = if loads >= LEAST { misses as f64 / loads as f64 } else { 0.01 };
        if l == 0 || significant(l, m, share.max(1e-4)) {
            break;
        }
        (loads, misses) = (loads + l, misses + m);
    }
    if loads < LEAST { ASSUMED } else { ((misses as f64 + 1.0) / loads as f64).clamp(1e-4, 0.05) }
}
