//! Counting has a limit of steps: what would take longer is estimated and says so, or is refused with what
//! to do about it, the same on every machine; results that need fewer steps do not depend on it.

mod program;

use program::{json, number, stderr, stdout, wavecast};
use serde_json::{Value, json as value};

/// Many accesses of many strides: no closed form holds for their union.
fn strides(last: u32, n: u64) -> String {
    value!({"wavecast": 1, "kernel": "strides", "fields": {"a": {"dtype": "f64", "size": 1_u64 << 36}},
        "domain": {"x": n}, "loads": [{"for": {"i": format!("0..{last}")}, "at": "a[x*(i+1) + 1000*i]"}],
        "work": {"flops": 1}, "launch": {"block": [[256], [64]], "registers": 32}})
    .to_string()
}

fn predict(kernel: &str, arguments: &[&str]) -> Value {
    let all = [&["predict", "-", "-d", "a100", "--format", "json"], arguments].concat();
    json(&wavecast(&all, kernel))
}

/// A limit under which this kernel is estimated: what it takes exactly depends on what is counted.
fn scarce(kernel: &str) -> String {
    let limits: Vec<String> =
        (0..12).map(|i| format!("steps={}", 400_000_000 * 2_u64.pow(i) / 3_u64.pow(i))).collect();
    let estimated =
        |limit: &&String| predict(kernel, &["--limit", limit])["result"]["counting"]["exact"] == false;
    limits.iter().find(estimated).expect("some limit makes it an estimate").clone()
}

#[test]
fn what_would_take_minutes_is_estimated() {
    for (last, least) in [(64, 1000.0), (99, 1500.0)] {
        let document = predict(&strides(last, 1 << 24), &[]);
        let result = &document["result"];
        assert_eq!(result["counting"]["exact"], false, "{document}");
        assert!(document.to_string().contains("an estimate from samples"), "{document}");
        // Each access but the first few has lines of its own.
        let load = number(result, "volumes.dram.load.total");
        assert!(load > least && load < 32.0 * f64::from(last + 1), "{last}: {load}");
    }
}

#[test]
fn estimates_are_near_what_is_counted() {
    let kernel = strides(20, 1 << 20);
    let exact = predict(&kernel, &["--limit", "steps=100000000000"]);
    let estimate = predict(&kernel, &["--limit", &scarce(&kernel)]);
    assert_eq!(exact["result"]["counting"]["exact"], true, "{exact}");
    assert_eq!(estimate["result"]["counting"]["exact"], false, "{estimate}");
    for path in ["volumes.l2.load.total", "volumes.dram.load.total"] {
        let [exact, estimate] = [&exact, &estimate].map(|d| number(&d["result"], path));
        assert!((estimate / exact - 1.0).abs() < 0.1, "{path}: {estimate}, exactly {exact}");
    }
}

#[test]
fn what_cannot_be_estimated_is_refused() {
    let kernel = strides(99, 1 << 24);
    let document = predict(&kernel, &["--limit", "steps=1000"]);
    let error = &document["errors"][0];
    assert_eq!(error["code"], "too-many-steps", "{document}");
    let (message, help) = (error["message"].as_str().unwrap(), error["help"].as_str().unwrap());
    assert!(message.contains("strides: block 256x1x1, fold 1x1x1"), "{message}");
    assert!(message.contains("more than 1000 steps") && message.contains("`steps`"), "{message}");
    assert!(help.contains("sample") && help.contains("raise the limit"), "{help}");
    let output = wavecast(&["predict", "-", "-d", "a100", "--limit", "steps=1000"], &kernel);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("help: "), "{}", stderr(&output));
    // A ranking lists it among the launches that have no result.
    let ranking =
        json(&wavecast(&["rank", "-", "-d", "a100", "--format", "json", "--limit", "steps=1000"], &kernel));
    assert_eq!(ranking["infeasible"][0]["code"], "too-many-steps", "{ranking}");
}

