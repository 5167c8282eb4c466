//! `wavecast serve`: every request is answered once, whatever the lines around it; answers are those of
//! the commands; definitions hold from their line on.

mod program;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};
use wavecast::ask::{Session, serve};

fn copy(n: u64) -> Value {
    json!({"wavecast": 1, "kernel": "copy", "params": {"N": n},
        "fields": {"a": {"dtype": "f64", "size": "N"}, "b": {"like": "a"}}, "domain": [{"x": "N"}],
        "loads": ["a[x]"], "stores": ["b[x]"], "work": {"flops": 0},
        "launch": {"block": [[256], [2048]], "registers": 16}})
}

/// Answers of a server in this process, in the order in which they came.
fn answers(input: &[u8], jobs: usize) -> Vec<Value> {
    let mut output = Vec::new();
    serve(&Session::new(None), input, &mut output, NonZeroUsize::new(jobs).unwrap()).unwrap();
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn answer(request: &Value) -> Value {
    let mut all = answers(request.to_string().as_bytes(), 1);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn error(answer: &Value) -> (&str, &str) {
    assert_eq!((&answer["ok"], answer.get("result")), (&json!(false), None), "{answer}");
    let error = &answer["error"]["errors"][0];
    (error["code"].as_str().unwrap(), error["message"].as_str().unwrap())
}

#[test]
fn answers_are_those_of_the_commands() {
    let text = copy(4096).to_string();
    let series = json!({"vary": {"dram.bandwidth": "800..900 step 50 GB/s", "block": "64,256"}});
    let varied = ["--vary", "dram.bandwidth=800..900 step 50 GB/s", "--vary", "block=64,256"];
    let best = json!({"vary": ["clock=1GHz,1.5GHz"], "best": true, "threads": [64, 128]});
    let of_best = ["--vary", "clock=1GHz,1.5GHz", "--best", "--threads", "64", "--threads", "128"];
    for (op, options, more) in [
        ("rank", json!({}), &[][..]),
        ("predict", json!({"block": 128}), &["--block", "128"]),
        ("check", json!({"candidates": true}), &["--candidates"]),
        ("explain", json!({"block": 128}), &["--block", "128"]),
        ("explain", json!({"near": true}), &["--near"]),
        ("sweep", series, &varied),
        ("sweep", best, &of_best),
    ] {
        let mut arguments = vec![op, "-", "-d", "v100", "--set", "N=10000", "--format", "json"];
        arguments.extend(more);
        let printed = program::json(&program::wavecast(&arguments, &text));
        for key in ["kernel", "kernel_text"] {
            let kernel = if key == "kernel" { copy(4096) } else { json!(text) };
            let mut options = options.clone();
            options["set"] = json!({"N": 10_000});
            let request = json!({"id": 1, "op": op, key: kernel, "device": "v100", "options": options});
            let answered = answer(&request);
            assert_eq!((&answered["ok"], &answered["id"]), (&json!(true), &json!(1)));
            let (mut answered, mut printed) = (answered["result"].clone(), printed.clone());
            // Places name the text they are in, which differs.
            for document in [&mut answered, &mut printed] {
                document["warnings"] = json!([]);
                document.as_object_mut().unwrap().remove("file");
            }
            assert_eq!(answered, printed, "{op}");
        }
    }
}

#[test]
fn series_and_explanations_refuse_as_the_commands_do() {
    let defined = json!({"id": 0, "op": "define", "kernel": copy(512)});
    for (op, options, code, says) in [
        ("sweep", json!({}), "request", "`options.vary` is missing"),
        ("sweep", json!({"vary": {"NN": "1..2"}}), "unknown-param", "neither the kernel nor the device"),
        ("sweep", json!({"vary": {"N": "1..2"}, "set": {"N": 3}}), "request", "`N` varies and is set"),
        ("sweep", json!({"vary": {"block": 64}, "best": true}), "request", "options.best is given"),
        ("sweep", json!({"vary": {"block": 64}, "block": 32}), "request", "`block` varies and is given"),
        ("sweep", json!({"vary": {"clock": "1 parsec"}}), "quantity", "parsec"),
        ("explain", json!({"block": [[64], [32]]}), "request", "explain takes one"),
        ("explain", json!({"block": 2048}), "threads-per-block", "2048 > 1024"),
        ("rank", json!({"tie": 101}), "request", "`options.tie` cannot be `101`"),
        ("rank", json!({"limit": {"acesses": 5}}), "request", "`options.limit: acesses=5` is not a limit"),
    ] {
        let request = json!({"id": 1, "op": op, "kernel_ref": "copy", "device": "a100", "options": options});
        let answered = answers(format!("{defined}\n{request}").as_bytes(), 1);
        let (found, message) = error(&answered[1]);
        assert!(message.contains(says), "{options}: {message}");
        assert_eq!(found, code, "{options}: {message}");
    }
    let wrong = json!({"id": 1, "op": "sweep", "kernel": copy(512), "options": {"vary": ["N"]}});
    let answered = answer(&wrong);
    assert_eq!(answered["error"]["errors"][0]["file"], "options.vary");
    assert!(answered["error"]["errors"][0]["help"].as_str().unwrap().contains("options.vary NAME=VALUES"));
}

#[test]
fn several_kernels_are_several_results() {
    let request = json!({"id": 1, "op": "predict", "device": "a100", "kernel": [copy(512), copy(1024)]});
    let answered = answer(&request);
    let domains: Vec<&Value> =
        answered["result"].as_array().unwrap().iter().map(|r| &r["kernel"]["domain"][0]).collect();
    assert_eq!(domains, [512, 1024]);
    // One of several kernels that has no prediction does not spoil the others.
    let request = json!({"id": 1, "op": "predict", "device": "a100", "options": {"block": [2048]},
        "kernel": [copy(512), copy(1024)]});
    assert_eq!(answer(&request)["result"][1]["errors"][0]["code"], "threads-per-block");
}

#[test]
fn definitions_hold_from_their_line_on() {
    let define = |n: u64| json!({"id": n, "op": "define", "name": "k", "kernel": copy(n)});
    let ask = |id: u64| json!({"id": id, "op": "predict", "kernel_ref": "k", "device": "a100"});
    let lines = [ask(1), define(512), ask(2), ask(3), define(1024), ask(4)];
    let text = lines.map(|l| l.to_string()).join("\n");
    for jobs in [1, 4] {
        let by_id: BTreeMap<u64, Value> =
            answers(text.as_bytes(), jobs).into_iter().map(|a| (a["id"].as_u64().unwrap(), a)).collect();
        assert_eq!(by_id.len(), 6);
        assert_eq!(error(&by_id[&1]).0, "unknown-kernel");
        for (id, domain) in [(2, 512), (3, 512), (4, 1024)] {
            assert_eq!(by_id[&id]["result"]["kernel"]["domain"][0], domain, "{id}");
        }
        assert_eq!(by_id[&512]["result"]["kernels"][0], "copy");
    }
    // A parameter of a defined kernel can be changed for one request.
    let other = json!({"id": 5, "op": "predict", "kernel_ref": "copy", "options": {"set": ["N=2048"]}});
    let define = json!({"id": 0, "op": "define", "kernel": copy(512)});
    let answered = answers(format!("{define}\n{other}").as_bytes(), 1);
    assert_eq!(answered[1]["result"]["kernel"]["domain"][0], 2048);
}

#[test]
fn bad_lines_are_answered_and_the_server_goes_on() {
    let good = json!({"id": "last", "op": "check", "kernel": copy(512)}).to_string();
    for (line, id, code, says) in [
        (&b"nonsense"[..], json!(null), "request", "not JSON"),
        (b"{\"id\": 1, \"op\": \"rank\"", json!(null), "request", "not JSON"),
        (b"\xff\xfe", json!(null), "not-text", "UTF-8"),
        (b"[1, 2]", json!(null), "request", "expected an object"),
        (br#"{"op": "rank", "kernel_ref": "x"}"#, json!(null), "request", "no id"),
        (br#"{"id": [1], "op": "rnk"}"#, json!([1]), "request", "unknown variant `rnk`"),
        (br#"{"id": 1, "op": "rank", "kernle": {}}"#, json!(1), "request", "unknown field `kernle`"),
        (br#"{"id": 1, "op": "rank"}"#, json!(1), "request", "no kernel"),
        (
            br#"{"id": 1, "op": "rank", "kernel": {}, "kernel_ref": "x"}"#,
            json!(1),
            "request",
            "more than one",
        ),
        (br#"{"id": 1, "op": "rank", "kernel": 7}"#, json!(1), "wrong-type", "a mapping"),
        (br#"{"id": 1, "op": "rank", "kernel": []}"#, json!(1), "empty", "no kernel document"),
        (
            br#"{"id": 1, "op": "predict", "kernel": {}, "options": {"block": [0]}}"#,
            json!(1),
            "request",
            "65536",
        ),
        (br#"{"id": 1, "op": "check", "kernel": {}, "options": {"set": 3}}"#, json!(1), "request", "mapping"),
        (
            br#"{"id": 1, "op": "check", "kernel": {}, "options": []}"#,
            json!(1),
            "request",
            "expected an object",
        ),
    ] {
        let input = [line, b"\n\n", good.as_bytes()].concat();
        let all = answers(&input, 2);
        assert_eq!(all.len(), 2, "{all:?}");
        let refused = all.iter().find(|a| a["ok"] == false).unwrap();
        assert_eq!(refused["id"], id, "{refused}");
        let (found, message) = error(refused);
        assert!(found == code && message.contains(says), "{refused}");
        assert_eq!(all.iter().find(|a| a["ok"] == true).unwrap()["id"], "last");
    }
}

#[test]
fn ids_come_back_as_they_were_written() {
    let session = Session::new(None);
    for id in ["123456789012345678901234567890", "1.10", "1e400", "-0", r#"{"a": [1,  2]}"#, r#""\u00e9""#] {
        let sound = session.ask(&format!(r#"{{"id": {id}, "op": "check", "kernel": {}}}"#, copy(512)));
        let unsound = session.ask(&format!(r#"{{"id": {id}, "op": "dance"}}"#));
        assert!(sound.starts_with(&format!(r#"{{"id":{id},"ok":true"#)), "{sound}");
        assert!(unsound.starts_with(&format!(r#"{{"id":{id},"ok":false"#)), "{unsound}");
    }
    // A byte-order mark, as some shells send one.
    let marked = format!("\u{feff}{}\n", json!({"id": 1, "op": "check", "kernel": copy(512)}));
    assert_eq!(answers(marked.as_bytes(), 1)[0]["ok"], true);
}

#[test]
fn wrong_options_say_what_is_right() {
    for (options, says) in [
        (json!({"engine": "abacus"}), "linear, runs, enumeration"),
        (json!({"model": "crystal"}), "default or roofline"),
        (json!({"addressing": "x"}), "linear or grid"),
        (json!({"tie": 101}), "0 to 100"),
        (json!({"limit": {"patience": 1}}), "document-bytes"),
        (json!({"device_set": {"l2.size": "1MiB"}}), "capacity"),
        (json!({"block": [[1], [2]]}), "rank"),
    ] {
        let op = if options.get("tie").is_some() { "rank" } else { "predict" };
        let request =
            json!({"id": 1, "op": op, "device": "a100", "kernel": copy(64), "options": options.clone()});
        let answered = answer(&request);
        let help = answered["error"]["errors"][0]["help"].as_str().unwrap_or("none");
        assert!(help.contains(says), "{options}: {help}");
    }
}

/// Mixed requests, one in ten of them malformed; malformed ones have no id.
fn mixed(writer: usize, count: usize) -> Vec<(Option<String>, String)> {
    (0..count)
        .map(|i| {
            let id = format!("{writer}-{i}");
            let n = 256 * (1 + (i * 7 + writer) % 50);
            let request = match i % 10 {
                9 => return (None, format!("{{\"id\": \"{id}\", \"op\": ")),
                0 | 4 => json!({"id": id, "op": "rank", "device": "a100", "kernel": copy(n as u64)}),
                1 | 7 => json!({"id": id, "op": "check", "kernel": copy(n as u64)}),
                3 => {
                    json!({"id": id, "op": "define", "name": format!("w{writer}"), "kernel": copy(n as u64)})
                }
                _ => json!({"id": id, "op": "predict", "device": "v100", "kernel": copy(n as u64),
                    "options": {"block": [32 << (i % 5)]}}),
            };
            (Some(id), request.to_string())
        })
        .collect()
}

#[test]
fn eight_writers_get_every_answer_once() {
    const EACH: usize = 60;
    let mut child = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .args(["serve", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = Mutex::new(child.stdin.take().unwrap());
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || stdout.lines().map(Result::unwrap).collect::<Vec<_>>());
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let stdin = &stdin;
            scope.spawn(move || {
                for (_, line) in mixed(writer, EACH) {
                    let mut stdin = stdin.lock().unwrap();
                    stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
                }
            });
        }
    });
    drop(stdin);
    let lines = reader.join().unwrap();
    assert!(child.wait().unwrap().success(), "the end of the input is the end of the server");
    let (mut found, mut refused) = (BTreeMap::new(), 0);
    for line in lines {
        let answer: Value = serde_json::from_str(&line).unwrap();
        match answer["id"].as_str() {
            Some(id) => assert!(found.insert(id.to_owned(), line).is_none(), "{id} was answered twice"),
            None => refused += 1,
        }
    }
    // The same one by one.
    let session = Session::new(None);
    let (mut wanted, mut malformed) = (BTreeMap::new(), 0);
    for (id, line) in (0..8).flat_map(|w| mixed(w, EACH)) {
        match id {
            Some(id) => drop(wanted.insert(id, session.ask(&line))),
            None => malformed += 1,
        }
    }
    assert_eq!(refused, malformed);
    let mut differing = String::new();
    for (id, answer) in &wanted {
        if found.get(id) != Some(answer) {
            let _ = writeln!(differing, "{id}: {:?}\nnot {answer}", found.get(id));
        }
    }
    assert!(found.len() == wanted.len() && differing.is_empty(), "{differing}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let line = json!({"id": 1, "op": "check", "kernel": copy(64)}).to_string() + "\n";
    let jobs = NonZeroUsize::new(2).unwrap();
    serve(&Session::new(None), line.repeat(100).as_bytes(), Closed, jobs).unwrap();
}

#[test]
fn several_kernels_come_as_an_array_or_as_lines_of_json() {
    let (a, b) = (copy(512).to_string(), copy(1024).to_string());
    for input in [format!("[{a},\n{b}]"), format!("{a}\n{b}\n"), format!("{a}\n---\n{b}\n")] {
        let output = program::wavecast(&["rank", "-", "-d", "a100", "--format", "json"], &input);
        let domains: Vec<Value> = program::json(&output)
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["kernel"]["domain"][0].clone())
            .collect();
        assert_eq!(domains, [512, 1024], "{input}");
    }
    // A mistake in the second line has the place in the whole.
    let output =
        program::wavecast(&["rank", "-", "--format", "json"], &format!("{a}\n{}", b.replace("b[x]", "b[y]")));
    let error = &program::json(&output)["errors"][0];
    assert_eq!((output.status.code(), &error["line"]), (Some(2), &json!(2)), "{error}");
}
