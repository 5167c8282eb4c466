//! What warps have done so far, by instruction and by field.

use std::collections::BTreeSet;

use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::lanes::Lanes;
use super::pipe::Pipe;
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::Program;
use crate::quantity::{Cycles, Sectors, Times, Wavefronts};
use crate::space::BlockIndex;

/// What was counted so far, over all warps.
pub(super) struct WarpTally<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) pipe: &'a Pipe,
    pub(super) counts: L1Counts,
    /// Accesses of lanes.
    pub(super) spent: usize,
    /// Sectors that the current warp has loaded, and those that it has stored, by field.
    pub(super) unions: Vec<[Union; 2]>,
    /// Whether the current warp has touched anything.
    pub(super) issued: bool,
}

/// Sectors of one field that a warp has loaded or stored.
#[derive(Debug, Clone, Default)]
pub(super) struct Union {
    sectors: BTreeSet<i64>,
    /// Sectors per access, added up: as often as evaluated, and as often as they stand for.
    evaluated: f64,
    meant: f64,
    /// Sectors of the current iteration, and how often it is meant.
    iteration: BTreeSet<i64>,
    weight: f64,
    /// Distinct sectors of iterations that are over, added up.
    of_iterations: f64,
}

impl Union {
    /// Distinct sectors: where iterations were left out, those that were run stand for them.
    fn sectors(&self) -> f64 {
        let scale = if self.evaluated > 0.0 { self.meant / self.evaluated } else { 1.0 };
        self.sectors.len() as f64 * scale
    }

    fn add(&mut self, sectors: Vec<i64>, weight: f64) {
        self.evaluated += sectors.len() as f64;
        self.meant += sectors.len() as f64 * weight;
        self.weight = weight;
        self.iteration.extend(&sectors);
        self.sectors.extend(sectors);
    }

    fn end_of_iteration(&mut self) {
        self.of_iterations += self.iteration.len() as f64 * self.weight;
        self.iteration.clear();
    }
}

impl<'a> WarpTally<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        program: &Program<i64>,
        pipe: &'a Pipe,
        blocks: &[BlockIndex],
    ) -> Self {
        let counts = L1Counts {
            instructions: vec![InstructionCounts::default(); program.instructions.len()],
            fields: vec![FieldCounts::default(); kernel.fields.len()],
            blocks: blocks.to_vec(),
            ..Default::default()
        };
        Self { kernel, pipe, counts, spent: 0, unions: Vec::new(), issued: false }
    }

    pub(super) fn access(&mut self, program: &Program<i64>, position: usize, lanes: Lanes, weight: f64) {
        let instruction = &program.instructions[position];
        let field = self.kernel.field(instruction.field);
        let (pipe, width) = (self.pipe, instruction.width);
        let mut one = InstructionCounts {
            issues: Times::new(1.0),
            lanes: Times::new(f64::from(lanes.active.count_ones())),
            ..Default::default()
        };
        if field.space == Space::Shared {
            let data = Pipe::shared(lanes, width).data;
            one.data = Wavefronts::new(f64::from(data));
            one.cycles = Cycles::new(pipe.slower(data, 0).max(pipe.shared_floor(width)));
        } else {
            let wavefronts = pipe.global(lanes, width);
            let sectors = lanes.touched(width, pipe.sector);
            one.data = Wavefronts::new(f64::from(wavefronts.data));
            one.tag = Wavefronts::new(f64::from(wavefronts.tag));
            one.cycles = Cycles::new(pipe.cycles(wavefronts, width));
            one.sectors = Sectors::new(sectors.len() as f64);
            one.runs = Times::new(runs(&sectors));
            one.lines = Times::new(lanes.touched(width, pipe.line).len() as f64);
            let of_field = self.unions.get_mut(usize::from(instruction.field.0));
            let union = match (instruction.kind, of_field) {
                (AccessKind::Load, Some([loads, _])) => Some(loads),
                (AccessKind::Store, Some([_, stores])) => Some(stores),
                _ => None,
            };
            if let Some(union) = union {
                union.add(sectors, weight);
            }
        }
        self.counts.instructions[position].add(&one, weight);
        self.issued = true;
        // Several arrays of one field cost as much as several fields would.
        let copies = usize::try_from(field.multiplicity).expect("there is at least one array");
        self.spent = self.spent.saturating_add(copies.saturating_mul(lanes.active.count_ones() as usize));
    }

    /// What comes is another iteration of a loop, or comes after it.
    pub(super) fn end_of_iteration(&mut self) {
        self.unions.iter_mut().for_each(|[loads, _]| loads.end_of_iteration());
    }

    /// Adds the distinct sectors of a warp that is done.
    pub(super) fn end_of_warp(&mut self) {
        self.end_of_iteration();
        for (unions, field) in self.unions.iter_mut().zip(&mut self.counts.fields) {
            let [loads, stores] = std::mem::take(unions);
            field.warp_load_sectors += Sectors::new(loads.sectors());
            field.iteration_load_sectors += Sectors::new(loads.of_iterations);
            field.warp_store_sectors += Sectors::new(stores.sectors());
        }
    }

    /// Means over blocks, from `done` of `all` warps, without totals.
    pub(super) fn finish(mut self, done: usize, all: usize, blocks: usize) -> L1Counts {
        let kernel = self.kernel;
        let scale = all as f64 / done.max(1) as f64 / blocks.max(1) as f64;
        for counts in &mut self.counts.instructions {
            let sum = std::mem::take(counts);
            counts.add(&sum, scale);
        }
        for (field, of) in self.counts.fields.iter_mut().zip(&kernel.fields) {
            field.warp_load_sectors *= scale * of.multiplicity as f64;
            field.iteration_load_sectors *= scale * of.multiplicity as f64;
            field.warp_store_sectors *= scale * of.multiplicity as f64;
        }
        self.counts.work_items *= scale;
        self.counts.warps *= scale;
        self.counts.sampled |= done < all;
        self.counts
    }
}

/// Runs of adjacent sectors; sectors ascend.
fn runs(sectors: &[i64]) -> f64 {
    let gaps = sectors.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    if sectors.is_empty() { 0.0 } else { gaps as f64 + 1.0 }
}
