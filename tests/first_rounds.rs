//! What has nothing beside it while a loop loads: its first round, whatever barriers come after it.

mod program;

use program::{json, wavecast};

/// Seconds of a sum over a long array by as many blocks as fit.
fn seconds(after: &str) -> f64 {
    let text = format!(
        "wavecast: 1\nkernel: k\nfields:\n  x: {{dtype: f32, size: 67108864}}\n  y: {{dtype: f32, size: 864}}\n  \
         part: {{dtype: f32, size: blockDim.x, space: shared}}\ndomain: {{i: 67108864}}\nbody:\n  \
         - loop: {{k: {{from: tidx, to: 67108863, step: blockDim.x*gridDim.x}}}}\n    body: ['load x[k]']\n{after}  \
         - store y[blockIdx.x]\nwork: {{unit: element, flops: 1}}\nlaunch: {{block: [[64]], grid: [864], registers: 20}}\n"
    );
    let output = wavecast(&["predict", "-", "-d", "a100", "--format", "json"], &text);
    json(&output)["result"]["time_s"].as_f64().unwrap()
}

#[test]
fn a_barrier_after_a_loop_makes_nothing_of_it_wait() {
    let without = seconds("");
    let with = seconds("  - store part[threadIdx.x]\n  - sync\n  - load part[threadIdx.x]\n");
    assert!((with / without - 1.0).abs() < 0.02, "{with} with a barrier, {without} without");
    // The memory alone takes 164 us.
    assert!((164e-6..200e-6).contains(&with), "{with}");
}
