//! `wavecast import` of files as profilers really write them: the layouts of several versions, totals beside
//! channels, packed files, metrics of which nothing follows. The files in `tests/imports/` have the columns of
//! real ones; their numbers are those of a copy of 1,048,576 doubles, 8,388,608 bytes.

mod program;

use std::io::Write;

use program::{stderr, stdout, wavecast};
use wavecast::measure::measurements::{MeasuredQuantity, Measurements, read};

const COPIED: f64 = 8_388_608.0;

/// What was imported, and what was said of it.
fn imported(arguments: &[&str]) -> (Measurements, String) {
    let output = wavecast(&[&["import"], arguments].concat(), "");
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    (read("imported", stdout(&output).as_bytes()).unwrap(), stderr(&output))
}

fn file(name: &str) -> String {
    format!("tests/imports/{name}")
}

fn amount(m: &Measurements, row: usize, quantity: MeasuredQuantity) -> Option<f64> {
    m.rows[row].value(quantity).map(|v| v.amount())
}

#[test]
fn volumes_of_a_copy_are_right_in_every_layout() {
    for (name, launches) in [
        ("pmc_perf_mi200_v1.csv", 3),
        ("pmc_perf_mi100_v2.csv", 2),
        ("pmc_perf_mi300x_v3.csv", 2),
        ("pmc_perf_mi300a_channels.csv", 1),
    ] {
        let (found, said) = imported(&[&file(name)]);
        assert_eq!(found.rows.len(), launches, "{name}");
        for row in 0..launches {
            assert_eq!(found.rows[row].block, [256, 1, 1], "{name}");
            for quantity in [
                MeasuredQuantity::DramLoad,
                MeasuredQuantity::DramStore,
                MeasuredQuantity::L2Load,
                MeasuredQuantity::L2Store,
            ] {
                let bytes = amount(&found, row, quantity).unwrap_or_else(|| panic!("{name}: {quantity:?}"));
                assert!((bytes / COPIED - 1.0).abs() < 0.01, "{name}: {quantity:?} {bytes}");
            }
            assert!(
                amount(&found, row, MeasuredQuantity::Time).is_some_and(|t| (5e-6..30e-6).contains(&t)),
                "{name}"
            );
        }
        assert!(!said.contains("warning"), "{name}: {said}");
        assert!(said.contains("read: l2_load from TCP_TCC_READ_REQ_sum"), "{name}: {said}");
        assert!(said.contains("time from End_Timestamp, Start_Timestamp"), "{name}: {said}");
        assert!(said.contains("not read: "), "{name}: {said}");
        let channels = name.contains("channels");
        assert_eq!(said.contains("WRREQ, "), channels, "channels count where there is no total: {said}");
    }
}

