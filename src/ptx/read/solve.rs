//! How registers change from one iteration of a loop to the next.

use rustc_hash::FxHashMap;

use super::count::{Bound, Exit};
use super::reader::{Reader, Stop};
use super::state::{Edge, State, Value};
use super::why::Cause;
use crate::ptx::syntax::RegisterId;
use crate::ptx::value::{Atom, AtomId, Cond, Poly, WhyId};

/// Times that registers are put in which depend on others.
const ROUNDS: usize = 4;

/// Choices that a guess may depend on.
const CHOICES: u32 = 4;

/// What is known of a loop's header.
pub(super) struct Header {
    /// The counter in the formulas of `changes`.
    pub counter: AtomId,
    /// Registers that the loop changes, with what they hold when iteration `counter` begins.
    pub changes: Vec<(RegisterId, Option<Poly>)>,
    /// Whether a register that could be known is not.
    pub irregular: bool,
    /// Why the others are not known.
    pub why: WhyId,
    pub bound: Bound,
    /// Data may end the loop earlier.
    pub early: Option<WhyId>,
    /// The ways out, where it is known when they are taken.
    pub exits: Vec<Exit>,
    /// Whether how often it runs is what that comes to on average.
    pub expected: bool,
    /// Whether it goes round only once.
    pub once: bool,
}

