//! What blocks use again in later iterations of a loop hits in the L1 if an iteration fits, however long
//! the loop is; what a loop in between pushes out does not.

mod program;

use program::{json, number, results, wavecast};

/// Bytes per work item that the L1 loads: (all, those that cannot be avoided).
fn loads(kernel: &str, more: &[&str]) -> (f64, f64) {
    let arguments = [&["rank", "-", "-d", "a100", "--format", "json"], more].concat();
    let document = json(&wavecast(&arguments, kernel));
    let result = &results(&document)[0];
    let at = |name: &str| number(result, &format!("volumes.l2.load.{name}"));
    (at("total"), at("compulsory"))
}

#[test]
fn a_matrix_product_loads_each_tile_edge_once() {
    let kernel = "wavecast: 1\nkernel: matmul\nparams: {N: 2048}\nfields:\n  A: {dtype: f32, shape: [N, N], order: C}\n  \
                  B: {like: A}\n  C: {like: A}\ndomain: {column: N, row: N}\nbody:\n  - loop: {k: 0..N-1}\n    \
                  body: ['load A[row, k]', 'load B[k, column]']\n  - store C[row, column]\nlaunch: {registers: 32}\n";
    for (block, [x, y]) in [("32,32", [32.0, 32.0]), ("64,4", [64.0, 4.0]), ("16,16", [16.0, 16.0])] {
        let (all, once) = loads(kernel, &["--block", block]);
        // Each element of a block's rows of A and columns of B once: 4 N (x + y) bytes for x y elements.
        let expected = 4.0 * 2048.0 * (x + y) / (x * y);
        assert!((once / expected - 1.0).abs() < 0.01, "{block}: {once}, {expected} expected");
        assert!((all / expected - 1.0).abs() < 0.02, "{block}: {all}, {expected} expected");
    }
}

/// Blocks of 256 threads that each go ten times over `K` doubles per thread of their own.
fn sweeps(length: &str) -> (f64, f64) {
    let kernel = format!(
        "wavecast: 1\nkernel: sweeps\nparams: {{N: 1048576, K: {length}}}\nfields: {{a: {{dtype: f64, size: N*K}}}}\n\
         domain: {{x: N}}\nbody:\n  - loop: {{r: 0..9}}\n    body:\n      - loop: {{k: 0..K-1}}\n        \
         body: ['load a[blockIdx.x*256*K + k*256 + threadIdx.x]']\nlaunch: {{block: [[256]], registers: 16}}\n"
    );
    loads(&kernel, &[])
}

#[test]
fn what_an_inner_loop_pushes_out_is_loaded_again() {
    // 8 blocks of 4 KiB each fit into 192 KiB; 8 blocks of 2 MiB do not.
    let (all, once) = sweeps("2");
    assert!((once - 16.0).abs() < 0.1 && all < 1.05 * once, "{all} {once}");
    let (all, once) = sweeps("1024");
    assert!((once - 8192.0).abs() < 1.0 && (all / once - 10.0).abs() < 0.1, "{all} {once}");
}

#[test]
fn rows_of_many_threads_push_each_other_out() {
    let row = |threads: &str| {
        let kernel = "wavecast: 1\nkernel: rows\nparams: {N: 1048576, K: 1024}\nfields: {a: {dtype: f32, shape: [N, K], order: C}}\n\
                      domain: {x: N}\nbody:\n  - loop: {k: 0..K-1}\n    body: ['load a[x, k]']\nlaunch: {registers: 32}\n";
        let (all, once) = loads(kernel, &["--block", "64", "--device-set", threads]);
        assert!((once - 4096.0).abs() < 1.0, "{once}");
        all
    };
    // Each thread has a line of its own: 2048 of them are 256 KiB, 256 are 32 KiB.
    let (many, few) = (row("sm.max_blocks=32"), row("sm.max_blocks=4"));
    assert!(few < 4150.0 && many > 4500.0, "{few} {many}");
}

#[test]
fn blocks_that_the_domain_cuts_store_each_element_once() {
    // The bound of the loop depends on the block, so that lanes are run one by one, those of the last block too.
    for n in [1000, 1024, 1032, 1148] {
        let kernel = format!(
            "wavecast: 1\nkernel: cut\nparams: {{N: {n}}}\nfields:\n  a: {{dtype: f64, shape: [N, 64]}}\n  \
             b: {{dtype: f64, shape: [N]}}\ndomain: {{x: N}}\nbody:\n  - loop: {{k: '0..(31*32+blockIdx.x)/32'}}\n    \
             body: ['load a[x, (3*k) % 64]']\n  - store b[x]\nlaunch: {{block: [[128]], registers: 16}}\n"
        );
        let document = json(&wavecast(&["rank", "-", "-d", "a100", "--format", "json"], &kernel));
        let l1 = |name: &str| number(&results(&document)[0], &format!("volumes.l1.{name}"));
        assert!((l1("store_bytes") - 8.0).abs() < 1e-9, "N={n}: {} bytes stored", l1("store_bytes"));
        assert!((l1("load_bytes") - 32.0 * 8.0).abs() < 1e-9, "N={n}: {} bytes loaded", l1("load_bytes"));
    }
}
