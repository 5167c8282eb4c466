//! How many iterations a loop has.

use rustc_hash::FxHashMap;

use super::reader::Reader;
use super::walk::Walked;
use super::why::Cause;
use crate::ptx::value::{Algebra, Atom, AtomId, Cond, Poly, Raw, Rel, WhyId};

/// The last iteration of a loop.
#[derive(Debug, Clone)]
pub(super) enum Bound {
    /// Its number, counted from 0.
    Last(Poly),
    /// It is not known, or the loop never ends.
    Never(WhyId),
}

impl Reader<'_> {
    /// The last iteration of a loop that was gone through with this counter, and why data may end it earlier.
    pub(super) fn bound(
        &mut self,
        l: usize,
        walked: &Walked,
        counter: AtomId,
        instruction: usize,
    ) -> (Bound, Option<WhyId>) {
        let mut early = None;
        let mut last: Option<Poly> = None;
        if walked.latches.is_empty() {
            return (Bound::Last(Poly::default()), None);
        }
        for (_, exit) in &walked.exits {
            if let Some(why) = exit.jump.data() {
                early = early.or(Some(why));
                continue;
            }
            // A way out that not every iteration comes to is none that can be counted with.
            let always = walked.latches.iter().all(|latch| self.dominates(exit.from, latch.from));
            let inner = self.loops.innermost[exit.from] != Some(l);
            if !always || inner || exit.jump == Cond::True {
                let why = self.why(instruction, Cause::Exit, None);
                return (Bound::Never(why), None);
            }
            let stay = exit.jump.clone().not();
            match self.algebra.stays(&stay, counter) {
                Some(Stays::Always) => {}
                Some(Stays::Times(times)) => {
                    last = Some(match last {
                        None => times,
                        Some(other) => self.algebra.min(other, times),
                    });
                }
                None => {
                    let argument = match &stay {
                        Cond::Raw(raw) => self.argument_in(&raw.a).or_else(|| self.argument_in(&raw.b)),
                        Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p) => self.argument_in(p),
                        _ => None,
                    };
                    let at = self.last_instruction(exit.from);
                    let from = argument.map(|argument| self.why(at, Cause::Argument(argument), None));
                    let why = self.why(at, Cause::Trips, from);
                    return (Bound::Never(why), early);
                }
            }
        }
        match last {
            Some(last) if self.argument_in(&last).is_none() => (Bound::Last(last), early),
            Some(last) => {
                let from = self
                    .argument_in(&last)
                    .map(|argument| self.why(instruction, Cause::Argument(argument), None));
                (Bound::Never(self.why(instruction, Cause::Trips, from)), early)
            }
            None => (Bound::Never(self.why(instruction, Cause::Trips, early)), early),
        }
    }

    fn dominates(&self, a: usize, mut b: usize) -> bool {
        while b > a {
            b = self.dominators[b];
        }
        a == b
    }

    fn last_instruction(&self, block: usize) -> usize {
        let range = self.graph.blocks[block].instructions.clone();
        range.last().unwrap_or_else(|| self.first_instruction(block))
    }
}

/// How often a condition holds before it does not.
enum Stays {
    Always,
    /// So many times: it fails for the first time in the iteration of this number.
    Times(Poly),
}

impl Algebra {
    /// How often the condition holds, from iteration 0 on.
    fn stays(&mut self, stay: &Cond, counter: AtomId) -> Option<Stays> {
        match stay {
            Cond::True => Some(Stays::Always),
            Cond::False => Some(Stays::Times(Poly::default())),
            Cond::Ge(p) => self.stays_up(p, counter),
            Cond::Ne(p) => self.stays_off(p, counter),
            Cond::And(all) => {
                let mut least: Option<Poly> = None;
                for one in all {
                    if let Stays::Times(times) = self.stays(one, counter)? {
                        least = Some(match least {
                            None => times,
                            Some(other) => self.min(other, times),
                        });
                    }
                }
                Some(least.map_or(Stays::Always, Stays::Times))
            }
            Cond::Raw(raw) => self.stays_raw(raw, counter),
            Cond::Eq(_) | Cond::Or(_) | Cond::Data(..) => None,
        }
    }

