//! Helpers of tests that run the program, and what holds for every result whatever the coefficients are.
// Each test file uses some of them.
#![allow(dead_code)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs the built program in the folder of the crate.
pub fn wavecast(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments does not wait for input: a broken pipe is no fault.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn json(output: &Output) -> Value {
    let text = stdout(output);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{}", stderr(output)))
}

/// The document of a run that has to succeed.
pub fn answer(arguments: &[&str], input: &str) -> Value {
    let output = wavecast(&[arguments, &["--format", "json"]].concat(), input);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    json(&output)
}

pub fn results(ranking: &Value) -> &[Value] {
    ranking["results"].as_array().unwrap()
}

/// A number of a result; the parts of the path stand between dots.
pub fn number(result: &Value, path: &str) -> f64 {
    let found = path.split('.').fold(result, |value, key| &value[key]);
    found.as_f64().unwrap_or_else(|| panic!("{path} is {found}"))
}

/// What holds for every result: numbers are finite and not negative, parts add up to totals. Returns
/// what is wrong.
pub fn unsound(result: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    numbers(result, "", &mut wrong);
    if !wrong.is_empty() {
        return wrong;
    }
    let mut equal = |what: &str, parts: f64, total: f64| {
        if (parts - total).abs() > 1e-9 * (parts.abs() + total.abs()) + 1e-12 {
            wrong.push(format!("{what}: parts give {parts}, total is {total}"));
        }
    };
    for level in ["llc", "dram"].iter().filter(|l| result["volumes"].get(**l).is_some()) {
        let load = |key: &str| number(result, &format!("volumes.{level}.load.{key}"));
        let saved = ["reuse_x", "reuse_y", "reuse_z", "reuse_launch"].map(load).iter().sum::<f64>();
        let parts = load("compulsory") - saved + load("capacity") + load("partial_store_fill");
        equal(&format!("{level} loads"), parts, load("total"));
        let store = |key: &str| number(result, &format!("volumes.{level}.store.{key}"));
        equal(&format!("{level} stores"), store("compulsory") + store("redundant"), store("total"));
    }
    let l2 = |key: &str| number(result, &format!("volumes.l2.load.{key}"));
    equal("L2 loads", l2("compulsory") + l2("capacity"), l2("total"));
    for (field, total) in [
        ("l2_load", "l2.load.total"),
        ("l2_store", "l2.store.total"),
        ("dram_load", "dram.load.total"),
        ("dram_store", "dram.store.total"),
    ] {
        let fields = result["fields"].as_object().unwrap().values();
        equal(field, fields.map(|f| number(f, field)).sum(), number(result, &format!("volumes.{total}")));
    }
    let term = |key: &str| number(result, &format!("time_terms_s.{key}"));
    let alone = ["fp", "l1", "l2", "dram", "latency", "waits", "issue", "tlb", "dispatch"].map(term);
    let longest = alone.into_iter().fold(0.0, f64::max);
    let time = longest + term("tail") + term("launch") + term("combination");
    equal("time", time, number(result, "time_s"));
    if number(result, "rate_per_s") <= 0.0 || number(result, "time_s") <= 0.0 {
        wrong.push("no rate or no time".to_owned());
    }
    wrong
}

/// Nulls where a number belongs (what JSON makes of infinity), and negative numbers.
fn numbers(value: &Value, path: &str, wrong: &mut Vec<String>) {
    // A limit that does not apply, what a single prediction does not have, and the interval of a roofline.
    const MAY_BE_NULL: [&str; 6] = [
        "limits_per_s",
        ".variant",
        ".relative",
        ".where",
        ".confidence.time_interval_s",
        ".confidence.level",
    ];
    match value {
        Value::Null if !MAY_BE_NULL.iter().any(|p| path.contains(p)) => wrong.push(format!("{path} is null")),
        // Tail and combination share a time; the latter may be a correction downwards.
        Value::Number(n) if n.as_f64().is_none_or(|n| n < 0.0) && !path.ends_with("combination") => {
            wrong.push(format!("{path} is {n}"));
        }
        Value::Object(map) => map.iter().for_each(|(key, v)| numbers(v, &format!("{path}.{key}"), wrong)),
        Value::Array(list) => list.iter().for_each(|v| numbers(v, &format!("{path}[]"), wrong)),
        _ => {}
    }
}
