//! `wavecast trace` and `compare` as scripts and people meet them.

use std::fmt::Write;
use std::process::{Command, Output};

use serde_json::Value;

const TRC: &str = "blocksize: 32 1 1\n";

/// A trace of two warps: each loads 8 lines twice, then stores one.
fn trace() -> std::path::PathBuf {
    let mut text = TRC.to_owned();
    for thread in 0..64 {
        for load in 0..16 {
            let address = 4096 + load % 8 * 128 + thread % 32 * 4 + thread / 32 * 1024;
            let _ = writeln!(text, "{thread} 0 {address} 4");
        }
        let _ = writeln!(text, "{thread} 1 {} 4", 65_536 + thread * 4);
    }
    let path = std::env::temp_dir().join(format!(
        "wavecast-{}-{:?}.trc",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&path, text).unwrap();
    path
}

fn wavecast(arguments: &[&str]) -> Output {
    let root = env!("CARGO_MANIFEST_DIR");
    Command::new(env!("CARGO_BIN_EXE_wavecast")).current_dir(root).args(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = wavecast(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[arguments, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn a_trace_is_described_converted_and_analysed() {
    let path = trace();
    let path = path.to_str().unwrap();
    let info = json(&["trace", "info", path]);
    assert_eq!(info["schema"], "wavecast/trace-info/1");
    let launch = &info["launches"][0];
    assert_eq!((&launch["loads"], &launch["stores"]), (&Value::from(1024), &Value::from(64)));

    let again = stdout(&["trace", "convert", path, "--to", "trc"]);
    assert_eq!(again, std::fs::read_to_string(path).unwrap());
    assert!(stdout(&["trace", "convert", path, "--to", "scheduled"]).starts_with("32 2\n0x1000 R 0 0 0\n"));

    let reuse = json(&["trace", "reuse", path, "--ablate", "--by-rule", "--measured", "16,16"]);
    assert_eq!(reuse["requests"], 32);
    assert_eq!(reuse["misses"]["compulsory"], 16);
    assert_eq!(
        (&reuse["runs"][0]["miss_rate_percent"], &reuse["runs"][0]["error_points"]),
        (&50.0.into(), &0.0.into())
    );
    assert_eq!(reuse["runs"].as_array().unwrap().len(), 6);
    assert_eq!(reuse["rules"].as_array().unwrap().len(), 7);

    let cache = json(&["trace", "cache", path, "--cores", "2", "--seeds", "3"]);
    assert_eq!((&cache["reads"], &cache["read_misses"]), (&16.0.into(), &8.0.into()));
    assert_eq!(cache["runs"].as_array().unwrap().len(), 3);
    let levels = json(&["trace", "cache", path, "-d", "v100"]);
    assert_eq!(levels["volumes"]["dram_load_bytes"], 16 * 128);

    let hot = json(&["trace", "hot", path, "--size", "512", "--ways", "0"]);
    assert_eq!(hot["misses"], 32);
    let sweep = json(&["trace", "sweep", path]);
    assert_eq!(sweep["points"].as_array().unwrap().len(), 20);
}

#[test]
fn headers_name_what_was_taken_and_nothing_is_negative() {
    let path = trace();
    let path = path.to_str().unwrap();
    for command in ["cache", "reuse", "hot"] {
        assert!(stdout(&["trace", command, path]).contains("by fermi"), "{command}");
        assert!(stdout(&["trace", command, path, "--index", "modulo"]).contains("by modulo"), "{command}");
    }
    assert!(stdout(&["trace", "cache", path]).contains("requests of whole warps"));
    assert!(stdout(&["trace", "reuse", path]).contains("of whole, half and quarter warps"));
    // Fewer MSHRs may save misses: in words, not as a negative number.
    let kernel = ["trace", "reuse", "kernels/polybench-atax.yaml", "--set", "NX=256", "--set", "NY=256"];
    let mut saved = 0;
    for mshrs in ["8", "0"] {
        let arguments = [&kernel[..], &["--mshrs", mshrs]].concat();
        let text = stdout(&arguments);
        assert!(!text.contains(", -") && !text.contains(" -1"), "{text}");
        let negative = json(&arguments)["misses"]["mshr"].as_i64().unwrap() < 0;
        assert_eq!(text.contains("misses fewer than with MSHRs without end"), negative, "{text}");
        saved += usize::from(negative);
    }
    assert_eq!(saved, 1);
}

#[test]
fn pictures_are_drawn() {
    let path = trace();
    let svg = std::env::temp_dir().join(format!("wavecast-{}.svg", std::process::id()));
    let (path, svg) = (path.to_str().unwrap(), svg.to_str().unwrap());
    for command in [
        &["reuse", path][..],
        &["sweep", path],
        &["plot", path],
        &["experiment", "--seeds", "1", "--max-groups", "4"],
    ] {
        stdout(&[&["trace"], command, &["-o", svg]].concat());
        let text = std::fs::read_to_string(svg).unwrap();
        assert!(text.starts_with("<svg") && text.contains("</text>"), "{command:?}");
    }
    assert_eq!(wavecast(&["trace", "plot", path]).status.code(), Some(2));
}

#[test]
fn kernel_documents_are_traced_and_compared() {
    let made = stdout(&[
        "trace",
        "synth",
        "kernels/transpose-naive.yaml",
        "--block",
        "16,16",
        "--blocks",
        "2",
        "--to",
        "trc",
    ]);
    assert!(made.starts_with("blocksize: 16 16 1\n"));
    assert_eq!(made.lines().count(), 1 + 2 * 256 * 2);
    let found =
        json(&["compare", "kernels/star2d5.yaml", "--block", "32,8", "-d", "v100", "--warm-waves", "1"]);
    assert_eq!(found["schema"], "wavecast/comparison/1");
    for quantity in found["quantities"].as_array().unwrap() {
        let error = quantity["error_percent"].as_f64().unwrap_or(0.0).abs();
        assert!(error < 3.0 || !quantity["reasons"].as_array().unwrap().is_empty(), "{quantity}");
    }
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    let path = trace();
    let text = std::fs::read_to_string(&path).unwrap().replace("5 0 4116 4", "5 0 x 4");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let output = wavecast(&["trace", "info", path, "--format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    let error: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(error["errors"][0]["code"], "trace-malformed");
    assert!(error["errors"][0]["message"].as_str().unwrap().contains("line 87: expected"), "{error}");
    assert_eq!(json(&["trace", "info", path, "--lenient"])["skipped"], 2);
    assert_eq!(wavecast(&["trace", "info", path, "--from", "csv"]).status.code(), Some(2));
    assert_eq!(wavecast(&["trace", "reuse", path, "--lenient", "--launch", "2"]).status.code(), Some(2));
}

#[test]
fn reference_results_are_compared_by_one_command() {
    let found = stdout(&["trace", "validate", "tests/trace_reuse/reference.json"]);
    assert_eq!(found, "17 of 17 cases equal (136 runs)\n");
    let wrong = std::env::temp_dir().join(format!("wavecast-{}-wrong.json", std::process::id()));
    let text = std::fs::read_to_string("tests/trace_reuse/reference.json").unwrap();
    std::fs::write(&wrong, text.replacen("\"ticks\":", "\"ticks\":1", 1)).unwrap();
    let output = wavecast(&["trace", "validate", wrong.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("16 of 17 cases equal"));
}

#[test]
fn a_profile_stands_beside_the_ablation_with_a_picture() {
    let path = trace();
    let path = path.to_str().unwrap();
    let csv = "\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n\
        \"mm\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum\",\"24\"\n\
        \"mm\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum\",\"8\"\n";
    let profile = format!("{path}.ncu.csv");
    let picture = format!("{path}.svg");
    std::fs::write(&profile, csv).unwrap();
    let reuse = json(&["trace", "reuse", path, "--ablate", "--measured", &profile]);
    assert_eq!(reuse["measured"]["miss_rate_percent"], 25.0);
    for run in reuse["runs"].as_array().unwrap() {
        let of = |key: &str| run["types"][key].as_i64().unwrap();
        let all = of("compulsory") + of("capacity") + of("associativity").max(0) + of("mshr").max(0);
        assert_eq!(Some(all), run["memory_misses"].as_i64(), "types of {} add up", run["run"]);
        assert_eq!(
            run["error_points"].as_f64(),
            Some((run["miss_rate_percent"].as_f64().unwrap() - 25.0).abs())
        );
    }
    stdout(&["trace", "reuse", path, "--ablate", "--measured", &profile, "-o", &picture]);
    let drawn = std::fs::read_to_string(&picture).unwrap();
    for text in ["measured: 25.00 %", "no-associativity", "no-divergence", "compulsory", "mshr"] {
        assert!(drawn.contains(text), "{text}");
    }
    // Two kernels, and the trace does not say which it is.
    std::fs::write(&profile, format!("{csv}{}", csv.replace("mm", "mt"))).unwrap();
    let output = wavecast(&["trace", "reuse", path, "--measured", &profile]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("name one with --measured-kernel: mm, mt"), "{said}");
    stdout(&["trace", "reuse", path, "--measured", &profile, "--measured-kernel", "mt"]);
}

#[test]
fn launches_count_from_one() {
    let path = trace();
    let path = path.to_str().unwrap();
    for (command, launch) in [("cache", "0"), ("reuse", "0"), ("hot", "2")] {
        let output = wavecast(&["trace", command, path, "--launch", launch]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command}: {error}");
        assert!(error.contains(&format!("there is no launch {launch} among 1")), "{command}: {error}");
    }
    let kernel = wavecast(&["trace", "info", "kernels/star2d5.yaml", "--blocks", "1", "--launch", "0"]);
    assert_eq!(kernel.status.code(), Some(2), "{}", String::from_utf8_lossy(&kernel.stderr));
}

#[test]
fn the_parts_of_several_cores_add_up() {
    let common =
        ["--blocks", "20", "--static-batches", "--mshrs", "2", "--deviation", "20", "--size", "1024"];
    let run = |more: &[&str]| {
        let arguments = [&["trace", "reuse", "kernels/vec3.yaml"], &common[..], more].concat();
        json(&arguments)
    };
    let whole = run(&["--cores", "3"]);
    let parts = ["0/3", "1/3", "2/3"].map(|part| run(&["--part", part]));
    for (at, run) in whole["runs"].as_array().unwrap().iter().enumerate() {
        let of_parts = || parts.iter().map(|part| &part["runs"][at]);
        for count in ["memory_misses", "misses", "latency_misses", "compulsory", "refusals", "infinite"] {
            let sum: u64 = of_parts().map(|part| part[count].as_u64().unwrap()).sum();
            assert_eq!(run[count], sum, "{count} of {}", run["run"]);
        }
        let slowest = of_parts().map(|part| part["ticks"].as_u64().unwrap()).max();
        assert_eq!(run["ticks"].as_u64(), slowest);
    }
    let requests: u64 = parts.iter().map(|part| part["requests"].as_u64().unwrap()).sum();
    assert_eq!(whole["requests"], requests);
    // As many threads as the blocks 0, 3, ..., 18 have.
    assert_eq!(parts[0]["settings"]["simulated_threads"], 7 * 32);
    let refused = wavecast(&["trace", "reuse", "kernels/vec3.yaml", "--part", "3/3"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("a part from 0 and how many there are, as in 2/15")
    );
}
