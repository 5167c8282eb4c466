//! What warps have done so far, by instruction and by field.

use super::blocks::Standing;
use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::lanes::Lanes;
use super::patterns::{self, AccessesMet, MetNumber};
use super::pipe::{Pipe, StageWavefronts, Touched};
use super::sectors::SectorSet;
use super::spans::UnitRun;
use crate::footprint::quotient;
use crate::kernel::{AccessKind, Kernel, Space};
use crate::launch::{Instruction, Program};
use crate::quantity::{Cycles, ItemCount, PerBlock, Sectors, Share, Times, Wavefronts};
use crate::random::Digest;

/// What was counted so far, over all warps.
pub(super) struct WarpTally<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) pipe: &'a Pipe,
    pub(super) counts: L1Counts,
    /// Accesses of lanes.
    pub(super) spent: usize,
    /// Sectors that the current warp has loaded, and those that it has stored, by field.
    pub(super) unions: Vec<[Union; 2]>,
    /// Warps that were begun.
    pub(super) begun: usize,
    /// What the current warp has done so far, as one number.
    pub(super) done: Digest,
    /// Whether it is only found how often instructions are issued, and how many were so far.
    pub(super) only_passes: bool,
    pub(super) passed: usize,
    /// Whether the current warp has touched anything.
    pub(super) issued: bool,
    met: AccessesMet,
    /// As [`Pipe::period`].
    period: Option<i64>,
}

/// Sectors of one field that a warp has loaded or stored.
#[derive(Debug, Clone, Default)]
pub(super) struct Union {
    sectors: SectorSet,
    /// Sectors per access, added up: as often as evaluated, and as often as they stand for.
    evaluated: f64,
    meant: f64,
    /// Sectors of the current iteration, and how often it is meant.
    iteration: SectorSet,
    weight: f64,
    /// Distinct sectors of iterations that are over, added up.
    of_iterations: f64,
}

impl Union {
    /// Distinct sectors: where iterations were left out, those that were run stand for them.
    fn sectors(&mut self) -> f64 {
        let scale = if self.evaluated > 0.0 { self.meant / self.evaluated } else { 1.0 };
        self.sectors.count() * scale
    }

    fn add(&mut self, number: u32, runs: impl Iterator<Item = UnitRun> + Clone, weight: f64) {
        self.evaluated += f64::from(number);
        self.meant += f64::from(number) * weight;
        self.weight = weight;
        self.iteration.extend(runs.clone());
        self.sectors.extend(runs);
    }

    fn end_of_iteration(&mut self) {
        self.of_iterations += self.iteration.count() * self.weight;
        self.iteration.clear();
    }
}

