//! Says what is missing before the build of isl fails with a message that does not.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_ISL").is_none() {
        return;
    }
    println!("cargo::rerun-if-env-changed=PATH");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        |tool: &str| std::env::split_paths(&path).any(|folder| Path::new(&folder).join(tool).is_file());
    let missing: Vec<&str> = ["autoconf", "automake", "libtoolize", "make", "cc"]
        .into_iter()
        .filter(|tool| !found(tool))
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        println!(
            "cargo::warning={missing} not found: isl cannot be built. Run .ci/setup (it installs them), \
             or build with --no-default-features --features cli"
        );
    }
}
