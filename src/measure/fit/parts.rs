//! What a measured volume says of a hit rate: the volume less what no cache avoids, over what could hit
//! (section 5.6 of the paper). All of it comes from predicting the same launch with caches that keep
//! everything and caches that keep nothing.

use crate::curve::{Curve, VolumeFit};
use crate::measure::join::{Case, MeasuredGroup};
use crate::measure::measurements::MeasuredQuantity;
use crate::predict::Estimator;
use crate::quantity::{Bytes, PerItem, Ratio};
use crate::traffic::{MemoryVolumes, Volumes, phases};

/// A volume as a sum: `base`, and shares of what misses at an oversubscription.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) base: f64,
    /// What could hit, by kind: oversubscriptions, and bytes per work item at each.
    pub(super) open: Vec<Vec<(f64, f64)>>,
    pub(super) measured: f64,
}

impl Parts {
    /// All that could hit: oversubscriptions, and bytes per work item at each.
    pub(super) fn points(&self) -> Vec<(f64, f64)> {
        self.open.concat()
    }

    /// Bytes per work item that could hit.
    pub(super) fn possible(&self) -> f64 {
        self.open.iter().flatten().map(|p| p.1).sum()
    }
}

/// A launch whose arrays stay in the cache from one launch to the next tells little of reuse within it.
const COLD: f64 = 0.99;

/// A curve that misses always, or never.
fn constant(miss: f64) -> Curve {
    Curve::SigmoidMiss { a: miss, b: 0.0, c: 1.0, source: String::new() }
}

/// Volumes of a case under other coefficients.
pub(super) fn under(estimator: &Estimator<'_>, case: &Case, fit: &VolumeFit) -> Volumes {
    estimator.revolumed(&case.prediction, fit)
}

/// Loads from L2: what the L1 lost of the redundant ones (equation 5).
pub(super) fn l1(estimator: &Estimator<'_>, case: &Case, fit: &VolumeFit) -> Option<Parts> {
    let code = case.prediction.volumes.l2.code.get();
    let measured = case
        .measured(MeasuredQuantity::L2Load)
        .or_else(|| Some((case.measured(MeasuredQuantity::L2Read)? - code).max(0.0)))?;
    // What a loop loads again lies at several oversubscriptions, of which only one is known here.
    if case.prediction.footprints().fields.iter().any(|f| !f.passes.block.is_empty()) {
        return None;
    }
    let mut none = fit.clone();
    none.l1_redundant = constant(0.0);
    let base = under(estimator, case, &none).l2.load.total.get();
    let open = estimator.open_in_l1(&case.prediction, fit);
    Some(Parts { base, open: vec![open.iter().map(|(o, bytes)| (o.get(), bytes.get())).collect()], measured })
}

/// Loads from memory: what lies within a wave, and the overlaps with earlier blocks in x, y and z, in this
/// order (section 4.4.2).
pub(super) fn l2(
    estimator: &Estimator<'_>,
    group: &MeasuredGroup,
    case: &Case,
    fit: &VolumeFit,
) -> Option<Parts> {
    // A cache beyond the L2 hides what the L2 loads from memory.
    let beyond = group.device.llc.is_some();
    let measured =
        case.measured(if beyond { MeasuredQuantity::LlcLoad } else { MeasuredQuantity::DramLoad })?;
    let level = |v: &Volumes| -> Option<MemoryVolumes> { if beyond { v.llc } else { Some(v.dram) } };
    let with = |miss: f64| {
        let mut trial = fit.clone();
        trial.l2_reuse = constant(miss);
        (trial.l2_reuse_x, trial.l2_reuse_y, trial.l2_reuse_z) = (None, None, None);
        let volumes = under(estimator, case, &trial);
        level(&volumes).map(|level| (level, volumes.pressure.l2))
    };
    let now = level(&under(estimator, case, fit))?;
    let unavoidable = now.load.compulsory - now.load.reuse().iter().sum();
    if now.load.reuse_launch.get() > (1.0 - COLD) * unavoidable.get().max(f64::MIN_POSITIVE) {
        return None;
    }
    let ((kept, o), (lost, _)) = (with(0.0)?, with(1.0)?);
    let [x, y, z] = kept.load.reuse();
    // Blocks of a wave, and of its row, use a line at any phase; the oversubscription is half of the largest distance.
    let spread = |half: Ratio, bytes: Bytes<PerItem>| -> Vec<(f64, f64)> {
        let all = phases(Ratio::new(2.0 * half.get())).into_iter();
        all.map(|(o, share)| (o.get(), bytes.get() * share.get())).collect()
    };
    let open = vec![
        spread(o[0], lost.load.capacity),
        spread(o[1], x),
        vec![(o[2].get(), y.get())],
        vec![(o[3].get(), z.get())],
    ];
    let mut parts = Parts { base: 0.0, open, measured };
    parts.base = lost.load.total.get() - parts.possible();
    Some(parts)
}

/// Stores to memory: sectors written in part that leave the L2 before the rest comes.
pub(super) fn stores(estimator: &Estimator<'_>, case: &Case, fit: &VolumeFit) -> Option<Parts> {
    share_of(
        estimator,
        case,
        fit,
        MeasuredQuantity::DramStore,
        |v| v.dram.store.total,
        |trial, share| {
            trial.l2_store = None;
            trial.partial_store.value = share;
        },
    )
}

/// Stores to L2 beyond those of warps, for each such sector.
pub(super) fn stores_l2(estimator: &Estimator<'_>, case: &Case, fit: &VolumeFit) -> Option<Parts> {
    share_of(
        estimator,
        case,
        fit,
        MeasuredQuantity::L2Store,
        |v| v.l2.store.total,
        |trial, share| {
            trial.partial_store_l2.value = share;
        },
    )
}

fn share_of(
    estimator: &Estimator<'_>,
    case: &Case,
    fit: &VolumeFit,
    quantity: MeasuredQuantity,
    volume: impl Fn(&Volumes) -> Bytes<PerItem>,
    set: impl Fn(&mut VolumeFit, f64),
) -> Option<Parts> {
    let measured = case.measured(quantity)?;
    let with = |share: f64| {
        let mut trial = fit.clone();
        set(&mut trial, share);
        under(estimator, case, &trial)
    };
    let (none, all) = (with(0.0), with(1.0));
    let (base, most) = (volume(&none).get(), volume(&all).get());
    Some(Parts { base, open: vec![vec![(none.pressure.l2[0].get(), most - base)]], measured })
}
