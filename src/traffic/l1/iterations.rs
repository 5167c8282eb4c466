//! Which iterations of a loop stand for all of them.

use crate::footprint::gcd;

/// Most iterations of one loop that are looked at.
pub(super) const MOST_ITERATIONS: i64 = 32;

/// Iterations of a loop to look at and for how many each stands; and whether some are left out.
/// Addresses move by `stride` bytes per iteration; alignments repeat after `period` bytes.
pub(super) fn choose(count: i64, stride: i64, period: i64) -> (Vec<(i64, f64)>, bool) {
    if stride == 0 {
        return (vec![(0, count as f64)], false);
    }
    if count <= MOST_ITERATIONS {
        return ((0..count).map(|k| (k, 1.0)).collect(), false);
    }
    let alignments = (period / gcd(stride, period)).min(count);
    let one = |i: i64| {
        let like = (count - i - 1) / alignments + 1;
        // Of the iterations with this alignment each time another, so that they are spread over the loop.
        let k = i + alignments * (i.wrapping_mul(7919).rem_euclid(like));
        (k, like as f64)
    };
    ((0..alignments).map(one).collect(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_iterations_stand_for_all() {
        for (count, stride, chosen) in
            [(10, 8, 10), (1000, 8, 16), (1000, 4, 32), (50, 4, 32), (7, 0, 1), (99, 256, 1)]
        {
            let (iterations, _) = choose(count, stride, 128);
            assert_eq!(iterations.len(), chosen);
            assert!(iterations.iter().all(|&(k, _)| (0..count).contains(&k)));
            let sum: f64 = iterations.iter().map(|i| i.1).sum();
            assert!((sum - count as f64).abs() < 1e-9);
        }
    }
}
