//! Work items folded into a thread, and equal loads merged.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use super::actions::Actions;
use super::candidate::Candidate;
use super::positions::Items;
use super::program::{Instruction, Item, Program, ProgramLoop, Step};
use crate::effort::{Spent, spend_on};
use crate::expr::{Alike, Cond, Coord, Excess, Form, Scale};
use crate::kernel::{Access, AccessKind, FieldId, Kernel, Loop, Statement};
use crate::recent::Recent;
use crate::space::{Fold, ItemOffset};

/// Most work items of a thread.
const MAX_ITEMS: usize = u16::MAX as usize;
/// Most instructions of a thread after folding.
const MAX_INSTRUCTIONS: usize = 500_000;
/// Most parts of the forms of a thread: of so many instructions, few can be long.
const MAX_PARTS: usize = 12_000_000;
/// Steps for folding a part of a form.
const STEPS_OF_PART: u64 = 12;

impl Program<Scale> {
    /// Folds the work items of a kernel into a thread. Each statement is done for all work items
    /// before the next, as an unrolling compiler does; a load whose symbolic address, width and
    /// condition an earlier one has is merged with it, unless a store to its field or a barrier
    /// stands between them.
    ///
    /// What is the same for all work items is put in first: conditions that always hold and loops of one
    /// iteration make no difference.
    pub fn folded(kernel: &Kernel, fold: Fold) -> Result<Self, Excess> {
        Self::of_actions(&Actions::simplified(kernel, fold.map(|n| n == 1))?, fold)
    }

    /// As [`folded`](Self::folded), of what a kernel does as it is said here.
    pub(crate) fn of_actions(actions: &Actions<'_>, fold: Fold) -> Result<Self, Excess> {
        Ok(Self::with_uses(actions, fold)?.0)
    }

    /// As [`folded`](Self::folded), but as it is written, and which instruction each access of the body is: in the order of the
    /// body, for each work item of the thread, or once for all where the access names none.
    pub fn folded_with_uses(kernel: &Kernel, fold: Fold) -> Result<(Self, Vec<usize>), Excess> {
        Self::with_uses(&Actions::written(kernel), fold)
    }

    fn with_uses(actions: &Actions<'_>, fold: Fold) -> Result<(Self, Vec<usize>), Excess> {
        let kernel = actions.kernel;
        let count = fold.iter().try_fold(1_usize, |n, &f| n.checked_mul(usize::try_from(f).ok()?));
        let instructions = count.and_then(|n| n.checked_mul(length(&actions.body)));
        let (Some(count), Some(instructions)) = (count, instructions) else { return Err(Excess::TooComplex) };
        let guard = actions.guard().map_or(0, Cond::size);
        let parts = count.saturating_mul(guard);
        if count > MAX_ITEMS || instructions > MAX_INSTRUCTIONS || parts > MAX_PARTS {
            return Err(Excess::TooComplex);
        }
        spend_on(count, STEPS_OF_PART * (1 + guard as u64))?;
        let mut items = Vec::new();
        for z in 0..fold[2] {
            for y in 0..fold[1] {
                for x in 0..fold[0] {
                    let offset = ItemOffset::from([x, y, z]);
                    let guard = actions.guard().map(|g| g.fold(fold, offset)).transpose()?;
                    items.push(Item { offset, guard });
                }
            }
        }
        let loops = actions.loops.iter().map(own_loop).collect();
        let mut folding = Folding {
            items: &items,
            own_grid: kernel.launch.grid.is_some(),
            loads: Loads::default(),
            loop_starts: 0,
            made: Vec::new(),
            instructions: Vec::with_capacity(actions.body.len()),
            parts: 0,
            uses: Vec::new(),
            placed: Placed::new(fold),
        };
        let steps = folding.statements(&actions.body)?;
        let (mut instructions, uses) = (folding.instructions, folding.uses);
        if actions.guard.is_none() {
            for instruction in &mut instructions {
                keep_smallest(&mut instruction.items, &items)?;
            }
        }
        let within = kernel.launch.grid.is_none().then(|| kernel.extents());
        Ok((Self { fold, items, instructions, steps, loops, within }, uses))
    }

