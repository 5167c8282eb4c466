//! Why the analytic model and a simulation part: from one to the other in steps, each of which changes one thing in a
//! model. What the steps change adds up to the difference, whatever the models say.

use serde::Serialize;

use crate::cache::{CacheKind, Hierarchy, LevelVolumes, Waiting};
use crate::quantity::{Bytes, PerItem};
use crate::readable::readable;
use crate::sorting;
use crate::traffic::{MemoryVolumes, Volumes};

readable! {
    /// A part of the difference of a quantity.
    #[derive(Debug, Clone, PartialEq, Serialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    pub struct DifferenceTerm {
        /// A stable name; `unexplained` for what no step explains.
        name: &'static str,
        /// Analytic less simulated, in the unit of the quantity.
        value: f64,
        /// What of the two models makes it.
        reason: String,
    }
}

/// The name of what no step explains.
pub const UNEXPLAINED: &str = "unexplained";

/// A sum that is off by less than this share of the values is right.
const EXACT: f64 = 1e-9;
/// A term below this share of the values is left out: all that are left out together stay within `EXACT`.
const SMALL: f64 = 1e-10;
/// What is below this share of the largest term is what rounding leaves of zero.
const ROUNDING: f64 = 1e-14;

/// The machines whose caches lose less, beside the real one, in one hierarchy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machines {
    l2_without_sets: usize,
    l1_without_sets: usize,
    endless: usize,
}

/// The machines while the measured wave runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measuring {
    machines: Machines,
    /// Empty where the wave begins.
    cold: usize,
    /// What those before it had counted and held then.
    before: [(LevelVolumes, Waiting); 4],
}

impl Machines {
    /// Adds those that see all blocks.
    pub(super) fn add(hierarchy: &mut Hierarchy) -> Self {
        Self {
            l2_without_sets: hierarchy.add(CacheKind::Real, CacheKind::WithoutSets),
            l1_without_sets: hierarchy.add(CacheKind::WithoutSets, CacheKind::Endless),
            endless: hierarchy.add(CacheKind::Endless, CacheKind::Endless),
        }
    }

    /// The measured wave begins.
    pub(super) fn begin(self, hierarchy: &mut Hierarchy) -> Measuring {
        let before = std::array::from_fn(|i| (hierarchy.volumes_of(i), hierarchy.waiting_of(i)));
        let cold = hierarchy.add(CacheKind::Endless, CacheKind::Endless);
        hierarchy.count_alone();
        Measuring { machines: self, cold, before }
    }
}

impl Measuring {
    /// The measured wave is over: bytes per work item.
    pub(super) fn end(&self, hierarchy: &Hierarchy, items: f64) -> Steps {
        let Machines { l2_without_sets, l1_without_sets, endless } = self.machines;
        let before = |machine: usize| match machine {
            cold if cold == self.cold => Default::default(),
            seen => self.before[seen],
        };
        let of = |machine: usize| hierarchy.volumes_of(machine).since(&before(machine).0);
        let per_item = |bytes: u64| bytes as f64 / items;
        let stored = |machine: usize| {
            let (_, waited) = before(machine);
            let waits = hierarchy.waiting_of(machine).dirty;
            per_item(of(machine).dram_store_bytes) + per_item(waits) - per_item(waited.dirty)
        };
        Steps {
            l2_without_sets: per_item(of(l1_without_sets).l2_load_bytes),
            l2_endless: per_item(of(endless).l2_load_bytes),
            l2_cold: per_item(of(self.cold).l2_load_bytes),
            l2_alone: per_item(hierarchy.alone()),
            dram_without_sets: per_item(of(l2_without_sets).dram_load_bytes),
            dram_endless: per_item(of(endless).dram_load_bytes),
            dram_cold: per_item(of(self.cold).dram_load_bytes),
            stored_endless: stored(endless),
            stored_cold: stored(self.cold),
        }
    }
}

/// What the wave moves between simulated caches that lose less, in bytes per work item.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Steps {
    l2_without_sets: f64,
    l2_endless: f64,
    l2_cold: f64,
    l2_alone: f64,
    dram_without_sets: f64,
    dram_endless: f64,
    dram_cold: f64,
    stored_endless: f64,
    stored_cold: f64,
}

/// The terms of all quantities.
pub(super) struct Parting<'p> {
    pub(super) analytic: &'p Volumes,
    pub(super) steps: Steps,
    /// Bytes per work item of the simulation itself.
    pub(super) l1_load: f64,
    pub(super) l2_load: f64,
    /// What passes the L2: loads without fills, fills, stores.
    pub(super) below_l2: [f64; 3],
    /// Loads and stores of memory.
    pub(super) memory: [f64; 2],
    /// Fewer blocks ran before the wave than it could reuse something of.
    pub(super) cut: bool,
}

