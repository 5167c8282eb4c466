//! Warm, cold and empty caches: what an earlier launch left is there, or nothing is, and what waits at the end.

mod program;

use program::{answer, json, number, results, stderr, stdout, unsound, wavecast};
use serde_json::{Value, json};

/// Copies so many doubles.
fn copy(items: u64) -> String {
    format!(
        "wavecast: 1\nkernel: copy\nfields: {{a: {{dtype: f64, size: {items}}}, b: {{like: a}}}}\n\
         domain: {{i: {items}}}\nloads: ['a[i]']\nstores: ['b[i]']\n\
         work: {{flops: 1}}\nlaunch: {{block: [[256], [512]], registers: 16}}\n"
    )
}

fn predict(kernel: &str, device: &str, more: &[&str]) -> Value {
    answer(&[&["predict", "-", "-d", device], more].concat(), kernel)["result"].clone()
}

#[test]
fn small_arrays_are_loaded_and_written_back_when_caches_are_cold() {
    // 16 MB in all: far less than the last-level cache of an MI300X or the L2 of an H100.
    for device in ["mi300x", "h100-pcie"] {
        let kernel = copy(1 << 20);
        let [warm, cold] = ["warm", "cold"].map(|c| predict(&kernel, device, &["--caches", c]));
        for way in ["load", "store"] {
            let of = |result| number(result, &format!("volumes.dram.{way}.total"));
            assert!(of(&warm) < 2.0, "{device} {way}: {}", of(&warm));
            assert!((of(&cold) - 8.0).abs() < 0.1, "{device} {way}: {}", of(&cold));
        }
        assert!(number(&cold, "volumes.dram.load.reuse_launch").abs() < 1e-12);
        assert!(number(&cold, "time_s") > number(&warm, "time_s"));
        assert_eq!([unsound(&warm), unsound(&cold)], [const { Vec::<String>::new() }; 2]);
        // Large arrays leave nothing.
        let kernel = copy(1 << 30);
        let [warm, cold] = ["warm", "cold"].map(|c| predict(&kernel, device, &["--caches", c]));
        let [a, b] = [&warm, &cold].map(|r| number(r, "time_s"));
        assert!((a / b - 1.0).abs() < 1e-3, "{device}: {a} {b}");
    }
}

#[test]
fn cold_caches_never_save_anything() {
    for kernel in ["lbm-d3q19", "polybench-gemm", "conv2d-shared", "laplap2d", "transpose-naive"] {
        let path = format!("kernels/{kernel}.yaml");
        for device in ["v100", "mi210", "rx-6900-xt"] {
            let of = |caches| answer(&["predict", &path, "-d", device, "--caches", caches], "");
            let [warm, cold] = ["warm", "cold"].map(|c| of(c)["result"].clone());
            for part in ["load.total", "store.total", "load.compulsory"] {
                let [w, c] = [&warm, &cold].map(|r| number(r, &format!("volumes.dram.{part}")));
                assert!(c >= w - 1e-9, "{kernel} on {device}: {part} {c} < {w}");
            }
            assert!(number(&cold, "time_s") >= number(&warm, "time_s") * (1.0 - 1e-9), "{kernel}, {device}");
        }
    }
}

#[test]
fn counters_of_a_launch_lack_the_stores_that_still_wait() {
    let stores = |items: u64, caches: &str| {
        let result = predict(&copy(items), "h100-sxm", &["--caches", caches, "--block", "256"]);
        assert_eq!(unsound(&result), Vec::<String>::new());
        let of_field = number(&result, "fields.b.dram_store");
        let all = number(&result, "volumes.dram.store.total");
        assert!((of_field - all).abs() < 1e-9, "{of_field} {all}");
        all * items as f64
    };
    // Of a long copy half of what the L2 of 25 MiB holds at the end is stores, of the last wave and of those before.
    let items = 1 << 26;
    let waiting = stores(items, "cold") - stores(items, "empty");
    assert!((waiting / f64::from(25 << 19) - 1.0).abs() < 1e-3, "{waiting}");
    // Of one that fits into it all stores are.
    assert!(stores(1 << 20, "empty") < 1.0 && stores(1 << 20, "cold") > 8e6);
}

#[test]
fn what_waits_takes_no_time() {
    for kernel in ["lbm-d3q19", "conv2d-shared", "transpose-naive"] {
        let path = format!("kernels/{kernel}.yaml");
        for device in ["v100", "mi210", "rx-6900-xt"] {
            let of = |caches| answer(&["predict", &path, "-d", device, "--caches", caches], "");
            let [cold, empty] = ["cold", "empty"].map(|c| of(c)["result"].clone());
            let same = |part: &str| {
                let [c, e] = [&cold, &empty].map(|r| number(r, &format!("volumes.dram.{part}")));
                assert!((c - e).abs() < 1e-12, "{kernel} on {device}: {part} {c} {e}");
            };
            same("load.total");
            same("store.redundant");
            assert!(number(&empty, "volumes.dram.store.total") < number(&cold, "volumes.dram.store.total"));
            assert!(number(&empty, "time_s") <= number(&cold, "time_s"), "{kernel}, {device}");
        }
    }
}

