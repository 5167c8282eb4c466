//! The analytic model beside a simulation of the same launch: volumes of a wave, and where they part.

use serde::Serialize;

use crate::cache::{CacheShape, Hierarchy, HierarchyConfig, LevelVolumes, Replacement, Waiting, WritePolicy};
use crate::device::Device;
use crate::launch::{Candidate, Infeasible, blocks_of_wave, work_items};
use crate::measure::measurements::MeasuredQuantity as Measured;
use crate::measure::parting::{DifferenceTerm, Machines, Parting, Steps};
use crate::measure::waves::{Earlier, earlier_launch, middle};
use crate::predict::{Estimator, Prediction, Unpredicted};
use crate::readable::readable;
use crate::trace::coalesce::{Coalescing, Requests};
use crate::trace::synth::{NoTrace, Synth};
use crate::trace::{BlockRequests, CacheGeometry, MovedRequests, Trace};
use crate::traffic::l1_capacity;

/// Why there is no comparison.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uncompared {
    /// The analytic model has no prediction.
    #[error("{0}")]
    Unpredicted(#[from] Unpredicted),
    /// There is no trace.
    #[error("{0}")]
    NoTrace(#[from] NoTrace),
    /// The caches cannot be simulated.
    #[error("{0}")]
    Cache(String),
}

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompareOptions {
    /// Waves that run before the one that is measured; fewer where all that could be reused comes after.
    pub warm_waves: u64,
    /// Ways of both caches; 0 makes them fully associative, which takes long.
    pub ways: u64,
    /// Whether differences are taken apart, for which caches of other kinds are simulated beside.
    pub explain: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { warm_waves: 4, ways: 16, explain: true }
    }
}

readable! {
    /// One quantity in both models.
    #[derive(Debug, Clone, PartialEq, Serialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    pub struct ComparedQuantity {
        /// Its name.
        name: &'static str,
        /// What it is measured in.
        unit: &'static str,
        /// By the analytic model.
        analytic: f64,
        /// By simulation.
        simulated: f64,
        /// Difference to the simulated value, in percent of it; null if that is 0 and the other is not.
        error_percent: Option<f64>,
        /// The parts of their difference, analytic less simulated: they add up to it. Empty where nobody asked.
        terms: Vec<DifferenceTerm>,
        /// The same in words, where the difference is more than a few percent.
        reasons: Vec<String>,
    }
}

impl ComparedQuantity {
    fn new(
        name: &'static str,
        unit: &'static str,
        [analytic, simulated]: [f64; 2],
        terms: Vec<DifferenceTerm>,
    ) -> Self {
        let error = error_percent(analytic, simulated);
        let reasons = if error.abs() > SMALL {
            terms.iter().map(|t| format!("{:+.2}: {}", t.value, t.reason)).collect()
        } else {
            Vec::new()
        };
        let error_percent = Some(error).filter(|e| e.is_finite());
        Self { name, unit, analytic, simulated, error_percent, terms, reasons }
    }
}

/// Difference of the analytic value to the simulated one, in percent of it; 0 of two zeros.
fn error_percent(analytic: f64, simulated: f64) -> f64 {
    #[expect(clippy::float_cmp, reason = "two zeros")]
    let same = analytic == simulated;
    if same { 0.0 } else { 100.0 * (analytic - simulated) / simulated }
}

/// A launch in both models.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// By the analytic model.
    #[serde(skip)]
    pub prediction: Prediction,
    /// Blocks of the wave that was simulated.
    pub blocks: u64,
    /// Blocks that ran before it.
    pub warm_blocks: u64,
    /// Blocks of which it could reuse something: those of a plane, and a wave.
    pub reach_blocks: u64,
    /// Volumes and miss rates.
    pub quantities: Vec<ComparedQuantity>,
}

