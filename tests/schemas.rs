//! What is published beside the program says what the program does: the JSON Schemas in `grammar/`,
//! and the list of shipped kernels in `docs/kernels.md`.

use std::path::{Path, PathBuf};
use std::process::Command;

use wavecast::kernel::load;
use wavecast::report::SCHEMAS;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names of the files in a folder that end in `ending`, without it.
fn names(folder: &str, ending: &str) -> Vec<String> {
    let files = std::fs::read_dir(root().join(folder)).unwrap();
    let mut names: Vec<String> = files
        .filter_map(|f| f.unwrap().file_name().to_str()?.strip_suffix(ending).map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// What `wavecast schema KIND` prints.
fn printed(kind: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_wavecast")).args(["schema", kind]).output().unwrap();
    assert!(output.status.success(), "wavecast schema {kind}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn schema_files_are_current() {
    let file = |kind: &str| -> PathBuf { root().join(format!("grammar/{kind}.schema.json")) };
    if std::env::var_os("WAVECAST_UPDATE").is_some_and(|v| v == "1") {
        for (kind, _) in SCHEMAS {
            std::fs::write(file(kind), printed(kind)).unwrap();
        }
    }
    let stale: Vec<&str> = SCHEMAS
        .iter()
        .map(|s| s.0)
        .filter(|kind| std::fs::read_to_string(file(kind)).ok().as_deref() != Some(&printed(kind)))
        .collect();
    assert!(
        stale.is_empty(),
        "grammar/ holds an old schema of: {}. Run `WAVECAST_UPDATE=1 cargo test --test schemas`, look at \
         the difference (fields may only be added), and commit it.",
        stale.join(", ")
    );
}

#[test]
fn every_schema_file_has_its_kind() {
    let mut kinds = SCHEMAS.map(|s| s.0);
    kinds.sort_unstable();
    assert_eq!(names("grammar", ".schema.json"), kinds);
}

/// The table in `docs/kernels.md` names every file of `kernels/` and every kernel in it, and no others.
#[test]
fn shipped_kernels_are_listed() {
    let page = std::fs::read_to_string(root().join("docs/kernels.md")).unwrap();
    let row = |file: &str| {
        let start = format!("| [{file}](../kernels/{file}) |");
        page.lines().find(|line| line.starts_with(&start)).map(str::to_owned)
    };
    let files = names("kernels", ".yaml");
    for file in files.iter().map(|name| format!("{name}.yaml")) {
        let row = row(&file).unwrap_or_else(|| panic!("docs/kernels.md has no row for kernels/{file}"));
        let text = std::fs::read_to_string(root().join("kernels").join(&file)).unwrap();
        for kernel in load(&file, &text, &Default::default()).unwrap().kernels {
            let name = &kernel.name;
            assert!(row.contains(&format!("`{name}`")), "the row of kernels/{file} does not name `{name}`");
            if let Some(variant) = kernel.variant {
                assert!(
                    row.contains(&variant),
                    "the row of kernels/{file} does not name the variant {variant}"
                );
            }
        }
    }
    let rows = page.lines().filter(|line| line.starts_with("| [") && line.contains("](../kernels/")).count();
    assert_eq!(rows, files.len(), "docs/kernels.md lists a kernel that is not there");
}
