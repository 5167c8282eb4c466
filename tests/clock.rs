//! The clock that a run had: what follows it, where it is named, and how it is given.

mod program;

use std::path::PathBuf;

use program::{answer, json, number, stderr, stdout, unsound, wavecast};
use serde_json::{Value, json};
use wavecast::ask::Session;

const KERNEL: &str = "wavecast: 1\nkernel: star\nparams: {N: 96}\nfields:\n  a: {dtype: f64, shape: [N + 2, N + 2, N + 2], halo: 1}\n  \
                      b: {like: a}\ndomain: {x: N, y: N, z: N}\n\
                      loads: ['a[x, y, z]', 'a[x - 1, y, z]', 'a[x + 1, y, z]', 'a[x, y - 1, z]', 'a[x, y + 1, z]', 'a[x, y, z - 1]', 'a[x, y, z + 1]']\n\
                      stores: ['b[x, y, z]']\nwork: {flops: 8}\n\
                      launch: {block: [[32, 4, 2], [64, 4, 1], [16, 4, 4], [128, 2, 1]], registers: 24}\n";

fn predict(more: &[&str]) -> Value {
    answer(&[&["predict", "-", "-d", "a100"], more].concat(), KERNEL)
}

/// A file of this test.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn cycles_and_the_l2_follow_and_the_memory_does_not() {
    let (own, half) = (predict(&[]), predict(&["--clock", "705MHz"]));
    let ratio = |term: &str| {
        let [own, half] = [&own, &half].map(|p| number(&p["result"], &format!("time_terms_s.{term}")));
        assert!(own > 0.0, "{term}");
        half / own
    };
    // Of 570 cycles to the A100's memory 213 are the L2's; the others take as many nanoseconds as before.
    let latency = 2.0 * (213.0 + (570.0 - 213.0) / 2.0) / 570.0;
    for (term, expected) in [
        ("fp", 2.0),
        ("l1", 2.0),
        ("l2", 2.0),
        ("latency", latency),
        ("dispatch", 2.0),
        ("launch", 1.0),
        ("dram", 1.0),
    ] {
        assert!((ratio(term) - expected).abs() < 1e-9, "{term}: {}", ratio(term));
    }
    assert_eq!(own["result"]["volumes"], half["result"]["volumes"]);
    assert!(number(&half["result"], "time_s") > number(&own["result"], "time_s"));
    assert_eq!(unsound(&half["result"]), Vec::<String>::new());
    // A number that was set is what it was set to, and its own clock changes nothing.
    let set = ["--device-set", "l2.bandwidth=2000GB/s"];
    let [own_set, half_set] = [&set[..], &[&set[..], &["--clock", "705MHz"]].concat()].map(predict);
    let l2 = |p: &Value| number(&p["result"], "time_terms_s.l2");
    assert!((l2(&half_set) / l2(&own_set) - 1.0).abs() < 1e-12);
    assert_eq!(predict(&["--clock", "1410 MHz"]), own);
}

#[test]
fn every_answer_names_it() {
    let kernel = file("clock.yaml", KERNEL);
    let (at, shown) = (["-d", "a100", "--clock", "0.705 GHz"], "warm caches, clock 705 MHz, curves");
    for question in [
        &["rank", &kernel][..],
        &["predict", &kernel],
        &["explain", &kernel, "--near"],
        &["sweep", &kernel, "--vary", "N=32,64", "--block", "32,4,2"],
        &["compare", &kernel, "--block", "32,4,2", "--warm-waves", "0", "--set", "N=32", "--caches", "cold"],
    ] {
        let text = wavecast(&[question, &at].concat(), "");
        let shown = if question[0] == "compare" { "cold caches, clock 705 MHz, curves" } else { shown };
        assert!(stdout(&text).contains(shown), "{question:?}: {}{}", stdout(&text), stderr(&text));
        let document = answer(&[question, &at].concat(), "");
        assert_eq!(document["model"]["clock"], "705 MHz", "{question:?}");
        let own = answer(&[question, &["-d", "a100"]].concat(), "");
        assert_eq!(own["model"].get("clock"), None, "{question:?}");
    }
    let picture =
        wavecast(&[&["rank", &kernel, "-o", &kernel.replace(".yaml", ".svg")], &at[..]].concat(), "");
    assert!(picture.status.success(), "{}", stderr(&picture));
    let drawn = std::fs::read_to_string(kernel.replace(".yaml", ".svg")).unwrap();
    assert!(drawn.contains("clock 705 MHz"));
}

