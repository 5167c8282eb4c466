//! What formulas are made of, each thing once.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::cond::Cond;
use super::poly::{AtomId, Interval, Poly};
use crate::ptx::syntax::RegisterId;
use crate::space::{Block, Grid};

/// What is no sum.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::ptx) enum Atom {
    /// Thread in its block, along x, y, z.
    Tid(usize),
    /// Block in the grid.
    Ctaid(usize),
    /// Iteration of a loop, from 0.
    Counter(u32),
    /// What a register holds when an iteration of a loop begins, while that is not known yet.
    Phi(u32, RegisterId),
    /// Where an array begins: in shared or local memory at a small number; otherwise nothing is known of it.
    Base(u32, bool),
    /// Quotient, rounded down. The divisor is positive.
    Div(Poly, i128),
    Min(Poly, Poly),
    Max(Poly, Poly),
    /// The first where the condition holds, otherwise the second.
    Select(Cond, Poly, Poly),
    /// A product, factors in order.
    Product(Vec<AtomId>),
    /// The bits of two numbers put together in registers of so many bits, where no sum says what that gives: the
    /// number without a sign. Compilers test its sign, or whether it is zero.
    Bits(Bits, Poly, Poly, u32),
    /// Whether a sum of atoms is odd: what the exclusive or of bits is. 0 or 1.
    Odd(Poly),
}

/// How bits are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::ptx) enum Bits {
    And,
    Or,
}

/// Block and grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockAndGrid {
    /// Threads of a block.
    pub block: Block,
    /// Blocks of the grid.
    pub grid: Grid,
}

/// All atoms, the launch that formulas are for, and what is known at the place that is looked at.
pub(in crate::ptx) struct Algebra {
    atoms: Vec<Atom>,
    known: FxHashMap<Atom, AtomId>,
    /// Range of each atom.
    ranges: Vec<Interval>,
    pub launch: BlockAndGrid,
    /// Formulas that are not negative here.
    pub facts: Vec<Poly>,
    /// What a proof may still try.
    pub(super) tries: std::cell::Cell<u32>,
    /// Steps of proofs so far.
    pub work: std::cell::Cell<u64>,
    /// Last value of each loop counter, for its range.
    last: Vec<Interval>,
    /// The bits of formulas that were put together of bits; see `parity.rs`.
    pub(super) bits: FxHashMap<Poly, Rc<[Poly]>>,
}

impl Algebra {
    pub fn new(launch: BlockAndGrid) -> Self {
        Self {
            atoms: Vec::new(),
            known: FxHashMap::default(),
            ranges: Vec::new(),
            launch,
            facts: Vec::new(),
            tries: std::cell::Cell::default(),
            work: std::cell::Cell::default(),
            last: Vec::new(),
            bits: FxHashMap::default(),
        }
    }

    pub fn atom(&self, id: AtomId) -> &Atom {
        &self.atoms[id.0 as usize]
    }

    pub fn id(&mut self, atom: Atom) -> AtomId {
        if let Some(&id) = self.known.get(&atom) {
            return id;
        }
        let range = self.range_of(&atom);
        let id = AtomId(u32::try_from(self.atoms.len()).expect("steps are limited, and so are atoms"));
        self.atoms.push(atom.clone());
        self.ranges.push(range);
        self.known.insert(atom, id);
        id
    }

    pub fn make(&mut self, atom: Atom) -> Poly {
        Poly::atom(self.id(atom))
    }

    pub fn range(&self, id: AtomId) -> Interval {
        self.ranges[id.0 as usize]
    }

    /// A new loop counter that goes from 0 to `last`.
    pub fn counter(&mut self, last: Interval) -> AtomId {
        let number = u32::try_from(self.last.len()).expect("steps are limited, and so are loops");
        self.last.push(last);
        self.id(Atom::Counter(number))
    }

    pub(super) fn last(&self, counter: u32) -> Interval {
        self.last[counter as usize]
    }

    /// The thread's place along a dimension of the block.
    pub fn tid(&mut self, dim: usize) -> Poly {
        self.make(Atom::Tid(dim))
    }

    /// The block's place along a dimension of the grid.
    pub fn ctaid(&mut self, dim: usize) -> Poly {
        self.make(Atom::Ctaid(dim))
    }