impl Parting<'_> {
    /// The terms of a quantity, largest first; what they leave is a term, too.
    pub(super) fn terms(&self, name: &str, analytic: f64, simulated: f64) -> Vec<DifferenceTerm> {
        let l2 = self.analytic.l2.load.total.get();
        let mut terms = match name {
            "l2_load" => self.l2_load(),
            "l2_store" => self.l2_store(simulated),
            "llc_load" => self.load_below_l2(),
            "llc_store" => self.store_below_l2(),
            "dram_load" => {
                let of_l2 = self.below_l2[0] + self.below_l2[1];
                let mut terms = self.load_below_l2();
                terms.extend(self.last_level(|v| v.load.total, of_l2 - simulated, "loads"));
                terms
            }
            "dram_store" => {
                let mut terms = self.store_below_l2();
                terms.extend(self.last_level(|v| v.store.total, self.below_l2[2] - simulated, "stores"));
                terms
            }
            "dram_beside" => vec![term(
                "neighbours",
                analytic - simulated,
                format!(
                    "sectors whose neighbour nobody asks for: {analytic:.2} by the share of them in a wave, \
                     {simulated:.2} of each load in the simulation, less what is asked for before it is lost"
                ),
            )],
            "l1_miss_rate" => {
                rate("L2", l2, self.l2_load, "L1", self.analytic.l1.load_bytes.get(), self.l1_load)
            }
            "l2_miss_rate" => {
                let dram = self.analytic.dram.load.total.get();
                rate("memory", dram, self.memory[0], "L2", l2, self.l2_load)
            }
            _ => vec![term(
                "sectors",
                analytic - simulated,
                format!(
                    "sectors that warps ask for: {analytic:.2} of representative warps in the analytic model, \
                     {simulated:.2} of all warps of the wave"
                ),
            )],
        };
        let rest = analytic - simulated - terms.iter().map(|t| t.value).sum::<f64>();
        // Terms of opposite sign may be much larger than what they add up to.
        let size = analytic.abs() + simulated.abs();
        let largest = terms.iter().map(|t| t.value.abs()).fold(size, f64::max);
        terms.retain(|t| t.value.abs() > (SMALL * size).max(ROUNDING * largest));
        sorting::sort_by(&mut terms, |a, b| b.value.abs().total_cmp(&a.value.abs()));
        if rest.abs() > (EXACT * size).max(ROUNDING * largest) {
            terms.push(term(UNEXPLAINED, rest, "no step from one model to the other explains it".to_owned()));
        }
        terms
    }

    fn l2_load(&self) -> Vec<DifferenceTerm> {
        let (a, s, real) = (&self.analytic.l2.load, &self.steps, self.l2_load);
        let (room, of_others) = (s.l2_without_sets - s.l2_endless, s.l2_alone - s.l2_cold);
        vec![
            term(
                "compulsory",
                (a.compulsory + a.shared).get() - s.l2_alone,
                format!(
                    "what a block loads at least: {:.2} by the analytic count, {:.2} if each simulated block had an \
                     endless L1 for itself",
                    a.compulsory + a.shared,
                    s.l2_alone
                ),
            ),
            term(
                "shared-l1",
                of_others - a.shared.get(),
                format!(
                    "blocks of an SM find {:.2} that others loaded by the analytic model, {of_others:.2} that others \
                     of the wave loaded in the simulation",
                    a.shared
                ),
            ),
            term(
                "earlier-blocks",
                s.l2_cold - s.l2_endless,
                format!(
                    "an endless L1 would still hold {:.2} of the blocks before the wave, in the simulation only",
                    s.l2_cold - s.l2_endless
                ),
            ),
            term(
                "room",
                a.capacity.get() - room,
                format!(
                    "lost for want of room in L1: {:.2} by the fitted curve, {room:.2} where the least recently used \
                     of all lines gives way",
                    a.capacity
                ),
            ),
            term(
                "sets",
                s.l2_without_sets - real,
                format!(
                    "lost because lines have few places in L1: {:.2}, in the simulation only",
                    real - s.l2_without_sets
                ),
            ),
        ]
    }

    fn l2_store(&self, simulated: f64) -> Vec<DifferenceTerm> {
        let (sectors, all) = (self.analytic.l1.store_bytes.get(), self.analytic.l2.store.total.get());
        vec![
            term(
                "sectors",
                sectors - simulated,
                format!(
                    "sectors that warps store: {sectors:.2} of representative warps in the analytic model, \
                     {simulated:.2} of all warps of the wave"
                ),
            ),
            term(
                "partial-stores",
                all - sectors,
                format!("sectors stored in part cost {:.2} more by the fitted curve", all - sectors),
            ),
        ]
    }

    fn load_below_l2(&self) -> Vec<DifferenceTerm> {
        let (v, s, [real, filled, _]) = (self.analytic, &self.steps, self.below_l2);
        let of_l2 = v.llc.as_ref().unwrap_or(&v.dram);
        let load = &of_l2.load;
        let reuse = load.reuse().iter().sum::<Bytes<_>>().get();
        let found = s.dram_cold - s.dram_endless;
        let room = s.dram_without_sets - s.dram_endless;
        let few = if self.cut { "; more blocks would have to run before it: raise --warm-waves" } else { "" };
        vec![
            term(
                "compulsory",
                load.compulsory.get() - s.dram_cold,
                format!(
                    "distinct sectors that a wave loads: {:.2} by the analytic count, {:.2} in the simulated wave",
                    load.compulsory, s.dram_cold
                ),
            ),
            term(
                "earlier-blocks",
                found - reuse,
                format!(
                    "found in L2 where earlier blocks left it: {reuse:.2} by the fitted curves, {found:.2} if the \
                     simulated L2 lost nothing{few}"
                ),
            ),
            term(
                "room",
                load.capacity.get() - room,
                format!(
                    "lost for want of room in L2: {:.2} within a wave by the fitted curve, {room:.2} where the least \
                     recently used of all lines gives way",
                    load.capacity
                ),
            ),
            term(
                "sets",
                s.dram_without_sets - real,
                format!(
                    "lost because lines have few places in L2: {:.2}, in the simulation only",
                    real - s.dram_without_sets
                ),
            ),
            term(
                "earlier-launch",
                -load.reuse_launch.get(),
                format!(
                    "left in L2 by an earlier launch: {:.2}, in the analytic model only",
                    load.reuse_launch
                ),
            ),
            term(
                "partial-stores",
                load.partial_store_fill.get() - filled,
                format!(
                    "sectors that were stored in part are completed: {:.2} by count and fitted curve, {filled:.2} that \
                     leave the simulated L2 incomplete",
                    load.partial_store_fill
                ),
            ),
        ]
    }

    fn store_below_l2(&self) -> Vec<DifferenceTerm> {
        let (v, s, [_, _, simulated]) = (self.analytic, &self.steps, self.below_l2);
        let of_l2 = v.llc.as_ref().unwrap_or(&v.dram);
        let (once, redundant) = (of_l2.store.compulsory.get(), of_l2.store.redundant.get());
        let again = simulated - s.stored_endless;
        vec![
            term(
                "compulsory",
                once - s.stored_cold,
                format!(
                    "distinct sectors that a wave stores, as far as they leave L2: {once:.2} in the analytic model, \
                     {:.2} in the simulated wave, all of which leave it at some time",
                    s.stored_cold
                ),
            ),
            term(
                "earlier-blocks",
                s.stored_cold - s.stored_endless,
                format!(
                    "sectors that blocks before the wave stored, too: {:.2}, which an endless L2 writes back once",
                    s.stored_cold - s.stored_endless
                ),
            ),
            term(
                "again",
                redundant - again,
                format!(
                    "written back more than once: {redundant:.2} by the fitted curve; in the simulation {again:.2}, \
                     less where lines of this wave wait in L2 and those of earlier waves leave it"
                ),
            ),
        ]
    }

    /// What a last-level cache keeps from memory, and `simulated` of it.
    fn last_level(
        &self,
        of: fn(&MemoryVolumes) -> Bytes<PerItem>,
        simulated: f64,
        what: &str,
    ) -> Option<DifferenceTerm> {
        let kept = (of(self.analytic.llc.as_ref()?) - of(&self.analytic.dram)).get();
        let reason = format!(
            "the last-level cache keeps {kept:.2} of the {what} from memory by the fitted curve, {simulated:.2} in the \
             simulation"
        );
        Some(term("last-level", simulated - kept, reason))
    }
}

/// A rate parts because what misses does, and because what is asked for does.
fn rate(
    below: &str,
    missed: f64,
    missed_there: f64,
    of: &str,
    all: f64,
    all_there: f64,
) -> Vec<DifferenceTerm> {
    let percent = |missed: f64, all: f64| if all > 0.0 { 100.0 * missed / all } else { 0.0 };
    let between = percent(missed_there, all);
    vec![
        term(
            "misses",
            percent(missed, all) - between,
            format!("loads from {below}: {missed:.2} and {missed_there:.2} bytes per work item"),
        ),
        term(
            "requests",
            between - percent(missed_there, all_there),
            format!("loads asked of {of}: {all:.2} and {all_there:.2} bytes per work item"),
        ),
    ]
}

fn term(name: &'static str, value: f64, reason: String) -> DifferenceTerm {
    DifferenceTerm { name, value, reason }
}
