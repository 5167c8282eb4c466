//! `wavecast import`: every format, with the variations that versions and systems bring. The files in
//! `tests/imports/` were written for these tests; nothing in them was measured.

mod program;

use program::{stderr, stdout, wavecast};
use wavecast::measure::import::{ImportOptions, TextSource, import};
use wavecast::measure::measurements::{MeasuredQuantity, Measurements, read};

fn imported(arguments: &[&str]) -> Measurements {
    let output = wavecast(&[&["import"], arguments].concat(), "");
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    read("imported", stdout(&output).as_bytes()).unwrap()
}

fn file(name: &str) -> String {
    format!("tests/imports/{name}")
}

/// A number of a row in base units.
fn number(m: &Measurements, row: usize, quantity: MeasuredQuantity) -> f64 {
    m.rows[row].value(quantity).unwrap_or_else(|| panic!("{quantity:?} of row {row}: {m:?}")).amount()
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-12
}

/// What all exports of Nsight Compute here say.
fn two_stars(m: &Measurements) {
    assert_eq!(m.rows.len(), 2, "{m:?}");
    assert_eq!((*m.rows[0].block, *m.rows[1].block), ([256, 4, 1], [16, 2, 32]));
    for (row, quantity, expected) in [
        (0, MeasuredQuantity::DramLoad, 2569.41e6),
        (0, MeasuredQuantity::DramStore, 1.28e9),
        (0, MeasuredQuantity::L2Load, 300e6 * 32.0),
        (0, MeasuredQuantity::Time, 5432.1e-6),
        (0, MeasuredQuantity::Cycles, 7_605_000.0),
        (1, MeasuredQuantity::DramLoad, 1645e6),
        (1, MeasuredQuantity::Time, 3.21e-3),
    ] {
        assert!(near(number(m, row, quantity), expected), "{row} {quantity:?}");
    }
    assert!(m.rows[1].value(MeasuredQuantity::Cycles).is_none());
}

