//! Measurements of a device that is not there: a simulation runs a designed set of kernels, sizes and
//! shapes, so that oversubscriptions of both caches go from far below to far above 1.

use crate::device::Device;
use crate::kernel::{Kernel, Options, load};
use crate::launch::Candidate;
use crate::measure::join::{Case, Library, MeasuredGroup, RejectedCase};
use crate::measure::measurements::{MeasuredQuantity, MeasuredSubject};
use crate::parallel;
use crate::predict::Estimator;
use crate::space::{Block, Fold};
use crate::text::Fault;

/// What a simulation says of a launch: bytes per work item; or why it cannot.
pub type Simulated = Result<Vec<(MeasuredQuantity, f64)>, String>;

/// A kernel in a size, with the launches to simulate.
pub type Design = (MeasuredSubject, Kernel, Vec<Candidate>);

/// Kernels of the design: a far-reaching star, a near one, and one without reuse between planes.
const KERNELS: [(&str, &str); 3] = [
    ("star3d25", include_str!("../../../kernels/star3d25.yaml")),
    ("star3d7", include_str!("../../../kernels/star3d7.yaml")),
    ("laplap2d", include_str!("../../../kernels/laplap2d.yaml")),
];
/// Nine planes of an array over the capacity of the L2.
const PLANES: [f64; 6] = [0.3, 0.7, 1.0, 1.5, 2.5, 5.0];
/// Depth of the arrays: enough for planes to be reused.
const DEPTH: i64 = 48;
/// Wide, tall, deep and cubic shapes; narrow ones write sectors in part.
const BLOCKS: [[i64; 3]; 7] =
    [[512, 2, 1], [128, 8, 1], [64, 4, 4], [32, 2, 16], [16, 8, 8], [4, 16, 16], [2, 64, 4]];

/// Kernels in sizes that suit a device, each with the launches to simulate.
pub fn design(device: &Device) -> Result<Vec<Design>, Fault> {
    let mut all = Vec::new();
    for (name, text) in KERNELS {
        for planes in PLANES {
            let bytes = planes * device.l2.effective.value.0 as f64 / 9.0;
            #[expect(clippy::cast_possible_truncation, reason = "at most the root of a capacity")]
            let side = ((bytes / 8.0).sqrt() / 32.0).round().clamp(1.0, 512.0) as i64 * 32;
            let params = [("NX", side), ("NY", side), ("NZ", DEPTH)];
            let set = params.iter().map(|(n, v)| format!("{n}={v}")).collect();
            let kernels = load(name, text, &Options { set, ..Options::default() })?.kernels;
            let subject = MeasuredSubject {
                kernel: name.to_owned(),
                params: params.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
                device: Some(device.id.clone()),
                variant: None,
                caches: None,
                clock: None,
            };
            let launches = BLOCKS.map(|block| Candidate::shaped(Block::known(block), Fold::ONE)).to_vec();
            all.extend(kernels.into_iter().next().map(|kernel| (subject, kernel, launches)));
        }
    }
    Ok(all)
}

/// Simulates a design. Launches that cannot be predicted or simulated are rejected with the reason.
pub fn simulate(
    device: &Device,
    design: Vec<Design>,
    library: &dyn Library,
    run: &(dyn Fn(&Estimator<'_>, Candidate) -> Simulated + Sync),
) -> Vec<MeasuredGroup> {
    // All launches at once: those of one kernel take so unlike times that threads would wait for the longest of them.
    let all: Vec<(usize, Candidate)> = (0..)
        .zip(&design)
        .flat_map(|(number, (_, _, launches))| launches.iter().map(move |&launch| (number, launch)))
        .collect();
    let outcomes = parallel::map(&all, |&(number, candidate)| {
        case(&library.estimator(&design[number].1, device), candidate, run)
    });
    let mut outcomes = outcomes.into_iter();
    let mut one = |(subject, kernel, launches): Design| {
        let (mut cases, mut rejected) = (Vec::new(), Vec::new());
        for outcome in outcomes.by_ref().take(launches.len()) {
            match outcome {
                Ok(case) => cases.push(case),
                Err(why) => rejected.push(why),
            }
        }
        MeasuredGroup { subject, device: device.clone(), cases, rejected, kernel }
    };
    design.into_iter().map(&mut one).collect()
}

fn case(
    estimator: &Estimator<'_>,
    candidate: Candidate,
    run: &(dyn Fn(&Estimator<'_>, Candidate) -> Simulated + Sync),
) -> Result<Case, RejectedCase> {
    let rejected =
        |code: &'static str, reason: String| RejectedCase { candidate, lines: Vec::new(), code, reason };
    let prediction = estimator.predict(candidate).map_err(|why| rejected(why.code(), why.to_string()))?;
    let measured = run(estimator, candidate).map_err(|why| rejected("not-simulated", why))?;
    Ok(Case { candidate, lines: Vec::new(), measured, prediction })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{Curve, Fit, for_device};
    use crate::device::find;
    use crate::measure::fit::{CurveOutcome, FitRequest, fit};

    /// Predictions with the curves that ship.
    struct Plain;

    impl Library for Plain {
        fn kernel(&self, _: &MeasuredSubject) -> Result<Kernel, Fault> {
            unreachable!("the design has its kernels")
        }
        fn device(&self, _: &MeasuredSubject) -> Result<Device, Fault> {
            unreachable!("the design has its device")
        }
        fn estimator<'a>(&'a self, kernel: &'a Kernel, device: &'a Device) -> Estimator<'a> {
            Estimator::new(kernel, device)
        }
    }

    #[test]
    fn the_design_tells_the_curves_of_a_device_that_does_not_exist() {
        // An A100 with a quarter of its L2. Instead of caches the model itself is run, with other curves.
        let device = find("a100", &["l2.effective=5MiB".to_owned()]).unwrap();
        let base = for_device(&device).fit;
        let mut other: Fit = base.clone();
        let source = || "x".to_owned();
        other.volumes.l1_redundant = Curve::Hill { o0: 1.2, k: 5.0, source: source() };
        other.volumes.l2_reuse = Curve::Hill { o0: 0.8, k: 3.0, source: source() };
        let run = |estimator: &Estimator<'_>, candidate: Candidate| -> Simulated {
            let mut p = estimator.predict(candidate).map_err(|e| e.to_string())?;
            estimator.refit(&mut p, &other);
            let v = &p.volumes;
            Ok(vec![
                (MeasuredQuantity::L2Load, v.l2.load.total.get()),
                (MeasuredQuantity::DramLoad, v.dram.load.total.get()),
            ])
        };
        let groups = simulate(&device, design(&device).unwrap(), &Plain, &run);
        let request = FitRequest { simulated: true, ..FitRequest::default() };
        let fitting = fit(&groups, &Plain, base, &request).unwrap();
        for (name, expected) in [("l1_redundant", [1.2, 5.0]), ("l2_reuse", [0.8, 3.0])] {
            let curve = fitting.curves.iter().find(|c| c.name == name).unwrap();
            let CurveOutcome::Curve(found, _) = &curve.outcome else { panic!("{name}: {:?}", curve.outcome) };
            for (value, expected) in found.values.iter().zip(expected) {
                assert!((value / expected - 1.0).abs() < 5e-3, "{name}: {:?}", found.values);
            }
            assert!(fitting.fit.sources[name].simulated);
        }
        assert!(fitting.fit.about.starts_with("simulated"));
    }
}