#[test]
fn hard_kernels_are_answered_or_refused() {
    let body = |inner: &str, loops: u32| {
        let inner = value!(inner);
        (0..loops).fold(inner, |body, i| value!({"loop": {format!("l{i}"): "0..9"}, "body": [body]}))
    };
    let of = |more: Value| {
        let mut kernel = value!({"wavecast": 1, "kernel": "k", "work": {"flops": 1},
            "fields": {"a": {"dtype": "f64", "size": 1_u64 << 40}}, "domain": {"x": 512, "y": 100, "z": 100},
            "launch": {"block": [[32, 4, 2]], "registers": 32}});
        kernel.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        kernel.to_string()
    };
    let guard = (0..40).map(|i| format!("(x*{} + y) % {} < {}", i + 3, 5 + i % 20, i + 4));
    for kernel in [
        // The number of iterations differs from thread to thread.
        of(value!({"body": [{"loop": {"k": {"from": 0, "to": "threadIdx.x + 32*blockIdx.x"}},
            "body": ["load a[3*x + 512*y + 51200*z + 777*k]"]}], "guard": "(11*x + 5*y + z) % 7 < 3"})),
        of(
            value!({"body": [body("load a[x + l0 + 3*l1 + 9*l2 + 27*l3 + 81*l4 + 243*l5 + 729*l6 + l7]", 8)]}),
        ),
        of(value!({"loads": [{"for": {"i": "1..40"}, "at": "a[(x*i) % 10007 * 31 + x/(i + 2)]"}]})),
        of(value!({"loads": ["a[9973*x + 7919*y + 104729*z]"], "launch": {"block": [[13, 7, 5]]}})),
        of(value!({"loads": [{"for": {"i": "0..20"}, "at": "a[x + 1000*i]"}],
            "guard": guard.collect::<Vec<_>>().join(" && ")})),
        of(value!({"loads": [{"for": {"i": "0..9999"}, "at": "a[x*(i + 1)]"}]})),
    ] {
        // Fewer steps than by default: this test is to be quick.
        let document = predict(&kernel, &["--limit", "steps=40000000"]);
        let error = &document["errors"][0]["code"];
        assert!(document["result"].is_object() || error == "too-many-steps", "{kernel}: {document}");
    }
}

#[test]
fn the_limit_changes_no_result_within_it() {
    for kernel in ["kernels/star3d25.yaml", "kernels/conv2d-shared.yaml", "kernels/spmv-ell.yaml"] {
        let with = |steps: &str| {
            let limit = format!("steps={steps}");
            let arguments = ["rank", kernel, "-d", "a100", "--format", "csv", "--limit", limit.as_str()];
            stdout(&wavecast(&arguments, ""))
        };
        assert!(with("200000000") == with("1000000000000"), "{kernel}");
    }
}

#[test]
fn threads_change_no_estimate() {
    let kernel = strides(30, 1 << 23);
    let scarce = scarce(&kernel);
    let with = |jobs: &str| {
        let limit = ["--limit", scarce.as_str()];
        let arguments =
            [&["rank", "-", "-d", "a100", "--format", "json", "--jobs", jobs][..], &limit].concat();
        stdout(&wavecast(&arguments, &kernel))
    };
    let one = with("1");
    assert!(one.contains("lines-sampled"), "{one}");
    for jobs in ["2", "3"] {
        assert!(with(jobs) == one, "{jobs} threads");
    }
}

#[test]
fn folds_are_limited_as_those_of_documents_are() {
    let kernel = strides(1, 1 << 16);
    for command in ["rank", "predict", "explain"] {
        let output = wavecast(&[command, "-", "-d", "a100", "--fold", "65535"], &kernel);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("from 1 to 4096"), "{}", stderr(&output));
    }
    let folds: Vec<String> = (1..=20).map(|i| format!("4096,{i},1")).collect();
    let folds = folds.iter().flat_map(|fold| ["--fold", fold]);
    let long = strides(99, 1 << 16);
    let output = wavecast(&["rank", "-", "-d", "a100"].into_iter().chain(folds).collect::<Vec<_>>(), &long);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("at most 5000000 are considered"), "{}", stderr(&output));
}

/// Tiles of 24 cells with a border of 10 in rows of 4,116: neither divides the other, and borders overlap.
#[test]
fn borders_of_tiles_that_are_no_divisor_of_a_row_are_counted_in_closed_form() {
    let text = include_str!("../kernels/hotspot.yaml");
    let sizes = ["BX=8", "BY=8", "TX=3", "TY=6", "TF=10"].map(|size| ["--set", size]).concat();
    let document = predict(text, &[&sizes[..], &["--block", "8,8"]].concat());
    assert_eq!(document["result"]["counting"]["engines"], value!(["linear"]), "{document}");
    // A tile of TF = 3 is small enough for the other engine.
    let sizes = ["BX=8", "BY=8", "TX=3", "TY=1", "TF=3", "H=256"].map(|size| ["--set", size]).concat();
    let checked = predict(text, &[&sizes[..], &["--block", "8,8", "--verify"]].concat());
    let counting = &checked["result"]["counting"];
    assert_eq!(counting["counts"], counting["verified"], "{checked}");
}
