//! A long ranking that somebody ends.

#![cfg(unix)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A million launches: minutes of work.
const KERNEL: &str =
    "{wavecast: 1, kernel: copy, fields: {a: {dtype: f64, shape: [1000000, 1000]}, b: {like: a}},
    domain: {x: 1000000, y: 1000}, loads: ['a[x, y]'], stores: ['b[x, y]'],
    launch: {block: {x: 1..1000, y: 1}, fold: [FOLDS], registers: 32}}";

/// Ctrl-C ends a ranking, which then tells what is known.
#[test]
fn an_interrupt_has_what_is_known_written() {
    let folder = std::env::temp_dir().join(format!("wavecast-interrupt-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (kernel, output) = (folder.join("copy.yaml"), folder.join("ranking.json"));
    let folds: Vec<String> = (1..=1000).map(|y| format!("[1, {y}]")).collect();
    std::fs::write(&kernel, KERNEL.replace("FOLDS", &folds.join(", "))).unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .args(["rank", "-d", "a100", "--top", "3", "-o"])
        .args([&output, &kernel])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Long enough for the kernel to be read, and far too short for a million launches.
    std::thread::sleep(Duration::from_secs(8));
    let asked = Instant::now();
    let id = program.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output_of = program.wait_with_output().unwrap();
    assert_eq!(output_of.status.code(), Some(130));
    let said = String::from_utf8(output_of.stderr).unwrap();
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
    let ranking: Value = serde_json::from_str(&std::fs::read_to_string(&output).unwrap()).unwrap();
    let looked_at = ranking["summary"]["candidates"].as_u64().unwrap();
    assert!(looked_at < 1_000_000, "{looked_at}");
    assert_eq!(ranking["results"].as_array().unwrap().len() as u64, looked_at.min(3));
    let warnings = ranking["warnings"].to_string();
    assert!(warnings.contains(&format!("ended early: {looked_at} of 1000000 candidates")), "{warnings}");
    // Also for formats that have no warnings.
    assert!(said.contains(&format!("ended early: {looked_at} of 1000000 candidates")), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}
