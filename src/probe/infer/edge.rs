//! The largest array that fits and the smallest that does not.

use super::super::clusters::Clusters;
use super::super::finding::FittingArrays;
use super::super::log::Run;
use super::super::marks::{Marks, significant};

use crate::sorting;

/// Misses of a place that are counted one by one; more are counted with them. With many rounds noise alone
/// makes several.
const COUNTED: usize = 200;

/// Whether an array misses when it is warm: more misses than noise makes, or more places with several.
pub fn overflows(run: &Run, clusters: &Clusters, noise: f64) -> bool {
    let marks = Marks::new(run, clusters, run.stride.unsigned_abs());
    let (loads, misses) = marks.sum();
    // A few places that always miss are more than as many misses here and there.
    let always = |p: &&(u32, u32)| p.0 >= 3 && p.1 * 4 >= p.0 * 3;
    let steady = marks.places.iter().filter(always).count();
    // One round says no more than its sum.
    let once = marks.rounds() < 3 && significant(loads, misses, noise);
    steady > 0 || once || significant(loads, misses, 3.0 * noise) || gathered(&marks, noise)
}

/// Whether misses gather at places: the noise of loads alike is spread evenly.
fn gathered(marks: &Marks, noise: f64) -> bool {
    let mut counts = [0.0; COUNTED + 1];
    let mut expected = [0.0; COUNTED + 1];
    for &(visits, misses) in &marks.places {
        let mean = f64::from(visits) * noise;
        // The chance of k misses and more, by Poisson's distribution.
        let (mut exactly, mut below) = ((-mean).exp(), 0.0);
        for (k, (count, expected)) in (0_u32..).zip(counts.iter_mut().zip(&mut expected)) {
            *count += f64::from(u8::from(misses >= k));
            *expected += 1.0 - below;
            below += exactly;
            exactly *= mean / f64::from(k + 1);
        }
    }
    let mut pairs = counts.iter().zip(&expected).skip(2);
    pairs.any(|(count, expected)| *count > expected + 6.0 * expected.sqrt() + 3.0)
}

/// Bytes of the largest array that fits below the smallest that does not, and of that.
pub(super) fn arrays(runs: &[Run], clusters: &Clusters, noise: f64) -> FittingArrays {
    let mut all: Vec<&Run> = runs.iter().filter(|r| r.is_warm_stride()).collect();
    sorting::sort_by_key(&mut all, |r| r.bytes());
    // What is larger than the smallest that does not fit is not looked at: that is most of a log.
    let overflows_bytes = all.iter().find(|r| overflows(r, clusters, noise)).map(|r| r.bytes());
    let fits = |bytes: &u64| overflows_bytes.is_none_or(|over| *bytes < over);
    let fits_bytes = all.iter().map(|r| r.bytes()).filter(fits).max();
    FittingArrays { fits_bytes, overflows_bytes }
}
