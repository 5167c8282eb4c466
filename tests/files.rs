//! What is written: no output replaces an input, none is left half written, none is lost without a word.
#![cfg(unix)]

mod program;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use program::{stderr, stdout};

const KERNEL: &str = "wavecast: 1
kernel: copy
fields: {a: {dtype: f64, size: 4096}, b: {like: a}}
domain: {x: 4096}
loads: ['a[x]']
stores: ['b[x]']
work: {flops: 0}
launch: {block: [[256]], registers: 16}
";
const MEASURED: &str = "kernel,device,block.x,block.y,block.z,time [ms]\ncopy,a100,256,1,1,0.1\n";

/// A folder of a test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("wavecast-files-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a line of the shell in a folder; `wavecast` is the built program.
fn run(folder: &Path, line: &str) -> Output {
    let line = format!("wavecast() {{ \"$WAVECAST\" \"$@\"; }}\n{line}");
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).current_dir(folder).env("WAVECAST", env!("CARGO_BIN_EXE_wavecast"));
    shell.output().unwrap()
}

/// Names of all files of a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A trace, the log of a chase, a device, a curve file and measurements beside a kernel.
fn inputs(name: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("k.yaml"), KERNEL).unwrap();
    std::fs::write(folder.join("m.csv"), MEASURED).unwrap();
    let spec = "{line: 64, sets: 8, ways: 4, mapping: bits, replacement: lru, hit: 30, miss: 200}";
    std::fs::write(folder.join("spec.yaml"), spec).unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::copy(format!("{root}/fits/v100-pcie-32gb.yaml"), folder.join("c.yaml")).unwrap();
    std::fs::copy(format!("{root}/tests/imports/table.csv"), folder.join("p.csv")).unwrap();
    std::fs::copy(format!("{root}/tests/imports/ncu_long.csv"), folder.join("ncu.csv")).unwrap();
    std::fs::copy(format!("{root}/tests/cache_probe/small.csv"), folder.join("log.csv")).unwrap();
    for made in ["wavecast devices show a100 -o d.yaml", "wavecast trace synth k.yaml --blocks 2 -o t.csv"] {
        let output = run(&folder, made);
        assert!(output.status.success(), "{made}: {}", stderr(&output));
    }
    folder
}