/// The caches of a device as they are simulated: their lines and sectors, hashed sets, least recently used.
pub fn hierarchy_of(
    device: &Device,
    blocks_per_sm: u64,
    l1_bytes: f64,
    ways: u64,
) -> Result<HierarchyConfig, String> {
    let whole = |bytes: f64, line: u64, ways: u64| {
        let lines = bytes / line as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of lines")]
        let lines = (lines.max(1.0) as u64) / ways.max(1) * ways.max(1);
        lines.max(ways.max(1)) * line
    };
    let (l1, l2) = (&device.l1, &device.l2);
    let line = l1.line.value.0;
    let shape = |bytes: u64, line: u64, write: WritePolicy| {
        CacheShape::new(CacheGeometry::new(bytes, line, ways, "hash")?, Replacement::Lru, write)
    };
    let sector = (line / 8).max(32).min(line);
    let llc = device
        .llc
        .as_ref()
        .map(|llc| shape(whole(llc.capacity.value.0 as f64, line, ways), line, WritePolicy::BackAllocate));
    Ok(HierarchyConfig {
        l1: shape(whole(l1_bytes, line, ways), line, WritePolicy::ThroughNoAllocate)?,
        l2: shape(whole(l2.effective.value.0 as f64, line, ways), line, WritePolicy::BackAllocate)?,
        sms: u32::try_from(device.sm.count.value.0).map_err(|_| "too many SMs".to_owned())?,
        blocks_per_sm: u32::try_from(blocks_per_sm).map_err(|_| "too many blocks".to_owned())?,
        sector,
        llc: llc.transpose()?,
        fill: device.dram.fill.value.0,
        // Memory that is fetched in larger pieces than sectors is not simulated.
        pairs: device.dram.fetch.value.0 == sector,
    })
}

/// L1 and L2 of a device with so many blocks on each SM, which have so many bytes of shared memory.
pub fn hierarchy(device: &Device, blocks_per_sm: u64, shared_bytes: u64) -> Result<HierarchyConfig, String> {
    let left = (device.l1.capacity.value.0 as f64) - (shared_bytes * blocks_per_sm) as f64;
    Ok(HierarchyConfig { llc: None, ..hierarchy_of(device, blocks_per_sm, left, 16)? })
}

/// Predicts and simulates a launch.
pub fn compare(
    estimator: &Estimator<'_>,
    candidate: Candidate,
    options: CompareOptions,
) -> Result<Comparison, Uncompared> {
    let prediction = estimator.predict(candidate)?;
    let synth = Synth::new(estimator.kernel, &prediction.launch)?;
    let mut blocks = BlockRequests::new(&synth, coalescing(estimator.device));
    simulate(estimator, prediction, options, &mut |block| blocks.of_block(block))
}

/// The trace of a block, by its number in the grid.
pub type TraceOfBlock<'t> = &'t mut dyn FnMut(u64) -> Result<Trace, NoTrace>;

/// The same where what the threads do in the simulation is known from elsewhere: from running them.
pub fn compare_with(
    estimator: &Estimator<'_>,
    candidate: Candidate,
    options: CompareOptions,
    trace: TraceOfBlock<'_>,
) -> Result<Comparison, Uncompared> {
    let how = coalescing(estimator.device);
    simulate(estimator, estimator.predict(candidate)?, options, &mut |block| {
        Ok(Requests::coalesced(&trace(block)?, how, 0..1).into())
    })
}

/// Requests for whole lines of the L1, with their bytes.
fn coalescing(device: &Device) -> Coalescing {
    let line = device.l1.line.value.0;
    Coalescing { line, loads_only: false, partial_warps: false, bytes: true, ..Coalescing::default() }
}

/// The requests of a block, by its number in the grid.
type RequestsOfBlock<'r> = &'r mut dyn FnMut(u64) -> Result<MovedRequests, NoTrace>;

