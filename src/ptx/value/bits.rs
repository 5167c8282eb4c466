//! Operations on bits as formulas.

use super::algebra::Algebra;
use super::poly::Poly;

/// Widest operands of which single bits are looked at.
const BITWISE: u32 = 13;

impl Algebra {
    /// `p & mask`, modulo 2^width. The low bits of a register are those of the formula, however it wraps.
    pub fn and_mask(&mut self, p: &Poly, mask: u128, width: u32) -> Option<Poly> {
        let mut mask = if width == 128 { mask } else { mask & ((1 << width) - 1) };
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

    /// `a & b`.
    pub fn bit_and(&mut self, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        match (a.number(), b.number()) {
            (_, Some(mask)) => self.and_mask(a, mask.cast_unsigned(), width),
            (Some(mask), _) => self.and_mask(b, mask.cast_unsigned(), width),
            _ if a == b => Some(a.clone()),
            _ => self.bitwise(a, b, width, &|algebra, sum| algebra.div(sum, 2)),
        }
    }

    /// `a | b` is `a + b` less what both have.
    pub fn bit_or(&mut self, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        if self.disjoint(a, b, width) || self.disjoint(b, a, width) {
            return a.add(b);
        }
        let both = self.bit_and(a, b, width)?;
        a.add(b)?.sub(&both)
    }

    /// `a ^ b` is `a + b` less twice what both have.
    pub fn bit_xor(&mut self, a: &Poly, b: &Poly, width: u32) -> Option<Poly> {
        if self.disjoint(a, b, width) || self.disjoint(b, a, width) {
            return a.add(b);
        }
        if a.number().is_none() && b.number().is_none() && a != b {
            return self.bitwise(a, b, width, &|algebra, sum| algebra.rem(sum, 2));
        }
        let both = self.bit_and(a, b, width)?;
        a.add(b)?.plus(&both, -2)
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

    /// Bit by bit: `of` says what a bit of the result is, by the sum of the two bits.
    fn bitwise(
        &mut self,
        a: &Poly,
        b: &Poly,
        width: u32,
        of: &dyn Fn(&mut Self, &Poly) -> Option<Poly>,
    ) -> Option<Poly> {
        let a = self.unwrapped(a, width, false)?;
        let b = self.unwrapped(b, width, false)?;
        let largest = self.interval(&a).1.max(self.interval(&b).1);
        let least = self.interval(&a).1.min(self.interval(&b).1);
        let mut sum = Poly::default();
        if largest >= 1 << BITWISE {
            if least >= 1 << BITWISE {
                return None;
            }
            // Above the highest bit of the smaller one, there is the larger one alone.
            let bits = 128 - least.leading_zeros();
            let (large, small) = if self.interval(&a).1 == largest { (&a, &b) } else { (&b, &a) };
            let low = self.rem(large, 1 << bits)?;
            let high = large.sub(&low)?;
            let below = self.bitwise(&low, small, width, of)?;
            let one = of(self, &Poly::constant(1))?;
            return if one == Poly::default() { Some(below) } else { below.add(&high) };
        }
        for bit in 0..BITWISE {
            if largest >> bit == 0 {
                break;
            }
            let (x, y) = (self.div(&a, 1 << bit)?, self.div(&b, 1 << bit)?);
            let (x, y) = (self.rem(&x, 2)?, self.rem(&y, 2)?);
            let one = of(self, &x.add(&y)?)?;
            sum = sum.plus(&one, 1 << bit)?;
        }
        Some(sum)
    }
}
