//! `THIRD-PARTY.txt`, which programs, wheels and this folder carry, names everything that is linked, with
//! licence and copyright as the sources of this very build say.

mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::{stderr, stdout, wavecast};
use serde_json::Value;

/// Where programs and wheels run; a notice holds for all of them.
const PLATFORMS: [&str; 5] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];
/// What is chosen where a crate offers a choice. All that stand here ask for a notice only.
const LICENCES: [&str; 3] = ["MIT", "Apache-2.0", "Zlib"];

const ZLIB: &str = "\
This software is provided 'as-is', without any express or implied warranty. In
no event will the authors be held liable for any damages arising from the use of
this software.

Permission is granted to anyone to use this software for any purpose, including
commercial applications, and to alter it and redistribute it freely, subject to
the following restrictions:

1. The origin of this software must not be misrepresented; you must not claim
   that you wrote the original software. If you use this software in a product,
   an acknowledgment in the product documentation would be appreciated but is
   not required.

2. Altered source versions must be plainly marked as such, and must not be
   misrepresented as being the original software.

3. This notice may not be removed or altered from any source distribution.
";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What cargo says of the dependencies on a platform.
fn metadata(platform: &str) -> Value {
    let mut said = String::new();
    // Without the network if it goes without.
    for more in [&["--offline"][..], &[]] {
        let output = Command::new(env!("CARGO"))
            .current_dir(root())
            .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", platform])
            .args(more)
            .output()
            .unwrap();
        if output.status.success() {
            return serde_json::from_slice(&output.stdout).unwrap();
        }
        said = stderr(&output);
    }
    panic!("cargo cannot tell the dependencies (`cargo fetch` loads their sources): {said}");
}

/// The platform of this build.
fn host() -> String {
    let said = Command::new("rustc").arg("-vV").output().unwrap();
    stdout(&said).lines().find_map(|l| l.strip_prefix("host: ")).unwrap().to_owned()
}

/// The packages whose code ends up in a program or library, on a platform.
fn linked(platform: &str) -> Vec<Value> {
    let metadata = metadata(platform);
    let by_id = |list: &Value| -> BTreeMap<String, Value> {
        let id = |entry: &Value| entry["id"].as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(|e| (id(e), e.clone())).collect()
    };
    let (packages, nodes) = (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
    let is_macro = |package: &Value| {
        let targets = package["targets"].as_array().unwrap();
        targets.iter().any(|t| t["kind"].as_array().unwrap().contains(&"proc-macro".into()))
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let own: BTreeSet<String> = metadata["workspace_members"].as_array().unwrap().iter().map(text).collect();
    let mut seen = BTreeSet::new();
    let mut todo: Vec<String> = own.iter().cloned().collect();
    while let Some(id) = todo.pop() {
        if is_macro(&packages[&id]) || !seen.insert(id.clone()) {
            continue;
        }
        for dependency in nodes[&id]["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            if kinds.iter().any(|k| k["kind"].is_null()) {
                todo.push(text(&dependency["pkg"]));
            }
        }
    }
    seen.difference(&own).map(|id| packages[id].clone()).collect()
}

/// The licence that is taken of those that a crate offers.
fn licence(package: &Value) -> &'static str {
    let offered = package["license"].as_str().unwrap_or_default();
    assert!(!offered.contains("AND"), "{}: all of `{offered}` have to be heeded", package["name"]);
    let offered: Vec<&str> = offered.split(['/', ' ', '(', ')']).collect();
    // `Apache-2.0 WITH LLVM-exception` gives more than Apache-2.0 alone.
    LICENCES.into_iter().find(|l| offered.contains(l)).unwrap_or_else(|| {
        panic!("{}: `{}` is none of {LICENCES:?}; see deny.toml", package["name"], package["license"])
    })
}

fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

/// Lines of a text that say whose it is.
fn copyright(text: &str) -> impl Iterator<Item = String> {
    let lines =
        text.lines().map(|l| l.trim_start_matches([' ', '*', '/', '\t']).trim_end_matches([' ', '*', '/']));
    lines.filter(|l| l.starts_with("Copyright") && !l.contains(['[', '{'])).map(|l| {
        let words: Vec<&str> = l.split_whitespace().collect();
        words.join(" ")
    })
}

/// Files of a folder whose names start or end so, in order.
fn files(folder: &Path, is: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let named = |path: &PathBuf| path.is_file() && is(&path.file_name().unwrap().to_string_lossy());
    let mut found: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).filter(named).collect();
    found.sort();
    found
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).replace("\r\n", "\n")
}

