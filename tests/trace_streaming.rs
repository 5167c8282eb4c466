//! Traces that are larger than memory: what is read block by block gives the same as what is held, and what does not
//! fit is refused with what to do.

mod program;

use std::fmt::Write;
use std::io::Write as _;
use std::path::PathBuf;

use program::{json, stderr, stdout, wavecast};
use serde_json::Value;

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("streaming");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A trace of a document with loops and barriers, as text.
fn tiled() -> String {
    let arguments =
        ["trace", "synth", "kernels/matmul-tiled.yaml", "--set", "M=64", "--set", "N=64", "--set", "K=32"];
    let output = wavecast(&[&arguments[..], &["--block", "16,16", "--to", "csv"]].concat(), "");
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

/// The same accesses with the blocks in one another, each thread in its order.
fn interleaved(text: &str) -> String {
    let (head, rows): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|l| !l.starts_with(|c: char| c.is_ascii_digit()));
    let mut by_thread: Vec<Vec<&str>> = Vec::new();
    for row in rows {
        let thread: usize = row.split(',').next().unwrap().parse().unwrap();
        by_thread.resize(by_thread.len().max(thread + 1), Vec::new());
        by_thread[thread].push(row);
    }
    let mut out = head.join("\n") + "\n";
    let mut next = vec![0; by_thread.len()];
    let mut random = 1_u64;
    let mut left: Vec<usize> = (0..by_thread.len()).filter(|&t| !by_thread[t].is_empty()).collect();
    while !left.is_empty() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = usize::try_from(random >> 33).unwrap() % left.len();
        let thread = left[at];
        let _ = writeln!(out, "{}", by_thread[thread][next[thread]]);
        next[thread] += 1;
        if next[thread] == by_thread[thread].len() {
            left.swap_remove(at);
        }
    }
    out
}

fn without_source(mut document: Value) -> Value {
    document.as_object_mut().unwrap().remove("source");
    for launch in document["launches"].as_array_mut().into_iter().flatten() {
        launch.as_object_mut().unwrap().remove("source");
    }
    document
}

#[test]
fn what_is_streamed_is_what_is_held() {
    let sorted = tiled();
    let mixed = interleaved(&sorted);
    let (a, b) = (file("sorted.csv", sorted.as_bytes()), file("mixed.csv", mixed.as_bytes()));
    let commands: [&[&str]; 7] = [
        &["cache"],
        &["cache", "--max-groups", "3"],
        &["cache", "--cores", "3", "--seeds", "2"],
        &["cache", "-d", "v100"],
        &["hot", "--cores", "2"],
        &["reuse", "--max-threads", "2048"],
        &["info"],
    ];
    for command in commands {
        let run = |path: &str, input: &str| {
            let arguments = [&["trace", command[0], path][..], &command[1..], &["--format", "json"]].concat();
            let output = wavecast(&arguments, input);
            assert!(output.status.success(), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
            without_source(json(&output))
        };
        let held = run("-", &sorted);
        assert_eq!(run(a.to_str().unwrap(), ""), held, "{command:?}");
        // Instructions and lines are numbered as they are met: ties of the hottest may come in another order.
        if command[0] != "hot" {
            assert_eq!(run(b.to_str().unwrap(), ""), held, "{command:?}, blocks in one another");
        }
    }
}

#[test]
fn little_memory_is_enough_for_few_blocks_and_refused_for_more() {
    let sorted = tiled();
    let (a, b) =
        (file("little.csv", sorted.as_bytes()), file("little-mixed.csv", interleaved(&sorted).as_bytes()));
    let run = |path: &PathBuf, more: &[&str]| {
        let path = path.to_str().unwrap();
        wavecast(
            &[&["trace"], &more[..1], &[path, "--limit", "trace-memory=1_000_000"], &more[1..]].concat(),
            "",
        )
    };
    for fits in [&["cache", "--max-groups", "1"][..], &["hot", "--max-groups", "1"], &["info"]] {
        let output = run(&a, fits);
        assert!(output.status.success(), "{fits:?}: {}", stderr(&output));
    }
    for (path, too_much) in
        [(&b, &["cache", "--max-groups", "1"][..]), (&a, &["cache", "--policy", "random"])]
    {
        let output = run(path, too_much);
        assert_eq!(output.status.code(), Some(2), "{too_much:?}");
        let said = stderr(&output);
        assert!(said.contains("trace-memory"), "{said}");
    }
    let output = wavecast(&["trace", "cache", "-", "--limit", "trace-memory=1_000_000"], &sorted);
    assert_eq!(output.status.code(), Some(2), "standard input is held");
    let wrong = wavecast(&["trace", "info", "-", "--limit", "trace-memory=much"], &sorted);
    assert!(stderr(&wrong).contains("write NAME=N with one of: trace-memory, unpacked-bytes"));
}

#[test]
fn documents_with_too_many_threads_are_refused_before_they_are_traced() {
    for command in [
        &["info", "kernels/star3d7.yaml"][..],
        &["cache", "kernels/star2d4.yaml"],
        &["cache", "kernels/star2d4.yaml", "--policy", "sequential"],
        &["hot", "kernels/star3d7.yaml"],
        &["plot", "kernels/star3d7.yaml", "-o", "/nowhere/picture.svg"],
        &["convert", "kernels/star3d7.yaml", "--to", "scheduled"],
    ] {
        let output = wavecast(&[&["trace"], command].concat(), "");
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let said = stderr(&output);
        assert!(said.contains("limit trace-memory") && said.contains("--blocks N"), "{said}");
    }
    let some = wavecast(&["trace", "info", "kernels/star3d7.yaml", "--blocks", "2", "--format", "json"], "");
    assert_eq!(json(&some)["launches"].as_array().unwrap().len(), 1);
    // This one simulates a part anyway.
    assert!(wavecast(&["trace", "reuse", "kernels/star2d5.yaml"], "").status.success());
}

#[test]
fn packed_files_unpack_to_no_more_than_they_may() {
    let mut text = String::from("blocksize: 32 1 1\n");
    for thread in 0..40_000 {
        let _ = writeln!(text, "{thread} 0 {} 4", 4096 + thread * 4);
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    let path = file("packed.trc.gz", &packer.finish().unwrap());
    let run = |limit: &str| wavecast(&["trace", "info", path.to_str().unwrap(), "--limit", limit], "");
    let output = run("unpacked-bytes=300_000");
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("unpacks to more than 300000 bytes") && said.contains("--limit unpacked-bytes="),
        "{said}"
    );
    assert!(run("unpacked-bytes=3_000_000").status.success());
}