    /// A formula as `start + step*counter`.
    fn along(&self, p: &Poly, counter: AtomId) -> Option<(Poly, i128)> {
        let step = p.coefficient(counter);
        let start = p.plus(&Poly::atom(counter), -step)?;
        let is = self.atom(counter).clone();
        (!self.mentions(&start, &|atom| *atom == is)).then_some((start, step))
    }

    fn stays_up(&mut self, p: &Poly, counter: AtomId) -> Option<Stays> {
        let (start, step) = self.along(p, counter)?;
        if step >= 0 {
            return self.proves(&start).then_some(Stays::Always);
        }
        let times = self.div(&start, -step)?.add_number(1)?;
        Some(Stays::Times(self.max(Poly::default(), times)))
    }

    /// A formula that becomes zero.
    fn stays_off(&mut self, p: &Poly, counter: AtomId) -> Option<Stays> {
        let (start, step) = self.along(p, counter)?;
        if step == 0 {
            return None;
        }
        let mut times = start.exact_quotient(-step);
        if times.is_none() {
            // The distance may be a multiple that does not look like one.
            let whole = self.div(&start.scale(-step.signum())?, step.abs())?;
            let rest = start.plus(&whole, step)?;
            times = (rest == Poly::default()).then_some(whole);
        }
        let times = times?;
        self.proves(&times).then_some(Stays::Times(times))
    }

    /// Registers are compared of which the counter's range has to show that they do not wrap.
    fn stays_raw(&mut self, raw: &Raw, counter: AtomId) -> Option<Stays> {
        let size = 1_i128 << raw.width;
        if matches!(raw.rel, Rel::Eq | Rel::Ne) {
            let difference = raw.a.sub(&raw.b)?;
            let Stays::Times(times) = self.stays_off(&difference, counter)? else { return None };
            // From less than 2^width it comes down to zero and meets no other multiple before.
            let (start, _) = self.along(&difference, counter)?;
            let (above, below) = (start.add_number(size - 1)?, start.scale(-1)?.add_number(size - 1)?);
            let small = self.proves(&above) && self.proves(&below);
            return (raw.rel == Rel::Ne && (small || self.mentions_phi_free(&start, raw.width)))
                .then_some(Stays::Times(times));
        }
        let (a, from_a) = self.numbered(&raw.a, raw, counter)?;
        let (b, from_b) = self.numbered(&raw.b, raw, counter)?;
        let difference = match raw.rel {
            Rel::Lt => b.sub(&a)?.add_number(-1)?,
            Rel::Le => b.sub(&a)?,
            Rel::Gt => a.sub(&b)?.add_number(-1)?,
            _ => a.sub(&b)?,
        };
        let stays = self.stays_up(&difference, counter)?;
        let Stays::Times(times) = &stays else { return None };
        // The side that moves must not have wrapped when the loop is left.
        let half = if raw.signed { size / 2 } else { 0 };
        for (side, moves) in [(&a, from_a), (&b, from_b)] {
            if !moves {
                continue;
            }
            let mut with = FxHashMap::from_iter([(counter, times.clone())]);
            let end = self.replace(side, &mut with)?;
            let (above, below) = (end.add_number(half)?, end.scale(-1)?.add_number(size - half - 1)?);
            let far = self.mentions(&end, &|atom| matches!(atom, Atom::Base(_, false)));
            let fits = far || (self.proves(&above) && self.proves(&below));
            if !fits {
                return None;
            }
        }
        Some(stays)
    }

    /// Pointers lie far from where addresses wrap.
    fn mentions_phi_free(&self, start: &Poly, width: u32) -> bool {
        width == 64 && !self.mentions(start, &|atom| matches!(atom, Atom::Phi(..)))
    }

    /// One side of a comparison as a number, right in the first iteration, and whether it moves with the counter.
    fn numbered(&mut self, p: &Poly, raw: &Raw, counter: AtomId) -> Option<(Poly, bool)> {
        let (start, step) = self.along(p, counter)?;
        if self.mentions(&start, &|atom| matches!(atom, Atom::Phi(..))) {
            return None;
        }
        let pointer =
            raw.width == 64 && start.terms.iter().any(|t| matches!(self.atom(t.0), Atom::Base(_, false)));
        let start = if pointer { start } else { self.integer(&start, raw.width, raw.signed)? };
        Some((start.plus(&Poly::atom(counter), step)?, step != 0))
    }
}
