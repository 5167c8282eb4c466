//! Which number the bits of a register are.

use super::algebra::{Algebra, Atom};
use super::cond::{Cond, Raw, Rel};
use super::poly::Poly;

impl Algebra {
    /// The number that `p` modulo 2^width is, with or without a sign. Exact in any case: where nothing proves that the
    /// value does not wrap, the formula says how it wraps.
    pub fn integer(&mut self, p: &Poly, width: u32, signed: bool) -> Option<Poly> {
        if let Some(same) = self.unwrapped(p, width, signed) {
            return Some(same);
        }
        // A sum of bits has its sign in one of them.
        if let Some(mut bits) = self.all_bits(p) {
            let sign = bits.get(width as usize - 1).filter(|_| signed).cloned().unwrap_or_default();
            bits.truncate(width as usize);
            let sign = self.odd(&sign)?;
            return self.of_bits(&bits)?.plus(&sign, -(1 << width));
        }
        let half = if signed { 1 << (width - 1) } else { 0 };
        let wraps = self.div(&p.add_number(half)?, 1 << width)?;
        p.plus(&wraps, -(1 << width))
    }

    /// The same, where it provably does not wrap (or wraps always as often).
    pub fn unwrapped(&mut self, p: &Poly, width: u32, signed: bool) -> Option<Poly> {
        let half: i128 = if signed { 1 << (width - 1) } else { 0 };
        let (low, high) = self.interval(p);
        let size = 1_i128 << width;
        let wraps = (low + half).div_euclid(size);
        if wraps == (high + half).div_euclid(size) {
            return p.add_number(-wraps * size);
        }
        let above = p.add_number(half)?;
        let below = p.scale(-1)?.add_number(size - 1 - half)?;
        if self.proves(&above) && self.proves(&below) {
            return Some(p.clone());
        }
        // A number below zero, as one without a sign.
        let negative = !signed && self.proves(&p.scale(-1)?.add_number(-1)?);
        let next = p.add_number(size).filter(|_| negative)?;
        self.proves(&next).then_some(next)
    }

    /// A comparison of registers as a condition on numbers. What may wrap stays as it is if `keep` says so.
    pub fn compare(&mut self, raw: Raw, keep: bool) -> Option<Cond> {
        if let Some(cond) = self.compared_together(&raw, keep) {
            return Some(cond);
        }
        let Raw { rel, signed, width, a, b } = &raw;
        if matches!(rel, Rel::Eq | Rel::Ne) {
            let difference = a.sub(b)?;
            // Equal bits: the difference is a multiple of 2^width.
            let size = 1_i128 << width;
            let above = difference.add_number(size - 1)?;
            let below = difference.scale(-1)?.add_number(size - 1)?;
            let small = self.proves(&above) && self.proves(&below);
            let difference = match self.unwrapped(&difference, *width, true) {
                _ if small => difference,
                Some(same) => same,
                None if keep => return Some(Cond::Raw(Box::new(raw))),
                None => self.integer(&difference, *width, true)?,
            };
            let cond = if *rel == Rel::Eq { Cond::Eq(difference) } else { Cond::Ne(difference) };
            return Some(self.decided(cond));
        }
        let numbers = self.unwrapped(a, *width, *signed).zip(self.unwrapped(b, *width, *signed));
        let (a, b) = match numbers {
            Some(numbers) => numbers,
            None if !signed && let Some(cond) = self.in_range(&raw) => return Some(cond),
            None if keep => return Some(Cond::Raw(Box::new(raw))),
            None => (self.integer(a, *width, *signed)?, self.integer(b, *width, *signed)?),
        };
        let cond = Cond::Ge(match rel {
            Rel::Lt => b.sub(&a)?.add_number(-1)?,
            Rel::Le => b.sub(&a)?,
            Rel::Gt => a.sub(&b)?.add_number(-1)?,
            _ => a.sub(&b)?,
        });
        Some(self.decided(cond))
    }

    /// `(unsigned)a < b` means `0 <= a && a < b` where a is small, and b is small and not negative.
    fn in_range(&mut self, raw: &Raw) -> Option<Cond> {
        let Raw { rel, width, a, b, .. } = raw;
        let (inside, rel, a, b) = match rel {
            Rel::Lt | Rel::Le => (true, *rel, a, b),
            Rel::Gt => (false, Rel::Le, a, b),
            _ => (false, Rel::Lt, a, b),
        };
        let a = self.unwrapped(a, *width, true)?;
        let b = self.unwrapped(b, *width, true)?;
        if !self.proves(&b) {
            return None;
        }
        let from = self.decided(Cond::Ge(a.clone()));
        let to = self.decided(Cond::Ge(b.sub(&a)?.add_number(-i128::from(rel == Rel::Lt))?));
        let cond = Cond::and(from, to);
        Some(if inside { cond } else { cond.not() })
    }

