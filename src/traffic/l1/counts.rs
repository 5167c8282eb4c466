//! What was counted.

use super::pipe::Pipe;
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::Program;
use crate::quantity::{Bytes, Cycles, ItemCount, PerBlock, PerItem, Sectors, Share, Times, Wavefronts};
use crate::space::BlockIndex;

/// What one instruction of a program does in a block, as a mean over the blocks that were looked at.
/// Loops count once per iteration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InstructionCounts {
    /// Times that a warp issues it with at least one active lane.
    pub issues: Times<PerBlock>,
    /// Active lanes per issue, added up.
    pub lanes: Times<PerBlock>,
    /// Wavefronts of the data stage.
    pub data: Wavefronts<PerBlock>,
    /// Wavefronts of the tag stage; none for shared memory.
    pub tag: Wavefronts<PerBlock>,
    /// Cycles of the pipe: per issue the larger of both and of the time the bytes need.
    pub cycles: Cycles<PerBlock>,
    /// Distinct sectors per issue, added up; none for shared memory.
    pub sectors: Sectors<PerBlock>,
    /// Runs of adjacent sectors per issue, added up; none for shared memory.
    pub runs: Times<PerBlock>,
    /// Distinct lines per issue, added up; none for shared memory.
    pub lines: Times<PerBlock>,
}

impl InstructionCounts {
    pub(super) fn add(&mut self, other: &Self, weight: f64) {
        self.issues += other.issues * weight;
        self.lanes += other.lanes * weight;
        self.data += other.data * weight;
        self.tag += other.tag * weight;
        self.cycles += other.cycles * weight;
        self.sectors += other.sectors * weight;
        self.runs += other.runs * weight;
        self.lines += other.lines * weight;
    }
}

/// What a block asks of the L2 for one field, all its copies (`multiplicity`) together; zero for a
/// shared field.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FieldCounts {
    /// Sectors per warp-wide load, added up: `V_up`, what the registers request.
    pub load_sectors: Sectors<PerBlock>,
    /// Distinct sectors per warp over all its loads, added up over warps: `V_warp`.
    pub warp_load_sectors: Sectors<PerBlock>,
    /// The same of the loads of one stretch of the program in one iteration of the loops around it, added
    /// up: what has to hit if nothing stays from one to the next. Of a single stretch the same number.
    pub iteration_load_sectors: Sectors<PerBlock>,
    /// Distinct lines per warp-wide load, added up.
    pub load_lines: Times<PerBlock>,
    /// Warp-wide loads.
    pub load_issues: Times<PerBlock>,
    /// Sectors per warp-wide store, added up: what is written through.
    pub store_sectors: Sectors<PerBlock>,
    /// Distinct sectors per warp over all its stores, added up over warps: stores that complete each
    /// other's sectors, or repeat each other, do so at once.
    pub warp_store_sectors: Sectors<PerBlock>,
    /// Runs of adjacent sectors of warp-wide stores, beyond the one that each store has.
    pub further_store_runs: Times<PerBlock>,
    /// Distinct lines per warp-wide store, added up: each is a request to the L2.
    pub store_lines: Times<PerBlock>,
    /// Sectors per warp-wide atomic, added up.
    pub atomic_sectors: Sectors<PerBlock>,
    /// Bytes that lanes change by atomics, each by itself.
    pub atomic_bytes: Bytes<PerBlock>,
}

impl FieldCounts {
    /// Sectors of a line that a load asks for at once, on average: what one request to the L2 can bring.
    pub fn sectors_per_request(&self) -> f64 {
        (self.load_sectors.get() / self.load_lines.get().max(1e-9)).max(1.0)
    }

