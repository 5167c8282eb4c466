//! Every code block of README.md and docs/ is run by something: each kind of block has a test, here or where it says.

#![cfg(unix)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod pages;

use pages::{Block, blocks, pages, read, root};

/// Kinds of blocks, and who runs them. `text` is what is no code: formulas, pictures of letters, formats in words.
const RUN_BY: [(&str, &str); 11] = [
    ("console", "tests/readme.rs, which compares what is printed"),
    (
        "sh",
        "tests/readme.rs where it calls wavecast; the rest are steps of .ci/run, .ci/bindings and release/build",
    ),
    ("yaml", "tests/readme.rs loads kernels and devices; sets stand below"),
    ("python", "python/tests/test_docs.py; that of docs/library.md tests/readme.rs"),
    ("rust", "tests/readme.rs"),
    ("c", "below"),
    ("cuda", "below"),
    ("toml", "below"),
    ("csv", "below"),
    ("json", "below"),
    ("text", "nobody"),
];

fn of_kind(kind: &str) -> Vec<Block> {
    pages().iter().flat_map(|page| blocks(page)).filter(|b| b.kind == kind).collect()
}

/// An empty folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("code-blocks-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

fn wavecast(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").output().unwrap()
}

#[track_caller]
fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn each_kind_is_run_by_something() {
    for block in pages().iter().flat_map(|page| blocks(page)) {
        assert!(
            RUN_BY.iter().any(|(kind, _)| *kind == block.kind),
            "{}: who runs `{}`?",
            block.place,
            block.kind
        );
    }
}

/// The pages whose Python blocks are run are those that have some.
#[test]
fn python_blocks_are_run() {
    let tests = read("python/tests/test_docs.py");
    for page in pages().iter().filter(|page| blocks(page).iter().any(|b| b.kind == "python")) {
        let name = page.trim_start_matches("docs/");
        assert!(
            page == "docs/library.md" || tests.contains(&format!("\"{name}\"")),
            "who runs the Python of {page}?"
        );
    }
}

/// Kernels in CUDA that pages show are those of `tests/ptx/cuda`, which `.ci/bindings` and the tests of PTX compile and rank.
#[test]
fn cuda_is_what_the_tests_compile() {
    let lines_of = |text: &str| -> Vec<String> {
        let plain = |line: &str| line.replace("extern \"C\" ", "").trim().to_owned();
        text.lines().map(plain).filter(|line| !line.is_empty() && !line.starts_with("//")).collect()
    };
    let sources = std::fs::read_dir(root().join("tests/ptx/cuda")).unwrap();
    let sources: Vec<HashSet<String>> = sources
        .map(|file| lines_of(&std::fs::read_to_string(file.unwrap().path()).unwrap()).into_iter().collect())
        .collect();
    let mut count = 0;
    for block in of_kind("c").into_iter().chain(of_kind("cuda")).filter(|b| b.text.contains("__global__")) {
        let lines = lines_of(&block.text);
        assert!(
            sources.iter().any(|source| lines.iter().all(|line| source.contains(line))),
            "{}: no file of tests/ptx/cuda has all of it",
            block.place
        );
        count += 1;
    }
    assert!(count >= 6, "only {count} kernels were found");
}

/// C that is no kernel is what the header declares.
#[test]
fn c_compiles() {
    let shown: Vec<Block> = of_kind("c").into_iter().filter(|b| !b.text.contains("__global__")).collect();
    assert_eq!(shown.len(), 1);
    for block in shown {
        let program = format!(
            "#include <stdio.h>\n#include \"wavecast.h\"\nvoid f(const char *text) {{\n{}}}\n",
            block.text
        );
        let folder = folder("c", &[("shown.c", &program)]);
        let include = format!("-I{}", root().join("include").display());
        let compiled = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Werror", "-fsyntax-only", &include, "shown.c"])
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}: {}", block.place, String::from_utf8_lossy(&compiled.stderr));
    }
}

#[test]
fn settings_are_heeded_and_dependencies_are_right() {
    for block in of_kind("toml") {
        let table: toml::Table = block.text.parse().unwrap_or_else(|e| panic!("{}: {e}", block.place));
        if let Some(dependencies) = table.get("dependencies") {
            let features = dependencies["wavecast"]["default-features"].as_bool();
            assert_eq!(features, Some(false), "{}", block.place);
            assert_eq!(env!("CARGO_PKG_NAME"), "wavecast");
            continue;
        }
        let kernel = std::fs::read_to_string(root().join("kernels/stream-triad.yaml")).unwrap();
        let folder = folder("settings", &[("wavecast.toml", &block.text), ("triad.yaml", &kernel)]);
        let document: serde_json::Value =
            serde_json::from_str(&stdout(&wavecast(&folder, &["rank", "triad.yaml"]))).unwrap();
        let device = wavecast::device::find(table["device"].as_str().unwrap(), &[]).unwrap();
        assert_eq!(document["device"]["id"], device.id().as_str(), "{}", block.place);
    }
}

/// Measurements as CSV and as JSON lines can be compared with, and are of the launches that they say.
#[test]
fn measurements_are_read() {
    let page = "docs/measurements.md";
    let kernel = std::fs::read_to_string(root().join("kernels/star3d25.yaml")).unwrap();
    let of = |kind: &str| blocks(page).into_iter().find(|b| b.kind == kind).unwrap().text;
    for (kind, extension, rows) in [("csv", "csv", 2), ("json", "jsonl", 1)] {
        let text = if kind == "json" { of(kind).replace('\n', "") + "\n" } else { of(kind) };
        let file = format!("mine.{extension}");
        let folder = folder(kind, &[(&file, &text)]);
        std::fs::create_dir(folder.join("kernels")).unwrap();
        std::fs::write(folder.join("kernels/star3d25.yaml"), &kernel).unwrap();
        let document: serde_json::Value =
            serde_json::from_str(&stdout(&wavecast(&folder, &["validate", &file, "--format", "json"])))
                .unwrap();
        assert_eq!(document["summary"]["rows"], rows, "{document}");
    }
}

/// The set that is shown is the one that the tests of sets read, and its columns are those of the data that is shown.
#[test]
fn the_set_is_the_one_that_is_tested() {
    let page = "docs/validation.md";
    let set = blocks(page).into_iter().find(|b| b.text.starts_with("wavecast-set:")).unwrap();
    assert_eq!(set.text, read("tests/measured/sets/blur.yaml"));
    let shown = blocks(page).into_iter().find(|b| b.kind == "csv").unwrap();
    let data = read("tests/measured/sets/blur.csv");
    for line in shown.text.lines() {
        assert!(data.lines().any(|of| of == line), "{}: blur.csv has no `{line}`", shown.place);
    }
}
