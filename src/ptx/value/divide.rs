//! Quotients, rounded down.

use super::algebra::{Algebra, Atom};
use super::poly::{Poly, gcd};

/// Bits by which numbers are divided of which only the sign is asked.
const SIGN: u32 = 31;

/// Terms of sums that are short enough to be divided as they are.
const SHORT: usize = 3;

impl Algebra {
    /// `p / n`, rounded down, as simple as it can be said; `n` is positive.
    pub fn div(&mut self, p: &Poly, n: i128) -> Option<Poly> {
        debug_assert!(n > 0, "a quotient by {n}");
        if n == 1 {
            return Some(p.clone());
        }
        // Quotients of bits that were put together are nothing that anybody tests.
        if p.terms.iter().any(|t| matches!(self.atom(t.0), Atom::Bits(..))) {
            return None;
        }
        if n & (n - 1) == 0
            && p.terms.len() > SHORT
            && let Some(bits) = self.known_bits(p)
        {
            let gone = (n.trailing_zeros() as usize).min(bits.len());
            return self.of_bits(&bits[gone..]);
        }
        let (p, n) = self.flattened(p.clone(), n)?;
        // Only what may be a division by multiplication is taken as a product with a large number.
        if n >= (1 << 16) && n & (n - 1) == 0 {
            for sign in [1, -1] {
                let (whole, rest, moved) = parted_together(&p, n, sign);
                if let Some((dividend, divisor, lost)) = self.magic(&rest, n, moved) {
                    return whole.add(&self.div(&dividend, divisor)?.add_number(-lost)?);
                }
            }
        }
        let (whole, rest) = parted(&p, n);
        // Whether a small number is negative, whatever large number it is divided by.
        for more in [0, 1] {
            let Some(small) = rest.add_number(-n * more).filter(|_| n >= 1 << SIGN) else { break };
            let (low, high) = self.interval(&small);
            if !(-n..0).contains(&low) || !(0..n).contains(&high) {
                continue;
            }
            // The same without what all of its terms have in common is negative where it is.
            let small = without_content(small);
            let (low, high) = self.interval(&small);
            if (-(1 << SIGN)..0).contains(&low) && (0..1 << SIGN).contains(&high) {
                let negative = self.make(Atom::Div(small, 1 << SIGN));
                return whole.add(&negative)?.add_number(more);
            }
        }
        // What is left may lie between two multiples of the divisor everywhere.
        let (low, high) = self.interval(&rest);
        if low.div_euclid(n) == high.div_euclid(n) {
            return whole.add_number(low.div_euclid(n));
        }
        // What is 0 or -1 is its own quotient: single bits with a sign.
        if (low, high) == (-1, 0) {
            return whole.add(&rest);
        }
        if low.div_euclid(n) < 0 || high.div_euclid(n) > 0 {
            for quotient in [low.div_euclid(n), 0, high.div_euclid(n)] {
                // What can be anything lies between no such multiples.
                let multiple = quotient.checked_mul(n).and_then(|multiple| rest.add_number(-multiple));
                let Some(above) = multiple else { continue };
                let below = above.scale(-1)?.add_number(n - 1)?;
                if self.proves(&above) && self.proves(&below) {
                    return whole.add_number(quotient);
                }
            }
        }
        let quotient = self.quotient(&rest, n);
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
        // Whether it is negative, whatever large number it is divided by.
        let (low, high) = self.interval(&smaller);
        let sign = n / common > 1 << 31 && low >= -(1 << 31) && high < 1 << 31;
        self.make(Atom::Div(smaller, if sign { 1 << 31 } else { n / common }))
    }

