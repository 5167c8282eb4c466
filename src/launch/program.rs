//! What one thread does: work items folded into it, equal loads merged.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

use super::candidate::Candidate;
use super::geometry::Launch;
use super::simplified::simplified;
use crate::effort::{Spent, spend_on};
use crate::expr::{Coefficient, Cond, Coord, Excess, Form, LaunchSizes, LoopId, Scale};
use crate::kernel::{Access, AccessKind, FieldId, Kernel, Loop, Statement};

/// Most work items of a thread.
const MAX_ITEMS: usize = u16::MAX as usize;
/// Most instructions of a thread after folding.
const MAX_INSTRUCTIONS: usize = 500_000;
/// Most parts of the forms of a thread: of so many instructions, few can be long.
const MAX_PARTS: usize = 12_000_000;
/// Steps for folding a part of a form.
const STEPS_OF_PART: u64 = 12;

/// A work item of a thread: its place in the fold and the condition under which it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<C: Coefficient> {
    /// Place in the fold along x, y, z.
    pub offset: [i64; 3],
    /// The kernel's guard for this work item.
    pub guard: Option<Cond<C>>,
}

/// A memory instruction of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction<C: Coefficient> {
    /// What it does.
    pub kind: AccessKind,
    /// To which field.
    pub field: FieldId,
    /// Elements from the field's base, before the field's `offset`.
    pub element: Form<C>,
    /// The indices of array form as written, see [`Instruction::indices`].
    pub(super) written: Option<Arc<[Form<Scale>]>>,
    /// Place in the fold of the work item it was first needed for.
    pub(super) offset: [i64; 3],
    /// Bytes touched from there on.
    pub width: i64,
    /// Only where this holds.
    pub when: Option<Cond<C>>,
    /// Work items for which it is done: it is done if one of them works.
    pub items: Items,
    /// Whether it needs a work item inside the domain. Accesses in thread coordinates of a kernel
    /// with a grid of its own do not.
    pub clipped: bool,
}

/// Work items as positions in [`Program::items`], ascending; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    first: u16,
    /// Seldom needed, and an empty vector allocates nothing.
    more: Vec<u16>,
}

impl Items {
    fn one(first: u16) -> Self {
        Self { first, more: Vec::new() }
    }

    /// The positions.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }

    fn contains(&self, item: u16) -> bool {
        item == self.first || self.more.binary_search(&item).is_ok()
    }

    fn insert(&mut self, item: u16) {
        let rest = if item < self.first { std::mem::replace(&mut self.first, item) } else { item };
        if rest != self.first
            && let Err(place) = self.more.binary_search(&rest)
        {
            self.more.insert(place, rest);
        }
    }

    fn merge(&mut self, other: &Self) {
        // They mostly come one by one, and many may be merged.
        if other.more.is_empty() {
            return self.insert(other.first);
        }
        let mut all: Vec<u16> = self.iter().chain(other.iter()).collect();
        all.sort_unstable();
        all.dedup();
        self.more = all.split_off(1);
        self.first = all[0];
    }

    /// Keeps the positions for which `test` holds, if there are any.
    fn retain(&mut self, test: impl Fn(u16) -> bool) {
        let mut kept: Vec<u16> = self.iter().filter(|&i| test(i)).collect();
        if !kept.is_empty() {
            self.more = kept.split_off(1);
            self.first = kept[0];
        }
    }
}

impl<C: Coefficient> Instruction<C> {
    /// The indices of array form (the grid addressing of the paper's section 4.4.1) in a program of
    /// this fold and launch; `None` if it was written in pointer form.
    pub fn indices(&self, fold: [i64; 3], launch: &Launch) -> Option<Result<Vec<Form<i64>>, Excess>> {
        let place = |form: &Form<Scale>| form.fold(fold, self.offset)?.at(&launch.sizes);
        self.written.as_ref().map(|indices| indices.iter().map(place).collect())
    }
}

/// A step of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The instruction at this position of [`Program::instructions`].
    Access(usize),
    /// A barrier of the block.
    Sync,
    /// A loop.
    Loop(LoopId, Vec<Step>),
}

/// A loop of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramLoop<C: Coefficient> {
    /// First value of the variable.
    pub from: Form<C>,
    /// Last value that may occur.
    pub to: Form<C>,
    /// Distance.
    pub step: C,
}

