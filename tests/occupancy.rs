//! Occupancy and what limits it, on devices whose rules differ. The expected values follow from the
//! vendors' published limits and were worked out by hand, as the comments show.

use wavecast::device::find;
use wavecast::kernel::load;
use wavecast::launch::{Candidate, Infeasible, Launch, Limit, Occupancy, occupancy};

fn occupy(device: &str, block: [i64; 3], registers: i64, shared: i64) -> Result<Occupancy, Infeasible> {
    let text = format!(
        "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 1048576}}}}\ndomain: {{x: 1048576}}\n\
         loads: ['a[x]']\nlaunch: {{registers: {registers}, shared: {shared}}}\n"
    );
    let loaded = load("k", &text, &Default::default()).unwrap();
    let launch = Launch::new(&loaded.kernels[0], Candidate::new(block, [1; 3]).unwrap())?;
    occupancy(&find(device, &[]).unwrap(), &launch)
}

fn expect(device: &str, block: [i64; 3], registers: i64, shared: i64, blocks: i64, limit: Limit) {
    let found = occupy(device, block, registers, shared).unwrap();
    assert_eq!(
        (found.blocks_per_sm, found.limited_by),
        (blocks, limit),
        "{device} {block:?} {registers} {shared}"
    );
}

#[test]
fn threads_limit() {
    expect("v100", [256, 1, 1], 32, 0, 8, Limit::Threads); // 64 warps / 8
    expect("v100", [1024, 1, 1], 32, 0, 2, Limit::Threads);
    expect("v100", [33, 1, 1], 32, 0, 32, Limit::Threads); // 2 warps each; blocks would allow 32 too
    expect("a40", [1024, 1, 1], 32, 0, 1, Limit::Threads); // 48 warps / 32
    expect("rtx-2080-ti", [1024, 1, 1], 32, 0, 1, Limit::Threads); // 32 warps / 32
    expect("mi210", [256, 1, 1], 32, 0, 8, Limit::Threads); // 32 waves / 4
}

#[test]
fn blocks_limit() {
    expect("v100", [32, 1, 1], 16, 0, 32, Limit::Blocks);
    expect("a40", [32, 1, 1], 16, 0, 16, Limit::Blocks);
    expect("gtx-480", [32, 1, 1], 16, 0, 8, Limit::Blocks);
}

#[test]
fn registers_limit() {
    // 40 registers * 32 = 1280 per warp; 16384 per scheduler / 1280 = 12 warps, times 4 = 48; / 8.
    expect("a100", [256, 1, 1], 40, 0, 6, Limit::Registers);
    // 255 * 32 = 8160, in units of 256: 8192; 2 warps per scheduler.
    expect("v100", [128, 1, 1], 255, 0, 2, Limit::Registers);
    // Fermi: 21 * 32 = 672, in units of 64: 704; 16384 / 704 = 23 per scheduler, 46 in all; / 8.
    expect("gtx-480", [256, 1, 1], 21, 0, 5, Limit::Registers);
}

#[test]
fn shared_memory_limits() {
    // 48 KiB and 1 KiB for the system: 164 / 49.
    expect("a100", [128, 1, 1], 32, 48 << 10, 3, Limit::Shared);
    expect("v100", [128, 1, 1], 32, 48 << 10, 2, Limit::Shared); // 96 / 48, nothing reserved
}

#[test]
fn what_cannot_run_has_a_reason() {
    let code =
        |device, block, registers, shared| occupy(device, block, registers, shared).unwrap_err().code();
    assert_eq!(code("a100", [1024, 2, 1], 32, 0), "threads-per-block");
    assert_eq!(code("a100", [1, 1, 128], 32, 0), "block-dimension");
    assert_eq!(code("a100", [128, 1, 1], 256, 0), "registers-per-thread");
    assert_eq!(code("gtx-480", [1024, 1, 1], 40, 0), "registers-per-block"); // 32 warps * 1280 > 32768
    assert_eq!(code("a100", [1024, 1, 1], 80, 0), "registers-per-block");
    assert_eq!(code("a100", [128, 1, 1], 32, 164 << 10), "shared-per-block");
}

#[test]
fn waves_follow() {
    let found = occupy("a100", [1024, 1, 1], 32, 0).unwrap();
    assert_eq!(found.wave_blocks, 216);
    assert!((found.waves.get() - 1024.0 / 216.0).abs() < 1e-12);
    assert_eq!((found.warps_per_sm, found.fraction.get()), (64, 1.0));
}

/// A device may allow fewer threads than its warps have.
#[test]
fn fewer_threads_than_warps_limit() {
    let text = "wavecast: 1\nkernel: k\nfields: {a: {dtype: f64, size: 1048576}}\ndomain: {x: 1048576}\n\
                loads: ['a[x]']\nlaunch: {registers: 16}\n";
    let loaded = load("k", text, &Default::default()).unwrap();
    let device = find("a100", &["sm.max_threads=512".to_owned()]).unwrap();
    let of = |threads| {
        let launch = Launch::new(&loaded.kernels[0], Candidate::new([threads, 1, 1], [1; 3]).unwrap())?;
        occupancy(&device, &launch)
    };
    let found = of(128).unwrap();
    assert_eq!((found.blocks_per_sm, found.limited_by), (4, Limit::Threads)); // 512 / 128
    assert!(matches!(of(1024), Err(Infeasible::ThreadsPerBlock { threads: 1024, most: 512 })));
}
