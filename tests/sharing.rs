//! Candidates of a ranking share what is counted of equal blocks of work items. What comes out is what
//! each candidate by itself gives, to the last bit.

use std::sync::atomic::AtomicUsize;

use wavecast::device;
use wavecast::kernel::load;
use wavecast::launch::candidates;
use wavecast::predict::{Choice, Estimator, rank};
use wavecast::traffic::{Counting, WorkItems};

/// Kernel, whether its candidates can share, and how many of them are looked at.
const KERNELS: [(&str, bool, usize); 9] = [
    ("star3d25", true, 1000),
    ("star3d7", true, 1000),
    ("lbm-d3q15", true, 1000),
    ("stream-triad", true, 1000),
    ("transpose-naive", true, 1000),
    ("polybench-gemm", true, 3),
    ("laplap2d", true, 200),
    ("axpy-gridstride", false, 1000),
    ("conv2d-shared", false, 1000),
];

#[test]
fn rankings_and_predictions_agree() {
    for (name, shares, most) in KERNELS {
        let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let kernel = load(name, &text, &Default::default()).unwrap().kernels.remove(0);
        assert_eq!(WorkItems::new(&kernel, &Counting::default()).is_some(), shares, "{name}");
        for device in ["a100-40gb", "rx-6900-xt"] {
            let device = device::find(device, &[]).unwrap();
            let estimator = Estimator::new(&kernel, &device);
            let choices = candidates(&kernel).take(most).map(|candidate| Choice { kernel: 0, candidate });
            let choices: Vec<Choice> = choices.collect();
            let ranking = rank(&[estimator], &choices, 0.04, usize::MAX, &AtomicUsize::new(0));
            assert!(!ranking.results().is_empty(), "{name}");
            for ranked in ranking.results() {
                let candidate = ranked.prediction.launch.candidate();
                let alone = estimator.predict(candidate).unwrap();
                assert_eq!(ranked.prediction.volumes, alone.volumes, "{name} {candidate:?}");
                assert_eq!(ranked.prediction.time, alone.time, "{name} {candidate:?}");
            }
        }
    }
}
