//! How many iterations a loop has.

use rustc_hash::FxHashMap;

use super::reader::Reader;
use super::walk::Walked;
use super::why::Cause;
use crate::ptx::flow::End;
use crate::ptx::value::{Algebra, Atom, AtomId, Cond, Poly, Raw, Rel, WhyId};

/// The last iteration of a loop.
#[derive(Debug, Clone)]
pub(super) enum Bound {
    /// Its number, counted from 0.
    Last(Poly),
    /// It is not known, or the loop never ends.
    Never(WhyId),
}

/// A way out of a loop.
#[derive(Debug, Clone)]
pub(super) struct Exit {
    /// The block that it leaves, and the one that it leads to.
    pub from: usize,
    pub target: usize,
    /// Which threads ever take it.
    pub guard: Cond,
    /// The iteration that it ends, for those; none where data tell.
    pub times: Option<Poly>,
    /// Whether all that a thread does in an iteration comes after it.
    pub first: bool,
}

impl Reader<'_> {
    /// The last iteration of a loop that was gone through with this counter, its ways out in the order in which an
    /// iteration comes to them, and why data may end it earlier.
    pub(super) fn bound(
        &mut self,
        l: usize,
        walked: &Walked,
        cond: &Cond,
        counter: AtomId,
        instruction: usize,
    ) -> (Bound, Vec<Exit>, Option<WhyId>, bool) {
        let (mut early, mut data) = (None, Vec::new());
        let mut exits = Vec::new();
        let cores = cores(walked, cond);
        for ((target, edge), core) in walked.exits.iter().zip(cores) {
            let (from, target) = (edge.from, *target);
            let core: Vec<Cond> = core.into_iter().map(|c| self.resolved(c)).collect();
            if let Some(why) = core.iter().find_map(Cond::data) {
                early = early.or(Some(why));
                data.push((from, target, why, edge.jump.clone()));
                exits.push(Exit { from, target, guard: Cond::True, times: None, first: false });
                continue;
            }
            let (moving, fixed): (Vec<Cond>, Vec<Cond>) =
                core.into_iter().partition(|c| self.moves(c, counter));
            let at = self.last_instruction(from);
            let times = self.taken(&moving, counter);
            let guard = fixed.into_iter().fold(Cond::True, Cond::and);
            match times {
                Some(Stays::Always) => {}
                Some(Stays::Times(times)) => {
                    if let Some(argument) = self.argument_in(&times) {
                        let from = Some(self.why(at, Cause::Argument(argument), None));
                        return (Bound::Never(self.why(at, Cause::Trips, from)), Vec::new(), early, false);
                    }
                    let first = self.comes_first(l, from);
                    exits.push(Exit { from, target, guard, times: Some(times), first });
                }
                None => {
                    let argument = moving.iter().find_map(|c| self.argument_of(c));
                    let from = argument.map(|argument| self.why(at, Cause::Argument(argument), None));
                    let cause = if moving.len() > 1 { Cause::Exit } else { Cause::Trips };
                    return (Bound::Never(self.why(at, cause, from)), Vec::new(), early, false);
                }
            }
        }
        let least = self.least(&exits, false);
        let most = least.as_ref().and_then(Poly::number).map(|n| n + 1);
        let means: Vec<Option<i128>> = data
            .into_iter()
            .map(|(from, target, why, jump)| {
                let jumps = !matches!(self.graph.blocks[from].end, End::Branch(_, to, _) if to != target);
                let predicate = !matches!(jump, Cond::Data(_, false));
                self.expected(self.last_instruction(from), why, jumps, predicate, most)
            })
            .collect();
        let expected = early.is_some() && means.iter().all(Option::is_some);
        let mean = means.into_iter().flatten().min().map(|n| Poly::constant(n - 1));
        let last = match (least, mean) {
            (Some(least), Some(mean)) => Some(self.algebra.min(least, mean)),
            (least, mean) => least.or(mean),
        };
        match last {
            Some(last) => (Bound::Last(last), exits, early, expected),
            None => (Bound::Never(self.why(instruction, Cause::Trips, early)), Vec::new(), early, false),
        }
    }

    /// The last iteration: the least of those that ways out end. Where `whole` says so, the last one that does
    /// anything.
    pub(super) fn least(&mut self, exits: &[Exit], whole: bool) -> Option<Poly> {
        let mut last: Option<Poly> = None;
        let known = exits.iter().filter_map(|e| Some((e, e.times.as_ref()?)));
        let (always, sometimes): (Vec<_>, Vec<_>) = known.partition(|(e, _)| e.guard == Cond::True);
        for (exit, times) in always {
            let times = times.add_number(-i128::from(whole && exit.first))?;
            last = Some(match last {
                None => times,
                Some(other) => self.algebra.min(other, times),
            });
        }
        for (exit, times) in sometimes {
            let times = times.add_number(-i128::from(whole && exit.first))?;
            let other = last?;
            let least = self.algebra.min(other.clone(), times);
            last = Some(self.algebra.select(exit.guard.clone(), least, other)?);
        }
        last
    }

    /// The condition without choices that are known to have been made here.
    fn resolved(&mut self, cond: Cond) -> Cond {
        if !self.algebra.cond_mentions(&cond, &|atom| matches!(atom, Atom::Select(..))) {
            return cond;
        }
        match self.algebra.replace_in_cond(&cond, &mut FxHashMap::default()) {
            Some(simpler @ (Cond::Ge(_) | Cond::Eq(_) | Cond::Ne(_))) => simpler,
            _ => cond,
        }
    }

    /// Whether a condition may change from iteration to iteration.
    fn moves(&self, cond: &Cond, counter: AtomId) -> bool {
        let is = self.algebra.atom(counter);
        self.algebra.cond_mentions(cond, &|atom| atom == is || matches!(atom, Atom::Phi(..)))
    }

    /// The first iteration in which all of the conditions hold.
    fn taken(&mut self, all: &[Cond], counter: AtomId) -> Option<Stays> {
        match all {
            [] => Some(Stays::Times(Poly::default())),
            [one] => self.algebra.stays(&one.clone().not(), counter),
            // Inequalities that hold once go on to hold.
            _ if all.iter().all(|c| matches!(c, Cond::Ge(_))) => {
                let mut most: Option<Poly> = None;
                for one in all {
                    let Stays::Times(times) = self.algebra.stays(&one.clone().not(), counter)? else {
                        return Some(Stays::Always);
                    };
                    most = Some(match most {
                        None => times,
                        Some(other) => self.algebra.max(other, times),
                    });
                }
                most.map(Stays::Times)
            }
            _ => None,
        }
    }

    /// Whether the loop touches memory only where it was not left in this block.
    fn comes_first(&self, l: usize, from: usize) -> bool {
        let plain = |i: usize| {
            matches!(
                self.function.instructions[i].name.as_str(),
                "setp"
                    | "selp"
                    | "bra"
                    | "add"
                    | "sub"
                    | "mov"
                    | "and"
                    | "or"
                    | "xor"
                    | "not"
                    | "neg"
                    | "shl"
                    | "shr"
                    | "cvt"
                    | "cvta"
                    | "mul"
                    | "mad"
                    | "min"
                    | "max"
            )
        };
        let body = &self.loops.all[l].blocks;
        body.len() > 1
            && self.loops.innermost[from] == Some(l)
            && body.iter().all(|b| {
                let behind = *b != from && self.dominates(from, *b);
                behind || self.graph.blocks[*b].instructions.clone().all(plain)
            })
    }

    /// The parameter that stands in a condition as if it were a number.
    pub(super) fn argument_of(&self, cond: &Cond) -> Option<usize> {
        match cond {
            Cond::Raw(raw) => self.argument_in(&raw.a).or_else(|| self.argument_in(&raw.b)),
            Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p) => self.argument_in(p),
            Cond::And(all) | Cond::Or(all) => all.iter().find_map(|c| self.argument_of(c)),
            Cond::True | Cond::False | Cond::Data(..) => None,
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

/// When each way out of a loop is taken, in the order in which an iteration comes to them. Left out is that an earlier
/// one was not taken: where that does not hold, the loop is left by the earlier one.
fn cores(walked: &Walked, cond: &Cond) -> Vec<Vec<Cond>> {
    let mut cores: Vec<Vec<Cond>> = Vec::new();
    let mut stays: Vec<Cond> = Vec::new();
    for (_, edge) in &walked.exits {
        let own = edge.cond.parts().iter().filter(|part| !cond.parts().contains(part));
        let core: Vec<Cond> = own.filter(|part| !stays.contains(part)).cloned().collect();
        stays.extend(core.iter().cloned().fold(Cond::True, Cond::and).not().parts().iter().cloned());
        cores.push(core);
    }
    cores
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
                for one in all.iter() {
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
