//! Values of formulas for one thread.

use super::algebra::{Algebra, Atom, Bits};
use super::cond::{Cond, Raw, Rel};
use super::poly::Poly;
use crate::space::{BlockIndex, Thread};

/// A thread, with the iterations of the loops that it is in.
#[derive(Debug, Clone, Default)]
pub(in crate::ptx) struct Point {
    pub tid: Thread,
    pub ctaid: BlockIndex,
    /// By the number of the counter: of all that stand in what is evaluated.
    pub counters: Vec<i128>,
}

impl Algebra {
    /// The value of a formula. Arrays begin at 0; what is not known yet is 0.
    pub fn value(&self, p: &Poly, at: &Point) -> i128 {
        p.terms.iter().fold(p.constant, |sum, (atom, times)| {
            sum.wrapping_add(self.value_of(self.atom(*atom), at).wrapping_mul(*times))
        })
    }

    fn value_of(&self, atom: &Atom, at: &Point) -> i128 {
        match atom {
            Atom::Tid(d) => at.tid[*d].into(),
            Atom::Ctaid(d) => at.ctaid[*d].into(),
            Atom::Counter(n) => at.counters[*n as usize],
            Atom::Phi(..) | Atom::Base(..) => 0,
            Atom::Div(p, n) => self.value(p, at).div_euclid(*n),
            Atom::Odd(p) => self.value(p, at).rem_euclid(2),
            Atom::Min(a, b) => self.value(a, at).min(self.value(b, at)),
            Atom::Max(a, b) => self.value(a, at).max(self.value(b, at)),
            Atom::Select(c, a, b) => self.value(if self.holds(c, at) { a } else { b }, at),
            Atom::Bits(how, a, b, width) => {
                let (a, b) = (self.value(a, at), self.value(b, at));
                (if *how == Bits::And { a & b } else { a | b }).rem_euclid(1 << width)
            }
            Atom::Product(all) => {
                all.iter().fold(1_i128, |p, f| p.wrapping_mul(self.value_of(self.atom(*f), at)))
            }
        }
    }

    /// Whether a condition holds. What data tell is taken to hold.
    pub fn holds(&self, cond: &Cond, at: &Point) -> bool {
        match cond {
            Cond::True | Cond::Data(..) => true,
            Cond::False => false,
            Cond::Ge(p) => self.value(p, at) >= 0,
            Cond::Eq(p) => self.value(p, at) == 0,
            Cond::Ne(p) => self.value(p, at) != 0,
            Cond::And(all) => all.iter().all(|c| self.holds(c, at)),
            Cond::Or(all) => all.iter().any(|c| self.holds(c, at)),
            Cond::Raw(raw) => {
                let Raw { rel, signed, width, a, b } = &**raw;
                let bits = |p: &Poly| {
                    let half = if *signed { 1_i128 << (width - 1) } else { 0 };
                    (self.value(p, at) + half).rem_euclid(1 << width) - half
                };
                let (a, b) = (bits(a), bits(b));
                match rel {
                    Rel::Lt => a < b,
                    Rel::Le => a <= b,
                    Rel::Gt => a > b,
                    Rel::Ge => a >= b,
                    Rel::Eq => a == b,
                    Rel::Ne => a != b,
                }
            }
        }
    }
}
