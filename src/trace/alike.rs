//! Blocks whose threads do the same at other addresses.

use super::model::Dim3;
use crate::expr::{Coord, Form, Term};
use crate::kernel::Kernel;
use crate::launch::Program;
use crate::space::Domain;

/// How the threads of a block depend on which block it is: by where its work items end, and by bytes that all of their
/// addresses move by.
#[derive(Debug)]
pub(super) struct Alike {
    /// Bytes from a block to the next along each axis.
    steps: [i64; 3],
    /// Work items of a block along each axis.
    items: [i64; 3],
    extents: Domain,
}

/// Blocks of one kind do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    /// Work items along each axis that lie in the domain; those of whole blocks for all that are whole.
    left: [i64; 3],
    /// Where they lie in a line.
    within: i64,
}

impl Alike {
    /// `None` where threads depend on their block in another way.
    pub(super) fn new(
        kernel: &Kernel,
        program: &Program<i64>,
        block: Dim3,
        in_memory: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let of_block = |c: Coord| matches!(c, Coord::BlockIdx(_));
        let guarded = program.items.iter().any(|i| i.guard.as_ref().is_some_and(|g| g.mentions(&of_block)));
        let bounded = program.loops.iter().any(|l| l.from.mentions(&of_block) || l.to.mentions(&of_block));
        let chosen =
            program.instructions.iter().any(|i| i.when.as_ref().is_some_and(|w| w.mentions(&of_block)));
        if guarded || bounded || chosen {
            return None;
        }
        let mut steps = None;
        for instruction in &program.instructions {
            let field = usize::from(instruction.field.0);
            if !in_memory(field) {
                continue;
            }
            let bytes = kernel.fields.get(field)?.dtype.bytes;
            let own = block_steps(&instruction.element, bytes)?;
            if *steps.get_or_insert(own) != own {
                return None;
            }
        }
        let items = [0, 1, 2].map(|d| i64::from(block.0[d]).checked_mul(program.fold[d]));
        let [Some(x), Some(y), Some(z)] = items else { return None };
        Some(Self { steps: steps.unwrap_or([0; 3]), items: [x, y, z], extents: kernel.extents() })
    }

    /// The kind of a block, and by how many bytes its addresses are larger than those of the first block.
    pub(super) fn kind_of(&self, place: Dim3, line: i64) -> Option<(Kind, i64)> {
        let (mut left, mut bytes) = ([0; 3], 0_i64);
        for (d, left) in left.iter_mut().enumerate() {
            let at = i64::from(place.0[d]);
            let before = at.checked_mul(self.items[d])?;
            *left = self.extents[d].checked_sub(before)?.clamp(0, self.items[d]);
            bytes = bytes.checked_add(at.checked_mul(self.steps[d])?)?;
        }
        Some((Kind { left, within: bytes.rem_euclid(line) }, bytes))
    }
}

/// Bytes by which an element moves from a block to the next along each axis; `None` if it does so otherwise.
fn block_steps(element: &Form<i64>, bytes: i64) -> Option<[i64; 3]> {
    let mut steps = [0; 3];
    for (term, factor) in element.terms() {
        match term {
            Term::Coord(Coord::BlockIdx(d)) => {
                steps[d.index()] = factor.checked_mul(bytes)?;
            }
            other if other.mentions(&|c| matches!(c, Coord::BlockIdx(_))) => return None,
            _ => {}
        }
    }
    Some(steps)
}
