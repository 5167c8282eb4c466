//! Registers that take a few values in turn: the halves of a double buffer, pointers that are swapped.

use rustc_hash::FxHashMap;

use super::reader::Reader;
use super::state::{State, Value};
use crate::ptx::syntax::RegisterId;
use crate::ptx::value::{Atom, AtomId, Cond, Poly};

/// Iterations after which registers may be as they were, at most.
const LONGEST: usize = 8;

/// Parts that formulas have at most which are computed again and again.
const PARTS: u32 = 64;

impl Reader<'_> {
    /// Registers, each with its placeholder and its first value, that after a few iterations are what they were at
    /// first, with what they hold in iteration `k`.
    pub(super) fn periodic(
        &mut self,
        unknown: &[(RegisterId, AtomId, Poly)],
        back: &State,
        counter: AtomId,
        k: &Poly,
    ) -> Vec<(RegisterId, Poly)> {
        let counts = self.algebra.atom(counter).clone();
        let steps: Vec<Option<Poly>> = unknown
            .iter()
            .map(|(id, ..)| match back.get(*id) {
                Value::Int(next)
                    if self.short(next) && !self.algebra.mentions(next, &|atom| *atom == counts) =>
                {
                    Some(next.clone())
                }
                _ => None,
            })
            .collect();
        let mut found = Vec::new();
        for start in 0..unknown.len() {
            let Some(cycle) = self.cycle(start, unknown, &steps) else { continue };
            if let Some(value) = self.in_turn(&cycle, k) {
                found.push((unknown[start].0, value));
            }
        }
        found
    }

    /// Whether a formula has few parts: choices of choices are not taken in turn.
    fn short(&self, p: &Poly) -> bool {
        let left = std::cell::Cell::new(PARTS);
        !self.algebra.mentions(p, &|_| {
            left.set(left.get().saturating_sub(1));
            left.get() == 0
        })
    }

    /// The values that a register takes in turn, if it and all that it follows from come back to where they began.
    fn cycle(
        &mut self,
        start: usize,
        unknown: &[(RegisterId, AtomId, Poly)],
        steps: &[Option<Poly>],
    ) -> Option<Vec<Poly>> {
        // Itself, and what its next value is made of.
        let mut together = vec![start];
        let mut at = 0;
        while at < together.len() {
            let step = steps[together[at]].as_ref()?;
            let mut own = 0;
            for (other, (_, atom, _)) in unknown.iter().enumerate() {
                let phi = self.algebra.atom(*atom).clone();
                if self.algebra.mentions(step, &|a| *a == phi) {
                    own += 1;
                    if !together.contains(&other) {
                        together.push(other);
                    }
                }
            }
            if own == 0 || together.len() > LONGEST {
                return None;
            }
            at += 1;
        }
        let first: Vec<Poly> = together.iter().map(|n| unknown[*n].2.clone()).collect();
        let mut now = first.clone();
        let mut values = Vec::new();
        for _ in 0..LONGEST {
            values.push(now[0].clone());
            let with: FxHashMap<AtomId, Poly> =
                together.iter().zip(&now).map(|(n, value)| (unknown[*n].1, value.clone())).collect();
            let next: Option<Vec<Poly>> = together
                .iter()
                .map(|n| self.algebra.replace(steps[*n].as_ref()?, &mut with.clone()))
                .collect();
            now = next?;
            if now
                .iter()
                .any(|p| !self.short(p) || self.algebra.mentions(p, &|atom| matches!(atom, Atom::Phi(..))))
            {
                return None;
            }
            if now == first {
                return (values.len() > 1).then_some(values);
            }
        }
        None
    }

    /// The value of iteration `k`, of those that are taken in turn.
    fn in_turn(&mut self, values: &[Poly], k: &Poly) -> Option<Poly> {
        let period = i128::try_from(values.len()).ok()?;
        let turn = self.algebra.rem(k, period)?;
        let differences = values.windows(2).map(|pair| pair[1].sub(&pair[0])?.number());
        let Some(differences) = differences.collect::<Option<Vec<i128>>>() else {
            let mut value = values.last()?.clone();
            for (other, at) in values[..values.len() - 1].iter().rev().zip((0..period - 1).rev()) {
                let here = self.algebra.decided(Cond::Eq(turn.add_number(-at)?));
                value = self.algebra.select(here, other.clone(), value)?;
            }
            return Some(value);
        };
        if differences.windows(2).all(|pair| pair[0] == pair[1]) {
            return values[0].plus(&turn, differences[0]);
        }
        // `(k + n - j) / n` is one more than `k / n` from turn j on.
        let mut value = values[0].clone();
        let before = self.algebra.div(k, period)?;
        for (at, difference) in (1..).zip(differences) {
            let later = self.algebra.div(&k.add_number(period - at)?, period)?;
            value = value.plus(&later.sub(&before)?, difference)?;
        }
        Some(value)
    }
}
