//! What single threads touch, in bytes.

use super::geometry::Launch;
use super::program::Program;
use super::thread::{NotRun, visit_thread};
use crate::expr::Excess;
use crate::kernel::{AccessKind, FieldId, Kernel};
use crate::space::{BlockIndex, Thread};

/// Accesses and iterations of a thread beyond which it is not run.
const MOST: usize = 1 << 24;

/// An access of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touched {
    /// What it does.
    pub kind: AccessKind,
    /// To which field.
    pub field: FieldId,
    /// Bytes behind the first byte of the field.
    pub offset: i64,
    /// Bytes touched from there on.
    pub bytes: i64,
    /// Position of the instruction in the program of a thread.
    pub position: usize,
}

/// A launch whose threads can be asked what they touch.
#[derive(Debug)]
pub struct Touching<'k> {
    kernel: &'k Kernel,
    program: Program<i64>,
    launch: Launch,
}

impl<'k> Touching<'k> {
    /// Works out what a thread of the launch does.
    pub fn new(kernel: &'k Kernel, launch: &Launch) -> Result<Self, Excess> {
        let program = Program::placed(kernel, launch.candidate())?.at(launch)?;
        Ok(Self { kernel, program, launch: launch.clone() })
    }

    /// What a thread of a block touches, in program order.
    pub fn thread(&self, block: BlockIndex, thread: Thread) -> Result<Vec<Touched>, NotRun> {
        self.thread_within(block, thread, MOST)
    }

    /// The same of a thread with at most so many accesses and iterations.
    pub fn thread_within(
        &self,
        block: BlockIndex,
        thread: Thread,
        most: usize,
    ) -> Result<Vec<Touched>, NotRun> {
        let (mut touched, mut overflow) = (Vec::new(), false);
        let sizes = self.launch.sizes();
        let extents = self.kernel.extents();
        visit_thread(&self.program, extents, sizes.block, block, thread, most, &mut |touch| {
            let id = touch.instruction.field;
            let field = self.kernel.field(id);
            let element = touch.element.checked_add(field.offset);
            match element.and_then(|e| e.checked_mul(field.dtype.bytes)) {
                Some(offset) => touched.push(Touched {
                    kind: touch.instruction.kind,
                    field: id,
                    offset,
                    bytes: touch.instruction.width,
                    position: touch.position,
                }),
                None => overflow = true,
            }
        })?;
        if overflow { Err(NotRun::Overflow) } else { Ok(touched) }
    }
}
