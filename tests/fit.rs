//! `wavecast fit`: what the model predicts under known curves is fitted back to these curves.

mod program;

use std::fmt::Write;
use std::path::PathBuf;

use program::{json, stderr, stdout, wavecast};
use serde_json::Value;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A curve file that differs from what ships for the V100.
const OTHER: &str = "
wavecast-curves: 1
id: v100-pcie-32gb
inherit: v100-pcie-32gb
about: made up
volumes:
  l1_redundant: {form: sigmoid-miss, a: 0.8, b: 5.0, c: 0.9, source: star}
  l2_reuse: {form: hill, o0: 1.4, k: 4.0, source: star}
time:
  l1_pipe: {value: 1.6, source: star}
  dram_one_way: {value: 700.0e+9, source: star}
";

/// Measurements that the model makes with those curves.
fn made(name: &str) -> PathBuf {
    let curves = path(&format!("{name}.yaml"));
    std::fs::write(&curves, OTHER).unwrap();
    let mut rows = "kernel,device,param.NX,block,l2_load [B/item],dram_load [B/item],time [us]\n".to_owned();
    for nx in ["384", "632"] {
        let arguments = [
            "rank",
            "kernels/star3d25.yaml",
            "-d",
            "v100",
            "--set",
            &format!("NX={nx}"),
            "--threads",
            "1024",
        ];
        let more = ["--fold", "1,1,1", "--curves", curves.to_str().unwrap(), "--format", "json"];
        let ranking = json(&wavecast(&[&arguments[..], &more].concat(), ""));
        for result in ranking["results"].as_array().unwrap() {
            let block: Vec<String> =
                result["config"]["block"].as_array().unwrap().iter().map(ToString::to_string).collect();
            let volume = |level: &str| result["volumes"][level]["load"]["total"].as_f64().unwrap();
            let time = 1e6 * result["time_s"].as_f64().unwrap();
            let cells = [volume("l2"), volume("dram"), time].map(|v| v.to_string());
            writeln!(rows, "star3d25,v100,{nx},{},{}", block.join("x"), cells.join(",")).unwrap();
        }
    }
    let file = path(&format!("{name}.csv"));
    std::fs::write(&file, rows).unwrap();
    file
}

fn curve<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["curves"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap()
}

#[test]
fn curves_are_found_again() {
    let measured = made("found");
    let measured = measured.to_str().unwrap();
    let file = path("found-again.yaml");
    let plot = path("found.svg");
    let arguments = ["fit", measured, "--bootstrap", "20", "--format", "json"];
    let more = ["-o", file.to_str().unwrap(), "-o", plot.to_str().unwrap()];
    let output = wavecast(&[&arguments[..], &more].concat(), "");
    assert!(output.status.success(), "{}", stderr(&output));
    let document = json(&output);
    assert_eq!(document["schema"], "wavecast/fit/1");
    let l1 = curve(&document, "l1_redundant");
    assert_eq!(l1["form"], "sigmoid-miss", "{}", l1["kept"]);
    for (parameter, expected) in l1["parameters"].as_array().unwrap().iter().zip([0.8, 5.0, 0.9]) {
        assert!((parameter["value"].as_f64().unwrap() / expected - 1.0).abs() < 1e-3, "{parameter}");
    }
    let l2 = curve(&document, "l2_reuse");
    assert_eq!(l2["form"], "hill", "{}", l2["kept"]);
    for (parameter, expected) in l2["parameters"].as_array().unwrap().iter().zip([1.4, 4.0]) {
        assert!((parameter["value"].as_f64().unwrap() / expected - 1.0).abs() < 1e-3, "{parameter}");
    }
    let time = |name: &str| document["time"].as_array().unwrap().iter().find(|t| t["name"] == name).unwrap();
    assert!((time("l1_pipe")["value"].as_f64().unwrap() / 1.6 - 1.0).abs() < 0.02, "{}", time("l1_pipe"));
    assert!((time("dram_one_way")["value"].as_f64().unwrap() / 700e9 - 1.0).abs() < 0.02);
    for errors in document["errors"].as_array().unwrap() {
        assert!(errors["after_percent"].as_f64().unwrap() < 0.5, "{errors}");
        assert!(errors["before_percent"].as_f64().unwrap() > 1.0, "{errors}");
    }
    assert!(std::fs::read_to_string(plot).unwrap().contains("L1, redundant loads"));

    // The file is what other commands take, and says where it comes from.
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("found.csv") && text.contains("sha256") && text.contains("intervals"), "{text}");
    let arguments = ["validate", measured, "--curves", file.to_str().unwrap(), "--format", "json"];
    let validation = json(&wavecast(&arguments, ""));
    for quantity in validation["quantities"].as_array().unwrap() {
        assert!(quantity["mean_absolute_error_percent"].as_f64().unwrap() < 0.5, "{quantity}");
    }
}

