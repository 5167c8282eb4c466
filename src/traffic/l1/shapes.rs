//! Warps whose lanes lie alike and begin at the same alignment touch memory alike: such an access has a
//! shape, made once. Only the sets of the tag stage depend on more.

use super::counts::InstructionCounts;
use super::pipe::{Lanes, Pipe, low_half, quotient, remainder};
use super::plan::{Pattern, Plan};
use super::sets;

/// A warp's access at one alignment.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    issues: f64,
    active: u32,
    data: u32,
    /// Tag wavefronts where they depend on nothing else.
    tag: Option<u32>,
    /// Distinct sectors relative to the one in which the first lane begins.
    pub sectors: Vec<i64>,
    /// Runs of adjacent sectors.
    runs: f64,
    /// Distinct lines relative to the one in which the first lane begins.
    pub lines: Vec<u32>,
}

/// Tag wavefronts and cycles, added up over warps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Passes {
    /// Tag wavefronts.
    pub tag: f64,
    /// Cycles.
    pub cycles: f64,
}

impl Shape {
    fn new(lanes: Lanes, data: u32, first: i64, pattern: Pattern, pipe: &Pipe) -> Self {
        let width = pattern.width;
        let issues = if lanes.active == 0 { 0.0 } else { 1.0 };
        let active = lanes.count();
        if pattern.shared {
            return Self { issues, active, data, tag: Some(0), ..Default::default() };
        }
        let sectors = lanes.touched(width, pipe.sector);
        let lines = if pipe.line % pipe.sector == 0 {
            // Lines of ascending sectors ascend: quicker than asking all lanes again.
            let mut lines: Vec<i64> = sectors.iter().map(|s| quotient(*s, pipe.line / pipe.sector)).collect();
            lines.dedup();
            lines
        } else {
            lanes.touched(width, pipe.line)
        };
        let (from_sector, from_line) = (quotient(first, pipe.sector), quotient(first, pipe.line));
        Self {
            issues,
            active,
            data,
            tag: (!pipe.tags_by_set(width)).then(|| pipe.global(lanes, width).tag),
            runs: runs(&sectors),
            sectors: sectors.into_iter().map(|s| s - from_sector).collect(),
            lines: lines.into_iter().map(|l| low_half(l - from_line)).collect(),
        }
    }

    /// Tags and cycles of warps whose first lanes begin in lines `from + l` for each `l` of `lines`.
    pub fn passes(&self, from: u32, lines: &[u32], pattern: Pattern, pipe: &Pipe) -> Passes {
        let floor = if pattern.shared || self.issues == 0.0 { 0.0 } else { pipe.floor(pattern.width) };
        let cycles = |tag: u32| f64::from(self.data.max(tag)).max(floor);
        if let Some(tag) = self.tag {
            let warps = lines.len() as f64;
            return Passes { tag: warps * f64::from(tag), cycles: warps * cycles(tag) };
        }
        let mut sum = Passes::default();
        let mut add = |tag: u32| {
            sum.tag += f64::from(tag);
            sum.cycles += cycles(tag);
        };
        for chunk in lines.chunks(sets::TOGETHER) {
            // Of few warps, those that are not there would cost more than one after the other.
            if chunk.len() < sets::TOGETHER / 2 {
                for line in chunk {
                    add(sets::conflicts(line.wrapping_add(from), &self.lines));
                }
                continue;
            }
            let mut firsts = [0; sets::TOGETHER];
            for (first, line) in firsts.iter_mut().zip(chunk) {
                *first = line.wrapping_add(from);
            }
            sets::conflicts_of(firsts, &self.lines).into_iter().take(chunk.len()).for_each(&mut add);
        }
        sum
    }

    /// What one warp does, without tags and cycles.
    pub fn counts(&self) -> InstructionCounts {
        InstructionCounts {
            issues: self.issues,
            lanes: f64::from(self.active),
            data: f64::from(self.data),
            sectors: self.sectors.len() as f64,
            runs: self.runs,
            lines: self.lines.len() as f64,
            ..Default::default()
        }
    }
}

/// The shapes of a pattern by class of warps and alignment, made when first needed.
pub struct Shapes<'a> {
    /// The rules.
    pub pipe: &'a Pipe,
    /// The pattern.
    pub pattern: Pattern,
    period: i64,
    classes: Vec<OfClass>,
    /// Number of the shape by class and alignment; `NONE` where there is none yet.
    numbers: Vec<u32>,
    made: Vec<Shape>,
}

const NONE: u32 = u32::MAX;

/// What all shapes of a class of warps have in common.
struct OfClass {
    /// Addresses of the lanes relative to the first lane.
    lanes: Vec<i64>,
    active: u64,
    /// Data wavefronts by alignment to a bank, where they depend on no more than that.
    data: [Option<u32>; 4],
}

impl<'a> Shapes<'a> {
    /// No shapes yet.
    pub fn new(plan: &Plan, pattern: Pattern, pipe: &'a Pipe) -> Self {
        let of = |lane: &[i64; 3]| dot(*lane, pattern.thread);
        let classes: Vec<OfClass> = plan
            .classes
            .iter()
            .map(|c| OfClass {
                lanes: c.lanes.iter().map(of).collect(),
                active: c.active.get(pattern.limit).copied().unwrap_or(u64::MAX),
                data: [None; 4],
            })
            .collect();
        let numbers = vec![NONE; classes.len() * index(-1, plan.period).saturating_add(1)];
        Self { pipe, pattern, period: plan.period, classes, numbers, made: Vec::new() }
    }

