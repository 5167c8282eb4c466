//! Every result says which numbers of the device somebody changed, and which changes are in vain.

mod program;

use program::{answer, stderr, stdout, wavecast};
use serde_json::json;

const COPY: &str = "{wavecast: 1, kernel: copy, fields: {a: {dtype: f64, size: 16777216}, b: {like: a}},
    domain: {x: 16777216}, loads: ['a[x]'], stores: ['b[x]'], launch: {block: [[256], [2048]], registers: 16}}";
const CHANGED: [&str; 4] = ["-d", "a100", "--device-set", "l2.effective=20MiB"];

#[test]
fn results_name_what_was_changed() {
    for command in ["rank", "predict", "explain"] {
        let arguments = [&[command, "-"], CHANGED.as_slice()].concat();
        let text = stdout(&wavecast(&arguments, COPY));
        let second = text.lines().nth(1).unwrap();
        assert!(
            second.contains("warm caches, device changed (l2.effective=20MiB), curves a100-40gb"),
            "{second}"
        );
        let found = answer(&arguments, COPY);
        assert_eq!(found["device"]["changed"], json!({"l2.effective": "20MiB"}), "{command}");
        let same = answer(&[command, "-", "-d", "a100"], COPY);
        assert_eq!(same["device"].as_object().unwrap().len(), 2, "{command}");
    }
}

#[test]
fn what_is_changed_in_vain_is_said() {
    let text = stdout(&wavecast(&["predict", "-", "-d", "a100", "--device-set", "l2.capacity=80MiB"], COPY));
    let said =
        "`l2.capacity` changes nothing in predictions; the model counts with l2.effective (--device-set)";
    assert!(text.contains(said), "{text}");
    let text = stdout(&wavecast(&[&["predict", "-"], CHANGED.as_slice()].concat(), COPY));
    assert!(!text.contains("changes nothing"), "{text}");
}

/// What the warning says is true: predictions are the same with any value.
#[test]
fn numbers_that_are_not_read_change_nothing() {
    let own = answer(&["rank", "-", "-d", "mi300x"], COPY);
    let numbers = answer(&["devices", "show", "mi300x"], "");
    let mut seen = 0;
    for (path, value) in [
        ("l1.shared_latency", "1 cycles"),
        ("l2.capacity", "1 GiB"),
        ("l2.instances", "3"),
        ("dram.theoretical", "9 TB/s"),
        ("dispatch.round_robin", "3"),
    ] {
        let (section, name) = path.split_once('.').unwrap();
        assert!(!numbers[section][name].is_null(), "{path}");
        let set = format!("{path}={value}");
        let other = answer(&["rank", "-", "-d", "mi300x", "--device-set", &set], COPY);
        assert_eq!(other["results"], own["results"], "{path}");
        seen += usize::from(other["warnings"].to_string().contains("no-effect"));
    }
    assert_eq!(seen, 5);
}

#[test]
fn curves_say_where_they_come_from() {
    let curves = |arguments: &[&str]| {
        let found = answer(&[&["predict", "-", "-d", "a100"], arguments].concat(), COPY);
        found["model"]["curves"].as_str().unwrap().to_owned()
    };
    assert_eq!(curves(&["--curves", "h200"]), "inherited from h200");
    assert_eq!(curves(&["--curves", "v100"]), "inherited from v100-pcie-32gb");
    assert_eq!(curves(&["--curves", "a100"]), "a100-40gb (hit rates inherited from h100-sxm)");
    let file = curves(&["--curves", "fits/v100-pcie-32gb.yaml"]);
    assert_eq!(file, "v100-pcie-32gb of the file fits/v100-pcie-32gb.yaml");
    let said = stderr(&wavecast(&["predict", "-", "--curves", "v101"], COPY));
    assert!(said.contains("neither curves nor a file `v101`; these curves ship: v100-pcie-32gb, "), "{said}");
}

#[test]
fn rows_leave_warnings_and_refusals_to_standard_error() {
    for format in ["csv", "md", "jsonl"] {
        let arguments = ["rank", "-", "-d", "a100", "--device-set", "l2.capacity=80MiB", "--format", format];
        let output = wavecast(&arguments, COPY);
        let said = stderr(&output);
        assert!(said.contains("warning: `l2.capacity` changes nothing"), "{format}: {said}");
        assert!(said.contains("note: 1 of 2 candidates cannot run"), "{format}: {said}");
        assert!(!stdout(&output).contains("changes nothing"), "{format}");
    }
    let said = stderr(&wavecast(&["rank", "-", "-d", "a100", "--format", "json"], COPY));
    assert!(said.is_empty(), "{said}");
}

#[test]
fn rows_have_the_last_level_cache() {
    let read = |device: &str| {
        let text = stdout(&wavecast(&["rank", "-", "-d", device, "--format", "csv"], COPY));
        let lines: Vec<Vec<String>> =
            text.lines().map(|l| l.split(',').map(str::to_owned).collect()).collect();
        let at = lines[0].iter().position(|name| name == "llc_load_B").unwrap();
        lines[1][at].clone()
    };
    let json = answer(&["rank", "-", "-d", "mi300x"], COPY);
    let exact = json["results"][0]["volumes"]["llc"]["load"]["total"].as_f64().unwrap();
    assert!((read("mi300x").parse::<f64>().unwrap() - exact).abs() < 1e-4 * exact);
    assert_eq!(read("a100"), "");
    assert!(stdout(&wavecast(&["rank", "-", "-d", "mi300x"], COPY)).contains("LLC load"));
}

#[test]
fn a_series_over_devices_is_about_none_of_them() {
    let arguments = ["sweep", "-", "--vary", "device=a100,mi300x", "--block", "256"];
    let found = answer(&arguments, COPY);
    let ids: Vec<_> = found["devices"].as_array().unwrap().iter().map(|d| &d["device"]["id"]).collect();
    assert_eq!(ids, [&json!("a100-40gb"), &json!("mi300x")]);
    assert!(found["devices"][1]["model"]["curves"].as_str().unwrap().starts_with("inherited from"));
    let lines = stdout(&wavecast(&[arguments.as_slice(), &["--format", "jsonl"]].concat(), COPY));
    let second: serde_json::Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["device"]["id"], "mi300x");
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("devices.svg");
    stdout(&wavecast(&[arguments.as_slice(), &["-o", file.to_str().unwrap()]].concat(), COPY));
    let picture = std::fs::read_to_string(&file).unwrap();
    assert!(picture.contains("copy: over device") && !picture.contains("NVIDIA"), "{picture}");
    assert!(!picture.contains("curves a100"), "{picture}");
}