#[test]
fn a_clock_that_is_none_is_refused() {
    for (clock, why) in [
        ("0", "`0` is no clock: it must be more than 0; write a number and its unit, for example 1.41GHz"),
        ("fast", "`fast` is no clock; write a number and its unit"),
        ("1.41", "`1.41` has no unit; write a number and its unit"),
        ("1.41kHz", "`1.41kHz` is no clock of a GPU, which can have 1 MHz to 100 GHz"),
    ] {
        for command in ["rank", "predict", "explain", "validate", "fit", "compare"] {
            let output = wavecast(&[command, "-", "--clock", clock], KERNEL);
            assert_eq!(output.status.code(), Some(2), "{command} {clock}");
            assert!(
                stderr(&output).contains(why) && stderr(&output).contains("--clock"),
                "{}",
                stderr(&output)
            );
        }
        let document = json(&wavecast(&["rank", "-", "--clock", clock, "--format", "json"], KERNEL));
        assert!(document["errors"][0]["message"].as_str().unwrap().contains(why), "{document}");
    }
    let twice = wavecast(&["rank", "-", "--clock", "1GHz", "--device-set", "clock=1.2GHz"], KERNEL);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("the clock is given twice") && stderr(&twice).contains("leave out one"));
    let varies = wavecast(&["sweep", "-", "--clock", "1GHz", "--vary", "clock=1GHz,1.2GHz"], KERNEL);
    assert_eq!(varies.status.code(), Some(2));
    assert!(stderr(&varies).contains("`clock` varies and --clock is given"), "{}", stderr(&varies));
}

#[test]
fn requests_have_it_too() {
    let session = Session::new(None);
    let ask = |options: Value| -> Value {
        let request =
            json!({"id": 1, "op": "predict", "kernel_text": KERNEL, "device": "a100", "options": options});
        serde_json::from_str(&session.ask(&request.to_string())).unwrap()
    };
    let time = |answer: &Value| number(&answer["result"]["result"], "time_s");
    // A device that was read for one clock is not taken for another.
    let [own, slow, none] = [json!({}), json!({"clock": "705MHz"}), json!({"clock": null})].map(ask);
    assert_eq!(slow["result"]["model"]["clock"], "705 MHz");
    assert_eq!(own, none);
    assert!(time(&slow) > time(&own));
    let line = predict(&["--clock", "705MHz"]);
    assert_eq!(slow["result"]["result"], line["result"], "as the command line says");
    for (wrong, why) in [
        (json!("fast"), "`options.clock`: `fast` is no clock; write a number and its unit"),
        (json!(1_410_000_000), "`options.clock`: `1410000000` has no unit"),
        (json!(0), "`options.clock`: `0` is no clock: it must be more than 0"),
    ] {
        let error = ask(json!({"clock": wrong}))["error"]["errors"][0].clone();
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
        assert!(error["column"].as_u64().is_some_and(|column| column > 1), "{error}");
    }
    let twice = ask(json!({"clock": "1GHz", "device_set": {"clock": "1GHz"}}));
    assert!(twice["error"]["errors"][0]["message"].as_str().unwrap().contains("given twice"), "{twice}");
}

/// Predicted times of the launches of the kernel, as if they had been measured, at some clocks.
fn measured(clocks: &[&str]) -> Vec<(String, String, f64)> {
    let mut rows = Vec::new();
    for clock in clocks {
        let ranking = answer(&["rank", "-", "-d", "a100", "--clock", clock], KERNEL);
        for result in program::results(&ranking) {
            let block: Vec<String> =
                result["config"]["block"].as_array().unwrap().iter().map(Value::to_string).collect();
            rows.push(((*clock).to_owned(), block.join("x"), number(result, "time_s")));
        }
    }
    rows
}

