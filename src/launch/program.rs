//! What one thread does.

use std::sync::Arc;

use super::geometry::Launch;
use super::positions::Items;
use crate::effort::spend_on;
use crate::expr::{Coefficient, Cond, Excess, Form, LaunchSizes, LoopId, Scale};
use crate::kernel::{AccessKind, FieldId};
use crate::space::{Domain, Fold, ItemOffset};

/// Steps for folding a part of a form.
const STEPS_OF_PART: u64 = 12;

/// A work item of a thread: its place in the fold and the condition under which it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<C: Coefficient> {
    /// Place in the fold along x, y, z.
    pub offset: ItemOffset,
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
    pub(super) offset: ItemOffset,
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

impl<C: Coefficient> Instruction<C> {
    /// The indices of array form (the grid addressing of the paper's section 4.4.1) in a program of
    /// this fold and launch; `None` if it was written in pointer form.
    pub fn indices(&self, fold: Fold, launch: &Launch) -> Option<Result<Vec<Form<i64>>, Excess>> {
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
    pub fold: Fold,
    /// The work items of a thread, x fastest.
    pub items: Vec<Item<C>>,
    /// The instructions in program order.
    pub instructions: Vec<Instruction<C>>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The loops by id.
    pub loops: Vec<ProgramLoop<C>>,
    /// The domain, if threads without a work item in it do nothing: with a grid of their own they may.
    pub(crate) within: Option<Domain>,
}

impl Program<Scale> {
    /// The program with block and grid sizes put in, without the loops that then run once.
    pub fn at(&self, launch: &Launch) -> Result<Program<i64>, Excess> {
        let mut program = self.put_in(launch)?;
        let mut fewer = self.with_loop_put_in(launch, &program)?;
        while let Some(of_any) = fewer {
            program = of_any.put_in(launch)?;
            fewer = of_any.with_loop_put_in(launch, &program)?;
        }
        Ok(program)
    }

    fn put_in(&self, launch: &Launch) -> Result<Program<i64>, Excess> {
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
        let items = items.collect::<Result<_, Excess>>()?;
        let mut instructions: Vec<Instruction<i64>> = Vec::with_capacity(self.instructions.len());
        for (number, instruction) in self.instructions.iter().enumerate() {
            let before = number.checked_sub(1).map(|i| (&self.instructions[i], &instructions[i]));
            instructions.push(instruction.at(sizes, before)?);
        }
        Ok(Program {
            fold: self.fold,
            items,
            instructions,
            steps: self.steps.clone(),
            loops: loops.collect::<Result<_, _>>()?,
            within: self.within,
        })
    }
}

fn conditional(cond: Option<&Cond<Scale>>, sizes: &LaunchSizes) -> Result<Option<Cond<i64>>, Excess> {
    cond.map(|c| c.at(sizes)).transpose()
}

impl Instruction<Scale> {
    /// The instruction for some sizes; `before` is the one before it, and what came of that.
    fn at(
        &self,
        sizes: &LaunchSizes,
        before: Option<(&Self, &Instruction<i64>)>,
    ) -> Result<Instruction<i64>, Excess> {
        spend_on(self.element.size(), STEPS_OF_PART)?;
        Ok(Instruction {
            kind: self.kind,
            field: self.field,
            element: self.element.at_as(sizes, before.map(|(of, at)| (&of.element, &at.element)))?,
            written: self.written.clone(),
            offset: self.offset,
            width: self.width,
            when: match before {
                Some((of, at)) if of.when == self.when => at.when.clone(),
                _ => conditional(self.when.as_ref(), sizes)?,
            },
            items: self.items.clone(),
            clipped: self.clipped,
        })
    }
}