#[test]
fn what_is_not_told_keeps_its_default() {
    let rows = "kernel,device,block,dram_load [B/item]\nstar3d25,v100,32x2x16,10\nstar3d25,v100,16x2x32,11\n";
    let output = wavecast(&["fit", "-", "--format", "json"], rows);
    assert!(output.status.success(), "{}", stderr(&output));
    let document = json(&output);
    for name in ["l1_redundant", "l2_reuse", "l2_store", "partial_store"] {
        assert!(curve(&document, name)["kept"].as_str().unwrap().contains("too few"), "{name}");
    }
    assert_eq!(document["time"], serde_json::json!([]));
    // What was kept is what ships.
    let shipped = serde_json::to_value(wavecast::curve::shipped("v100-pcie-32gb").unwrap()).unwrap();
    assert_eq!(document["file"]["volumes"]["l1_redundant"]["o0"], shipped["volumes"]["l1_redundant"]["o0"]);
    let table = stdout(&wavecast(&["fit", "-"], rows));
    assert!(table.contains("kept") && table.contains("DRAM loads"), "{table}");
}

#[test]
fn devices_are_fitted_one_at_a_time() {
    let rows = "kernel,device,block,time [us]\nstar3d7,v100,256,10\nstar3d7,a100,256,10\n";
    let output = wavecast(&["fit", "-"], rows);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("several devices: a100-40gb, v100-pcie-32gb"), "{}", stderr(&output));
    let output = wavecast(&["fit", "-"], "kernel,device,block,time [us]\nstar3d7,v100,2048,10\n");
    assert_eq!(output.status.code(), Some(2));
    let row = "kernel,device,block,time [us]\nstar3d7,v100,256,10\n";
    let output = wavecast(&["fit", "-", "--only", "l1_pipes"], row);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("l1_pipe, launch_seconds"), "{}", stderr(&output));
}

#[test]
fn the_same_measurements_give_the_same_file() {
    let measured = made("twice");
    let run = |jobs: &str| {
        let file = path(&format!("twice-{jobs}.yaml"));
        let output = wavecast(
            &["fit", measured.to_str().unwrap(), "-q", "--jobs", jobs, "-o", file.to_str().unwrap()],
            "",
        );
        assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
        std::fs::read_to_string(file).unwrap()
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn simulated_caches_stand_in_for_measurements() {
    // Small, so that the simulation is quick.
    let small = ["--device-set", "sm.count=1", "--device-set", "l2.effective=256KiB"];
    let file = path("simulated.yaml");
    let fit = ["fit", "--simulate", "a100", "--every", "2", "--form", "hill", "-o", file.to_str().unwrap()];
    let document = json(&wavecast(&[&fit[..], &small, &["--format", "json"]].concat(), ""));
    assert_eq!(document["simulated"], true);
    let curves = document["curves"].as_array().unwrap();
    let reuse = curves.iter().find(|c| c["name"] == "l2_reuse").unwrap();
    // Least recently used: nearly all hits below the capacity, nearly none above.
    let parameter = |i: usize| reuse["parameters"][i]["value"].as_f64().unwrap();
    assert!((0.8..1.2).contains(&parameter(0)) && parameter(1) > 5.0, "{reuse}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("about: 'simulated: ") && text.contains("simulated: true"), "{text}");
    let with = ["predict", "kernels/star3d7.yaml", "-d", "a100", "--block", "64,4", "--curves"];
    assert!(wavecast(&[&with[..], &[file.to_str().unwrap()]].concat(), "").status.success());
}

#[test]
fn a_simulation_takes_no_measurements() {
    let both = wavecast(&["fit", "x.csv", "--simulate", "a100"], "");
    assert_eq!(both.status.code(), Some(2));
    assert!(stderr(&both).contains("--simulate"), "{}", stderr(&both));
    let neither = wavecast(&["fit"], "");
    assert!(stderr(&neither).contains("MEASUREMENTS"), "{}", stderr(&neither));
}

/// The report of a fit is easily taken for the curve file: what is wrong is said.
#[test]
fn a_report_is_no_curve_file() {
    let (rows, report) = (made("report"), path("report.json"));
    let written =
        wavecast(&["fit", rows.to_str().unwrap(), "--bootstrap", "0", "-o", report.to_str().unwrap()], "");
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let predict = ["predict", "kernels/star3d25.yaml", "-d", "v100", "--curves", report.to_str().unwrap()];
    let refused = wavecast(&predict, "");
    let why = stderr(&refused);
    assert!(!refused.status.success() && why.contains("an answer of Wavecast (`wavecast/fit/1`)"), "{why}");
    assert!(why.contains("-o x.yaml"), "{why}");
}
