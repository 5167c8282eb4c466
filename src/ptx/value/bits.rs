//! Operations on bits as formulas.

use super::algebra::{Algebra, Atom, Bits};
use super::cond::{Cond, Raw, Rel};
use super::poly::Poly;

/// Bits that are looked at one by one at most, where neither number is known.
const BITWISE: u32 = 32;

/// Terms of formulas of which bits are masked at most, where the bits are not known already.
const MOST_MASKED: usize = 12;

/// Of those, the ones that are a product of bits: each of them has a formula of its own.
const MOST_PRODUCTS: u32 = 13;

/// Masks with more gaps than this are taken bit by bit: what each of their runs leaves would be a formula of its own.
const SCATTERED: u32 = 4;

/// Terms of formulas that are put together for tests at most.
const MOST_TESTED: usize = 8;

impl Algebra {
    /// `p & mask`, modulo 2^width. The low bits of a register are those of the formula, however it wraps.
    pub fn and_mask(&mut self, p: &Poly, mask: u128, width: u32) -> Option<Poly> {
        if let Some(mut bits) = self.known_bits(p) {
            bits.truncate(width as usize);
            for (bit, at) in bits.iter_mut().zip(0_u32..) {
                if mask >> at & 1 == 0 {
                    *bit = Poly::default();
                }
            }
            return self.of_bits(&bits);
        }
        if p.terms.len() > MOST_MASKED {
            return None;
        }
        let mut mask = if width == 128 { mask } else { mask & ((1 << width) - 1) };
        if (mask & !(mask << 1)).count_ones() > SCATTERED
            && let Some(scattered) = self.scattered(p, mask, width)
        {
            return Some(scattered);
        }
        let mut sum = Poly::default();
        while mask != 0 {
            // A run of ones, from bit `from` to the one before `to`.
            let from = mask.trailing_zeros();
            let to = from + (mask >> from).trailing_ones();
            if to == width {
                // Up to the top: the value without its low bits.
                let low = self.rem(p, 1 << from)?;
                sum = sum.add(&p.sub(&low)?)?;
                break;
            }
            let (high, low) = (self.rem(p, 1 << to)?, self.rem(p, 1 << from)?);
            sum = sum.add(&high.sub(&low)?)?;
            mask &= !(((1_u128 << (to - from)) - 1) << from);
        }
        Some(sum)
    }

    /// The bits of a mask that a number has, one by one.
    fn scattered(&mut self, p: &Poly, mask: u128, width: u32) -> Option<Poly> {
        let count = self.length(p, width);
        let mut bits = self.lowest_bits(p, count)?;
        for (bit, at) in bits.iter_mut().zip(0_u32..) {
            if mask >> at & 1 == 0 {
                *bit = Poly::default();
            }
        }
        self.of_bits(&bits)
    }

    /// The bits of a register of so many in the opposite order.
    pub fn reversed(&mut self, p: &Poly, width: u32) -> Option<Poly> {
        let count = self.length(p, width);
        let mut bits = self.lowest_bits(p, count)?;
        bits.resize(width as usize, Poly::default());
        bits.reverse();
        self.of_bits(&bits)
    }

    /// `a & b`.
    pub fn bit_and(&mut self, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        self.common_bits(a, b, width).or_else(|| self.together(Bits::And, a, b, width))
    }

    /// The same as a sum.
    fn common_bits(&mut self, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        match (a.number(), b.number()) {
            (_, Some(mask)) => self.and_mask(a, mask.cast_unsigned(), width),
            (Some(mask), _) => self.and_mask(b, mask.cast_unsigned(), width),
            _ if a == b => Some(a.clone()),
            _ if self.interval(a) == (-1, 0) => self.masked(a, b),
            _ if self.interval(b) == (-1, 0) => self.masked(b, a),
            _ => {
                let both = self.bits_of_both(a, b, width, BITWISE)?;
                let mut products = 0;
                let bits = both.pairs.iter().map(|(x, y)| self.both_bits(x, y, &mut products));
                let bits = bits.collect::<Option<Vec<_>>>()?;
                self.of_bits(&bits)
            }
        }
    }

