//! Loops: what registers hold in each iteration, and how many iterations there are.

use rustc_hash::FxHashMap;

use super::count::Bound;
use super::event::Event;
use super::reader::{Reader, Stop};
use super::solve::Header;
use super::state::{Edge, State, Value};
use super::walk::Walked;
use super::why::Cause;
use crate::ptx::syntax::RegisterId;
use crate::ptx::value::{AtomId, Cond, Poly, WhyId};

/// Iterations that are gone through one by one where no formula says what changes.
const UNROLLED: usize = 64;

/// The ways out of a loop, by the blocks that they lead to.
type Exits = Vec<(usize, Edge)>;

impl Reader<'_> {
    /// Goes through a loop. The answer is the ways out of it.
    pub(super) fn run_loop(
        &mut self,
        l: usize,
        state: &State,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) -> Result<Exits, Stop> {
        let around = self.around.clone();
        let recording = std::mem::replace(&mut self.recording, false);
        let header = self.header(l, state, cond)?;
        self.recording = recording;
        let instruction = self.first_instruction(self.loops.all[l].header);
        let told = self.told(l);
        let solved = match (&header.bound, told) {
            (_, Some(trips)) => Ok(Poly::constant(i128::from(trips) - 1)),
            (Bound::Last(last), None) => Ok(last.clone()),
            (Bound::Never(why), None) => Err(*why),
        };
        let irregular = solved.is_err()
            || header.irregular
                && solved.as_ref().is_ok_and(|p| p.number().is_some_and(|n| n < UNROLLED as i128));
        if irregular && told.is_none() {
            let before = events.len();
            if let Some(exits) = self.unroll(l, state, cond, events)? {
                return Ok(exits);
            }
            events.truncate(before);
        }
        let exits = match solved {
            Ok(last) => self.counted(l, &header, state, cond, &last, instruction, events)?,
            Err(why) => self.uncounted(l, &header, state, cond, why, instruction, events)?,
        };
        self.around = around;
        self.know(cond);
        Ok(exits)
    }

    /// How often somebody says that the loop runs.
    fn told(&self, l: usize) -> Option<i64> {
        let lines = self.loops.all[l].blocks.iter().flat_map(|b| self.graph.blocks[*b].instructions.clone());
        let mut lines = lines.map(|i| self.function.instructions[i].line);
        // Inner loops have lines of their own: only those that are in no inner loop count.
        let own = |line: &u32| {
            let inner = self.loops.all.iter().filter(|o| o.outer == Some(l));
            let blocks = inner.flat_map(|o| &o.blocks);
            let mut theirs = blocks.flat_map(|b| self.graph.blocks[*b].instructions.clone());
            !theirs.any(|i| self.function.instructions[i].line == *line)
        };
        lines.find_map(|line| self.trips.get(&line).filter(|_| own(&line)).copied()).filter(|n| *n > 0)
    }

    #[expect(clippy::too_many_arguments, reason = "all that is known of a loop")]
    fn counted(
        &mut self,
        l: usize,
        header: &Header,
        state: &State,
        cond: &Cond,
        last: &Poly,
        instruction: usize,
        events: &mut Vec<Event>,
    ) -> Result<Exits, Stop> {
        self.know(cond);
        let range = self.algebra.interval(last);
        let around = self.around.clone();
        // Where the loop ends before it did anything else, the last iteration does nothing.
        let shorter = header.at_top && self.recording;
        let recording = self.recording;
        self.recording = recording && !shorter;
        let (walked, counter) = self.iteration(l, header, state, cond, last, range)?;
        self.recording = recording;
        self.know(cond);
        let exits = self.leave(header, walked.exits, cond, counter, last);
        let (walked, counter, last) = if shorter {
            self.around = around;
            let last = last.add_number(-1).unwrap_or_default();
            if last.number().is_some_and(|last| last < 0) {
                return Ok(exits);
            }
            let (walked, counter) = self.iteration(l, header, state, cond, &last, (0, range.1 - 1))?;
            (walked.events, counter, last)
        } else {
            (walked.events, counter, last.clone())
        };
        if self.recording && !walked.is_empty() {
            events.push(Event::Loop {
                instruction,
                counter,
                last: Ok(last),
                early: header.early,
                body: walked,
            });
        }
        Ok(exits)
    }

    /// Goes through one iteration, which stands for all from 0 to `last`.
    fn iteration(
        &mut self,
        l: usize,
        header: &Header,
        state: &State,
        cond: &Cond,
        last: &Poly,
        range: (i128, i128),
    ) -> Result<(Walked, AtomId), Stop> {
        let counter = self.algebra.counter((0, range.1.max(0)));
        let k = Poly::atom(counter);
        self.around.extend(last.sub(&k));
        // Where there is an iteration at all, the counter is below what a maximum with 0 was made of.
        self.around.extend(self.algebra.unclamped(last).and_then(|p| p.sub(&k)));
        self.know(cond);
        let start = self.at_iteration(header, state, &k);
        let edge =
            Edge { from: self.loops.all[l].header, state: start, cond: cond.clone(), jump: Cond::True };
        Ok((self.walk(Some(l), edge)?, counter))
    }

    /// What registers hold when iteration `k` begins.
    fn at_iteration(&mut self, header: &Header, state: &State, k: &Poly) -> State {
        let mut start = state.clone();
        for (id, change) in &header.changes {
            let value = match change {
                Some(of_k) => {
                    let mut with = FxHashMap::from_iter([(header.counter, k.clone())]);
                    self.algebra.replace(of_k, &mut with).map(Value::Int)
                }
                None => None,
            };
            let value = value.unwrap_or(Value::Unknown(header.why));
            start.set(*id, value);
        }
        start
    }

    /// The ways out, with what registers hold after the last iteration.
    fn leave(&mut self, header: &Header, exits: Exits, cond: &Cond, counter: AtomId, last: &Poly) -> Exits {
        let single = exits.len() == 1 && header.early.is_none();
        let mut merged: Exits = Vec::new();
        for (target, mut edge) in exits {
            if let Some(live) = self.live.get(target).cloned() {
                for id in live.iter() {
                    let value = edge.state.get(id).clone();
                    let value = self.after(value, counter, last, single, header.why);
                    edge.state.set(id, value);
                }
            }
            edge.jump = Cond::True;
            edge.cond = cond.clone();
            match merged.iter_mut().find(|(other, _)| *other == target) {
                None => merged.push((target, edge)),
                Some((_, other)) => {
                    let live: Vec<RegisterId> =
                        self.live.get(target).map(|l| l.iter().collect()).unwrap_or_default();
                    for id in live {
                        if other.state.get(id) != edge.state.get(id) {
                            other.state.set(id, Value::Unknown(header.why));
                        }
                    }
                }
            }
        }
        self.which_exit(merged, header.why)
    }

    /// Where a loop is left at different places, it is not known where.
    fn which_exit(&mut self, mut exits: Exits, why: WhyId) -> Exits {
        if exits.len() > 1 {
            let instruction = self.whys[why.0 as usize].instruction;
            for (_, edge) in &mut exits {
                let why = self.why(instruction, Cause::Exit, None);
                edge.cond = Cond::and(edge.cond.clone(), Cond::Data(why, true));
            }
        }
        exits
    }

    fn after(&mut self, value: Value, counter: AtomId, last: &Poly, single: bool, why: WhyId) -> Value {
        let is_counter = self.algebra.atom(counter).clone();
        let test = |atom: &crate::ptx::value::Atom| *atom == is_counter;
        let mut with = FxHashMap::from_iter([(counter, last.clone())]);
        match value {
            Value::Int(p) if self.algebra.mentions(&p, &test) => {
                let p = if single { self.algebra.replace(&p, &mut with) } else { None };
                p.map_or(Value::Unknown(why), Value::Int)
            }
            Value::Truth(c) if self.algebra.cond_mentions(&c, &test) => {
                let c = if single { self.algebra.replace_in_cond(&c, &mut with) } else { None };
                c.map_or(Value::Unknown(why), Value::Truth)
            }
            other => other,
        }
    }

    /// A loop of which nobody knows how often it runs.
    #[expect(clippy::too_many_arguments, reason = "all that is known of a loop")]
    fn uncounted(
        &mut self,
        l: usize,
        header: &Header,
        state: &State,
        cond: &Cond,
        why: WhyId,
        instruction: usize,
        events: &mut Vec<Event>,
    ) -> Result<Exits, Stop> {
        let mut start = state.clone();
        for (id, _) in &header.changes {
            start.set(*id, Value::Unknown(header.why));
        }
        let counter = self.algebra.counter((0, 0));
        let edge =
            Edge { from: self.loops.all[l].header, state: start, cond: cond.clone(), jump: Cond::True };
        let walked = self.walk(Some(l), edge)?;
        let early = None;
        if self.recording && !walked.events.is_empty() {
            events.push(Event::Loop { instruction, counter, last: Err(why), early, body: walked.events });
        }
        let mut merged: Exits = Vec::new();
        for (target, mut edge) in walked.exits {
            (edge.cond, edge.jump) = (cond.clone(), Cond::True);
            match merged.iter_mut().find(|(other, _)| *other == target) {
                None => merged.push((target, edge)),
                Some((_, other)) => {
                    let live: Vec<RegisterId> =
                        self.live.get(target).map(|l| l.iter().collect()).unwrap_or_default();
                    for id in live {
                        if other.state.get(id) != edge.state.get(id) {
                            other.state.set(id, Value::Unknown(header.why));
                        }
                    }
                }
            }
        }
        Ok(self.which_exit(merged, header.why))
    }

    /// Goes through the iterations one by one, if there are few and it is known when they end.
    fn unroll(
        &mut self,
        l: usize,
        state: &State,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) -> Result<Option<Exits>, Stop> {
        let header = self.loops.all[l].header;
        let mut edge = Edge { from: header, state: state.clone(), cond: cond.clone(), jump: Cond::True };
        let mut exits: Exits = Vec::new();
        for _ in 0..UNROLLED {
            let walked = self.walk(Some(l), edge)?;
            events.extend(walked.events);
            let data = |e: &Edge| e.cond.data() != cond.data();
            if walked.exits.iter().any(|(_, e)| data(e)) || walked.latches.iter().any(data) {
                return Ok(None);
            }
            exits.extend(walked.exits);
            let Some(all) = walked.latches.iter().map(|e| e.cond.clone()).reduce(Cond::or) else {
                return Ok(Some(self.meeting(&exits)));
            };
            let state = self.join(header, &walked.latches, &all);
            edge = Edge { from: header, state, cond: all, jump: Cond::True };
        }
        Ok(None)
    }

    /// Ways to the same block as one.
    fn meeting(&mut self, exits: &[(usize, Edge)]) -> Exits {
        let mut targets: Vec<usize> = exits.iter().map(|e| e.0).collect();
        targets.sort_unstable();
        targets.dedup();
        let mut met = Vec::new();
        for target in targets {
            let ways: Vec<Edge> = exits.iter().filter(|e| e.0 == target).map(|e| e.1.clone()).collect();
            let cond = ways.iter().map(|e| e.cond.clone()).fold(Cond::False, Cond::or);
            let state = if self.live.len() > target {
                self.join(target, &ways, &cond)
            } else {
                ways[0].state.clone()
            };
            met.push((target, Edge { from: ways[0].from, state, cond, jump: Cond::True }));
        }
        met
    }
}
