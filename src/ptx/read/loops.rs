//! Loops: what registers hold in each iteration, and how many iterations there are.

use rustc_hash::FxHashMap;

use super::count::Bound;
use super::event::Event;
use super::reader::{Reader, Stop};
use super::solve::Header;
use super::state::{Edge, State, Value};
use super::walk::Walked;
use crate::ptx::value::{Atom, AtomId, Cond, Poly, WhyId};

/// Iterations that are gone through one by one where no formula says what changes.
const UNROLLED: usize = 64;

/// The ways out of a loop, by the blocks that they lead to.
pub(super) type Exits = Vec<(usize, Edge)>;

impl Reader<'_> {
    /// Goes through a loop. The answer is the ways out of it.
    pub(super) fn run_loop(
        &mut self,
        l: usize,
        state: &State,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) -> Result<Exits, Stop> {
        let mut exits = self.loop_exits(l, state, cond, events)?;
        // An edge out of a loop comes from the loop as a whole.
        for (_, edge) in &mut exits {
            edge.from = self.loops.all[l].header;
        }
        Ok(exits)
    }

    fn loop_exits(
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
        let told = self.trips_of(l);
        let solved = match (&header.bound, told) {
            // Data may end it earlier than it ends otherwise: both hold.
            (Bound::Last(last), Some(trips)) if header.early.is_some() => {
                Ok(self.algebra.min(last.clone(), Poly::constant(i128::from(trips) - 1)))
            }
            (_, Some(trips)) => Ok(Poly::constant(i128::from(trips) - 1)),
            (Bound::Last(last), None) => Ok(last.clone()),
            (Bound::Never(why), None) => Err(*why),
        };
        let irregular = solved.is_err()
            || header.irregular
                && solved.as_ref().is_ok_and(|p| p.number().is_some_and(|n| n < UNROLLED as i128));
        if header.once || irregular && told.is_none() {
            let before = events.len();
            self.unrolled.push(l);
            let unrolled = self.unroll(l, state, cond, header.once, events)?;
            self.unrolled.pop();
            if let Some(exits) = unrolled {
                return Ok(exits);
            }
            events.truncate(before);
        }
        let exits = match solved {
            Ok(last) => self.counted(l, &header, state, cond, &last, told.is_some(), events)?,
            Err(why) => self.uncounted(l, &header, state, cond, why, events)?,
        };
        self.around = around;
        self.know(cond);
        Ok(exits)
    }

    /// How often somebody says that the loop runs.
    fn trips_of(&self, l: usize) -> Option<i64> {
        let lines = self.loops.all[l].blocks.iter().flat_map(|b| self.graph.blocks[*b].instructions.clone());
        let mut lines = lines.map(|i| self.function.instructions[i].line);
        // Inner loops have lines of their own: only those that are in no inner loop count.
        let own = |line: &u32| {
            let inner = self.loops.all.iter().filter(|o| o.outer == Some(l));
            let blocks = inner.flat_map(|o| &o.blocks);
            let mut theirs = blocks.flat_map(|b| self.graph.blocks[*b].instructions.clone());
            !theirs.any(|i| self.function.instructions[i].line == *line)
        };
        lines.find_map(|line| self.told.trips.get(&line).filter(|_| own(&line)).copied()).filter(|n| *n > 0)
    }

    #[expect(clippy::too_many_arguments, reason = "all that is known of a loop")]
    fn counted(
        &mut self,
        l: usize,
        header: &Header,
        state: &State,
        cond: &Cond,
        last: &Poly,
        told: bool,
        events: &mut Vec<Event>,
    ) -> Result<Exits, Stop> {
        self.know(cond);
        let instruction = self.first_instruction(self.loops.all[l].header);
        let range = self.algebra.interval(last);
        let around = self.around.clone();
        // Where the loop ends before it did anything else, the last iteration does nothing.
        let whole = if told || header.expected {
            None
        } else {
            self.least(&header.exits, true).filter(|whole| whole != last)
        };
        let shorter = whole.filter(|_| self.recording);
        let recording = self.recording;
        self.recording = recording && shorter.is_none();
        let bounds = if told { Vec::new() } else { self::bounds(header, false) };
        let (walked, counter) = self.iteration(l, header, state, cond, last, &bounds, range)?;
        self.recording = recording;
        self.know(cond);
        let exits = self.leave(header, walked.exits, cond, counter, last, told);
        let (walked, counter, last) = match shorter {
            Some(last) => {
                self.around = around;
                if last.number().is_some_and(|last| last < 0) {
                    return Ok(exits);
                }
                let range = self.algebra.interval(&last);
                let bounds = self::bounds(header, true);
                let (walked, counter) = self.iteration(l, header, state, cond, &last, &bounds, range)?;
                (walked.events, counter, last)
            }
            None => (walked.events, counter, last.clone()),
        };
        if self.recording && !walked.is_empty() {
            let (last, early) = (Ok(last), header.early.filter(|_| !header.expected));
            events.push(Event::Loop { instruction, counter, last, early, body: walked });
        }
        Ok(exits)
    }

    /// Goes through one iteration, which stands for all from 0 to `last` and to each of `bounds`.
    #[expect(clippy::too_many_arguments, reason = "all that is known of a loop")]
    fn iteration(
        &mut self,
        l: usize,
        header: &Header,
        state: &State,
        cond: &Cond,
        last: &Poly,
        bounds: &[Poly],
        range: (i128, i128),
    ) -> Result<(Walked, AtomId), Stop> {
        let counter = self.algebra.counter((0, range.1.max(0)));
        let k = Poly::atom(counter);
        for bound in bounds.iter().chain([last]) {
            self.around.extend(bound.sub(&k));
            // Where there is an iteration at all, the counter is below what a maximum with 0 was made of.
            self.around.extend(self.algebra.unclamped(bound).and_then(|p| p.sub(&k)));
        }
        self.know(cond);
        let start = self.at_iteration(header, state, &k);
        let edge =
            Edge { from: self.loops.all[l].header, state: start, cond: cond.clone(), jump: Cond::True };
        self.counters.push(k);
        let walked = self.walk(Some(l), edge)?;
        self.counters.pop();
        Ok((walked, counter))
    }

    /// What registers hold when iteration `k` begins.
    pub(super) fn at_iteration(&mut self, header: &Header, state: &State, k: &Poly) -> State {
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

    /// A loop of which nobody knows how often it runs.
    fn uncounted(
        &mut self,
        l: usize,
        header: &Header,
        state: &State,
        cond: &Cond,
        why: WhyId,
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
            let instruction = self.first_instruction(self.loops.all[l].header);
            events.push(Event::Loop { instruction, counter, last: Err(why), early, body: walked.events });
        }
        Ok(self.anywhere(walked.exits, cond, header.why))
    }

    /// Goes through the iterations one by one, if there are few and it is known when they end; if there is only one,
    /// data may say where it ends.
    fn unroll(
        &mut self,
        l: usize,
        state: &State,
        cond: &Cond,
        once: bool,
        events: &mut Vec<Event>,
    ) -> Result<Option<Exits>, Stop> {
        let header = self.loops.all[l].header;
        let mut edge = Edge { from: header, state: state.clone(), cond: cond.clone(), jump: Cond::True };
        let mut exits: Exits = Vec::new();
        for _ in 0..UNROLLED {
            let walked = self.walk(Some(l), edge)?;
            events.extend(walked.events);
            // What is not known yet of a loop around it decides nothing here.
            let open = |e: &Edge| {
                let phi = |atom: &Atom| matches!(atom, Atom::Phi(..));
                e.cond.beyond(cond).any(|part| self.algebra.cond_mentions(part, &phi))
                    || e.cond.data() != cond.data()
            };
            if !once && walked.exits.iter().any(|(_, e)| open(e)) || walked.latches.iter().any(open) {
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
}

/// Last iterations that ways out allow which all threads may take.
fn bounds(header: &Header, whole: bool) -> Vec<Poly> {
    let always = header.exits.iter().filter(|e| e.guard == Cond::True);
    always.filter_map(|e| e.times.as_ref()?.add_number(-i128::from(whole && e.first))).collect()
}
