//! What is known of a prediction, as reasons to doubt it.

use std::collections::BTreeSet;

use super::interval::Confidence;
use super::reason::{Reason, ReasonKind};
use crate::curve::widths;
use crate::device::Vendor;
use crate::expr::{Coord, Form, Scale};
use crate::kernel::{AccessKind, Kernel, Loop, Statement};
use crate::predict::estimate::{Estimator, Model};
use crate::predict::gaps::MANY_ACCESSES;
use crate::predict::parts::Limiter;
use crate::predict::prediction::Summary;
use crate::quantity::{Bytes, Seconds, Times};
use crate::space::Fold;
use crate::traffic::Caches;

/// The launch itself is worth a word from this part of the time on.
const SHORT: f64 = 0.2;
/// An occupancy below this is low.
const LOW_OCCUPANCY: f64 = 0.25;
/// Bytes of the sectors of a warp-wide load beyond which its threads lie far apart: 32 threads that load 16 bytes each
/// touch 512.
const FAR_APART: f64 = 768.0;
/// A device number decides where its term is at least this part of the longest.
const DECIDES: f64 = 0.8;
/// Bytes that come beside those loaded, as a part of these, from which on they count.
const BESIDE: f64 = 0.05;

/// Says how sure the predictions of an estimator are: what holds for all of them is found out once.
#[derive(Debug, Clone)]
pub struct Judge {
    /// What holds for all launches.
    standing: Vec<Reason>,
    model: Model,
    /// What counts where it decides.
    unknown: Vec<ReasonKind>,
}

impl Judge {
    /// For the predictions of an estimator.
    pub fn new(of: &Estimator<'_>) -> Self {
        let Estimator { kernel, device, curves, model, caches, .. } = of;
        let mut standing = Vec::new();
        let architecture = device.architecture.word();
        if !widths().architectures.iter().any(|a| a == architecture) {
            standing.push(Reason::named(ReasonKind::Architecture, architecture));
        }
        let fit = curves.fit;
        match (&fit.inherit, curves.own) {
            (_, false) if curves.foreign => standing.push(Reason::named(ReasonKind::CurvesForeign, &fit.id)),
            (_, false) => standing.push(Reason::named(ReasonKind::CurvesInherited, &fit.id)),
            (Some(base), true) => standing.push(Reason::named(ReasonKind::HitRatesInherited, base)),
            (None, true) => {}
        }
        standing.extend(of_kernel(kernel).into_iter().map(Reason::new));
        // Of empty caches tuners' sets have times, which are as sure as others.
        if *caches == Caches::Cold {
            standing.push(Reason::new(ReasonKind::Cold));
        }
        let unknown = [
            (fit.time.dram_one_way.is_none(), ReasonKind::BandwidthDerived),
            (fit.time.thread_cycles.is_none(), ReasonKind::LatencyDerived),
            (device.vendor != Vendor::Nvidia, ReasonKind::ForeignCore),
            (device.run_clock().is_none(), ReasonKind::ClockAssumed),
            (kernel.work.instructions.given().next().is_none(), ReasonKind::Instructions),
        ];
        let unknown = unknown.into_iter().filter(|u| u.0).map(|u| u.1).collect();
        Self { standing, model: *model, unknown }
    }

    /// The same where the clock of the run is known, though the device does not say so.
    #[must_use]
    pub fn at_known_clock(mut self) -> Self {
        self.unknown.retain(|&kind| kind != ReasonKind::ClockAssumed);
        self
    }

    fn knows(&self, kind: ReasonKind) -> bool {
        !self.unknown.contains(&kind)
    }

    /// How sure a prediction of the estimator is.
    pub fn confidence(&self, p: &Summary) -> Confidence {
        let time = p.time.seconds;
        if self.model == Model::Roofline {
            return Confidence::new(time, vec![Reason::new(ReasonKind::Roofline)]);
        }
        let mut reasons = self.standing.clone();
        reasons.extend(self.of_time(p));
        reasons.extend(of_launch(p));
        Confidence::new(time, reasons)
    }

