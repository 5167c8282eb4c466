//! The devices that come with Wavecast beside what their vendors publish, and beside each other.

use wavecast::device::{self, Device, SourceKind, Vendor};

fn all() -> Vec<Device> {
    device::ids().map(|id| device::find(id, &[]).unwrap()).collect()
}

/// What the vendors' tables say of an SM (compute unit): CUDA C++ Programming Guide, technical specifications per
/// compute capability; occupancy limits of the LLVM backend for AMD.
struct Capability {
    target: &'static str,
    threads: u64,
    warps: u64,
    blocks: u64,
    registers: u64,
    registers_per_thread: u64,
    shared_kib: u64,
    shared_per_block_kib: u64,
}

const fn capability(
    target: &'static str,
    per_sm: [u64; 3],
    registers: [u64; 2],
    shared: [u64; 2],
) -> Capability {
    Capability {
        target,
        threads: per_sm[0],
        warps: per_sm[1],
        blocks: per_sm[2],
        registers: registers[0],
        registers_per_thread: registers[1],
        shared_kib: shared[0],
        shared_per_block_kib: shared[1],
    }
}

const CAPABILITIES: [Capability; 18] = [
    capability("sm_20", [1536, 48, 8], [32_768, 63], [48, 48]),
    capability("sm_70", [2048, 64, 32], [65_536, 255], [96, 96]),
    capability("sm_75", [1024, 32, 16], [65_536, 255], [64, 64]),
    capability("sm_80", [2048, 64, 32], [65_536, 255], [164, 163]),
    capability("sm_86", [1536, 48, 16], [65_536, 255], [100, 99]),
    capability("sm_89", [1536, 48, 24], [65_536, 255], [100, 99]),
    capability("sm_90", [2048, 64, 32], [65_536, 255], [228, 227]),
    capability("sm_100", [2048, 64, 32], [65_536, 255], [228, 227]),
    capability("sm_120", [1536, 48, 24], [65_536, 255], [100, 99]),
    capability("gfx908", [2560, 40, 40], [65_536, 256], [64, 64]),
    capability("gfx90a", [2048, 32, 32], [131_072, 512], [64, 64]),
    capability("gfx942", [2048, 32, 32], [131_072, 512], [64, 64]),
    capability("gfx1030", [1024, 32, 32], [65_536, 256], [64, 64]),
    capability("gfx1031", [1024, 32, 32], [65_536, 256], [64, 64]),
    capability("gfx1032", [1024, 32, 32], [65_536, 256], [64, 64]),
    capability("gfx1100", [1024, 32, 32], [98_304, 256], [64, 64]),
    capability("gfx1101", [1024, 32, 32], [98_304, 256], [64, 64]),
    capability("gfx1102", [1024, 32, 32], [65_536, 256], [64, 64]),
];

#[test]
fn limits_are_those_of_the_compute_capability() {
    for device in all() {
        let (id, sm) = (device.id().clone(), device.sm());
        let target = device.target().unwrap_or_else(|| panic!("{id} has no target"));
        let table = CAPABILITIES.iter().find(|c| c.target == target);
        let table = table.unwrap_or_else(|| panic!("{id}: no row for {target}"));
        assert_eq!(sm.max_threads().value().0, table.threads, "{id}");
        assert_eq!(sm.max_warps().value().0, table.warps, "{id}");
        assert_eq!(sm.max_blocks().value().0, table.blocks, "{id}");
        assert_eq!(sm.registers().value().0, table.registers, "{id}");
        assert_eq!(sm.max_registers_per_thread().value().0, table.registers_per_thread, "{id}");
        assert_eq!(sm.shared().value().0, table.shared_kib << 10, "{id}");
        assert_eq!(sm.shared_per_block().value().0, table.shared_per_block_kib << 10, "{id}");
        let warp = if device.vendor() == &Vendor::Amd && target.starts_with("gfx9") { 64 } else { 32 };
        assert_eq!(sm.warp_size().value().0, warp, "{id}");
        assert_eq!(sm.max_threads().value().0, warp * table.warps, "{id}");
    }
}

