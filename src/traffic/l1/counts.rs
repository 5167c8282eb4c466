//! What was counted.

use crate::kernel::{AccessKind, Kernel};
use crate::launch::Program;
use crate::space::BlockIndex;

/// What one instruction of a program does in a block, as a mean over the blocks that were looked at.
/// Loops count once per iteration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InstructionCounts {
    /// Times that a warp issues it with at least one active lane.
    pub issues: f64,
    /// Active lanes per issue, added up.
    pub lanes: f64,
    /// Wavefronts of the data stage.
    pub data: f64,
    /// Wavefronts of the tag stage; none for shared memory.
    pub tag: f64,
    /// Cycles of the pipe: per issue the larger of both and of the time the bytes need.
    pub cycles: f64,
    /// Distinct sectors per issue, added up; none for shared memory.
    pub sectors: f64,
    /// Runs of adjacent sectors per issue, added up; none for shared memory.
    pub runs: f64,
    /// Distinct lines per issue, added up; none for shared memory.
    pub lines: f64,
}

impl InstructionCounts {
    pub(super) fn add(&mut self, other: &Self, weight: f64) {
        self.issues += weight * other.issues;
        self.lanes += weight * other.lanes;
        self.data += weight * other.data;
        self.tag += weight * other.tag;
        self.cycles += weight * other.cycles;
        self.sectors += weight * other.sectors;
        self.runs += weight * other.runs;
        self.lines += weight * other.lines;
    }
}

/// What a block asks of the L2 for one field, all its copies (`multiplicity`) together; zero for a
/// shared field.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FieldCounts {
    /// Sectors per warp-wide load, added up: `V_up`, what the registers request.
    pub load_sectors: f64,
    /// Distinct sectors per warp over all its loads, added up over warps: `V_warp`.
    pub warp_load_sectors: f64,
    /// The same of the loads of one stretch of the program in one iteration of the loops around it, added
    /// up: what has to hit if nothing stays from one to the next. Of a single stretch the same number.
    pub iteration_load_sectors: f64,
    /// Distinct lines per warp-wide load, added up.
    pub load_lines: f64,
    /// Warp-wide loads.
    pub load_issues: f64,
    /// Sectors per warp-wide store, added up: what is written through.
    pub store_sectors: f64,
    /// Distinct sectors per warp over all its stores, added up over warps: stores that complete each
    /// other's sectors, or repeat each other, do so at once.
    pub warp_store_sectors: f64,
    /// Runs of adjacent sectors of warp-wide stores, beyond the one that each store has.
    pub further_store_runs: f64,
    /// Sectors per warp-wide atomic, added up.
    pub atomic_sectors: f64,
    /// Bytes that lanes change by atomics, each by itself.
    pub atomic_bytes: f64,
}

impl FieldCounts {
    /// Further runs of stores, without those that repeat what the same warp stores anyway.
    pub fn distinct_store_runs(&self) -> f64 {
        let distinct = self.warp_store_sectors / self.store_sectors.max(1e-9);
        self.further_store_runs * distinct.min(1.0)
    }
}

/// What the warps of a block do, as a mean over the blocks that were looked at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct L1Counts {
    /// Per instruction, by its position in the program, for one copy of its field.
    pub instructions: Vec<InstructionCounts>,
    /// Per field, by its number.
    pub fields: Vec<FieldCounts>,
    /// All instructions of all copies together; shared memory included.
    pub total: InstructionCounts,
    /// Cycles of the pipe: of loads those of the slower stage, of stores those of the data stage, as
    /// they are written through without looking for their line.
    pub pipe_cycles: f64,
    /// Warp-wide stores.
    pub store_issues: f64,
    /// Work items that a block does.
    pub work_items: f64,
    /// Warps of a block that do anything.
    pub warps: f64,
    /// The blocks that were looked at, by their place in the grid.
    pub blocks: Vec<BlockIndex>,
    /// Whether a part of the warps, blocks or iterations stood for all of them.
    pub sampled: bool,
}

impl L1Counts {
    /// Makes totals and sums per field of what is known per instruction.
    pub(super) fn add_up(&mut self, kernel: &Kernel, program: &Program<i64>) {
        for (instruction, of) in program.instructions.iter().zip(&self.instructions) {
            let copies = kernel.field(instruction.field).multiplicity as f64;
            self.total.add(of, copies);
            let is_store = instruction.kind == AccessKind::Store;
            self.pipe_cycles += copies * if is_store { of.data } else { of.cycles };
            self.store_issues += if is_store { copies * of.issues } else { 0.0 };
            let field = &mut self.fields[usize::from(instruction.field.0)];
            match instruction.kind {
                AccessKind::Load => {
                    field.load_sectors += copies * of.sectors;
                    // Shared memory has no lines.
                    if of.lines > 0.0 {
                        field.load_lines += copies * of.lines;
                        field.load_issues += copies * of.issues;
                    }
                }
                AccessKind::Store => {
                    field.store_sectors += copies * of.sectors;
                    field.further_store_runs += copies * (of.runs - of.issues).max(0.0);
                }
                AccessKind::Atomic => {
                    field.atomic_sectors += copies * of.sectors;
                    // Those of shared memory never meet those of other blocks.
                    if of.sectors > 0.0 {
                        field.atomic_bytes += copies * of.lanes * instruction.width as f64;
                    }
                }
            }
        }
    }

    /// Cycles of the pipe per work item; `None` for a block without work items.
    pub fn cycles_per_item(&self) -> Option<f64> {
        (self.work_items > 0.0).then(|| self.total.cycles / self.work_items)
    }

    /// Distinct lines per warp-wide load of global memory, on average; `None` without loads.
    pub fn lines_per_load(&self) -> Option<f64> {
        let (lines, issues) =
            self.fields.iter().fold((0.0, 0.0), |(l, i), f| (l + f.load_lines, i + f.load_issues));
        (issues > 0.0).then(|| lines / issues)
    }
}
