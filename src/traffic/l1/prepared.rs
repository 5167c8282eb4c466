//! Forms and conditions of a program, prepared for being evaluated in many warps and iterations.
//!
//! Where a form is affine, it is the sum of what threads, blocks and the numbers of iterations contribute. Only the
//! first differs between lanes, and it is the same in all blocks: it is found once for each warp of a block.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::expr::{Clamped, Cond, Coord, Form, Term};
use crate::kernel::FieldId;
use crate::launch::Program;
use crate::space::Strides;

/// A form that is a constant and multiples of places of threads and blocks and of numbers of iterations, and what it gains
/// from threads in another way.
#[derive(Debug, Clone)]
pub(super) struct Affine {
    /// The number of what it gains from threads, which other forms may gain, too.
    pub(super) number: usize,
    pub(super) constant: i64,
    pub(super) thread: Strides,
    /// Quotients and the like in which nothing but threads occurs.
    pub(super) of_threads: Form<i64>,
    pub(super) block: Strides,
    /// Loops, and what the form gains from iteration to iteration.
    pub(super) loops: Vec<(usize, i64)>,
}

/// A form of a program.
#[derive(Debug)]
pub(super) struct PreparedForm<'a> {
    pub(super) form: &'a Form<i64>,
    /// As [`Form::size`].
    pub(super) size: usize,
    /// `None` where it is not affine.
    pub(super) affine: Option<Affine>,
    /// What it is without bounds, where it is affine then.
    pub(super) free: Option<Box<Free>>,
}

/// What a form with bounds is where none of them matters: `min(max(x - 1, 0), N - 1)` is `x - 1`.
#[derive(Debug)]
pub(super) struct Free {
    pub(super) affine: Affine,
    /// What must not be less or more than something.
    pub(super) bounded: Vec<(Affine, [i64; 2])>,
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

impl PreparedCond<'_> {
    /// Notes how those of its parts are decided that follow from the block, for coordinates within bounds; `None` where one
    /// is not the same for all.
    pub(super) fn decide(
        &self,
        within: &dyn Fn(Coord) -> Option<(i64, i64)>,
        note: &mut dyn FnMut(bool),
    ) -> Option<()> {
        self.parts.decide(within, note)
    }

    /// The loops that it follows from.
    pub(super) fn loops(&self) -> Vec<usize> {
        let found = RefCell::new(BTreeSet::new());
        // Nothing is what is looked for, so that all are looked at.
        self.mentions(&|coord| {
            if let Coord::Loop(id) = coord {
                found.borrow_mut().insert(usize::from(id.0));
            }
            false
        });
        found.into_inner().into_iter().collect()
    }

    /// Whether it mentions a coordinate of a kind.
    pub(super) fn mentions(&self, test: &dyn Fn(Coord) -> bool) -> bool {
        self.parts.mentions(test)
    }
}

impl CondParts<'_> {
    /// Notes how its parts are decided that follow from the block, for coordinates within bounds; `None` where one of them
    /// is not the same for all.
    fn decide(&self, within: &dyn Fn(Coord) -> Option<(i64, i64)>, note: &mut dyn FnMut(bool)) -> Option<()> {
        let mut leaf = |form: &PreparedForm, decided: &dyn Fn((i64, i64)) -> Option<bool>| {
            if form.form.mentions(&|c| matches!(c, Coord::BlockIdx(_))) {
                note(decided(form.form.interval(within)?)?);
            }
            Some(())
        };
        match self {
            Self::Const(_) => Some(()),
            Self::NonNegative(form) => leaf(form, &|(low, high)| {
                if low >= 0 { Some(true) } else { (high < 0).then_some(false) }
            }),
            Self::Zero(form) => leaf(form, &|(low, high)| {
                if (low, high) == (0, 0) { Some(true) } else { (low > 0 || high < 0).then_some(false) }
            }),
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().try_for_each(|part| part.decide(within, note))
            }
        }
    }

    fn mentions(&self, test: &dyn Fn(Coord) -> bool) -> bool {
        match self {
            Self::Const(_) => false,
            Self::NonNegative(form) | Self::Zero(form) => form.form.mentions(test),
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.mentions(test)),
        }
    }
}