    /// A condition on a quotient as one on what is divided, which is simpler: `p / n >= m` is `p >= n*m`, and a quotient
    /// that is one of two numbers is not the other.
    fn undivided(&self, cond: &Cond) -> Option<Cond> {
        let (Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p)) = cond else { return None };
        let [(id, times)] = p.terms[..] else { return None };
        let Atom::Div(q, n) = self.atom(id) else { return None };
        let least = |m: i128| Some(Cond::Ge(q.add_number(-n.checked_mul(m)?)?));
        if let Cond::Ge(_) = cond {
            // A quotient of at least m, or at most.
            return if times > 0 {
                least(-p.constant.div_euclid(times))
            } else {
                Some(least(p.constant.div_euclid(-times) + 1)?.not())
            };
        }
        let (low, high) = self.interval(q);
        let (low, high) = (low.div_euclid(*n), high.div_euclid(*n));
        if p.constant % times != 0 {
            return None;
        }
        let other = match -p.constant / times {
            m if m == low => least(m + 1)?,
            m if m == high => least(m)?.not(),
            _ => return None,
        };
        Some(if let Cond::Ne(_) = cond { other } else { other.not() })
    }

    /// A condition on a minimum or maximum as one on what it is of: on both, or on one where the other cannot decide.
    fn unchosen(&mut self, cond: &Cond) -> Option<Cond> {
        let Cond::Ge(p) = cond else { return None };
        let (id, times, least, a, b) = p.terms.iter().find_map(|(id, times)| match self.atom(*id) {
            Atom::Min(a, b) => Some((*id, *times, true, a.clone(), b.clone())),
            Atom::Max(a, b) => Some((*id, *times, false, a.clone(), b.clone())),
            _ => None,
        })?;
        let rest = p.plus(&Poly::atom(id), -times)?;
        let (a, b) = (Cond::Ge(rest.plus(&a, times)?), Cond::Ge(rest.plus(&b, times)?));
        let (a, b) = (self.decided(a), self.decided(b));
        if least == (times > 0) {
            return Some(Cond::and(a, b));
        }
        let known = |cond: &Cond| matches!(cond, Cond::True | Cond::False);
        (known(&a) || known(&b)).then(|| Cond::or(a, b))
    }

    /// A condition on a choice between a number and something else, where the number decides: booleans that were kept in
    /// registers.
    fn unselected(&mut self, cond: &Cond) -> Option<Cond> {
        let (Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p)) = cond else { return None };
        let [(id, times)] = p.terms[..] else { return None };
        let Atom::Select(which, a, b) = self.atom(id).clone() else { return None };
        if a.number().is_none() && b.number().is_none() {
            return None;
        }
        let with = |value: &Poly| {
            let p = Poly::constant(p.constant).plus(value, times)?;
            Some(match cond {
                Cond::Ge(_) => Cond::Ge(p),
                Cond::Eq(_) => Cond::Eq(p),
                _ => Cond::Ne(p),
            })
        };
        let (a, b) = (with(&a)?, with(&b)?);
        let (a, b) = (self.decided(a), self.decided(b));
        Some(Cond::or(Cond::and(which.clone(), a), Cond::and(which.not(), b)))
    }

    /// The condition, or true or false where that is known.
    pub fn decided(&mut self, cond: Cond) -> Cond {
        let cond = smallest(cond);
        if let Some(simpler) = self.undivided(&cond) {
            return self.decided(simpler);
        }
        if let Some(simpler) = self.unchosen(&cond).or_else(|| self.unselected(&cond)) {
            return simpler;
        }
        let negated = |p: &Poly| p.scale(-1).and_then(|p| p.add_number(-1));
        match &cond {
            Cond::Ge(p) => {
                if self.proves(p) {
                    return Cond::True;
                }
                if negated(p).is_some_and(|p| self.proves(&p)) {
                    return Cond::False;
                }
                cond
            }
            Cond::Eq(p) | Cond::Ne(p) => {
                let never = p.terms.is_empty() && p.constant != 0
                    || !p.terms.is_empty() && p.constant % p.content() != 0
                    || p.add_number(-1).is_some_and(|p| self.proves(&p))
                    || negated(p).is_some_and(|p| self.proves(&p));
                let always = *p == Poly::default();
                match (&cond, never, always) {
                    (Cond::Eq(_), true, _) | (Cond::Ne(_), _, true) => Cond::False,
                    (Cond::Eq(_), _, true) | (Cond::Ne(_), true, _) => Cond::True,
                    _ => cond,
                }
            }
            Cond::And(all) => all.iter().fold(Cond::True, |sum, c| Cond::and(sum, self.decided(c.clone()))),
            Cond::Or(all) => all.iter().fold(Cond::False, |sum, c| Cond::or(sum, self.decided(c.clone()))),
            Cond::Raw(raw) => self.compare((**raw).clone(), true).unwrap_or(cond),
            _ => cond,
        }
    }
}

/// The condition with the smallest numbers: `31 - 3*x >= 0` is `10 - x >= 0`.
fn smallest(cond: Cond) -> Cond {
    let (Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p)) = &cond else { return cond };
    let by = p.content();
    let whole = matches!(cond, Cond::Ge(_)) || p.constant % by.max(1) == 0;
    if by <= 1 || !whole {
        return cond;
    }
    let terms = p.terms.iter().map(|t| (t.0, t.1 / by)).collect();
    let smaller = Poly { constant: p.constant.div_euclid(by), terms };
    match cond {
        Cond::Ge(_) => Cond::Ge(smaller),
        Cond::Eq(_) => Cond::Eq(smaller),
        _ => Cond::Ne(smaller),
    }
}
