//! How sure results say that they are: reasons, intervals, and how they are shown.

mod program;

use program::{answer, number, results, stdout, wavecast};
use serde_json::Value;

/// A stream of doubles: what the model knows best.
fn stream(more: &str) -> String {
    format!(
        "wavecast: 1\nkernel: copy\nparams: {{N: 33554432}}\nfields: {{a: {{dtype: f64, size: N}}, b: {{like: a}}}}\n\
         domain: {{x: N}}\nloads: ['a[x]']\nstores: ['b[x]']\nwork: {{flops: 0}}\n{more}"
    )
}

const LAUNCH: &str = "launch: {block: [[256]], registers: 16}\n";

/// A sum in shared memory, of which the threads that take part become fewer.
const REDUCTION: &str = "wavecast: 1\nkernel: reduction\nparams: {N: 33554432}\n\
    fields: {a: {dtype: f32, size: N}, s: {dtype: f32, size: 256, space: shared}, out: {dtype: f32, size: 1}}\n\
    domain: {i: N}\nbody:\n  - store s[threadIdx.x]\n  - sync\n  - {when: threadIdx.x < 128, at: 'load s[threadIdx.x]'}\n\
    \u{20} - load a[i]\n  - atomic out[0]\nwork: {flops: 1}\nlaunch: {block: [[256]], registers: 16}\n";

fn predicted(text: &str, more: &[&str]) -> Value {
    answer(&[&["predict", "-"], more].concat(), text)["result"].clone()
}