/// Peak rates of the data sheets in TFLOP/s, single and double precision (0 where the sheet has none). Devices whose file
/// has the clock of a run rather than that of the data sheet are left out.
const PEAKS: &[(&str, f64, f64)] = &[
    ("v100-sxm2-32gb", 15.7, 7.8),
    ("v100-sxm2-16gb", 15.7, 7.8),
    ("titan-v", 14.9, 7.45),
    ("rtx-2080-ti", 13.45, 0.42),
    ("titan-rtx", 16.3, 0.51),
    ("t4", 8.1, 0.25),
    ("a100-40gb", 19.5, 9.7),
    ("a100-80gb", 19.5, 9.7),
    ("a100-pcie-40gb", 19.5, 9.7),
    ("a100-pcie-80gb", 19.5, 9.7),
    ("a30", 10.3, 5.2),
    ("a40", 37.4, 0.585),
    ("a10", 31.2, 0.0),
    ("rtx-a6000", 38.7, 0.0),
    ("rtx-3070", 20.3, 0.0),
    ("rtx-3080", 29.8, 0.0),
    ("rtx-3080-ti", 34.1, 0.0),
    ("rtx-3090", 35.6, 0.0),
    ("rtx-3090-ti", 40.0, 0.0),
    ("l40s", 91.6, 0.0),
    ("l4", 30.3, 0.0),
    ("rtx-6000-ada", 91.1, 0.0),
    ("rtx-4070", 29.1, 0.0),
    ("rtx-4070-super", 35.5, 0.0),
    ("rtx-4070-ti", 40.1, 0.0),
    ("rtx-4070-ti-super", 44.1, 0.0),
    ("rtx-4080", 48.7, 0.0),
    ("rtx-4080-super", 52.2, 0.0),
    ("rtx-4090", 82.6, 0.0),
    ("h100-sxm", 67.0, 34.0),
    ("h100-nvl", 60.0, 30.0),
    ("h200", 67.0, 34.0),
    ("gh200", 67.0, 34.0),
    ("b200", 75.0, 37.0),
    ("gb200", 80.0, 40.0),
    ("rtx-5070-ti", 43.9, 0.0),
    ("rtx-5080", 56.3, 0.0),
    ("rtx-5090", 104.8, 0.0),
    ("mi100", 23.1, 11.5),
    ("mi210", 22.6, 22.6),
    ("mi300x", 163.4, 81.7),
    ("mi300a", 122.6, 61.3),
    ("mi325x", 163.4, 81.7),
    ("rx-6600", 8.93, 0.56),
    ("rx-6600-xt", 10.6, 0.66),
    ("rx-6700-xt", 13.21, 0.83),
    ("rx-6800", 16.17, 1.01),
    ("rx-6800-xt", 20.74, 1.3),
    ("rx-6950-xt", 23.65, 1.48),
    ("radeon-pro-w6600", 10.4, 0.65),
    ("rx-7600", 21.75, 0.68),
    ("rx-7700-xt", 35.17, 1.1),
    ("rx-7800-xt", 37.32, 1.17),
    ("rx-7900-gre", 45.98, 1.44),
    ("rx-7900-xt", 51.61, 1.61),
    ("rx-7900-xtx", 61.44, 1.92),
    ("radeon-pro-w7800", 45.2, 1.41),
    ("radeon-pro-w7900", 61.3, 1.92),
];

#[test]
fn peaks_are_those_of_the_data_sheets() {
    for &(id, fp32, fp64) in PEAKS {
        let device = device::find(id, &[]).unwrap();
        let cycles = device.sm().count().value().0 as f64 * device.clock().value().0;
        let peak = |per_cycle: u64| per_cycle as f64 * cycles / 1e12;
        let near = |what: &str, ours: f64, sheet: f64| {
            let off = ours / sheet - 1.0;
            assert!(sheet == 0.0 || off.abs() < 0.025, "{id}: {what} {ours:.2}, data sheet {sheet}");
        };
        near("fp32", peak(device.rates().fp32().value().0), fp32);
        near("fp64", peak(device.rates().fp64().value().0), fp64);
    }
}

