//! Counting for affine addresses: warps whose lanes lie alike and begin at the same alignment are the
//! same but for the sets of the tag stage, and are evaluated once.

use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::pipe::{Lanes, Pipe, Wavefronts, low_half};
use super::plan::{Access, Pattern, Plan, Stream};
use super::{sets, unions};
use crate::device::Rules;
use crate::launch::Fault;

/// Most lines whose sets are looked up for one pattern; beyond, some warps stand for all.
const MOST_LINES: usize = 1 << 14;

/// A warp's access at one alignment.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    data: u32,
    /// Tag wavefronts where they depend on nothing else.
    tag: Option<u32>,
    /// Distinct sectors relative to the one in which the first lane begins.
    pub sectors: Vec<i64>,
    /// Distinct lines relative to the one in which the first lane begins.
    lines: Vec<u32>,
    /// What was found of tags and cycles.
    tags: Mean,
}

/// Sums over the warps that were looked at.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    count: f64,
    tag: f64,
    cycles: f64,
}

impl Mean {
    fn add(&mut self, tag: f64, cycles: f64, weight: f64) {
        self.count += weight;
        self.tag += weight * tag;
        self.cycles += weight * cycles;
    }
}

/// The shapes of a stream by class of warps and alignment, made when first needed.
pub struct Shapes<'a> {
    pipe: &'a Pipe,
    pattern: Pattern,
    period: i64,
    /// Addresses of the lanes of each class relative to the first lane.
    lanes: Vec<Vec<i64>>,
    /// Number of the shape by class and alignment; `NONE` where there is none yet.
    numbers: Vec<u32>,
    made: Vec<Shape>,
}

const NONE: u32 = u32::MAX;

impl<'a> Shapes<'a> {
    fn new(plan: &Plan, pattern: Pattern, pipe: &'a Pipe) -> Self {
        let of = |lane: &[i64; 3]| dot(*lane, pattern.thread);
        let lanes = plan.classes.iter().map(|c| c.lanes.iter().map(of).collect()).collect();
        let numbers = vec![NONE; plan.classes.len() * alignment(-1, plan.period).saturating_add(1)];
        Self { pipe, pattern, period: plan.period, lanes, numbers, made: Vec::new() }
    }

    /// The number of the shape of an access whose first lane begins at `address`.
    pub fn at(&mut self, class: usize, address: i64) -> usize {
        let alignment = alignment(address, self.period);
        let place = class * (self.numbers.len() / self.lanes.len().max(1)) + alignment;
        let known = self.numbers.get(place).copied().unwrap_or(NONE);
        if known != NONE {
            return known as usize;
        }
        let first = address.rem_euclid(self.period);
        let lanes = self.lanes.get(class).map_or(&[] as &[i64], Vec::as_slice);
        let addresses: Vec<i64> = lanes.iter().map(|l| l.wrapping_add(first)).collect();
        let number = self.made.len();
        self.made.push(Shape::new(&addresses, first, self.pattern, self.pipe));
        if let (Some(entry), Ok(number)) = (self.numbers.get_mut(place), u32::try_from(number)) {
            *entry = number;
        }
        number
    }

    /// The shape of a number.
    pub fn shape(&mut self, class: usize, address: i64) -> &mut Shape {
        let number = self.at(class, address);
        &mut self.made[number]
    }
}

/// The alignment of an address as an index.
fn alignment(address: i64, period: i64) -> usize {
    // Periods are mostly powers of two, for which this needs no division.
    let rest = if period.count_ones() == 1 { address & (period - 1) } else { address.rem_euclid(period) };
    usize::try_from(rest).unwrap_or(0)
}

impl Shape {
    fn new(addresses: &[i64], first: i64, pattern: Pattern, pipe: &Pipe) -> Self {
        let (lanes, width) = (Lanes::all(addresses), pattern.width);
        if pattern.shared {
            let Wavefronts { data, tag } = Pipe::shared(lanes, width);
            return Self { data, tag: Some(tag), ..Default::default() };
        }
        let Wavefronts { data, tag } = pipe.global(lanes, width);
        let relative = |unit: i64| {
            let touched = lanes.touched(width, unit).into_iter();
            touched.map(move |t| t - first.div_euclid(unit))
        };
        let by_sets = pipe.rules == Rules::Volta && width <= 16;
        Self {
            data,
            tag: (!by_sets).then_some(tag),
            sectors: relative(pipe.sector).collect(),
            lines: relative(pipe.line).map(low_half).collect(),
            tags: Mean::default(),
        }
    }

    /// Looks up the tags of an access whose first lane begins at `address`: wavefronts and cycles.
    fn look(&mut self, address: i64, shared: bool, width: i64, pipe: &Pipe) -> (f64, f64) {
        let tag =
            self.tag.unwrap_or_else(|| sets::conflicts(&self.lines, low_half(address.div_euclid(pipe.line))));
        let wavefronts = Wavefronts { data: self.data, tag };
        let cycles = if shared { f64::from(self.data) } else { pipe.cycles(wavefronts, width) };
        self.tags.add(f64::from(tag), cycles, 1.0);
        (f64::from(tag), cycles)
    }