/// Whose a crate is: as its licence files say, otherwise as its manifest does.
fn holders(package: &Value) -> BTreeSet<String> {
    let is_licence = |name: &str| {
        let name = name.to_uppercase();
        ["LICEN", "COPY", "NOTICE"].iter().any(|start| name.starts_with(start))
    };
    let texts = files(&folder(package), is_licence);
    let notices = texts.iter().filter(|p| p.file_name().unwrap().to_string_lossy().starts_with("NOTICE"));
    assert_eq!(notices.count(), 0, "{}: its NOTICE has to be handed on", package["name"]);
    let found: BTreeSet<String> =
        texts.iter().flat_map(|p| copyright(&read(p)).collect::<Vec<_>>()).collect();
    if !found.is_empty() {
        return found;
    }
    let authors = package["authors"].as_array().unwrap().iter().filter_map(Value::as_str);
    let named: BTreeSet<String> = authors.map(|a| format!("Copyright {a}")).collect();
    if named.is_empty() { [format!("Copyright the authors of {}", name(package))].into() } else { named }
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

/// The section of a crate.
fn section(package: &Value) -> String {
    let mut text = format!("{} {}", name(package), package["version"].as_str().unwrap());
    if let Some(url) = package["repository"].as_str() {
        write!(text, " <{url}>").unwrap();
    }
    writeln!(text, "\n  {}", licence(package)).unwrap();
    for line in holders(package) {
        writeln!(text, "  {line}").unwrap();
    }
    text
}

/// The section of the C libraries that the crate isl-rs builds.
fn of_isl(package: &Value) -> String {
    let isl = folder(package).join("isl");
    let lines = |folders: &[&str]| -> BTreeSet<String> {
        let is_source = |name: &str| [".c", ".h"].iter().any(|ending| name.ends_with(ending));
        let sources = folders.iter().flat_map(|f| files(&isl.join(f), is_source));
        sources.flat_map(|p| copyright(&read(&p)).collect::<Vec<_>>()).collect()
    };
    let mut text = String::new();
    for (title, file, folders) in [
        ("isl, the integer set library <https://libisl.sourceforge.io>", "LICENSE", &["", "include/isl"][..]),
        (
            "imath, which isl computes with <https://github.com/creachadair/imath>",
            "imath/LICENSE",
            &["imath"],
        ),
    ] {
        assert!(read(&isl.join(file)).contains("Permission is hereby granted, free of charge"), "{file}");
        writeln!(text, "{title}\n  MIT\n  in builds with the feature isl only").unwrap();
        if folders.len() > 1 {
            writeln!(text, "  Written by Sven Verdoolaege and others").unwrap();
        }
        for line in lines(folders) {
            writeln!(text, "  {line}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// The sections of everything that is linked on a platform.
fn sections(platform: &str) -> BTreeSet<String> {
    linked(platform).iter().map(section).collect()
}

fn notice() -> String {
    let body = |file: &str, from: &str| {
        let text = read(&root().join(file));
        text[text.find(from).unwrap()..].to_owned()
    };
    let packages = linked(PLATFORMS[0]);
    let isl = packages.iter().find(|p| name(p) == "isl-rs").unwrap();
    let all: BTreeSet<String> = PLATFORMS.iter().flat_map(|p| sections(p)).collect();
    let all: Vec<String> = all.into_iter().collect();
    let rule = "-".repeat(80);
    format!(
        "What Wavecast is linked with
{rule}

Programs, libraries and Python wheels of Wavecast contain the works below, each under the licence that
is named beside it; the texts of the licences follow at the end. Not every build contains all of them:
some are for certain systems only, isl and imath for builds with the feature isl, pyo3 for Python.

{}The Rust standard library <https://github.com/rust-lang/rust>
  MIT
  Copyright (c) The Rust Project Contributors

{}
{rule}
MIT

{}
{rule}
Zlib

{ZLIB}
{rule}
Apache-2.0

{}",
        of_isl(isl),
        all.join("\n"),
        body("LICENSE-MIT", "Permission is hereby"),
        body("LICENSE-APACHE", "                                 Apache License"),
    )
}

#[test]
fn the_notice_names_everything_that_is_linked() {
    let path = root().join("THIRD-PARTY.txt");
    if std::env::var_os("WAVECAST_UPDATE").is_some_and(|v| v == "1") {
        std::fs::write(&path, notice()).unwrap();
    }
    let found = read(&path);
    let update =
        "run `WAVECAST_UPDATE=1 cargo test --test third_party`, look at the difference, and commit it";
    let packages = linked(&host());
    let isl = packages.iter().find(|p| name(p) == "isl-rs").unwrap();
    for expected in packages.iter().map(section).chain([of_isl(isl)]) {
        assert!(
            found.contains(&format!("\n{expected}")),
            "THIRD-PARTY.txt lacks this; {update}:\n{expected}"
        );
    }
    // What is not used any more, on whatever system.
    let lock = read(&root().join("Cargo.lock"));
    for line in found.lines().filter(|l| l.ends_with('>') && !l.starts_with(' ')) {
        let mut words = line.split(' ');
        let (name, version) = (words.next().unwrap(), words.next().unwrap());
        let is_crate = version.starts_with(|c: char| c.is_ascii_digit());
        let locked = lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n"));
        assert!(!is_crate || locked, "{name} {version} is not used any more; {update}");
    }
}

#[test]
fn the_program_prints_licence_and_notice() {
    for word in ["licences", "licenses"] {
        let output = wavecast(&[word], "");
        assert!(output.status.success(), "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.starts_with("Wavecast is licensed under MIT or Apache 2.0, as you like.\n"), "{said}");
        assert!(said.ends_with(&read(&root().join("THIRD-PARTY.txt"))));
        assert!(said.contains("isl, the integer set library") && said.contains("Michael J. Fromberger"));
    }
    let help = stdout(&wavecast(&["--help"], ""));
    assert!(help.contains("licences"), "{help}");
}

#[test]
fn the_python_package_carries_the_same_files() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt"] {
        assert_eq!(read(&root().join("python").join(name)), read(&root().join(name)), "python/{name}");
        let project = read(&root().join("python/pyproject.toml"));
        assert!(project.contains(&format!("\"{name}\"")), "pyproject.toml does not name {name}");
    }
}