    /// The second where the first is -1, and 0 where that is 0: what compilers make of the sign of a number.
    fn masked(&mut self, mask: &Poly, p: &Poly) -> Option<Poly> {
        let none = self.decided(Cond::Eq(mask.clone()));
        self.select(none, Poly::default(), p.clone())
    }

    /// Whether both bits are set.
    fn both_bits(&mut self, x: &Poly, y: &Poly, products: &mut u32) -> Option<Poly> {
        let (none, one) = (Poly::default(), Poly::constant(1));
        if *x == none || *y == one || x == y {
            return Some(x.clone());
        }
        if *x == one || *y == none {
            return Some(y.clone());
        }
        if x.terms == y.terms {
            return Some(none);
        }
        *products += 1;
        if *products > MOST_PRODUCTS {
            return None;
        }
        let twice = self.odd(x)?.add(&self.odd(y)?)?;
        self.div(&twice, 2)
    }

    /// `a | b` is `a + b` less what both have.
    pub fn bit_or(&mut self, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        if let Some(sum) = self.apart(a, b, width) {
            return Some(sum);
        }
        if self.made_of_bits(a) && self.made_of_bits(b) {
            let either = self.bits_of_both(a, b, width, BITWISE).and_then(|both| {
                let mut products = 0;
                let bits = both.pairs.iter().map(|(x, y)| {
                    let common = self.both_bits(x, y, &mut products)?;
                    self.parity_of_sum(&[x, y, &common])
                });
                let bits = bits.collect::<Option<Vec<_>>>()?;
                self.of_bits(&bits)?.add(&both.above)
            });
            if either.is_some() {
                return either;
            }
        }
        let Some(both) = self.common_bits(a, b, width) else { return self.together(Bits::Or, a, b, width) };
        a.add(b)?.sub(&both)
    }

    /// Both as one thing, for tests of it: of short formulas, as bounds are. Where an array begins is no number of which a
    /// test means something.
    fn together(&mut self, how: Bits, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        let bound = |p: &Poly| {
            let array = |id| matches!(self.atom(id), Atom::Base(..));
            p.terms.len() <= MOST_TESTED && !p.terms.iter().any(|t| array(t.0))
        };
        (width <= 64 && bound(a) && bound(b)).then(|| self.make(Atom::Bits(how, a.clone(), b.clone(), width)))
    }

    /// `a ^ b`: bit by bit, or `a + b` less twice what both have.
    pub fn bit_xor(&mut self, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        if let Some(sum) = self.apart(a, b, width) {
            return Some(sum);
        }
        let of_bits = self.made_of_bits(a) && self.made_of_bits(b);
        if !of_bits && (a.number().is_some() || b.number().is_some() || a == b) {
            let both = self.common_bits(a, b, width)?;
            return a.add(b)?.plus(&both, -2);
        }
        let both = self.bits_of_both(a, b, width, BITWISE)?;
        let bits = both.pairs.iter().map(|(x, y)| self.parity_of_sum(&[x, y]));
        let bits = bits.collect::<Option<Vec<_>>>()?;
        self.of_bits(&bits)?.add(&both.above)
    }

    /// The sum of two numbers that have no bit in common.
    fn apart(&mut self, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        if let (Some(x), Some(y)) = (self.all_bits(a), self.all_bits(b)) {
            let none = Poly::default();
            let count = x.len().max(y.len());
            let at = |bits: &[Poly], at: usize| bits.get(at).cloned().unwrap_or_default();
            let bits = (0..count).map(|i| match (at(&x, i), at(&y, i)) {
                (x, y) if y == none => Some(x),
                (x, y) if x == none => Some(y),
                _ => None,
            });
            let bits = bits.collect::<Option<Vec<_>>>()?;
            let sum = a.add(b)?;
            self.note_bits(&sum, &bits);
            return Some(sum);
        }
        (self.disjoint(a, b, width) || self.disjoint(b, a, width)).then(|| a.add(b)).flatten()
    }

