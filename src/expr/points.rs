//! Points at which a condition holds, or does not, found by narrowing a box to one.

use super::cond::Cond;
use super::form::{Coefficient, Coord, Form, Term};

/// A box: coordinates with their first and last values.
pub(super) type Box = Vec<(Coord, i64, i64)>;

/// How often all inequalities narrow the box before the next coordinate is given a value.
const ROUNDS: usize = 2;

/// A sum of multiples of coordinates, and a constant, that is to be at least 0.
struct Inequality {
    terms: Vec<(usize, i64)>,
    constant: i64,
}

impl<C: Coefficient> Cond<C> {
    /// A point of a box at which the condition holds, or does not. There may be one where none is found; only
    /// multiples of coordinates are understood.
    pub(super) fn point(&self, holds: bool, within: &Box) -> Option<Vec<i64>> {
        match (self, holds) {
            (Self::All(parts), false) | (Self::Any(parts), true) => {
                parts.iter().find_map(|part| part.point(holds, within))
            }
            _ => {
                let mut all = Vec::new();
                self.inequalities(holds, within, &mut all)?;
                let point = solved(&all, within)?;
                let value = |c| within.iter().position(|r| r.0 == c).map(|at| (point[at], point[at]));
                (self.decided(&value) == Some(holds)).then_some(point)
            }
        }
    }

    /// What has to be true so that the condition holds, or does not.
    fn inequalities(&self, holds: bool, within: &Box, all: &mut Vec<Inequality>) -> Option<()> {
        match self {
            Self::Const(held) => (*held == holds).then_some(()),
            Self::All(parts) | Self::Any(parts) => {
                // Of several ways, the first one that is not decided otherwise.
                if matches!(self, Self::Any(_)) == holds {
                    return parts.iter().find_map(|part| part.inequalities(holds, within, all));
                }
                parts.iter().try_for_each(|part| part.inequalities(holds, within, all))
            }
            Self::NonNegative(form) if holds => add(form, 1, 0, within, all),
            Self::NonNegative(form) => add(form, -1, -1, within, all),
            Self::Zero(form) if holds => {
                add(form, 1, 0, within, all)?;
                add(form, -1, 0, within, all)
            }
            Self::Zero(form) => add(form, 1, -1, within, all),
        }
    }
}

/// Adds `sign * form + more >= 0`.
fn add<C: Coefficient>(
    form: &Form<C>,
    sign: i64,
    more: i64,
    within: &Box,
    all: &mut Vec<Inequality>,
) -> Option<()> {
    let times = |c: &C| c.as_int()?.checked_mul(sign);
    let of = |(term, coefficient): &(Term<C>, C)| {
        let Term::Coord(coord) = term else { return None };
        Some((within.iter().position(|r| r.0 == *coord)?, times(coefficient)?))
    };
    let terms = form.terms().iter().map(of).collect::<Option<_>>()?;
    all.push(Inequality { terms, constant: times(form.constant())?.checked_add(more)? });
    Some(())
}

/// A point at which all inequalities are true, if each coordinate in turn can have the least value that the others
/// leave it.
fn solved(all: &[Inequality], within: &Box) -> Option<Vec<i64>> {
    let mut ranges: Vec<(Coord, i64, i64)> = within.clone();
    for at in 0..ranges.len() {
        for _ in 0..ROUNDS {
            for inequality in all {
                inequality.narrow(&mut ranges)?;
            }
        }
        ranges[at].2 = ranges[at].1;
    }
    Some(ranges.iter().map(|r| r.1).collect())
}

impl Inequality {
    /// Takes away from each range what cannot be, however large the other terms are; `None` where nothing is left, or
    /// a number is too large.
    fn narrow(&self, ranges: &mut Box) -> Option<()> {
        let most = |range: &(Coord, i64, i64), c: i64| c.checked_mul(if c > 0 { range.2 } else { range.1 });
        let mut sum = self.constant;
        for &(at, c) in &self.terms {
            sum = sum.checked_add(most(&ranges[at], c)?)?;
        }
        for &(at, c) in &self.terms {
            let range = &mut ranges[at];
            let others = sum.checked_sub(most(range, c)?)?;
            // c * x >= -others
            let bound = others.checked_neg()?;
            if c > 0 {
                range.1 = range.1.max(bound.div_euclid(c) + i64::from(bound.rem_euclid(c) != 0));
            } else {
                range.2 = range.2.min(others.div_euclid(c.checked_neg()?));
            }
            if range.1 > range.2 {
                return None;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Dim;
    use crate::random::Random;

    const COORDS: [Coord; 3] = [Coord::ThreadIdx(Dim::X), Coord::BlockIdx(Dim::X), Coord::Axis(Dim::Y)];

    fn condition(random: &mut Random, depth: usize) -> Cond<i64> {
        if depth == 0 || random.below(3) == 0 {
            let number = |random: &mut Random, n: usize| i64::try_from(random.below(n)).unwrap() - 5;
            let mut form = Form::int(number(random, 60));
            for coord in COORDS {
                let factor = number(random, 11);
                form = form.plus(&Form::coord(coord).times(&factor).unwrap()).unwrap();
            }
            return if random.below(4) == 0 { Cond::zero(form) } else { Cond::non_negative(form) };
        }
        let parts = (0..=random.below(4)).map(|_| condition(random, depth - 1)).collect();
        if random.below(2) == 0 { Cond::all(parts) } else { Cond::any(parts) }
    }

    /// Points are points, and where the whole box says that there are none, none are found.
    #[test]
    fn what_is_found_is_so() {
        let mut random = Random::new(11);
        let mut found = 0;
        let rounds = 4000;
        for _ in 0..rounds {
            let cond = condition(&mut random, 2);
            let within: Box = COORDS
                .map(|c| {
                    let from = i64::try_from(random.below(9)).unwrap() - 4;
                    (c, from, from + i64::try_from(random.below(7)).unwrap())
                })
                .to_vec();
            let mut held = [false; 2];
            for x in within[0].1..=within[0].2 {
                for y in within[1].1..=within[1].2 {
                    for z in within[2].1..=within[2].2 {
                        let value = |c| COORDS.iter().position(|k| *k == c).map(|at| [x, y, z][at]);
                        held[usize::from(cond.evaluate(&value).unwrap())] = true;
                    }
                }
            }
            for holds in [false, true] {
                if let Some(point) = cond.point(holds, &within) {
                    found += 1;
                    let value = |c| COORDS.iter().position(|k| *k == c).map(|at| point[at]);
                    assert_eq!(cond.evaluate(&value), Some(holds), "{cond:?} {point:?}");
                    assert!(held[usize::from(holds)]);
                }
            }
        }
        assert!(found > rounds, "{found}");
    }
}