/// The forms and conditions of a program.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    /// Guards of the work items.
    pub(super) guards: Vec<Option<PreparedCond<'a>>>,
    /// Conditions of instructions.
    pub(super) conditions: Vec<PreparedCond<'a>>,
    /// The condition, by its number, and the element of each instruction.
    pub(super) accesses: Vec<(Option<usize>, PreparedForm<'a>)>,
    /// First and last values of the loops.
    pub(super) loops: Vec<[PreparedForm<'a>; 2]>,
    /// Whether conditions, or first and last values of other loops, follow from each loop.
    pub(super) decides: Vec<bool>,
    /// How many different things forms gain from threads.
    pub(super) gains: usize,
    /// Whether everything needs a work item inside the domain: then guards have no meaning outside.
    pub(super) only_inside: bool,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(program: &'a Program<i64>) -> Self {
        let variables = vec![None; program.loops.len()];
        let mut preparing = Preparing { variables, known: FxHashMap::default(), gains: 0 };
        // Loops come in the order of the document: those around one before it.
        let mut loops = Vec::with_capacity(program.loops.len());
        for (number, range) in program.loops.iter().enumerate() {
            let ends = [&range.from, &range.to].map(|form| preparing.form(form, None));
            preparing.variables[number] = ends[0].affine.clone().map(|mut first| {
                first.loops.push((number, range.step));
                first
            });
            loops.push(ends);
        }
        let guards = program.items.iter().map(|i| i.guard.as_ref().map(|c| preparing.cond(c))).collect();
        let mut conditions: Vec<PreparedCond> = Vec::new();
        let mut accesses = Vec::with_capacity(program.instructions.len());
        let mut known: FxHashMap<&Cond<i64>, usize> = FxHashMap::default();
        let mut before = (None, None);
        for instruction in &program.instructions {
            let when = instruction.when.as_ref();
            if when != before.0 {
                let number = |when| {
                    *known.entry(when).or_insert_with(|| {
                        conditions.push(preparing.cond(when));
                        conditions.len() - 1
                    })
                };
                before = (when, when.map(number));
            }
            let element = preparing.form(&instruction.element, Some((instruction.field, instruction.width)));
            accesses.push((before.1, element));
        }
        let only_inside = program.instructions.iter().all(|i| i.clipped);
        let (decides, gains) = (decides(program), preparing.gains);
        Self { guards, conditions, accesses, loops, decides, gains, only_inside }
    }
}

/// Whether conditions, or first and last values of other loops, follow from each loop.
fn decides(program: &Program<i64>) -> Vec<bool> {
    let decides = vec![Cell::new(false); program.loops.len()];
    // Nothing is what is looked for, so that all are looked at.
    let note = |coord: Coord| {
        if let Coord::Loop(id) = coord {
            decides[usize::from(id.0)].set(true);
        }
        false
    };
    let mut before = None;
    for when in program.instructions.iter().filter_map(|i| i.when.as_ref()) {
        if before != Some(when) {
            when.mentions(&note);
            before = Some(when);
        }
    }
    for range in &program.loops {
        range.from.mentions(&note);
        range.to.mentions(&note);
    }
    decides.into_iter().map(Cell::into_inner).collect()
}

/// What a form gains from threads, and for what access, if for one.
type Gain = (Strides, Form<i64>, Access);

/// The field and the width of an access.
type Access = Option<(FieldId, i64)>;

struct Preparing {
    /// The variables of loops.
    variables: Vec<Option<Affine>>,
    known: FxHashMap<Gain, usize>,
    gains: usize,
}

impl Preparing {
    fn form<'a>(&mut self, form: &'a Form<i64>, access: Access) -> PreparedForm<'a> {
        let affine = self.affine(form).map(|affine| self.numbered(affine, access));
        let free = if affine.is_none() { self.free(form, access).map(Box::new) } else { None };
        PreparedForm { form, size: form.size(), affine, free }
    }

    fn numbered(&mut self, mut affine: Affine, access: Access) -> Affine {
        let gains = &mut self.gains;
        let gain = (affine.thread, affine.of_threads.clone(), access);
        affine.number = *self.known.entry(gain).or_insert_with(|| {
            *gains += 1;
            *gains - 1
        });
        affine
    }

    fn free(&mut self, form: &Form<i64>, access: Access) -> Option<Free> {
        let mut all = Form::int(*form.constant());
        let mut bounded = Vec::new();
        for (term, factor) in form.terms() {
            let alone = match Clamped::of_term(term) {
                Some(Clamped { sum, low, high }) => {
                    let affine = self.affine(&sum)?;
                    bounded.push((self.numbered(affine, None), [low, high]));
                    sum
                }
                None => Form::term(term.clone()),
            };
            all = all.plus(&alone.times(factor).ok()?).ok()?;
        }
        let affine = self.affine(&all)?;
        Some(Free { affine: self.numbered(affine, access), bounded })
    }

    fn affine(&self, form: &Form<i64>) -> Option<Affine> {
        let mut sum = Affine {
            number: 0,
            constant: *form.constant(),
            thread: Strides::ZERO,
            of_threads: Form::int(0),
            block: Strides::ZERO,
            loops: Vec::new(),
        };
        for (term, factor) in form.terms() {
            let coord = match term {
                Term::Coord(coord) => coord,
                term if is_of_threads(term) => {
                    let alone = Form::term(term.clone()).times(factor).ok()?;
                    sum.of_threads = sum.of_threads.plus(&alone).ok()?;
                    continue;
                }
                _ => return None,
            };
            match coord {
                Coord::ThreadIdx(d) => add(&mut sum.thread[d.index()], *factor, 1)?,
                Coord::BlockIdx(d) => add(&mut sum.block[d.index()], *factor, 1)?,
                Coord::Loop(id) => {
                    let variable = self.variables.get(usize::from(id.0))?.as_ref()?;
                    add(&mut sum.constant, variable.constant, *factor)?;
                    if !variable.of_threads.terms().is_empty() {
                        let times = variable.of_threads.times(factor).ok()?;
                        sum.of_threads = sum.of_threads.plus(&times).ok()?;
                    }
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
            Cond::NonNegative(form) => CondParts::NonNegative(self.form(form, None)),
            Cond::Zero(form) => CondParts::Zero(self.form(form, None)),
            Cond::All(all) => CondParts::All(all.iter().map(|c| self.parts(c)).collect()),
            Cond::Any(any) => CondParts::Any(any.iter().map(|c| self.parts(c)).collect()),
        }
    }
}

/// Whether a term follows from threads alone, and has a value wherever they are.
fn is_of_threads(term: &Term<i64>) -> bool {
    let all = |forms: &[&Form<i64>]| {
        let of_threads =
            |term: &Term<i64>| matches!(term, Term::Coord(Coord::ThreadIdx(_))) || is_of_threads(term);
        forms.iter().all(|form| form.terms().iter().all(|(term, _)| of_threads(term)))
    };
    match term {
        Term::Floor(inner, _) => all(&[inner]),
        Term::Min(a, b) | Term::Max(a, b) => all(&[a, b]),
        Term::Coord(_) | Term::Lookup(..) => false,
    }
}

/// Adds a multiple; `None` if that leaves 64 bits.
fn add(sum: &mut i64, value: i64, factor: i64) -> Option<()> {
    *sum = sum.checked_add(value.checked_mul(factor)?)?;
    Some(())
}
