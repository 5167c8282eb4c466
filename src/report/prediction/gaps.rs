//! What is missing in a prediction, in words: what it is, in which direction the prediction errs, what helps.

use crate::predict::{Estimator, Gap, Summary, gaps};
use crate::report::check::Warning;
use crate::report::units::{bytes, significant};

/// A warning for each gap of a launch.
pub(super) fn missing(estimator: &Estimator<'_>, p: &Summary) -> impl Iterator<Item = Warning> {
    gaps(estimator, p).into_iter().map(|gap| {
        let (message, place) = told(&gap);
        Warning { code: gap.code(), message, place: Some(place.to_owned()) }
    })
}

fn told(gap: &Gap) -> (String, &'static str) {
    match *gap {
        Gap::Spills { registers, block } => {
            let of = match block {
                Some(threads) => format!("that a block of {threads} threads can have"),
                None => "on this device".to_owned(),
            };
            let message = format!(
                "a thread has {registers} registers, the most {of}: others may be in local memory, whose traffic is \
                 not modelled, so that this is too fast if they are; see what the compiler says of spills (ptxas -v), \
                 and take smaller tiles or folds"
            );
            (message, "launch.registers")
        }
        Gap::LocalMemory { accesses } => {
            let message = format!(
                "{} loads and stores of local memory for each work item are counted as instructions alone, without \
                 what they move in L1, L2 and memory: this is too fast; unroll loops over small arrays whole, or spill \
                 less",
                significant(accesses.get())
            );
            (message, "work.instructions.local")
        }
        Gap::InstructionCache { instructions, bytes: size, capacity, modelled } => {
            #[expect(clippy::cast_possible_truncation, reason = "whole KiB")]
            let size = ((size / 1024.0).ceil() as i64).saturating_mul(1024);
            let known = if modelled {
                "fetching them is in the time as if it had so many; say work.code_length if you know how many there \
                 are (its machine code over 16 bytes)"
            } else {
                "what fetching them takes is not known for this device (sm.instruction_fetch), so that the time is too \
                 low where it decides"
            };
            let message = format!(
                "the code of a thread has about {} instructions, {}, and an SM keeps {} near: {known}; write out less \
                 (smaller tiles or folds, loops that stay loops)",
                significant(instructions.get().round()),
                bytes(size),
                bytes(capacity.cast_signed())
            );
            (message, "volumes.l2")
        }
        Gap::Unrolled { accesses } => {
            let message = format!(
                "the code of a thread has {} accesses written out, and what compilers for AMD make of so many is not \
                 modelled (spills, loads of instructions): this is too fast, 6 to 38 times at the median of a \
                 convolution on a W6600; write out less (smaller tiles or folds, loops that stay loops)",
                significant(accesses.get().round())
            );
            (message, "time_s")
        }
        Gap::TensorUnit { products } => {
            let message = format!(
                "{} products of small matrices for each work item are issued, but how long the tensor units take for \
                 them is not modelled: this is too fast where they decide; compare with their peak rate",
                significant(products.get())
            );
            (message, "work.instructions.tensor")
        }
    }
}