impl Reader<'_> {
    /// Finds out how the registers of a loop change. Where choices between values keep them from changing regularly, it
    /// is tried what comes of it if the first value is chosen whenever another iteration follows.
    pub(super) fn header(&mut self, l: usize, state: &State, cond: &Cond) -> Result<Header, Stop> {
        let around = self.guessing.take();
        let choices = std::mem::take(&mut self.choices);
        let plain = self.regular(l, state, cond, false)?;
        let chosen = std::mem::replace(&mut self.choices, choices) > 0;
        let mut found = plain.0;
        if found.irregular && chosen {
            let (guessed, all) = self.regular(l, state, cond, true)?;
            if !guessed.irregular && self.holds_throughout(l, &guessed, &all, state, cond)? {
                found = guessed;
            }
        }
        self.guessing = around;
        Ok(found)
    }

    /// Whether a condition is taken to hold, as a guess that is looked at later.
    pub(super) fn guessed(&mut self, cond: &Cond) -> bool {
        let counts = self.guessing.as_ref().map(|(counter, _)| self.algebra.atom(*counter).clone());
        let open = |atom: &Atom| matches!(atom, Atom::Phi(..)) || Some(atom) == counts.as_ref();
        if cond.data().is_some() || !self.algebra.cond_mentions(cond, &open) {
            return false;
        }
        self.choices += 1;
        match &mut self.guessing {
            Some((_, all)) => {
                all.push(cond.clone());
                true
            }
            None => false,
        }
    }

    /// Whether guesses hold in all iterations but the last, and the last one ends the loop.
    fn holds_throughout(
        &mut self,
        l: usize,
        header: &Header,
        guesses: &[Cond],
        state: &State,
        cond: &Cond,
    ) -> Result<bool, Stop> {
        let Bound::Last(last) = header.bound.clone() else { return Ok(false) };
        let around = self.around.clone();
        let before = last.add_number(-1);
        for bound in before.iter().chain(before.as_ref().and_then(|p| self.algebra.unclamped(p)).iter()) {
            self.around.extend(bound.sub(&Poly::atom(header.counter)));
        }
        self.know(cond);
        let hold = guesses.iter().all(|guess| self.always(guess, cond, CHOICES));
        self.around = around;
        self.know(cond);
        if !hold {
            return Ok(false);
        }
        let state = self.at_iteration(header, state, &last);
        let from = self.loops.all[l].header;
        let walked = self.walk(Some(l), Edge { from, state, cond: cond.clone(), jump: Cond::True })?;
        self.know(cond);
        Ok(walked.latches.is_empty())
    }

    /// Whether a condition holds wherever another one does, whatever choices were made before.
    fn always(&mut self, holds: &Cond, given: &Cond, choices: u32) -> bool {
        self.know(given);
        let same = self.algebra.replace_in_cond(holds, &mut FxHashMap::default());
        let Some(same) = same.map(|cond| self.algebra.decided(cond)) else { return false };
        if same == Cond::True {
            return true;
        }
        let Some((id, which, a, b)) = self.choice_in(&same).filter(|_| choices > 0) else { return false };
        [(a, which.clone()), (b, which.not())].into_iter().all(|(value, when)| {
            let given = Cond::and(given.clone(), when);
            self.know(&given);
            let with = self.algebra.replace_in_cond(&same, &mut FxHashMap::from_iter([(id, value)]));
            given == Cond::False || with.is_some_and(|cond| self.always(&cond, &given, choices - 1))
        })
    }

    /// The same with guesses, which are given back, or without.
    fn regular(
        &mut self,
        l: usize,
        state: &State,
        cond: &Cond,
        guess: bool,
    ) -> Result<(Header, Vec<Cond>), Stop> {
        let header = self.loops.all[l].header;
        let instruction = self.first_instruction(header);
        let why = self.why(instruction, Cause::Iterations, None);
        let changed = self.changed[l].clone();
        let counter = self.algebra.counter((0, 1 << 62));
        let k = Poly::atom(counter);
        let mut known: FxHashMap<RegisterId, Poly> = FxHashMap::default();
        let mut rounds = 0;
        let (walked, unknown) = loop {
            let mut start = state.clone();
            self.guessing = guess.then(|| (counter, Vec::new()));
            let mut unknown: Vec<(RegisterId, AtomId, Poly)> = Vec::new();
            for id in &changed {
                let value = match (state.get(*id), known.get(id)) {
                    (_, Some(p)) => Value::Int(p.clone()),
                    (Value::Int(first), None) => {
                        // Choices that were made before may be known here.
                        let select = |atom: &Atom| matches!(atom, Atom::Select(..));
                        let simple = self.algebra.mentions(first, &select).then(|| {
                            self.know(cond);
                            self.algebra.replace(first, &mut FxHashMap::default())
                        });
                        let first = simple.flatten().unwrap_or_else(|| first.clone());
                        let number = u32::try_from(l).expect("there are no more loops than instructions");
                        let phi = self.algebra.id(Atom::Phi(number, *id));
                        unknown.push((*id, phi, first));
                        Value::Int(Poly::atom(phi))
                    }
                    (Value::Unknown(from), None) => {
                        Value::Unknown(self.why(instruction, Cause::Iterations, Some(*from)))
                    }
                    (Value::Truth(_), None) => Value::Unknown(why),
                };
                start.set(*id, value);
            }
            let edge = Edge { from: header, state: start, cond: cond.clone(), jump: Cond::True };
            self.counters.push(k.clone());
            let walked = self.walk(Some(l), edge)?;
            self.counters.pop();
            rounds += 1;
            if unknown.is_empty() || walked.latches.is_empty() || rounds > ROUNDS {
                break (walked, unknown);
            }
            let all = walked.latches.iter().map(|e| e.cond.clone()).fold(Cond::False, Cond::or);
            let back = self.join(header, &walked.latches, &all);
            self.know(cond);
            let mut found = self.solved(&unknown, &back, counter, &k);
            if found.is_empty() {
                found = self.periodic(&unknown, &back, counter, &k);
            }
            if found.is_empty() {
                break (walked, unknown);
            }
            known.extend(found);
        };
        // Registers that become data are as they should be; others could have been formulas.
        let all = walked.latches.iter().map(|e| e.cond.clone()).fold(Cond::False, Cond::or);
        let irregular = !unknown.is_empty() && !walked.latches.is_empty() && {
            let back = self.join(header, &walked.latches, &all);
            unknown.iter().any(|(id, ..)| matches!(back.get(*id), Value::Int(_)))
        };
        self.know(cond);
        let (bound, exits, early, expected) = self.bound(l, &walked, cond, counter, instruction);
        let once = walked.latches.is_empty();
        let changes = changed.into_iter().map(|id| (id, known.remove(&id))).collect();
        let guesses = self.guessing.take().map_or_else(Vec::new, |(_, all)| all);
        let header = Header { counter, changes, irregular, why, bound, early, exits, expected, once };
        Ok((header, guesses))
    }

    /// Registers that grow by the same amount in each iteration, and those that follow from them.
    fn solved(
        &mut self,
        unknown: &[(RegisterId, AtomId, Poly)],
        back: &State,
        counter: AtomId,
        k: &Poly,
    ) -> Vec<(RegisterId, Poly)> {
        let phi = |atom: &Atom| matches!(atom, Atom::Phi(..));
        let counts = self.algebra.atom(counter).clone();
        let mut found = Vec::new();
        for (id, atom, first) in unknown {
            let Value::Int(next) = back.get(*id) else { continue };
            let Some(step) = next.plus(&Poly::atom(*atom), -1) else { continue };
            let steady =
                !self.algebra.mentions(&step, &phi) && !self.algebra.mentions(&step, &|a| *a == counts);
            if steady && let Some(sum) = self.algebra.multiply(&step, k).and_then(|p| p.add(first)) {
                found.push((*id, sum));
            }
        }
        // A value that was computed in the iteration before: right if it also is what the loop begins with.
        let mut with: FxHashMap<AtomId, Poly> = FxHashMap::default();
        for (id, sum) in &found {
            if let Some((_, atom, _)) = unknown.iter().find(|u| u.0 == *id) {
                with.insert(*atom, sum.clone());
            }
        }
        let mut later = Vec::new();
        for (id, _, first) in unknown {
            let Value::Int(next) = back.get(*id) else { continue };
            if found.iter().any(|f| f.0 == *id) {
                continue;
            }
            let Some(next) = self.algebra.replace(next, &mut with.clone()) else { continue };
            if self.algebra.mentions(&next, &phi) {
                continue;
            }
            let at = |reader: &mut Self, value: Poly| {
                let mut with = FxHashMap::from_iter([(counter, value)]);
                reader.algebra.replace(&next, &mut with)
            };
            let before = k.add_number(-1).and_then(|before| at(self, before));
            let (Some(before), Some(start)) = (before, at(self, Poly::constant(-1))) else { continue };
            if start == *first {
                found.push((*id, before));
            } else {
                later.push((*id, first.clone(), before));
            }
        }
        if found.is_empty() {
            // It begins with something else.
            for (id, first, before) in later {
                let begins = self.algebra.decided(Cond::Eq(k.clone()));
                found.extend(self.algebra.select(begins, first, before).map(|value| (id, value)));
            }
        }
        found
    }
}
