//! Warps whose lanes lie alike and begin at the same alignment touch memory alike: such an access has a
//! shape, made once. Only the sets of the tag stage depend on more.

use super::counts::InstructionCounts;
use super::pipe::{Lanes, Pipe, Wavefronts, low_half, quotient, remainder};
use super::plan::{Pattern, Plan};
use super::sets;

/// A warp's access at one alignment.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    issues: f64,
    data: u32,
    /// Tag wavefronts where they depend on nothing else.
    tag: Option<u32>,
    /// Distinct sectors relative to the one in which the first lane begins.
    pub sectors: Vec<i64>,
    /// Distinct lines relative to the one in which the first lane begins.
    pub lines: Vec<u32>,
    /// What was found of tags and cycles.
    pub found: Found,
}

/// Sums over warps that were looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Found {
    /// Warps.
    pub count: f64,
    /// Tag wavefronts.
    pub tag: f64,
    /// Cycles.
    pub cycles: f64,
}

impl Found {
    /// Adds a warp that stands for `weight`.
    pub fn add(&mut self, tag: f64, cycles: f64, weight: f64) {
        self.count += weight;
        self.tag += weight * tag;
        self.cycles += weight * cycles;
    }
}

impl Shape {
    fn new(lanes: Lanes, data: u32, first: i64, pattern: Pattern, pipe: &Pipe) -> Self {
        let width = pattern.width;
        let issues = if lanes.active == 0 { 0.0 } else { 1.0 };
        if pattern.shared {
            return Self { issues, data, tag: Some(0), ..Default::default() };
        }
        let relative = |unit: i64| {
            let from = quotient(first, unit);
            lanes.touched(width, unit).into_iter().map(move |t| t - from)
        };
        Self {
            issues,
            data,
            tag: (!pipe.tags_by_set(width)).then(|| pipe.global(lanes, width).tag),
            sectors: relative(pipe.sector).collect(),
            lines: relative(pipe.line).map(low_half).collect(),
            found: Found::default(),
        }
    }

    /// Looks up the tags of an access whose first lane begins at `address`: wavefronts and cycles.
    pub fn look(&mut self, address: i64, pattern: Pattern, pipe: &Pipe) -> (f64, f64) {
        let by_set = || sets::conflicts(&self.lines, low_half(quotient(address, pipe.line)));
        let wavefronts = Wavefronts { data: self.data, tag: self.tag.unwrap_or_else(by_set) };
        let tag = f64::from(wavefronts.tag);
        let cycles = if pattern.shared || self.issues == 0.0 {
            f64::from(self.data)
        } else {
            pipe.cycles(wavefronts, pattern.width)
        };
        self.found.add(tag, cycles, 1.0);
        (tag, cycles)
    }

    /// What one warp does: tags and cycles are means over the warps that were looked at.
    pub fn counts(&self) -> InstructionCounts {
        let times = 1.0 / self.found.count.max(1.0);
        InstructionCounts {
            issues: self.issues,
            data: f64::from(self.data),
            tag: self.found.tag * times,
            cycles: self.found.cycles * times,
            sectors: self.sectors.len() as f64,
            lines: self.lines.len() as f64,
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

    /// How often each class begins at each alignment.
    pub fn alignments(&self, classes: usize, period: i64) -> Vec<(usize, i64, f64)> {
        let width = index(-1, period) + 1;
        let mut found = vec![0_u32; classes * width];
        for &(class, address) in &self.all {
            if let Some(count) = found.get_mut(class * width + index(address, period)) {
                *count += 1;
            }
        }
        let some = found.iter().enumerate().filter(|(_, count)| **count > 0);
        some.map(|(i, &count)| (i / width, i64::try_from(i % width).unwrap_or(0), f64::from(count))).collect()
    }
}
