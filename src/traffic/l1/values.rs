//! Forms for all lanes of a warp at once.

use super::lanes::MOST_LANES;
use crate::expr::{Coord, Form, Term};

/// A value for each lane. Those of lanes that nobody asked for have no meaning.
pub type LaneVector = [i64; MOST_LANES];

/// Values are known to be smaller than this, or are found lane by lane: sums of them fit.
const LARGEST: u128 = 1 << 61;

/// A coordinate in all lanes.
#[derive(Debug, Clone, Copy)]
pub enum CoordValues<'v> {
    /// It is the same everywhere.
    Same(i64),
    /// It differs: what each lane has, and what all have besides. None is larger than a bound, without its sign.
    Each(&'v LaneVector, i64, u128),
}

/// Where coordinates have values in a warp.
pub trait WarpValues {
    /// How many lanes there are.
    fn lanes(&self) -> usize;
    /// The values of a coordinate, if it has any.
    fn coord(&self, coord: Coord) -> Option<CoordValues<'_>>;
}

/// Puts the values of a form into `into` and says how large they are at most, without their sign. `None` where a
/// number on the way may be too large, or has no value: lanes are then to be asked one by one.
pub fn form(form: &Form<i64>, warp: &impl WarpValues, asked: u64, into: &mut LaneVector) -> Option<u128> {
    let lanes = warp.lanes();
    let mut largest = u128::from(form.constant().unsigned_abs());
    let mut same = *form.constant();
    let mut sum = [0_i64; MOST_LANES];
    for (part, factor) in form.terms() {
        let times = u128::from(factor.unsigned_abs());
        let mut add = |values: &LaneVector| {
            for (sum, value) in sum[..lanes].iter_mut().zip(values) {
                *sum = sum.wrapping_add(value.wrapping_mul(*factor));
            }
        };
        let of_part = match part {
            Term::Coord(coord) => match warp.coord(*coord)? {
                CoordValues::Same(value) => {
                    same = same.wrapping_add(value.wrapping_mul(*factor));
                    u128::from(value.unsigned_abs())
                }
                CoordValues::Each(values, besides, most) => {
                    add(values);
                    same = same.wrapping_add(besides.wrapping_mul(*factor));
                    most
                }
            },
            other => {
                let mut values = [0_i64; MOST_LANES];
                let most = term(other, warp, asked, &mut values)?;
                add(&values);
                most
            }
        };
        largest = largest.saturating_add(of_part.saturating_mul(times));
        if largest >= LARGEST {
            return None;
        }
    }
    for (into, sum) in into[..lanes].iter_mut().zip(&sum) {
        *into = same.wrapping_add(*sum);
    }
    (largest < LARGEST).then_some(largest)
}

/// The same of a term that is no coordinate.
fn term(term: &Term<i64>, warp: &impl WarpValues, asked: u64, into: &mut LaneVector) -> Option<u128> {
    let lanes = warp.lanes();
    let mut pair = |a: &Form<i64>, b: &Form<i64>, choose: fn(i64, i64) -> i64| {
        let mut others = [0_i64; MOST_LANES];
        let most = form(a, warp, asked, into)?.max(form(b, warp, asked, &mut others)?);
        for (into, other) in into[..lanes].iter_mut().zip(&others) {
            *into = choose(*into, *other);
        }
        Some(most)
    };
    match term {
        Term::Coord(_) => None,
        Term::Floor(inner, divisor) => {
            let most = form(inner, warp, asked, into)?;
            for value in &mut into[..lanes] {
                *value = value.div_euclid(*divisor);
            }
            // Rounding down may make it larger by one.
            Some(most + 1)
        }
        Term::Min(a, b) => pair(a, b, i64::min),
        Term::Max(a, b) => pair(a, b, i64::max),
        Term::Lookup(table, indices) => {
            let mut of_indices = vec![[0_i64; MOST_LANES]; indices.len()];
            for (index, values) in indices.iter().zip(&mut of_indices) {
                form(index, warp, asked, values)?;
            }
            let mut most = 0;
            let mut at = vec![0; indices.len()];
            for lane in lanes_of(asked) {
                at.iter_mut().zip(&of_indices).for_each(|(at, values)| *at = values[lane]);
                into[lane] = table.get(&at)?;
                most = u128::from(into[lane].unsigned_abs()).max(most);
            }
            Some(most)
        }
    }
}