fn simulate(
    estimator: &Estimator<'_>,
    prediction: Prediction,
    options: CompareOptions,
    requests: RequestsOfBlock<'_>,
) -> Result<Comparison, Uncompared> {
    let (kernel, device) = (estimator.kernel, estimator.device);
    let candidate = prediction.launch.candidate;
    let launch = &prediction.launch;
    let l1_bytes = l1_capacity(device, launch, &prediction.occupancy);
    let count = |n: i64| {
        debug_assert!(n >= 0, "{n} is no count");
        n.unsigned_abs()
    };
    let per_sm = count(prediction.occupancy.resident_per_sm(device, prediction.working_blocks));
    let config = hierarchy_of(device, per_sm, l1_bytes.get(), options.ways).map_err(Uncompared::Cache)?;
    let blocks = launch.sizes.grid.map(count).iter().product();
    let wave = count(prediction.occupancy.wave_blocks).clamp(1, blocks);
    let reach = (count(launch.sizes.grid[0]) * count(launch.sizes.grid[1])).saturating_add(wave);
    let start = middle(launch.sizes.grid.map(count), wave);
    let warm = reach.min(wave.saturating_mul(options.warm_waves)).min(start);
    let mut simulation = Simulation { requests, hierarchy: Hierarchy::new(&config) };
    let machines = options.explain.then(|| Machines::add(&mut simulation.hierarchy));
    let earlier = earlier_launch(estimator.caches, &prediction, blocks, wave);
    if earlier == Earlier::Simulated {
        simulation.run(0..blocks)?;
        simulation.hierarchy.next_launch();
    }
    simulation.run(start - warm..start)?;
    let (before, waited) = (simulation.hierarchy.volumes(), simulation.hierarchy.waiting());
    let measuring = machines.map(|m| m.begin(&mut simulation.hierarchy));
    simulation.run(start..start + wave)?;
    let volumes = simulation.hierarchy.volumes().since(&before);
    let waits = simulation.hierarchy.waiting();
    let boxes = blocks_of_wave(launch.sizes.grid, start.cast_signed(), wave.cast_signed());
    let program = crate::launch::Program::placed(kernel, candidate)
        .and_then(|p| p.at(launch))
        .map_err(|e| Unpredicted::Infeasible(Infeasible::Address(e)))?;
    let items = work_items(kernel, launch, &program, &boxes).max(1.0);
    let steps = measuring.map(|m| m.end(&simulation.hierarchy, items));
    let cut = warm < reach.min(start);
    let found = Simulated { volumes, waiting: [waited, waits], items, steps, cut, llc: config.llc.is_some() };
    let mut quantities = quantities(&prediction, &found);
    if earlier == Earlier::TooLong {
        for quantity in quantities.iter_mut().filter(|q| q.name.starts_with("dram")) {
            let why = "an earlier launch, of which the analytic model finds something in the caches, would take too \
                       long to simulate: compare with --caches cold";
            quantity.reasons.push(why.to_owned());
        }
    }
    Ok(Comparison { prediction, quantities, blocks: wave, warm_blocks: warm, reach_blocks: reach })
}

/// What the simulation alone says of a launch, as measurements that curves can be fitted to.
pub fn simulated(
    estimator: &Estimator<'_>,
    candidate: Candidate,
    options: CompareOptions,
) -> Result<Vec<(Measured, f64)>, Uncompared> {
    let found = compare(estimator, candidate, CompareOptions { explain: false, ..options })?;
    Ok(found.quantities.iter().filter_map(|q| Some((Measured::named(q.name)?, q.simulated))).collect())
}

struct Simulation<'s> {
    requests: RequestsOfBlock<'s>,
    hierarchy: Hierarchy,
}

impl Simulation<'_> {
    fn run(&mut self, blocks: std::ops::Range<u64>) -> Result<(), NoTrace> {
        self.hierarchy.run(blocks, &mut *self.requests)
    }
}

/// Bytes beside those that are asked for are not worth a line below this share of the loads.
const BESIDE: f64 = 1e-3;

/// Differences below this are not put into words, in percent.
const SMALL: f64 = 3.0;

/// What was simulated of a wave.
struct Simulated {
    volumes: LevelVolumes,
    /// What waited in the caches before it and waits after it.
    waiting: [Waiting; 2],
    items: f64,
    /// Where the parts of differences were asked for.
    steps: Option<Steps>,
    /// Fewer blocks ran before the wave than it could reuse something of.
    cut: bool,
    /// Whether there is a last-level cache.
    llc: bool,
}

