//! Programs whose addresses are affine and whose lanes are all active: what they come down to.

pub use super::accesses::{AddressPattern, Iteration, PlannedAccess};

use super::accesses::{Found, Reader};
use super::blocks::{Interior, Phases};
use super::differing::differing;
use super::pipe::Pipe;
use super::warps::{self, WarpClass};
use crate::effort::spend_on;
use crate::expr::Coefficient;
use crate::kernel::{Kernel, Space};
use crate::launch::{Instruction, Launch, Program, Working, stretches};
use crate::quantity::{ItemCount, PerBlock, Times};
use crate::space::Extents;

/// Instructions with the same pattern: their addresses differ by constants.
#[derive(Debug, Clone)]
pub struct Stream<'a> {
    /// The pattern.
    pub pattern: AddressPattern,
    /// The instructions.
    pub accesses: Vec<PlannedAccess<'a>>,
}

/// A block whose lanes are all active and whose addresses are affine.
#[derive(Debug, Clone)]
pub struct AffinePlan<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The program.
    pub program: &'a Program<i64>,
    /// Block and grid.
    pub launch: &'a Launch,
    /// Instructions by pattern.
    pub streams: Vec<Stream<'a>>,
    /// Threads below such a limit along every dimension are active.
    pub limits: Vec<Extents>,
    /// The stretch of the program in which each instruction stands.
    pub stretches: Vec<u32>,
    /// The warps of a block.
    pub classes: Vec<WarpClass>,
    /// The blocks to look at.
    pub phases: Phases,
    /// Alignments repeat after so many bytes.
    pub period: i64,
    /// Work items of a block.
    pub work_items: ItemCount<PerBlock>,
    /// Warps of a block with an active lane.
    pub warps: Times<PerBlock>,
}

impl<'a> AffinePlan<'a> {
    /// The plan of a launch; `None` if something is not affine, conditional or too large.
    pub fn new(
        kernel: &'a Kernel,
        launch: &'a Launch,
        program: &'a Program<i64>,
        pipe: &Pipe,
    ) -> Option<Self> {
        let working = Working::new(kernel, launch, program);
        // The blocks that are looked at stand for all.
        if differing(kernel, launch, program, &working).is_some() {
            return None;
        }
        let interior = Interior::find(kernel, launch, program, &working)?;
        let period = pipe.period()?;
        if any_in_parts_by_set(kernel, &program.instructions, pipe) {
            return None;
        }
        let mut reader = Reader::new(kernel, launch, program, period);
        reader.steps(&program.steps, &mut Vec::new())?;
        let steps = reader.found.iter().filter(|f| !f.pattern.shared).map(|f| f.pattern.block);
        let phases = Phases::new(interior, steps, period);
        if let Some(plan) = Self::of_phases((kernel, launch, program), pipe, &mut reader, interior, phases) {
            return Some(plan);
        }
        // At the ends of a grid conditions may hold for some threads alone. What holds between them stands for all, as
        // it does where fewer blocks show all alignments.
        let between = phases.between_ends(&interior, working.blocks.count())?;
        reader.found.clear();
        reader.steps(&program.steps, &mut Vec::new())?;
        Self::of_phases((kernel, launch, program), pipe, &mut reader, interior, between)
    }

    /// The plan of the accesses that were found, in some blocks.
    fn of_phases(
        (kernel, launch, program): (&'a Kernel, &'a Launch, &'a Program<i64>),
        pipe: &Pipe,
        reader: &mut Reader<'a>,
        interior: Interior,
        phases: Phases,
    ) -> Option<Self> {
        let period = pipe.period()?;
        let limits_of_items: Vec<_> =
            program.items.iter().map(|i| reader.limit(i.offset, interior)).collect();
        let works = reader.working_items(&limits_of_items, &phases)?;
        let mut streams: Vec<Stream> = Vec::new();
        let mut limits = Vec::new();
        for Found { mut pattern, access } in std::mem::take(&mut reader.found) {
            let instruction = access.instruction;
            let working = || instruction.items.iter().map(usize::from).filter(|&i| works[i]);
            if working().next().is_none() {
                continue;
            }
            let limit = if instruction.clipped {
                widest(working().map(|i| &limits_of_items[i]))?
            } else {
                Extents::from(*launch.candidate.block())
            };
            if !reader.decided(instruction.when.as_ref(), limit, &phases)? {
                continue;
            }
            pattern.limit = limits.iter().position(|l| *l == limit).unwrap_or(limits.len());
            if pattern.limit == limits.len() {
                limits.push(limit);
            }
            spend_on(1 + streams.len(), 1).ok()?;
            if let Some(stream) = streams.iter_mut().find(|s| s.pattern == pattern) {
                stream.accesses.push(access);
            } else {
                let mut accesses = Vec::with_capacity(program.instructions.len());
                accesses.push(access);
                streams.push(Stream { pattern, accesses });
            }
        }
        // Work items for which the guard does not hold are work items of the launch, too.
        let items = limits_of_items.iter().map(|limit| limit.iter().map(|&n| n as f64).product::<f64>());
        let work_items = ItemCount::new(items.sum());
        let classes = warps::classes(launch.candidate.block(), pipe.warp, &limits);
        if streams.is_empty() {
            // These blocks have no work, or nothing is to be done at all.
            return None;
        }
        let any_active = |c: &&WarpClass| c.active.iter().any(|&lanes| lanes != 0);
        let warps = Times::new(classes.iter().filter(any_active).map(|c| c.firsts.len() as f64).sum());
        let stretches = stretches(&program.parts(kernel), program.instructions.len());
        Some(Self {
            kernel,
            program,
            launch,
            streams,
            limits,
            stretches,
            classes,
            phases,
            period,
            work_items,
            warps,
        })
    }
}

/// Whether some access of memory costs what its very lines say, in more than one part.
pub(super) fn any_in_parts_by_set<C: Coefficient>(
    kernel: &Kernel,
    instructions: &[Instruction<C>],
    pipe: &Pipe,
) -> bool {
    let mut wide = instructions.iter().filter(|i| pipe.parts_by_set(i.width));
    wide.any(|i| kernel.field(i.field).space != Space::Shared)
}

/// The box of threads that contains all others; `None` if their union is no box.
fn widest<'l>(limits: impl Iterator<Item = &'l Extents>) -> Option<Extents> {
    let mut widest = Extents::ZERO;
    for limit in limits {
        if *limit == widest {
            continue;
        }
        let larger = Extents::along(|d| limit[d].max(widest[d]));
        if larger != widest && larger != *limit {
            return None;
        }
        widest = larger;
    }
    Some(widest)
}
