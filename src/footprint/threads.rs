//! From the program of a thread and the blocks of a wave to the boxes that are counted.

use std::ops::Range;
use std::sync::Arc;

use super::addresses::Addresses;
use super::boxes::{self, Group, Part, groups};
use super::counter::{Counter, LineCount, Uncounted};
use super::engine::Engine;
use super::grid::embed;
use super::pattern::{Draft, Frame, Pattern};
use super::points::Points;
use super::query::{CoordRanges, Query, Refusal};
use super::region::Region;
use crate::effort::spend_on;
use crate::expr::{Coefficient, Cond, Excess, Form, LoopId, SharedTerms};
use crate::kernel::{AccessKind, FieldId, Kernel};
use crate::launch::{BlockBox, Instruction, Item, Launch, Program, Step};
use crate::space::{Block, Domain, Extents};

/// Steps for a part of an address or a condition that is made ready.
const STEPS_OF_PART: u64 = 16;
/// Steps for placing an access under a box of blocks.
const STEPS_OF_REGION: u64 = 32;

/// What counts as the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// The exact byte.
    Linear,
    /// The indices of an array as a tuple, as in the paper's section 4.4.1: neither alignment nor
    /// wrap-around between rows is seen.
    Grid,
}

/// The threads of a launch and what they do.
#[derive(Debug, Clone, Copy)]
pub struct Threads<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Block and grid.
    pub launch: &'a Launch,
    /// What each thread does.
    pub program: &'a Program<i64>,
}

impl From<Excess> for Refusal {
    fn from(excess: Excess) -> Self {
        match excess {
            Excess::Spent(_) => Refusal::Spent,
            _ => Refusal::Overflow,
        }
    }
}

/// What threads touch of one field, ready to be counted for any blocks.
#[derive(Debug, Clone)]
pub struct FieldTouches {
    array: usize,
    pub(super) addressing: Addressing,
    /// Bytes of an element.
    size: i64,
    /// Threads of a block.
    pub(super) shape: Block,
    pub(super) frames: Arc<[Frame]>,
    pub(super) patterns: Arc<[Pattern]>,
    /// All patterns, if they are simple and exact bytes are addressed.
    pub(super) groups: Option<Arc<[Group]>>,
    /// Bytes that each access touches beyond its width.
    pub(super) wider: i64,
}

impl Threads<'_> {
    /// What the threads of `blocks` touch of a field through instructions of some kinds, in lines of
    /// `line` bytes.
    pub fn query(
        &self,
        blocks: &[BlockBox],
        field: FieldId,
        kinds: &[AccessKind],
        line: i64,
        addressing: Addressing,
    ) -> Result<Query, Refusal> {
        self.touched(field, kinds, addressing)?.under(blocks, line)
    }

    /// What threads touch of a field through instructions of some kinds.
    pub fn touched(
        &self,
        field: FieldId,
        kinds: &[AccessKind],
        addressing: Addressing,
    ) -> Result<FieldTouches, Refusal> {
        let around = loops_around(self.program);
        let mut frames = Vec::new();
        let mut patterns: Vec<Pattern> = Vec::with_capacity(self.program.instructions.len());
        let shared = SharedTerms::new();
        for (position, (instruction, loops)) in self.program.instructions.iter().zip(&around).enumerate() {
            if instruction.field == field && kinds.contains(&instruction.kind) {
                let forms = self.forms(instruction, addressing)?;
                for item in instruction.items.iter() {
                    let item = &self.program.items[usize::from(item)];
                    let access = (position, instruction, item);
                    // What many accesses have in common is counted together.
                    let found = self.pattern(access, loops, forms.clone(), &shared, &mut frames)?;
                    let Some(mut pattern) = found else { continue };
                    if let Some(before) = patterns.last().filter(|before| before.when == pattern.when) {
                        pattern.when = Arc::clone(&before.when);
                    }
                    patterns.push(pattern);
                }
            }
        }
        let size = self.kernel.field(field).dtype.bytes;
        let shape = self.launch.sizes.block;
        Ok(FieldTouches::new(usize::from(field.0), addressing, size, shape, frames.into(), patterns))
    }

    /// The address in bytes, or the indices, fastest first.
    fn forms(
        &self,
        instruction: &Instruction<i64>,
        addressing: Addressing,
    ) -> Result<Vec<Form<i64>>, Refusal> {
        let field = self.kernel.field(instruction.field);
        match addressing {
            Addressing::Linear => {
                Ok(vec![instruction.element.plus(&Form::int(field.offset))?.times(&field.dtype.bytes)?])
            }
            Addressing::Grid => {
                let indices =
                    instruction.indices(self.program.fold, self.launch).ok_or(Refusal::NotGrid)??;
                let mut order: Vec<usize> = (0..indices.len()).collect();
                order.sort_by_key(|&i| field.strides[i].as_int());
                Ok(order.iter().map(|&i| indices[i].clone()).collect())
            }
        }
    }

    /// An access of one work item; `None` if it stands in a loop that does not run.
    fn pattern(
        &self,
        (position, instruction, item): (usize, &Instruction<i64>, &Item<i64>),
        loops: &[LoopId],
        forms: Vec<Form<i64>>,
        shared: &SharedTerms<i64>,
        frames: &mut Vec<Frame>,
    ) -> Result<Option<Pattern>, Refusal> {
        let conditions: Vec<Cond<i64>> = instruction.when.iter().chain(&item.guard).cloned().collect();
        spend_on(forms.iter().map(Form::size).sum::<usize>() + conditions_size(&conditions), STEPS_OF_PART)?;
        let mut draft = Draft { loops: Vec::new(), even: 0, when: conditions, forms };
        if !draft.unroll(self.program, self.launch, loops)? {
            return Ok(None);
        }
        let joined = draft.join_threads(self.launch.sizes.block)?;
        let working = if instruction.clipped { self.working(item) } else { Extents::from([i64::MAX; 3]) };
        let frame = Frame { loops: draft.loops, joined, threads: working };
        let number = frames.iter().position(|f| *f == frame).unwrap_or_else(|| {
            frames.push(frame);
            frames.len() - 1
        });
        Ok(Some(Pattern {
            kind: instruction.kind,
            position,
            even: draft.even,
            frame: number,
            when: draft.when.into(),
            addresses: Addresses::new(draft.forms, shared),
            width: instruction.width,
        }))
    }

    /// Threads along each dimension whose work item lies in the domain.
    fn working(&self, item: &Item<i64>) -> Extents {
        let (extents, fold) = (self.kernel.extents(), self.program.fold);
        Extents::along(|d| (extents[d] - item.offset[d] + fold[d] - 1).div_euclid(fold[d]).max(0))
    }
}

