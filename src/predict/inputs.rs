//! What the time of a launch depends on, and what follows from that for one unit at a time.

use super::code::{Code, working_threads};
use super::parts::{RateLimits, Terms};
use crate::curve::TimeFit;
use crate::device::Device;
use crate::kernel::{InstructionClass, Precision, Work};
use crate::launch::{Launch, Occupancy};
use crate::quantity::{Bytes, Cycles, ItemCount, PerItem, PerLaunch, Seconds, Times};
use crate::traffic::{ThreadPath, Volumes};

/// Share of the bytes from and to the L2 below which those from and to memory are no traffic.
const LEFT_OVER: f64 = 1e-6;

/// What the time depends on.
pub(super) struct Inputs<'a> {
    pub(super) device: &'a Device,
    pub(super) work: &'a Work,
    pub(super) launch: &'a Launch,
    pub(super) occupancy: &'a Occupancy,
    pub(super) volumes: &'a Volumes,
    pub(super) path: &'a ThreadPath,
    /// Work items of the grid.
    pub(super) items: ItemCount<PerLaunch>,
    /// Blocks that have work.
    pub(super) working_blocks: i64,
}

impl Inputs<'_> {
    pub(super) fn clock(&self) -> f64 {
        self.device.clock.value.0
    }

    pub(super) fn sms(&self) -> f64 {
        self.device.sm.count.value.0 as f64
    }

    /// Blocks of the SM that has most of them over the average.
    pub(super) fn imbalance(&self) -> f64 {
        let (blocks, sms) = (self.working_blocks as f64, self.sms());
        (blocks / sms).ceil() * sms / blocks
    }

    /// Cycles of work items on all SMs.
    pub(super) fn on_sms(&self, cycles: Cycles<PerItem>) -> Seconds {
        Seconds::new(cycles.in_all(self.items).get() / (self.sms() * self.clock()))
    }

    /// How long each unit computes: by the flops of the document, and by its instructions where it has some.
    fn units(&self) -> Vec<Seconds> {
        let rates = &self.device.rates;
        let (rate, unit) = match self.work.precision {
            Precision::F64 => (rates.fp64.value.0, InstructionClass::Fp64),
            Precision::F32 => (rates.fp32.value.0, InstructionClass::Fp32),
            Precision::F16 => (rates.fp16.value.0, InstructionClass::Fp16),
        };
        let mut of_flops = self.on_sms(Cycles::new(self.work.counted_flops() / (rate as f64).max(1.0)));
        let mut units = Vec::new();
        for (class, count) in self.work.instructions.given() {
            let Some(lanes) = self.lanes(class) else { continue };
            let time = self.on_sms(Cycles::new(count.get() / lanes.max(1.0)));
            if class == unit {
                of_flops = of_flops.max(time);
            } else {
                units.push(time);
            }
        }
        units.push(of_flops);
        units
    }

    /// The unit that computes longest.
    pub(super) fn fp(&self) -> Seconds {
        self.units().into_iter().fold(Seconds::ZERO, Seconds::max)
    }

    /// The same, or all of them with addresses and branches where they take turns in one unit of each scheduler.
    pub(super) fn arithmetic(&self, fit: &TimeFit) -> Seconds {
        use InstructionClass::{Control, Int};
        let Some(cycles) = &self.device.sm.vector_cycles else { return self.fp() };
        let said = [Int, Control].iter().any(|&class| self.work.instructions.count(class).is_some());
        let addresses = if said { 0.0 } else { self.overhead(fit) };
        let computing = self.units().into_iter().fold(Seconds::ZERO, |sum, time| sum + time);
        computing + self.on_sms(Cycles::new(addresses * cycles.value.0 / self.schedulers()))
    }

    pub(super) fn schedulers(&self) -> f64 {
        (self.device.sm.schedulers.value.0 as f64).max(1.0)
    }

    /// Lanes that an SM does of a class per cycle; `None` for what other limits are about, and for products of
    /// small matrices, whose shapes differ. A fused multiplication and addition is one instruction and two flops.
    fn lanes(&self, class: InstructionClass) -> Option<f64> {
        let rates = &self.device.rates;
        match class {
            InstructionClass::Fp64 => Some(rates.fp64.value.0 as f64 / 2.0),
            InstructionClass::Fp32 => Some(rates.fp32.value.0 as f64 / 2.0),
            // Two halves at once.
            InstructionClass::Fp16 => Some(rates.fp16.value.0 as f64 / 4.0),
            InstructionClass::Int => Some(rates.int.value.0 as f64),
            InstructionClass::Special => Some(rates.special.value.0 as f64),
            InstructionClass::Convert => Some(rates.convert.value.0 as f64),
            _ => None,
        }
    }

    /// Instructions of warps per work item: what the document says, and an estimate of what it leaves out.
    fn instructions(&self, fit: &TimeFit) -> f64 {
        use InstructionClass::{Control, Fp16, Fp32, Fp64, Global, Int, Shared};
        let given = &self.work.instructions;
        let count = |class| given.count(class).map(Times::get);
        let any = |classes: &[InstructionClass]| classes.iter().any(|&class| count(class).is_some());
        let warps = self.volumes.warps_per_thread.get();
        let said: f64 = given.given().map(|(_, n)| n.get()).sum();
        let at_once = if self.work.precision == Precision::F16 { 4.0 } else { 2.0 };
        let arithmetic = self.work.counted_flops() / at_once;
        let mut estimated = if any(&[Fp64, Fp32, Fp16]) { 0.0 } else { arithmetic * warps };
        if !any(&[Shared, Global]) {
            estimated += self.volumes.issues.get();
        }
        if any(&[Int, Control]) {
            return said * warps + estimated;
        }
        said * warps + fit.issue_overhead.value * estimated + self.overhead(fit)
    }

    /// Instructions of warps per work item that no document says: addresses, branches and counters. Each warp has as
    /// many as its busiest thread.
    fn overhead(&self, fit: &TimeFit) -> f64 {
        let of = &self.path.overhead;
        let each = fit.thread_instructions.value
            + fit.far_instructions.value * of.far.get()
            + fit.entry_instructions.value * of.entries.get()
            + fit.iteration_instructions.value * of.iterations.get()
            + fit.condition_instructions.value * of.conditions.get();
        let threads = self.launch.threads_per_block() as f64 * self.working_blocks as f64;
        let warps = self.volumes.warps_per_thread.get() * threads / self.items.get();
        each * warps + fit.address_instructions.value * self.volumes.loads.get()
    }

    pub(super) fn issue(&self, fit: &TimeFit) -> Seconds {
        self.on_sms(Cycles::new(self.instructions(fit) / self.schedulers()))
    }

    /// Issuing instructions that have to be fetched first: each wave of blocks waits for each of them.
    pub(super) fn fetch(&self, issue: Seconds) -> Seconds {
        let threads = working_threads(self.launch, self.working_blocks);
        let code = Code::new(self.work, self.device, self.path, self.items, threads);
        match code.fetch_cycles(self.device) {
            Some(cycles) => issue + Seconds::new(self.waves(1.0) * cycles.get() / self.clock()),
            None => Seconds::ZERO,
        }
    }

    /// The pipe of the L1: its wavefronts, and what comes from and goes to the L2 through it. Beside it its requests to
    /// the L2, which take their time however few sectors of their line they are for.
    pub(super) fn l1(&self, fit: &TimeFit) -> Seconds {
        let wavefronts = self.volumes.l1.wavefront_cycles * fit.l1_pipe.value;
        let fills = self.volumes.l2.total().get() / fit.fill_bytes.value;
        let of = &self.volumes.requests;
        let requests = of.load.get() * fit.load_request.value + of.store.get() * fit.store_request.value;
        self.on_sms((wavefronts + Cycles::new(fills)).max(Cycles::new(requests)))
    }

    /// Waves of blocks that an SM goes through: with so many times the average of blocks.
    pub(super) fn waves(&self, imbalance: f64) -> f64 {
        (imbalance * self.working_blocks as f64 / self.occupancy.wave_blocks as f64).max(1.0)
    }

    /// The way to memory and back of all waves of threads.
    pub(super) fn way(&self, fit: &TimeFit) -> Seconds {
        // Who only stores does not wait for what comes back.
        let waits = if self.volumes.loads > Times::ZERO { 1.0 } else { fit.store_only.value };
        Seconds::new(self.waves(1.0) * fit.cycles_of_thread(self.device) * waits / self.clock())
    }

    pub(super) fn l2(&self) -> Seconds {
        let bytes = (self.volumes.l2.total() + self.volumes.l2.code).in_all(self.items);
        Seconds::new(bytes.get() / self.device.l2.bandwidth.value.0)
    }

    /// Share of the bytes to and from memory that are stored.
    pub(super) fn stored_share(&self) -> f64 {
        let (dram, bytes) = (&self.volumes.dram, self.volumes.dram.total());
        if bytes > Bytes::ZERO { dram.store.total / bytes } else { 0.0 }
    }

    pub(super) fn limits(&self, terms: &Terms) -> RateLimits {
        let rate = |time: Seconds| (time > Seconds::ZERO).then(|| self.items / time);
        let dram = if self.uses_memory() { rate(terms.dram) } else { None };
        RateLimits { fp: rate(terms.fp), l1: rate(terms.l1), l2: rate(terms.l2), dram }
    }

    /// Whether any bytes to or from memory are left. Where all arrays stay in a cache, what is left of sums
    /// and of the tail of a fitted hit rate is no traffic.
    fn uses_memory(&self) -> bool {
        let (dram, l2) = (self.volumes.dram.total(), self.volumes.l2.total());
        let sector = self.device.l2.sector.value.0 as f64;
        dram > l2 * LEFT_OVER && dram.in_all(self.items) >= Bytes::new(sector)
    }
}
