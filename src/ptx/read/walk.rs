//! Going through the blocks of a function, or of one iteration of a loop.

use rustc_hash::FxHashMap;

use super::event::Event;
use super::reader::{Reader, Stop};
use super::state::{Edge, State, Value};
use super::why::Cause;
use crate::ptx::flow::End;
use crate::ptx::syntax::Guard;
use crate::ptx::value::Cond;

/// The end of the thread, as the block that a way leads to.
pub(super) const END: usize = usize::MAX;

/// Formulas of a condition that take as long as an instruction.
const LONG: usize = 8;

/// What going through a region gives.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub events: Vec<Event>,
    /// Ways back to the header.
    pub latches: Vec<Edge>,
    /// Ways out, with the block that they lead to.
    pub exits: Vec<(usize, Edge)>,
}

impl Reader<'_> {
    /// Goes through a loop's body once, or through the whole function.
    pub(super) fn walk(&mut self, region: Option<usize>, start: Edge) -> Result<Walked, Stop> {
        self.depth += 1;
        let walked = self.walk_nodes(region, start);
        self.depth -= 1;
        walked
    }

    fn walk_nodes(&mut self, region: Option<usize>, start: Edge) -> Result<Walked, Stop> {
        let nodes = self.region(region).nodes.clone();
        let mut walked = Walked::default();
        let mut ways: FxHashMap<usize, Vec<Edge>> = FxHashMap::default();
        let mut conds: FxHashMap<usize, Cond> = FxHashMap::default();
        let first = nodes[0];
        ways.insert(first, vec![start]);
        for node in nodes {
            let Some(edges) = ways.remove(&node) else { continue };
            let joined = edges.iter().map(|e| e.cond.clone()).reduce(Cond::or).unwrap_or(Cond::False);
            let together = self.region(region).done_with(node).and_then(|other| conds.get(&other).cloned());
            let cond = if edges.len() == 1 { joined } else { together.unwrap_or(joined) };
            let state = self.join(node, &edges, &cond);
            conds.insert(node, cond.clone());
            let inner = self.inner_loop(node, region);
            let out = match inner {
                Some(inner) => self.run_loop(inner, &state, &cond, &mut walked.events)?,
                None => self.run_block(node, state, &cond, &mut walked.events)?,
            };
            for (target, edge) in out {
                let inside = |l: usize| self.loops.all[l].blocks.binary_search(&target).is_ok();
                if region.is_some_and(|l| self.loops.all[l].header == target) {
                    walked.latches.push(edge);
                } else if target == END || region.is_some_and(|l| !inside(l)) {
                    walked.exits.push((target, edge));
                } else {
                    ways.entry(target).or_default().push(edge);
                }
            }
        }
        Ok(walked)
    }

    /// The loop that lies directly in the region and has this block in it.
    fn inner_loop(&self, node: usize, region: Option<usize>) -> Option<usize> {
        let mut at = self.loops.innermost[node].filter(|l| Some(*l) != region)?;
        while let Some(outer) = self.loops.all[at].outer.filter(|outer| Some(*outer) != region) {
            at = outer;
        }
        Some(at)
    }

    fn run_block(
        &mut self,
        node: usize,
        mut state: State,
        cond: &Cond,
        events: &mut Vec<Event>,
    ) -> Result<Vec<(usize, Edge)>, Stop> {
        let block = self.graph.blocks[node].clone();
        // Each instruction may ask what is known here: long conditions take longer.
        self.spend(block.instructions.len() * (1 + cond.size() / LONG))?;
        self.know(cond);
        let last = block.instructions.end.saturating_sub(1);
        if self.recording {
            events.push(Event::Work(block.instructions.clone(), cond.clone()));
        }
        for i in block.instructions {
            if self.recording || self.needed[i] {
                self.execute(i, &mut state, cond, events);
                self.in_time()?;
            }
        }
        let edge = |state: &State, jump: Cond| {
            let cond = Cond::and(cond.clone(), jump.clone());
            Edge { from: node, state: state.clone(), cond, jump }
        };
        let mut out = match block.end {
            End::Goto(to) => vec![(to, edge(&state, Cond::True))],
            End::Return => vec![(END, edge(&state, Cond::True))],
            End::Branch(guard, to, otherwise) => {
                // Where data leave a loop, it is said of the loop how often it runs.
                let inside = |l: usize, to| self.loops.all[l].blocks.binary_search(&to).is_ok();
                let leaves =
                    self.loops.innermost[node].is_some_and(|l| !inside(l, to) || !inside(l, otherwise));
                let jump = if leaves {
                    self.predicate(last, guard, &state)
                } else {
                    self.guard(last, guard, &state)
                };
                if to == otherwise {
                    vec![(to, edge(&state, Cond::True))]
                } else {
                    vec![(to, edge(&state, jump.clone())), (otherwise, edge(&state, jump.not()))]
                }
            }
            End::ReturnIf(guard, otherwise) => {
                let jump = self.predicate(last, guard, &state);
                let jump = if self.loops.innermost[node].is_some() { jump } else { self.shared(last, jump) };
                vec![(END, edge(&state, jump.clone())), (otherwise, edge(&state, jump.not()))]
            }
            End::Table(all) => {
                let instruction = self.first_instruction(node);
                let mut each = all;
                each.sort_unstable();
                each.dedup();
                let mut out = Vec::new();
                for to in each {
                    let why = self.why(instruction, Cause::Choice, None);
                    out.push((to, edge(&state, Cond::Data(why, true))));
                }
                out
            }
        };
        out.retain(|(_, edge)| edge.cond != Cond::False);
        Ok(out)
    }

    /// When a guard lets an instruction be done; for a share of threads where somebody told one.
    pub(super) fn guard(&mut self, i: usize, guard: Guard, state: &State) -> Cond {
        let cond = self.predicate(i, guard, state);
        self.shared(i, cond)
    }

    fn predicate(&mut self, i: usize, guard: Guard, state: &State) -> Cond {
        let cond = match state.get(guard.register) {
            Value::Truth(cond) => cond.clone(),
            Value::Unknown(why) => Cond::Data(*why, true),
            // Of a damaged text: the guard is a register of numbers.
            Value::Int(_) => Cond::Data(self.why(i, Cause::Instruction, None), true),
        };
        let cond = self.algebra.decided(cond);
        if guard.negated { cond.not() } else { cond }
    }
}
