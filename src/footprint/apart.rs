//! Strides that do not nest, as those of blocks that are no divisor of a row: what repeats along all but two of them is
//! taken one by one, where those are few. The rest nests again.

use super::linear::Progression;
use super::query::Refusal;
use crate::effort::spend_on;

/// Most progressions that some may become.
const MOST: u64 = 1 << 12;

/// Steps for each of them.
const STEPS_OF_EACH: u64 = 16;

/// Steps for each row, about as many as following it takes.
const STEPS_OF_ROW: u64 = 6;

/// Strides that stay: none, one between rows, or one between rows and one between planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    row: Option<i64>,
    plane: Option<i64>,
}

impl Kept {
    const NONE: Self = Self { row: None, plane: None };

    fn holds(self, stride: i64) -> bool {
        self.row == Some(stride) || self.plane == Some(stride)
    }

    /// How many progressions there are when all others of some strides are taken one by one.
    fn progressions(self, all: &[Progression], strides: &[i64]) -> u64 {
        let of_one = |p: &Progression| {
            let others = strides.iter().filter(|&&stride| !self.holds(stride));
            others.fold(1_u64, |n, &stride| n.saturating_mul(p.count_of(stride).unsigned_abs()))
        };
        all.iter().fold(0, |n, p| n.saturating_add(of_one(p)))
    }
}

/// Progressions that touch the same bytes and whose strides nest, if they are few. `strides` are those that they have,
/// ascending, but for the smallest, which leave no line out.
pub(super) fn taken_apart(all: &[Progression], strides: &[i64]) -> Result<Vec<Progression>, Refusal> {
    spend_on(all.len(), 1 + (strides.len() * strides.len()) as u64)?;
    // What lies far apart looks alike mostly, and is then counted once.
    let far = strides.last().filter(|&&longest| lie_apart(all, longest));
    let (kept, number) = match far {
        Some(&longest) => {
            let along = |p: &Progression| p.count_of(longest).unsigned_abs();
            (None, all.iter().map(along).fold(0, u64::saturating_add))
        }
        None => fewest(all, strides).map(|(kept, number)| (Some(kept), number)).ok_or(Refusal::Strides)?,
    };
    if number > MOST {
        return Err(Refusal::Strides);
    }
    spend_on(usize::try_from(number).unwrap_or(usize::MAX), STEPS_OF_EACH)?;
    let mut found = Vec::with_capacity(usize::try_from(number).unwrap_or(0));
    let is_apart = |stride: i64| match kept {
        Some(kept) => strides.binary_search(&stride).is_ok() && !kept.holds(stride),
        None => far == Some(&stride),
    };
    for p in all {
        p.each_along(is_apart, &mut found);
    }
    Ok(found)
}

/// Whether all that lies at one place along a stride ends before what lies at the next one begins.
fn lie_apart(all: &[Progression], stride: i64) -> bool {
    let first = all.iter().map(|p| p.begins().1).min();
    let last = all.iter().map(|p| p.last() - stride * (p.count_of(stride) - 1)).max();
    first.zip(last).is_some_and(|(first, last)| last - first < stride)
}

/// The strides that leave the fewest progressions, and how many those are.
fn fewest(all: &[Progression], strides: &[i64]) -> Option<(Kept, u64)> {
    let pairs = strides.iter().enumerate().flat_map(|(i, &row)| {
        let planes = strides[i + 1..].iter().filter(move |&plane| plane % row == 0);
        let none = std::iter::once(None);
        none.chain(planes.map(|&plane| Some(plane))).map(move |plane| Kept { row: Some(row), plane })
    });
    let number = |kept: Kept| (kept, kept.progressions(all, strides));
    std::iter::once(Kept::NONE).chain(pairs).map(number).min_by_key(|found| found.1)
}

/// Steps that going through all rows would take.
pub(super) fn steps_of_rows(all: &[Progression]) -> u64 {
    let rows = |p: &Progression| {
        let counts = p.steps().iter().map(|step| step.1.unsigned_abs());
        let longest = counts.clone().max().unwrap_or(1);
        counts.fold(1_u64, u64::saturating_mul) / longest.max(1)
    };
    all.iter().fold(0_u64, |n, p| n.saturating_add(rows(p))).saturating_mul(STEPS_OF_ROW)
}

#[cfg(test)]
mod tests {
    use super::super::linear::count_progressions;
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeSet;

    /// Lines of all runs of some progressions, gone through one by one.
    fn one_by_one(all: &[(i64, Vec<(i64, i64)>)], run: i64, line: i64) -> u128 {
        let mut lines = BTreeSet::new();
        for (base, steps) in all {
            let mut places = vec![*base];
            for &(stride, count) in steps {
                places = places.iter().flat_map(|at| (0..count).map(move |i| at + i * stride)).collect();
            }
            let of = |at: i64| at.div_euclid(line)..=(at + run - 1).div_euclid(line);
            lines.extend(places.into_iter().flat_map(of));
        }
        lines.len() as u128
    }

    /// Blocks of odd widths in rows, iterations far apart, halos: whatever strides there are.
    #[test]
    fn strides_that_do_not_nest_are_counted_as_they_are() {
        let mut draw = Random::new(3);
        let strides = [132, 100, 396, 1000, 4116, 16464, 1 << 20, 3 << 20];
        let mut some = |of: &[i64]| of[draw.below(of.len())];
        let mut counted = 0;
        for round in 0..600 {
            let one = |some: &mut dyn FnMut(&[i64]) -> i64| {
                let steps = (0..some(&[1, 2, 3, 4])).map(|_| (some(&strides), some(&[2, 3, 7, 12])));
                let steps: Vec<(i64, i64)> = steps.collect();
                (some(&[0, 4, -132, 128, 16464, 40_000]), steps)
            };
            let all: Vec<_> = (0..some(&[1, 1, 2, 3])).map(|_| one(&mut some)).collect();
            let run = some(&[4, 16, 33]);
            let mut progressions: Vec<_> =
                all.iter().map(|(base, steps)| Progression::new(*base, steps, run).unwrap()).collect();
            for line in [32, 128] {
                match count_progressions(&mut progressions, line) {
                    Ok(lines) => {
                        counted += 1;
                        assert_eq!(lines, one_by_one(&all, run, line), "{round} {line}: {all:?} {run}");
                    }
                    Err(refusal) => assert_eq!(refusal, Refusal::Strides),
                }
            }
        }
        assert!(counted > 900, "{counted}");
    }
}
