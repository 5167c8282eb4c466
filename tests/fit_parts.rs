//! `wavecast fit` where a volume has parts that miss at different pressures: work items of a thread that lie apart, blocks of
//! an SM with an array in common. What the model predicts under known curves is fitted back to them.

mod program;

use std::fmt::Write;
use std::path::PathBuf;

use program::{json, stderr, wavecast};
use serde_json::Value;

/// The L1 of a made-up device, whose misses begin early.
const O0: f64 = 0.8;
const K: f64 = 2.2;

/// Every row of a field needs the same small array.
const ROWS: &str = "
wavecast: 1
kernel: rows
fields:
  a: {dtype: f64, shape: [2048, 1024, 1]}
  w: {dtype: f64, shape: [1024, 1, 1]}
domain: {x: 1024, y: 2048}
loads: ['a[x, y, 0]', 'w[x, 0, 0]']
stores: ['a[x, y, 0]']
work: {flops: 1}
launch: {registers: 32}
";

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn written(name: &str, text: &str) -> String {
    let file = path(name);
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn ranked(kernel: &str, curves: &str, more: &[&str]) -> Vec<Value> {
    let arguments = ["rank", kernel, "-d", "v100", "--curves", curves, "--format", "json"];
    let output = wavecast(&[&arguments[..], more].concat(), "");
    assert!(output.status.success(), "{}", stderr(&output));
    json(&output)["results"].as_array().unwrap().clone()
}

/// A triple of the configuration, as measurements have it.
fn triple(result: &Value, name: &str) -> String {
    let parts: Vec<String> =
        result["config"][name].as_array().unwrap().iter().map(ToString::to_string).collect();
    parts.join("x")
}

/// Fits to what the model makes of these launches, and says the curve of the L1 and the worst error afterwards.
fn fitted_back(name: &str, kernel: &str, file: &str, arguments: &[&str]) -> (Value, f64) {
    let curves = written(
        &format!("{name}.yaml"),
        &format!(
            "wavecast-curves: 1\nid: v100-pcie-32gb\ninherit: v100-pcie-32gb\nabout: made up\n\
             volumes:\n  l1_redundant: {{form: hill, o0: {O0}, k: {K}, source: star}}\n"
        ),
    );
    let mut rows = "kernel,device,block,fold,l2_load [B/item],dram_load [B/item]\n".to_owned();
    for result in ranked(file, &curves, arguments) {
        let volume = |level: &str| result["volumes"][level]["load"]["total"].as_f64().unwrap();
        let (block, fold) = (triple(&result, "block"), triple(&result, "fold"));
        writeln!(rows, "{kernel},v100,{block},{fold},{},{}", volume("l2"), volume("dram")).unwrap();
    }
    let measured = written(&format!("{name}.csv"), &rows);
    let output = wavecast(
        &["fit", &measured, "--kernel", file, "--form", "hill", "--bootstrap", "0", "--format", "json"],
        "",
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let document = json(&output);
    let errors = document["errors"].as_array().unwrap();
    let worst = errors.iter().map(|e| e["after_percent"].as_f64().unwrap()).fold(0.0, f64::max);
    let l1 = document["curves"].as_array().unwrap().iter().find(|c| c["name"] == "l1_redundant").unwrap();
    (l1.clone(), worst)
}

fn holds((l1, worst): &(Value, f64)) {
    for (parameter, expected) in l1["parameters"].as_array().expect("a curve").iter().zip([O0, K]) {
        assert!((parameter["value"].as_f64().unwrap() / expected - 1.0).abs() < 1e-3, "{l1}");
    }
    assert!(*worst < 0.01, "{worst} %");
}

#[test]
fn items_of_a_thread_that_lie_apart_are_told_apart() {
    let folds = ["--threads", "1024", "--fold", "1,1,1", "--fold", "1,2,1", "--fold", "1,1,4"];
    holds(&fitted_back("folded", "star3d25", "kernels/star3d25.yaml", &folds));
}

#[test]
fn what_blocks_have_in_common_is_told_apart() {
    let kernel = written("rows-kernel.yaml", ROWS);
    let blocks: Vec<String> = [
        "32,1", "64,1", "128,1", "256,1", "512,1", "1024,1", "32,4", "64,4", "128,4", "256,4", "32,16",
        "64,16",
    ]
    .iter()
    .map(|b| format!("--block={b}"))
    .collect();
    let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
    holds(&fitted_back("common", "rows", &kernel, &blocks));
}
