//! Counting for affine addresses: instructions, warps and blocks by shape and alignment.

use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::pipe::Pipe;
use super::plan::{Access, Plan, Stream};
use super::shapes::{Found, Shapes, Starts};
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
fn look_up_tags(stream: &Stream, starts: &Starts, shapes: &mut Shapes) -> Option<Vec<Found>> {
    let pattern = stream.pattern;
    let pipe = shapes.pipe;
    let of_warp: usize = stream.accesses.iter().map(|a| a.iterations.len()).sum();
    let lines = starts.all.first().map_or(1, |&(class, address)| shapes.at(class, address).lines.len());
    let affordable = (MOST_LINES / (of_warp * lines.max(1)).max(1)).max(1);
    let looked_at = affordable.min(starts.all.len());
    let mut found = vec![Found::default(); stream.accesses.len()];
    for i in 0..looked_at {
        let Some(&(class, start)) = starts.all.get(i * starts.all.len() / looked_at) else { continue };
        for (access, found) in stream.accesses.iter().zip(&mut found) {
            for iteration in &access.iterations {
                let address = start.wrapping_add(iteration.address);
                let (tag, cycles) = shapes.at(class, address).look(address, pattern, pipe);
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
    tags: Option<&Found>,
) -> InstructionCounts {
    let pattern = shapes.pattern;
    let pipe = shapes.pipe;
    let mut sum = InstructionCounts::default();
    for iteration in &access.iterations {
        for &(class, start, warps) in alignments {
            let address = start.wrapping_add(iteration.address);
            let shape = shapes.at(class, address);
            if tags.is_none() && shape.found.count == 0.0 {
                shape.look(address, pattern, pipe);
            }
            sum.add(&shape.counts(), iteration.weight * warps);
        }
    }
    if let Some(found) = tags {
        (sum.tag, sum.cycles) = (found.tag, found.cycles);
    }
    sum
}
