//! What steps of a program do, whoever does them: whether the bodies of loops wait, copy or compute.

use crate::expr::{Coord, LoopId};
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::{Instruction, Program, Step};

/// The program in which they stand.
pub(super) struct Bodies<'p> {
    pub(super) kernel: &'p Kernel,
    pub(super) program: &'p Program<i64>,
}

impl Bodies<'_> {
    pub(super) fn bounds_depend_on_thread(&self, id: LoopId) -> bool {
        let range = &self.program.loops[usize::from(id.0)];
        let is_thread = |c: Coord| matches!(c, Coord::ThreadIdx(_));
        range.from.mentions(&is_thread) || range.to.mentions(&is_thread)
    }

    pub(super) fn is_load_from_memory(&self, instruction: &Instruction<i64>) -> bool {
        instruction.kind != AccessKind::Store && self.kernel.field(instruction.field).space.in_memory()
    }

    /// Whether conditions of accesses follow from a loop.
    pub(super) fn conditions_follow_from(&self, id: LoopId, body: &[Step]) -> bool {
        let of_loop = |c: Coord| c == Coord::Loop(id);
        body.iter().any(|step| match step {
            Step::Sync => false,
            Step::Access(position) => {
                let when = self.program.instructions[*position].when.as_ref();
                when.is_some_and(|when| when.mentions(&of_loop))
            }
            Step::Loop(_, inner) => self.conditions_follow_from(id, inner),
        })
    }

    /// Whether an iteration loads from global memory and stores afterwards, outside of loops in it.
    pub(super) fn waits_in(&self, body: &[Step]) -> bool {
        let mut loaded = false;
        for step in body {
            let Step::Access(position) = step else { continue };
            let instruction = &self.program.instructions[*position];
            let is_global = self.kernel.field(instruction.field).space.in_memory();
            match instruction.kind {
                AccessKind::Load => loaded |= is_global,
                AccessKind::Store if loaded => return true,
                AccessKind::Store => {}
                AccessKind::Atomic => return true,
            }
        }
        false
    }

    /// Whether an iteration loads from shared memory and stores there afterwards, outside of loops in it.
    pub(super) fn updates_shared(&self, body: &[Step]) -> bool {
        let mut loaded = false;
        for step in body {
            let Step::Access(position) = step else { continue };
            let instruction = &self.program.instructions[*position];
            if self.kernel.field(instruction.field).space != Space::Shared {
                continue;
            }
            match instruction.kind {
                AccessKind::Load => loaded = true,
                AccessKind::Store if loaded => return true,
                AccessKind::Store => {}
                AccessKind::Atomic => return true,
            }
        }
        false
    }

    /// Whether an iteration only copies to shared memory, so that nothing keeps loads of the next ones from passing its
    /// stores, and no thread waits for others. Bodies that compute are too long for compilers to do side by side.
    pub(super) fn fills_shared(&self, body: &[Step]) -> bool {
        body.iter().all(|step| matches!(step, Step::Access(_))) && self.only_copies(body)
    }

    /// Whether steps only load from elsewhere and store that to shared memory, without waiting for other threads.
    pub(super) fn only_copies(&self, steps: &[Step]) -> bool {
        let is_store = |step: &Step| match step {
            Step::Access(position) => self.program.instructions[*position].kind == AccessKind::Store,
            Step::Sync | Step::Loop(..) => false,
        };
        let copies = steps.iter().any(is_store) || steps.iter().all(|step| matches!(step, Step::Loop(..)));
        copies
            && steps.iter().all(|step| match step {
                Step::Access(position) => {
                    let instruction = &self.program.instructions[*position];
                    let is_shared = self.kernel.field(instruction.field).space == Space::Shared;
                    match instruction.kind {
                        AccessKind::Load => !is_shared,
                        AccessKind::Store => is_shared,
                        AccessKind::Atomic => false,
                    }
                }
                Step::Sync => false,
                Step::Loop(_, body) => self.only_copies(body),
            })
    }

    /// Whether another thread might do something else.
    pub(super) fn depends_on_thread(&self, steps: &[Step]) -> bool {
        steps.iter().any(|step| match step {
            Step::Sync => false,
            Step::Access(position) => {
                let instruction = &self.program.instructions[*position];
                let mut items = instruction.items.iter().map(|i| &self.program.items[usize::from(i)]);
                instruction.when.is_some() || items.any(|item| item.guard.is_some())
            }
            Step::Loop(id, body) => self.bounds_depend_on_thread(*id) || self.depends_on_thread(body),
        })
    }
}

/// Whether threads of a block wait for each other in some steps.
pub(super) fn has_barrier(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Sync => true,
        Step::Access(_) => false,
        Step::Loop(_, body) => has_barrier(body),
    })
}