    fn counts(&self) -> InstructionCounts {
        let times = 1.0 / self.tags.count.max(1.0);
        InstructionCounts {
            issues: 1.0,
            data: f64::from(self.data),
            tag: self.tags.tag * times,
            cycles: self.tags.cycles * times,
            sectors: self.sectors.len() as f64,
            lines: self.lines.len() as f64,
        }
    }
}

/// The scalar product; addresses fit, so that its parts may wrap.
fn dot(a: [i64; 3], b: [i64; 3]) -> i64 {
    (0..3).fold(0_i64, |sum, d| sum.wrapping_add(a[d].wrapping_mul(b[d])))
}

/// First lanes of all warps of all blocks that are looked at, relative to thread 0 of block 0.
pub struct Starts {
    /// Class of the warp and address of its first lane.
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
    fn alignments(&self, classes: usize, period: i64) -> Vec<(usize, i64, f64)> {
        let width = alignment(-1, period) + 1;
        let mut found = vec![0_u32; classes * width];
        for &(class, address) in &self.all {
            if let Some(count) = found.get_mut(class * width + alignment(address, period)) {
                *count += 1;
            }
        }
        let some = found.iter().enumerate().filter(|(_, count)| **count > 0);
        some.map(|(i, &count)| (i / width, i64::try_from(i % width).unwrap_or(0), f64::from(count))).collect()
    }
}

/// Counts all streams.
pub fn count(plan: &Plan, pipe: &Pipe) -> Result<L1Counts, Fault> {
    let blocks = plan.phases.blocks();
    let number = blocks.len();
    let mut counts = L1Counts {
        instructions: vec![InstructionCounts::default(); plan.program.instructions.len()],
        fields: vec![FieldCounts::default(); plan.kernel.fields.len()],
        work_items: plan.work_items,
        blocks,
        sampled: plan.phases.cut,
        ..Default::default()
    };
    let mut shapes = Vec::with_capacity(plan.streams.len());
    for stream in &plan.streams {
        let starts = Starts::of(plan, stream.pattern);
        let mut of_stream = Shapes::new(plan, stream.pattern, pipe);
        let tags = look_up_tags(stream, &starts, &mut of_stream);
        counts.sampled |= tags.is_none();
        let alignments = starts.alignments(plan.classes.len(), plan.period);
        for (i, access) in stream.accesses.iter().enumerate() {
            let sum = add_up(access, &alignments, &mut of_stream, tags.as_ref().and_then(|t| t.get(i)));
            if let Some(of_instruction) = counts.instructions.get_mut(access.position) {
                of_instruction.add(&sum, 1.0 / number as f64);
            }
        }
        shapes.push((of_stream, starts));
    }
    counts.add_up(plan.kernel, plan.program);
    unions::count(plan, pipe, &mut shapes, &mut counts)?;
    Ok(counts)
}

/// Looks up the sets of the lines of all warps, and says what was found for each access; if the budget
/// does not allow that, looks at some warps, and what was found is kept with the shapes.
fn look_up_tags(stream: &Stream, starts: &Starts, shapes: &mut Shapes) -> Option<Vec<Mean>> {
    let Pattern { shared, width, .. } = stream.pattern;
    let pipe = shapes.pipe;
    let of_warp: usize = stream.accesses.iter().map(|a| a.iterations.len()).sum();
    let lines = starts.all.first().map_or(1, |&(class, address)| shapes.shape(class, address).lines.len());
    let affordable = (MOST_LINES / (of_warp * lines.max(1)).max(1)).max(1);
    let looked_at = affordable.min(starts.all.len());
    let mut found = vec![Mean::default(); stream.accesses.len()];
    for i in 0..looked_at {
        let Some(&(class, start)) = starts.all.get(i * starts.all.len() / looked_at) else { continue };
        for (access, found) in stream.accesses.iter().zip(&mut found) {
            for iteration in &access.iterations {
                let address = start.wrapping_add(iteration.address);
                let (tag, cycles) = shapes.shape(class, address).look(address, shared, width, pipe);
                found.add(tag, cycles, iteration.weight);
            }
        }
    }
    let all = looked_at == starts.all.len() && stream.accesses.iter().all(|a| !a.cut);
    all.then_some(found)
}

/// Adds up what an instruction does in all blocks. Tags and cycles are what was found for it, or the
/// means of the shapes.
fn add_up(
    access: &Access,
    alignments: &[(usize, i64, f64)],
    shapes: &mut Shapes,
    tags: Option<&Mean>,
) -> InstructionCounts {
    let Pattern { shared, width, .. } = shapes.pattern;
    let pipe = shapes.pipe;
    let mut sum = InstructionCounts::default();
    for iteration in &access.iterations {
        for &(class, start, warps) in alignments {
            let address = start.wrapping_add(iteration.address);
            let shape = shapes.shape(class, address);
            if tags.is_none() && shape.tags.count == 0.0 {
                shape.look(address, shared, width, pipe);
            }
            sum.add(&shape.counts(), iteration.weight * warps);
        }
    }
    if let Some(found) = tags {
        (sum.tag, sum.cycles) = (found.tag, found.cycles);
    }
    sum
}
