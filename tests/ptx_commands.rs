//! `touches`, and traces of kernels in PTX, on the command line.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn wavecast(arguments: &[&str]) -> Output {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
    // Whatever assembler this machine has.
    command.current_dir(root).args(arguments).env("WAVECAST_PTXAS", "").output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = wavecast(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn stderr(arguments: &[&str]) -> String {
    let output = wavecast(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn lines(arguments: &[&str]) -> Vec<Value> {
    stdout(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_document_says_what_a_thread_touches() {
    let all = ["touches", "kernels/transpose-tiled.yaml", "--variant", "8 rows", "--at", "1,0,0:3,2,0"];
    let lines = lines(&all);
    // Four rows into the tile and four out of it.
    assert_eq!(lines.len(), 16);
    let first = json!({"block": [1, 0, 0], "thread": [3, 2, 0], "op": "load", "space": "global", "field": "idata",
        "offset_bytes": (2 * 4096 + 32 + 3) * 4, "width": 4});
    assert_eq!(lines[0], first);
    let keys: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["block", "thread", "op", "space", "field", "offset_bytes", "width"]);
    let second = json!({"block": [1, 0, 0], "thread": [3, 2, 0], "op": "store", "space": "shared", "field": "tile",
        "offset_bytes": (2 * 33 + 3) * 4, "width": 4});
    assert_eq!(lines[1], second);
    assert_eq!(lines[15]["offset_bytes"], ((32 + 2 + 24) * 4096 + 3) * 4);
}

#[test]
fn several_threads_come_one_after_the_other() {
    let set = ["--set", "N=100", "--block", "64"];
    let ask = |at: &[&str]| lines(&[&["touches", "kernels/stream-triad.yaml"], &set[..], at].concat());
    let both = ask(&["--at", "0:5", "--at", "1,0,0:35,0,0", "--at", "1:36"]);
    // The last one is behind the end.
    assert_eq!(both.len(), 6);
    assert_eq!((&both[0]["thread"], &both[3]["offset_bytes"]), (&json!([5, 0, 0]), &json!(99 * 8)));
    let error =
        stderr(&["touches", "kernels/stream-triad.yaml", "--set", "N=100", "--block", "64", "--at", "2:0"]);
    assert!(error.contains("has no block [2, 0, 0]"), "{error}");
    let error = stderr(&["touches", "kernels/transpose-tiled.yaml", "--at", "0:0"]);
    assert!(error.contains("--variant"), "{error}");
}

const SAXPY: &[&str] = &[
    "tests/ptx/nvrtc/saxpy.ptx",
    "--grid",
    "4",
    "--block",
    "256",
    "--arg",
    "0=1000",
    "--arg",
    "1=2.5",
    "--arg",
    "2=x:f32[1000]",
    "--arg",
    "saxpy_param_3=y",
];

#[test]
fn an_entry_of_ptx_says_what_a_thread_touches() {
    let lines = lines(&[&["touches"], SAXPY, &["--at", "1,0,0:7,0,0"]].concat());
    let text = std::fs::read_to_string("tests/ptx/nvrtc/saxpy.ptx").unwrap();
    let line = text.lines().position(|l| l.contains("ld.global.f32 \t%f2")).unwrap() + 1;
    let first = json!({"block": [1, 0, 0], "thread": [7, 0, 0], "op": "load", "space": "global", "field": "x",
        "offset_bytes": 263 * 4, "width": 4, "instruction": 14, "line": line});
    assert_eq!(lines[0], first);
    assert_eq!((lines.len(), &lines[2]["op"], &lines[2]["field"]), (3, &json!("store"), &json!("y")));
    assert_eq!(stdout(&[&["touches"], SAXPY, &["--at", "3:255"]].concat()), "");
}

#[test]
fn what_is_missing_is_said() {
    let file = "tests/ptx/nvrtc/saxpy.ptx";
    let error = stderr(&["touches", file, "--block", "32", "--at", "0:0"]);
    assert!(error.contains("--grid"), "{error}");
    let error = stderr(&["touches", file, "--grid", "1", "--at", "0:0", "--arg", "0=1", "--arg", "1=1"]);
    assert!(error.contains("--block"), "{error}");
    let error = stderr(&["touches", file, "--grid", "1", "--block", "32", "--at", "0:0"]);
    assert!(error.contains("saxpy_param_0"), "{error}");
    let error = stderr(&["touches", file, "--grid", "1", "--block", "32", "--at", "0:0", "--arg", "n=1"]);
    assert!(error.contains("no parameter `n`") && error.contains("0 saxpy_param_0"), "{error}");
    let error = stderr(&["touches", file, "--entry", "axpy", "--grid", "1", "--block", "32", "--at", "0:0"]);
    assert!(error.contains("no entry `axpy`") && error.contains("saxpy"), "{error}");
}

#[test]
fn where_documents_are_needed_it_is_said_how_to_write_them() {
    let file = "tests/ptx/nvrtc/saxpy.ptx";
    let csv = std::env::temp_dir().join(format!("wavecast-{}-saxpy.csv", std::process::id()));
    std::fs::write(&csv, "kernel,block.x,time [ms]\nsaxpy,64,1\n").unwrap();
    let validating = ["validate", csv.to_str().unwrap(), "-d", "a100", "--kernel", file];
    for command in [&["emit", file][..], &validating] {
        let error = stderr(command);
        assert!(error.contains("a kernel document is needed") && error.contains("wavecast read"), "{error}");
    }
    std::fs::remove_file(csv).unwrap();
}

/// A file as `numpy.save` writes it, of integers of 4 bytes.
fn saved(name: &str, values: impl Iterator<Item = i32>) -> PathBuf {
    let values: Vec<i32> = values.collect();
    let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({},), }}", values.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    let path = std::env::temp_dir().join(format!("wavecast-{}-{name}.npy", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_sparse_product_has_a_trace() {
    // Row r has r % 4 + 1 elements.
    let starts = (0..101).scan(0, |at, r| Some(std::mem::replace(at, *at + r % 4 + 1)));
    let (start, col) = (saved("start", starts), saved("col", (0..250).map(|k| k * 37 % 100)));
    let (start, col) = (format!("start={}", start.display()), format!("col={}", col.display()));
    let given = [
        "tests/ptx/nvrtc/spmv_csr.ptx",
        "--block",
        "32",
        "--grid",
        "4",
        "--arg",
        "0=100",
        "--arg",
        "1=start",
        "--arg",
        "2=col",
        "--arg",
        "3=val:f64[250]",
        "--arg",
        "4=x:f64[100]",
        "--arg",
        "5=y:f64[100]",
    ];
    let data = ["--data", start.as_str(), "--data", col.as_str()];
    let output = wavecast(&[&["trace", "synth"], &given[..], &data[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Everything was given.
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = String::from_utf8(output.stdout).unwrap();
    let accesses = trace.lines().filter(|l| l.contains("spmv_csr:")).count();
    // Two ends of each row, three loads for each element, and the result.
    assert_eq!(accesses, 300 + 3 * 250, "{trace}");
    let reuse = stdout(&[&["trace", "reuse"], &given[..], &data[..], &["--format", "json"]].concat());
    let reuse: Value = serde_json::from_str(&reuse).unwrap();
    assert!(reuse["requests"].as_u64().unwrap() > 100);
    // Without the data, it says so.
    let without = wavecast(&[&["trace", "synth"], &given[..]].concat());
    assert!(String::from_utf8_lossy(&without.stderr).contains("--data"));
    for path in [start, col] {
        std::fs::remove_file(path.split_once('=').unwrap().1).unwrap();
    }
}

/// Volumes of the model and of the simulation, by their names.
fn compared(more: &[&str]) -> impl Fn(&str) -> [f64; 2] {
    let document = "tests/ptx/csr/poisson.yaml";
    let found = stdout(&[&["compare", document, "-d", "v100", "--format", "json"], more].concat());
    let found: Value = serde_json::from_str(&found).unwrap();
    assert!(!found.to_string().contains("data-missing"), "{found}");
    move |name| {
        let quantity = found["quantities"].as_array().unwrap().iter().find(|q| q["name"] == name).unwrap();
        ["analytic", "simulated"].map(|side| quantity[side].as_f64().unwrap())
    }
}

#[test]
fn a_sparse_product_is_compared_with_what_its_data_do() {
    let data = ["--data", "start=tests/ptx/csr/start.npy", "--data", "col=tests/ptx/csr/col.npy"];
    // The document says of these data what is the case: it takes no running to simulate it.
    let (told, run) = (compared(&[]), compared(&data));
    for name in ["l1_load", "l2_load", "l2_store"] {
        let [analytic, simulated] = run(name);
        assert!(
            analytic > 0.0 && (analytic - simulated).abs() < 1e-5 * analytic,
            "{name}: {analytic} {simulated}"
        );
        assert_eq!(told(name).map(f64::to_bits), run(name).map(f64::to_bits), "{name}");
    }
    // Columns far from each other are not what it says.
    let far = saved("far", (0..5120).map(|k| k * 389 % 1024));
    let far = format!("col={}", far.display());
    let [analytic, simulated] = compared(&[data[0], data[1], "--data", &far])("l1_load");
    assert!(
        analytic.to_bits() == run("l1_load")[0].to_bits() && simulated > 1.2 * analytic,
        "{analytic} {simulated}"
    );
    // Without one of them it says what the simulation rests on.
    let part = stdout(&[
        "compare",
        "tests/ptx/csr/poisson.yaml",
        "-d",
        "v100",
        "--format",
        "json",
        data[0],
        data[1],
    ]);
    assert!(part.contains("data-missing"), "{part}");
    let error = stderr(&["compare", "kernels/star2d5.yaml", "-d", "v100", data[0], data[1]]);
    assert!(error.contains("no code that could be run"), "{error}");
    std::fs::remove_file(far.split_once('=').unwrap().1).unwrap();
}

#[test]
fn a_wrong_array_is_refused() {
    let path = std::env::temp_dir().join(format!("wavecast-{}-wrong.npy", std::process::id()));
    std::fs::write(&path, "1 2 3").unwrap();
    let data = format!("x={}", path.display());
    let error = stderr(&[&["trace", "synth"], SAXPY, &["--data", &data]].concat());
    assert!(error.contains("numpy.save"), "{error}");
    std::fs::remove_file(path).unwrap();
    let col = saved("other", 0..4);
    let data = format!("z={}", col.display());
    let error = stderr(&[&["trace", "synth"], SAXPY, &["--data", &data]].concat());
    assert!(error.contains("no argument points to a field `z`"), "{error}");
    std::fs::remove_file(col).unwrap();
}

#[test]
fn a_reading_is_checked_by_running() {
    let given = [
        "read",
        "tests/ptx/nvrtc/matmul_naive.ptx",
        "--entry",
        "matmul_naive",
        "--block",
        "16,16",
        "--grid",
        "3, 2",
        "--arg",
        "0=A:f32[600]",
        "--arg",
        "1=B:f32[1200]",
        "--arg",
        "2=C:f32[800]",
        "--arg",
        "3=20",
        "--arg",
        "4=40",
        "--arg",
        "5=30",
        "--check",
    ];
    let output = wavecast(&given);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("checked: block 16x16x1") && said.contains("threads do the same"), "{said}");
}

/// What no address needs, nobody has to say: a factor is a number that is not known.
#[test]
fn a_reading_is_checked_without_numbers_that_no_address_needs() {
    let given = [
        "read",
        "tests/ptx/nvrtc/saxpy.ptx",
        "--block",
        "64",
        "--arg",
        "0=1000",
        "--arg",
        "2=x",
        "--arg",
        "3=y",
    ];
    let output = wavecast(&[&given[..], &["--check"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("threads do the same") && !said.contains("rest on data"), "{said}");
}

/// What is too much to compare is refused before it is run.
#[test]
fn a_reading_with_too_much_to_check_is_refused() {
    let given = ["read", "tests/ptx/nvrtc/saxpy_gridstride.ptx", "--block", "64", "--grid", "1"];
    let error = stderr(&[&given[..], &["--arg", "0=2000000000", "--check"]].concat());
    assert!(error.contains("more than 2097152 accesses and iterations by the document"), "{error}");
    assert!(error.contains("give the parameters smaller values"), "{error}");
}

/// Where no grid follows since a bound has no value, it is said which parameter that is.
#[test]
fn bounds_without_values_are_named() {
    let error = stderr(&["rank", "tests/ptx/nvrtc/stencil2d5.ptx", "-d", "a100", "--arg", "2=100"]);
    assert!(error.contains("its conditions ask for the parameter 3, `stencil2d5_param_3`"), "{error}");
    assert!(error.contains("give --arg 3=VALUE") && !error.contains("arg0"), "{error}");
}

/// An assembler that finds spills, for what it is told to.
#[cfg(unix)]
#[test]
fn registers_are_those_of_an_assembler_where_there_is_one() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("wavecast-ptxas-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let ptxas = folder.join("ptxas");
    let script = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 12.9, V12.9.86'; exit; fi\n\
        echo \"ptxas info : Compiling entry function '$5' for '$3'\" >&2\n\
        echo \"ptxas info : Function properties for $5\" >&2\n\
        echo '    8 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads' >&2\n\
        echo 'ptxas info : Used 77 registers, 384 bytes cmem[0]' >&2\n";
    std::fs::write(&ptxas, script).unwrap();
    std::fs::set_permissions(&ptxas, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |command: &str, assembler: &std::path::Path, more: &[&str]| {
        let mut process = Command::new(env!("CARGO_BIN_EXE_wavecast"));
        process
            .args([command, "tests/ptx/nvrtc/saxpy.ptx", "--entry", "saxpy", "--arg", "0=1000"])
            .args(more);
        process.env("WAVECAST_PTXAS", assembler).env("XDG_CACHE_HOME", &folder);
        let output = process.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let (_, told, _) = run("read", &ptxas, &[]);
    assert!(told.contains("registers: 77 # ptxas 12.9 for sm_80\n"), "{told}");
    assert!(told.contains("local: 5}"), "{told}");
    let (_, counted, _) = run("read", &ptxas, &["--registers", "counted"]);
    assert!(counted.contains("registers: 9 # counted in the PTX; compilers change it\n"), "{counted}");
    let (_, given, _) = run("read", &ptxas, &["--registers", "20"]);
    assert!(given.contains("registers: 20\n"), "{given}");
    let (_, ranking, _) = run("rank", &ptxas, &["-d", "h100-pcie", "--format", "json"]);
    let ranking: Value = serde_json::from_str(&ranking).unwrap();
    assert_eq!(ranking["results"][0]["config"]["registers"], 77);
    assert!(ranking.to_string().contains("local-memory"), "spills are warned of");
    // So it is for the code of documents.
    let of_document = |more: &[&str]| {
        let mut process = Command::new(env!("CARGO_BIN_EXE_wavecast"));
        process.args(["rank", "tests/ptx/csr/poisson.yaml", "-d", "v100", "--format", "json"]).args(more);
        process.env("WAVECAST_PTXAS", &ptxas).env("XDG_CACHE_HOME", &folder);
        let output = process.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        let ranking: Value = serde_json::from_slice(&output.stdout).unwrap();
        ranking["results"][0]["config"]["registers"].as_u64().unwrap()
    };
    assert_eq!(of_document(&[]), 77);
    assert_eq!(of_document(&["--registers", "50"]), 50);
    assert!(of_document(&["--registers", "counted"]) < 50);
    // Code is read again for other blocks; what stands beside it keeps the number.
    let mixed = folder.join("mixed.yaml");
    std::fs::copy("tests/ptx/nvrtc/spmv_csr.ptx", folder.join("spmv_csr.ptx")).unwrap();
    let text = std::fs::read_to_string("tests/ptx/csr/poisson.yaml").unwrap().replace("../nvrtc/", "");
    let plain = "wavecast: 1\nkernel: plain\nfields: {p: {dtype: f32, size: 4096}}\ndomain: {x: 4096}\n\
        loads: ['p[x]']\nlaunch: {block: [[64]], registers: 16}\n";
    std::fs::write(&mixed, format!("{text}\n---\n{plain}")).unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_wavecast"));
    process.args(["rank", mixed.to_str().unwrap(), "-d", "v100", "--block", "96", "--registers", "50"]);
    let output = process.args(["--format", "jsonl"]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let of = |line: &str| serde_json::from_str::<Value>(line).unwrap()["config"]["registers"].clone();
    let found: Vec<Value> = lines.lines().map(of).collect();
    assert_eq!(found, [50, 50], "{lines} {}", String::from_utf8_lossy(&output.stderr));
    // One that is not there is told of, and is a failure only where it was asked for.
    let missing = folder.join("missing");
    let (done, text, note) = run("read", &missing, &[]);
    assert!(done && text == counted && note.contains("cannot be run"), "{note}");
    let (done, _, why) = run("read", &missing, &["--registers", "ptxas"]);
    assert!(!done && why.contains("--registers counted"), "{why}");
    std::fs::remove_dir_all(&folder).unwrap();
}
