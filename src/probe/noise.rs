//! The share of hits that look like misses.

use super::clusters::Clusters;
use super::log::Run;
use super::marks::{Marks, significant};

use crate::sorting;

/// Loads below which a share says little.
const LEAST: u64 = 500;
/// What is assumed where nothing tells; 1 % of outliers of which a fifth look like misses.
const ASSUMED: f64 = 0.002;

/// From the smallest arrays, as long as they do not miss more than each other.
pub fn noise_of<'r>(runs: impl IntoIterator<Item = &'r Run>, clusters: &Clusters) -> f64 {
    let mut warm: Vec<&Run> = runs.into_iter().filter(|r| r.is_warm_stride()).collect();
    sorting::sort_by_key(&mut warm, |r| r.bytes());
    let (mut loads, mut misses) = (0, 0);
    for run in warm {
        let (l, m) = Marks::new(run, clusters, run.stride.unsigned_abs()).sum();
        // A few misses in a few thousand loads may well have been twice as many.
        let above = misses as f64 + 2.0 * (misses as f64 + 1.0).sqrt() + 2.0;
        let share = if loads >= LEAST { above / loads as f64 } else { 0.01 };
        if l == 0 || significant(l, m, share.max(1e-4)) {
            break;
        }
        (loads, misses) = (loads + l, misses + m);
    }
    if loads < LEAST { ASSUMED } else { ((misses as f64 + 1.0) / loads as f64).clamp(1e-4, 0.05) }
}
