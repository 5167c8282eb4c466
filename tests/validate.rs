//! `wavecast validate`: figures that follow from the rows, formats, what cannot be resolved.

mod program;

use std::path::PathBuf;

use program::{json, stderr, stdout, wavecast};
use serde_json::Value;

const MEASURED: &str = "tests/measured/star3d7.csv";

fn validation(arguments: &[&str], input: &str) -> Value {
    let output = wavecast(&[&["validate"], arguments, &["--format", "json"]].concat(), input);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output) + &stderr(&output));
    json(&output)
}

/// A file of measurements.
fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn errors_follow_from_the_rows() {
    let document = validation(&[MEASURED], "");
    assert_eq!(document["schema"], "wavecast/validation/1");
    let launches = document["groups"][0]["launches"].as_array().unwrap();
    assert_eq!(document["summary"]["predicted"], launches.len());
    for quantity in document["quantities"].as_array().unwrap() {
        let name = quantity["quantity"].as_str().unwrap();
        let errors: Vec<f64> = launches
            .iter()
            .map(|l| &l["values"][name])
            .map(|v| v["predicted"].as_f64().unwrap() / v["measured"].as_f64().unwrap() - 1.0)
            .collect();
        let mean = |of: &dyn Fn(f64) -> f64| {
            100.0 * errors.iter().map(|&e| of(e)).sum::<f64>() / errors.len() as f64
        };
        let near = |key: &str, value: f64| (quantity[key].as_f64().unwrap() - value).abs() < 1e-9;
        assert!(near("mean_absolute_error_percent", mean(&f64::abs)), "{quantity}");
        assert!(near("bias_percent", mean(&|e| e)), "{quantity}");
        let most = errors.iter().map(|e| 100.0 * e.abs()).fold(0.0, f64::max);
        let worst = quantity["worst"][0]["error_percent"].as_f64().unwrap();
        assert!((worst.abs() - most).abs() < 1e-9, "{quantity}");
    }
    let order = &document["order"];
    assert!(order["spearman"].as_f64().unwrap() > 0.5 && order["kendall"].as_f64().unwrap() > 0.4);
    assert!(order["first_five_percent"].as_f64().unwrap() >= order["first_percent"].as_f64().unwrap());
}

#[test]
fn totals_and_rows_per_item_say_the_same() {
    // 4096 x 4096 work items that load 8 B each.
    let kernel = "wavecast: 1\nkernel: copy\nfields: {a: {dtype: f64, size: 16777216}, b: {like: a}}\n\
                  domain: {i: 16777216}\nloads: ['a[i]']\nstores: ['b[i]']\n";
    file("copy.yaml", kernel);
    let text = "kernel,device,block,dram_load [B],dram_store [B/item],time [ms],cycles [1]\n\
                copy.yaml,v100,256,134217728,8,0.33,\ncopy.yaml,v100,256,134217730,8,0.35,\n\
                copy.yaml,v100,512,134217728,8,,500000\n";
    let path = file("copies.csv", text);
    let document = validation(&[path.to_str().unwrap()], "");
    assert_eq!(document["summary"], serde_json::json!({"rows": 3, "launches": 2, "predicted": 2}));
    let values = &document["groups"][0]["launches"][0]["values"];
    let dram = values["dram_load"]["measured"].as_f64().unwrap();
    assert!((dram - 8.0).abs() < 1e-6, "{dram}");
    assert!((values["time"]["measured"].as_f64().unwrap() - 0.34e-3).abs() < 1e-12, "the median of two");
    assert_eq!(document["groups"][0]["order"]["launches"], 2, "times and cycles are compared");
}

#[test]
fn every_format_has_the_same_launches() {
    let run = |format: &str| stdout(&wavecast(&["validate", MEASURED, "--format", format], ""));
    let launches = validation(&[MEASURED], "")["groups"][0]["launches"].as_array().unwrap().len();
    assert_eq!(run("csv").lines().count(), launches + 1);
    assert!(run("csv").starts_with("kernel,variant,params,device,block,fold,limiter,l2_load_measured,"));
    let markdown = run("md");
    assert!(markdown.contains("## Order of launches") && markdown.contains("| L2 loads |"), "{markdown}");
    assert!(run("table").contains("first choice"));
    assert_eq!(serde_json::from_str::<Value>(&run("jsonl")).unwrap(), validation(&[MEASURED], ""));
}

#[test]
fn halves_make_the_whole() {
    let lines = |half: &[&str]| -> Vec<u64> {
        let document = validation(&[&[MEASURED], half].concat(), "");
        let launches = document["groups"][0]["launches"].as_array().unwrap().clone();
        launches.iter().map(|l| l["lines"][0].as_u64().unwrap()).collect()
    };
    let (mut first, second) = (lines(&["--half", "1"]), lines(&["--half", "2"]));
    assert!(first.len().abs_diff(second.len()) <= 1);
    first.extend(second);
    first.sort_unstable();
    assert_eq!(first, lines(&[]));
    assert_ne!(lines(&["--half", "1", "--seed", "2"]), lines(&["--half", "1"]));
}

#[test]
fn what_cannot_be_resolved_is_said() {
    let refused = |text: &str, arguments: &[&str]| {
        let output = wavecast(&[&["validate", "-"], arguments].concat(), text);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        stderr(&output)
    };
    let said = refused("kernel,device,block,time [us]\nnone,v100,256,1\nnone,v100,128,1\n", &[]);
    assert!(said.contains("`none`") && said.contains("--kernel FILE"), "{said}");
    assert_eq!(said.matches("error").count(), 1, "once: {said}");
    let said = refused("kernel,block,time [us]\nstar3d7,256,1\n", &[]);
    assert!(said.contains("no device") && said.contains("-d"), "{said}");
    let said = refused("kernel,device,block,time [us],param.NXX\nstar3d7,v100,256,1,3\n", &[]);
    assert!(said.contains("NXX"), "{said}");
    let said = refused("kernel,device,block,time [us]\nstar3d7,v100,256,1\n", &["--curves", "none.yaml"]);
    assert!(said.contains("none.yaml"), "{said}");
    let nothing = wavecast(&["validate", "-"], "kernel,device,block,time [us]\nstar3d7,v100,2048,1\n");
    assert_eq!(nothing.status.code(), Some(1));
    assert!(stdout(&nothing).contains("threads_per_block 2048 > 1024"), "{}", stdout(&nothing));
}

/// What rows say themselves goes before what is given; that is told.
#[test]
fn a_device_given_beside_a_column_of_devices_is_told_to_change_nothing() {
    let said = |device: &str| validation(&[MEASURED, "-d", device], "")["warnings"].clone();
    let warnings = said("a100");
    assert_eq!(warnings[0]["code"], "no-effect", "{warnings}");
    assert!(warnings[0]["message"].as_str().unwrap().contains("`device`"), "{warnings}");
    assert_eq!(said("v100"), serde_json::json!([]));
    let rows = "kernel,block,clock,time [us]\nstar3d7,32x8x1,1.2GHz,5000\nstar3d7,64x8x1,1.2GHz,5000\n";
    let path = file("clocks.csv", rows);
    let of = |clock: &str| validation(&[path.to_str().unwrap(), "-d", "v100", "--clock", clock], "");
    assert!(of("1.3GHz")["warnings"][0]["message"].as_str().unwrap().contains("`clock`"));
    assert_eq!(of("1.2GHz")["warnings"], serde_json::json!([]));
}
