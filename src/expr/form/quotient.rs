//! Quotients and remainders in canonical form.

use num_rational::Ratio;

use super::{Coefficient, Excess, Form, Term};

impl<C: Coefficient> Form<C> {
    /// Quotient rounded down; whatever divides evenly comes out of it.
    pub fn floor_div(&self, divisor: &C) -> Result<Self, Excess> {
        let Some(m) = divisor.as_int() else {
            return Self::term(Term::Floor(Box::new(self.clone()), divisor.clone())).bounded();
        };
        if m <= 0 {
            return Err(Excess::Divisor(m));
        }
        match self.as_constant() {
            Some(constant) => Ok(Self::int(constant.div_euclid(m))),
            None if m == 1 => Ok(self.clone()),
            None => self.reduced_floor(m)?.bounded(),
        }
    }

    /// floor(self / m) with integral parts taken out and the fraction reduced.
    fn reduced_floor(&self, m: i64) -> Result<Self, Excess> {
        if let Some(joined) = self.joined_floor(m)? {
            return Ok(joined);
        }
        let quotient = |c: &C| c.as_int().map(|c| Ratio::new(c, m));
        let (mut whole, mut rest) = (Vec::new(), Vec::new());
        for (term, coefficient) in &self.terms {
            match quotient(coefficient) {
                Some(r) if r.is_integer() => whole.push((term.clone(), C::int(r.to_integer()))),
                _ => rest.push((term.clone(), coefficient.clone())),
            }
        }
        let fractions: Option<Vec<Ratio<i64>>> = rest.iter().map(|(_, c)| quotient(c)).collect();
        let (Some(fractions), Some(constant)) = (fractions, self.constant.as_int()) else {
            // Something depends on the launch: the quotient is reduced when that is known.
            let inner = Self { constant: self.constant.clone(), terms: rest.into() };
            let whole = Self { constant: C::int(0), terms: whole.into() };
            return whole.plus(&Self::term(Term::Floor(Box::new(inner), C::int(m))));
        };
        let whole = Self { constant: C::int(constant.div_euclid(m)), terms: whole.into() };
        if rest.is_empty() {
            return Ok(whole);
        }
        // Over the least common denominator of the others, the constant may lose its own fraction.
        let denominator = fractions.iter().try_fold(1, |l, r| lcm(l, *r.denom()))?;
        let constant = (Ratio::new(constant.rem_euclid(m), m) * denominator).floor().to_integer();
        for ((_, coefficient), r) in rest.iter_mut().zip(fractions) {
            *coefficient = C::int((denominator / r.denom()).checked_mul(*r.numer()).ok_or(Excess::Overflow)?);
        }
        let inner = Self { constant: C::int(constant), terms: rest.into() };
        match inner.joined_floor(denominator)? {
            Some(joined) => whole.plus(&joined),
            None => whole.plus(&Self::term(Term::Floor(Box::new(inner), C::int(denominator)))),
        }
    }

    /// A quotient of a quotient as one: floor((floor(e/a) + c)/m) = floor((e + ac)/(am)).
    fn joined_floor(&self, m: i64) -> Result<Option<Self>, Excess> {
        let [(Term::Floor(inner, a), one)] = &*self.terms else { return Ok(None) };
        let (Some(1), Some(a), Some(c)) = (one.as_int(), a.as_int(), self.constant.as_int()) else {
            return Ok(None);
        };
        let (Some(shift), Some(product)) = (c.checked_mul(a), a.checked_mul(m)) else { return Ok(None) };
        inner.plus(&Self::int(shift))?.floor_div(&C::int(product)).map(Some)
    }

    /// Remainder of the quotient rounded down.
    pub fn remainder(&self, divisor: &C) -> Result<Self, Excess> {
        self.minus(&self.floor_div(divisor)?.times(divisor)?)
    }
}

/// Least common multiple of two positive numbers.
fn lcm(a: i64, b: i64) -> Result<i64, Excess> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b).ok_or(Excess::Overflow)
}
