//! `wavecast predict`: what is known about one launch, and what is said where there is nothing.

mod program;

use program::{answer, json, number, stderr, stdout, unsound, wavecast};
use serde_json::Value;

const COPY: &str = "wavecast: 1
kernel: copy
params: {N: 1048576}
fields: {a: {dtype: f64, size: N}, b: {like: a}}
domain: {x: N}
loads: ['a[x]']
stores: ['b[x]']
work: {flops: 0}
launch: {block: [[256], [2048]], fold: [[2]], registers: 16}
";

#[test]
fn the_launch_is_the_first_of_the_file_or_the_one_given() {
    let config = |arguments: &[&str]| {
        let document = answer(&[&["predict", "-", "-d", "a100"], arguments].concat(), COPY);
        let config = &document["result"]["config"];
        format!("{} {} {}", config["block"], config["fold"], config["grid"])
    };
    assert_eq!(config(&[]), "[256,1,1] [2,1,1] [2048,1,1]");
    assert_eq!(
        config(&["--block", "64"]),
        "[64,1,1] [2,1,1] [8192,1,1]",
        "the only fold of the file, as in rank"
    );
    assert_eq!(config(&["--block", "64", "--fold", "4"]), "[64,1,1] [4,1,1] [4096,1,1]");
}

#[test]
fn a_prediction_is_what_a_ranking_says_of_the_launch() {
    let arguments = ["kernels/star3d25.yaml", "-d", "v100", "--block", "32,2,16", "--fold", "1,1,2"];
    let prediction = answer(&[&["predict"], &arguments[..]].concat(), "");
    assert_eq!(prediction["schema"], "wavecast/prediction/1");
    assert_eq!(unsound(&prediction["result"]), Vec::<String>::new());
    let ranking = answer(&[&["rank"], &arguments[..]].concat(), "");
    let mut ranked = ranking["results"][0].clone();
    for key in ["rank", "tie_group"] {
        ranked.as_object_mut().unwrap().remove(key).unwrap();
    }
    ranked["relative"] = Value::Null;
    assert_eq!(prediction["result"], ranked);
    for key in ["tool", "kernel", "device", "model"] {
        assert_eq!(prediction[key], ranking[key], "{key}");
    }
}

#[test]
fn the_roofline_is_the_slowest_of_four() {
    let document = answer(&["predict", "kernels/star3d25.yaml", "-d", "v100", "--model", "roofline"], "");
    assert_eq!(document["model"]["id"], "roofline");
    let result = &document["result"];
    let limits = ["fp", "l1", "l2", "dram"].map(|l| number(result, &format!("limits_per_s.{l}")));
    let least = limits.into_iter().fold(f64::INFINITY, f64::min);
    assert!((number(result, "rate_per_s") / least - 1.0).abs() < 1e-9);
    assert_eq!(unsound(result), Vec::<String>::new());
}

#[test]
fn no_prediction_is_an_error_document_and_code_1() {
    let arguments = ["predict", "-", "-d", "a100", "--block", "2048"];
    let program = wavecast(&[&arguments[..], &["--format", "json"]].concat(), COPY);
    assert_eq!(program.status.code(), Some(1));
    let document = json(&program);
    assert_eq!(document["schema"], "wavecast/error/1");
    assert_eq!(document["errors"][0]["code"], "threads-per-block");
    let message = "copy: block 2048x1x1, fold 2x1x1 cannot be predicted: threads_per_block 2048 > 1024";
    assert_eq!(document["errors"][0]["message"], message);
    assert!(stderr(&program).is_empty());
    let person = wavecast(&arguments, COPY);
    assert_eq!(person.status.code(), Some(1));
    assert_eq!((stdout(&person).as_str(), stderr(&person)), ("", format!("error: {message}\n")));
}

#[test]
fn of_several_kernels_each_has_its_answer() {
    let stream = format!("{COPY}---\n{}", COPY.replace("[256], ", ""));
    let output = wavecast(&["predict", "-", "-d", "a100", "--format", "json"], &stream);
    assert_eq!(output.status.code(), Some(1), "one is missing");
    let schemas: Vec<_> = json(&output).as_array().unwrap().iter().map(|d| d["schema"].clone()).collect();
    assert_eq!(schemas, ["wavecast/prediction/1", "wavecast/error/1"]);
    let lines = stdout(&wavecast(&["predict", "-", "-d", "a100", "--format", "jsonl"], &stream));
    assert_eq!(lines.lines().count(), 2);
    let csv = wavecast(&["predict", "-", "-d", "a100", "--format", "csv"], &stream);
    assert_eq!(stdout(&csv).lines().count(), 2, "a head and what could be had");
    assert!(stderr(&csv).starts_with("error: copy: "));
}

/// A second engine finds the same on a small domain.
#[test]
fn counts_can_be_verified() {
    let with = |more: &[&str]| {
        answer(&[&["predict", "kernels/star3d7.yaml", "--set", "NX=64", "--set", "NY=48"], more].concat(), "")
    };
    let split = |mut answer: Value| {
        let result = answer["result"].as_object_mut().unwrap();
        let counting = result.remove("counting").unwrap();
        (result.clone(), counting)
    };
    let (plain, counting) = split(with(&[]));
    assert_eq!((&counting["engines"], &counting["verified"]), (&serde_json::json!(["linear"]), &0.into()));
    let (verified, confirmed) = split(with(&["--verify"]));
    assert_eq!((&verified, &confirmed["verified"]), (&plain, &counting["counts"]));
    let (by_runs, runs) = split(with(&["--engine", "runs"]));
    assert_eq!((&by_runs, &runs["engines"]), (&plain, &serde_json::json!(["runs"])));
}

#[cfg(not(feature = "isl"))]
#[test]
fn an_engine_that_is_not_built_is_said_to_be_missing() {
    for command in ["rank", "predict"] {
        let output = wavecast(&[command, "-", "--engine", "isl"], COPY);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("built without isl"), "{}", stderr(&output));
        let program = wavecast(&[command, "-", "--engine", "isl", "--format", "json"], COPY);
        assert_eq!(json(&program)["errors"][0]["code"], "no-isl");
    }
}

/// After a change of the model: `INSTA_UPDATE=always cargo test --test prediction`.
#[test]
fn what_a_person_reads() {
    let arguments = ["predict", "kernels/star3d25.yaml", "-d", "v100", "--block", "32,2,16"];
    insta::assert_snapshot!("predict_star3d25", stdout(&wavecast(&arguments, "")));
}