#[test]
fn rows_of_measurements_have_clocks_of_their_own() {
    file("clocks-star.yaml", KERNEL);
    let rows = measured(&["705 MHz", "1.1 GHz", "1.41 GHz"]);
    let mut csv = vec!["kernel,device,block,time [s],clock".to_owned()];
    let mut lines = Vec::new();
    for (i, (clock, block, time)) in rows.iter().enumerate() {
        csv.push(format!("clocks-star.yaml,a100,{block},{time},{clock}"));
        let hertz: wavecast::device::RunClock = clock.parse().unwrap();
        // The unit stands in the cell, or in the head.
        let (key, value) = match i % 2 {
            0 => ("clock", json!(clock)),
            _ => ("clock [Hz]", json!(hertz.hertz())),
        };
        let line = json!({"kernel": "clocks-star.yaml", "device": "a100", "block": block, "time [s]": time, key: value});
        lines.push(line.to_string());
    }
    let (csv, lines) = (file("clocks.csv", &csv.join("\n")), file("clocks.jsonl", &lines.join("\n")));
    for path in [&csv, &lines] {
        // Rows that name a clock have that one, whatever else is given.
        let found = answer(&["validate", path, "--clock", "1.2GHz"], "");
        let time = &found["quantities"][0];
        assert_eq!((time["quantity"].as_str(), time["launches"].as_u64()), (Some("time"), Some(12)));
        assert!(number(time, "mean_absolute_error_percent") < 1e-9, "{time}");
        assert_eq!(found["model"]["clock"], json!(["705 MHz", "1.1 GHz"]));
        let clocks: Vec<&Value> = found["groups"].as_array().unwrap().iter().map(|g| &g["clock"]).collect();
        assert_eq!(clocks, [&json!("705 MHz"), &json!("1.1 GHz"), &Value::Null]);
    }
    let text = stdout(&wavecast(&["validate", &csv], ""));
    assert!(
        text.contains("warm caches, several clocks, curves") && text.contains(" on a100-40gb at 705 MHz"),
        "{text}"
    );
    // Rows without a clock have that of the option.
    let mut plain = vec!["kernel,device,block,cycles [1]".to_owned()];
    plain.extend(rows[..4].iter().map(|(_, b, t)| format!("clocks-star.yaml,a100,{b},{}", t * 705e6)));
    let plain = file("clock-plain.csv", &plain.join("\n"));
    let error = |more: &[&str]| {
        let found = answer(&[&["validate", &plain], more].concat(), "");
        number(&found["quantities"][0], "mean_absolute_error_percent")
    };
    let text = stdout(&wavecast(&["validate", &plain, "--clock", "705MHz"], ""));
    assert!(text.contains("warm caches, clock 705 MHz, curves"), "{text}");
    assert!(error(&["--clock", "705MHz"]) < 1e-9 && error(&[]) > 5.0, "{}", error(&[]));
}

#[test]
fn a_fit_uses_the_clock_of_each_row() {
    file("fitted-star.yaml", KERNEL);
    let rows = measured(&["705 MHz", "1.1 GHz"]);
    let csv = |clock: bool| {
        let mut lines = vec!["kernel,device,block,time [s],clock".to_owned()];
        lines.extend(rows.iter().map(|(c, b, t)| {
            format!("fitted-star.yaml,a100,{b},{t},{}", if clock { c.as_str() } else { "" })
        }));
        lines.join("\n")
    };
    let before = |name: &str, text: &str| {
        let found = answer(&["fit", &file(name, text), "--bootstrap", "0"], "");
        let errors = found["errors"].as_array().unwrap();
        let time = errors.iter().find(|e| e["quantity"] == "time").unwrap_or_else(|| panic!("{found}"));
        number(time, "before_percent")
    };
    assert!(before("fitted.csv", &csv(true)) < 1e-9);
    assert!(before("fitted-plain.csv", &csv(false)) > 2.0);
}

#[test]
fn a_row_whose_clock_is_none_is_named() {
    let text =
        "kernel,block,time [us],clock\nk,256,1,1.41GHz\nk,256,1,\nk,256,1,fast\nk,256,1,0\nk,256,1,1410\n";
    let output = wavecast(&["validate", "-", "-d", "a100"], text);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    for what in [
        "<stdin>:4:9",
        "`fast` is no clock",
        "<stdin>:5:9",
        "`0` is no clock: it must be more than 0",
        "<stdin>:6:9",
        "`1410` has no unit",
        "write a number and its unit, for example 1.41GHz or 765MHz",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    let head = wavecast(&["validate", "-"], "kernel,block,time [us],clock [cycles]\nk,256,1,3\n");
    assert!(stderr(&head).contains("`cycles` is no unit of `clock`"), "{}", stderr(&head));
    let cell = wavecast(
        &["validate", "-"],
        "{\"kernel\": \"k\", \"block\": 256, \"time [us]\": 1, \"clock\": 1410}\n",
    );
    assert!(stderr(&cell).contains("`1410` has no unit"), "{}", stderr(&cell));
}
