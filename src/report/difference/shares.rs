//! Which term of a time makes the difference to another time.

/// Most terms that are told apart: the work doubles with each.
const MOST: usize = 16;

/// By how much the longest of several times changes from `a` to `b`, as a sum with a part for each time.
///
/// Of times that are spent side by side only the longest counts, so that replacing one alone often changes nothing, though
/// replacing both does. The part of a time is therefore what replacing it changes on average over all orders in which all
/// of them may be replaced one after the other (its Shapley value). The parts add up to the whole change, and a time that
/// does not differ has none.
pub(super) fn of_longest(a: &[f64], b: &[f64]) -> Vec<f64> {
    let differing: Vec<usize> = (0..a.len()).filter(|&i| (a[i] - b[i]).abs() > 0.0).take(MOST).collect();
    let n = differing.len();
    let longest = |replaced: usize| {
        let time = |i: usize| match differing.iter().position(|&d| d == i) {
            Some(bit) if replaced >> bit & 1 == 1 => b[i],
            _ => a[i],
        };
        (0..a.len()).map(time).fold(0.0, f64::max)
    };
    let times: Vec<f64> = (0..1_usize << n).map(longest).collect();
    let weights: Vec<f64> = (0..n).map(|before| weight(n, before)).collect();
    let mut parts = vec![0.0; a.len()];
    for (bit, &i) in differing.iter().enumerate() {
        let without = (0..times.len()).filter(|replaced| replaced >> bit & 1 == 0);
        let changes = without.map(|replaced| {
            let before = replaced.count_ones() as usize;
            weights[before] * (times[replaced | 1 << bit] - times[replaced])
        });
        parts[i] = changes.sum();
    }
    parts
}

/// The share of all orders of `n` things in which exactly these `before` come before a certain one.
fn weight(n: usize, before: usize) -> f64 {
    // before! (n - before - 1)! / n!
    let ways = (0..before).fold(1.0, |ways, i| ways * (n - 1 - i) as f64 / (i + 1) as f64);
    1.0 / (n as f64 * ways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn longest(times: &[f64]) -> f64 {
        times.iter().copied().fold(0.0, f64::max)
    }

    #[test]
    fn the_one_that_matters_makes_all_of_it() {
        assert_eq!(of_longest(&[9.0, 1.0, 2.0], &[5.0, 1.0, 3.0]), [-4.0, 0.0, 0.0]);
        // Two that hide each other share what both together bring.
        assert_eq!(of_longest(&[9.0, 9.0], &[5.0, 5.0]), [-2.0, -2.0]);
        // One takes the place of the other.
        let parts = of_longest(&[9.0, 1.0], &[1.0, 9.0]);
        assert_eq!(parts, [-4.0, 4.0]);
        assert_eq!(of_longest(&[1.0], &[1.0]), [0.0]);
        assert_eq!(of_longest(&[], &[]), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn parts_add_up_and_do_not_depend_on_the_direction(
            pairs in prop::collection::vec((0.0..10.0_f64, 0.0..10.0_f64), 0..8)
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let (there, back) = (of_longest(&a, &b), of_longest(&b, &a));
            prop_assert!((there.iter().sum::<f64>() - (longest(&b) - longest(&a))).abs() < 1e-9);
            for (i, (t, r)) in there.iter().zip(&back).enumerate() {
                prop_assert!((t + r).abs() < 1e-9);
                // A shorter time makes nothing longer.
                prop_assert!(t * (b[i] - a[i]) >= -1e-9);
            }
        }
    }
}
