//! Code that the instruction caches do not hold: what it costs, and how a document says how long it is.

mod program;

use program::{answer, stdout, wavecast};
use serde_json::Value;

/// A sum of some neighbours, whose code has so many instructions; estimated without.
fn sum(length: Option<&str>) -> String {
    let length = length.map_or_else(String::new, |n| format!(", code_length: {n}"));
    format!(
        "wavecast: 1\nkernel: sum\nparams: {{N: 262144, M: 200}}\nfields: {{a: {{dtype: f32, size: N + M}}, \
         b: {{dtype: f32, size: N}}}}\ndomain: {{x: N}}\nbody: [{{for: {{k: 0..M-1}}, at: 'load a[x + k]'}}, 'store b[x]']\n\
         work: {{flops: 2*M{length}}}\nlaunch: {{block: [[64]], registers: 32}}\n"
    )
}

fn predict(device: &str, length: Option<&str>) -> Value {
    answer(&["predict", "-", "-d", device], &sum(length))["result"].clone()
}

fn term(result: &Value, name: &str) -> f64 {
    result["time_terms_s"][name].as_f64().unwrap()
}

#[test]
fn code_that_fits_costs_nothing() {
    let (estimated, short) = (predict("h100-sxm", None), predict("h100-sxm", Some("401")));
    assert_eq!(estimated, short);
    assert_eq!(short["time_terms_s"]["fetch"], 0.0);
    assert_eq!(short["volumes"]["l2"]["code"], 0.0);
}

#[test]
fn code_that_does_not_fit_is_fetched_in_each_wave_beside_what_is_issued() {
    let results = ["2900", "3000", "8192", "8200", "16384"].map(|n| predict("h100-sxm", Some(n)));
    let fetch = |i: usize| term(&results[i], "fetch");
    let waited = |i: usize| fetch(i) - term(&results[i], "issue");
    assert_eq!(results[0]["time_terms_s"]["fetch"], 0.0, "46 KiB fit");
    // From the nearer cache, in proportion to its length; and from the L2, 5 cycles instead of 1.8.
    assert!((waited(2) / waited(1) - 8192.0 / 3000.0).abs() < 1e-6, "{} {}", waited(2), waited(1));
    assert!((waited(3) / waited(2) - 8200.0 / 8192.0 * 5.0 / 1.8).abs() < 1e-6);
    // What else there is to do stays as it is, and nothing becomes faster.
    for pair in results.windows(2) {
        assert_eq!(pair[0]["time_terms_s"]["l1"], pair[1]["time_terms_s"]["l1"]);
        assert!(pair[1]["time_s"].as_f64() >= pair[0]["time_s"].as_f64());
    }
    assert_eq!(results[4]["limiter"], "fetch");
    // Half of the 128 KiB that do not fit, for 64 work items.
    assert_eq!(results[4]["volumes"]["l2"]["code"], 0.5 * 131_072.0 / 64.0);
    assert_eq!(results[2]["volumes"]["l2"]["code"], 0.0);
}

#[test]
fn a_person_reads_what_is_fetched() {
    let text = stdout(&wavecast(&["predict", "-", "-d", "h100-sxm"], &sum(Some("16384"))));
    let line = |start: &str| text.lines().find(|l| l.trim_start().starts_with(start)).unwrap_or_default();
    assert!(line("fetch").contains("us"), "{text}");
    assert!(line("code - L2").contains("1024.00"), "{text}");
    let text = stdout(&wavecast(&["explain", "-", "-d", "h100-sxm"], &sum(Some("16384"))));
    assert!(text.contains("fetching instructions"), "{text}");
}

#[test]
fn a_length_is_a_number_or_an_expression_of_at_least_0() {
    let formula = predict("h100-sxm", Some("M*15"));
    assert_eq!(formula, predict("h100-sxm", Some("3000")));
    let refused = wavecast(&["predict", "-", "-d", "a100", "--format", "json"], &sum(Some("-1")));
    assert_eq!(refused.status.code(), Some(2));
    let document: Value = serde_json::from_slice(&refused.stdout).unwrap();
    let error = &document["errors"][0];
    assert_eq!(error["code"], "code-length");
    assert!(error["message"].as_str().unwrap().contains("fewer than 0 instructions"), "{error}");
}

#[test]
fn lengths_beyond_all_bounds_are_refused_and_estimates_stay_numbers() {
    for length in ["1e308", "9223372036854775807", "1000000001"] {
        let refused = wavecast(&["predict", "-", "-d", "a100", "--format", "json"], &sum(Some(length)));
        let document: Value = serde_json::from_slice(&refused.stdout).unwrap();
        assert_eq!(document["errors"][0]["code"], "code-length", "{length}");
    }
    for flops in ["1e300", "9223372036854775807"] {
        let text = sum(None).replace("flops: 2*M", &format!("flops: {flops}"));
        for device in ["a100", "v100", "mi100"] {
            let result = answer(&["predict", "-", "-d", device], &text)["result"].clone();
            assert!(result["time_s"].as_f64().is_some_and(f64::is_finite), "{flops} {device}");
        }
    }
}

#[test]
fn counters_of_all_reads_of_the_l2_are_compared_with_loads_and_code() {
    let measured = "kernel,device,block,l2_load [B/item],l2_read [B/item]\nsum,h100-sxm,64,10,10\n";
    let dir = std::env::temp_dir().join(format!("wavecast-code-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("sum.yaml");
    std::fs::write(&file, sum(Some("16384"))).unwrap();
    let run = wavecast(&["validate", "-", "--format", "json", "--kernel", file.to_str().unwrap()], measured);
    let document: Value = serde_json::from_str(&stdout(&run)).unwrap();
    let text = document.to_string();
    std::fs::remove_dir_all(&dir).unwrap();
    let predicted = |quantity: &str| {
        let at = text.find(&format!("\"{quantity}\":{{\"predicted\":")).unwrap_or_else(|| panic!("{text}"));
        let rest = &text[at..][quantity.len() + "\"\":{\"predicted\":".len()..];
        rest[..rest.find([',', '}']).unwrap()].parse::<f64>().unwrap()
    };
    assert!((predicted("l2_read") - predicted("l2_load") - 1024.0).abs() < 1e-9);
}