/// What one thread does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program<C: Coefficient> {
    /// The fold.
    pub fold: [i64; 3],
    /// The work items of a thread, x fastest.
    pub items: Vec<Item<C>>,
    /// The instructions in program order.
    pub instructions: Vec<Instruction<C>>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The loops by id.
    pub loops: Vec<ProgramLoop<C>>,
}

impl Program<Scale> {
    /// Folds the work items of a kernel into a thread. Each statement is done for all work items
    /// before the next, as an unrolling compiler does; a load whose symbolic address, width and
    /// condition an earlier one has is merged with it, unless a store to its field or a barrier
    /// stands between them.
    ///
    /// What is the same for all work items is put in first: conditions that always hold and loops of one
    /// iteration make no difference.
    pub fn folded(kernel: &Kernel, fold: [i64; 3]) -> Result<Self, Excess> {
        Ok(Self::folded_with_uses(&*simplified(kernel, fold.map(|n| n == 1))?, fold)?.0)
    }

    /// As [`folded`](Self::folded), but as it is written, and which instruction each access of the body is: in the order of the
    /// body, for each work item of the thread, or once for all where the access names none.
    pub fn folded_with_uses(kernel: &Kernel, fold: [i64; 3]) -> Result<(Self, Vec<usize>), Excess> {
        let count = fold.iter().try_fold(1_usize, |n, &f| n.checked_mul(usize::try_from(f).ok()?));
        let instructions = count.and_then(|n| n.checked_mul(length(&kernel.body)));
        if count.is_none_or(|n| n > MAX_ITEMS) || instructions.is_none_or(|n| n > MAX_INSTRUCTIONS) {
            return Err(Excess::TooComplex);
        }
        let guard = kernel.guard.as_ref().map_or(0, Cond::size);
        if count.is_some_and(|n| n.saturating_mul(guard) > MAX_PARTS) {
            return Err(Excess::TooComplex);
        }
        spend_on(count.unwrap_or(usize::MAX), STEPS_OF_PART * (1 + guard as u64))?;
        let mut items = Vec::new();
        for z in 0..fold[2] {
            for y in 0..fold[1] {
                for x in 0..fold[0] {
                    let offset = [x, y, z];
                    let guard = kernel.guard.as_ref().map(|g| g.fold(fold, offset)).transpose()?;
                    items.push(Item { offset, guard });
                }
            }
        }
        let loops = kernel.loops.iter().map(own_loop).collect();
        let mut folding = Folding {
            fold,
            items: &items,
            own_grid: kernel.launch.grid.is_some(),
            loads: Loads::default(),
            loop_starts: 0,
            made: Vec::new(),
            instructions: Vec::with_capacity(kernel.body.len()),
            parts: 0,
            uses: Vec::new(),
        };
        let steps = folding.statements(&kernel.body)?;
        let (mut instructions, uses) = (folding.instructions, folding.uses);
        if kernel.guard.is_none() {
            for instruction in &mut instructions {
                keep_smallest(&mut instruction.items, &items)?;
            }
        }
        Ok((Self { fold, items, instructions, steps, loops }, uses))
    }

    /// The program of one candidate.
    pub fn placed(kernel: &Kernel, candidate: Candidate) -> Result<Self, Excess> {
        Self::folded(kernel, candidate.fold())
    }

    /// The program with block and grid sizes put in.
    pub fn at(&self, launch: &Launch) -> Result<Program<i64>, Excess> {
        let sizes = &launch.sizes;
        spend_on(self.instructions.len() + self.items.len(), STEPS_OF_PART)?;
        let items = self
            .items
            .iter()
            .map(|i| Ok(Item { offset: i.offset, guard: conditional(i.guard.as_ref(), sizes)? }));
        let loops = self.loops.iter().map(|l| {
            let (from, to, step) = (l.from.at(sizes)?, l.to.at(sizes)?, l.step.at(sizes)?);
            if step == 0 {
                return Err(Excess::Divisor(step));
            }
            Ok(ProgramLoop { from, to, step })
        });
        Ok(Program {
            fold: self.fold,
            items: items.collect::<Result<_, Excess>>()?,
            instructions: self.instructions.iter().map(|i| i.at(sizes)).collect::<Result<_, _>>()?,
            steps: self.steps.clone(),
            loops: loops.collect::<Result<_, _>>()?,
        })
    }
}