    /// `((q / a) + r) / n` is `(q + a*r) / (a*n)`.
    fn flattened(&self, mut p: Poly, mut n: i128) -> Option<(Poly, i128)> {
        for _ in 0..8 {
            let inner = p.terms.iter().find_map(|(id, coefficient)| match self.atom(*id) {
                // What only says whether something is negative is better left alone.
                Atom::Div(..) if self.range(*id) == (-1, 0) => None,
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
    /// `moved` multiples of n were taken out of the formula.
    fn magic(&mut self, p: &Poly, n: i128, moved: i128) -> Option<(Poly, i128, i128)> {
        let common = p.content();
        for shift in 0..16 {
            let multiplier = common >> shift;
            if multiplier < 3 || multiplier << shift != common {
                return None;
            }
            // The constant lost multiples of n, here or where it wrapped.
            let lost = (0..16).chain([moved]).find(|i| (p.constant + n * i) % multiplier == 0);
            let Some(lost) = lost else { continue };
            let divisor = (n + multiplier / 2) / multiplier;
            let excess = multiplier * divisor - n;
            let dividend = p.add_number(n * lost)?.exact_quotient(multiplier)?;
            if divisor > 1 && excess >= 0 {
                // The largest dividend for which it is right.
                let largest = if excess == 0 { 1 << 100 } else { (n - 1) / excess };
                let below = dividend.scale(-1)?.add_number(largest)?;
                if !self.proves(&below) {
                    continue;
                }
                if self.proves(&dividend) {
                    return Some((dividend, divisor, lost));
                }
                // Negative numbers come out as if they were smaller by one.
                let (low, high) = self.interval(&dividend);
                if excess > 0 && low >= -largest && low >= -(1 << 31) && high < 1 << 31 {
                    let negative = self.div(&dividend, 1 << 31)?;
                    return Some((dividend.add(&negative)?, divisor, lost));
                }
            }
        }
        None
    }
}

/// The formula divided by what all of its terms have in common, rounded down.
fn without_content(p: Poly) -> Poly {
    match p.content() {
        0 | 1 => p,
        common => Poly {
            constant: p.constant.div_euclid(common),
            terms: p.terms.into_iter().map(|t| (t.0, t.1 / common)).collect(),
        },
    }
}

/// The same where the formula may be a product with the multiplier of a division, which must not come apart. The sign is
/// that of the product's first term: what is divided may be negative. The last number says how many multiples of `n` the
/// rest has lost.
fn parted_together(p: &Poly, n: i128, sign: i128) -> (Poly, Poly, i128) {
    let (mut whole, mut rest) = (Poly::default(), p.clone());
    rest.terms.retain(|(atom, coefficient)| {
        let multiple = coefficient % n == 0;
        if multiple {
            whole.terms.push((*atom, coefficient / n));
        }
        !multiple
    });
    let common = rest.content() * sign;
    if common != 0 && rest.constant % common == 0 {
        // Multipliers are positive and less than n.
        let small = common.rem_euclid(n);
        let factor = (common - small) / n;
        let each = Poly {
            constant: rest.constant / common,
            terms: rest.terms.iter().map(|t| (t.0, t.1 / common)).collect(),
        };
        let parts = each.scale(factor).and_then(|more| Some((whole.add(&more)?, each.scale(small)?)));
        if let Some(parts) = parts {
            (whole, rest) = parts;
        }
    }
    let moved = rest.constant.div_euclid(n);
    whole.constant += moved;
    rest.constant = rest.constant.rem_euclid(n);
    (whole, rest, moved)
}

/// A formula as `n` times something and a rest. Only what is a multiple goes, or nearly so: the rest keeps its look.
fn parted(p: &Poly, n: i128) -> (Poly, Poly) {
    let (mut whole, mut rest) = (Poly::default(), Poly::default());
    for (atom, coefficient) in &p.terms {
        if coefficient % n == 0 {
            whole.terms.push((*atom, coefficient / n));
        } else if n >= 8 && *coefficient > 0 && coefficient % n == n - 1 {
            // `(15*x + 1) / 16` is `x + (1 - x) / 16`, as compilers have it who count iterations.
            whole.terms.push((*atom, coefficient / n + 1));
            rest.terms.push((*atom, -1));
        } else {
            rest.terms.push((*atom, *coefficient));
        }
    }
    whole.constant = p.constant.div_euclid(n);
    rest.constant = p.constant.rem_euclid(n);
    (whole, rest)
}