impl FieldTouches {
    fn new(
        array: usize,
        addressing: Addressing,
        size: i64,
        shape: Block,
        frames: Arc<[Frame]>,
        patterns: Vec<Pattern>,
    ) -> Self {
        let bytes = addressing == Addressing::Linear;
        let groups = if bytes { groups(&patterns, &frames).map(Arc::from) } else { None };
        Self { array, addressing, size, shape, frames, patterns: patterns.into(), groups, wider: 0 }
    }

    /// Takes blocks to have this shape; only for threads that do not tell one block from another.
    pub fn set_blocks(&mut self, shape: Block) {
        self.shape = shape;
    }

    /// Where all accesses are at multiples of places of threads, without loops and conditions: how many different
    /// multiples there are, and the last byte that work items of a domain touch.
    pub fn reach(&self, domain: Domain) -> Option<(usize, i64)> {
        let groups = self.groups.as_deref()?;
        Some((groups.len(), boxes::reach(groups, domain)?))
    }

    /// How many accesses are left where those that continue each other are joined, if all of them lie in the same rows and
    /// planes, of which each has a whole number of the smaller ones.
    pub fn arms_in_planes(&self) -> Option<usize> {
        boxes::arms_in_planes(self.groups.as_deref()?)
    }

    /// What is touched through instructions of some kinds.
    #[must_use]
    pub fn only(&self, kinds: &[AccessKind]) -> Self {
        let kept = self.patterns.iter().filter(|p| kinds.contains(&p.kind)).cloned().collect();
        self.with(Arc::clone(&self.frames), kept)
    }

    /// What counts as the same address.
    pub(super) fn addressing(&self) -> Addressing {
        self.addressing
    }

    /// Other accesses of the same field.
    pub(super) fn with(&self, frames: Arc<[Frame]>, patterns: Vec<Pattern>) -> Self {
        let other = Self::new(self.array, self.addressing, self.size, self.shape, frames, patterns);
        Self { wider: self.wider, ..other }
    }

