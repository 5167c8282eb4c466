//! Warps whose lanes lie alike and begin at the same alignment touch memory alike: such an access has a
//! shape, made once. Only the sets of the tag stage depend on more.

use std::rc::Rc;

use super::counts::InstructionCounts;
use super::layouts::{AccessShape, Layout, index};
use super::pipe::{Pipe, Touched};
use super::plan::{AddressPattern, AffinePlan};
use crate::effort::{Spent, spend_on};
use crate::footprint::remainder;
use crate::quantity::{Cycles, PerBlock, Sectors, Times, Wavefronts};

/// Tag wavefronts and cycles, added up over warps.
#[derive(Debug, Clone, Copy, Default)]
pub struct TagPasses {
    /// Wavefronts of the tag stage.
    pub tag: Wavefronts<PerBlock>,
    /// Cycles of the pipe.
    pub cycles: Cycles<PerBlock>,
}

impl AccessShape {
    /// What one warp does, without tags and cycles where they depend on more than the shape.
    fn counts(&self, pipe: &Pipe, width: i64, floor: f64) -> InstructionCounts {
        let (tag, cycles) =
            self.tag.map_or((0.0, 0.0), |tag| (f64::from(tag), self.cycles(pipe, tag, width, floor)));
        let times = |n: u32| Times::new(f64::from(n));
        InstructionCounts {
            issues: Times::new(self.issues),
            lanes: times(self.active),
            data: Wavefronts::new(f64::from(self.data)),
            sectors: Sectors::new(f64::from(self.sectors)),
            runs: times(self.runs),
            lines: times(self.lines),
            tag: Wavefronts::new(tag),
            cycles: Cycles::new(cycles),
        }
    }

    /// Cycles with so many tag wavefronts.
    fn cycles(&self, pipe: &Pipe, tag: u32, width: i64, floor: f64) -> f64 {
        let touched = Touched { lanes: self.active, sectors: self.sectors, lines: self.lines };
        let slower = pipe.slower(pipe.wavefronts([self.data, tag], touched, width));
        if self.issues == 0.0 { slower } else { slower.max(floor) }
    }
}

/// The shapes of a pattern by class of warps and alignment, made when first needed.
pub struct AccessShapes<'a> {
    /// The rules.
    pub pipe: &'a Pipe,
    /// The pattern.
    pub pattern: AddressPattern,
    /// Alignments repeat after so many bytes.
    pub period: i64,
    classes: Vec<Rc<Layout>>,
    /// Alignments of a class: one for each byte of a period.
    alignments: usize,
    /// Number of the shape by class and alignment; `NONE` where there is none yet.
    numbers: Vec<u32>,
    made: Vec<Made>,
    /// Cycles that an instruction takes at least.
    floor: f64,
}

/// A shape, and what this plan asks of it.
struct Made {
    shape: Rc<AccessShape>,
    /// What one warp of it does, without tags and cycles where they depend on more than the shape.
    counts: InstructionCounts,
    /// Cycles that it takes whatever the tags, if they are a whole number.
    least: Option<u32>,
}

const NONE: u32 = u32::MAX;
/// Shapes that there mostly are at most.
const MOST_MADE: usize = 16;
/// Steps for making a shape: for each lane some.
const STEPS_OF_SHAPE: u64 = 300;

impl<'a> AccessShapes<'a> {
    /// No shapes yet.
    pub fn new(plan: &AffinePlan, pattern: AddressPattern, pipe: &'a Pipe) -> Result<Self, Spent> {
        // Lanes of each class, and a number for each alignment.
        let of_class = STEPS_OF_SHAPE + index(-1, plan.period) as u64;
        spend_on(plan.classes.len(), of_class)?;
        let of_class = |class| Layout::of_class(class, pattern, plan.period, pipe);
        let classes: Vec<Rc<Layout>> = plan.classes.iter().map(of_class).collect();
        let alignments = index(-1, plan.period).saturating_add(1);
        let numbers = vec![NONE; classes.len() * alignments];
        let width = pattern.width;
        let floor = if pattern.shared { pipe.shared_floor(width) } else { pipe.floor(width) };
        Ok(Self {
            pipe,
            pattern,
            period: plan.period,
            classes,
            alignments,
            numbers,
            made: Vec::with_capacity(MOST_MADE),
            floor,
        })
    }

    /// Most bytes between the first and the last that one warp touches.
    pub fn span(&self) -> i64 {
        self.classes.iter().map(|c| c.span()).max().unwrap_or(0)
    }

    /// The number of the shape of an access whose first lane begins at `address`.
    #[inline]
    pub fn at(&mut self, class: usize, address: i64) -> Result<usize, Spent> {
        let known = self.numbers[class * self.alignments + index(address, self.period)];
        if known == NONE { self.make(class, address) } else { Ok(known as usize) }
    }

    /// The same where there is none yet.
    #[cold]
    fn make(&mut self, class: usize, address: i64) -> Result<usize, Spent> {
        spend_on(1, STEPS_OF_SHAPE)?;
        let first = remainder(address, self.period);
        let number = self.made.len();
        let shape = self.classes[class].shape(first, self.pattern, self.period, self.pipe);
        let least = whole(shape.cycles(self.pipe, 0, self.pattern.width, self.floor));
        let counts = shape.counts(self.pipe, self.pattern.width, self.floor);
        self.made.push(Made { shape, counts, least });
        self.numbers[class * self.alignments + index(address, self.period)] =
            u32::try_from(number).expect("there are fewer alignments than that");
        Ok(number)
    }

    /// What one warp of a shape does, without tags and cycles if they are [`by_set`](Self::by_set).
    pub fn counts(&self, number: usize) -> &InstructionCounts {
        &self.made[number].counts
    }

    /// How many lines a shape has.
    pub fn lines(&self, number: usize) -> usize {
        self.made[number].shape.lines as usize
    }

    /// Whether tags and cycles depend on the very lines and not on the shape alone.
    pub fn by_set(&self) -> bool {
        !self.pattern.shared && self.pipe.tags_by_set(self.pattern.width)
    }

    /// What is known of a class of warps.
    pub fn layout(&self, class: usize) -> &Layout {
        &self.classes[class]
    }

    /// Tags and cycles of warps with this shape whose first lanes begin in lines `from + l` for each `l`
    /// of `lines`, where they are [`by_set`](Self::by_set).
    pub fn passes(&self, number: usize, from: u32, lines: &[u32]) -> TagPasses {
        let Made { shape, least, .. } = &self.made[number];
        let mut touched = shape.touched.borrow_mut();
        if let Some(least) = *least {
            let sum = touched.sum(from, lines, least);
            let cycles = sum.beyond + u64::from(least) * lines.len() as u64;
            return TagPasses { tag: Wavefronts::new(sum.all as f64), cycles: Cycles::new(cycles as f64) };
        }
        let mut sum = TagPasses::default();
        for tag in touched.each(from, lines) {
            sum.tag += Wavefronts::new(f64::from(tag));
            sum.cycles += Cycles::new(shape.cycles(self.pipe, tag, self.pattern.width, self.floor));
        }
        sum
    }
}

/// A number of cycles, if it is a whole one.
fn whole(cycles: f64) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is compared with what it was"
    )]
    let rounded = cycles as u32;
    (f64::from(rounded).to_bits() == cycles.to_bits()).then_some(rounded)
}
