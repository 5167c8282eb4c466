//! Warps whose lanes lie alike and begin at the same alignment touch memory alike: such an access has a
//! shape, made once. Only the sets of the tag stage depend on more.

use std::rc::Rc;

use super::access_shape::{AccessShape, PatternPipe, TagPasses};
use super::lanes::MOST_LANES;
use super::layouts::{Layout, index};
use super::pipe::{Pipe, low_half};
use super::plan::{AddressPattern, AffinePlan};
use super::starts::WarpGroups;
use crate::effort::{Spent, spend_on};
use crate::footprint::{quotient, remainder};

/// The shapes of a pattern by class of warps and alignment, made when first needed.
pub struct AccessShapes<'a> {
    /// The pipe.
    pub pipe: PatternPipe<'a>,
    /// The pattern.
    pub pattern: AddressPattern,
    /// Alignments repeat after so many bytes.
    pub period: i64,
    classes: Vec<Rc<Layout>>,
    /// Alignments of a class: one for each byte of a period.
    alignments: usize,
    /// Number of the shape by class and alignment; `NONE` where there is none yet.
    numbers: Vec<u32>,
    made: Vec<AccessShape>,
    /// Room for the lines of one.
    lines: Vec<u32>,
}

const NONE: u32 = u32::MAX;
/// Shapes that there mostly are at most.
const MOST_MADE: usize = 64;
/// Steps for making a shape: for each lane some.
const STEPS_OF_SHAPE: u64 = 300;

impl<'a> AccessShapes<'a> {
    /// No shapes yet.
    pub fn new(plan: &AffinePlan, pattern: AddressPattern, pipe: &'a Pipe) -> Result<Self, Spent> {
        // Lanes of each class, and a number for each alignment.
        let of_class = STEPS_OF_SHAPE + index(-1, plan.period) as u64;
        spend_on(plan.classes.len(), of_class)?;
        let pipe = PatternPipe::new(pipe, pattern);
        let of_class = |class| Layout::of_class(class, pattern, plan.period, pipe);
        let classes: Vec<Rc<Layout>> = plan.classes.iter().map(of_class).collect();
        let alignments = index(-1, plan.period).saturating_add(1);
        let numbers = vec![NONE; classes.len() * alignments];
        Ok(Self {
            pipe,
            pattern,
            period: plan.period,
            classes,
            alignments,
            numbers,
            made: Vec::with_capacity(MOST_MADE),
            lines: Vec::with_capacity(2 * MOST_LANES),
        })
    }

    /// Most bytes between the first and the last that one warp touches.
    pub fn span(&self) -> i64 {
        self.classes.iter().map(|c| c.span()).max().unwrap_or(0)
    }

    /// The shape of an access whose first lane begins at `address`.
    #[inline]
    pub fn at(&mut self, class: usize, address: i64) -> Result<&AccessShape, Spent> {
        let place = class * self.alignments + index(address, self.period);
        if self.numbers[place] == NONE {
            self.make(class, address, place)?;
        }
        Ok(&self.made[self.numbers[place] as usize])
    }

    /// The same where it is not known yet.
    #[cold]
    fn make(&mut self, class: usize, address: i64, place: usize) -> Result<(), Spent> {
        spend_on(1, STEPS_OF_SHAPE)?;
        let first = remainder(address, self.period);
        self.numbers[place] = u32::try_from(self.made.len()).expect("there are fewer alignments than that");
        let layout = &self.classes[class];
        self.made.push(layout.shape(first, self.pattern, self.period, self.pipe, &mut self.lines));
        Ok(())
    }

    /// Tags and cycles of all warps that are looked at, for an access at `address`, where they depend on the very lines.
    /// The shapes of all groups were asked for before.
    pub fn passes(&self, groups: &WarpGroups, address: i64) -> TagPasses {
        let mut passes = TagPasses::default();
        self.each_group(groups, address, |shape, from, lines, each| {
            passes.add(&shape.passes(from, lines, self.pipe), each);
        });
        passes
    }

    /// The bits of the line of an access that decide about [`passes`](Self::passes).
    pub fn deciding(&self, groups: &WarpGroups, address: i64) -> u32 {
        let mut bits = 0;
        self.each_group(groups, address, |shape, from, lines, _| bits |= shape.deciding(from, lines));
        bits
    }

    /// The shape of each group, in which line its alignment is for an access at `address`, its lines relative to that, and
    /// for how many warps each of them stands.
    #[inline]
    fn each_group(
        &self,
        groups: &WarpGroups,
        address: i64,
        mut then: impl FnMut(&AccessShape, u32, &[u32], f64),
    ) {
        let line = self.pipe.pipe.line;
        for group in &groups.all {
            let lines = groups.lines(group);
            if lines.is_empty() {
                continue;
            }
            let address = group.alignment.wrapping_add(address);
            let number = self.numbers[group.class * self.alignments + index(address, self.period)];
            let shape = &self.made[number as usize];
            then(shape, low_half(quotient(address, line)), lines, group.each);
        }
    }

    /// Whether tags and cycles depend on the very lines and not on the shape alone.
    pub fn by_set(&self) -> bool {
        !self.pattern.shared && self.pipe.pipe.tags_by_set(self.pattern.width)
    }

    /// What is known of a class of warps.
    pub fn layout(&self, class: usize) -> &Layout {
        &self.classes[class]
    }
}
