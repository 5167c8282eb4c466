//! Forms and conditions of a program, prepared for being evaluated in many warps and iterations.
//!
//! Where a form is affine, it is the sum of what threads, blocks and the numbers of iterations contribute. Only the
//! first differs between lanes, and it is the same in all blocks: it is found once for each warp of a block.

use crate::expr::{Cond, Coord, Form, Term};
use crate::launch::{Instruction, Program};
use crate::space::Strides;

/// A form that is a constant and multiples of places of threads and blocks and of numbers of iterations.
#[derive(Debug, Clone)]
pub(super) struct Affine {
    pub(super) constant: i64,
    pub(super) thread: Strides,
    pub(super) block: Strides,
    /// Loops, and what the form gains from iteration to iteration.
    pub(super) loops: Vec<(usize, i64)>,
}

/// A form of a program.
#[derive(Debug)]
pub(super) struct PreparedForm<'a> {
    pub(super) form: &'a Form<i64>,
    /// Its number among those of the program.
    pub(super) number: usize,
    /// As [`Form::size`].
    pub(super) size: usize,
    /// `None` where it is not affine.
    pub(super) affine: Option<Affine>,
}

/// A condition of a program.
#[derive(Debug)]
pub(super) struct PreparedCond<'a> {
    /// As [`Cond::size`].
    pub(super) size: usize,
    pub(super) parts: CondParts<'a>,
}

/// What a condition consists of.
#[derive(Debug)]
pub(super) enum CondParts<'a> {
    Const(bool),
    NonNegative(PreparedForm<'a>),
    Zero(PreparedForm<'a>),
    All(Vec<CondParts<'a>>),
    Any(Vec<CondParts<'a>>),
}

/// The forms and conditions of a program.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    /// Guards of the work items.
    pub(super) guards: Vec<Option<PreparedCond<'a>>>,
    /// Conditions and elements of the instructions.
    pub(super) accesses: Vec<(Option<PreparedCond<'a>>, PreparedForm<'a>)>,
    /// First and last values of the loops.
    pub(super) loops: Vec<[PreparedForm<'a>; 2]>,
    /// How many forms there are.
    pub(super) forms: usize,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(program: &'a Program<i64>) -> Self {
        let mut preparing = Preparing { variables: vec![None; program.loops.len()], forms: 0 };
        // Loops come in the order of the document: those around one before it.
        let mut loops = Vec::with_capacity(program.loops.len());
        for (number, range) in program.loops.iter().enumerate() {
            let ends = [&range.from, &range.to].map(|form| preparing.form(form));
            preparing.variables[number] = ends[0].affine.clone().map(|mut first| {
                first.loops.push((number, range.step));
                first
            });
            loops.push(ends);
        }
        let guards = program.items.iter().map(|i| i.guard.as_ref().map(|c| preparing.cond(c))).collect();
        let one = |i: &'a Instruction<i64>| {
            (i.when.as_ref().map(|c| preparing.cond(c)), preparing.form(&i.element))
        };
        let accesses = program.instructions.iter().map(one).collect();
        Self { guards, accesses, loops, forms: preparing.forms }
    }
}

struct Preparing {
    /// The variables of loops.
    variables: Vec<Option<Affine>>,
    forms: usize,
}

impl Preparing {
    fn form<'a>(&mut self, form: &'a Form<i64>) -> PreparedForm<'a> {
        self.forms += 1;
        let affine = self.affine(form);
        PreparedForm { form, number: self.forms - 1, size: form.size(), affine }
    }

    fn affine(&self, form: &Form<i64>) -> Option<Affine> {
        let mut sum = Affine {
            constant: *form.constant(),
            thread: Strides::ZERO,
            block: Strides::ZERO,
            loops: Vec::new(),
        };
        for (term, factor) in form.terms() {
            let Term::Coord(coord) = term else { return None };
            match coord {
                Coord::ThreadIdx(d) => add(&mut sum.thread[d.index()], *factor, 1)?,
                Coord::BlockIdx(d) => add(&mut sum.block[d.index()], *factor, 1)?,
                Coord::Loop(id) => {
                    let variable = self.variables.get(usize::from(id.0))?.as_ref()?;
                    add(&mut sum.constant, variable.constant, *factor)?;
                    for d in 0..3 {
                        add(&mut sum.thread[d], variable.thread[d], *factor)?;
                        add(&mut sum.block[d], variable.block[d], *factor)?;
                    }
                    for &(number, step) in &variable.loops {
                        match sum.loops.iter_mut().find(|known| known.0 == number) {
                            Some((_, known)) => add(known, step, *factor)?,
                            None => sum.loops.push((number, step.checked_mul(*factor)?)),
                        }
                    }
                }
                Coord::Axis(_) | Coord::Thread(_) => return None,
            }
        }
        Some(sum)
    }

    fn cond<'a>(&mut self, cond: &'a Cond<i64>) -> PreparedCond<'a> {
        PreparedCond { size: cond.size(), parts: self.parts(cond) }
    }

    fn parts<'a>(&mut self, cond: &'a Cond<i64>) -> CondParts<'a> {
        match cond {
            Cond::Const(held) => CondParts::Const(*held),
            Cond::NonNegative(form) => CondParts::NonNegative(self.form(form)),
            Cond::Zero(form) => CondParts::Zero(self.form(form)),
            Cond::All(all) => CondParts::All(all.iter().map(|c| self.parts(c)).collect()),
            Cond::Any(any) => CondParts::Any(any.iter().map(|c| self.parts(c)).collect()),
        }
    }
}

/// Adds a multiple; `None` if that leaves 64 bits.
fn add(sum: &mut i64, value: i64, factor: i64) -> Option<()> {
    *sum = sum.checked_add(value.checked_mul(factor)?)?;
    Some(())
}