#[test]
fn sizes_of_requests_are_those_of_the_device() {
    // Nothing but requests of L1: which GPU it was has to be said.
    let text = "Dispatch_ID,Kernel_Name,Workgroup_Size,TCP_TCC_READ_REQ_sum\n0,f,64,1000\n";
    let ask = |more: &[&str]| {
        let output = wavecast(&[&["import", "-"], more].concat(), text);
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let (code, _, said) = ask(&[]);
    assert_eq!(code, Some(2));
    assert!(said.contains("say with -d which GPU it was"), "{said}");
    for (device, bytes) in
        [("mi100", 64_000.0), ("mi210", 64_000.0), ("mi300a", 128_000.0), ("mi300x", 128_000.0)]
    {
        let found = read("imported", ask(&["-d", device]).1.as_bytes()).unwrap();
        assert_eq!(amount(&found, 0, MeasuredQuantity::L2Load), Some(bytes), "{device}");
    }
    // Counters with other names than the device has.
    let (_, said) = imported(&[&file("pmc_perf_mi300x_v3.csv"), "-d", "mi210"]);
    assert!(said.contains("the counters have names of the MI300 series, but mi210"), "{said}");
    // Sizes that were not counted.
    let text = "Dispatch_ID,Kernel_Name,Workgroup_Size,TCC_EA0_RDREQ_sum,TCC_EA0_RDREQ_32B_sum,TCC_EA0_WRREQ_sum\n\
                0,f,64,1000,10,500\n";
    let output = wavecast(&["import", "-"], text);
    let (found, said) = (read("imported", stdout(&output).as_bytes()).unwrap(), stderr(&output));
    assert_eq!(amount(&found, 0, MeasuredQuantity::DramLoad), None);
    assert!(said.contains("1 DRAM loads: the MI300 series reads 32, 64 or 128 B at a time"), "{said}");
    assert_eq!(amount(&found, 0, MeasuredQuantity::DramStore), Some(32_000.0));
    assert!(said.contains("warning: DRAM stores: every request has 64 B"), "{said}");
}

#[test]
fn what_was_read_and_what_was_not_is_said() {
    let (found, said) = imported(&[&file("ncu_hopper.csv"), "-d", "h100-pcie"]);
    assert_eq!(amount(&found, 0, MeasuredQuantity::DramLoad), Some(8.39e6));
    assert_eq!(amount(&found, 0, MeasuredQuantity::L2Store), Some(COPIED));
    let store = amount(&found, 0, MeasuredQuantity::DramStore).unwrap();
    assert!((store / 8.39e6 - 1.0).abs() < 1e-9, "the rest of the total: {store}");
    for part in [
        "read: l2_load from lts__t_sectors_srcunit_tex_op_read.sum; ",
        "dram_load from dram__bytes_op_read.sum; dram_store from dram__bytes.sum; time from gpu__time_duration.sum\n",
        "not read: l1tex__t_bytes.sum (sectors that were looked up, for whatever; measure ",
        "lts__t_bytes.sum (loads and stores of all units in one; measure ",
        "sm__warps_active.avg.pct_of_peak_sustained_active\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (_, quiet) = imported(&[&file("ncu_hopper.csv"), "-d", "h100-pcie", "--quiet"]);
    assert_eq!(quiet, "");
    // Channels of counters are one metric, and few are listed unless all are asked for.
    let (_, said) = imported(&[&file("pmc_perf_mi200_v1.csv")]);
    assert!(said.contains("TCC_EA_RDREQ_LEVEL") && !said.contains("RDREQ_LEVEL["), "{said}");
    let (_, all) = imported(&[&file("ncu_raw.csv"), "--verbose"]);
    assert!(all.contains("launch__occupancy_limit_blocks"), "{all}");
}

#[test]
fn a_file_without_a_known_metric_names_those_it_has() {
    let output = wavecast(&["import", &file("ncu_totals.csv")], "");
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    for part in [
        "of its metrics none is known: dram__bytes.sum (loads and stores in one; measure dram__bytes_read.sum",
        "lts__t_bytes.sum (",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "wavecast import --list-metrics",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("no launches"), "{said}");
    let amd = "Dispatch_ID,Kernel_Name,Workgroup_Size,SQ_WAVES,TCC_HIT[0],TCC_HIT[1]\n0,f,64,1,2,3\n";
    let said = stderr(&wavecast(&["import", "-"], amd));
    assert!(said.contains("none is known: SQ_WAVES, TCC_HIT"), "{said}");
    let list = stdout(&wavecast(&["import", "--list-metrics"], ""));
    assert!(
        list.lines().any(|l| l.starts_with("dram__bytes_op_read.sum ") && l.ends_with(" dram_load")),
        "{list}"
    );
    assert!(list.lines().any(|l| l.starts_with("TCC_BUBBLE_sum ") && l.ends_with(" dram_load")), "{list}");
}

#[test]
fn numbers_that_can_hardly_be_right_are_warned_of() {
    let (_, said) = imported(&[&file("ncu_strange_copy.csv"), "-d", "v100", "--quiet"]);
    for part in [
        "a copy loads what it stores, but here 2.00 times as much from memory",
        "6292 GB/s between L2 and memory are 6.99 times what the memory of v100-pcie-32gb can do",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("as from L2"), "sectors may be loaded in pairs: {said}");
    let text = "\"ID\",\"Kernel Name\",\"Block Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
                \"0\",\"f\",\"(256, 1, 1)\",\"dram__bytes_read.sum\",\"byte\",\"4096\"\n\
                \"0\",\"f\",\"(256, 1, 1)\",\"lts__t_sectors_op_read.sum\",\"sector\",\"32\"\n";
    let said = stderr(&wavecast(&["import", "-"], text));
    assert!(said.contains("f: 4.00 times as much is loaded from memory as from L2"), "{said}");
    let (_, said) = imported(&[&file("ncu_strange_copy.csv"), "--kernel", "stencil"]);
    assert!(!said.contains("warning"), "no copy, no device: {said}");
}

#[test]
fn packed_files_are_read_as_if_they_were_not() {
    let folder = std::env::temp_dir().join(format!("wavecast-import-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["kernel_tuner.json", "ncu_long.csv", "pmc_perf_mi300x_v3.csv"] {
        let plain = std::fs::read(file(name)).unwrap();
        let path = folder.join(format!("{name}.gz"));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&plain).unwrap();
        std::fs::write(&path, packed.finish().unwrap()).unwrap();
        let (from_packed, _) = imported(&[path.to_str().unwrap()]);
        assert_eq!(from_packed, imported(&[&file(name)]).0, "{name}");
    }
    // A document of blanks, which unpacks to more than is held.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(b"{").unwrap();
    for _ in 0..257 {
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let path = folder.join("large.json.gz");
    std::fs::write(&path, packed.finish().unwrap()).unwrap();
    let output = wavecast(&["import", path.to_str().unwrap()], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("more than 256 MiB of JSON"), "{}", stderr(&output));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_tuner_s_items_per_thread_are_the_fold() {
    let text = r#"{"device_name": "NVIDIA A100-SXM4-40GB", "kernel_name": "star",
        "tune_params_keys": ["block_size_x", "tile_size_x", "tile_size_y", "use_padding"],
        "cache": {"32,2,4,1": {"block_size_x": 32, "tile_size_x": 2, "tile_size_y": 4, "use_padding": 1,
                               "time": 3.5, "times": [3.5], "timestamp": "2024-01-01"}}}"#;
    let ask = |more: &[&str]| {
        let output = wavecast(&[&["import", "-"], more].concat(), text);
        assert!(output.status.success(), "{}", stderr(&output));
        (read("imported", stdout(&output).as_bytes()).unwrap(), stderr(&output))
    };
    let (found, said) = ask(&[]);
    assert_eq!((*found.rows[0].block, *found.rows[0].fold), ([32, 1, 1], [2, 4, 1]));
    assert!(said.contains("not read: use_padding\n"), "{said}");
    let (found, said) = ask(&["--map", "fold.z=tile_size_y"]);
    assert_eq!(*found.rows[0].fold, [1, 1, 4], "who maps one axis says it all");
    assert!(said.contains("not read: tile_size_x, use_padding\n"), "{said}");
    assert_eq!(ask(&["--fold", "1,1,2"]).0.rows[0].fold, [1, 1, 2]);
}
