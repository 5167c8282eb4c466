//! What a warp's access costs whose lanes lie in one way and whose first lane is aligned in one way.

use std::rc::Rc;

use super::counts::InstructionCounts;
use super::pipe::{Pipe, Touched};
use super::plan::AddressPattern;
use super::tags::TouchedLines;
use crate::quantity::{Cycles, PerBlock, Sectors, Times, Wavefronts};

/// Tag wavefronts and cycles, added up over warps.
#[derive(Debug, Clone, Copy, Default)]
pub struct TagPasses {
    /// Wavefronts of the tag stage.
    pub tag: Wavefronts<PerBlock>,
    /// Cycles of the pipe.
    pub cycles: Cycles<PerBlock>,
}

impl TagPasses {
    /// Adds those of warps that stand for so many each.
    #[inline]
    pub fn add(&mut self, other: &Self, each: f64) {
        self.tag += other.tag * each;
        self.cycles += other.cycles * each;
    }
}

/// The pipe, as far as the accesses of one pattern are concerned.
#[derive(Debug, Clone, Copy)]
pub struct PatternPipe<'a> {
    /// The rules.
    pub pipe: &'a Pipe,
    width: i64,
    /// Cycles that an instruction takes at least.
    floor: f64,
}

impl<'a> PatternPipe<'a> {
    /// The pipe for accesses of a pattern.
    pub fn new(pipe: &'a Pipe, pattern: AddressPattern) -> Self {
        let width = pattern.width;
        let floor = if pattern.shared { pipe.shared_floor(width) } else { pipe.floor(width) };
        Self { pipe, width, floor }
    }

    /// All that cycles of an access depend on but for what it touches.
    pub fn key(&self) -> [u64; 2] {
        [self.floor.to_bits(), self.pipe.wavefront.to_bits()]
    }

    fn cycles(&self, [data, tag]: [u32; 2], touched: Touched) -> f64 {
        let slower = self.pipe.slower(self.pipe.wavefronts([data, tag], touched, self.width));
        if touched.lanes == 0 { slower } else { slower.max(self.floor) }
    }
}

/// A warp's access at one alignment.
#[derive(Debug, Clone)]
pub struct AccessShape {
    data: u32,
    touched: Touched,
    counts: InstructionCounts,
    /// The lines, where tags depend on them; the same for all shapes with such lines.
    lines: Rc<TouchedLines>,
    /// Cycles that it takes whatever the tags, if they are a whole number.
    least: Option<u32>,
}

impl AccessShape {
    /// An access with so many wavefronts of the data stage, and of the tag stage unless they depend on the very lines.
    /// What it touches has so many runs of adjacent sectors.
    pub(super) fn new(
        (data, tag): (u32, Option<u32>),
        touched: Touched,
        runs: u32,
        lines: Rc<TouchedLines>,
        pipe: PatternPipe,
    ) -> Self {
        let times = |n: u32| Times::new(f64::from(n));
        let cycles = |tag: u32| pipe.cycles([data, tag], touched);
        let counts = InstructionCounts {
            issues: times(u32::from(touched.lanes > 0)),
            lanes: times(touched.lanes),
            data: Wavefronts::new(f64::from(data)),
            sectors: Sectors::new(f64::from(touched.sectors)),
            runs: times(runs),
            lines: times(touched.lines),
            tag: Wavefronts::new(tag.map_or(0.0, f64::from)),
            cycles: Cycles::new(tag.map_or(0.0, cycles)),
        };
        Self { data, touched, counts, lines, least: whole(cycles(0)) }
    }

    /// What one warp does, without tags and cycles where they depend on the very lines.
    pub fn counts(&self) -> &InstructionCounts {
        &self.counts
    }

    /// Tags and cycles of warps whose first lanes begin in lines `from + l` for each `l` of `lines`, where they depend
    /// on that.
    #[inline]
    pub fn passes(&self, from: u32, lines: &[u32], pipe: PatternPipe) -> TagPasses {
        let (tag, cycles) = match self.least {
            Some(least) => {
                let sum = self.lines.sum(from, lines, least);
                (sum.all as f64, sum.cycles as f64)
            }
            None => self.passes_one_by_one(from, lines, pipe),
        };
        TagPasses { tag: Wavefronts::new(tag), cycles: Cycles::new(cycles) }
    }

    /// The lower bits of `from` that decide about [`passes`](Self::passes).
    pub fn deciding(&self, from: u32, lines: &[u32]) -> u32 {
        self.lines.deciding(from, lines)
    }

    #[cold]
    fn passes_one_by_one(&self, from: u32, lines: &[u32], pipe: PatternPipe) -> (f64, f64) {
        let tags = lines.iter().map(|line| self.lines.tags(line.wrapping_add(from)));
        tags.fold((0.0, 0.0), |(all, cycles), tag| {
            (all + f64::from(tag), cycles + pipe.cycles([self.data, tag], self.touched))
        })
    }

    /// How many lines it touches.
    pub fn lines(&self) -> usize {
        self.touched.lines as usize
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