#[test]
fn every_result_says_which() {
    let kernel = copy(1 << 20);
    for arguments in [
        &["rank", "-", "-d", "v100"][..],
        &["predict", "-", "-d", "v100", "--block", "256"],
        &["explain", "-", "-d", "v100", "--block", "256"],
        &["sweep", "-", "-d", "v100", "--vary", "block=256,512"],
        &["compare", "-", "-d", "v100", "--block", "256"],
    ] {
        for (option, word) in
            [(None, "warm"), (Some("cold"), "cold"), (Some("empty"), "empty"), (Some("warm"), "warm")]
        {
            let more = option.map_or(vec![], |o| vec!["--caches", o]);
            // A wave in the middle of a launch does not see its end.
            let word = if (arguments[0], word) == ("compare", "empty") { "cold" } else { word };
            let text = stdout(&wavecast(&[arguments, &more].concat(), &kernel));
            let second = text.lines().nth(1).unwrap_or_default();
            assert!(second.contains(&format!("{word} caches")), "{arguments:?}: {text}");
            let document = answer(&[arguments, &more].concat(), &kernel);
            assert_eq!(document["model"]["caches"], word, "{arguments:?}");
        }
    }
    let output = wavecast(&["rank", "-", "-d", "v100", "--caches", "hot"], &kernel);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("warm"), "{}", stderr(&output));
}

#[test]
fn requests_may_ask_for_either() {
    let ask = |options: Value| {
        let request = json!({"id": 1, "op": "predict", "kernel_text": copy(1 << 20), "device": "h100-pcie", "options": options});
        json(&wavecast(&["serve", "--stdio"], &format!("{request}\n")))
    };
    let of = |answer: &Value| number(&answer["result"]["result"], "volumes.dram.load.total");
    let cold = ask(json!({"caches": "cold"}));
    assert!((of(&cold) - 8.0).abs() < 0.1 && of(&ask(json!({}))) < 1.0, "{cold}");
    assert_eq!(cold["result"]["model"]["caches"], "cold");
    let wrong = ask(json!({"caches": "hot"})).to_string();
    assert!(wrong.contains("options.caches") && wrong.contains("warm or cold or empty"), "{wrong}");
}

#[test]
fn measurements_know_how_they_were_made() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("small.yaml"), copy(1 << 18)).unwrap();
    let rows = "kernel,device,caches,block,dram_load [B/item]\nsmall.yaml,v100,cold,256,8\n\
                small.yaml,v100,warm,256,0\nsmall.yaml,v100,,256,0\n";
    let path = folder.join("caches.csv");
    std::fs::write(&path, rows).unwrap();
    let path = path.to_str().unwrap();
    let predicted = |more: &[&str]| -> Vec<f64> {
        let document = answer(&[&["validate", path], more].concat(), "");
        let groups = document["groups"].as_array().unwrap();
        groups.iter().map(|g| number(&g["launches"][0], "values.dram_load.predicted")).collect()
    };
    let is_cold = |found: Vec<f64>| found.iter().map(|&n| n > 7.9).collect::<Vec<_>>();
    assert_eq!(is_cold(predicted(&[])), [true, false, false]);
    // What a row says holds whatever the option says.
    assert_eq!(is_cold(predicted(&["--caches", "cold"])), [true, false, true]);
    let text = stdout(&wavecast(&["validate", path], ""));
    assert!(text.contains("cold and warm caches"), "{text}");
    let document = answer(&["validate", path], "");
    assert_eq!(document["model"]["caches"], json!(["cold", "warm"]));
    let output = wavecast(&["validate", "-"], &rows.replace(",cold,", ",hot,"));
    assert!(stderr(&output).contains("caches cannot be `hot`"), "{}", stderr(&output));
}

#[test]
fn nsight_compute_empties_the_caches() {
    let profile = "\"ID\",\"Kernel Name\",\"Block Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
                   \"0\",\"copy\",\"(256, 1, 1)\",\"gpu__time_duration.sum\",\"usecond\",\"12.5\"\n";
    let import = |more: &[&str]| stdout(&wavecast(&[&["import", "-"], more].concat(), profile));
    let head = |caches: &str| format!("kernel,caches,block,fold,time [s]\ncopy,{caches},256x1x1");
    assert!(import(&[]).starts_with(&head("empty")), "{}", import(&[]));
    assert!(import(&["--caches", "warm"]).starts_with(&head("warm")));
}

#[test]
fn the_simulation_begins_as_the_model_does() {
    // All stays in the L2 of 40 MiB.
    let kernel = copy(1 << 16);
    for (caches, bytes) in [("warm", 0.0), ("cold", 8.0), ("empty", 8.0)] {
        let arguments = ["compare", "-", "-d", "h100-pcie", "--block", "256", "--caches", caches];
        let document = answer(&arguments, &kernel);
        for name in ["dram_load", "dram_store"] {
            let quantities = document["quantities"].as_array().unwrap();
            let one = quantities.iter().find(|q| q["name"] == name).unwrap();
            for model in ["analytic", "simulated"] {
                assert!((number(one, model) - bytes).abs() < 0.05, "{caches} {name} {model}: {one}");
            }
        }
    }
}

#[test]
fn rankings_differ_where_it_matters_only() {
    let ranked = |items: u64, caches: &str| {
        let document = answer(&["rank", "-", "-d", "a100", "--caches", caches], &copy(items));
        results(&document).iter().map(|r| number(r, "rate_per_s")).fold(0.0, f64::max)
    };
    assert!(ranked(1 << 20, "warm") > 1.2 * ranked(1 << 20, "cold"));
    assert!((ranked(1 << 29, "warm") / ranked(1 << 29, "cold") - 1.0).abs() < 1e-3);
}