/// Accesses of a body, each counted once.
pub(super) fn length(body: &[Statement]) -> usize {
    let one = |s: &Statement| match s {
        Statement::Loop(_, inner) => length(inner),
        Statement::Access(_) => 1,
        Statement::Sync => 0,
    };
    body.iter().map(one).sum()
}

fn own_loop(l: &Loop) -> ProgramLoop<Scale> {
    ProgramLoop { from: l.from.clone(), to: l.to.clone(), step: l.step.clone() }
}

fn conditional(cond: Option<&Cond<Scale>>, sizes: &LaunchSizes) -> Result<Option<Cond<i64>>, Excess> {
    cond.map(|c| c.at(sizes)).transpose()
}

impl Instruction<Scale> {
    fn at(&self, sizes: &LaunchSizes) -> Result<Instruction<i64>, Excess> {
        spend_on(self.element.size(), STEPS_OF_PART)?;
        Ok(Instruction {
            kind: self.kind,
            field: self.field,
            element: self.element.at(sizes)?,
            written: self.written.clone(),
            offset: self.offset,
            width: self.width,
            when: conditional(self.when.as_ref(), sizes)?,
            items: self.items.clone(),
            clipped: self.clipped,
        })
    }
}

/// Without a guard, a work item works whenever one with larger coordinates does: only the smallest
/// need be asked.
fn keep_smallest(list: &mut Items, items: &[Item<Scale>]) -> Result<(), Spent> {
    if list.more.is_empty() {
        return Ok(());
    }
    // Most lists begin with an item that is below all others.
    let all = list.clone();
    list.retain(|item| !below(items, all.first, item));
    if list.more.is_empty() {
        return Ok(());
    }
    let all = list.clone();
    spend_on(1 + all.more.len(), 1 + all.more.len() as u64)?;
    list.retain(|item| !all.iter().any(|other| below(items, other, item)));
    Ok(())
}

/// Whether a load is done wherever another is needed. One before a loop must be: the loop may not run
/// at all, so that it cannot be done for what only the loop needs.
fn covers(
    load: &Instruction<Scale>,
    needed: &Items,
    clipped: bool,
    items: &[Item<Scale>],
) -> Result<bool, Spent> {
    spend_on(1 + needed.more.len(), 1 + load.items.more.len() as u64)?;
    let guarded = items.first().is_some_and(|i| i.guard.is_some());
    let covered =
        |item| load.items.contains(item) || (!guarded && load.items.iter().any(|i| below(items, i, item)));
    Ok((clipped || !load.clipped) && needed.iter().all(covered))
}

/// Whether one work item comes before another along every axis along which they differ.
fn below(items: &[Item<Scale>], a: u16, b: u16) -> bool {
    let (a, b) = (items[usize::from(a)].offset, items[usize::from(b)].offset);
    a != b && (0..3).all(|d| a[d] <= b[d])
}

/// Loads that are still in registers, by field and by a hash of what identifies them.
type Loads = HashMap<FieldId, HashMap<u64, Vec<usize>, Mixing>, Mixing>;

struct Folding<'a> {
    fold: [i64; 3],
    items: &'a [Item<Scale>],
    own_grid: bool,
    loads: Loads,
    /// First instruction of the innermost loop.
    loop_starts: usize,
    /// Where loads were put into `loads`, in order.
    made: Vec<(FieldId, u64)>,
    instructions: Vec<Instruction<Scale>>,
    parts: usize,
    /// The instruction of each access for each work item.
    uses: Vec<usize>,
}

