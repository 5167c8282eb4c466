//! Warps whose lanes lie alike and begin at the same alignment touch memory alike: such an access has a
//! shape, made once. Only the sets of the tag stage depend on more.

use std::ops::Range;

use super::counts::InstructionCounts;
use super::lanes::Lanes;
use super::pipe::{Pipe, low_half};
use super::plan::{AddressPattern, Plan};
use super::sets::{self, LineChunks, TOGETHER};
use super::spans::{self, UnitRun};
use super::warps::WarpClass;
use crate::effort::{Spent, spend_on};
use crate::footprint::{quotient, remainder};
use crate::quantity::{Cycles, PerBlock, Sectors, Times, Wavefronts};
use crate::space::Strides;

/// A warp's access at one alignment.
#[derive(Debug, Clone, Default)]
pub struct AccessShape {
    issues: f64,
    active: u32,
    data: u32,
    /// Tag wavefronts where they depend on nothing else.
    tag: Option<u32>,
    /// Distinct sectors, runs of adjacent ones, and distinct lines.
    sectors: u32,
    runs: u32,
    lines: u32,
    /// Where the chunks of the lines stand.
    line_chunks: Range<usize>,
}

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
    fn counts(&self, pipe: &Pipe, floor: f64) -> InstructionCounts {
        let (tag, cycles) =
            self.tag.map_or((0.0, 0.0), |tag| (f64::from(tag), self.cycles(pipe, tag, floor)));
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
    fn cycles(&self, pipe: &Pipe, tag: u32, floor: f64) -> f64 {
        let slower = pipe.slower(self.data, tag);
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
    classes: Vec<OfClass>,
    /// Number of the shape by class and alignment; `NONE` where there is none yet.
    numbers: Vec<u32>,
    made: Vec<AccessShape>,
    /// Lines of shapes, relative to the one in which the first lane begins.
    lines: Vec<[u32; TOGETHER]>,
}

const NONE: u32 = u32::MAX;
/// Steps for making a shape: for each lane some.
const STEPS_OF_SHAPE: u64 = 300;

/// What all shapes of a class of warps have in common.
struct OfClass {
    /// Addresses of the lanes relative to the first lane.
    lanes: Vec<i64>,
    active: u64,
    /// Bytes of the active lanes; none of shared memory, which has no sectors.
    bytes: Vec<UnitRun>,
    /// Data wavefronts by alignment to a bank, where they depend on no more than that.
    data: [Option<u32>; 4],
}

impl<'a> AccessShapes<'a> {
    /// No shapes yet.
    pub fn new(plan: &Plan, pattern: AddressPattern, pipe: &'a Pipe) -> Result<Self, Spent> {
        // Lanes of each class, and a number for each alignment.
        let of_class = STEPS_OF_SHAPE + index(-1, plan.period) as u64;
        spend_on(plan.classes.len(), of_class)?;
        let of_class = |class: &WarpClass| {
            let lanes: Vec<i64> = class.lanes.iter().map(|lane| dot(lane, pattern.thread)).collect();
            let active = class.active[pattern.limit];
            let there = Lanes { addresses: &lanes, active: if pattern.shared { 0 } else { active } };
            let bytes = spans::of_lanes(there, pattern.width, pipe.sector.min(pipe.line));
            OfClass { lanes, active, bytes, data: [None; 4] }
        };
        let classes: Vec<OfClass> = plan.classes.iter().map(of_class).collect();
        let numbers = vec![NONE; classes.len() * index(-1, plan.period).saturating_add(1)];
        let (made, lines) = (Vec::new(), Vec::new());
        Ok(Self { pipe, pattern, period: plan.period, classes, numbers, made, lines })
    }

    /// Most bytes between the first and the last that one warp touches.
    pub fn span(&self) -> i64 {
        let of_class = |class: &OfClass| {
            let (low, high) = (class.lanes.iter().min()?, class.lanes.iter().max()?);
            high.checked_sub(*low)?.checked_add(self.pattern.width)
        };
        self.classes.iter().map(|c| of_class(c).unwrap_or(i64::MAX)).max().unwrap_or(0)
    }

    /// The number of the shape of an access whose first lane begins at `address`.
    pub fn at(&mut self, class: usize, address: i64) -> Result<usize, Spent> {
        let place = class * (self.numbers.len() / self.classes.len().max(1)) + index(address, self.period);
        let known = self.numbers[place];
        if known != NONE {
            return Ok(known as usize);
        }
        spend_on(1, STEPS_OF_SHAPE)?;
        Ok(self.make(class, address, place))
    }

    /// What one warp of a shape does, without tags and cycles if they are [`by_set`](Self::by_set).
    pub fn counts(&self, number: usize) -> InstructionCounts {
        self.made[number].counts(self.pipe, self.floor())
    }

    /// How many lines a shape has.
    pub fn lines(&self, number: usize) -> usize {
        self.made[number].lines as usize
    }

    /// Whether tags and cycles depend on the very lines and not on the shape alone.
    pub fn by_set(&self) -> bool {
        !self.pattern.shared && self.pipe.tags_by_set(self.pattern.width)
    }

    /// The bytes that a class of warps touches, relative to its first lane, as far as whole sectors go.
    pub fn bytes(&self, class: usize) -> &[UnitRun] {
        &self.classes[class].bytes
    }

    /// Cycles that an instruction takes at least.
    fn floor(&self) -> f64 {
        let width = self.pattern.width;
        if self.pattern.shared { self.pipe.shared_floor(width) } else { self.pipe.floor(width) }
    }

    /// Tags and cycles of warps with this shape whose first lanes begin in lines `from + l` for each `l`
    /// of `lines`, where they are [`by_set`](Self::by_set).
    pub fn passes(&self, number: usize, from: u32, lines: &[u32]) -> TagPasses {
        let shape = &self.made[number];
        let floor = self.floor();
        let touched = LineChunks { chunks: &self.lines[shape.line_chunks.clone()], number: shape.lines };
        let mut sum = TagPasses::default();
        for line in lines {
            let tag = sets::conflicts(line.wrapping_add(from), touched);
            sum.tag += Wavefronts::new(f64::from(tag));
            sum.cycles += Cycles::new(shape.cycles(self.pipe, tag, floor));
        }
        sum
    }

    fn make(&mut self, class: usize, address: i64, place: usize) -> usize {
        let first = remainder(address, self.period);
        let number = self.made.len();
        let shape = self.new_shape(class, first);
        self.made.push(shape);
        self.numbers[place] = u32::try_from(number).expect("there are fewer alignments than that");
        number
    }

    /// The shape of a class whose first lane begins at `first`.
    fn new_shape(&mut self, class: usize, first: i64) -> AccessShape {
        let (pattern, pipe) = (self.pattern, self.pipe);
        let of_class = &mut self.classes[class];
        let data = of_class.data(first, pattern, pipe);
        let active = Lanes { addresses: &of_class.lanes, active: of_class.active }.count();
        let issues = if active == 0 { 0.0 } else { 1.0 };
        if pattern.shared {
            return AccessShape { issues, active, data, tag: Some(0), ..Default::default() };
        }
        let by_set = pipe.tags_by_set(pattern.width);
        let tag = (!by_set).then(|| {
            let addresses = of_class.addresses(first);
            pipe.global(Lanes { addresses: &addresses, active: of_class.active }, pattern.width).tag
        });
        let bytes = || of_class.bytes.iter().map(|span| span.moved(first));
        let (sectors, runs) = spans::units(bytes(), pipe.sector, |_| {});
        let (from, base) = (self.lines.len(), quotient(first, pipe.line));
        let mut place = 0;
        let (lines, _) = spans::units(bytes(), pipe.line, |line| {
            if by_set {
                sets::put(low_half(line - base), place, &mut self.lines);
                place += 1;
            }
        });
        let line_chunks = from..self.lines.len();
        AccessShape { issues, active, data, tag, sectors, runs, lines, line_chunks }
    }
}

impl OfClass {
    fn addresses(&self, first: i64) -> Vec<i64> {
        self.lanes.iter().map(|lane| lane.wrapping_add(first)).collect()
    }

    /// Data wavefronts of an access whose first lane begins at `first`.
    fn data(&mut self, first: i64, pattern: AddressPattern, pipe: &Pipe) -> u32 {
        let count = || {
            let addresses = self.addresses(first);
            let lanes = Lanes { addresses: &addresses, active: self.active };
            if pattern.shared {
                Pipe::shared(lanes, pattern.width).data
            } else {
                pipe.global(lanes, pattern.width).data
            }
        };
        let by_bank = pattern.shared || pipe.tags_by_set(pattern.width);
        // Banks go round: whole words more or less for all lanes make no difference.
        let place = index(first, 4);
        match self.data[place] {
            Some(known) if by_bank => known,
            _ => {
                let data = count();
                if by_bank {
                    self.data[place] = Some(data);
                }
                data
            }
        }
    }
}

/// The remainder as an index.
pub fn index(address: i64, period: i64) -> usize {
    usize::try_from(remainder(address, period)).expect("a remainder is not negative")
}

/// The scalar product; addresses fit, so that its parts may wrap.
pub fn dot(a: &[i64; 3], b: Strides) -> i64 {
    (0..3).fold(0_i64, |sum, d| sum.wrapping_add(a[d].wrapping_mul(b[d])))
}
