//! Intervals in which forms lie.

use super::{Coefficient, Coord, Form, Term};
use crate::expr::remainder::{self, Remainder};

impl<C: Coefficient> Form<C> {
    /// The interval in which the form lies while each coordinate lies in its own; `None` if unknown.
    pub fn interval(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        if self.is_affine() {
            return self.interval_of_terms(of);
        }
        // e - m*floor(e/m) taken term by term would forget that both contain the same e.
        let (rest, remainders) = remainder::split(self);
        let (mut low, mut high) = rest.interval_of_terms(of)?;
        for Remainder { factor, dividend, modulus } in remainders {
            let (from, to) = match dividend.interval(of) {
                Some((a, b)) if a.div_euclid(modulus) == b.div_euclid(modulus) => {
                    (a.rem_euclid(modulus), b.rem_euclid(modulus))
                }
                _ => (0, modulus - 1),
            };
            let (p, q) = (from.checked_mul(factor)?, to.checked_mul(factor)?);
            low = low.checked_add(p.min(q))?;
            high = high.checked_add(p.max(q))?;
        }
        Some((low, high))
    }

    fn interval_of_terms(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        let constant = self.constant.as_int()?;
        let (mut low, mut high) = (constant, constant);
        for (term, coefficient) in &self.terms {
            let (a, b) = term.interval(of)?;
            let c = coefficient.as_int()?;
            let (p, q) = (a.checked_mul(c)?, b.checked_mul(c)?);
            low = low.checked_add(p.min(q))?;
            high = high.checked_add(p.max(q))?;
        }
        Some((low, high))
    }
}

impl<C: Coefficient> Term<C> {
    fn interval(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        match self {
            Term::Coord(c) => of(*c),
            Term::Floor(inner, divisor) => {
                let (m, (low, high)) = (divisor.as_int()?, inner.interval(of)?);
                Some((low.div_euclid(m), high.div_euclid(m)))
            }
            Term::Min(a, b) => {
                let (a, b) = (a.interval(of)?, b.interval(of)?);
                Some((a.0.min(b.0), a.1.min(b.1)))
            }
            Term::Max(a, b) => {
                let (a, b) = (a.interval(of)?, b.interval(of)?);
                Some((a.0.max(b.0), a.1.max(b.1)))
            }
            Term::Lookup(table, _) => table.reach,
        }
    }
}