    /// A product of formulas, written out; none where it becomes too large.
    pub fn multiply(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        if let Some(number) = b.number() {
            return a.scale(number);
        }
        if let Some(number) = a.number() {
            return b.scale(number);
        }
        if a.terms.len() * b.terms.len() > 64 {
            return None;
        }
        let mut sum = a.scale(b.constant)?.plus(&Poly { constant: 0, terms: b.terms.clone() }, a.constant)?;
        for (x, m) in &a.terms {
            for (y, n) in &b.terms {
                let product = self.product(*x, *y);
                sum = sum.plus(&Poly::atom(product), m.checked_mul(*n)?)?;
            }
        }
        Some(sum)
    }

    fn product(&mut self, a: AtomId, b: AtomId) -> AtomId {
        let mut factors = Vec::new();
        for id in [a, b] {
            match self.atom(id) {
                Atom::Product(inner) => factors.extend(inner.iter().copied()),
                _ => factors.push(id),
            }
        }
        factors.sort_unstable();
        self.id(Atom::Product(factors))
    }

    /// The first where the condition holds, otherwise the second.
    pub fn select(&mut self, cond: Cond, a: Poly, b: Poly) -> Option<Poly> {
        if a == b || cond == Cond::True {
            return Some(a);
        }
        if cond == Cond::False {
            return Some(b);
        }
        // Where the formula is zero, what differs by a multiple of it is the same.
        if let Cond::Eq(p) | Cond::Ne(p) = &cond
            && let Some((atom, one)) = p.terms.first()
            && let Some(difference) = a.sub(&b)
            && difference.coefficient(*atom) % one == 0
            && difference.plus(p, -(difference.coefficient(*atom) / one)) == Some(Poly::default())
        {
            return Some(if matches!(cond, Cond::Eq(_)) { b } else { a });
        }
        if let Cond::Ge(p) = &cond {
            let above = b.sub(&a)?;
            let below = a.sub(&b)?;
            if *p == above || Some(p) == above.add_number(-1).as_ref() {
                return Some(self.min(a, b));
            }
            if *p == below || Some(p) == below.add_number(-1).as_ref() {
                return Some(self.max(a, b));
            }
        }
        // What both have stands outside, so that equal sums look equal.
        let common = Poly { constant: a.constant, terms: a.common(&b) };
        let (a, b) = (a.sub(&common)?, b.sub(&common)?);
        self.make(Atom::Select(cond, a, b)).add(&common)
    }

    pub fn min(&mut self, a: Poly, b: Poly) -> Poly {
        match b.sub(&a) {
            Some(difference) if self.proves(&difference) => return a,
            _ => {}
        }
        match a.sub(&b) {
            Some(difference) if self.proves(&difference) => return b,
            _ => {}
        }
        self.chosen(a, b, Atom::Min)
    }

    /// A minimum or maximum; where both sides have wrapped as often, that stands outside.
    fn chosen(&mut self, a: Poly, b: Poly, atom: fn(Poly, Poly) -> Atom) -> Poly {
        let wraps = |p: &Poly| (p.constant + (1 << 31)) >> 32 << 32;
        let common = wraps(&a);
        if common != 0
            && common == wraps(&b)
            && let (Some(a), Some(b)) = (a.add_number(-common), b.add_number(-common))
            && let Some(sum) = self.make(atom(a, b)).add_number(common)
        {
            return sum;
        }
        self.make(atom(a, b))
    }

    pub fn max(&mut self, a: Poly, b: Poly) -> Poly {
        match b.sub(&a) {
            Some(difference) if self.proves(&difference) => return b,
            _ => {}
        }
        match a.sub(&b) {
            Some(difference) if self.proves(&difference) => return a,
            _ => {}
        }
        self.chosen(a, b, Atom::Max)
    }
}

impl Algebra {
    /// `x - n` where the formula is `max(0, x) - n` with a positive n: they agree where it is not negative.
    pub fn unclamped(&self, p: &Poly) -> Option<Poly> {
        let [(id, 1)] = p.terms[..] else { return None };
        match self.atom(id) {
            Atom::Max(a, b) if a.number() == Some(0) && p.constant < 0 => b.add_number(p.constant),
            _ => None,
        }
    }
}

impl Algebra {
    /// How many loop counters there are.
    pub fn counters(&self) -> usize {
        self.last.len()
    }

    /// The number of a loop counter.
    pub fn counter_number(&self, counter: AtomId) -> usize {
        match self.atom(counter) {
            Atom::Counter(number) => *number as usize,
            other => unreachable!("{other:?} is no counter"),
        }
    }
}