#[test]
fn no_output_replaces_an_input() {
    let folder = inputs("same");
    symlink("k.yaml", folder.join("soft.md")).unwrap();
    std::fs::hard_link(folder.join("k.yaml"), folder.join("hard.csv")).unwrap();
    for line in [
        "wavecast rank k.yaml -d a100 --format table -o k.yaml",
        "wavecast rank k.yaml -d a100 -o soft.md",
        "wavecast check k.yaml -o ../$(basename $PWD)/hard.csv",
        "wavecast predict - -d a100 -o hard.csv < k.yaml",
        "wavecast rank k.yaml -d d.yaml --format json -o d.yaml",
        "wavecast rank k.yaml -d v100 --curves c.yaml --format csv -o c.yaml",
        "wavecast explain k.yaml -d a100 --format md -o k.yaml",
        "wavecast compare k.yaml -d a100 --format md -o k.yaml",
        "wavecast sweep k.yaml -d a100 --vary block.x=32..64 --format csv -o k.yaml",
        "wavecast emit k.yaml --lang cuda --force -o k.yaml",
        "wavecast validate m.csv --kernel k.yaml -o m.csv",
        "wavecast validate m.csv --kernel k.yaml --format csv -o k.yaml",
        "wavecast fit m.csv --kernel k.yaml -o m.csv",
        "wavecast fit m.csv --kernel k.yaml -o k.yaml",
        "wavecast import p.csv --map kernel=name -o p.csv",
        "wavecast trace convert t.csv -o t.csv",
        "wavecast trace convert - -o t.csv < t.csv",
        "wavecast trace convert t.csv >> t.csv",
        "wavecast trace synth k.yaml --to csv -o k.yaml",
        "wavecast trace info t.csv -o t.csv",
        "wavecast trace cache t.csv -o t.csv",
        "wavecast trace reuse t.csv --measured ncu.csv -o ncu.csv",
        "wavecast trace hot t.csv -o t.csv",
        "wavecast cache-probe log.csv -o log.csv",
        "wavecast cache-probe --simulate spec.yaml --format csv -o spec.yaml",
        "wavecast cache-probe log.csv --apply d.yaml --level l1 --write --format csv -o log.csv",
        "wavecast devices show d.yaml -o d.yaml",
    ] {
        let before: Vec<(String, Vec<u8>)> =
            names(&folder).into_iter().map(|n| (n.clone(), std::fs::read(folder.join(n)).unwrap())).collect();
        let output = run(&folder, line);
        let said = stderr(&output) + &stdout(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        let reason = ["which this command reads", "is read by this command"];
        assert!(reason.iter().any(|r| said.contains(r)), "{line}: {said}");
        for (name, bytes) in &before {
            assert!(std::fs::read(folder.join(name)).unwrap() == *bytes, "{line} changes {name}");
        }
        assert_eq!(names(&folder).len(), before.len(), "{line}: {:?}", names(&folder));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_name_that_says_nothing_is_refused() {
    let folder = inputs("names");
    for (line, known) in [
        ("wavecast rank k.yaml -d a100 -o x.pdf", ".svg, .html; for any other name add --format"),
        ("wavecast explain k.yaml -d a100 -o x.pdf", ".txt, .html; for any other name add --format"),
        ("wavecast predict k.yaml -d a100 -o x.xlsx", ".json, .jsonl, .csv, .md, .txt, .html; for"),
        ("wavecast devices -o x.yaml", ".csv"),
        ("wavecast devices show a100 -o x.toml", ".yaml"),
        ("wavecast trace info t.csv -o x.csv.gz", ".csv"),
        ("wavecast trace convert t.csv -o x.gz", ".trc; for any other name add --to"),
        ("wavecast import p.csv -o x.json", ".csv, .jsonl"),
        ("wavecast fit m.csv -o x.html", ".yaml"),
        ("wavecast emit k.yaml -o x.txt", "for any other name add --lang"),
        ("wavecast cache-probe log.csv -o x.html", ".svg"),
        ("wavecast cache-probe --simulate spec.yaml -o x.json", ".log"),
        ("wavecast cache-probe log.csv --fragment -o x.json", ".yaml"),
    ] {
        let output = run(&folder, line);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(
            said.contains("does not say how to write the result") && said.contains(known),
            "{line}: {said}"
        );
        assert!(!names(&folder).iter().any(|n| n.starts_with("x.")), "{line}");
    }
    for (line, name, start) in [
        ("wavecast rank k.yaml -d a100 --format csv -o x.html", "x.html", "kernel,"),
        ("wavecast devices -o X.JSON", "X.JSON", "["),
        ("wavecast devices -o x", "x", "id "),
        ("wavecast devices -o x.txt", "x.txt", "id "),
        ("wavecast devices show a100 -o x.yaml", "x.yaml", "wavecast-device"),
        ("wavecast trace convert t.csv -o x.trc", "x.trc", "blocksize"),
        ("wavecast emit k.yaml -o x.c", "x.c", "//"),
        ("wavecast emit k.yaml --lang hip -o x.txt", "x.txt", "//"),
    ] {
        let output = run(&folder, &line.replace("emit", "emit --force"));
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.starts_with(start), "{line}: {text}");
    }
    assert!(std::fs::read_to_string(folder.join("x.c")).unwrap().contains("clCreateContext"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_finished_leaves_the_old_file() {
    let folder = inputs("half");
    std::fs::write(folder.join("old.csv"), "old").unwrap();
    let trace = std::fs::read_to_string(folder.join("t.csv")).unwrap();
    std::fs::write(folder.join("bad.csv"), trace + "what is this?\n").unwrap();
    let before = names(&folder);
    let output = run(&folder, "wavecast trace convert bad.csv --to csv -o old.csv");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bad.csv: line"), "{}", stderr(&output));
    // A limit on the size of files stands for a full disk.
    let output = run(&folder, "trap '' XFSZ; ulimit -f 1; wavecast trace synth k.yaml -o old.csv");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write to old.csv"), "{}", stderr(&output));
    assert_eq!(names(&folder), before);
    assert_eq!(std::fs::read_to_string(folder.join("old.csv")).unwrap(), "old");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn links_rights_and_devices_stay_what_they_are() {
    let folder = inputs("rights");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let done = |line: &str| {
        let output = run(&folder, line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        stdout(&output)
    };
    std::fs::write(folder.join("private.csv"), "old").unwrap();
    std::fs::set_permissions(folder.join("private.csv"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("private.csv", folder.join("link.csv")).unwrap();
    symlink("fresh.csv", folder.join("dangling.csv")).unwrap();
    done("wavecast devices -o link.csv; wavecast devices -o dangling.csv");
    let mode = std::fs::metadata(folder.join("private.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(text("private.csv").starts_with("id,") && text("fresh.csv").starts_with("id,"));
    assert!(std::fs::symlink_metadata(folder.join("link.csv")).unwrap().is_symlink());
    assert!(std::fs::symlink_metadata(folder.join("dangling.csv")).unwrap().is_symlink());
    done("umask 027; wavecast devices -o new.csv");
    let mode = std::fs::metadata(folder.join("new.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    done("wavecast devices -o /dev/null; test -c /dev/null");
    done("{ echo first; wavecast devices --format csv -o /dev/stdout; } > both");
    assert!(text("both").starts_with("first\nid,"));
    done("{ echo first >&3; wavecast devices --format csv -o /dev/fd/3; } 3> third");
    assert!(text("third").starts_with("first\nid,"));
    assert!(done("wavecast devices --format csv -o - | head -1").starts_with("id,"));
    let through = done("mkfifo pipe; cat pipe & wavecast devices --format csv -o pipe; wait");
    assert!(through.starts_with("id,"));
    assert_eq!(run(&folder, "wavecast devices --format csv -o .").status.code(), Some(2));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn programs_are_replaced_by_force_only() {
    let folder = inputs("force");
    let run = |line: &str| run(&folder, line);
    assert!(run("wavecast emit k.yaml -o a.cu").status.success());
    std::fs::write(folder.join("a.cu"), "mine").unwrap();
    let refused = run("wavecast emit k.yaml -o a.cu");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("a.cu is there already") && stderr(&refused).contains("--force"));
    assert_eq!(std::fs::read_to_string(folder.join("a.cu")).unwrap(), "mine");
    assert!(run("wavecast emit k.yaml -o a.cu --force").status.success());
    assert!(run("wavecast emit k.yaml -o all/").status.success());
    assert_eq!(run("wavecast emit k.yaml -o all").status.code(), Some(2), "the folder has it");
    let twice = run("cp k.yaml l.yaml; wavecast emit k.yaml l.yaml -o all --force");
    assert!(stderr(&twice).contains("two programs"), "{}", stderr(&twice));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_written_is_a_failure() {
    let folder = inputs("full");
    let commands = [
        "--help",
        "--version",
        "rank --help",
        "rank k.yaml -d a100",
        "rank k.yaml -d a100 --format json",
        "check k.yaml",
        "devices",
        "schema kernel",
        "completions bash",
        "emit k.yaml",
        "import p.csv --map block.x=bx --map block.y=by --map 'time [ms]=kernel_ms' --kernel k -d v100",
        "trace synth k.yaml --blocks 1",
        "trace synth k.yaml --blocks 1 --to jsonl",
        "trace synth k.yaml --blocks 1 --to trc",
        "trace synth k.yaml --blocks 1 --to scheduled",
        "cache-probe log.csv",
        "cache-probe --simulate spec.yaml",
    ];
    // Closing is another thing than redirecting to /dev/null, which is meant.
    for (to, code, says) in [
        (">&-", 1, "standard output: it is closed"),
        ("> /dev/full", 1, "standard output: No space left"),
        ("> /dev/null", 0, ""),
    ] {
        for command in commands {
            let output = run(&folder, &format!("wavecast {command} {to}"));
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(code), "{command} {to}: {said}");
            assert!(said.contains(says), "{command} {to}: {said}");
            assert!(code == 0 || !said.contains("k.yaml:"), "the kernel is not to blame: {said}");
        }
    }
    let quiet = run(&folder, "wavecast trace synth k.yaml | head -1; exit ${PIPESTATUS[0]}");
    assert_eq!(
        (quiet.status.code(), stderr(&quiet).as_str()),
        (Some(0), ""),
        "a reader may have seen enough"
    );
    let wrong = run(&folder, "wavecast rank missing.yaml --format json > /dev/full");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("missing.yaml"), "who cannot be told as a program is told as a person");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Linux opens a directory as a file, so that only reading fails: that is no failure of the output, and says what to do.
#[test]
fn directories_are_no_files() {
    let folder = folder("directories");
    std::fs::create_dir(folder.join("kernels")).unwrap();
    for command in [
        "rank kernels -d a100",
        "check kernels",
        "read kernels",
        "emit kernels",
        "compare kernels -d a100",
        "validate kernels -d a100",
        "fit kernels",
        "import kernels",
        "batch kernels",
        "cache-probe kernels",
        "trace info kernels",
        "trace reuse kernels",
    ] {
        let output = run(&folder, &format!("wavecast {command}"));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(said.contains("cannot read kernels: ") && said.contains("directory"), "{command}: {said}");
        assert!(said.contains("name a file in it"), "{command}: {said}");
    }
    let into = run(&folder, "wavecast new star && wavecast rank star.yaml -d a100 -o kernels");
    assert!(stderr(&into).contains("cannot write kernels: "), "{}", stderr(&into));
    assert!(stderr(&into).contains("name a file in it"), "{}", stderr(&into));
    std::fs::remove_dir_all(folder).unwrap();
}
