//! What is given away is of one version, and recipes name what is there.

use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn all_packages_have_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    for (path, line) in [
        ("c/Cargo.toml", format!("version = \"{version}\"")),
        ("python/Cargo.toml", format!("version = \"{version}\"")),
        ("web/wasm/Cargo.toml", format!("version = \"{version}\"")),
        ("CITATION.cff", format!("version: {version}")),
        ("release/conda/recipe.yaml", format!("  version: \"{version}\"")),
        ("release/homebrew/wavecast.rb", format!("/wavecast-{version}.crate\"")),
        ("CHANGELOG.md", format!("## [{version}]")),
    ] {
        assert!(read(path).contains(&line), "{path} does not say {line}");
    }
}

#[test]
fn recipes_name_features_licences_and_a_rust_that_there_are() {
    let manifest = read("Cargo.toml");
    let recipes = [
        "release/conda/recipe.yaml",
        "release/homebrew/wavecast.rb",
        "release/docker/Dockerfile",
        "release/build",
    ];
    for path in recipes {
        let recipe = read(path);
        assert!(recipe.contains("--no-default-features"), "{path}");
        assert!(recipe.contains("cli,fit"), "{path}");
        for word in recipe.split(|c: char| !(c.is_ascii_alphanumeric() || "-._".contains(c))) {
            if word.starts_with("LICENSE-") || word == "THIRD-PARTY.txt" {
                assert!(root().join(word).exists(), "{path} names {word}");
            }
        }
    }
    for feature in ["cli", "fit"] {
        assert!(manifest.contains(&format!("\n{feature} = [")), "there is no feature {feature}");
    }
    let rust = manifest.lines().find_map(|l| l.strip_prefix("rust-version = \"")?.strip_suffix('"')).unwrap();
    assert!(read("release/docker/Dockerfile").contains(&format!("FROM rust:{rust}-alpine")));
}

/// The test is left out where there is no Python with `tomllib`.
#[test]
fn the_bill_of_materials_names_what_is_linked() {
    let able = Command::new("python3").args(["-c", "import tomllib"]).status();
    if !able.is_ok_and(|status| status.success()) {
        eprintln!("no Python 3.11: not run");
        return;
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sbom.json");
    let made = Command::new("python3").arg(root().join("release/sbom.py")).arg(&path).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = std::fs::read_to_string(&path).unwrap();
    let bill: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(bill["bomFormat"], "CycloneDX");
    assert_eq!(bill["metadata"]["component"]["version"], env!("CARGO_PKG_VERSION"));
    let names: Vec<&str> =
        bill["components"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    for linked in ["clap", "isl-rs", "nom", "serde_json"] {
        assert!(names.contains(&linked), "{linked} is missing");
    }
    for of_tests in ["insta", "proptest", "criterion", "clap_mangen"] {
        assert!(!names.contains(&of_tests), "{of_tests} is not in the program");
    }
}

#[test]
fn completions_know_devices_and_what_can_be_set() {
    for shell in ["bash", "zsh", "fish"] {
        let made =
            Command::new(env!("CARGO_BIN_EXE_wavecast")).args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(made.stdout).unwrap();
        for word in ["a100-40gb", "mi300x", "l2.capacity="] {
            assert!(script.contains(word), "{shell}: {word} is not completed");
        }
    }
}

/// What bash would offer, asked of bash itself.
#[cfg(unix)]
#[test]
fn bash_completes_devices_numbers_and_files() {
    let script = Command::new(env!("CARGO_BIN_EXE_wavecast")).args(["completions", "bash"]).output().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("completions");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("wavecast.bash"), script.stdout).unwrap();
    std::fs::write(folder.join("stencil.yaml"), "").unwrap();
    let offered = |words: &str| {
        let asked = format!(
            "source ./wavecast.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _wavecast wavecast \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let said = Command::new("bash").args(["-c", &asked]).current_dir(&folder).output();
        said.ok().map(|said| String::from_utf8_lossy(&said.stdout).into_owned())
    };
    let Some(devices) = offered("wavecast rank --device mi3") else {
        eprintln!("no bash: not run");
        return;
    };
    assert!(
        devices.lines().any(|l| l == "mi300x") && devices.lines().all(|l| l.starts_with("mi3")),
        "{devices}"
    );
    let numbers = offered("wavecast rank --device-set l2.cap").unwrap();
    assert!(numbers.lines().any(|l| l == "l2.capacity="), "{numbers}");
    let files = offered("wavecast rank --output sten").unwrap();
    assert!(files.lines().any(|l| l == "stencil.yaml"), "{files}");
}

/// `cargo test` builds examples, too; a test that is built alone finds none and is left out.
#[test]
fn every_command_has_a_man_page() {
    let program = Path::new(env!("CARGO_BIN_EXE_wavecast"));
    let manual = program.with_file_name("examples").join("manual");
    if !manual.exists() {
        eprintln!("tools/manual is not built: not run");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual");
    let made = Command::new(manual).arg(&folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for command in ["", "-rank", "-predict", "-explain", "-devices-show", "-help"] {
        let path = folder.join(format!("share/man/man1/wavecast{command}.1"));
        let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(folder.join("share/fish/vendor_completions.d/wavecast.fish").exists());
}
