//! Threads that fall on the same banks of shared memory are told of by `explain`.

mod program;

use program::{answer, stdout, wavecast};

/// Each thread stores and loads a shared element, `stride` elements after its neighbour's.
fn kernel(stride: i64, dtype: &str) -> String {
    format!(
        "wavecast: 1\nkernel: k\nparams: {{N: 4194304, S: {stride}}}\nfields: {{x: {{dtype: f32, size: N}}, \
         s: {{dtype: {dtype}, size: 256*S, space: shared}}}}\ndomain: {{i: N}}\nbody:\n  - load x[i]\n  \
         - store s[S*threadIdx.x]\n  - sync\n  - load s[S*threadIdx.x]\n  - store x[i]\nwork: {{flops: 0}}\n\
         launch: {{block: [[256]], registers: 16}}\n"
    )
}

/// `bank_conflicts` of the four accesses.
fn conflicts(stride: i64, dtype: &str) -> [Option<f64>; 4] {
    let found = answer(&["explain", "-", "-d", "a100"], &kernel(stride, dtype));
    [0, 1, 2, 3].map(|i| found["accesses"][i]["bank_conflicts"].as_f64())
}

#[test]
fn conflicts_are_the_wavefronts_over_those_that_the_bytes_need() {
    // Strides of 4 bytes that share a divisor with the 32 banks fall on as many fewer of them.
    for (stride, expected) in [(1, 1.0), (2, 2.0), (3, 1.0), (8, 8.0), (32, 32.0), (33, 1.0)] {
        assert_eq!(conflicts(stride, "f32"), [None, Some(expected), Some(expected), None], "{stride}");
    }
    // 32 lanes of 8 bytes need two wavefronts anyway.
    assert_eq!(conflicts(1, "f64"), [None, Some(1.0), Some(1.0), None]);
}

#[test]
fn explain_names_the_access_where_the_l1_pipe_matters() {
    let said = |stride| {
        stdout(&wavecast(&["explain", "-", "-d", "a100"], &kernel(stride, "f32"))).replace('\n', " ")
    };
    let text = said(32);
    assert!(text.contains("s[32*threadIdx.x] takes 32.0 times the wavefronts that its bytes need"), "{text}");
    assert!(!said(33).contains("wavefronts that its bytes need"));
}
