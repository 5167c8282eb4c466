//! Everything that reading a kernel needs to know.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::event::Event;
use super::state::{Edge, State, Value};
use super::told::{Heeded, Told};
use super::why::{Cause, Why};
use crate::ptx::argument::Pointer;
use crate::ptx::flow::{Graph, Loops, Region, RegisterSet, changed, dominators, live_at_start, needed};
use crate::ptx::syntax::{Function, Module, PtxInstruction, RegisterId, StateSpace};
use crate::ptx::value::{Algebra, Atom, AtomId, BlockAndGrid, Cond, Poly, WhyId, comparing};

/// Instructions that a reading may go through, those of loops several times: some twenty times what any kernel of the
/// tests needs.
const MOST: u64 = 400_000;
/// Facts and terms that proofs may look at while a kernel is read: a second of work, and more than any kernel of the
/// tests needs. Texts that branch without end get there.
const MOST_PROVED: u64 = 250_000;

/// Loops of loops that are gone into.
const DEEPEST: usize = 12;

/// What parameters are, by number and byte.
#[derive(Debug, Clone, Default)]
pub(in crate::ptx) struct Arguments {
    pub numbers: BTreeMap<(usize, i64), i128>,
    pub pointers: BTreeMap<(usize, i64), Pointer>,
    /// Of fields that are known before: bytes of an element, and of all.
    pub fields: BTreeMap<String, (u64, u64)>,
}

/// What an array is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::ptx) enum BaseKind {
    /// What a parameter points to: its name, and the number of the parameter.
    Param(String, usize),
    /// A variable of the module or the function.
    Variable(StateSpace, String),
}

/// What went wrong so that there is no reading at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ptx) enum Stop {
    /// A loop is entered at two places: the instruction.
    Tangled(usize),
    /// It takes too long. The first instruction of the loop whose iterations were gone through one by one, if it was
    /// that.
    TooLong(Option<usize>),
    /// An array would have to be larger than any memory: the instruction that reaches farthest in it, and its name.
    Far(usize, String),
    /// An address that was told for an access makes none: the line, and why.
    Assumed(u32, String),
}

/// A kernel that is being read.
pub(in crate::ptx) struct Reader<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub algebra: Algebra,
    pub whys: Vec<Why>,
    pub bases: Vec<BaseKind>,
    /// Of addresses that are not known, the part that is, where they begin at a small table.
    pub(super) tables: FxHashMap<WhyId, Poly>,
    /// Calls of functions outside of the module, by instruction and name: their accesses are left out.
    pub outside: BTreeMap<usize, String>,
    pub(super) arguments: &'a Arguments,
    pub(super) told: &'a Told,
    pub(super) graph: Graph,
    pub(super) loops: Loops,
    pub(super) dominators: Vec<usize>,
    pub(super) live: Vec<RegisterSet>,
    /// Of each loop, the registers that it writes and that its next iteration needs.
    pub(super) changed: Vec<Vec<RegisterId>>,
    /// The instructions that are gone through where no events are wanted.
    pub(super) needed: Vec<bool>,
    pub(super) top: Region,
    pub(super) regions: Vec<Region>,
    /// What was made of what was told, and what of it makes no sense.
    pub heeded: Heeded,
    pub(super) wrong: Option<Stop>,
    /// Where it is guessed how a loop changes registers: its counter, and what is taken to hold in all iterations that
    /// another one follows.
    pub(super) guessing: Option<(AtomId, Vec<Cond>)>,
    /// Loops whose iterations are gone through one by one, outermost first.
    pub(super) unrolled: Vec<usize>,
    /// Choices by what is not known yet of a loop.
    pub(super) choices: usize,
    /// Counters of the loops around, outermost first.
    pub(super) counters: Vec<Poly>,
    /// What is known of the loop counters around.
    pub(super) around: Vec<Poly>,
    /// What the facts of the algebra were made of.
    known: Option<(Vec<Poly>, Cond)>,
    /// Whether events are wanted.
    pub(super) recording: bool,
    pub(super) steps: u64,
    pub(super) depth: usize,
}

impl<'a> Reader<'a> {
    pub fn new(
        module: &'a Module,
        function: &'a Function,
        launch: BlockAndGrid,
        arguments: &'a Arguments,
        told: &'a Told,
    ) -> Self {
        let graph = Graph::new(function);
        let dominators = dominators(&graph);
        let loops = Loops::new(&graph, &dominators);
        let live = live_at_start(function, &graph);
        // What has a loop with two entries is refused before it is gone through.
        let region = |of: Option<usize>| match loops.tangled {
            None => Region::new(&graph, &loops, of),
            Some(_) => Region::empty(),
        };
        let (regions, top) = ((0..loops.all.len()).map(|l| region(Some(l))).collect(), region(None));
        let needed = needed(function, &graph, &loops, &live);
        let changed = (0..loops.all.len()).map(|l| changed(function, &graph, &loops, &live, l)).collect();
        Self {
            module,
            function,
            algebra: Algebra::new(launch),
            whys: Vec::new(),
            bases: Vec::new(),
            tables: FxHashMap::default(),
            outside: BTreeMap::new(),
            arguments,
            told,
            heeded: Heeded::default(),
            wrong: None,
            guessing: None,
            unrolled: Vec::new(),
            choices: 0,
            counters: Vec::new(),
            graph,
            loops,
            dominators,
            live,
            changed,
            needed,
            top,
            regions,
            around: Vec::new(),
            known: None,
            recording: true,
            steps: 0,
            depth: 0,
        }
    }