#[test]
fn times_keep_the_digits_that_were_written() {
    let text = stdout(&wavecast(&["import", &file("ncu_hopper.csv")], ""));
    assert!(text.contains(",0.00000845\n"), "{text}");
    let unknown = wavecast(&["import", &file("ncu_hopper.csv"), "-d", "nope"], "");
    assert!(
        unknown.status.code() == Some(2) && stderr(&unknown).contains("no device `nope`"),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn nsight_compute_one_metric_a_line() {
    for name in ["ncu_long.csv", "ncu_long_comma.csv"] {
        let found = imported(&[&file(name)]);
        two_stars(&found);
        assert!(near(number(&found, 0, MeasuredQuantity::L2Store), 40e6 * 32.0));
        assert!(near(number(&found, 0, MeasuredQuantity::L1Wavefronts), 123_456_789.0));
        assert!(near(number(&found, 0, MeasuredQuantity::L1TagWavefronts), 98_765_432.0));
        assert_eq!(found.subjects[0].kernel, "void star<double, 4>(const double *, double *)");
    }
    let new = imported(&[&file("ncu_long_new.csv")]);
    assert_eq!(new.rows.len(), 1);
    assert!(near(number(&new, 0, MeasuredQuantity::DramLoad), 2569.41e6));
    let old = imported(&[&file("ncu_long_old.csv")]);
    assert_eq!(old.rows.len(), 2, "a metric that comes again is that of another launch");
    assert_eq!(old.rows[1].block, [32, 8, 1]);
    assert!(near(number(&old, 1, MeasuredQuantity::Time), 2.5e-6));
    assert!(near(number(&old, 1, MeasuredQuantity::DramLoad), 2500.0));
}

#[test]
fn nsight_compute_one_launch_a_line() {
    two_stars(&imported(&[&file("ncu_raw.csv")]));
    two_stars(&imported(&[&file("ncu_raw_comma.csv")]));
}

#[test]
fn doubtful_numbers_ask_for_the_separator() {
    let output = wavecast(&["import", &file("ncu_long_doubtful.csv")], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--decimal"), "{}", stderr(&output));
    let with = |decimal: &str| {
        number(
            &imported(&[&file("ncu_long_doubtful.csv"), "--decimal", decimal]),
            0,
            MeasuredQuantity::DramLoad,
        )
    };
    assert!(near(with("point"), 27.595) && near(with("comma"), 27_595.0));
}

#[test]
fn amd_counters_become_bytes() {
    let long = imported(&[&file("rocprofv3.csv"), "-d", "mi300x"]);
    assert_eq!(long.rows.len(), 2, "two dispatches whose counters are mixed");
    assert_eq!(long.rows[0].block, [256, 1, 1]);
    for (quantity, expected) in [
        // Requests of the MI300 series: 128 bytes from L2, and 300 such from memory.
        (MeasuredQuantity::DramLoad, 100.0 * 32.0 + 300.0 * 128.0 + 600.0 * 64.0),
        (MeasuredQuantity::DramStore, 400.0 * 64.0 + 100.0 * 32.0),
        (MeasuredQuantity::L2Load, 2000.0 * 128.0),
        (MeasuredQuantity::Time, 2e-6),
    ] {
        assert!(near(number(&long, 0, quantity), expected), "{quantity:?}");
    }
    assert!(near(number(&long, 1, MeasuredQuantity::Time), 2.5e-6));
    let extents = imported(&[&file("rocprofv3_xyz.csv")]);
    assert_eq!(extents.rows[0].block, [64, 4, 1]);
    assert!(near(number(&extents, 0, MeasuredQuantity::DramLoad), 2560.0));
    assert!(near(number(&extents, 0, MeasuredQuantity::DramStore), 1280.0));
    let wide = imported(&[&file("pmc_perf.csv")]);
    assert_eq!((wide.rows.len(), *wide.rows[1].block), (2, [128, 1, 1]));
    assert!(
        near(number(&wide, 0, MeasuredQuantity::DramLoad), 100.0 * 32.0 + 900.0 * 64.0),
        "channels are added"
    );
    assert!(near(number(&wide, 1, MeasuredQuantity::Time), 3e-6));
    assert!(near(number(&wide, 1, MeasuredQuantity::L2Store), 900.0 * 64.0));
}

#[test]
fn tuners_tell_times() {
    let fold = ["--map", "fold.z=tile_z"];
    for name in ["kernel_tuner.json", "kernel_tuner_open.json", "kernel_tuner_cut.json"] {
        let path = file(name);
        let found = imported(&[&[path.as_str()], &fold[..]].concat());
        assert_eq!(found.rows.len(), 2, "{name}");
        assert_eq!((*found.rows[1].block, *found.rows[1].fold), ([32, 8, 1], [1, 1, 2]));
        assert!(near(number(&found, 0, MeasuredQuantity::Time), 3.5e-3));
        assert_eq!(found.subjects[0].device.as_deref(), Some("a100-40gb"));
    }
    let path = file("t4.json");
    let t4 = imported(&[&[path.as_str(), "--kernel", "star3d25"], &fold[..]].concat());
    assert_eq!((t4.rows.len(), *t4.rows[1].fold), (2, [1, 1, 2]));
    assert!(
        near(number(&t4, 0, MeasuredQuantity::Time), 3.5e-3)
            && near(number(&t4, 1, MeasuredQuantity::Time), 2.5e-3)
    );
    let ktt = imported(&[&file("ktt.json"), "--map", "fold.z=TILE_Z", "--param", "NX=640"]);
    assert_eq!((ktt.rows.len(), *ktt.rows[0].block, *ktt.rows[0].fold), (1, [32, 4, 1], [1, 1, 2]));
    assert!(near(number(&ktt, 0, MeasuredQuantity::Time), 3.5e-3));
    assert_eq!(ktt.subjects[0].params["NX"], 640);
}

#[test]
fn any_table_can_be_mapped() {
    let map = ["--map", "block.x=bx", "--map", "block.y=by", "--map", "time [ms]=kernel_ms"];
    let path = file("table.csv");
    let more = ["--map", "dram_load [GB]=GB", "--kernel", "star3d25", "-d", "v100"];
    let found = imported(&[&[path.as_str()], &map[..], &more[..]].concat());
    assert_eq!((found.rows.len(), *found.rows[1].block), (2, [64, 8, 1]));
    assert!(
        near(number(&found, 0, MeasuredQuantity::Time), 3.5e-3)
            && near(number(&found, 0, MeasuredQuantity::DramLoad), 1.25e9)
    );
    let refused = |more: &[&str]| {
        let output = wavecast(&[&["import", path.as_str()], more].concat(), "");
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    assert!(refused(&["--map", "block.x=BX", "--kernel", "k"]).contains("no column `BX`"));
    assert!(refused(&["--map", "time=kernel_ms"]).contains("has no unit"));
    assert!(refused(&[]).contains("--from"));
    assert!(refused(&["--from", "ncu"]).contains("format cannot be told"));
}

#[test]
fn kernels_are_named_or_left_out() {
    let path = file("ncu_long.csv");
    let found = imported(&[&path, "--kernel", "star<double=star3d25", "-d", "v100"]);
    assert_eq!(found.subjects[0].kernel, "star3d25");
    let output = wavecast(&["import", &path, "--kernel", "copy=stream-copy"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("2 launches of kernels that --kernel does not name"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn bad_cells_are_named_with_their_lines() {
    let text = "\"ID\",\"Kernel Name\",\"Block Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
                \"0\",\"f\",\"(256, 1, 1)\",\"dram__bytes_read.sum\",\"parsec\",\"1.5\"\n\
                \"0\",\"f\",\"(256, 1, 1)\",\"dram__bytes_write.sum\",\"byte\",\"many\"\n";
    let output = wavecast(&["import", "-"], text);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("<stdin>:2:") && said.contains("`parsec`"), "{said}");
    assert!(said.contains("<stdin>:3:") && said.contains("`many`"), "{said}");
    for text in ["", "a,b\n1,2\n", "{\"a\": 1}", "{"] {
        assert_eq!(wavecast(&["import", "-"], text).status.code(), Some(2), "{text}");
    }
}

/// Splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Changes, copies, cuts and moves some bytes.
fn mutate(text: &mut Vec<u8>, state: &mut u64) {
    const LETTERS: &[u8] = b"\",.;:{}[]()\n\r-+eE019 xXnK/=\0\xff\xc3#";
    for _ in 0..=next(state) % 6 {
        if text.is_empty() {
            return;
        }
        let mut place = || usize::try_from(next(state) % text.len() as u64).unwrap();
        let (a, b) = (place(), place());
        let (from, to) = (a.min(b), (a.max(b)).min(a.min(b) + 200));
        let letter = LETTERS[usize::try_from(next(state) % LETTERS.len() as u64).unwrap()];
        match next(state) % 5 {
            0 => text[a] = letter,
            1 => text.insert(a, letter),
            2 => drop(text.drain(from..to)),
            3 => {
                let copy = text[from..to].to_vec();
                text.splice(b..b, copy);
            }
            _ => text.truncate(a.max(16)),
        }
    }
}

/// A few here; `WAVECAST_FUZZ=1000000 cargo test --release --test import mutated` is the whole of it.
#[test]
fn mutated_files_are_refused_without_panic() {
    let count: u64 = std::env::var("WAVECAST_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir("tests/imports")
        .unwrap()
        .map(|f| f.unwrap().path())
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(p).unwrap()))
        .collect();
    files.push(("own.csv".to_owned(), std::fs::read("tests/measured/star3d7.csv").unwrap()));
    files.sort();
    let map = [("block.x", "bx"), ("block.y", "by"), ("time [ms]", "kernel_ms")];
    let mapped = ImportOptions {
        map: map.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec(),
        ..ImportOptions::default()
    };
    let mut state = 1;
    let mut read_well = 0;
    for i in 0..count {
        let (name, whole) = &files[usize::try_from(i % files.len() as u64).unwrap()];
        let mut text = whole.clone();
        mutate(&mut text, &mut state);
        let options = if name == "table.csv" { mapped.clone() } else { ImportOptions::default() };
        if name == "own.csv" {
            read_well += u64::from(read(name, &text[..]).is_ok());
        } else if let Ok(found) = import(&TextSource { name, bytes: &text }, None, &options) {
            // What is imported can be written and read again.
            let mut csv = Vec::new();
            wavecast::measure::measurements::write_csv(&found.measurements, &mut csv).unwrap();
            read_well += u64::from(read(name, &csv[..]).is_ok());
        }
    }
    println!("{read_well} of {count} were still read");
    assert!(read_well > count / 10, "{read_well}");
}
