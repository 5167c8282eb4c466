//! Kernels of a text of PTX by the names that people have for them.

use std::process::{Command, Output};

use serde_json::Value;

const TEMPLATES: &str = "tests/ptx/nvrtc/template_copy.ptx";
const FLOATS: &str = "_Z6copy_nIfLi2EEvPKT_PS0_i";

fn wavecast(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
    // Whatever assembler this machine has.
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .env("WAVECAST_PTXAS", "")
        .output()
        .unwrap()
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

#[test]
fn templates_are_listed_as_the_source_has_them() {
    let text = stdout(&["read", TEMPLATES]);
    assert!(text.contains(&format!("{FLOATS} (`copy_n<float, 2>`)")), "{text}");
    let listed: Value = serde_json::from_str(&stdout(&["read", TEMPLATES, "--format", "json"])).unwrap();
    let names: Vec<&Value> =
        listed["entries"].as_array().unwrap().iter().map(|e| &e["source_name"]).collect();
    assert_eq!(names, ["copy_n<float, 2>", "copy_n<double, 1>"]);
    // Of a name that is the same in the source nothing more is said.
    let listed = stdout(&["read", "tests/ptx/nvrtc/saxpy.ptx", "--format", "json"]);
    assert!(!listed.contains("source_name"), "{listed}");
}

#[test]
fn an_entry_may_be_named_as_in_the_source() {
    let read =
        |name: &str| stdout(&["read", TEMPLATES, "--entry", name, "--arg", "2=1000", "--block", "64,1,1"]);
    let whole = read(FLOATS);
    assert!(whole.contains(&format!("kernel: \"{FLOATS}\"")), "{whole}");
    assert_eq!(read("copy_n<float, 2>"), whole);
    // All that asks for an entry takes such names.
    let launch = ["--arg", "0=in", "--arg", "1=out", "--arg", "2=1000", "--block", "64"];
    let touched = |name: &str| {
        stdout(
            &[&["touches", TEMPLATES, "--entry", name, "--grid", "8", "--at", "1:3"], &launch[..]].concat(),
        )
    };
    assert_eq!(touched("copy_n<float, 2>"), touched(FLOATS));
    assert_eq!(touched(FLOATS).lines().count(), 4);
    let rank = |name: &str| {
        let entry = ["--entry", name, "--arg", "2=100000", "--registers", "counted"];
        stdout(&[&["rank", TEMPLATES, "-d", "a100", "--format", "json"], &entry[..]].concat())
    };
    assert_eq!(rank("copy_n<double, 1>"), rank("_Z6copy_nIdLi1EEvPKT_PS0_i"));
}

#[test]
fn a_name_that_says_too_little_is_asked_about() {
    let error = stderr(&["read", TEMPLATES, "--entry", "copy_n", "--arg", "2=1000"]);
    assert!(error.contains("`copy_n` may be 2 entries"), "{error}");
    assert!(
        error.contains("(`copy_n<float, 2>`), _Z6copy_nIdLi1EEvPKT_PS0_i (`copy_n<double, 1>`)"),
        "{error}"
    );
    let error = stderr(&["read", TEMPLATES, "--arg", "2=1000"]);
    assert!(error.contains("has 2 entries: say which one is meant"), "{error}");
    let error = stderr(&["read", TEMPLATES, "--entry", "copy", "--arg", "2=1000"]);
    assert!(error.contains("there is no entry `copy`") && error.contains("copy_n<float, 2>"), "{error}");
}

#[test]
fn the_only_entry_needs_no_name() {
    let file = "tests/ptx/nvrtc/saxpy.ptx";
    let named = stdout(&["read", file, "--entry", "saxpy", "--arg", "0=1000"]);
    assert_eq!(stdout(&["read", file, "--arg", "0=1000"]), named);
    assert!(stdout(&["read", file, "--arg", "0=1000", "--block", "64"]).contains("block: [[64]]"));
    // Where nothing is said of it, it is listed.
    assert!(stdout(&["read", file]).contains("read it with --arg NUMBER=VALUE"), "{named}");
}