fn codes(result: &Value) -> Vec<&str> {
    result["confidence"]["codes"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect()
}

/// The ends of an interval over the predicted time.
fn ends(result: &Value) -> [f64; 2] {
    let ends = &result["confidence"]["time_interval_s"];
    [0, 1].map(|i| ends[i].as_f64().unwrap() / number(result, "time_s"))
}

/// What every result says; the interval is around the time.
fn sound(result: &Value) {
    let confidence = &result["confidence"];
    let [low, high] = ends(result);
    assert!(0.0 < low && low < 1.0 && 1.0 < high && high.is_finite(), "{confidence}");
    assert_eq!(confidence["level"], 0.8);
    let because = confidence["because"].as_array().unwrap();
    assert_eq!(because.len(), codes(result).len());
    assert!(because.iter().all(|b| b.as_str().is_some_and(|b| !b.is_empty())), "{confidence}");
}

#[test]
fn a_stream_on_a_measured_device_has_few_reasons() {
    let v100 = predicted(&stream(LAUNCH), &["-d", "v100"]);
    sound(&v100);
    assert!(codes(&v100).is_empty(), "{:?}", codes(&v100));
    let a100 = predicted(&stream(LAUNCH), &["-d", "a100"]);
    assert_eq!(codes(&a100), ["hit-rates-inherited"]);
    assert_eq!(a100["confidence"]["because"][0].as_str().unwrap(), "hit rates inherited from h100-sxm");
}

#[test]
fn what_is_not_known_widens() {
    let [low, high] = ends(&predicted(&stream(LAUNCH), &["-d", "v100"]));
    for (text, more, expected) in [
        (stream(LAUNCH), ["-d", "gh200"], vec!["bandwidth-not-measured", "curves-inherited"]),
        (stream(LAUNCH), ["-d", "mi300x"], vec!["architecture-not-measured", "curves-of-other-maker"]),
        (stream(LAUNCH), ["-d", "l40"], vec!["architecture-not-measured", "curves-inherited"]),
        (stream("launch: {block: [[256]]}\n"), ["-d", "v100"], vec!["registers-assumed"]),
        (
            stream(&LAUNCH.replace("registers", "fold: [[2, 1, 1]], registers")),
            ["-d", "v100"],
            vec!["folded"],
        ),
        (REDUCTION.to_owned(), ["-d", "v100"], vec!["atomics", "barriers", "guarded-accesses"]),
    ] {
        let found = predicted(&text, &more);
        sound(&found);
        let codes = codes(&found);
        assert!(expected.iter().all(|code| codes.contains(code)), "{more:?}: {codes:?}");
        let [lower, higher] = ends(&found);
        // A reason that adds nothing to one end leaves it where it is, but for the last bit of its own time.
        let same = 1.0 + 1e-12;
        assert!(lower <= low * same && high <= higher * same, "{more:?}: {lower} {higher}, {low} {high}");
    }
    let cold = predicted(&stream(LAUNCH), &["-d", "v100", "--caches", "cold"]);
    assert!(codes(&cold).contains(&"cold-caches"));
}

#[test]
fn loops_that_share_their_iterations_are_regular() {
    let kernel = |to: &str| {
        format!(
            "wavecast: 1\nkernel: loop\nparams: {{N: 1048576}}\nfields: {{a: {{dtype: f64, size: N}}, b: {{like: a}}}}\n\
             domain: {{i: N}}\nbody:\n  - loop: {{k: {{from: tidx, to: {to}, step: blockDim.x*gridDim.x}}}}\n    \
             body: ['load a[k]', 'store b[k]']\nwork: {{flops: 0}}\n\
             launch: {{block: [[256]], grid: [864], registers: 16}}\n"
        )
    };
    let shared = predicted(&kernel("N-1"), &["-d", "v100"]);
    assert!(!codes(&shared).contains(&"irregular-loops"), "{:?}", codes(&shared));
    let own = predicted(&kernel("blockIdx.x*1000"), &["-d", "v100"]);
    assert!(codes(&own).contains(&"irregular-loops"), "{:?}", codes(&own));
}

#[test]
fn a_small_launch_says_so() {
    let text = stream(LAUNCH).replace("33554432", "65536");
    let found = predicted(&text, &["-d", "v100"]);
    let codes = codes(&found);
    assert!(codes.contains(&"short-launch") && codes.contains(&"few-blocks"), "{codes:?}");
    let because = found["confidence"]["because"].to_string();
    assert!(because.contains("the launch itself is ") && because.contains(" % of the time"), "{because}");
}

#[test]
fn the_roofline_has_no_interval() {
    let found = predicted(&stream(LAUNCH), &["-d", "v100", "--model", "roofline"]);
    let confidence = &found["confidence"];
    assert!(confidence["time_interval_s"].is_null() && confidence["level"].is_null(), "{confidence}");
    assert_eq!(confidence["because"][0], "the roofline model is not calibrated");
    let text = stdout(&wavecast(&["predict", "-", "-d", "v100", "--model", "roofline"], &stream(LAUNCH)));
    assert!(text.contains("no interval (because: the roofline model is not calibrated)"), "{text}");
}

#[test]
fn texts_and_tables_have_it() {
    let text = stream("launch: {block: [[128], [256]], registers: 16}\n");
    let ranking = answer(&["rank", "-", "-d", "h200"], &text);
    for result in results(&ranking) {
        sound(result);
    }
    let shown = stdout(&wavecast(&["rank", "-", "-d", "h200"], &text));
    assert!(shown.contains("\nrank 1: 80 % interval "), "{shown}");
    let csv = stdout(&wavecast(&["rank", "-", "-d", "h200", "--format", "csv"], &text));
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().ends_with(",waves,time_low_s,time_high_s"), "{csv}");
    let [low, high] =
        [0, 1].map(|i| ranking["results"][0]["confidence"]["time_interval_s"][i].as_f64().unwrap());
    let cells: Vec<f64> = lines.next().unwrap().rsplit(',').take(2).map(|c| c.parse().unwrap()).collect();
    assert!((cells[1] / low - 1.0).abs() < 1e-5 && (cells[0] / high - 1.0).abs() < 1e-5, "{csv}");
    let one = ["-", "-d", "h200", "--block", "256"];
    for command in ["predict", "explain"] {
        let shown = stdout(&wavecast(&[&[command], &one[..]].concat(), &text));
        assert!(
            shown.contains("80 % interval ") && shown.contains("hit rates inherited from h100-sxm"),
            "{shown}"
        );
    }
    let explained = answer(&[&["explain"], &one[..]].concat(), &text);
    sound(&explained["result"]);
}

#[test]
fn a_given_clock_is_no_reason() {
    // As many operations as it takes to be limited by them.
    let text = stream(LAUNCH).replace("flops: 0", "flops: 1000");
    let own = predicted(&text, &["-d", "v100"]);
    assert!(
        codes(&own).contains(&"clock-assumed") && codes(&own).contains(&"limited-by-fp"),
        "{:?}",
        codes(&own)
    );
    let given = predicted(&text, &["-d", "v100", "--clock", "1.2GHz"]);
    assert!(!codes(&given).contains(&"clock-assumed"), "{:?}", codes(&given));
}
