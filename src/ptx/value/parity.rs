//! Single bits of formulas.
//!
//! A bit is the parity of a quotient: bit 3 of `p` is `p / 8` modulo 2. Parities add without carries, so that a bit of
//! `a ^ b` is the parity of the sum of two quotients, and layouts that compilers make by exclusive or of bits of the
//! thread's number stay short.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::algebra::{Algebra, Atom};
use super::poly::{AtomId, Interval, Poly};

/// Bits of numbers that are known bit by bit.
const WIDEST: u32 = 62;

/// Terms of formulas of which bits are looked at, at most, where they are not known already: each bit is a quotient of
/// all of them.
const MOST_TERMS: usize = 12;

/// Bits of two numbers, as parities, the lowest first.
pub(super) struct BitsOfBoth {
    pub pairs: Vec<(Poly, Poly)>,
    /// What the larger number has above.
    pub above: Poly,
}

impl Algebra {
    /// Whether the formula is a sum of bits without carries.
    pub(super) fn made_of_bits(&mut self, p: &Poly) -> bool {
        self.all_bits(p).is_some()
    }

    /// All bits of a formula that is a sum of bits without carries: known from where it was put together, or to be seen.
    /// They are parities, that is sums of atoms of which it says whether they are odd, and 0 or 1.
    pub(super) fn all_bits(&mut self, p: &Poly) -> Option<Vec<Poly>> {
        self.known_bits(p).or_else(|| self.spread(p))
    }

    /// The bits of a sum of atoms that are small numbers, and quotients of such by powers of 2, if no two of them carry.
    fn spread(&mut self, p: &Poly) -> Option<Vec<Poly>> {
        // What each bit of each atom adds, once for all quotients of it.
        let mut weights: BTreeMap<(AtomId, u32), i128> = BTreeMap::new();
        for (atom, times) in &p.terms {
            let (of, from) = match self.atom(*atom) {
                Atom::Div(q, n) if n & (n - 1) == 0 && q.constant == 0 && matches!(q.terms[..], [(_, 1)]) => {
                    (q.terms[0].0, n.trailing_zeros())
                }
                _ => (*atom, 0),
            };
            let (low, high) = self.range(of);
            if low < 0 || high >= 1 << WIDEST {
                return None;
            }
            for bit in from..128 - high.leading_zeros() {
                let weight = weights.entry((of, bit)).or_default();
                *weight = weight.checked_add(times.checked_mul(1 << (bit - from))?)?;
            }
        }
        let mut bits = vec![Poly::default(); WIDEST as usize];
        let mut constant = p.constant;
        for ((of, bit), weight) in weights {
            if weight == 0 {
                continue;
            }
            let quotient = self.div(&Poly::atom(of), 1 << bit)?;
            let mut parity = self.parity(&quotient)?;
            let mut mask = weight;
            // `8 - 8*x` is 8 times what x is not.
            if weight < 0 && constant > 0 && constant & -weight == -weight {
                (constant, mask) = (constant + weight, -weight);
                parity = self.parity(&parity.add_number(1)?)?;
            }
            if !(0..1 << WIDEST).contains(&mask) {
                return None;
            }
            for (place, at) in bits.iter_mut().zip(0_u32..).filter(|(_, at)| mask >> at & 1 != 0) {
                debug_assert!(at < WIDEST, "masks are that wide");
                if *place != Poly::default() {
                    return None;
                }
                *place = parity.clone();
            }
        }
        if !(0..1 << WIDEST).contains(&constant) {
            return None;
        }
        for (place, _) in bits.iter_mut().zip(0_u32..).filter(|(_, at)| constant >> at & 1 != 0) {
            if *place != Poly::default() {
                return None;
            }
            *place = Poly::constant(1);
        }
        Some(bits)
    }

    /// The lowest bits of a formula, as parities.
    pub(super) fn lowest_bits(&mut self, p: &Poly, count: u32) -> Option<Vec<Poly>> {
        if let Some(bits) = self.all_bits(p) {
            return Some(
                bits.into_iter().chain(std::iter::repeat(Poly::default())).take(count as usize).collect(),
            );
        }
        if p.terms.len() > MOST_TERMS {
            return None;
        }
        (0..count).map(|bit| self.div(p, 1 << bit).and_then(|quotient| self.parity(&quotient))).collect()
    }

    /// How many bits a register of so many has at most that are not zero.
    pub(super) fn length(&mut self, p: &Poly, width: u32) -> u32 {
        if let Some(bits) = self.all_bits(p) {
            let last = bits.iter().rposition(|bit| *bit != Poly::default()).map_or(0, |last| last + 1);
            return u32::try_from(last).map_or(width, |last| last.min(width));
        }
        match self.unwrapped(p, width, false) {
            Some(p) => (128 - self.interval(&p).1.leading_zeros()).min(width),
            None => width,
        }
    }

