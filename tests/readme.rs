//! What README.md and docs/ show is true: documents load, commands run, outputs are what the program
//! prints, the library example compiles, links lead somewhere.
//!
//! Rules for the pages: a `yaml` block with a `wavecast:` or `wavecast-device:` line is a whole
//! document; a kernel can be named in commands as `NAME.yaml`. In a `console` block each `$ command`
//! is followed by its output, in which a line `...` stands for lines left out. A `sh` block is run if
//! it uses `wavecast`. Commands run in a folder that has `kernels/` and `tests/`; that of the first quarter of an hour
//! has what its one command without `wavecast` makes: the PTX of the kernel that the page shows.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use wavecast::ask::KernelSource;
use wavecast::device;

mod pages;

use pages::{Block, blocks, pages, read, root};

/// A block that is a whole kernel or device document.
fn is_document(block: &Block, key: &str) -> bool {
    block.kind == "yaml" && block.text.lines().any(|line| line.starts_with(key))
}

/// An empty folder from which commands of a page find what they name.
fn work_folder(page: &str, test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", page.replace('/', "-")));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["kernels", "tests"] {
        std::os::unix::fs::symlink(root().join(name), folder.join(name)).unwrap();
    }
    if page == "docs/first-quarter-hour.md" {
        std::fs::copy(root().join("tests/ptx/nvrtc/saxpy.ptx"), folder.join("saxpy.ptx")).unwrap();
    }
    for block in blocks(page).iter().filter(|b| is_document(b, "wavecast:")) {
        let name = block.text.lines().find_map(|line| line.strip_prefix("kernel: ")).unwrap();
        let path = folder.join(format!("{}.yaml", name.trim()));
        assert!(!path.exists(), "{}: another block of this page is called {name}", block.place);
        std::fs::write(path, &block.text).unwrap();
    }
    for block in blocks(page).iter().filter(|b| is_document(b, "wavecast-device:")) {
        let id = block.text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
        std::fs::write(folder.join(format!("{}.yaml", id.trim())), &block.text).unwrap();
    }
    folder
}

