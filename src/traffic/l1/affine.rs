//! Counting for affine addresses: instructions, warps and blocks by shape and alignment.

use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::pipe::{Pipe, low_half, quotient};
use super::plan::{Access, Plan, Stream};
use super::shapes::{Group, Shapes, Starts};
use super::unions;
use crate::launch::Fault;

/// Most lines whose sets are looked up for one pattern; beyond, some warps stand for all.
const MOST_LINES: usize = 1 << 14;

/// Counts all streams.
pub fn count(plan: &Plan, pipe: &Pipe) -> Result<L1Counts, Fault> {
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
        let starts = Starts::of(plan, stream.pattern);
        let mut of_stream = Shapes::new(plan, stream.pattern, pipe);
        let affordable = affordable(stream, &starts, &mut of_stream);
        let groups = starts.groups(plan.classes.len(), plan.period, pipe.line, affordable);
        counts.sampled |= affordable < starts.all.len() || stream.accesses.iter().any(|a| a.cut);
        for access in &stream.accesses {
            let sum = add_up(access, &groups, &mut of_stream);
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

/// Warps whose tags can be looked up within the budget.
fn affordable(stream: &Stream, starts: &Starts, shapes: &mut Shapes) -> usize {
    let of_warp: usize = stream.accesses.iter().map(|a| a.iterations.len()).sum();
    let lines = starts.all.first().map_or(1, |&(class, address)| shapes.at(class, address).lines.len());
    (MOST_LINES / (of_warp * lines.max(1)).max(1)).max(1)
}

/// Adds up what an instruction does in all blocks.
fn add_up(access: &Access, groups: &[Group], shapes: &mut Shapes) -> InstructionCounts {
    let (pattern, pipe) = (shapes.pattern, shapes.pipe);
    let mut sum = InstructionCounts::default();
    for iteration in &access.iterations {
        for group in groups {
            let address = group.alignment.wrapping_add(iteration.address);
            let shape = shapes.at(group.class, address);
            let from = low_half(quotient(address, pipe.line));
            let passes = shape.passes(from, &group.lines, pattern, pipe);
            let share = 1.0 / group.lines.len().max(1) as f64;
            let mut one = shape.counts();
            (one.tag, one.cycles) = (passes.tag * share, passes.cycles * share);
            sum.add(&one, iteration.weight * group.warps);
        }
    }
    sum
}
