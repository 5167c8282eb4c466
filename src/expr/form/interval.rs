//! Intervals in which forms lie.

use super::{Coefficient, Coord, Form, Term};
use crate::expr::remainder;

impl<C: Coefficient> Form<C> {
    /// The interval in which the form lies while each coordinate lies in its own; `None` if unknown.
    pub fn interval(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        if !self.is_affine() {
            return PartedForm::new(self)?.interval(of);
        }
        let constant = self.constant.as_int()?;
        self.terms.iter().try_fold((constant, constant), |all, (term, factor)| {
            let Term::Coord(coord) = term else { return None };
            plus(all, of(*coord)?, factor.as_int()?)
        })
    }
}

/// A form with its remainders taken out, for which [`Form::interval`] is asked often.
///
/// Taken term by term, e - m*floor(e/m) would forget that both contain the same e.
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
    /// `None` where it is not known in numbers.
    dividend: Option<PartedForm>,
    modulus: i64,
}

impl PartedForm {
    /// `None` where a factor is not a number.
    pub(crate) fn new<C: Coefficient>(form: &Form<C>) -> Option<Self> {
        if form.is_affine() {
            return Self::without_remainders(form);
        }
        let (rest, remainders) = remainder::split(form);
        let remainders = remainders.into_iter().map(|found| PartedRemainder {
            factor: found.factor,
            dividend: Self::new(&found.dividend),
            modulus: found.modulus,
        });
        Some(Self { remainders: remainders.collect(), ..Self::without_remainders(&rest)? })
    }

    fn without_remainders<C: Coefficient>(form: &Form<C>) -> Option<Self> {
        let terms =
            form.terms().iter().map(|(term, factor)| Some((PartedTerm::new(term)?, factor.as_int()?)));
        let terms = terms.collect::<Option<_>>()?;
        Some(Self { constant: form.constant().as_int()?, terms, remainders: Vec::new() })
    }

    /// The interval in which it lies while each coordinate lies in its own.
    pub(crate) fn interval(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        let mut all = (self.constant, self.constant);
        for (term, factor) in &self.terms {
            all = plus(all, term.interval(of)?, *factor)?;
        }
        for PartedRemainder { factor, dividend, modulus } in &self.remainders {
            let of_remainder = match dividend.as_ref().and_then(|known| known.interval(of)) {
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
    fn new<C: Coefficient>(term: &Term<C>) -> Option<Self> {
        Some(match term {
            Term::Coord(coord) => Self::Coord(*coord),
            Term::Floor(inner, divisor) => Self::Floor(PartedForm::new(inner)?, divisor.as_int()?),
            Term::Min(a, b) => Self::Min(PartedForm::new(a)?, PartedForm::new(b)?),
            Term::Max(a, b) => Self::Max(PartedForm::new(a)?, PartedForm::new(b)?),
            Term::Lookup(table, _) => Self::Lookup(table.reach),
        })
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

    /// Values lie in the interval of their form, and forms of which one remainder is all lie just there.
    #[test]
    fn values_lie_in_intervals() {
        let mut random = Random::new(7);
        let (mut asked, mut narrow, mut unknown) = (0, 0, 0);
        for round in 0..3000 {
            let form = random_form(&mut random, 2);
            let ranges = COORDS.map(|_| {
                let from = i64::try_from(random.below(60)).unwrap() - 20;
                (random.below(12) > 0).then(|| (from, from + i64::try_from(random.below(50)).unwrap()))
            });
            let range = |coord| COORDS.iter().position(|c| *c == coord).and_then(|at| ranges[at]);
            let Some((low, high)) = form.interval(&range) else {
                unknown += 1;
                continue;
            };
            for _ in 0..8 {
                let values = ranges.map(|range| {
                    range.map(|(from, to)| {
                        from + i64::try_from(random.below(usize::try_from(to - from + 1).unwrap())).unwrap()
                    })
                });
                let value = |coord| COORDS.iter().position(|c| *c == coord).and_then(|at| values[at]);
                let Some(found) = form.evaluate(&value) else { continue };
                assert!(
                    (low..=high).contains(&found),
                    "{round}: {form:?} {ranges:?} {found} in {low}..={high}"
                );
                asked += 1;
                narrow += usize::from(!form.is_affine() && high - low < 100);
            }
        }
        assert!(asked > 12_000 && narrow > 400 && unknown > 100, "{asked} {narrow} {unknown}");
    }

    /// A remainder whose dividend stays within one multiple lies where the dividend does, taken modulo.
    #[test]
    fn remainders_are_not_taken_term_by_term() {
        let form = Form::<i64>::coord(COORDS[0]).remainder(&10).unwrap();
        assert_eq!(form.interval(&|_| Some((23, 27))), Some((3, 7)));
        assert_eq!(form.interval(&|_| Some((23, 31))), Some((0, 9)));
    }
}