    /// Distinct lines of the same field that are touched in one of several ways. The same number as
    /// `counter` finds for the [`union`](Self::union), sooner.
    pub fn count(
        parts: &[(&Self, &[BlockBox])],
        line: i64,
        counter: &Counter,
    ) -> Result<LineCount, Uncounted> {
        let simple = parts.iter().filter_map(|&(touched, blocks)| {
            let &Self { ref frames, shape, wider, .. } = touched;
            Some(Part { groups: touched.groups.as_deref()?, frames, shape, blocks, wider })
        });
        if line > 0
            && parts.iter().all(|(touched, _)| touched.groups.is_some())
            && counter.engine().is_none_or(|e| e == Engine::Linear)
            && !counter.verifies()
            && let Ok(lines) = boxes::count(simple, line)
        {
            return Ok(LineCount { lines, engine: Engine::Linear, verified_by: None, interval_lines: None });
        }
        let query =
            Self::union(parts, line).map_err(|why| Uncounted::Refused(vec![(Engine::Linear, why)]))?;
        counter.count(&query)
    }

    /// Whether nothing is touched at all.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether both make the same accesses in the same order, whatever they do there.
    pub fn touches_as(&self, other: &Self) -> bool {
        let same = |(a, b): (&Pattern, &Pattern)| {
            let forms = || a.addresses.iter().zip(&*b.addresses).all(|(a, b)| a == b);
            a.frame == b.frame
                && a.width == b.width
                && a.addresses.len() == b.addresses.len()
                && (Arc::ptr_eq(&a.when, &b.when) || a.when == b.when)
                && forms()
        };
        self.len() == other.len()
            && (self.wider, self.shape) == (other.wider, other.shape)
            && self.frames == other.frames
            && self.patterns.iter().zip(&*other.patterns).all(same)
    }

    /// Number of accesses, each counted for every work item that makes it.
    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    /// The lines of `line` bytes that the threads of these blocks touch.
    pub fn under(&self, blocks: &[BlockBox], line: i64) -> Result<Query, Refusal> {
        Self::union(&[(self, blocks)], line)
    }

    /// The lines of `line` bytes of the same field that are touched in one of several ways.
    pub fn union(parts: &[(&Self, &[BlockBox])], line: i64) -> Result<Query, Refusal> {
        let Some(&(first, _)) = parts.first() else { return Ok(Query { pieces: Vec::new(), line }) };
        let mut regions = Vec::with_capacity(parts.iter().map(|(t, b)| t.len() * b.len()).sum());
        for (touched, blocks) in parts {
            touched.regions(blocks, &mut regions)?;
        }
        let pieces = match first.addressing {
            Addressing::Linear => regions
                .into_iter()
                .filter_map(|region| region.addresses.piece(first.array, region.points, region.width))
                .collect(),
            Addressing::Grid => embed(&regions, first.array, first.size, line)?,
        };
        Ok(Query { pieces, line })
    }

    fn regions(&self, blocks: &[BlockBox], out: &mut Vec<Region>) -> Result<(), Refusal> {
        let mut placed: Vec<Option<Vec<CoordRanges>>> = vec![None; self.frames.len()];
        // The access before, and its boxes: the next one often has the same.
        let mut before: Option<(&Pattern, Range<usize>)> = None;
        for pattern in &*self.patterns {
            let of_frame = &mut placed[pattern.frame];
            let boxes = match of_frame {
                Some(boxes) => &*boxes,
                None => of_frame.insert(self.frames[pattern.frame].placed(self.shape, blocks)?),
            };
            spend_on(boxes.len(), STEPS_OF_REGION)?;
            let width = pattern.width.saturating_add(self.wider);
            let first = out.len();
            match before {
                Some((last, ref regions))
                    if last.frame == pattern.frame && Arc::ptr_eq(&last.when, &pattern.when) =>
                {
                    out.extend_from_within(Range::clone(regions));
                    for region in &mut out[first..] {
                        (region.addresses, region.width) = (pattern.addresses.clone(), width);
                    }
                }
                _ => {
                    out.extend(boxes.iter().filter_map(|ranges| {
                        let points = Points::restricted(ranges, &pattern.when)?;
                        Some(Region { points, addresses: pattern.addresses.clone(), width })
                    }));
                }
            }
            before = Some((pattern, first..out.len()));
        }
        Ok(())
    }
}

fn conditions_size(conditions: &[Cond<i64>]) -> usize {
    conditions.iter().map(Cond::size).sum()
}

/// Which loops stand around each instruction, outermost first.
fn loops_around(program: &Program<i64>) -> Vec<Vec<LoopId>> {
    fn walk(steps: &[Step], stack: &mut Vec<LoopId>, out: &mut [Vec<LoopId>]) {
        for step in steps {
            match step {
                Step::Access(position) => out[*position].clone_from(stack),
                Step::Sync => {}
                Step::Loop(id, body) => {
                    stack.push(*id);
                    walk(body, stack, out);
                    stack.pop();
                }
            }
        }
    }
    let mut around = vec![Vec::new(); program.instructions.len()];
    walk(&program.steps, &mut Vec::new(), &mut around);
    around
}