/// Runs a program with the built `wavecast` first on the path.
fn run(program: &str, argument: &str, text: &str, folder: &Path) -> Output {
    let built = Path::new(env!("CARGO_BIN_EXE_wavecast")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([built.to_owned()].into_iter().chain(std::env::split_paths(&path)));
    let mut command = Command::new(program);
    command
        .args([argument, text])
        .current_dir(folder)
        .env("PATH", path.unwrap())
        .env("NO_COLOR", "1")
        .env("WAVECAST_PTXAS", "");
    command.output().unwrap_or_else(|e| panic!("{program}: {e}"))
}

/// Standard output, then standard error.
fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn documents_of_the_pages_load() {
    let mut count = 0;
    for page in pages() {
        for block in blocks(&page) {
            if is_document(&block, "wavecast:") {
                // Code is named as seen from the folder that commands run in.
                let source = KernelSource::new(block.place.as_str(), block.text.as_str());
                let loaded = source.beside(&root().join("page")).read();
                let loaded = loaded.unwrap_or_else(|fault| panic!("{fault}"));
                let wrong = loaded.kernels().iter().flat_map(wavecast::Kernel::warnings).find(|w| {
                    // Short examples may leave out what has a default, but do nothing that looks wrong.
                    !["registers-assumed", "launch-assumed", "flops-missing"].contains(&w.code)
                });
                assert!(wrong.is_none(), "{}: {}", block.place, wrong.unwrap().message);
                count += 1;
            }
            if is_document(&block, "wavecast-device:") {
                device::read(&block.place, &block.text, &[]).unwrap_or_else(|fault| panic!("{fault}"));
                count += 1;
            }
        }
    }
    assert!(count >= 10, "only {count} documents were found");
}

#[test]
fn outputs_are_what_the_program_prints() {
    let mut count = 0;
    for page in pages() {
        let folder = work_folder(&page, "outputs");
        for block in blocks(&page).iter().filter(|b| b.kind == "console") {
            for session in format!("\n{}", block.text).split("\n$ ").skip(1) {
                let (command, shown) = session.split_once('\n').unwrap();
                let printed = said(&run("sh", "-c", command, &folder));
                if !matches(shown, &printed) && may_update(shown) {
                    let [old, new] =
                        [shown, &printed].map(|text| format!("$ {command}\n{}", text.trim_end()));
                    std::fs::write(root().join(&page), read(&page).replacen(old.trim_end(), &new, 1))
                        .unwrap();
                    continue;
                }
                assert!(
                    matches(shown, &printed),
                    "{}: `{command}` prints something else:\n{printed}",
                    block.place
                );
                count += 1;
            }
        }
    }
    assert!(count >= 8, "only {count} outputs were found");
}

/// Outputs that are shown whole are written anew with `WAVECAST_UPDATE=1 cargo test --test readme`; the
/// rest is for a person to change.
fn may_update(shown: &str) -> bool {
    std::env::var_os("WAVECAST_UPDATE").is_some_and(|v| v == "1") && !shown.lines().any(|line| line == "...")
}

/// Whether a text is what was shown of it: the same lines, where `...` stands for at least one.
fn matches(shown: &str, printed: &str) -> bool {
    let shown: Vec<&str> = shown.trim_end().lines().collect();
    let printed: Vec<&str> = printed.trim_end().lines().collect();
    let mut parts = shown.split(|line| *line == "...");
    let Some(mut left) = parts.next().and_then(|first| printed.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let gap = if parts.peek().is_some() {
            (1..=left.len()).find(|&gap| left[gap..].starts_with(part))
        } else {
            left.strip_suffix(part).map(<[_]>::len).filter(|&gap| gap > 0)
        };
        let Some(gap) = gap else { return false };
        left = &left[gap + part.len()..];
    }
    left.is_empty()
}

#[test]
fn gaps_stand_for_lines_left_out() {
    assert!(matches("a\n...\nc\n", "a\nb\nc\n"));
    assert!(matches("...\nc\n...\n", "a\nb\nc\nd\n"));
    assert!(matches("a\nb\n", "a\nb\n"));
    for (shown, printed) in [
        ("a\n", "a\nb\n"),
        ("b\n", "a\nb\n"),
        ("a\n...\nb\n", "a\nb\n"),
        ("a\n...\n", "a\n"),
        ("a\nb\n", "a\n"),
    ] {
        assert!(!matches(shown, printed), "{shown:?} is not what was printed: {printed:?}");
    }
}

#[test]
fn commands_of_the_pages_run() {
    let mut count = 0;
    for page in pages() {
        let folder = work_folder(&page, "commands");
        for block in blocks(&page).iter().filter(|b| b.kind == "sh") {
            let text = block.text.replace(".ci/setup --linker && ", "").replace(".ci/setup && ", "");
            let text = text.replace("cargo run --release -- ", "wavecast ");
            let text =
                text.replace("cargo run --release --no-default-features --features cli -- ", "wavecast ");
            let uses_it = text.lines().any(|l| l.starts_with("wavecast ") || l.contains("| wavecast "));
            if !uses_it {
                continue;
            }
            let output = run("sh", "-c", &format!("set -e\n{text}"), &folder);
            assert!(output.status.success(), "{}: {}", block.place, said(&output));
            count += 1;
        }
    }
    assert!(count >= 6, "only {count} blocks were found");
}

#[test]
fn the_python_example_runs_where_python_is() {
    let block = blocks("docs/library.md").into_iter().find(|b| b.kind == "python").unwrap();
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("no python3: not run");
        return;
    }
    let output = run("python3", "-c", &block.text, &work_folder("docs/library.md", "python"));
    let said = said(&output);
    assert!(!said.is_empty(), "nothing is best");
    for line in said.lines() {
        assert!(line.starts_with("a block of ") && line.contains(" threads is limited by "), "{said}");
    }
}

/// The Rust block of docs/library.md, compiled and run. It stands here as it stands there.
#[rustfmt::skip]
mod library_example {
// README
use wavecast::predict::Estimator;
use wavecast::{device, kernel, launch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("kernels/lbm-d3q19.yaml")?;
    let loaded = kernel::load("lbm-d3q19.yaml", &text, &kernel::Options::default())?;
    let a100 = device::find("a100", &[])?;
    for kernel in &loaded.kernels {
        let estimator = Estimator::new(kernel, &a100);
        for candidate in launch::candidates(kernel) {
            match estimator.predict(candidate) {
                Ok(found) => println!("{:?}: {:.2e} per second", candidate.block(), found.rate()),
                Err(why) => println!("{:?} cannot be predicted: {why}", candidate.block()),
            }
        }
    }
    Ok(())
}
// END