    /// Further runs of stores, without those that repeat what the same warp stores anyway.
    pub fn distinct_store_runs(&self) -> Times<PerBlock> {
        let distinct = self.warp_store_sectors / self.store_sectors.max(Sectors::new(1e-9));
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
    pub pipe_cycles: Cycles<PerBlock>,
    /// Warp-wide stores to global memory.
    pub store_issues: Times<PerBlock>,
    /// Warp-wide loads and atomics of global memory.
    pub global_loads: Times<PerBlock>,
    /// Work items that a block does.
    pub work_items: ItemCount<PerBlock>,
    /// Warps of a block that do anything.
    pub warps: Times<PerBlock>,
    /// The blocks that were looked at, by their place in the grid.
    pub blocks: Vec<BlockIndex>,
    /// The share of all blocks for which each of these stands; empty where each stands for as many.
    pub shares: Vec<Share>,
    /// Whether a part of the warps, blocks or iterations stood for all of them.
    pub sampled: bool,
}

impl L1Counts {
    /// Adds what other warps do, so many times; without totals.
    pub(super) fn add_warps(&mut self, other: &Self, times: f64) {
        for (counts, more) in self.instructions.iter_mut().zip(&other.instructions) {
            counts.add(more, times);
        }
        for (field, more) in self.fields.iter_mut().zip(&other.fields) {
            field.warp_load_sectors += more.warp_load_sectors * times;
            field.iteration_load_sectors += more.iteration_load_sectors * times;
            field.warp_store_sectors += more.warp_store_sectors * times;
        }
        self.warps += other.warps * times;
        self.sampled |= other.sampled;
    }

    /// Adds what the same warps do in another part of the program, so many times; without totals.
    pub(super) fn add_part(&mut self, other: &Self, times: f64) {
        let warps = self.warps;
        self.add_warps(other, times);
        self.warps = warps.max(other.warps * times);
    }

    /// Makes totals and sums per field of what is known per instruction.
    pub(super) fn add_up(&mut self, kernel: &Kernel, program: &Program<i64>, pipe: &Pipe) {
        for (instruction, of) in program.instructions.iter().zip(&self.instructions) {
            let copies = kernel.field(instruction.field).multiplicity as f64;
            self.total.add(of, copies);
            let is_store = instruction.kind == AccessKind::Store;
            let floor = pipe.shared_floor(instruction.width);
            let of_store = || (of.data.get() * pipe.wavefront).max(of.issues.get() * floor);
            let cycles = if is_store { Cycles::new(of_store()) } else { of.cycles };
            self.pipe_cycles += cycles * copies;
            let space = kernel.field(instruction.field).space;
            if is_store && space == Space::Global {
                self.store_issues += of.issues * copies;
            }
            if !is_store && space.in_memory() {
                self.global_loads += of.issues * copies;
            }
            let field = &mut self.fields[usize::from(instruction.field.0)];
            match instruction.kind {
                AccessKind::Load => {
                    field.load_sectors += of.sectors * copies;
                    // Shared memory has no lines.
                    if of.lines > Times::ZERO {
                        field.load_lines += of.lines * copies;
                        field.load_issues += of.issues * copies;
                    }
                }
                AccessKind::Store => {
                    field.store_sectors += of.sectors * copies;
                    field.store_lines += of.lines * copies;
                    field.further_store_runs += (of.runs - of.issues).or_none() * copies;
                }
                AccessKind::Atomic => {
                    field.atomic_sectors += of.sectors * copies;
                    // Those of shared memory never meet those of other blocks.
                    if of.sectors > Sectors::ZERO {
                        field.atomic_bytes += Bytes::new(copies * of.lanes.get() * instruction.width as f64);
                    }
                }
            }
        }
    }

    /// Cycles of the pipe per work item; `None` for a block without work items.
    pub fn cycles_per_item(&self) -> Option<Cycles<PerItem>> {
        (self.work_items > ItemCount::ZERO).then(|| self.total.cycles.per_item(self.work_items))
    }

    /// Distinct lines per warp-wide load of global memory, on average; `None` without loads.
    pub fn lines_per_load(&self) -> Option<f64> {
        let none = (Times::ZERO, Times::ZERO);
        let (lines, issues) =
            self.fields.iter().fold(none, |(l, i), f| (l + f.load_lines, i + f.load_issues));
        (issues > Times::ZERO).then(|| lines / issues)
    }
}
