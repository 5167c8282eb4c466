//! Strides that do not nest, as those of blocks that are no divisor of a row: what repeats along all but two of them is
//! taken one by one, where those are few. The rest nests again.

use super::progression::Progression;
use super::query::Refusal;
use crate::effort::spend_on;

/// Most progressions that some may become.
const MOST: u64 = 1 << 12;

/// How often it is tried to join what was joined.
const MOST_PASSES: usize = 4;

/// The longest stride is taken one by one first where that leaves so many times fewer than all at once would.
const FEWER: u64 = 4;

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

/// Strides that are taken one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Apart {
    AllBut(Kept),
    Only(i64),
}

impl Apart {
    fn holds(self, stride: i64, strides: &[i64]) -> bool {
        match self {
            Apart::AllBut(kept) => strides.binary_search(&stride).is_ok() && !kept.holds(stride),
            Apart::Only(one) => stride == one,
        }
    }
}

/// Progressions that touch the same bytes, with fewer strides, if they are few. `strides` are those that they have,
/// ascending, but for the smallest, which leave no line out.
pub(super) fn taken_apart(all: &[Progression], strides: &[i64]) -> Result<Vec<Progression>, Refusal> {
    spend_on(all.len(), 1 + (strides.len() * strides.len()) as u64)?;
    let (apart, number) = fewest(all, strides);
    let (apart, number) = match far(all, strides) {
        // What lies far apart looks alike mostly, and is then counted once.
        Some((far, times)) if times <= number / FEWER => (far, times),
        _ => (apart, number),
    };
    if number > MOST {
        return Err(Refusal::Strides);
    }
    spend_on(usize::try_from(number).unwrap_or(usize::MAX), STEPS_OF_EACH)?;
    let mut found = Vec::with_capacity(usize::try_from(number).unwrap_or(0));
    for p in all {
        p.each_along(|stride| apart.holds(stride, strides), &mut found);
    }
    Ok(found)
}

/// Fewer progressions that touch the same bytes, if some continue each other, as the tiles that a thread has do: those that
/// lie evenly are one with a step more. It has to continue its run or one of its steps, so that no further strides arise.
pub(super) fn joined(all: &[Progression]) -> Result<Option<Vec<Progression>>, Refusal> {
    let mut list = all.to_vec();
    for _ in 0..MOST_PASSES {
        spend_on(list.len(), STEPS_OF_EACH)?;
        list.sort_unstable_by(|a, b| (a.shape(), a.base).cmp(&(b.shape(), b.base)));
        list.dedup_by(|next, kept| next.shape() == kept.shape() && next.base == kept.base);
        let before = list.len();
        let mut found = Vec::with_capacity(list.len());
        for alike in list.chunk_by(|a, b| a.shape() == b.shape()) {
            join_alike(alike, &mut found)?;
        }
        list = found;
        if list.len() == before {
            break;
        }
    }
    Ok((list.len() < all.len()).then_some(list))
}

/// Joins those of some progressions with equal steps that follow each other evenly.
fn join_alike(alike: &[Progression], out: &mut Vec<Progression>) -> Result<(), Refusal> {
    let mut at = 0;
    while at < alike.len() {
        let distance = |i: usize| Some(alike.get(i + 1)?.base - alike[i].base);
        let step = distance(at).filter(|&step| alike[at].continues_after(step));
        let mut end = at + 1;
        while step.is_some() && distance(end - 1) == step {
            end += 1;
        }
        out.push(match step {
            Some(step) => alike[at].repeated(step, end - at)?,
            None => alike[at].clone(),
        });
        at = end;
    }
    Ok(())
}

/// Strides to take one by one so that the fewest progressions are left of which the other strides nest, and how many
/// those are.
fn fewest(all: &[Progression], strides: &[i64]) -> (Apart, u64) {
    let pairs = strides.iter().enumerate().flat_map(|(i, &row)| {
        let planes = strides[i + 1..].iter().filter(move |&plane| plane % row == 0);
        let none = std::iter::once(None);
        none.chain(planes.map(|&plane| Some(plane))).map(move |plane| Kept { row: Some(row), plane })
    });
    let mut best = (Kept::NONE, Kept::NONE.progressions(all, strides));
    for kept in pairs {
        let number = kept.progressions(all, strides);
        if number < best.1 {
            best = (kept, number);
        }
    }
    (Apart::AllBut(best.0), best.1)
}

/// The longest stride, if what each progression has at one place along it ends before what it has at the next one begins,
/// and how many progressions there are when it is taken one by one.
fn far(all: &[Progression], strides: &[i64]) -> Option<(Apart, u64)> {
    let longest = *strides.last()?;
    let lies_apart = |p: &Progression| {
        let reach = p.last - p.base - longest * (p.count_of(longest) - 1);
        reach < longest
    };
    let times = all.iter().map(|p| p.count_of(longest).unsigned_abs());
    all.iter().all(lies_apart).then(|| (Apart::Only(longest), times.fold(0, u64::saturating_add)))
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
