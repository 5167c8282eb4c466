//! `wavecast cache-probe` as scripts and people meet it.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

const CACHE: &str = "{name: small, line: 64, sets: 8, ways: 4, replacement: lru, hit: 40, miss: 200, noise: 0.03, \
                     outliers: 0.01, mshrs: 64, mshrs_per_warp: 6}";

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("wavecast-probe-{}-{name}", std::process::id()));
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

#[test]
fn simulated_logs_go_round_and_fill_a_device_file() {
    let spec = file("spec.yaml", CACHE);
    let log = file("log.csv", "");
    let (spec, log) = (spec.to_str().unwrap(), log.to_str().unwrap());
    stdout(&["cache-probe", "--simulate", spec, "-o", log]);
    let found: Value = serde_json::from_str(&stdout(&["cache-probe", log, "--format", "json"])).unwrap();
    let s = &found["structure"];
    assert_eq!(found["schema"], "wavecast/probe/1");
    assert_eq!((&s["line_bytes"]["value"], &s["capacity_bytes"]["value"]), (&64.into(), &2048.into()), "{s}");
    assert_eq!((&s["mapping"]["value"]["kind"], &s["replacement"]["value"]), (&"bits".into(), &"lru".into()));
    let text = stdout(&["cache-probe", log, "--level", "l1"]);
    assert!(text.contains("8 sets of 4") && text.contains("line modulo 8"), "{text}");

    let device = file("device.yaml", "# mine\nwavecast-device: 1\nid: mine\ninherit: gtx-470\n");
    let device = device.to_str().unwrap();
    let apply = ["cache-probe", log, "--level", "l1", "--apply", device];
    let difference = stdout(&apply);
    assert!(difference.contains("+  line: {value: 64 B, source: probe"), "{difference}");
    assert!(!std::fs::read_to_string(device).unwrap().contains("64 B"), "only shown");
    stdout(&[&apply[..], &["--write"]].concat());
    assert!(std::fs::read_to_string(device).unwrap().starts_with("# mine\n"));
    let shown: Value =
        serde_json::from_str(&stdout(&["devices", "show", device, "--format", "json"])).unwrap();
    assert_eq!(shown["l1"]["line"]["source"], "probe");
    assert!(stdout(&apply).contains("says this already"));
}

#[test]
fn a_log_that_was_cut_loses_its_last_row_and_says_so() {
    let whole = "# run n=64 s=8 element=4 cold=0 order=stride\n".to_owned() + &"0,30.0\n8,31.5\n".repeat(9);
    let cut = file("cut.csv", &whole[..whole.len() - 3]);
    let found: Value =
        serde_json::from_str(&stdout(&["cache-probe", cut.to_str().unwrap(), "--format", "json"])).unwrap();
    assert_eq!(found["loads"], 17);
    assert!(found["warnings"][0].as_str().unwrap().contains("line 19"), "{found}");
    let text = stdout(&["cache-probe", cut.to_str().unwrap()]);
    assert!(text.contains("warning: ") && text.contains("was cut in line 19"), "{text}");
}

#[test]
fn n_experiments_and_pictures() {
    let spec = file("spec2.yaml", CACHE);
    let spec = spec.to_str().unwrap();
    let times = file("mshr.csv", &stdout(&["cache-probe", "--simulate", spec, "--mshr"]));
    let text = stdout(&["cache-probe", "--mshr", times.to_str().unwrap()]);
    assert!(text.contains("MSHRs            64") && text.contains("mshrs_per_warp: {value: 6"), "{text}");
    let hash = file("hash.csv", &stdout(&["cache-probe", "--simulate", spec, "--set-hash"]));
    let text = stdout(&["cache-probe", "--set-hash", hash.to_str().unwrap()]);
    assert!(text.contains("set bits"), "{text}");
    let sizes = file("sizes.csv", "bytes,cycles\n1024,30\n2048,30\n4096,30\n8192,90\n16384,90\n32768,90\n");
    let picture = file("sizes.svg", "");
    stdout(&["cache-probe", sizes.to_str().unwrap(), "-o", picture.to_str().unwrap()]);
    assert!(std::fs::read_to_string(&picture).unwrap().contains("latency over size"));
    let chases = ["33,1", "40,1,cold", "64,16,shuffled,rounds=3"].map(|c| ["--chase", c]).concat();
    let log = file("chases.csv", &stdout(&[&["cache-probe", "--simulate", spec][..], &chases].concat()));
    stdout(&["cache-probe", log.to_str().unwrap(), "-o", picture.to_str().unwrap()]);
    assert!(std::fs::read_to_string(&picture).unwrap().contains("misses by place"));
}