    /// Most bytes between the first and the last that one warp touches.
    pub fn span(&self) -> i64 {
        let of_class = |class: &OfClass| {
            let (low, high) = (class.lanes.iter().min()?, class.lanes.iter().max()?);
            high.checked_sub(*low)?.checked_add(self.pattern.width)
        };
        self.classes.iter().map(|c| of_class(c).unwrap_or(i64::MAX)).max().unwrap_or(0)
    }

    /// The shape of an access whose first lane begins at `address`.
    pub fn at(&mut self, class: usize, address: i64) -> &mut Shape {
        let place = class * (self.numbers.len() / self.classes.len().max(1)) + index(address, self.period);
        let known = self.numbers.get(place).copied().unwrap_or(NONE);
        let number = if known == NONE { self.make(class, address, place) } else { known as usize };
        &mut self.made[number]
    }

    fn make(&mut self, class: usize, address: i64, place: usize) -> usize {
        let first = remainder(address, self.period);
        let (pattern, pipe) = (self.pattern, self.pipe);
        let shape = self.classes.get_mut(class).map(|of_class| {
            let addresses: Vec<i64> = of_class.lanes.iter().map(|l| l.wrapping_add(first)).collect();
            let lanes = Lanes { addresses: &addresses, active: of_class.active };
            let data = || {
                if pattern.shared {
                    Pipe::shared(lanes, pattern.width).data
                } else {
                    pipe.global(lanes, pattern.width).data
                }
            };
            let data = match of_class.data.get_mut(index(first, 4)) {
                // Banks go round: whole words more or less for all lanes make no difference.
                Some(known) if pattern.shared || pipe.tags_by_set(pattern.width) => {
                    *known.get_or_insert_with(data)
                }
                _ => data(),
            };
            Shape::new(lanes, data, first, pattern, pipe)
        });
        self.made.push(shape.unwrap_or_default());
        let number = self.made.len() - 1;
        if let (Some(entry), Ok(number)) = (self.numbers.get_mut(place), u32::try_from(number)) {
            *entry = number;
        }
        number
    }
}

/// The remainder as an index.
fn index(address: i64, period: i64) -> usize {
    usize::try_from(remainder(address, period)).unwrap_or(0)
}

/// The scalar product; addresses fit, so that its parts may wrap.
fn dot(a: [i64; 3], b: [i64; 3]) -> i64 {
    (0..3).fold(0_i64, |sum, d| sum.wrapping_add(a[d].wrapping_mul(b[d])))
}

/// First lanes of all warps of all blocks that are looked at.
pub struct Starts {
    /// Class of the warp and address of its first lane, for an access with address 0 at thread 0 of
    /// block 0.
    pub all: Vec<(usize, i64)>,
}

impl Starts {
    /// The starts of a pattern.
    pub fn of(plan: &Plan, pattern: Pattern) -> Self {
        let blocks: Vec<i64> = plan.phases.blocks().into_iter().map(|b| dot(b, pattern.block)).collect();
        let mut all = Vec::new();
        for (class, warps) in plan.classes.iter().enumerate() {
            for first in &warps.firsts {
                let warp = dot(*first, pattern.thread);
                all.extend(blocks.iter().map(|b| (class, warp.wrapping_add(*b))));
            }
        }
        Self { all }
    }

    /// The starts by class and alignment, with at most about `most` lines in all groups together.
    pub fn groups(&self, classes: usize, period: i64, line: i64, most: usize) -> Vec<Group> {
        let width = index(-1, period) + 1;
        let mut numbers = vec![NONE; classes * width];
        let mut groups: Vec<Group> = Vec::new();
        for &(class, address) in &self.all {
            let alignment = remainder(address, period);
            let Some(number) = numbers.get_mut(class * width + index(address, period)) else { continue };
            if *number == NONE {
                *number = u32::try_from(groups.len()).unwrap_or(NONE);
                groups.push(Group { class, alignment, warps: 0.0, lines: Vec::new() });
            }
            if let Some(group) = groups.get_mut(*number as usize) {
                group.warps += 1.0;
                group.lines.push(low_half(quotient(address.wrapping_sub(alignment), line)));
            }
        }
        let share = self.all.len().div_ceil(most.max(1));
        for group in groups.iter_mut().filter(|_| share > 1) {
            // The middle one of each so many.
            let shift = (group.lines.len() - 1).min(share) / 2;
            group.lines = group.lines.iter().skip(shift).step_by(share).copied().collect();
        }
        groups
    }
}

/// Warps of one class that begin at one alignment.
pub struct Group {
    /// The class.
    pub class: usize,
    /// The alignment.
    pub alignment: i64,
    /// How many there are.
    pub warps: f64,
    /// Lines in which they, or those that stand for all, begin; relative to the line of the alignment.
    pub lines: Vec<u32>,
}

/// Runs of adjacent sectors; sectors ascend.
pub fn runs(sectors: &[i64]) -> f64 {
    let gaps = sectors.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    if sectors.is_empty() { 0.0 } else { gaps as f64 + 1.0 }
}
