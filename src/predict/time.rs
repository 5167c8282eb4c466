//! From volumes to time (section 2 of the paper): four limiters, and what the paper names as missing.

use super::code::{Code, working_threads};
use super::parts::{Limiter, RateLimits, Terms, Time};
use crate::curve::TimeFit;
use crate::device::Device;
use crate::kernel::{InstructionClass, Precision, Work};
use crate::launch::{Launch, Occupancy};
use crate::quantity::{Bytes, Cycles, ItemCount, PerItem, PerLaunch, Seconds, Share, Times};
use crate::traffic::{FieldVolumes, PIECE, ThreadPath, Volumes};

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
    fn clock(&self) -> f64 {
        self.device.clock.value.0
    }

    fn sms(&self) -> f64 {
        self.device.sm.count.value.0 as f64
    }

    /// Blocks of the SM that has most of them over the average.
    fn imbalance(&self) -> f64 {
        let (blocks, sms) = (self.working_blocks as f64, self.sms());
        (blocks / sms).ceil() * sms / blocks
    }

    /// Cycles of work items on all SMs.
    fn on_sms(&self, cycles: Cycles<PerItem>) -> Seconds {
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
    fn fp(&self) -> Seconds {
        self.units().into_iter().fold(Seconds::ZERO, Seconds::max)
    }

    /// The same, or all of them with addresses and branches where they take turns in one unit of each scheduler.
    fn arithmetic(&self, fit: &TimeFit) -> Seconds {
        use InstructionClass::{Control, Int};
        let Some(cycles) = &self.device.sm.vector_cycles else { return self.fp() };
        let said = [Int, Control].iter().any(|&class| self.work.instructions.count(class).is_some());
        let addresses = if said { 0.0 } else { self.overhead(fit) };
        let computing = self.units().into_iter().fold(Seconds::ZERO, |sum, time| sum + time);
        computing + self.on_sms(Cycles::new(addresses * cycles.value.0 / self.schedulers()))
    }

    fn schedulers(&self) -> f64 {
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

    fn issue(&self, fit: &TimeFit) -> Seconds {
        self.on_sms(Cycles::new(self.instructions(fit) / self.schedulers()))
    }

    /// Issuing instructions that have to be fetched first: each wave of blocks waits for each of them.
    fn fetch(&self, issue: Seconds) -> Seconds {
        let threads = working_threads(self.launch, self.working_blocks);
        let code = Code::new(self.work, self.device, self.path, self.items, threads);
        match code.fetch_cycles(self.device) {
            Some(cycles) => issue + Seconds::new(self.waves(1.0) * cycles.get() / self.clock()),
            None => Seconds::ZERO,
        }
    }

    /// The pipe of the L1: its wavefronts, and what comes from and goes to the L2 through it. Beside it its requests to
    /// the L2, which take their time however few sectors of their line they are for.
    fn l1(&self, fit: &TimeFit) -> Seconds {
        let wavefronts = self.volumes.l1.wavefront_cycles * fit.l1_pipe.value;
        let fills = self.volumes.l2.total().get() / fit.fill_bytes.value;
        let of = &self.volumes.requests;
        let requests = of.load.get() * fit.load_request.value + of.store.get() * fit.store_request.value;
        self.on_sms((wavefronts + Cycles::new(fills)).max(Cycles::new(requests)))
    }

    /// Waves of blocks that an SM goes through: with so many times the average of blocks.
    fn waves(&self, imbalance: f64) -> f64 {
        (imbalance * self.working_blocks as f64 / self.occupancy.wave_blocks as f64).max(1.0)
    }

    fn l2(&self) -> Seconds {
        let bytes = (self.volumes.l2.total() + self.volumes.l2.code).in_all(self.items);
        Seconds::new(bytes.get() / self.device.l2.bandwidth.value.0)
    }

    /// Share of the bytes to and from memory that are stored.
    fn stored_share(&self) -> f64 {
        let (dram, bytes) = (&self.volumes.dram, self.volumes.dram.total());
        if bytes > Bytes::ZERO { dram.store.total / bytes } else { 0.0 }
    }

    fn limits(&self, terms: &Terms) -> RateLimits {
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

/// The paper's model: the slowest of four limiters.
pub(super) fn roofline(of: &Inputs<'_>) -> Time {
    let bytes = of.volumes.dram.total().in_all(of.items);
    let terms = Terms {
        fp: of.fp(),
        l1: of.on_sms(of.volumes.l1.wavefront_cycles),
        l2: of.l2(),
        dram: Seconds::new(bytes.get() / of.device.dram.bandwidth.value.0),
        ..Terms::default()
    };
    let (seconds, limiter) = longest(&terms);
    Time { seconds, limiter, limits: of.limits(&terms), terms }
}

/// The four limiters with latency, waits, issue, tail, launch, address translation and a smooth combination.
pub(super) fn combined(of: &Inputs<'_>, fit: &TimeFit) -> Time {
    let mut terms = Terms {
        fp: of.arithmetic(fit),
        l1: of.l1(fit),
        l2: of.l2(),
        dram: dram(of, fit),
        latency: latency(of, fit),
        waits: waits(of, fit),
        issue: of.issue(fit),
        tlb: translation(of, fit),
        dispatch: Seconds::new(of.launch.blocks() as f64 * fit.cycles_of_dispatch(of.device) / of.clock()),
        launch: Seconds::new(fit.seconds_of_launch(of.device)),
        ..Terms::default()
    };
    terms.fetch = of.fetch(terms.issue);
    let busy = [terms.fp, terms.l1, terms.issue];
    // Nothing is on the way for a warp while it computes or is in the L1 itself. Where no loop waits, that is part of
    // what a block takes beside its way to memory.
    let waits = terms.waits;
    let of_warp = |busy: &[Seconds; 3], waves: f64| {
        if waits > Seconds::ZERO { waits * waves + alone(of, busy) } else { Seconds::ZERO }
    };
    terms.waits = of_warp(&busy, 1.0);
    let (most, limiter) = longest(&terms);
    // Bytes wait for a wave's latency, wherever they come from.
    let bytes = norm(&[terms.l2, terms.dram], fit.limiter_norm.value);
    let memory = norm(&[bytes, terms.latency], fit.latency_norm.value);
    let blocks_per_sm = of.occupancy.resident_per_sm(of.device, of.working_blocks) as f64;
    // Between barriers a block loads or computes: one hides less of the other.
    let apart = of.path.kept_apart;
    let synced = apart > Share::ZERO;
    let joined = if synced { fit.barrier_norm.value } else { fit.limiter_norm.value };
    let ways = match of.occupancy.resident_per_sm(of.device, of.working_blocks) {
        1 if of.occupancy.blocks_per_sm == 1 => 1.0,
        1 => fit.block_ways.value.min(1.0),
        _ if synced => fit.synced_block_ways.value,
        _ => fit.block_ways.value,
    };
    // What warps of an SM do side by side hides less of each other than what other parts of the device do.
    // Blocks that run at the same time wait at the same time.
    let of_sm = |busy: &[Seconds; 3], waves: f64| {
        norm(&[busy[0], busy[1], busy[2], of_warp(busy, waves)], fit.core_norm.value)
    };
    // Between barriers a block computes from what all of it has loaded before. Elsewhere accesses are part of the loading,
    // and in loops only what is loaded first has nothing beside it.
    let first = |computing: Seconds, share: Share| {
        computing.min(memory * share) * (fit.first_wave.value / of.waves(1.0))
    };
    if apart > Share::ZERO {
        terms.first_wave += first(of_sm(&busy, 1.0), apart);
    }
    let rounds = of.path.rounds.get();
    if apart < Share::ALL && rounds > 0.0 {
        let beside = first(norm(&[terms.fp, terms.issue], fit.core_norm.value), apart.rest());
        terms.first_wave += beside * (1.0 / rounds);
    }
    let join = |imbalance: f64| {
        let waves = of.waves(imbalance) / of.waves(1.0);
        let busy = busy.map(|time| time * imbalance);
        let together = norm(&busy, fit.core_norm.value);
        // Where nothing waits, that is all.
        let of_sm = if waits > Seconds::ZERO { of_sm(&busy, waves) } else { together };
        // One block after the other takes a place on an SM: none is through before its own work is done and what it
        // loads has come, whatever other blocks do in the meantime.
        let block = together * (1.0 / blocks_per_sm) + way(of, fit) * (waves * ways);
        let all = |of_sm| norm(&[of_sm, memory, terms.fetch * imbalance], joined);
        let hidden = all(of_sm);
        let shown = if block > of_sm { all(block) - hidden } else { Seconds::ZERO };
        (hidden + shown, shown)
    };
    let ((even, blocks), (core, _)) = (join(1.0), join(of.imbalance()));
    // A slot of an SM stays empty until the last warp of its block ends and the next block is in.
    terms.tail = terms.first_wave + core * (1.0 + fit.few_blocks.value / blocks_per_sm) - even;
    let with_side = |core| norm(&[core, terms.tlb, terms.dispatch], fit.side_norm.value);
    let all = with_side(even + terms.tail);
    if blocks > Seconds::ZERO {
        terms.blocks = all - with_side(even - blocks + terms.tail);
    }
    terms.combination = all - terms.tail - most;
    let seconds = all + terms.launch;
    let limiter = if terms.launch > most { Limiter::Launch } else { limiter };
    Time { seconds, limiter, limits: of.limits(&terms), terms }
}

/// Bandwidth of the memory: what one-way traffic reaches, less what turns between reading and writing,
/// scattered waves, data that comes again and short stores cost.
fn dram(of: &Inputs<'_>, fit: &TimeFit) -> Seconds {
    let bytes = of.volumes.dram.total().get();
    if bytes <= 0.0 {
        return Seconds::ZERO;
    }
    let share = of.stored_share();
    let one_way = fit.one_way(of.device);
    let turns = 1.0 + fit.turnaround.value * share * (1.0 - share);
    // Contiguous memory is what the bandwidth is measured on.
    let contiguous = fit.scatter_bytes.value / of.device.tlb.page.value.0 as f64;
    let scatter = (fit.scatter_bytes.value * of.volumes.scatter.get()).max(contiguous);
    let opened = |s: f64| 1.0 + fit.scatter_loss.value * s / (1.0 + s / fit.scatter_half.value);
    let jumps = opened(scatter) / opened(contiguous);
    let again = (of.volumes.dram.load.total - of.volumes.first_loads).or_none().get() / bytes;
    let refetch = 1.0 + fit.refetch_loss.value * again;
    let runs = fit.run_bytes.value * of.volumes.further_runs.get();
    let incomplete = fit.incomplete_bytes.value * of.volumes.dram.store.incomplete.get();
    let moved = bytes + of.volumes.beside.get();
    let all = moved * turns * jumps * refetch + runs + incomplete + apart(of, fit);
    let bytes = Bytes::<PerItem>::new(all);
    Seconds::new(bytes.in_all(of.items).get() / one_way)
}

/// Bytes per work item that stores cost beyond themselves which lie so far apart that each opens a piece of memory of
/// its own; where the rest of a sector has to be read first, twice.
fn apart(of: &Inputs<'_>, fit: &TimeFit) -> f64 {
    let of_field = |field: &FieldVolumes| {
        let written = field.dram.store.total + field.dram.load.partial_store_fill;
        let each = fit.piece_bytes.value * field.spread.get() / PIECE as f64;
        written.get() * (each - 1.0).max(0.0)
    };
    of.volumes.fields.iter().map(of_field).sum()
}

/// Little's law: each wave of threads takes at least the way to memory and back, and longer with each store, and with
/// each step of a loop from a load from shared memory to a store there.
fn latency(of: &Inputs<'_>, fit: &TimeFit) -> Seconds {
    let updates = of.waves(1.0) * fit.update_cycles.value * of.path.shared_updates.get();
    way(of, fit) * (1.0 + fit.store_cycles.value * of.volumes.thread_stores.get())
        + Seconds::new(updates / of.clock())
}

/// The way to memory and back of all waves of threads.
fn way(of: &Inputs<'_>, fit: &TimeFit) -> Seconds {
    // Who only stores does not wait for what comes back.
    let waits = if of.volumes.loads > Times::ZERO { 1.0 } else { fit.store_only.value };
    Seconds::new(of.waves(1.0) * fit.cycles_of_thread(of.device) * waits / of.clock())
}

/// What a warp takes by itself of units that it shares with the others of its scheduler and of its SM.
fn alone(of: &Inputs<'_>, [fp, l1, issue]: &[Seconds; 3]) -> Seconds {
    let warps = of.occupancy.resident_warps(of.device, of.working_blocks) as f64;
    fp.max(*issue) * (1.0 / (warps / of.schedulers()).max(1.0)) + *l1 * (1.0 / warps)
}

/// Each wave of threads takes at least what its busiest thread waits for: a trip to memory for each iteration that
/// stores what it loads, if the warp has not loaded it before, and part of the latency of other loads in loops.
fn waits(of: &Inputs<'_>, fit: &TimeFit) -> Seconds {
    let device = of.device;
    // What a warp loaded a step before, along a line, is near: only the rest is waited for all the way.
    let far = of.volumes.new_to_warps;
    let trip = device.dram.latency.value.0 * far.get() + device.l1.latency.value.0 * far.rest().get();
    // One load of an iteration that stores what it loads waits all the way, and has its own part below.
    let further = (of.path.looped_loads - of.path.waits).or_none();
    let cycles = of.path.waits.get() * fit.memory_wait.value * trip
        + further.get() * fit.load_wait.value * load_latency(of);
    Seconds::new(of.waves(1.0) * cycles / of.clock())
}

/// Cycles that a load from global memory takes on average: those of the cache that it hits.
fn load_latency(of: &Inputs<'_>) -> f64 {
    let (device, volumes) = (of.device, of.volumes);
    let [l1, l2, dram] =
        [&device.l1.latency, &device.l2.latency, &device.dram.latency].map(|latency| latency.value.0);
    let asked = volumes.l1.load_bytes;
    if asked <= Bytes::ZERO {
        return l1;
    }
    let past_l1 = (volumes.l2.load.total / asked).min(1.0);
    let past_l2 = (volumes.dram.load.total / asked).min(past_l1);
    l1 + past_l1 * (l2 - l1).max(0.0) + past_l2 * (dram - l2).max(0.0)
}

/// Blocks that touch very many pages wait for their translation, on devices whose TLB has been seen to
/// end.
fn translation(of: &Inputs<'_>, fit: &TimeFit) -> Seconds {
    let pages = of.volumes.tlb.pages_at_a_time.get();
    if pages <= 0.0 || of.device.tlb.l1_reach.is_none() {
        return Seconds::ZERO;
    }
    let many = 1.0 / (1.0 + (fit.translation_pages.value / pages).powf(fit.translation_power.value));
    let blocks = of.working_blocks as f64;
    let cycles = blocks * fit.translation_cycles.value * of.volumes.tlb.pages_per_block.get() * many;
    Seconds::new(cycles / (of.sms() * of.clock()))
}

fn norm(parts: &[Seconds], p: f64) -> Seconds {
    let most = parts.iter().copied().fold(Seconds::ZERO, Seconds::max);
    if most <= Seconds::ZERO {
        return Seconds::ZERO;
    }
    // Powers of 0 and 1 are what they are without work.
    let power = |x: f64, p: f64| {
        #[expect(clippy::float_cmp, reason = "just these")]
        let known = (x == 0.0 && p > 0.0) || x == 1.0;
        if known { x } else { x.powf(p) }
    };
    most * power(parts.iter().map(|&t| power(t / most, p)).sum::<f64>(), 1.0 / p)
}

fn longest(terms: &Terms) -> (Seconds, Limiter) {
    let all = [
        (terms.fp, Limiter::Fp),
        (terms.l1, Limiter::L1),
        (terms.l2, Limiter::L2),
        (terms.dram, Limiter::Dram),
        (terms.latency, Limiter::Latency),
        (terms.waits, Limiter::Latency),
        (terms.issue, Limiter::Issue),
        (terms.fetch, Limiter::Fetch),
        (terms.tlb, Limiter::Tlb),
        (terms.dispatch, Limiter::Dispatch),
    ];
    // Of equal ones the later: memory before caches.
    all.into_iter()
        .filter(|this| this.0 > Seconds::ZERO)
        .fold((Seconds::ZERO, Limiter::Launch), |best, this| if this.0 >= best.0 { this } else { best })
}