    /// Whether `low` lies below the lowest bit that `high` can have.
    fn disjoint(&mut self, high: &Poly, low: &Poly, width: u32) -> bool {
        let zeros = match (high.content(), high.constant) {
            (0, 0) => return true,
            (content, constant) => (content | constant).trailing_zeros().min(width),
        };
        zeros > 0 && {
            let above = low.scale(-1).and_then(|p| p.add_number((1 << zeros) - 1));
            self.proves(low) && above.is_some_and(|p| self.proves(&p))
        }
    }
}

impl Algebra {
    /// What a comparison of two numbers' bits, put together, with a number says of each of them: `(a | b) < 0` that one
    /// of them is negative, `(a | b) < 8` without signs that both are less than 8.
    pub(super) fn compared_together(&mut self, raw: &Raw, keep: bool) -> Option<Cond> {
        let [(id, 1)] = raw.a.terms[..] else { return None };
        let Atom::Bits(how, a, b, width) = self.atom(id).clone() else { return None };
        if raw.a.constant != 0 || width != raw.width {
            return None;
        }
        let whole = raw.b.number()?;
        if let Some(less) = masked_below(how, &a, &b, raw) {
            return self.compare(less, keep);
        }
        // Less than this number, or not.
        let (below, limit) = match raw.rel {
            Rel::Lt => (true, whole),
            Rel::Le => (true, whole + 1),
            Rel::Ge => (false, whole),
            Rel::Gt => (false, whole + 1),
            Rel::Eq if whole == 0 => (true, 1),
            Rel::Ne if whole == 0 => (false, 1),
            Rel::Eq | Rel::Ne => return None,
        };
        let equality = matches!(raw.rel, Rel::Eq | Rel::Ne);
        let signed = raw.signed && !equality;
        let power = limit > 0 && limit & (limit - 1) == 0;
        // Of an `or` less than a power of 2, both are; of an `and` with a sign, too.
        let both = match (how, signed) {
            (Bits::Or, true) if limit == 0 => false,
            (Bits::And, true) if limit == 0 => true,
            (Bits::Or, false) if power => true,
            _ => return None,
        };
        let mut each = |p: Poly| {
            let b = Poly::constant(limit);
            self.compare(Raw { rel: Rel::Lt, signed, width, a: p, b }, keep)
        };
        let (first, second) = (each(a)?, each(b)?);
        let cond = if both { Cond::and(first, second) } else { Cond::or(first, second) };
        Some(self.decided(if below { cond } else { cond.not() }))
    }
}

