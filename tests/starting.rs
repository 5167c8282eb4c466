//! What a newcomer begins with: files to start from, and help that is in the program.

mod program;

use std::path::PathBuf;
use std::process::{Command, Output};

use program::{stderr, stdout, wavecast};

/// An empty folder to work in.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wavecast-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
        command.current_dir(&self.0).args(arguments).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_new_kernel_can_be_ranked_at_once() {
    let folder = Folder::new("new-kernel");
    let said = folder.done(&["new", "my-stencil"]);
    assert!(said.starts_with("my-stencil.yaml is written"), "{said}");
    // Every command that it names works.
    for command in said.split('`').skip(1).step_by(2) {
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[0], "wavecast", "{said}");
        let output = folder.run(&words[1..]);
        assert_eq!(output.status.code(), Some(0), "{command}: {}", stderr(&output));
        let said = stdout(&output);
        assert!(words[1] == "help" || !said.contains("warning"), "{command}: {said}");
    }
    let before = std::fs::read_to_string(folder.0.join("my-stencil.yaml")).unwrap();
    let again = folder.run(&["new", "my-stencil"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("is there already"), "{}", stderr(&again));
    assert_eq!(std::fs::read_to_string(folder.0.join("my-stencil.yaml")).unwrap(), before);
    folder.done(&["new", "my-stencil", "-o", "other.yaml"]);
    assert_eq!(std::fs::read_to_string(folder.0.join("other.yaml")).unwrap(), before);
    for name in ["../x", "", "a b", "-", "1", "a/b", "ä"] {
        let output = folder.run(&["new", "--", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 2);
}

#[test]
fn a_new_device_is_its_relative_until_it_is_changed() {
    let folder = Folder::new("new-device");
    let said = folder.done(&["devices", "new", "our-gpu", "--like", "NVIDIA H200"]);
    assert!(said.contains("a device like h200"), "{said}");
    let path = folder.0.join("our-gpu.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/star3d7.yaml");
    let rate = |device: &str| {
        let csv = folder.done(&["rank", kernel, "-d", device, "--top", "1", "--format", "csv"]);
        let rows: Vec<Vec<&str>> = csv.lines().map(|l| l.split(',').collect()).collect();
        let at = rows[0].iter().position(|&c| c == "limit_dram_per_s").unwrap();
        rows[1][at].parse::<f64>().unwrap()
    };
    // The bandwidth that it shows is that of its relative: half of it is half the speed.
    let line = text.lines().find(|l| l.starts_with("#   bandwidth: {value: 4030 GB/s")).unwrap();
    let own = line.replace("# ", "").replace("4030", "2015");
    let changed = text.replace("# dram:", "dram:").replace(line, &own);
    let before = rate("our-gpu.yaml");
    std::fs::write(&path, changed).unwrap();
    let after = rate("our-gpu.yaml");
    assert!((after / before - 0.5).abs() < 0.05, "{before} {after}");
    for (arguments, expected) in [
        (["devices", "new", "our-gpu", "--like", "a100"], "is there already"),
        (["devices", "new", "h200", "--like", "a100"], "comes with Wavecast"),
        (["devices", "new", "other", "--like", "our-gpu.yaml"], "cannot be inherited from"),
        (["devices", "new", "other", "--like", "h100"], "the name of 3 devices"),
    ] {
        let output = folder.run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn pages_are_in_the_program() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/");
    let overview = stdout(&wavecast(&["help"], ""));
    let list = overview.split("Pages:\n").nth(1).unwrap();
    let pages: Vec<&str> = list.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert!(pages.len() > 15, "{overview}");
    for page in &pages {
        let text = std::fs::read_to_string(format!("{root}{page}.md")).unwrap();
        let shown = wavecast(&["help", "--page", page], "");
        // A page that no command is called like is shown without the option, too.
        assert_eq!(shown.status.code(), Some(0), "{page}: {}", stderr(&shown));
        assert_eq!(stdout(&shown), text, "{page}");
    }
    assert!(stdout(&wavecast(&["help", "kernels"], "")).starts_with("# Kernel descriptions\n"));
    let command = stdout(&wavecast(&["help", "sweep"], ""));
    assert!(command.contains("Usage: wavecast sweep") && command.contains("help --page sweep"), "{command}");
    assert!(stdout(&wavecast(&["help", "trace", "cache"], "")).contains("Usage: wavecast trace cache"));
    for (arguments, help) in
        [(vec!["help", "kernel"], "did you mean `kernels`?"), (vec!["help", "--page", "rank"], "lists all")]
    {
        let output = wavecast(&arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(help), "{}", stderr(&output));
    }
}

/// An installed program has no folder `docs`: messages name what it has.
#[test]
fn messages_name_pages_that_the_program_has() {
    fn texts(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts(&path, found);
                continue;
            }
            // Sources of coefficients name where they were derived: they are facts of the curve files, and no messages.
            if path.parent().is_some_and(|folder| folder.ends_with("curve/shipped")) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for (number, line) in text.lines().enumerate() {
                let code = line.trim_start();
                let is_message = !code.starts_with("//")
                    && !line.contains("CARGO_MANIFEST_DIR")
                    && !line.contains("root()");
                if is_message && line.contains("docs/") && line.contains(".md") {
                    found.push(format!("{}:{}: {line}", path.display(), number + 1));
                }
                for name in line.split("wavecast help ").skip(1) {
                    let words = name.trim_start_matches("--page ");
                    let word: String =
                        words.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
                    let page = format!("{}/docs/{word}.md", env!("CARGO_MANIFEST_DIR"));
                    if !word.is_empty() && !std::path::Path::new(&page).exists() {
                        found.push(format!("{}:{}: no page {word}", path.display(), number + 1));
                    }
                }
            }
        }
    }
    let mut found = Vec::new();
    texts(&PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut found);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn messages_list_what_there_is() {
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/star3d25.yaml");
    let refused = |arguments: &[&str]| {
        let output = wavecast(arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        stderr(&output)
    };
    let parameters = "parameters: NX, NY, NZ";
    assert!(
        refused(&["rank", kernel, "--set", "NXQ=3"])
            .contains(&format!("= help: did you mean `NX`? {parameters}"))
    );
    assert!(refused(&["rank", kernel, "--set", "width=3"]).contains(&format!("= help: {parameters}")));
    assert!(refused(&["sweep", kernel, "--vary", "NQ=1..3"]).contains(parameters));
    assert!(refused(&["predict", kernel, "--block", "1,2,x"]).contains("as in 256,1,2"));
    // A file that is not there is not said to be of the wrong kind.
    assert!(refused(&["rank", "not-there.cu"]).contains("cannot read not-there.cu"));
}
