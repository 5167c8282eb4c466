//! The parts of a program in the order in which they are done: stretches without loop or barrier, and
//! loops. What is touched in one part and again in another lies as far apart as they do.

use std::ops::Range;

use super::program::{Instruction, Program, Step};
use crate::expr::Coefficient;
use crate::kernel::Kernel;

/// A part of a program. Instructions are numbered in program order, so that each part has a range of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Instructions that follow each other without a loop or a barrier of the block between them.
    Stretch(Range<usize>),
    /// A loop, with the parts of its body.
    Loop(Range<usize>, Vec<Part>),
}

impl Part {
    /// The positions of its instructions.
    pub fn instructions(&self) -> Range<usize> {
        match self {
            Part::Stretch(range) | Part::Loop(range, _) => range.clone(),
        }
    }
}

impl<C: Coefficient> Program<C> {
    /// The parts of the program that touch global memory. What else it does makes no parts of its own, but
    /// loops and barriers part all the same.
    pub fn parts(&self, kernel: &Kernel) -> Vec<Part> {
        let is_global = |i: &Instruction<C>| kernel.field(i.field).space.in_memory();
        parts_of(&self.steps, &|position| is_global(&self.instructions[position]))
    }
}

fn parts_of(steps: &[Step], touches: &dyn Fn(usize) -> bool) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut apart = true;
    for step in steps {
        match step {
            Step::Sync => apart = true,
            Step::Access(position) if !touches(*position) => {}
            Step::Access(position) => match parts.last_mut() {
                Some(Part::Stretch(range)) if !apart => range.end = position + 1,
                _ => {
                    parts.push(Part::Stretch(*position..position + 1));
                    apart = false;
                }
            },
            Step::Loop(_, body) => {
                let inner = parts_of(body, touches);
                let ends = inner.first().zip(inner.last());
                if let Some((first, last)) = ends {
                    let range = first.instructions().start..last.instructions().end;
                    parts.push(Part::Loop(range, inner));
                }
                apart = true;
            }
        }
    }
    parts
}

/// For each of `number` instructions the stretch in which it stands, numbered in program order.
pub fn stretches(parts: &[Part], number: usize) -> Vec<u32> {
    fn walk(parts: &[Part], next: &mut u32, out: &mut [u32]) {
        for part in parts {
            match part {
                Part::Stretch(range) => {
                    for position in range.clone() {
                        out[position] = *next;
                    }
                    *next += 1;
                }
                Part::Loop(_, inner) => walk(inner, next, out),
            }
        }
    }
    let mut out = vec![0; number];
    walk(parts, &mut 0, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::LoopId;

    fn steps() -> Vec<Step> {
        let inner = vec![Step::Access(2), Step::Sync, Step::Access(3)];
        vec![
            Step::Access(0),
            Step::Access(1),
            Step::Loop(LoopId(0), inner),
            Step::Access(4),
            Step::Sync,
            Step::Access(5),
        ]
    }

    #[test]
    fn barriers_and_loops_part_what_touches_memory() {
        let all = parts_of(&steps(), &|_| true);
        let inner = vec![Part::Stretch(2..3), Part::Stretch(3..4)];
        let expected =
            vec![Part::Stretch(0..2), Part::Loop(2..4, inner), Part::Stretch(4..5), Part::Stretch(5..6)];
        assert_eq!(all, expected);
        assert_eq!(stretches(&all, 6), [0, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn what_touches_nothing_parts_nothing() {
        let some = parts_of(&steps(), &|position| matches!(position, 0 | 5));
        assert_eq!(some, [Part::Stretch(0..1), Part::Stretch(5..6)]);
        assert!(parts_of(&steps(), &|_| false).is_empty());
    }
}