/// `p & -32` is zero where p is less than 32, taken without a sign: compilers test so whether all of several numbers are.
fn masked_below(how: Bits, a: &Poly, b: &Poly, raw: &Raw) -> Option<Raw> {
    let rel = match raw.rel {
        Rel::Eq => Rel::Lt,
        Rel::Ne => Rel::Ge,
        _ => return None,
    };
    let (p, mask) = b.number().map(|mask| (a, mask)).or_else(|| Some((b, a.number()?)))?;
    let size = 1_i128 << raw.width;
    let limit = size - mask.rem_euclid(size);
    let masked = how == Bits::And && raw.b.number() == Some(0) && limit < size && limit & (limit - 1) == 0;
    masked.then(|| Raw { rel, signed: false, width: raw.width, a: p.clone(), b: Poly::constant(limit) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::value::{BlockAndGrid, Point};
    use crate::space::{Block, Grid};

    #[test]
    fn tests_of_several_bounds_that_compilers_put_together() {
        let mut algebra =
            Algebra::new(BlockAndGrid { block: Block::known([40, 1, 1]), grid: Grid::known([40, 1, 1]) });
        let (t, b) = (algebra.tid(0), algebra.ctaid(0));
        let (t, b) = (t.add_number(-3).unwrap(), b.add_number(-1).unwrap());
        let or = algebra.bit_or(&t, &b, 32).unwrap();
        // `(t | b) & -32`, either way round.
        let mask = Poly::constant(-32);
        let masked = [algebra.bit_and(&or, &mask, 32).unwrap(), algebra.bit_and(&mask, &or, 32).unwrap()];
        for sum in masked {
            for (rel, inside) in [(Rel::Eq, true), (Rel::Ne, false)] {
                let raw = Raw { rel, signed: true, width: 32, a: sum.clone(), b: Poly::default() };
                let cond = algebra.compare(raw, true).unwrap();
                assert!(!matches!(cond, Cond::Raw(_)), "{cond:?}");
                for x in 0..40 * 40 {
                    let at = Point {
                        tid: [x % 40, 0, 0].into(),
                        ctaid: [x / 40, 0, 0].into(),
                        counters: Vec::new(),
                    };
                    let both = (0..32).contains(&(x % 40 - 3)) && (0..32).contains(&(x / 40 - 1));
                    assert_eq!(algebra.holds(&cond, &at), both == inside, "{x} {cond:?}");
                }
            }
            // Of other numbers it says nothing.
            let raw = Raw { rel: Rel::Eq, signed: true, width: 32, a: sum, b: Poly::constant(32) };
            assert_eq!(algebra.compared_together(&raw, true), None);
        }
        // Nor of masks with a gap.
        let gap = algebra.bit_and(&or, &Poly::constant(-31), 32).unwrap();
        let raw = Raw { rel: Rel::Eq, signed: true, width: 32, a: gap, b: Poly::default() };
        assert_eq!(algebra.compared_together(&raw, true), None);
    }

    #[test]
    fn tests_of_signs_that_compilers_put_together() {
        let mut algebra =
            Algebra::new(BlockAndGrid { block: Block::known([40, 1, 1]), grid: Grid::known([40, 1, 1]) });
        let (t, b) = (algebra.tid(0), algebra.ctaid(0));
        let (t, b) = (t.add_number(-20).unwrap(), b.scale(3).unwrap().add_number(-50).unwrap());
        let (or, and) = (algebra.bit_or(&t, &b, 32).unwrap(), algebra.bit_and(&t, &b, 32).unwrap());
        let number = Poly::constant;
        let cases = [
            (Rel::Lt, true, 0, [true, true]),
            (Rel::Ge, true, 0, [true, true]),
            (Rel::Gt, true, -1, [true, true]),
            (Rel::Le, true, -1, [true, true]),
            (Rel::Lt, false, 8, [true, false]),
            (Rel::Gt, false, 15, [true, false]),
            (Rel::Eq, true, 0, [true, false]),
            (Rel::Ne, false, 0, [true, false]),
            (Rel::Lt, true, 8, [false, false]),
            (Rel::Lt, false, 7, [false, false]),
        ];
        for (rel, signed, limit, said) in cases {
            for ((sum, machine), said) in [(&or, true), (&and, false)].into_iter().zip(said) {
                let raw = Raw { rel, signed, width: 32, a: sum.clone(), b: number(limit) };
                let cond = algebra.compared_together(&raw, true);
                assert_eq!(cond.is_some(), said, "{rel:?} {limit} {machine}");
                for x in 0..40 * 40 {
                    let at = Point {
                        tid: [x % 40, 0, 0].into(),
                        ctaid: [x / 40, 0, 0].into(),
                        counters: Vec::new(),
                    };
                    let (t, b) = (x % 40 - 20, x / 40 * 3 - 50);
                    let bits = i128::from(if machine { t | b } else { t & b });
                    let value = if signed { bits } else { bits.rem_euclid(1 << 32) };
                    let expected = match rel {
                        Rel::Lt => value < limit,
                        Rel::Le => value <= limit,
                        Rel::Gt => value > limit,
                        Rel::Ge => value >= limit,
                        Rel::Eq => value == limit,
                        Rel::Ne => value != limit,
                    };
                    assert_eq!(algebra.value(sum, &at), bits.rem_euclid(1 << 32));
                    assert!(
                        cond.as_ref().is_none_or(|c| algebra.holds(c, &at) == expected),
                        "{rel:?} {t} {b}"
                    );
                }
            }
        }
    }
}
