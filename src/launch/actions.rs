//! What a kernel does, in its own words or in others.

use std::borrow::Cow;

use crate::expr::{Cond, Scale};
use crate::kernel::{Kernel, Loop, Statement};

/// What a kernel does: its own statements, or others that come to the same.
#[derive(Debug, Clone)]
pub struct Actions<'k> {
    /// The kernel.
    pub(super) kernel: &'k Kernel,
    /// What a thread does, before folding.
    pub(super) body: Cow<'k, [Statement]>,
    /// The loops by id.
    pub(super) loops: Cow<'k, [Loop]>,
    /// Under which condition a work item or thread works at all.
    pub(super) guard: Option<Cow<'k, Cond<Scale>>>,
}

impl<'k> Actions<'k> {
    /// As it is written.
    pub(super) fn written(kernel: &'k Kernel) -> Self {
        Self {
            kernel,
            body: Cow::Borrowed(&kernel.body),
            loops: Cow::Borrowed(&kernel.loops),
            guard: kernel.guard.as_ref().map(Cow::Borrowed),
        }
    }

    /// Whose actions these are.
    pub fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    /// The condition under which anything is done.
    pub(super) fn guard(&self) -> Option<&Cond<Scale>> {
        self.guard.as_deref()
    }
}
