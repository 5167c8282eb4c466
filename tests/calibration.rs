//! `calibration/run.py` goes from a suite to measurements that `validate` reads, and goes on where it was cut off.
//! `OpenCL` under the simulator Oclgrind takes the place of a GPU, a script that of Nsight Compute.

#![cfg(unix)]

mod oclgrind;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use oclgrind::{folder, missing, succeeded};

const SUITE: &str = r#"# Two entries.
- {"name": "star", "kernel": "kernels/star3d7.yaml", "set": ["NX=16", "NY=8", "NZ=8"], "block": ["16,2,1", "8,4,1", "8,2,2"], "fold": ["1,1,1", "1,2,1"]}
- {"name": "vec", "kernel": "kernels/vec3.yaml", "set": ["N=256"], "block": ["64"]}
"#;

/// Says for each candidate what Nsight Compute would.
const NCU: &str = r#"#!/usr/bin/env python3
import sys
words = sys.argv
first, count = (int(words[words.index(k) + 1]) for k in ("--from", "--count"))
print("==PROF== Connected")
print('"ID","Kernel Name","Block Size","Metric Name","Metric Unit","Metric Value"')
for i in range(count):
    print(f'"{i}","k","(1, 1, 1)","dram__bytes_read.sum","Kbyte","{first + i + 1}"')
    print(f'"{i}","k","(1, 1, 1)","lts__t_sectors_srcunit_tex_op_read.sum","sector","1,000"')
"#;

fn run(folder: &Path, more: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("python3");
    command.arg(root.join("calibration/run.py")).current_dir(root).args([
        "--lang",
        "opencl",
        "--launcher",
        "oclgrind",
    ]);
    command.args([
        "--build",
        "cc -std=c99 -O1 {source} -o {program} -lOpenCL",
        "--repeat",
        "2",
        "--batch",
        "4",
    ]);
    command.arg("--suite").arg(folder.join("suite.yaml")).arg("--out").arg(folder.join("out"));
    command.args(["--wavecast", env!("CARGO_BIN_EXE_wavecast"), "--device-id", "v100"]).args(more);
    command.output().unwrap()
}

#[test]
fn a_suite_becomes_measurements() {
    let python = Command::new("python3").arg("--version").output().is_ok();
    if missing("a_suite_becomes_measurements") || !python {
        return;
    }
    let folder = folder("calibration");
    let _ = std::fs::remove_dir_all(folder.join("out"));
    std::fs::write(folder.join("suite.yaml"), SUITE).unwrap();
    let ncu = folder.join("ncu");
    std::fs::write(&ncu, NCU).unwrap();
    std::fs::set_permissions(&ncu, std::fs::Permissions::from_mode(0o755)).unwrap();
    let counters = ["--counters", "--ncu", ncu.to_str().unwrap()];
    // No time: nothing is measured, and it says so.
    let output = run(&folder, &[&counters[..], &["--limit", "0"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    // As if four of six had been done before.
    std::fs::write(folder.join("out/star.state"), "{\"done\": 4}").unwrap();
    succeeded(&run(&folder, &counters));
    let all = std::fs::read_to_string(folder.join("out/measurements.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> = all.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(rows.len(), 3, "{all}");
    assert_eq!(rows[0]["params"]["NX"], 16);
    assert_eq!(rows[0]["fold"], serde_json::json!([1, 2, 1]));
    assert_eq!(
        (rows[0]["dram_load [B]"].as_f64(), rows[0]["l2_load [B]"].as_f64()),
        (Some(5000.0), Some(32000.0))
    );
    assert!(rows.iter().all(|r| r["time [us]"].as_f64().unwrap() > 0.0 && r["note.check"] != ""));
    // A second run has nothing to do.
    succeeded(&run(&folder, &counters));
    assert_eq!(std::fs::read_to_string(folder.join("out/measurements.jsonl")).unwrap(), all);
    // What refuses counters leaves the times.
    std::fs::write(&ncu, "#!/bin/sh\necho '==ERROR== ERR_NVGPUCTRPERM'\n").unwrap();
    std::fs::remove_file(folder.join("out/vec.state")).unwrap();
    let output = run(&folder, &[&counters[..], &["--only", "vec"]].concat());
    succeeded(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("counters are refused"));
    let measurements = folder.join("out/measurements.jsonl");
    let validated = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["validate", measurements.to_str().unwrap()])
        .output()
        .unwrap();
    succeeded(&validated);
}

#[test]
fn the_suite_names_kernels_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suite = std::fs::read_to_string(root.join("calibration/suite.yaml")).unwrap();
    let mut candidates = 0;
    for line in suite.lines().filter_map(|l| l.strip_prefix("- ")) {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
        command.current_dir(root).args(["emit", entry["kernel"].as_str().unwrap()]);
        for key in ["set", "block", "fold"] {
            for value in entry[key].as_array().into_iter().flatten() {
                command.arg(format!("--{key}")).arg(value.as_str().unwrap());
            }
        }
        for value in entry["threads"].as_array().into_iter().flatten() {
            command.arg("--threads").arg(value.to_string());
        }
        let output = command.args(["-d", "v100"]).output().unwrap();
        succeeded(&output);
        let program = String::from_utf8(output.stdout).unwrap();
        let number = program.split("LAUNCHES = ").nth(1).and_then(|t| t.split(' ').next()).unwrap();
        candidates += number.parse::<usize>().unwrap();
    }
    assert!(candidates >= 300, "{candidates} configurations");
}
