//! Counting for affine addresses: instructions, warps and blocks by shape and alignment.

use super::access_shape::TagPasses;
use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::distinct::StreamShapes;
use super::moves::{KnownMoves, MovedBy};
use super::pipe::Pipe;
use super::plan::{AffinePlan, PlannedAccess, Stream};
use super::shapes::AccessShapes;
use super::starts::{Starts, WarpGroups};
use super::unions;
use crate::effort::{Spent, spend_on};
use crate::footprint::remainder;
use crate::launch::NotRun;

/// Most lines whose sets are looked up for one pattern; beyond, some warps stand for all.
const MOST_LINES: usize = 1 << 13;

/// Alignments of accesses to a step of groups that there mostly are at most.
const MOST_ALIKE: usize = 16;

/// Steps for a group of warps, or for the lines of one.
const STEPS_OF_GROUP: u64 = 4;

/// Counts all streams.
pub fn count(plan: &AffinePlan, pipe: &Pipe) -> Result<L1Counts, NotRun> {
    let blocks = plan.phases.blocks();
    let number = blocks.len();
    let mut counts = L1Counts {
        instructions: vec![InstructionCounts::default(); plan.program.instructions.len()],
        fields: vec![FieldCounts::default(); plan.kernel.fields.len()],
        work_items: plan.work_items,
        warps: plan.warps,
        blocks,
        sampled: plan.phases.cut,
        ..Default::default()
    };
    let mut shapes = Vec::with_capacity(plan.streams.len());
    for stream in &plan.streams {
        let starts = Starts::new(plan, &counts.blocks, stream.pattern)?;
        let mut of_stream = AccessShapes::new(plan, stream.pattern, pipe)?;
        let affordable = affordable(plan, stream, &starts, &mut of_stream)?;
        let groups = starts.groups(plan.period, pipe.line, affordable);
        let some = of_stream.by_set() && affordable < starts.all.len();
        counts.sampled |= some || stream.accesses.iter().any(|a| a.cut);
        let known = Vec::with_capacity(MOST_ALIKE);
        let mut sums = Sums { groups: &groups, shapes: &mut of_stream, known, moves: KnownMoves::default() };
        for access in &stream.accesses {
            let sum = sums.counts(access)?;
            counts.instructions[access.position].add(&sum, 1.0 / number as f64);
        }
        shapes.push(StreamShapes { shapes: of_stream, starts, groups });
    }
    counts.add_up(plan.kernel, plan.program, pipe);
    unions::count(plan, pipe, &shapes, &mut counts)?;
    Ok(counts)
}

/// Warps whose tags can be looked up within the budget. Several arrays of one field count as several fields
/// would.
fn affordable(
    plan: &AffinePlan,
    stream: &Stream,
    starts: &Starts,
    shapes: &mut AccessShapes,
) -> Result<usize, Spent> {
    let copies = |a: &PlannedAccess| plan.kernel.field(a.instruction.field).multiplicity;
    let of_access = |a: &PlannedAccess| {
        a.iterations().len().saturating_mul(usize::try_from(copies(a)).expect("there is at least one array"))
    };
    let of_warp = stream.accesses.iter().map(of_access).fold(0, usize::saturating_add);
    let lines = match starts.all.first() {
        Some(&(class, address)) => shapes.at(class, address)?.lines(),
        None => 1,
    };
    Ok((MOST_LINES / of_warp.saturating_mul(lines).max(1)).max(1))
}

/// What instructions of a stream do in all blocks.
struct Sums<'s, 'a> {
    groups: &'s WarpGroups,
    shapes: &'s mut AccessShapes<'a>,
    /// What follows from alignments alone, by the remainder of the address by the step of the groups.
    known: Vec<(i64, InstructionCounts)>,
    moves: KnownMoves,
}

impl Sums<'_, '_> {
    /// Adds up what an instruction does in all blocks.
    fn counts(&mut self, access: &PlannedAccess) -> Result<InstructionCounts, Spent> {
        let mut sum = InstructionCounts::default();
        for iteration in access.iterations() {
            sum.add(&self.aligned(iteration.address)?, iteration.weight);
            if self.shapes.by_set() {
                let passes = self.passes(iteration.address)?;
                sum.tag += passes.tag * iteration.weight;
                sum.cycles += passes.cycles * iteration.weight;
            }
        }
        Ok(sum)
    }

    /// What follows from shapes.
    fn aligned(&mut self, address: i64) -> Result<InstructionCounts, Spent> {
        spend_on(1 + self.known.len(), 1)?;
        let remainder = remainder(address, self.groups.step);
        if let Some((_, sum)) = self.known.iter().find(|k| k.0 == remainder) {
            return Ok(*sum);
        }
        spend_on(self.groups.all.len(), STEPS_OF_GROUP)?;
        let mut sum = InstructionCounts::default();
        for group in &self.groups.all {
            let shape = self.shapes.at(group.class, group.alignment.wrapping_add(address))?;
            sum.add(shape.counts(), group.warps as f64);
        }
        self.known.push((remainder, sum));
        Ok(sum)
    }

    /// What follows from lines; after [`aligned`](Self::aligned), which needs the shapes of all groups.
    fn passes(&mut self, address: i64) -> Result<TagPasses, Spent> {
        let groups = self.groups;
        spend_on(groups.all.len() + groups.looked_at(), STEPS_OF_GROUP)?;
        let place = MovedBy::new(address, self.shapes.period, self.shapes.pipe.pipe.line);
        if let Some(known) = self.moves.get(place) {
            return Ok(known);
        }
        let passes = self.shapes.passes(groups, address);
        if self.moves.pays() {
            self.moves.note(place, self.shapes.deciding(groups, address), passes);
        }
        Ok(passes)
    }
}
