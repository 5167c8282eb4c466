//! Forms made simpler by what is known of their coordinates.

use super::{Coefficient, Coord, Excess, Form, Term};

/// The interval in which a coordinate lies, where that is known.
type Intervals<'i> = &'i dyn Fn(Coord) -> Option<(i64, i64)>;

impl<C: Coefficient> Form<C> {
    /// A form with the same value wherever each coordinate lies in its interval: coordinates with one value,
    /// and quotients, minima and maxima that are decided there, are put in.
    pub fn within(&self, of: Intervals<'_>) -> Result<Self, Excess> {
        if self.is_affine() && !self.mentions(&|c| one_value(c, of).is_some()) {
            return Ok(self.clone());
        }
        let mut total = Self::scale(self.constant.clone());
        for (term, coefficient) in &self.terms {
            total = total.plus(&term.within(of)?.times(coefficient)?)?;
        }
        Ok(total)
    }
}

fn one_value(coord: Coord, of: Intervals<'_>) -> Option<i64> {
    of(coord).filter(|(low, high)| low == high).map(|i| i.0)
}

impl<C: Coefficient> Term<C> {
    fn within(&self, of: Intervals<'_>) -> Result<Form<C>, Excess> {
        match self {
            Term::Floor(inner, divisor) => {
                let inner = inner.within(of)?;
                match (divisor.as_int(), inner.interval(of)) {
                    (Some(m), Some((low, high))) if m > 0 && low.div_euclid(m) == high.div_euclid(m) => {
                        Ok(Form::int(low.div_euclid(m)))
                    }
                    _ => inner.floor_div(divisor),
                }
            }
            Term::Min(a, b) => {
                let (a, b) = (a.within(of)?, b.within(of)?);
                match a.minus(&b)?.interval(of) {
                    Some((_, high)) if high <= 0 => Ok(a),
                    Some((low, _)) if low >= 0 => Ok(b),
                    _ => a.smaller(&b),
                }
            }
            Term::Max(a, b) => {
                let (a, b) = (a.within(of)?, b.within(of)?);
                match a.minus(&b)?.interval(of) {
                    Some((_, high)) if high <= 0 => Ok(b),
                    Some((low, _)) if low >= 0 => Ok(a),
                    _ => a.larger(&b),
                }
            }
            Term::Coord(c) => Ok(one_value(*c, of).map_or_else(|| Form::term(self.clone()), Form::int)),
            Term::Lookup(table, indices) => {
                let indices = indices.iter().map(|i| i.within(of)).collect::<Result<Vec<_>, _>>()?;
                let constants: Option<Vec<i64>> = indices.iter().map(Form::as_constant).collect();
                Ok(match constants.and_then(|c| table.get(&c)) {
                    Some(entry) => Form::int(entry),
                    None => Form::term(Term::Lookup(table.clone(), indices)),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Dim;

    #[test]
    fn what_intervals_decide_is_put_in() {
        let x = Form::<i64>::coord(Coord::Axis(Dim::X));
        let of = |_| Some((0, 99));
        let is = |form: Form<i64>, expected: &Form<i64>| assert_eq!(form.within(&of).as_ref(), Ok(expected));
        is(x.smaller(&Form::int(99)).unwrap(), &x);
        is(x.larger(&Form::int(0)).unwrap(), &x);
        is(x.remainder(&100).unwrap(), &x);
        is(x.floor_div(&100).unwrap(), &Form::int(0));
        let same = [x.smaller(&Form::int(98)), x.larger(&Form::int(1)), x.remainder(&99)];
        for form in same {
            let form = form.unwrap();
            is(form.clone(), &form);
        }
        // Of a quotient inside of another, as well.
        let nested = x.remainder(&100).unwrap().plus(&Form::int(7)).unwrap().floor_div(&3).unwrap();
        is(nested, &x.plus(&Form::int(7)).unwrap().floor_div(&3).unwrap());
    }
}