impl<'a> WarpTally<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        program: &Program<i64>,
        pipe: &'a Pipe,
        blocks: &[Standing],
    ) -> Self {
        let all: f64 = blocks.iter().map(|standing| standing.1).sum();
        let alike = blocks.windows(2).all(|pair| pair[0].1.total_cmp(&pair[1].1).is_eq());
        let unlike = blocks.iter().filter(|_| !alike);
        let counts = L1Counts {
            instructions: vec![InstructionCounts::default(); program.instructions.len()],
            fields: vec![FieldCounts::default(); kernel.fields.len()],
            blocks: blocks.iter().map(|standing| standing.0).collect(),
            shares: unlike.map(|standing| Share::new(standing.1 / all)).collect(),
            ..Default::default()
        };
        Self {
            kernel,
            pipe,
            counts,
            spent: 0,
            unions: Vec::new(),
            begun: 0,
            done: Digest::default(),
            only_passes: false,
            passed: 0,
            issued: false,
            met: AccessesMet::default(),
            period: pipe.period(),
        }
    }

    /// After so many bytes the same access costs the same again but for sets; `None` where it depends on more.
    pub(super) fn period_of(&self, width: i64, shared: bool) -> Option<i64> {
        if !shared && self.pipe.parts_by_set(width) { None } else { self.period }
    }

    /// Adds an access. Says what it was met as, and from where on, if that is remembered.
    pub(super) fn access(
        &mut self,
        program: &Program<i64>,
        position: usize,
        lanes: Lanes,
        weight: f64,
    ) -> Option<(MetNumber, i64)> {
        let instruction = &program.instructions[position];
        let shared = self.kernel.field(instruction.field).space == Space::Shared;
        let period = self.period_of(instruction.width, shared);
        let met =
            period.and_then(|period| self.met.find(lanes, instruction.width, shared, (self.pipe, period)));
        match met {
            Some((number, base)) => {
                let known = self.again(program, position, lanes.active, number, base, weight);
                debug_assert!(known, "it was found just now");
            }
            None => self.anew(program, position, lanes, weight),
        }
        met
    }

    /// Adds an access that was met before; whether it is still known.
    pub(super) fn again(
        &mut self,
        program: &Program<i64>,
        position: usize,
        active: u64,
        met: MetNumber,
        base: i64,
        weight: f64,
    ) -> bool {
        let instruction = &program.instructions[position];
        let shared = self.kernel.field(instruction.field).space == Space::Shared;
        let pipe = self.pipe;
        let Some(met) = self.met.get(met) else { return false };
        let mut one = InstructionCounts::of_lanes(active);
        let stages = [met.data, met.tag(base, pipe)];
        let touched = Touched { lanes: active.count_ones(), sectors: met.sectors, lines: met.lines };
        let wavefronts = pipe.wavefronts(stages, touched, instruction.width);
        one.cost(wavefronts, shared, instruction.width, pipe);
        if !shared {
            one.reach(met.sectors, met.runs.len(), met.lines);
        }
        if let Some(union) = union_of(&mut self.unions, instruction, shared) {
            let by = quotient(base, pipe.sector);
            union.add(met.sectors, met.runs.iter().map(|run| run.moved(by)), weight);
        }
        self.add(instruction, position, &one, active, weight);
        true
    }

    /// Adds an access that is not remembered.
    fn anew(&mut self, program: &Program<i64>, position: usize, lanes: Lanes, weight: f64) {
        let instruction = &program.instructions[position];
        let shared = self.kernel.field(instruction.field).space == Space::Shared;
        let (pipe, width) = (self.pipe, instruction.width);
        let mut one = InstructionCounts::of_lanes(lanes.active);
        if shared {
            one.cost(Pipe::shared(lanes, width), shared, width, pipe);
        } else {
            one.cost(pipe.global(lanes, width), shared, width, pipe);
            let sectors = lanes.touched(width, pipe.sector);
            let number = |units: usize| u32::try_from(units).expect("a warp touches few units");
            let (sectors, runs) = (number(sectors.len()), patterns::runs(&sectors));
            one.reach(sectors, runs.len(), number(lanes.touched(width, pipe.line).len()));
            if let Some(union) = union_of(&mut self.unions, instruction, shared) {
                union.add(sectors, runs.iter().copied(), weight);
            }
        }
        self.add(instruction, position, &one, lanes.active, weight);
    }

    fn add(
        &mut self,
        instruction: &Instruction<i64>,
        position: usize,
        one: &InstructionCounts,
        active: u64,
        weight: f64,
    ) {
        self.counts.instructions[position].add(one, weight);
        self.issued = true;
        let [lanes, sectors, cycles] =
            [one.lanes.get(), one.sectors.get(), one.cycles.get()].map(f64::to_bits);
        self.done.add(lanes ^ sectors.rotate_left(16) ^ cycles.rotate_left(32));
        // Several arrays of one field cost as much as several fields would.
        let copies = self.kernel.field(instruction.field).multiplicity;
        let copies = usize::try_from(copies).expect("there is at least one array");
        self.spent = self.spent.saturating_add(copies.saturating_mul(active.count_ones() as usize));
    }

    /// Passes an access without looking at its addresses.
    pub(super) fn pass(&mut self, position: usize, active: u64, weight: f64) {
        self.counts.instructions[position].add(&InstructionCounts::of_lanes(active), weight);
        self.issued = true;
    }

    /// What comes is another iteration of a loop, or comes after it.
    pub(super) fn end_of_iteration(&mut self) {
        self.unions.iter_mut().for_each(|[loads, _]| loads.end_of_iteration());
    }

    /// Adds the distinct sectors of a warp that is done.
    pub(super) fn end_of_warp(&mut self) {
        self.end_of_iteration();
        for (unions, field) in self.unions.iter_mut().zip(&mut self.counts.fields) {
            let [mut loads, mut stores] = std::mem::take(unions);
            field.warp_load_sectors += Sectors::new(loads.sectors());
            field.iteration_load_sectors += Sectors::new(loads.of_iterations);
            field.warp_store_sectors += Sectors::new(stores.sectors());
        }
    }

    /// Takes what was counted so far, and begins anew.
    pub(super) fn take(&mut self) -> L1Counts {
        let nothing = L1Counts {
            instructions: vec![InstructionCounts::default(); self.counts.instructions.len()],
            fields: vec![FieldCounts::default(); self.counts.fields.len()],
            blocks: self.counts.blocks.clone(),
            shares: self.counts.shares.clone(),
            sampled: self.counts.sampled,
            ..Default::default()
        };
        std::mem::replace(&mut self.counts, nothing)
    }

    /// All that was counted so many times, without totals, for blocks with so many work items.
    pub(super) fn finish(mut self, times: f64, work_items: ItemCount<PerBlock>) -> L1Counts {
        let kernel = self.kernel;
        let sum = self.take();
        self.counts.add_warps(&sum, times);
        self.counts.work_items = work_items;
        for (field, of) in self.counts.fields.iter_mut().zip(&kernel.fields) {
            field.warp_load_sectors *= of.multiplicity as f64;
            field.iteration_load_sectors *= of.multiplicity as f64;
            field.warp_store_sectors *= of.multiplicity as f64;
        }
        self.counts
    }
}

/// What a warp has loaded or stored of the field of an instruction.
fn union_of<'u>(
    unions: &'u mut [[Union; 2]],
    instruction: &Instruction<i64>,
    shared: bool,
) -> Option<&'u mut Union> {
    let [loads, stores] = unions.get_mut(usize::from(instruction.field.0))?;
    match instruction.kind {
        AccessKind::Load if !shared => Some(loads),
        AccessKind::Store if !shared => Some(stores),
        _ => None,
    }
}

impl InstructionCounts {
    /// One instruction in so many lanes.
    fn of_lanes(active: u64) -> Self {
        let lanes = Times::new(f64::from(active.count_ones()));
        Self { issues: Times::new(1.0), lanes, ..Default::default() }
    }

    /// Puts in what one instruction costs.
    fn cost(&mut self, wavefronts: StageWavefronts, shared: bool, width: i64, pipe: &Pipe) {
        self.data = Wavefronts::new(f64::from(wavefronts.data));
        self.tag = Wavefronts::new(f64::from(wavefronts.tag));
        let cycles = if shared {
            pipe.slower(wavefronts).max(pipe.shared_floor(width))
        } else {
            pipe.cycles(wavefronts, width)
        };
        self.cycles = Cycles::new(cycles);
    }

    /// Puts in what it touches.
    fn reach(&mut self, sectors: u32, runs: usize, lines: u32) {
        self.sectors = Sectors::new(f64::from(sectors));
        self.runs = Times::new(runs as f64);
        self.lines = Times::new(f64::from(lines));
    }
}
