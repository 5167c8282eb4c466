//! `wavecast batch`: the requests of a file, answered in their order.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wavecast-batch-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
        command.current_dir(&self.0).arg("batch").args(arguments).output().unwrap()
    }

    /// Writes so many jobs over three kernels and two devices; one in eleven makes no sense.
    fn jobs(&self, count: usize) {
        let kernels = ["stream-triad", "star3d7", "transpose-naive"].map(|name| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("kernels/{name}.yaml"));
            serde_json::to_string(&std::fs::read_to_string(path).unwrap()).unwrap()
        });
        let line = |n: usize| {
            let (kernel, device) = (&kernels[n % 3], ["a100", "h200"][n % 2]);
            let device = if n % 11 == 7 { "a1000" } else { device };
            format!(
                "{{\"id\": {n}, \"op\": \"rank\", \"kernel_text\": {kernel}, \"device\": \"{device}\", \"options\": {{\"top\": {}}}}}\n",
                1 + n % 4
            )
        };
        std::fs::write(self.path("jobs.jsonl"), (0..count).map(line).collect::<String>()).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_same_jobs_have_the_same_bytes_on_any_number_of_threads() {
    let folder = Folder::new("threads");
    folder.jobs(60);
    for (jobs, to) in [("1", "one.jsonl"), ("2", "two.jsonl"), ("5", "five.jsonl")] {
        let output = folder.run(&["jobs.jsonl", "-o", to, "--jobs", jobs]);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(
            said(&output).contains("5 of 60 requests have no result; the first is request 8"),
            "{}",
            said(&output)
        );
    }
    let one = folder.read("one.jsonl");
    assert!(one == folder.read("two.jsonl") && one == folder.read("five.jsonl"));
    for (n, line) in one.lines().enumerate() {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&answer["id"], &answer["ok"]), (&n.into(), &(n % 11 != 7).into()));
    }
    // Without -o they go to standard output.
    assert_eq!(folder.run(&["jobs.jsonl"]).stdout, one.as_bytes());
}

#[test]
fn what_was_ended_goes_on_where_it_was() {
    let folder = Folder::new("resume");
    folder.jobs(40);
    folder.run(&["jobs.jsonl", "-o", "whole.jsonl"]);
    let whole = folder.read("whole.jsonl");
    // Cut in a line, between lines, and before the first.
    for cut in [whole.len() / 2, whole.find('\n').unwrap() + 1, 3, 0, whole.len()] {
        std::fs::write(folder.path("part.jsonl"), &whole[..cut]).unwrap();
        folder.run(&["jobs.jsonl", "-o", "part.jsonl", "--resume"]);
        assert!(folder.read("part.jsonl") == whole, "{cut}");
    }
    // Nothing is replaced by accident, nor taken for answers to other requests.
    let output = folder.run(&["jobs.jsonl", "-o", "part.jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("is there already") && said(&output).contains("--resume"),
        "{}",
        said(&output)
    );
    std::fs::write(folder.path("part.jsonl"), whole.split_inclusive('\n').skip(1).collect::<String>())
        .unwrap();
    let output = folder.run(&["jobs.jsonl", "-o", "part.jsonl", "--resume"]);
    assert!(said(&output).contains("the answer that is there the id 39"), "{}", said(&output));
    std::fs::write(folder.path("part.jsonl"), "some text\n").unwrap();
    let output = folder.run(&["jobs.jsonl", "-o", "part.jsonl", "--resume"]);
    assert!(said(&output).contains("is no answer"), "{}", said(&output));
    assert_eq!(folder.read("part.jsonl"), "some text\n");
    // Answers do not replace the requests that are read.
    let output = folder.run(&["jobs.jsonl", "-o", "jobs.jsonl", "--resume"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// Killed in the middle of its work, it leaves whole answers behind, and goes on from there.
#[test]
fn a_killed_run_loses_nothing() {
    let folder = Folder::new("killed");
    folder.jobs(900);
    folder.run(&["jobs.jsonl", "-o", "whole.jsonl"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .current_dir(&folder.0)
        .args(["batch", "jobs.jsonl", "-o", "part.jsonl", "--jobs", "1"])
        .spawn()
        .unwrap();
    let written = || std::fs::metadata(folder.path("part.jsonl")).map_or(0, |about| about.len());
    while written() == 0 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap();
    folder.run(&["jobs.jsonl", "-o", "part.jsonl", "--resume"]);
    assert!(folder.read("part.jsonl") == folder.read("whole.jsonl"));
}
