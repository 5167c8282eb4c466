//! The coefficients that were fitted, and how to fit them again on a part of the rows.

use super::simplex::minimise;
use wavecast::curve::{self, Curve, Fit};

/// A number of a curve file.
pub struct Coefficient {
    /// Its name.
    pub name: &'static str,
    /// Where a fit starts: far from what it should find.
    pub start: f64,
    of: fn(&mut Fit) -> &mut f64,
}

impl Coefficient {
    /// Its value.
    pub fn value(&self, fit: &Fit) -> f64 {
        *(self.of)(&mut fit.clone())
    }
}

/// What depends on one volume only, so that each group is fitted by itself: the volume as its place in
/// `measured::VOLUMES`, in an order in which none depends on a later one.
pub const VOLUME_GROUPS: [(usize, &[Coefficient]); 4] = [
    (
        0,
        &[
            Coefficient { name: "l1_redundant.o0", start: 0.8, of: |f| hill(&mut f.volumes.l1_redundant).0 },
            Coefficient { name: "l1_redundant.k", start: 1.0, of: |f| hill(&mut f.volumes.l1_redundant).1 },
        ],
    ),
    (3, &[Coefficient { name: "partial_store", start: 0.9, of: |f| f.volumes.partial_store.number() }]),
    (1, &[Coefficient { name: "partial_store_l2", start: 0.3, of: |f| f.volumes.partial_store_l2.number() }]),
    (2, &[Coefficient { name: "l2_reuse.k", start: 2.0, of: |f| hill(&mut f.volumes.l2_reuse).1 }]),
];

/// What the time depends on.
pub const TIME: &[Coefficient] = &[
    Coefficient { name: "scatter_loss", start: 0.6, of: |f| f.time.scatter_loss.number() },
    Coefficient { name: "scatter_half", start: 1.0, of: |f| f.time.scatter_half.number() },
    Coefficient { name: "refetch_loss", start: 0.5, of: |f| f.time.refetch_loss.number() },
    Coefficient { name: "run_bytes", start: 30.0, of: |f| f.time.run_bytes.number() },
    Coefficient { name: "translation_cycles", start: 25.0, of: |f| f.time.translation_cycles.number() },
    Coefficient { name: "dispatch_cycles", start: 5.0, of: dispatch_cycles },
    Coefficient { name: "launch_seconds", start: 4e-6, of: launch_seconds },
    Coefficient { name: "few_blocks", start: 0.1, of: |f| f.time.few_blocks.number() },
];

fn hill(curve: &mut Curve) -> (&mut f64, &mut f64) {
    match curve {
        Curve::Hill { o0, k, .. } => (o0, k),
        Curve::SigmoidMiss { b, c, .. } | Curve::SigmoidHit { b, c, .. } => (b, c),
    }
}

fn dispatch_cycles(fit: &mut Fit) -> &mut f64 {
    fit.time.dispatch_cycles.as_mut().expect("the V100 has its own").number()
}

fn launch_seconds(fit: &mut Fit) -> &mut f64 {
    let none = || curve::CoefficientValue::new(1e-6, "");
    fit.time.launch_seconds.get_or_insert_with(none).number()
}

/// Fits some coefficients from their far starts; the others stay. Takes `tries` losses.
pub fn fitted(fit: &Fit, which: &[Coefficient], tries: usize, loss: impl Fn(&Fit) -> f64) -> Fit {
    let mut trial = fit.clone();
    let mut with = |values: &[f64]| {
        for (coefficient, value) in which.iter().zip(values) {
            *(coefficient.of)(&mut trial) = *value;
        }
        trial.clone()
    };
    let start: Vec<f64> = which.iter().map(|c| c.start).collect();
    let best = minimise(&start, tries, |values| loss(&with(values)));
    with(&best)
}
