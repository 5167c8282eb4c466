//! How far apart two blocks of a wave use the same line.

use crate::quantity::{Ratio, Share};

/// Points of a wave's time, from 0 to 1, and their shares: those of Gauss and Legendre for eight points, times
/// `2 (1 - u)`, whose integral is 1.
const POINTS: [(f64, f64); 8] = [
    (0.019_855_071_751_231_9, 0.050_614_268_145_188_2),
    (0.101_666_761_293_186_7, 0.111_190_517_226_687_2),
    (0.237_233_795_041_835_6, 0.156_853_322_938_943_6),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
    (0.591_717_321_247_825, 0.181_341_891_689_181),
    (0.762_766_204_958_164_5, 0.156_853_322_938_943_6),
    (0.898_333_238_706_813_3, 0.111_190_517_226_687_2),
    (0.980_144_928_248_768_1, 0.050_614_268_145_188_2),
];

/// Distances between two uses, at most so large, and the share of each. Both happen at independent times while the wave
/// runs, so that a distance of u times the largest is as likely as 1 - u.
pub(crate) fn phases(most: Ratio) -> [(Ratio, Share); 8] {
    POINTS.map(|(u, weight)| (Ratio::new(u * most.get()), Share::new(weight * 2.0 * (1.0 - u))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_a_whole_and_the_mean_is_a_third() {
        let all = phases(Ratio::new(3.0));
        let whole: f64 = all.iter().map(|(_, share)| share.get()).sum();
        let mean: f64 = all.iter().map(|(apart, share)| apart.get() * share.get()).sum();
        assert!((whole - 1.0).abs() < 1e-12 && (mean - 1.0).abs() < 1e-12, "{whole} {mean}");
    }
}
