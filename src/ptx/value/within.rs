//! What formulas and conditions can be over ranges of threads, blocks and iterations.

use std::cell::Cell;

use super::algebra::{Algebra, Atom, Bits};
use super::bounds::{FAR, product, scaled};
use super::cond::{Cond, Raw, Rel};
use super::poly::{AtomId, Interval, Poly};

/// Ranges of all that formulas are made of, each with its least and largest value.
#[derive(Debug, Clone)]
pub(in crate::ptx) struct Ranges {
    pub tid: [Interval; 3],
    pub ctaid: [Interval; 3],
    /// By the number of the counter.
    pub counters: Vec<Interval>,
    /// Atoms that may still be looked at: choices inside choices have the same ones over and over. After that nothing
    /// is known any more.
    pub left: Cell<u64>,
}

impl Algebra {
    /// A range that the formula does not leave. Where all that it is made of is one number, so is the range: the value.
    pub fn range_in(&self, p: &Poly, over: &Ranges) -> Interval {
        let (mut low, mut high) = (p.constant, p.constant);
        for (atom, times) in &p.terms {
            let part = scaled(self.atom_range_in(*atom, over), *times);
            (low, high) = ((low + part.0).clamp(-FAR, FAR), (high + part.1).clamp(-FAR, FAR));
        }
        (low, high)
    }

    fn atom_range_in(&self, atom: AtomId, over: &Ranges) -> Interval {
        let union = |a: Interval, b: Interval| (a.0.min(b.0), a.1.max(b.1));
        match over.left.get().checked_sub(1) {
            Some(left) => over.left.set(left),
            None => return (-FAR, FAR),
        }
        match self.atom(atom) {
            Atom::Tid(d) => over.tid[*d],
            Atom::Ctaid(d) => over.ctaid[*d],
            Atom::Counter(n) => over.counters[*n as usize],
            // As for the value at one point.
            Atom::Phi(..) | Atom::Base(..) => (0, 0),
            Atom::Div(p, n) => {
                let (low, high) = self.range_in(p, over);
                (low.div_euclid(*n), high.div_euclid(*n))
            }
            Atom::Odd(p) => match self.range_in(p, over) {
                (low, high) if low == high => (low.rem_euclid(2), low.rem_euclid(2)),
                _ => (0, 1),
            },
            Atom::Min(a, b) => {
                let (a, b) = (self.range_in(a, over), self.range_in(b, over));
                (a.0.min(b.0), a.1.min(b.1))
            }
            Atom::Max(a, b) => {
                let (a, b) = (self.range_in(a, over), self.range_in(b, over));
                (a.0.max(b.0), a.1.max(b.1))
            }
            Atom::Select(c, a, b) => match self.settled(c, over) {
                Some(true) => self.range_in(a, over),
                Some(false) => self.range_in(b, over),
                None => union(self.range_in(a, over), self.range_in(b, over)),
            },
            Atom::Bits(how, a, b, width) => {
                let (a, b) = (self.range_in(a, over), self.range_in(b, over));
                if a.0 < a.1 || b.0 < b.1 {
                    return (0, (1 << width) - 1);
                }
                let bits = (if *how == Bits::And { a.0 & b.0 } else { a.0 | b.0 }).rem_euclid(1 << width);
                (bits, bits)
            }
            Atom::Product(all) => all.iter().fold((1, 1), |p, f| product(p, self.atom_range_in(*f, over))),
        }
    }

    /// Whether the condition holds everywhere in the ranges, or nowhere; none where neither is seen. Where all that it
    /// is made of is one number, it is seen. What data tell is taken to hold.
    pub fn settled(&self, cond: &Cond, over: &Ranges) -> Option<bool> {
        match cond {
            Cond::True | Cond::Data(..) => Some(true),
            Cond::False => Some(false),
            Cond::Ge(p) => compared(Rel::Ge, self.range_in(p, over), (0, 0)),
            Cond::Eq(p) => compared(Rel::Eq, self.range_in(p, over), (0, 0)),
            Cond::Ne(p) => compared(Rel::Ne, self.range_in(p, over), (0, 0)),
            Cond::And(all) => self.all_settled(all, true, over),
            Cond::Or(all) => self.all_settled(all, false, over),
            Cond::Raw(raw) => {
                let Raw { rel, signed, width, a, b } = &**raw;
                let bits = |p: &Poly| wrapped(self.range_in(p, over), *width, *signed);
                compared(*rel, bits(a), bits(b))
            }
        }
    }