    /// The instruction of a number. It is the function's own, so that the reader may change while it is looked at.
    pub(super) fn instruction(&self, i: usize) -> &'a PtxInstruction {
        &self.function.instructions[i]
    }

    /// What each thread does.
    pub fn read(&mut self) -> Result<Vec<Event>, Stop> {
        if let Some(block) = self.loops.tangled {
            return Err(Stop::Tangled(self.first_instruction(block)));
        }
        comparing::begin();
        let unset = self.why(0, Cause::Unset, None);
        let state = State::new(self.function.registers.len(), unset);
        let start = Edge { from: 0, state, cond: Cond::True, jump: Cond::True };
        let out = self.walk(None, start)?;
        match self.wrong.take() {
            Some(wrong) => Err(wrong),
            None => Ok(out.events),
        }
    }

    /// The most 32-bit registers that hold something at once.
    pub fn most_alive(&self) -> u32 {
        crate::ptx::flow::most_alive(self.function, &self.graph, &self.live)
    }

    pub(super) fn why(&mut self, instruction: usize, cause: Cause, from: Option<WhyId>) -> WhyId {
        let id = WhyId(u32::try_from(self.whys.len()).expect("steps are limited, and so are reasons"));
        self.whys.push(Why { instruction, cause, from });
        id
    }

    pub(super) fn unknown(&mut self, instruction: usize, cause: Cause, from: Option<WhyId>) -> Value {
        Value::Unknown(self.why(instruction, cause, from))
    }

    /// The atom of an array.
    pub(super) fn base(&mut self, kind: &BaseKind) -> Poly {
        let same = |b: &BaseKind| match (b, kind) {
            (BaseKind::Param(a, _), BaseKind::Param(b, _)) => a == b,
            (a, b) => a == b,
        };
        let at = self.bases.iter().position(same).unwrap_or_else(|| {
            self.bases.push(kind.clone());
            self.bases.len() - 1
        });
        let small = matches!(kind, BaseKind::Variable(StateSpace::Shared | StateSpace::Local, _));
        let number = u32::try_from(at).expect("there are no more arrays than names in the text");
        self.algebra.make(Atom::Base(number, small))
    }

    /// Where a variable begins, if the name is that of one.
    pub(super) fn variable(&mut self, name: &str) -> Option<Poly> {
        let variable = self.function.variable(name).or_else(|| self.module.variable(name))?;
        let space = variable.space;
        Some(self.base(&BaseKind::Variable(space, name.to_owned())))
    }

    /// What is known where this condition holds.
    pub(super) fn know(&mut self, cond: &Cond) {
        if self.known.as_ref().is_some_and(|(around, known)| known == cond && *around == self.around) {
            return;
        }
        self.known = Some((self.around.clone(), cond.clone()));
        let mut facts = self.around.clone();
        for part in cond.parts() {
            match part {
                Cond::Ge(p) => facts.push(p.clone()),
                Cond::Eq(p) => {
                    facts.extend(p.scale(-1));
                    facts.push(p.clone());
                }
                // What is not zero and not negative is at least one.
                Cond::Ne(p) => {
                    self.algebra.facts.clone_from(&facts);
                    let other = p.scale(-1);
                    let positive =
                        [Some(p.clone()), other].into_iter().flatten().find(|p| self.algebra.proves(p));
                    facts.extend(positive.and_then(|p| p.add_number(-1)));
                }
                _ => {}
            }
        }
        facts.sort_unstable_by(|a, b| {
            (a.terms.len(), &a.terms, a.constant).cmp(&(b.terms.len(), &b.terms, b.constant))
        });
        facts.dedup();
        self.algebra.facts = facts;
    }

    pub(super) fn region(&self, of: Option<usize>) -> &Region {
        of.map_or(&self.top, |l| &self.regions[l])
    }

    /// The first instruction of a block, or of what comes after it.
    pub(super) fn first_instruction(&self, block: usize) -> usize {
        let last = self.function.instructions.len().saturating_sub(1);
        self.graph.blocks[block].instructions.start.min(last)
    }

    /// Counts instructions that are gone through.
    pub(super) fn spend(&mut self, instructions: usize) -> Result<(), Stop> {
        self.steps += 1 + instructions as u64;
        self.in_time()
    }

    /// Stops where going on would take too long.
    pub(super) fn in_time(&self) -> Result<(), Stop> {
        let proved = self.algebra.work.get() > MOST_PROVED;
        if self.steps > MOST || self.depth > DEEPEST || proved || comparing::used_up() {
            let unrolled = self.unrolled.first().map(|l| self.first_instruction(self.loops.all[*l].header));
            Err(Stop::TooLong(unrolled))
        } else {
            Ok(())
        }
    }

    /// Bytes of a field, if somebody said how many.
    pub fn field_bytes(&self, name: &str) -> Option<u64> {
        let said = self.arguments.pointers.values().filter(|p| p.name == name).filter_map(|p| p.bytes);
        said.chain(self.arguments.fields.get(name).map(|f| f.1)).max()
    }

    /// Bytes of an element of a field that was known before.
    pub fn field_element(&self, name: &str) -> Option<u64> {
        self.arguments.fields.get(name).map(|f| f.0)
    }

    /// A reason that arose after reading.
    pub fn note(&mut self, instruction: usize, cause: Cause, from: Option<WhyId>) -> WhyId {
        self.why(instruction, cause, from)
    }

    /// What is known inside of loops where a condition holds.
    pub fn know_within(&mut self, cond: &Cond, loops: &[(AtomId, Poly)]) {
        let around = loops.iter().filter_map(|(counter, last)| last.sub(&Poly::atom(*counter)));
        self.around = around.collect();
        self.know(cond);
    }
}
