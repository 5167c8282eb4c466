//! From volumes to time (section 2 of the paper): four limiters, and what the paper names as missing.

use super::inputs::Inputs;
use super::joined::{Joint, of_warp};
use super::parts::{Limiter, Terms, Time};
use crate::curve::TimeFit;
use crate::quantity::{Bytes, PerItem, Seconds};
use crate::traffic::{FieldVolumes, PIECE};

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
    let (mut terms, waits) = apart_from_each_other(of, fit);
    let (most, limiter) = longest(&terms);
    let joined = Joint::new(of, fit, waits, &terms).all();
    (terms.first_wave, terms.tail, terms.blocks) = (joined.first_wave, joined.tail, joined.blocks);
    terms.combination = joined.seconds - terms.tail - most;
    let seconds = joined.seconds + terms.launch;
    let limiter = if terms.launch > most { Limiter::Launch } else { limiter };
    Time { seconds, limiter, limits: of.limits(&terms), terms }
}

/// The seconds of [`combined`], but for rounding.
pub(super) fn combined_seconds(of: &Inputs<'_>, fit: &TimeFit) -> Seconds {
    let (terms, waits) = apart_from_each_other(of, fit);
    Joint::new(of, fit, waits, &terms).seconds() + terms.launch
}

/// All terms as they are by themselves, and the part of waiting that is of loops.
fn apart_from_each_other(of: &Inputs<'_>, fit: &TimeFit) -> (Terms, Seconds) {
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
    let waits = terms.waits;
    terms.waits = of_warp(of, waits, &[terms.fp, terms.l1, terms.issue], 1.0);
    (terms, waits)
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
    of.way(fit) * (1.0 + fit.store_cycles.value * of.volumes.thread_stores.get())
        + Seconds::new(updates / of.clock())
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
