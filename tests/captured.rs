//! Commands that are run within a program: what they would print is handed over.

use std::ffi::OsString;

use wavecast::cli::{Captured, captured};

fn run(arguments: &[&str]) -> Captured {
    captured(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
}

#[test]
fn results_and_errors_come_back() {
    let found = run(&["wavecast", "check", "kernels/vec3.yaml", "--format", "json"]);
    assert_eq!((found.status, found.errors), (0, None));
    assert!(found.output.starts_with(b"{\n  \"schema\": \"wavecast/check/1\""));
    assert!(found.text.unwrap().starts_with("vec3"));
    let missing = run(&["wavecast", "check", "kernels/none.yaml"]);
    assert_eq!((missing.status, missing.output.len()), (2, 0));
    assert!(missing.errors.unwrap().contains("cannot-read") && missing.said.contains("none.yaml"));
    let usage = run(&["wavecast", "check", "--nothing"]);
    assert!(usage.errors.unwrap().contains("\"usage\""));
}