    #[test]
    fn runs() {
        main().unwrap();
    }
}

#[test]
fn the_library_example_is_the_one_tested_here() {
    let here = include_str!("readme.rs");
    let example = here.split("\n// README\n").nth(1).unwrap().split("// END").next().unwrap();
    let shown = blocks("docs/library.md").into_iter().find(|b| b.kind == "rust").unwrap();
    assert_eq!(shown.text, example);
}

/// The first picture of the pages is what the command in the README draws today; `WAVECAST_UPDATE=1` draws it anew.
#[test]
fn the_picture_is_what_the_program_draws() {
    let readme = read("README.md").replace('\n', " ");
    let command = readme.split('`').find(|part| part.starts_with("wavecast sweep ")).unwrap();
    let folder = work_folder("README.md", "picture");
    let output = run("sh", "-c", command, &folder);
    assert!(output.status.success(), "{}", said(&output));
    let drawn = std::fs::read_to_string(folder.join("planes.svg")).unwrap();
    if std::env::var_os("WAVECAST_UPDATE").is_some_and(|v| v == "1") {
        std::fs::write(root().join("docs/pictures/planes.svg"), &drawn).unwrap();
    }
    assert!(
        drawn == read("docs/pictures/planes.svg"),
        "docs/pictures/planes.svg is not what `{command}` draws"
    );
}

/// Every page of docs/ stands in the table of contents of the site, once.
#[test]
fn the_site_has_all_pages() {
    let contents = read("docs/SUMMARY.md");
    for page in
        pages().iter().filter_map(|page| page.strip_prefix("docs/")).filter(|page| *page != "SUMMARY.md")
    {
        let times = contents.matches(&format!("]({page})")).count();
        assert_eq!(times, 1, "docs/SUMMARY.md names {page} {times} times");
    }
}

#[test]
fn the_readme_tests_as_the_checks_do() {
    let script = read(".ci/run");
    let command = script.lines().find_map(|l| l.strip_prefix("readme_tests='")?.strip_suffix('\'')).unwrap();
    assert!(script.contains("step \"$readme_tests\""), "the README's tests are not run");
    assert!(
        blocks("README.md").iter().any(|b| b.kind == "sh" && b.text.trim() == command),
        "README.md has no block with just `{command}`"
    );
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let folder = root().join(&page);
        let folder = folder.parent().unwrap();
        for link in read(&page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            let target = if file.is_empty() { root().join(&page) } else { folder.join(file) };
            assert!(target.exists(), "{page} links to {link}, which is not there");
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap();
                let heads = text.lines().filter(|l| l.starts_with('#')).map(anchor_of);
                assert!(heads.into_iter().any(|h| h == anchor), "{page} links to {link}: no such heading");
            }
        }
    }
}

/// The anchor that a heading gets.
fn anchor_of(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
}

#[test]
fn the_readme_counts_what_is_there() {
    let files = |folder: &str| std::fs::read_dir(root().join(folder)).unwrap().count();
    let readme = read("README.md");
    for claim in [
        format!("holds {} files to start from", files("kernels")),
        format!("{} GPUs come with the program", files("devices")),
    ] {
        assert!(readme.contains(&claim), "README.md does not say: {claim}");
    }
}

#[test]
fn every_key_is_documented() {
    let described = |page: &str, key: &str| {
        let rows = read(page);
        assert!(rows.contains(&format!("`{key}`")), "{page} does not say what `{key}` is");
    };
    for id in device::ids() {
        for number in device::find(id, &[]).unwrap().numbers() {
            described("docs/devices.md", &number.path);
        }
    }
    let schema: serde_json::Value = serde_json::from_str(&read("grammar/kernel.schema.json")).unwrap();
    let groups = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    for group in groups.filter_map(|g| g["properties"].as_object()) {
        group.keys().for_each(|key| described("docs/kernels.md", key));
    }
}
