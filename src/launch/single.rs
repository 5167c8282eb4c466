//! Single instructions of a program: how they were written, and the program without them.

use super::program::{Instruction, Program};
use crate::expr::{Cond, Coord, Excess, Form, Scale};

impl Instruction<i64> {
    /// The indices of array form in terms of the first work item of the thread; `None` if it was
    /// written in pointer form.
    pub fn as_written(&self) -> Option<Result<Vec<Form<Scale>>, Excess>> {
        let place = |form: &Form<Scale>| {
            form.substitute(&|c| match c {
                Coord::Axis(d) => Form::coord(c).plus(&Form::int(self.offset[d.index()])).ok(),
                _ => None,
            })
        };
        self.written.as_ref().map(|indices| indices.iter().map(place).collect())
    }
}

impl Program<i64> {
    /// The same program, but the instruction at this position is never done.
    #[must_use]
    pub fn without(&self, position: usize) -> Self {
        let mut program = self.clone();
        if let Some(instruction) = program.instructions.get_mut(position) {
            instruction.when = Some(Cond::Const(false));
        }
        program
    }
}
