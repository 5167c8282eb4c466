//! Quotients, rounded down.

use super::algebra::{Algebra, Atom};
use super::poly::{Poly, gcd};

impl Algebra {
    /// `p / n`, rounded down, as simple as it can be said; `n` is positive.
    pub fn div(&mut self, p: &Poly, n: i128) -> Option<Poly> {
        debug_assert!(n > 0, "a quotient by {n}");
        if n == 1 {
            return Some(p.clone());
        }
        let (p, n) = self.flattened(p.clone(), n)?;
        let (whole, rest) = parted(&p, n);
        // What is left may lie between two multiples of the divisor everywhere.
        let (low, high) = self.interval(&rest);
        if low.div_euclid(n) == high.div_euclid(n) {
            return whole.add_number(low.div_euclid(n));
        }
        if low.div_euclid(n) < 0 || high.div_euclid(n) > 0 {
            for quotient in [low.div_euclid(n), 0, high.div_euclid(n)] {
                let above = rest.add_number(-quotient.checked_mul(n)?)?;
                let below = above.scale(-1)?.add_number(n - 1)?;
                if self.proves(&above) && self.proves(&below) {
                    return whole.add_number(quotient);
                }
            }
        }
        let quotient = match self.magic(&rest, n) {
            Some((dividend, divisor, lost)) => self.div(&dividend, divisor)?.add_number(-lost)?,
            None => self.quotient(&rest, n),
        };
        whole.add(&quotient)
    }

    /// `p % n`, not negative.
    pub fn rem(&mut self, p: &Poly, n: i128) -> Option<Poly> {
        let quotient = self.div(p, n)?;
        p.plus(&quotient, -n)
    }

    fn quotient(&mut self, p: &Poly, n: i128) -> Poly {
        let common = gcd(p.content(), n);
        let smaller = Poly {
            constant: p.constant.div_euclid(common),
            terms: p.terms.iter().map(|t| (t.0, t.1 / common)).collect(),
        };
        if common == n {
            return smaller;
        }
        self.make(Atom::Div(smaller, n / common))
    }

    /// `((q / a) + r) / n` is `(q + a*r) / (a*n)`.
    fn flattened(&self, mut p: Poly, mut n: i128) -> Option<(Poly, i128)> {
        for _ in 0..8 {
            let inner = p.terms.iter().find_map(|(id, coefficient)| match self.atom(*id) {
                Atom::Div(q, a) if *coefficient == 1 && n.checked_mul(*a)? < (1 << 80) => Some((*id, q, *a)),
                _ => None,
            });
            let Some((id, q, a)) = inner else { break };
            p = q.plus(&p.plus(&Poly::atom(id), -1)?, a)?;
            n *= a;
        }
        Some((p, n))
    }

    /// Compilers divide by multiplying: `(m*q) / 2^s` is `q / d` where `m` is 2^s/d rounded up and q is small enough.
    /// The answer is q, d, and how much too large q/d is.
    fn magic(&mut self, p: &Poly, n: i128) -> Option<(Poly, i128, i128)> {
        if n < (1 << 16) || n & (n - 1) != 0 {
            return None;
        }
        let common = p.content();
        for shift in 0..16 {
            let multiplier = common >> shift;
            if multiplier < 3 || multiplier << shift != common {
                return None;
            }
            // The constant lost multiples of n.
            let lost = (0..16).find(|i| (p.constant + n * i) % multiplier == 0);
            let Some(lost) = lost else { continue };
            let divisor = (n + multiplier / 2) / multiplier;
            let excess = multiplier * divisor - n;
            let dividend = p.add_number(n * lost)?.exact_quotient(multiplier)?;
            if divisor > 1 && excess >= 0 && self.proves(&dividend) {
                // The largest dividend for which it is right.
                let largest = if excess == 0 { 1 << 100 } else { (n - 1) / excess };
                let below = dividend.scale(-1)?.add_number(largest)?;
                if self.proves(&below) {
                    return Some((dividend, divisor, lost));
                }
            }
        }
        None
    }
}

/// A formula as `n` times something and a rest with small numbers.
fn parted(p: &Poly, n: i128) -> (Poly, Poly) {
    let (mut whole, mut rest) = (Poly::default(), Poly::default());
    for (atom, coefficient) in &p.terms {
        let nearest = coefficient.div_euclid(n) + i128::from(2 * coefficient.rem_euclid(n) > n);
        // The multipliers of divisions are positive; others should stay small.
        let magic = n >= (1 << 32) && coefficient.abs() >= (1 << 16);
        let quotient = if magic { coefficient.div_euclid(n) } else { nearest };
        let left = coefficient - quotient * n;
        if quotient != 0 {
            whole.terms.push((*atom, quotient));
        }
        if left != 0 {
            rest.terms.push((*atom, left));
        }
    }
    whole.constant = p.constant.div_euclid(n);
    rest.constant = p.constant.rem_euclid(n);
    (whole, rest)
}
