//! `sample` in a loop says how many iterations an author thinks enough to look at. It changes no result.

use proptest::prelude::*;
use wavecast::kernel::{self, Kernel};
use wavecast::launch::candidates;
use wavecast::predict::{Estimator, Prediction, Summary};
use wavecast::{device, kernel::Options};

fn load(text: &str) -> Vec<Kernel> {
    kernel::load("sampled", text, &Options::default()).unwrap_or_else(|why| panic!("{why}\n{text}")).kernels
}

/// The first launches of each kernel that can be predicted on an A100.
fn predictions(kernels: &[Kernel], most: usize) -> Vec<Summary> {
    let a100 = device::find("a100", &[]).unwrap();
    let of = |kernel| {
        let estimator = Estimator::new(kernel, &a100);
        let found = candidates(kernel).take(most).filter_map(move |c| estimator.predict(c).ok());
        found.map(Prediction::into_summary).collect::<Vec<_>>()
    };
    kernels.iter().flat_map(of).collect()
}

/// Every loop of a document with `sample`, or with `None` without it.
fn with_sample(text: &str, sample: Option<u32>) -> String {
    let added = sample.map(|n| format!(", sample: {n}")).unwrap_or_default();
    let mut out = String::new();
    for line in text.lines() {
        let line = match line.split_once("- loop: {") {
            None => line.to_owned(),
            Some((before, range)) => {
                let (name, range) = range.split_once(": ").unwrap();
                let range = range.rsplit_once('}').unwrap().0;
                let bounds = match range.split_once("..") {
                    Some((from, to)) => format!("from: {from}, to: {to}"),
                    None => range.trim_matches(['{', '}']).split(", sample").next().unwrap().to_owned(),
                };
                format!("{before}- loop: {{{name}: {{{bounds}{added}}}}}")
            }
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[test]
fn kernels_that_come_along_are_the_same_with_and_without() {
    let mut seen = 0;
    for entry in std::fs::read_dir("kernels").unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("- loop: {") {
            continue;
        }
        // Small ones: what is compared does not depend on sizes.
        let whole = predictions(&load(&with_sample(&text, None)), 2);
        assert!(!whole.is_empty(), "{path:?}");
        for sample in [1, 2, 7] {
            let sampled = predictions(&load(&with_sample(&text, Some(sample))), 2);
            assert_eq!(whole, sampled, "{path:?} with a sample of {sample}");
        }
        seen += 1;
    }
    assert!(seen >= 8, "{seen} documents with loops");
}

#[test]
fn accesses_outside_of_a_sampled_loop_count_once() {
    let text = "wavecast: 1\nkernel: product\nparams: {N: 2048}\nfields:\n  A: {dtype: f32, shape: [N, N], order: C}\n  \
                B: {like: A}\n  C: {like: A}\ndomain: {column: N, row: N}\nbody:\n  - loop: {k: 0..N-1}\n    \
                body: ['load A[row, k]', 'load B[k, column]']\n  - store C[row, column]\nlaunch: {block: [[32, 8]], registers: 32}\n";
    let found = predictions(&load(&with_sample(text, Some(2))), 1);
    assert!(
        (found[0].volumes.l2.store.total.get() - 4.0).abs() < 1e-9,
        "{} B stored per element",
        found[0].volumes.l2.store.total
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_loops_are_the_same_with_and_without(
        (outer, inner, step) in (1..40_i64, 1..9_i64, 1..4_i64),
        (stride, shift, threads) in (1..70_i64, 0..40_i64, prop::sample::select(vec![32, 96, 256])),
        sample in 1..5_u32,
    ) {
        let text = format!(
            "wavecast: 1\nkernel: random\nparams: {{N: 20000}}\nfields:\n  a: {{dtype: f32, size: N*100}}\n  b: {{like: a}}\n\
             domain: {{x: N}}\nbody:\n  - load a[x + {shift}]\n  - loop: {{i: {{from: 0, to: {outer}, step: {step}}}}}\n    body:\n      \
             - load a[x + {stride}*i]\n      - loop: {{k: 0..{inner}}}\n        body: ['load b[k*{stride} + x]', 'store a[x*2 + k]']\n  \
             - store b[x]\nlaunch: {{block: [[{threads}]], registers: 32}}\n"
        );
        let whole = predictions(&load(&with_sample(&text, None)), 1);
        prop_assert!(!whole.is_empty());
        prop_assert_eq!(whole, predictions(&load(&with_sample(&text, Some(sample))), 1));
    }
}
