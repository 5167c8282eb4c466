//! Forms that are asked often in what interval they lie: their remainders are found once.

use super::{Coord, Form, Term};
use crate::expr::remainder;

/// A form with its remainders taken out: what [`Form::interval`] finds anew each time.
#[derive(Debug, Clone)]
pub(crate) struct PartedForm {
    constant: i64,
    terms: Vec<(PartedTerm, i64)>,
    remainders: Vec<PartedRemainder>,
}

#[derive(Debug, Clone)]
enum PartedTerm {
    Coord(Coord),
    Floor(PartedForm, i64),
    Min(PartedForm, PartedForm),
    Max(PartedForm, PartedForm),
    Lookup(Option<(i64, i64)>),
}

/// `factor * (dividend % modulus)`.
#[derive(Debug, Clone)]
struct PartedRemainder {
    factor: i64,
    dividend: PartedForm,
    modulus: i64,
}

impl PartedForm {
    pub(crate) fn new(form: &Form<i64>) -> Self {
        let (rest, remainders) =
            if form.is_affine() { (form.clone(), Vec::new()) } else { remainder::split(form) };
        let terms = rest.terms().iter().map(|(term, factor)| (PartedTerm::new(term), *factor)).collect();
        let remainders = remainders.into_iter().map(|found| PartedRemainder {
            factor: found.factor,
            dividend: Self::new(&found.dividend),
            modulus: found.modulus,
        });
        Self { constant: *rest.constant(), terms, remainders: remainders.collect() }
    }

    /// The same as [`Form::interval`].
    pub(crate) fn interval(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        let mut all = (self.constant, self.constant);
        for (term, factor) in &self.terms {
            all = plus(all, term.interval(of)?, *factor)?;
        }
        for PartedRemainder { factor, dividend, modulus } in &self.remainders {
            let of_remainder = match dividend.interval(of) {
                Some((a, b)) if a.div_euclid(*modulus) == b.div_euclid(*modulus) => {
                    (a.rem_euclid(*modulus), b.rem_euclid(*modulus))
                }
                _ => (0, modulus - 1),
            };
            all = plus(all, of_remainder, *factor)?;
        }
        Some(all)
    }
}

impl PartedTerm {
    fn new(term: &Term<i64>) -> Self {
        match term {
            Term::Coord(coord) => Self::Coord(*coord),
            Term::Floor(inner, divisor) => Self::Floor(PartedForm::new(inner), *divisor),
            Term::Min(a, b) => Self::Min(PartedForm::new(a), PartedForm::new(b)),
            Term::Max(a, b) => Self::Max(PartedForm::new(a), PartedForm::new(b)),
            Term::Lookup(table, _) => Self::Lookup(table.reach),
        }
    }

    fn interval(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        match self {
            Self::Coord(coord) => of(*coord),
            Self::Floor(inner, divisor) => {
                let (low, high) = inner.interval(of)?;
                Some((low.div_euclid(*divisor), high.div_euclid(*divisor)))
            }
            Self::Min(a, b) => {
                let (a, b) = (a.interval(of)?, b.interval(of)?);
                Some((a.0.min(b.0), a.1.min(b.1)))
            }
            Self::Max(a, b) => {
                let (a, b) = (a.interval(of)?, b.interval(of)?);
                Some((a.0.max(b.0), a.1.max(b.1)))
            }
            Self::Lookup(reach) => *reach,
        }
    }
}

/// An interval and a multiple of another; `None` if that leaves 64 bits.
fn plus((low, high): (i64, i64), (from, to): (i64, i64), factor: i64) -> Option<(i64, i64)> {
    let (p, q) = (from.checked_mul(factor)?, to.checked_mul(factor)?);
    Some((low.checked_add(p.min(q))?, high.checked_add(p.max(q))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Dim;
    use crate::random::Random;

    const COORDS: [Coord; 3] = [Coord::ThreadIdx(Dim::X), Coord::BlockIdx(Dim::X), Coord::BlockIdx(Dim::Y)];

    fn random_form(random: &mut Random, deep: usize) -> Form<i64> {
        let small = |random: &mut Random| i64::try_from(random.below(41)).unwrap() - 20;
        let mut sum = Form::int(small(random));
        for _ in 0..=random.below(3) {
            let coord = Form::coord(COORDS[random.below(3)]);
            let inner = if deep == 0 { coord.clone() } else { random_form(random, deep - 1) };
            let divisor = 1 + small(random).abs();
            let part = match random.below(6) {
                0 | 1 => coord,
                2 => inner.floor_div(&divisor).unwrap(),
                3 => inner.remainder(&divisor).unwrap(),
                4 => inner.smaller(&coord).unwrap(),
                _ => inner.larger(&coord).unwrap(),
            };
            sum = sum.plus(&part.times(&small(random)).unwrap()).unwrap();
        }
        sum
    }

    /// Taken apart beforehand, a form lies in the interval that is found anew.
    #[test]
    fn intervals_are_those_of_the_form() {
        let mut random = Random::new(7);
        let (mut quotients, mut unknown) = (0, 0);
        for round in 0..3000 {
            let form = random_form(&mut random, 2);
            let parted = PartedForm::new(&form);
            for _ in 0..4 {
                let ranges = COORDS.map(|_| {
                    let from = i64::try_from(random.below(60)).unwrap() - 20;
                    (random.below(12) > 0).then(|| (from, from + i64::try_from(random.below(50)).unwrap()))
                });
                let of = |coord| COORDS.iter().position(|c| *c == coord).and_then(|at| ranges[at]);
                let found = form.interval(&of);
                assert_eq!(parted.interval(&of), found, "{round}: {form:?} {ranges:?}");
                quotients += usize::from(!form.is_affine());
                unknown += usize::from(found.is_none());
            }
        }
        assert!(quotients > 6000 && unknown > 300, "{quotients} {unknown}");
    }
}