#[test]
fn what_is_wrong_is_said() {
    let refused = |arguments: &[&str], says: &str| {
        let output = wavecast(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(says), "{arguments:?}: {text}");
    };
    let broken = file("broken.txt", "Next_id Latency\n1 250\n2 x\n");
    let unsaid = file("unsaid.txt", "Next_id Latency\n1 250\n2 240\n3 250\n");
    refused(&["cache-probe"], "LOGS");
    refused(&["cache-probe", "/nowhere"], "check the path");
    refused(&["cache-probe", broken.to_str().unwrap()], "line 3");
    refused(&["cache-probe", unsaid.to_str().unwrap()], "--n ELEMENTS");
    let index = file(
        "index.csv",
        &("index,latency\n".to_owned() + &"0,30\n1,31\n".repeat(4) + "2147483647,30\n0,30\n"),
    );
    refused(&["cache-probe", index.to_str().unwrap()], "too few for the 2147483648 places");
    refused(&["cache-probe", index.to_str().unwrap(), "--n", "64"], "index below n");
    let bomb = file("bomb.csv.gz", "");
    let mut packer = GzEncoder::new(std::fs::File::create(&bomb).unwrap(), Compression::fast());
    std::io::copy(&mut std::io::repeat(b'1').take(1 << 26), &mut packer).unwrap();
    packer.finish().unwrap();
    refused(&["cache-probe", bomb.to_str().unwrap()], "a line of at most 64 KiB");
    let spec = file("bad.yaml", "{line: 48, ways: 4, hit: 10, miss: 20}");
    refused(&["cache-probe", "--simulate", spec.to_str().unwrap()], "power of two");
    let spec = file("good.yaml", CACHE);
    refused(&["cache-probe", "--simulate", spec.to_str().unwrap(), "--chase", "x"], "N,STRIDE");
}

/// What the GPUs' own latencies show, where they are.
#[test]
fn measured_latencies_have_their_brackets() {
    let folder = std::path::Path::new("/work/shared/measured/latency_vs_size");
    let all: [(&str, &[[f64; 2]]); 3] = [
        ("v100", &[[118.0, 130.0], [5770.0, 6348.0]]),
        ("a100_40", &[[144.0, 160.0], [19946.0, 21941.0], [38878.0, 42767.0]]),
        ("rx6900xt", &[[15.0, 18.0], [118.0, 144.0], [3938.0, 4333.0], [125_026.0, 206_295.0]]),
    ];
    for (name, brackets) in all {
        let path = folder.join(format!("{name}.csv"));
        if !path.is_file() {
            println!("skipped: there is no {}", path.display());
            continue;
        }
        let text = stdout(&["cache-probe", path.to_str().unwrap(), "--format", "json"]);
        let found: Value = serde_json::from_str(&text).unwrap();
        let levels = found["levels"].as_array().unwrap();
        let edges = levels.iter().map(|l| &l["edge"]).filter(|e| !e.is_null());
        let found: Vec<Value> = edges.map(|e| e["bracket_kib"].clone()).collect();
        assert_eq!(found, brackets.iter().map(|b| Value::from(b.to_vec())).collect::<Vec<_>>(), "{name}");
    }
}