impl Folding<'_> {
    fn statements(&mut self, body: &[Statement]) -> Result<Vec<Step>, Excess> {
        let mut steps = Vec::with_capacity(body.len());
        for statement in body {
            match statement {
                Statement::Access(access) => self.access(access, &mut steps)?,
                Statement::Sync => {
                    self.loads.clear();
                    steps.push(Step::Sync);
                }
                Statement::Loop(id, inner) => {
                    // What the loop overwrites is not in registers at its start, nor after it; what
                    // it loads may not have been loaded, if it does not run.
                    self.forget(inner);
                    let (first, before) = (self.instructions.len(), self.made.len());
                    let around = std::mem::replace(&mut self.loop_starts, first);
                    let inner = self.statements(inner)?;
                    self.loop_starts = around;
                    self.forget_since(first, before);
                    steps.push(Step::Loop(*id, inner));
                }
            }
        }
        Ok(steps)
    }

    /// Drops the loads from instruction `first` on, which were noted from `before` on. Older ones are
    /// as they were: what could have dropped them was seen before the loop.
    fn forget_since(&mut self, first: usize, before: usize) {
        for (field, hash) in self.made.drain(before..) {
            if let Some(same) = self.loads.get_mut(&field).and_then(|l| l.get_mut(&hash)) {
                same.retain(|&i| i < first);
            }
        }
    }

    /// Drops all loads that something in `body` invalidates.
    fn forget(&mut self, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Access(a) if a.kind != AccessKind::Load => drop(self.loads.remove(&a.field)),
                Statement::Access(_) => {}
                Statement::Sync => self.loads.clear(),
                Statement::Loop(_, inner) => self.forget(inner),
            }
        }
    }

    fn access(&mut self, access: &Access, steps: &mut Vec<Step>) -> Result<(), Excess> {
        let is_axis = |c: Coord| matches!(c, Coord::Axis(_));
        let by_item = access.per_item_address || access.when.as_ref().is_some_and(|w| w.mentions(&is_axis));
        let clipped = access.by_item || !self.own_grid;
        if access.kind != AccessKind::Load {
            self.loads.remove(&access.field);
        }
        let size = access.element.size() + access.when.as_ref().map_or(0, Cond::size);
        let parts = size.saturating_mul(if by_item { self.items.len() } else { 1 });
        spend_on(parts, STEPS_OF_PART)?;
        self.parts += parts;
        if self.parts > MAX_PARTS {
            return Err(Excess::TooComplex);
        }
        if !by_item {
            let more = (1..self.items.len()).filter_map(|i| u16::try_from(i).ok()).collect();
            return self.instruction(access, [0; 3], Items { first: 0, more }, clipped, steps);
        }
        for (i, item) in self.items.iter().enumerate() {
            let position = u16::try_from(i).map_err(|_| Excess::TooComplex)?;
            self.instruction(access, item.offset, Items::one(position), clipped, steps)?;
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        access: &Access,
        offset: [i64; 3],
        items: Items,
        clipped: bool,
        steps: &mut Vec<Step>,
    ) -> Result<(), Excess> {
        let element = access.element.fold(self.fold, offset)?;
        let when = match &access.when {
            Some(when) => Some(when.fold(self.fold, offset)?),
            None => None,
        };
        let (kind, field, width) = (access.kind, access.field, access.width);
        let next = self.instructions.len();
        if kind == AccessKind::Load {
            let mut hasher = Mixer::default();
            (&element, width, &when).hash(&mut hasher);
            let hash = hasher.finish();
            let same = self.loads.entry(field).or_default().entry(hash).or_default();
            let mut earlier = None;
            for &i in &*same {
                let other = &self.instructions[i];
                let alike = other.width == width && other.element == element && other.when == when;
                if alike && (i >= self.loop_starts || covers(other, &items, clipped, self.items)?) {
                    earlier = Some(i);
                    break;
                }
            }
            if let Some(earlier) = earlier {
                self.uses.push(earlier);
                let earlier = &mut self.instructions[earlier];
                earlier.items.merge(&items);
                // Some thread outside the domain may need it for this one.
                earlier.clipped &= clipped;
                return Ok(());
            }
            same.push(next);
            self.made.push((field, hash));
        }
        self.uses.push(next);
        let written = access.indices.clone();
        self.instructions.push(Instruction {
            kind,
            field,
            element,
            written,
            offset,
            width,
            when,
            items,
            clipped,
        });
        steps.push(Step::Access(next));
        Ok(())
    }
}

type Mixing = BuildHasherDefault<Mixer>;

/// A quick hash; equal hashes are compared in full.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_i64(&mut self, word: i64) {
        self.write_u64(word.cast_unsigned());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}