impl Simulated {
    fn per_item(&self, bytes: u64) -> f64 {
        bytes as f64 / self.items
    }

    /// With what more of something waits after the wave than before it.
    fn with(&self, bytes: u64, of: fn(&Waiting) -> u64) -> f64 {
        let [before, after] = self.waiting.each_ref().map(|w| of(w) as f64);
        (bytes as f64 + after - before).max(0.0) / self.items
    }

    /// What passes the L2: loads without fills, fills, stores.
    fn of_l2(&self) -> [f64; 3] {
        let v = &self.volumes;
        let [load, fill, store] = if self.llc {
            [v.llc_load_bytes, v.llc_fill_bytes, v.llc_store_bytes]
        } else {
            [v.dram_load_bytes, v.dram_fill_bytes, v.dram_store_bytes]
        };
        [self.per_item(load), self.with(fill, |w| w.open), self.with(store, |w| w.dirty)]
    }

    /// What memory gives and takes: loads with fills, stores.
    fn of_memory(&self) -> [f64; 2] {
        let v = &self.volumes;
        if self.llc {
            let loads = self.per_item(v.dram_load_bytes + v.dram_fill_bytes);
            [loads, self.with(v.dram_store_bytes, |w| w.dirty_anywhere)]
        } else {
            let [load, fill, store] = self.of_l2();
            [load + fill, store]
        }
    }
}

fn quantities(p: &Prediction, simulated: &Simulated) -> Vec<ComparedQuantity> {
    let (v, volumes) = (&p.volumes, &simulated.volumes);
    let rate = |missed: f64, all: f64| if all > 0.0 { 100.0 * missed / all } else { 0.0 };
    let (asked, l2, dram) = (v.l1.load_bytes.get(), v.l2.load.total.get(), v.dram.load.total.get());
    let bytes = "bytes per work item";
    let [l1_load, l2_load, l2_store, beside] =
        [volumes.l1_load_bytes, volumes.l2_load_bytes, volumes.l2_store_bytes, volumes.dram_beside_bytes]
            .map(|bytes| simulated.per_item(bytes));
    let below_l2 = simulated.of_l2();
    let [dram_load, dram_store] = simulated.of_memory();
    let mut all = vec![
        ("l1_load", bytes, asked, l1_load),
        ("l2_load", bytes, l2, l2_load),
        ("l2_store", bytes, v.l2.store.total.get(), l2_store),
    ];
    if let Some(llc) = &v.llc {
        let [load, fill, store] = below_l2;
        all.push(("llc_load", bytes, llc.load.total.get(), load + fill));
        all.push(("llc_store", bytes, llc.store.total.get(), store));
    }
    all.push(("dram_load", bytes, dram, dram_load));
    all.push(("dram_store", bytes, v.dram.store.total.get(), dram_store));
    // Only where threads leave gaps.
    if v.beside.get().max(beside) > BESIDE * dram.max(dram_load) {
        all.push(("dram_beside", bytes, v.beside.get(), beside));
    }
    all.push(("l1_miss_rate", "percent", rate(l2, asked), rate(l2_load, l1_load)));
    all.push(("l2_miss_rate", "percent", rate(dram, l2), rate(dram_load, l2_load)));
    let cut = simulated.cut;
    let parting = simulated.steps.map(|steps| Parting {
        analytic: v,
        steps,
        l1_load,
        l2_load,
        below_l2,
        memory: [dram_load, dram_store],
        cut,
    });
    let one = |(name, unit, analytic, simulated): (&'static str, &'static str, f64, f64)| {
        let terms = parting.as_ref().map(|p| p.terms(name, analytic, simulated)).unwrap_or_default();
        ComparedQuantity::new(name, unit, [analytic, simulated], terms)
    };
    all.into_iter().map(one).collect()
}
