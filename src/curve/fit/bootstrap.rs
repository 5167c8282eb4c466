//! Intervals by fitting to resampled points (Efron, "Bootstrap methods: another look at the jackknife",
//! 1979): they need no formula for the noise.

use super::points::Points;
use super::robust::{FitOptions, FittedCurve, refit};
use super::starts::quantile;
use crate::curve::interval::Interval;
use crate::parallel;
use crate::random::Random;

/// 95 % intervals of the parameters from `resamples` fits; the same seed gives the same ones.
pub fn bootstrap(
    points: &Points,
    options: &FitOptions,
    found: &FittedCurve,
    resamples: usize,
    seed: u64,
) -> Vec<Interval> {
    let all: Vec<Vec<f64>> = parallel::map_each((0..resamples).collect(), |i| {
        // Each has random numbers of its own, so that the order of threads does not matter.
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(i as u64));
        let some = points.some((0..points.len()).map(|_| random.position(points.len())));
        refit(&some, options, found)
    });
    let of = |i: usize| {
        let mut values: Vec<f64> = all.iter().map(|v| v[i]).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&values, share).unwrap_or(f64::NAN);
        Interval::new(at(0.025), at(0.975))
    };
    (0..found.values.len()).map(of).collect()
}