    /// The bits of two numbers, as far as the smaller of them has any, or both where they are known; at most so many.
    pub(super) fn bits_of_both(&mut self, a: &Poly, b: &Poly, width: u32, most: u32) -> Option<BitsOfBoth> {
        let lengths = [self.length(a, width), self.length(b, width)];
        let (large, small) =
            if lengths[0] > lengths[1] { (a, lengths) } else { (b, [lengths[1], lengths[0]]) };
        let count = if self.made_of_bits(large) { small[0] } else { small[1] };
        if count > most {
            return None;
        }
        let above = if count == small[0] {
            Poly::default()
        } else {
            let low = self.rem(large, 1 << count)?;
            large.sub(&low)?
        };
        let (a, b) = (self.lowest_bits(a, count)?, self.lowest_bits(b, count)?);
        Some(BitsOfBoth { pairs: a.into_iter().zip(b).collect(), above })
    }

    /// The bits of a formula that was put together of bits.
    pub(super) fn known_bits(&self, p: &Poly) -> Option<Vec<Poly>> {
        let (odd, zeros) = without_zeros(p);
        let known = self.bits.get(&odd)?;
        Some(std::iter::repeat_n(Poly::default(), zeros as usize).chain(known.iter().cloned()).collect())
    }

    /// The range of a formula that was put together of bits.
    pub(super) fn interval_of_bits(&self, p: &Poly) -> Option<Interval> {
        let bits = self.known_bits(p)?;
        let ones = |some: &dyn Fn(&Poly) -> bool| {
            bits.iter().zip(0_u32..).filter(|(bit, _)| some(bit)).map(|(_, at)| 1_i128 << at).sum()
        };
        Some((ones(&|bit| *bit == Poly::constant(1)), ones(&|bit| *bit != Poly::default())))
    }

    /// The number with these bits.
    pub(super) fn of_bits(&mut self, bits: &[Poly]) -> Option<Poly> {
        let mut sum = Poly::default();
        for (bit, at) in bits.iter().zip(0_u32..) {
            sum = sum.plus(&self.odd(bit)?, 1 << at)?;
        }
        self.note_bits(&sum, bits);
        Some(sum)
    }

    /// Keeps that a formula has these bits.
    pub(super) fn note_bits(&mut self, sum: &Poly, bits: &[Poly]) {
        let (odd, zeros) = without_zeros(sum);
        let (none, rest) = bits.split_at((zeros as usize).min(bits.len()));
        if !sum.terms.is_empty() && none.iter().all(|bit| *bit == Poly::default()) {
            self.bits.insert(odd, Rc::from(rest));
        }
    }

    /// Whether the formula is odd, as 0 or 1.
    pub(super) fn odd(&mut self, p: &Poly) -> Option<Poly> {
        let Poly { constant, terms } = self.parity(p)?;
        let sum = Poly { constant: 0, terms };
        let odd = match &sum.terms[..] {
            [] => Poly::default(),
            [_] => self.rem(&sum, 2)?,
            _ => self.make(Atom::Odd(sum)),
        };
        if constant == 0 { Some(odd) } else { Poly::constant(1).sub(&odd) }
    }

    /// The parity of a sum of parities.
    pub(super) fn parity_of_sum(&self, all: &[&Poly]) -> Option<Poly> {
        let sum = all.iter().try_fold(Poly::default(), |sum, p| sum.add(p))?;
        self.parity(&sum)
    }

    /// The formula modulo 2: the atoms that stand in it an odd number of times.
    fn parity(&self, p: &Poly) -> Option<Poly> {
        let modulo = |p: Poly| Poly {
            constant: p.constant.rem_euclid(2),
            terms: p.terms.into_iter().filter(|t| t.1 % 2 != 0).map(|t| (t.0, 1)).collect(),
        };
        let mut sum = Poly::constant(p.constant);
        for (atom, _) in p.terms.iter().filter(|t| t.1 % 2 != 0) {
            sum = match self.atom(*atom) {
                Atom::Odd(inner) => sum.add(inner)?,
                _ => sum.add(&Poly::atom(*atom))?,
            };
            sum = modulo(sum);
        }
        Some(modulo(sum))
    }
}

/// The formula without the zeros that its lowest bits are, and how many.
fn without_zeros(p: &Poly) -> (Poly, u32) {
    let zeros = (p.content() | p.constant).trailing_zeros().min(64);
    match p.exact_quotient(1 << zeros) {
        Some(odd) => (odd, zeros),
        None => (p.clone(), 0),
    }
}