    /// What decides, and what is not known of it.
    fn of_time(&self, p: &Summary) -> Vec<Reason> {
        let (terms, limiter) = (&p.time.terms, p.time.limiter);
        let mut found = Vec::new();
        let waits = limiter == Limiter::Latency && terms.waits > terms.latency;
        let kind = match limiter {
            Limiter::Fp => Some(ReasonKind::Fp),
            Limiter::L1 => Some(ReasonKind::L1),
            Limiter::L2 => Some(ReasonKind::L2),
            Limiter::Tlb => Some(ReasonKind::Tlb),
            Limiter::Latency if waits => Some(ReasonKind::Waits),
            Limiter::Latency => Some(ReasonKind::Latency),
            Limiter::Issue | Limiter::Fetch => Some(ReasonKind::Issue),
            Limiter::Dispatch => Some(ReasonKind::Dispatch),
            // Streams from memory are what is known best; of short launches there is a reason below.
            Limiter::Dram | Limiter::Launch => None,
        };
        found.extend(kind);
        let core = waits || matches!(limiter, Limiter::Fp | Limiter::L1 | Limiter::Issue | Limiter::Fetch);
        let core_terms = [terms.fp, terms.l1, terms.waits, terms.issue, terms.fetch];
        let longest = core_terms.into_iter().chain([terms.l2, terms.dram, terms.latency]);
        let most = longest.fold(Seconds::ZERO, Seconds::max);
        let decides = |term: Seconds| term > Seconds::ZERO && term >= most * DECIDES;
        if !self.knows(ReasonKind::BandwidthDerived) && decides(terms.dram) {
            found.push(ReasonKind::BandwidthDerived);
        }
        if !self.knows(ReasonKind::LatencyDerived) && decides(terms.latency) {
            found.push(ReasonKind::LatencyDerived);
        }
        let barriers = self.standing.iter().any(|r| r.kind() == ReasonKind::Barriers);
        if barriers && !waits && matches!(limiter, Limiter::Dram | Limiter::L2 | Limiter::Latency) {
            found.push(ReasonKind::Phases);
        }
        // Rates of arithmetic are each maker's own.
        if core && limiter != Limiter::Fp && !self.knows(ReasonKind::ForeignCore) {
            found.push(if p.path.written > MANY_ACCESSES {
                ReasonKind::UnrolledOnAmd
            } else {
                ReasonKind::ForeignCore
            });
        }
        if core && !self.knows(ReasonKind::Instructions) {
            found.push(ReasonKind::Instructions);
        }
        if !self.knows(ReasonKind::ClockAssumed) && (core || limiter == Limiter::L2) {
            found.push(ReasonKind::ClockAssumed);
        }
        let mut found: Vec<Reason> = found.into_iter().map(Reason::new).collect();
        let share = if p.time.seconds > Seconds::ZERO { terms.launch / p.time.seconds } else { 0.0 };
        if share >= SHORT {
            found.push(Reason::percent(ReasonKind::Short, share));
        }
        found
    }
}

/// What is known of a launch beside its time.
fn of_launch(p: &Summary) -> Vec<Reason> {
    let mut found = Vec::new();
    let mut add = |holds: bool, kind: ReasonKind| {
        if holds {
            found.push(Reason::new(kind));
        }
    };
    let v = &p.volumes;
    add(p.launch.registers_assumed, ReasonKind::Registers);
    add(!p.counting.exact, ReasonKind::Lines);
    add(p.counting.warps_sampled, ReasonKind::Warps);
    add(p.launch.candidate.fold() != Fold::ONE, ReasonKind::Folded);
    add(p.working_blocks < p.occupancy.wave_blocks, ReasonKind::FewBlocks);
    let of_warp = if v.loads > Times::ZERO { v.l1.load_bytes.get() / v.loads.get() } else { 0.0 };
    add(of_warp > FAR_APART, ReasonKind::Scattered);
    add(v.beside > v.dram.load.total * BESIDE, ReasonKind::HalfPairs);
    let last = &v.dram.load;
    let first = last.compulsory.max(Bytes::ZERO);
    add(first > Bytes::ZERO && last.reuse_launch * 2.0 > first, ReasonKind::Resident);
    let occupancy = p.occupancy.fraction.get();
    if occupancy < LOW_OCCUPANCY {
        found.push(Reason::percent(ReasonKind::Occupancy, occupancy));
    }
    found
}

/// What a kernel does that the model knows less of.
fn of_kernel(kernel: &Kernel) -> BTreeSet<ReasonKind> {
    let mut found = BTreeSet::new();
    walk(&kernel.body, &kernel.loops, &mut found);
    found
}

fn walk(body: &[Statement], loops: &[Loop], found: &mut BTreeSet<ReasonKind>) {
    for statement in body {
        match statement {
            Statement::Access(access) => {
                let is_atomic = access.kind == AccessKind::Atomic;
                let is_guarded = access.when.as_ref().is_some_and(|when| when.mentions(&|_| true));
                found.extend(is_atomic.then_some(ReasonKind::Atomics));
                found.extend(is_guarded.then_some(ReasonKind::Guarded));
            }
            Statement::Sync => {
                found.insert(ReasonKind::Barriers);
            }
            Statement::Loop(id, inner) => {
                let of = &loops[usize::from(id.0)];
                found.extend(differs(of).then_some(ReasonKind::IrregularLoops));
                walk(inner, loops, found);
            }
        }
    }
}

/// Whether threads repeat a loop differently often. A loop that shares its iterations among threads begins at each of
/// them elsewhere: they differ by one at most.
fn differs(of: &Loop) -> bool {
    let by_thread = |form: &Form<Scale>| form.mentions(&|c| !matches!(c, Coord::Loop(_)));
    by_thread(&of.to) && of.to.minus(&of.from).is_ok_and(|span| by_thread(&span))
}
