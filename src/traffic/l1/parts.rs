//! Parts of a program that are run apart. What accesses of shared memory cost does not follow from where a block lies, so
//! that few warps of each kind tell it; those of memory need many, and are mostly fewer.

use std::borrow::Cow;

use crate::kernel::{Kernel, Space};
use crate::launch::{Program, Step};

/// Steps that are run apart.
pub(super) struct ProgramPart<'p> {
    pub(super) steps: Cow<'p, [Step]>,
    /// Accesses of lanes that a warp makes at most.
    pub(super) of_warp: usize,
    /// How many may be evaluated.
    pub(super) most: usize,
}

impl ProgramPart<'_> {
    /// The steps that make some of the accesses.
    pub(super) fn steps_with(&self, is_kept: &dyn Fn(usize) -> bool) -> Vec<Step> {
        kept(&self.steps, is_kept)
    }
}

/// All accesses of lanes.
pub(super) fn total(of_fields: &[usize]) -> usize {
    of_fields.iter().fold(0, |sum, of_field| sum.saturating_add(*of_field))
}

/// The parts of a program of which a warp makes so many accesses of each field.
pub(super) fn parts<'p>(
    kernel: &Kernel,
    program: &'p Program<i64>,
    of_fields: &[usize],
    most: usize,
) -> Vec<ProgramPart<'p>> {
    let is_shared: Vec<bool> = kernel.fields.iter().map(|field| field.space == Space::Shared).collect();
    let of_part = |shared: bool| {
        let fields = of_fields.iter().zip(&is_shared).filter(|field| *field.1 == shared);
        fields.fold(0_usize, |sum, field| sum.saturating_add(*field.0))
    };
    let (of_shared, of_memory) = (of_part(true), of_part(false));
    if of_shared == 0 || of_memory == 0 {
        let steps = Cow::Borrowed(program.steps.as_slice());
        return vec![ProgramPart { steps, of_warp: total(of_fields), most }];
    }
    let shared = |position: usize| is_shared[usize::from(program.instructions[position].field.0)];
    let part = |in_shared: bool, of_warp, most| {
        let steps = Cow::Owned(kept(&program.steps, &|position| shared(position) == in_shared));
        ProgramPart { steps, of_warp, most }
    };
    vec![part(true, of_shared, most), part(false, of_memory, most / 4)]
}

/// The steps with some accesses.
fn kept(steps: &[Step], is_kept: &dyn Fn(usize) -> bool) -> Vec<Step> {
    let kept_of = |step: &Step| match step {
        Step::Sync => Some(Step::Sync),
        Step::Access(position) => is_kept(*position).then(|| step.clone()),
        Step::Loop(id, body) => {
            let body = kept(body, is_kept);
            let is_empty = body.iter().all(|step| matches!(step, Step::Sync));
            (!is_empty).then_some(Step::Loop(*id, body))
        }
    };
    steps.iter().filter_map(kept_of).collect()
}
