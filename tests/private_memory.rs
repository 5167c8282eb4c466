//! Memory of threads: arrays that a thread indexes at run time, behind the caches.

mod program;

use program::{answer, number};
use serde_json::Value;

/// The Coulomb sum with its array of `z` sums in memory of threads.
fn coulomb(z: u32, [bx, by]: [u32; 2], more: &[&str]) -> Value {
    let set = [("LOCAL", 1), ("Z", z), ("BX", bx), ("BY", by)].map(|(n, v)| format!("{n}={v}"));
    let set = set.iter().flat_map(|s| ["--set", s.as_str()]);
    let arguments: Vec<&str> = ["predict", "kernels/coulomb.yaml", "-d", "rtx-2080-ti"]
        .into_iter()
        .chain(set)
        .chain(more.iter().copied())
        .collect();
    answer(&arguments, "")["result"].clone()
}

fn of_sums(result: &Value, what: &str) -> f64 {
    number(result, &format!("fields.sums.{what}"))
}

#[test]
fn lanes_lie_side_by_side_whatever_the_shape_of_the_block() {
    for z in [8, 16, 32] {
        let [flat, high, square] = [[64, 1], [16, 4], [8, 8]].map(|block| coulomb(z, block, &[]));
        for what in ["l2_load", "l2_store", "dram_load", "dram_store"] {
            let [a, b, c] = [&flat, &high, &square].map(|r| of_sums(r, what));
            assert!((a - b).abs() < 1e-9 && (a - c).abs() < 1e-9, "{z} {what}: {a} {b} {c}");
        }
        // Each sum is stored for each of 64 atoms, and written through.
        assert!((of_sums(&flat, "l2_store") - 64.0 * 4.0 * f64::from(z)).abs() < 1e-6);
    }
}

#[test]
fn memory_gives_no_more_than_the_l2_is_asked_for() {
    let mut largest = 0.0_f64;
    for l2 in ["500KiB", "1MiB", "2MiB", "5632KiB", "64MiB"] {
        for z in [4, 8, 16, 32] {
            let result = coulomb(z, [32, 4], &["--device-set", &format!("l2.effective={l2}")]);
            let (memory, l2_load) = (of_sums(&result, "dram_load"), of_sums(&result, "l2_load"));
            assert!(memory <= l2_load * (1.0 + 1e-9), "{l2} {z}: {memory} {l2_load}");
            largest = largest.max(memory / l2_load);
        }
    }
    // And a small L2 passes on nearly all of it.
    assert!(largest > 0.9, "{largest}");
}

#[test]
fn what_the_l2_has_room_for_never_leaves_it() {
    let result = coulomb(8, [32, 4], &["--device-set", "l2.effective=64MiB"]);
    assert!(of_sums(&result, "dram_load") < 1e-3 && of_sums(&result, "dram_store") < 1e-2);
    assert!(of_sums(&result, "l2_load") > 1.0);
}

/// Bytes for each thread, the array once beside atoms and grid, counted on the RTX 2080 Ti: the tuner's rows whose loop over
/// atoms was unrolled once and twice (Kernel Tuning Toolkit, Coulomb sum with counted instructions).
#[test]
fn the_l2_is_asked_for_what_was_counted() {
    for (z, once, twice) in [(8, 172.3, 172.3), (16, 757.6, 1032.0), (32, 3349.6, 4693.6)] {
        let result = coulomb(z, [32, 4], &["--set", "SOA=0"]);
        let found = number(&result, "volumes.l2.load.total");
        assert!(0.9 * once < found && found < 1.1 * twice, "{z}: {found} B, {once} to {twice} B counted");
    }
    // And memory gives of it what was counted: hardly anything as long as the L2 holds the arrays of all threads.
    for (z, once, twice) in [(16, 84.0, 84.0), (32, 1774.0, 2792.0)] {
        let result = coulomb(z, [32, 4], &["--set", "SOA=0"]);
        let found = number(&result, "volumes.dram.load.total");
        assert!(0.8 * once < found && found < 1.2 * twice, "{z}: {found} B, {once} to {twice} B counted");
    }
}
