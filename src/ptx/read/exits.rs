//! Where loops are left, and what registers hold then.

use rustc_hash::FxHashMap;

use super::count::Exit;
use super::loops::Exits;
use super::reader::Reader;
use super::solve::Header;
use super::state::{Edge, Value};
use super::why::Cause;
use crate::ptx::syntax::RegisterId;
use crate::ptx::value::{Atom, AtomId, Cond, Poly, WhyId};

impl Reader<'_> {
    /// The ways out of a loop that was gone through once for all iterations, each with what registers hold where it is
    /// taken. Where somebody told how often the loop runs, a single way out is taken in iteration `last`.
    pub(super) fn leave(
        &mut self,
        header: &Header,
        exits: Exits,
        cond: &Cond,
        counter: AtomId,
        last: &Poly,
        told: bool,
    ) -> Exits {
        let single = exits.len() == 1 && header.early.is_none();
        if !single && (told || header.exits.is_empty()) {
            let unknown = exits
                .into_iter()
                .map(|(target, edge)| (target, self.left(edge, target, counter, None, header.why)));
            let unknown: Exits = unknown.collect();
            return self.anywhere(unknown, cond, header.why);
        }
        let mut out: Exits = Vec::new();
        for (target, edge) in exits {
            let own = header.exits.iter().position(|e| (e.from, e.target) == (edge.from, target));
            let times = match own {
                _ if told => Some(last.clone()),
                Some(own) => header.exits[own].times.clone(),
                // In no iteration that there is.
                None => continue,
            };
            let mut edge = self.left(edge, target, counter, times.as_ref(), header.why);
            let chosen = match own {
                Some(own) if !told => self.taken_first(&header.exits, own, header),
                _ => Cond::True,
            };
            (edge.cond, edge.jump) = (Cond::and(cond.clone(), chosen.clone()), chosen);
            if edge.cond != Cond::False {
                out.push((target, edge));
            }
        }
        self.know(cond);
        let same = out.windows(2).all(|pair| pair[0].0 == pair[1].0);
        let mut met = self.meeting(&out);
        if same {
            // Whichever it is, it leads there.
            for (_, edge) in &mut met {
                (edge.cond, edge.jump) = (cond.clone(), Cond::True);
            }
        }
        met
    }

    /// When a way out is the one that is taken: it ends an earlier iteration than all others, or the same and comes
    /// before them.
    fn taken_first(&mut self, exits: &[Exit], own: usize, header: &Header) -> Cond {
        let mut chosen = exits[own].guard.clone();
        for (other, exit) in exits.iter().enumerate().filter(|(other, _)| *other != own) {
            let (Some(mine), Some(theirs)) = (&exits[own].times, &exit.times) else { continue };
            let later = theirs.sub(mine).and_then(|p| p.add_number(-i128::from(other < own)));
            let Some(later) = later else { continue };
            let later = self.algebra.decided(Cond::Ge(later));
            chosen = Cond::and(chosen, Cond::or(exit.guard.clone().not(), later));
        }
        if header.early.is_some() && exits.len() > 1 {
            let instruction = self.whys[header.why.0 as usize].instruction;
            let why = self.why(instruction, Cause::Exit, None);
            chosen = Cond::and(chosen, Cond::Data(why, true));
        }
        chosen
    }

    /// A way out with what registers hold in the iteration of this number; what changes from iteration to iteration is
    /// unknown where there is none.
    fn left(
        &mut self,
        mut edge: Edge,
        target: usize,
        counter: AtomId,
        at: Option<&Poly>,
        why: WhyId,
    ) -> Edge {
        for id in self.live_in(target) {
            let value = edge.state.get(id).clone();
            let value = self.after(value, counter, at, why);
            edge.state.set(id, value);
        }
        edge
    }

    fn after(&mut self, value: Value, counter: AtomId, at: Option<&Poly>, why: WhyId) -> Value {
        let is_counter = self.algebra.atom(counter).clone();
        let test = |atom: &Atom| *atom == is_counter;
        let mut with = at.map(|at| FxHashMap::from_iter([(counter, at.clone())]));
        match value {
            Value::Int(p) if self.algebra.mentions(&p, &test) => {
                let p = with.as_mut().and_then(|with| self.algebra.replace(&p, with));
                p.map_or(Value::Unknown(why), Value::Int)
            }
            Value::Truth(c) if self.algebra.cond_mentions(&c, &test) => {
                let c = with.as_mut().and_then(|with| self.algebra.replace_in_cond(&c, with));
                c.map_or(Value::Unknown(why), Value::Truth)
            }
            other => other,
        }
    }

    /// The ways out where nobody knows which is taken.
    pub(super) fn anywhere(&mut self, mut exits: Exits, cond: &Cond, why: WhyId) -> Exits {
        let several = exits.windows(2).any(|pair| pair[0].0 != pair[1].0);
        let instruction = self.whys[why.0 as usize].instruction;
        for (_, edge) in &mut exits {
            (edge.cond, edge.jump) = (cond.clone(), Cond::True);
        }
        let mut met = self.meeting(&exits);
        for (_, edge) in met.iter_mut().filter(|_| several) {
            let why = self.why(instruction, Cause::Exit, None);
            (edge.cond, edge.jump) = (Cond::and(cond.clone(), Cond::Data(why, true)), Cond::Data(why, true));
        }
        met
    }

    /// Registers that are needed in a block; none at the end of the thread.
    fn live_in(&self, target: usize) -> Vec<RegisterId> {
        if target == super::walk::END { Vec::new() } else { self.live[target].iter().collect() }
    }

    /// Ways to the same block as one.
    pub(super) fn meeting(&mut self, exits: &[(usize, Edge)]) -> Exits {
        let mut targets: Vec<usize> = exits.iter().map(|e| e.0).collect();
        targets.sort_unstable();
        targets.dedup();
        let mut met = Vec::new();
        for target in targets {
            let ways: Vec<Edge> = exits.iter().filter(|e| e.0 == target).map(|e| e.1.clone()).collect();
            let cond = ways.iter().map(|e| e.cond.clone()).fold(Cond::False, Cond::or);
            let jump = ways.iter().map(|e| e.jump.clone()).fold(Cond::False, Cond::or);
            let end = target == super::walk::END;
            let state = if end { ways[0].state.clone() } else { self.join(target, &ways, &cond) };
            met.push((target, Edge { from: ways[0].from, state, cond, jump }));
        }
        met
    }
}