    /// The contrary of `all` where one of the conditions is that; `all` where all of them are.
    fn all_settled(&self, conds: &[Cond], all: bool, over: &Ranges) -> Option<bool> {
        let mut seen = Some(all);
        for cond in conds {
            match self.settled(cond, over) {
                Some(is) if is == all => {}
                Some(_) => return Some(!all),
                None => seen = None,
            }
        }
        seen
    }
}

/// What a comparison gives for all numbers of two ranges.
fn compared(rel: Rel, a: Interval, b: Interval) -> Option<bool> {
    let (less, at_most) = (a.1 < b.0, a.1 <= b.0);
    let (greater, at_least) = (a.0 > b.1, a.0 >= b.1);
    let seen = |yes: bool, no: bool| if yes || no { Some(yes) } else { None };
    match rel {
        Rel::Lt => seen(less, at_least),
        Rel::Le => seen(at_most, greater),
        Rel::Gt => seen(greater, at_most),
        Rel::Ge => seen(at_least, less),
        Rel::Eq => seen(at_least && at_most, less || greater),
        Rel::Ne => seen(less || greater, at_least && at_most),
    }
}

/// The numbers that registers of so many bits hold.
fn wrapped((low, high): Interval, width: u32, signed: bool) -> Interval {
    let (size, half) = (1_i128 << width, if signed { 1_i128 << (width - 1) } else { 0 });
    let wraps = (low + half).div_euclid(size);
    if wraps == (high + half).div_euclid(size) {
        (low - wraps * size, high - wraps * size)
    } else {
        (-half, size - half - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::value::{BlockAndGrid, Point};
    use crate::space::{Block, Grid};

    /// Over single points ranges are values, and over any ranges no value lies outside and no settled condition fails.
    #[test]
    fn ranges_hold_all_values() {
        let mut algebra =
            Algebra::new(BlockAndGrid { block: Block::known([16, 1, 1]), grid: Grid::known([8, 1, 1]) });
        let (x, b) = (algebra.tid(0), algebra.ctaid(0));
        let i = x.plus(&b, 16).unwrap();
        let third = algebra.rem(&i, 3).unwrap();
        let product = algebra.multiply(&x, &b).unwrap();
        let small = algebra.min(i.clone(), product.clone());
        let odd = algebra.make(Atom::Odd(i.clone()));
        let bits = algebra.make(Atom::Bits(Bits::Or, x.clone(), b.clone(), 32));
        let chosen = algebra.make(Atom::Select(Cond::Eq(third.clone()), x.clone(), product.clone()));
        let formulas = [i.clone(), third.clone(), product, small, odd, bits, chosen];
        let below = |n: i128, signed| Raw {
            rel: Rel::Lt,
            signed,
            width: 32,
            a: x.add_number(-n).unwrap(),
            b: b.clone(),
        };
        let conds = [
            Cond::Ge(i.add_number(-40).unwrap()),
            Cond::Eq(third.clone()),
            Cond::Ne(third),
            Cond::Raw(Box::new(below(5, true))),
            Cond::Raw(Box::new(below(5, false))),
            Cond::or(
                Cond::Ge(x.add_number(-9).unwrap()),
                Cond::and(Cond::Eq(b.add_number(-2).unwrap()), Cond::Eq(x)),
            ),
        ];
        for tid in [(0, 15), (0, 3), (5, 5), (9, 15)] {
            for ctaid in [(0, 7), (2, 2), (3, 4)] {
                let over = Ranges {
                    tid: [tid, (0, 0), (0, 0)],
                    ctaid: [ctaid, (0, 0), (0, 0)],
                    counters: Vec::new(),
                    left: Cell::new(1 << 20),
                };
                let one = tid.0 == tid.1 && ctaid.0 == ctaid.1;
                for (x, b) in (tid.0..=tid.1).flat_map(|x| (ctaid.0..=ctaid.1).map(move |b| (x, b))) {
                    let mut at = Point::default();
                    (at.tid[0], at.ctaid[0]) = (i64::try_from(x).unwrap(), i64::try_from(b).unwrap());
                    for p in &formulas {
                        let (low, high) = algebra.range_in(p, &over);
                        assert!((low..=high).contains(&algebra.value(p, &at)), "{p:?} {at:?} {over:?}");
                        assert!(!one || low == high, "{p:?} {over:?}");
                    }
                    for cond in &conds {
                        let settled = algebra.settled(cond, &over);
                        assert!(settled.is_none_or(|is| is == algebra.holds(cond, &at)), "{cond:?} {at:?}");
                        assert!(!one || settled.is_some(), "{cond:?} {over:?}");
                    }
                }
            }
        }
    }
}
