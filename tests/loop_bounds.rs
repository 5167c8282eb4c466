//! Bounds of loops that differ between threads, or name the variable of a loop that runs once, count as the same said
//! otherwise.

use wavecast::device;
use wavecast::kernel::load;
use wavecast::launch::{Candidate, Launch, Program};
use wavecast::traffic::{Counting, footprints};

/// What is counted of the loads of a kernel in blocks of some shape, with which engines.
fn counted(body: &str, candidate: Candidate) -> String {
    let text = format!(
        "wavecast: 1\nkernel: k\nparams: {{K: 32, T: 32}}\nfields: {{a: {{dtype: f32, size: 1000000}}}}\n\
         domain: {{x: 3000}}\nbody: {body}\n"
    );
    let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
    let device = device::find("a100", &[]).unwrap();
    let launch = Launch::new(&kernel, candidate).unwrap();
    let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
    let found = footprints(&kernel, &launch, &program, &device, 64, &Counting::default()).unwrap();
    assert!(!found.sampled, "{body}");
    let of = &found.fields[0];
    format!(
        "{:?}",
        (of.block_load, of.mean_block_load, of.wave_load, of.reuse, found.wave, found.block_pages)
    )
}

fn candidates() -> impl Iterator<Item = Candidate> {
    [([64, 1, 1], [1; 3]), ([96, 1, 1], [1; 3]), ([32, 1, 1], [2, 1, 1])]
        .into_iter()
        .map(|(block, fold)| Candidate::new(block, fold).unwrap())
}

#[test]
fn a_bound_that_differs_between_threads_is_a_condition() {
    for (from, to, when) in [
        ("0", "tidx % 5", "i <= tidx % 5"),
        ("tidx % 3", "4", "i >= tidx % 3 && i <= 4"),
        ("0", "(threadIdx.x + blockIdx.x*blockDim.x) % 4", "i <= tidx % 4"),
        ("0", "tidx - 4*(tidx/4)", "i <= tidx % 4"),
        ("0", "threadIdx.x % 7", "i <= threadIdx.x % 7"),
        ("0", "min(tidx, 6)", "i <= tidx"),
    ] {
        for load in ["a[tidx + i]", "a[3*tidx + 1000*i]", "a[i]"] {
            let bound = format!("[{{loop: {{i: {{from: '{from}', to: '{to}'}}}}, body: ['load {load}']}}]");
            let cond = format!("[{{loop: {{i: 0..6}}, body: [{{at: 'load {load}', when: '{when}'}}]}}]");
            for candidate in candidates() {
                assert_eq!(counted(&bound, candidate), counted(&cond, candidate), "{load} {from}..{to}");
            }
        }
    }
}

#[test]
fn bounds_may_name_a_loop_that_runs_once() {
    let plain = "[{loop: {k: 0..31}, body: ['load a[x + 4000*k]']}]";
    for (tiles, from, to) in [
        ("0..K/T-1", "kt*T", "kt*T + T - 1"),
        ("3..3", "kt - 3", "K - 1 + kt/4"),
        ("{from: threadIdx.x, to: threadIdx.x}", "kt - threadIdx.x", "31"),
    ] {
        let tiled = format!(
            "[{{loop: {{kt: {tiles}}}, body: [{{loop: {{k: {{from: '{from}', to: '{to}'}}}}, body: ['load a[x + 4000*k]']}}]}}]"
        );
        for candidate in candidates() {
            assert_eq!(counted(&tiled, candidate), counted(plain, candidate), "{tiles} {from}..{to}");
        }
    }
}