    /// The program of one candidate.
    pub fn placed(kernel: &Kernel, candidate: Candidate) -> Result<Self, Excess> {
        Self::folded(kernel, candidate.fold())
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

/// Addresses and conditions of work items as those of their thread, and what tells them apart.
struct Placed {
    fold: Fold,
    /// Addresses of the first work item.
    first: Alike<Scale>,
    conditions: Recent<(Cond<Scale>, ItemOffset), (Cond<Scale>, u64)>,
    hashes: Recent<Form<Scale>, u64>,
}

impl Placed {
    fn new(fold: Fold) -> Self {
        Self { fold, first: Alike::new(), conditions: Recent::default(), hashes: Recent::default() }
    }

    fn element(&self, element: &Form<Scale>, offset: ItemOffset) -> Result<Form<Scale>, Excess> {
        if !element.is_affine() {
            return element.fold(self.fold, offset);
        }
        let first = self.first.change(element, |element| element.fold(self.fold, ItemOffset::ZERO))?;
        if offset == ItemOffset::ZERO { Ok(first) } else { first.plus(&Form::scale(element.shift(offset)?)) }
    }

    /// A condition with its hash.
    fn condition(&self, when: &Cond<Scale>, offset: ItemOffset) -> Result<(Cond<Scale>, u64), Excess> {
        if let Some(known) = self.conditions.find(|known| known.1 == offset && known.0 == *when) {
            return Ok(known);
        }
        let placed = when.fold(self.fold, offset)?;
        let hash = hash_of(|state| placed.hash(state));
        self.conditions.keep((when.clone(), offset), (placed.clone(), hash));
        Ok((placed, hash))
    }

    fn hash(&self, element: &Form<Scale>, width: i64, when: Option<u64>) -> u64 {
        let terms = self.hashes.find(|known| known.shares_terms(element)).unwrap_or_else(|| {
            let hash = hash_of(|state| element.hash_terms(state));
            self.hashes.keep(element.clone(), hash);
            hash
        });
        hash_of(|state| (element.constant(), terms, width, when).hash(state))
    }
}

fn hash_of(feed: impl FnOnce(&mut FxHasher)) -> u64 {
    let mut hasher = FxHasher::default();
    feed(&mut hasher);
    hasher.finish()
}

/// Loads that are still in registers, by field and by a hash of what identifies them.
type Loads = FxHashMap<FieldId, FxHashMap<u64, Equals>>;

/// Instructions with one hash, of which there is mostly one; in order.
#[derive(Default)]
struct Equals {
    first: Option<usize>,
    others: Vec<usize>,
}

impl Equals {
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.first.into_iter().chain(self.others.iter().copied())
    }

    fn push(&mut self, instruction: usize) {
        match self.first {
            None => self.first = Some(instruction),
            Some(_) => self.others.push(instruction),
        }
    }

    /// Drops those from one on.
    fn truncate(&mut self, from: usize) {
        self.first = self.first.filter(|&i| i < from);
        self.others.retain(|&i| i < from);
    }
}

struct Folding<'a> {
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
    placed: Placed,
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
                same.truncate(first);
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
            return self.instruction(access, ItemOffset::ZERO, Items { first: 0, more }, clipped, steps);
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
        offset: ItemOffset,
        items: Items,
        clipped: bool,
        steps: &mut Vec<Step>,
    ) -> Result<(), Excess> {
        let element = self.placed.element(&access.element, offset)?;
        let when = match &access.when {
            Some(when) => Some(self.placed.condition(when, offset)?),
            None => None,
        };
        let (kind, field, width) = (access.kind, access.field, access.width);
        let next = self.instructions.len();
        if kind == AccessKind::Load {
            let hash = self.placed.hash(&element, width, when.as_ref().map(|when| when.1));
            let when = when.as_ref().map(|when| &when.0);
            let same = self.loads.entry(field).or_default().entry(hash).or_default();
            let mut earlier = None;
            for i in same.iter() {
                let other = &self.instructions[i];
                let alike = other.width == width && other.element == element && other.when.as_ref() == when;
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
        let when = when.map(|when| when.0);
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