/// Bits of the memory bus and rate of a pin in Gbit/s, from the data sheets.
const BUSES: &[(&str, f64, f64)] = &[
    ("titan-v", 3072.0, 1.7),
    ("rtx-2080-ti", 352.0, 14.0),
    ("titan-rtx", 384.0, 14.0),
    ("t4", 256.0, 10.0),
    ("a100-40gb", 5120.0, 2.43),
    ("a100-pcie-80gb", 5120.0, 3.024),
    ("a30", 3072.0, 2.43),
    ("a40", 384.0, 14.5),
    ("a10", 384.0, 12.5),
    ("rtx-a6000", 384.0, 16.0),
    ("rtx-a4000", 256.0, 14.0),
    ("rtx-3060", 192.0, 15.0),
    ("rtx-3070", 256.0, 14.0),
    ("rtx-3070-ti", 256.0, 19.0),
    ("rtx-3080", 320.0, 19.0),
    ("rtx-3080-ti", 384.0, 19.0),
    ("rtx-3090", 384.0, 19.5),
    ("rtx-3090-ti", 384.0, 21.0),
    ("l40", 384.0, 18.0),
    ("l4", 192.0, 12.5),
    ("rtx-6000-ada", 384.0, 20.0),
    ("rtx-4070", 192.0, 21.0),
    ("rtx-4070-super", 192.0, 21.0),
    ("rtx-4070-ti", 192.0, 21.0),
    ("rtx-4070-ti-super", 256.0, 21.0),
    ("rtx-4080", 256.0, 22.4),
    ("rtx-4080-super", 256.0, 23.0),
    ("rtx-4090", 384.0, 21.0),
    ("h100-nvl", 6016.0, 5.237),
    ("b200", 8192.0, 7.8),
    ("gb200", 8192.0, 7.8),
    ("rtx-5070-ti", 256.0, 28.0),
    ("rtx-5080", 256.0, 30.0),
    ("rtx-5090", 512.0, 28.0),
    ("mi325x", 8192.0, 5.86),
    ("rx-6600", 128.0, 14.0),
    ("rx-6600-xt", 128.0, 16.0),
    ("rx-6700-xt", 192.0, 16.0),
    ("rx-6800", 256.0, 16.0),
    ("rx-6800-xt", 256.0, 16.0),
    ("rx-6900-xt", 256.0, 16.0),
    ("rx-6950-xt", 256.0, 18.0),
    ("rx-7600", 128.0, 18.0),
    ("rx-7700-xt", 192.0, 18.0),
    ("rx-7800-xt", 256.0, 19.5),
    ("rx-7900-gre", 256.0, 18.0),
    ("rx-7900-xt", 320.0, 20.0),
    ("rx-7900-xtx", 384.0, 20.0),
    ("radeon-pro-w7800", 256.0, 18.0),
    ("radeon-pro-w7900", 384.0, 18.0),
];

#[test]
fn memory_is_as_fast_as_its_pins() {
    for &(id, bits, rate) in BUSES {
        let device = device::find(id, &[]).unwrap();
        let (ours, pins) = (device.dram().theoretical().value().0 / 1e9, bits * rate / 8.0);
        assert!((ours / pins - 1.0).abs() < 0.01, "{id}: {ours} GB/s, pins {pins}");
    }
}

/// What holds for every GPU of these families, and is broken by a wrong unit or a slipped digit.
#[test]
fn levels_are_in_order() {
    for device in all() {
        let id = device.id();
        let (l1, l2, dram) = (device.l1(), device.l2(), device.dram());
        let clock = device.clock().value().0;
        let of_l1 = l1.bandwidth().value().0 * device.sm().count().value().0 as f64 * clock;
        let (of_l2, of_dram) = (l2.bandwidth().value().0, dram.bandwidth().value().0);
        assert!((1.0e9..3.0e9).contains(&clock), "{id}: {clock}");
        assert!((1.0..12.0).contains(&(of_l1 / of_l2)), "{id}: L1 {of_l1:.3e}, L2 {of_l2:.3e}");
        assert!((1.3..16.0).contains(&(of_l2 / of_dram)), "{id}: L2 {of_l2:.3e}, DRAM {of_dram:.3e}");
        let share = of_dram / dram.theoretical().value().0;
        assert!((0.6..0.97).contains(&share), "{id} reaches {share:.2} of its theoretical bandwidth");
        let latencies = [l1.latency().value().0, l2.latency().value().0, dram.latency().value().0];
        assert!(latencies.is_sorted(), "{id}: {latencies:?}");
        let nanoseconds = latencies[2] / clock * 1e9;
        assert!((200.0..600.0).contains(&nanoseconds), "{id}: memory answers in {nanoseconds:.0} ns");
        if let Some(llc) = device.llc() {
            let bandwidth = llc.bandwidth().value().0;
            assert!(of_dram < bandwidth && bandwidth < of_l2, "{id}: last-level cache {bandwidth:.3e}");
            assert!(llc.latency().value().0 > latencies[1] && llc.latency().value().0 < latencies[2], "{id}");
        }
    }
}

#[test]
fn what_is_assumed_says_of_what() {
    for device in all() {
        for number in device.numbers() {
            let source = &device.sources()[number.source];
            assert!(!source.text().is_empty(), "{}: {}", device.id(), number.path);
            let in_note = source.text().contains("as the note of each number says");
            assert!(number.note.is_some() || !in_note, "{}: {} has no note", device.id(), number.path);
            assert!(!in_note || source.kind() == &SourceKind::Assumed, "{}: {}", device.id(), number.path);
        }
    }
}