/// The lanes whose values pass a test.
pub fn mask_of(values: &[i64], test: impl Fn(i64) -> bool) -> u64 {
    values.iter().enumerate().fold(0, |mask, (lane, value)| mask | u64::from(test(*value)) << lane)
}

/// The lanes of a mask.
pub fn lanes_of(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < MOST_LANES).then_some(lane)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Dim, LoopId};
    use crate::random::Random;

    struct Values {
        x: LaneVector,
        i: LaneVector,
        block: i64,
    }

    impl WarpValues for Values {
        fn lanes(&self) -> usize {
            32
        }

        fn coord(&self, coord: Coord) -> Option<CoordValues<'_>> {
            match coord {
                Coord::ThreadIdx(Dim::X) => Some(CoordValues::Each(&self.x, 0, 64)),
                Coord::BlockIdx(_) => Some(CoordValues::Same(self.block)),
                Coord::Loop(_) => Some(CoordValues::Each(&self.i, 5, (1 << 50) + 5)),
                _ => None,
            }
        }
    }

    fn random_form(random: &mut Random, deep: usize) -> Form<i64> {
        let small = |random: &mut Random| i64::try_from(random.below(41)).unwrap() - 20;
        let coords = [Coord::ThreadIdx(Dim::X), Coord::BlockIdx(Dim::Y), Coord::Loop(LoopId(0))];
        let mut sum = Form::int(small(random) * if random.below(8) == 0 { 1 << 55 } else { 1 });
        for _ in 0..random.below(4) {
            let coord = Form::coord(coords[random.below(3)]);
            let part = match random.below(if deep == 0 { 1 } else { 5 }) {
                0 | 1 => coord,
                2 => random_form(random, deep - 1).floor_div(&(1 + small(random).abs())).unwrap_or(coord),
                3 => random_form(random, deep - 1).smaller(&random_form(random, deep - 1)).unwrap_or(coord),
                _ => random_form(random, deep - 1).larger(&random_form(random, deep - 1)).unwrap_or(coord),
            };
            sum = part.times(&small(random)).and_then(|part| sum.plus(&part)).unwrap_or(sum);
        }
        sum
    }

    /// Values of all lanes are those of each lane; where numbers are too large, lanes are left to be asked.
    #[test]
    fn lanes_at_once_are_lanes_one_by_one() {
        let mut random = Random::new(3);
        let mut found = 0;
        for _ in 0..3000 {
            let any = |random: &mut Random| i64::try_from(random.below(1 << 50)).unwrap() - (1 << 49);
            let values = Values {
                x: std::array::from_fn(|lane| i64::try_from(lane).unwrap() % 7),
                i: std::array::from_fn(|_| any(&mut random) >> random.below(50)),
                block: any(&mut random) >> random.below(50),
            };
            let asked = random.next() & 0xffff_ffff;
            let one = random_form(&mut random, 2);
            let at = |lane: usize| {
                let values = &values;
                move |coord| match values.coord(coord)? {
                    CoordValues::Same(value) => Some(value),
                    CoordValues::Each(all, besides, _) => Some(all[lane] + besides),
                }
            };
            let mut all = [0; MOST_LANES];
            if let Some(largest) = form(&one, &values, asked, &mut all) {
                found += 1;
                for lane in lanes_of(asked) {
                    assert_eq!(Some(all[lane]), one.evaluate(&at(lane)), "{one:?}");
                    assert!(u128::from(all[lane].unsigned_abs()) <= largest, "{one:?}");
                }
            }
        }
        assert!(found > 1000, "{found}");
    }
}
