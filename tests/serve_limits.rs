//! What protects a server: time limits, cancellation, lanes, files, lengths of lines, signals.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::num::NonZeroUsize;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wavecast::ask::{Serving, Session, serve};

fn copy() -> Value {
    json!({"wavecast": 1, "kernel": "copy", "fields": {"a": {"dtype": "f64", "size": 4096}},
        "domain": {"x": 4096}, "loads": ["a[x]"], "work": {"flops": 0}, "launch": {"block": [[64]]}})
}

/// A ranking that nobody waits for: each launch takes long, and there are many.
fn endless(id: impl Into<Value>) -> Value {
    json!({"id": id.into(), "op": "rank", "device": "a100", "kernel": {"wavecast": 1, "kernel": "endless",
        "fields": {"a": {"dtype": "f64", "size": 1_u64 << 36}}, "domain": {"x": 1_u64 << 24},
        "loads": [{"for": {"i": "0..99"}, "at": "a[x*(i+1) + 1000*i]"}], "work": {"flops": 0},
        "launch": {"block": {"x": "1..1024", "y": "1..64"}, "registers": 32}}})
}

fn predict(id: impl Into<Value>) -> Value {
    json!({"id": id.into(), "op": "predict", "device": "a100", "kernel": copy()})
}

fn cancel(id: impl Into<Value>, target: impl Into<Value>) -> Value {
    json!({"id": id.into(), "op": "cancel", "target": target.into()})
}

/// A server that is asked line by line.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wavecast"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["serve", "--stdio"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn send(&mut self, request: &Value) {
        self.send_text(&format!("{request}\n"));
    }

    fn send_text(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// The next answers by their id.
    fn answers(&mut self, number: usize) -> BTreeMap<String, Value> {
        (0..number).map(|_| self.answer()).map(|a| (a["id"].to_string(), a)).collect()
    }

    /// What comes until the server ends, and whether it ends well.
    fn rest(mut self) -> (Vec<Value>, bool) {
        let rest = self.output.lines().map(|l| serde_json::from_str(&l.unwrap()).unwrap()).collect();
        (rest, self.child.wait().unwrap().success())
    }
}

fn code(answer: &Value) -> &str {
    answer["error"]["errors"][0]["code"].as_str().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[test]
fn a_request_has_so_much_time() {
    for (op, options) in [
        ("rank", json!({})),
        ("explain", json!({})),
        ("sweep", json!({"vary": {"block.x": "1..1024"}})),
        ("sweep", json!({"vary": {"clock": "1..2 step 0.1 GHz"}, "best": true})),
    ] {
        let mut long = endless(1);
        (long["op"], long["options"]) = (json!(op), options);
        let input = [long, predict(2)].map(|r| format!("{r}\n")).concat();
        let (mut output, started) = (Vec::new(), Instant::now());
        let jobs = NonZeroUsize::MIN;
        let serving = Serving { time_limit: Some(Duration::from_millis(200)), ..Serving::new(jobs) };
        serve(&Session::new(None), input.as_bytes(), &mut output, serving).unwrap();
        assert!(started.elapsed() < Duration::from_secs(30), "{op} goes on after its time is over");
        let lines = String::from_utf8(output).unwrap();
        let mut answers: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        answers.sort_by_key(|a| a["id"].as_u64());
        assert_eq!(code(&answers[0]), "time-limit", "{op}");
        let message = answers[0]["error"]["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains("0.2 s"), "{op}: {message}");
        assert_eq!(answers[1]["ok"], true, "{}", answers[1]);
    }
}

#[test]
fn requests_are_cancelled_by_their_id() {
    let mut server = Server::start(&["--jobs", "1", "--time-limit", "0"]);
    server.send(&endless("slow"));
    // Those that run take turns; more wait.
    for id in 0..6 {
        server.send(&endless(id));
    }
    server.send(&cancel("a", "slow"));
    let answers = server.answers(2);
    assert_eq!(code(&answers["\"slow\""]), "cancelled");
    assert_eq!(answers["\"a\""]["result"]["cancelled"], 1, "{answers:?}");
    assert_eq!(answers["\"a\""]["result"]["target"], "slow");
    // One that waits; one that was answered already; one that never was; no target.
    for (id, cancelled) in [(json!(5), 1), (json!("slow"), 0), (json!("5"), 0)] {
        server.send(&cancel("b", id.clone()));
        let answers = server.answers(1 + cancelled);
        assert_eq!(answers["\"b\""]["result"]["cancelled"], cancelled, "{id}: {answers:?}");
    }
    server.send(&json!({"id": "c", "op": "cancel"}));
    assert_eq!(code(&server.answer()), "request");
    for id in 0..5 {
        server.send(&cancel(100 + id, id));
    }
    assert_eq!(server.answers(10).len(), 10);
    // The workers are free again, and nothing is left to wait for.
    server.send(&predict("last"));
    assert_eq!(server.answer()["ok"], true);
    server.input = None;
    let (rest, well) = server.rest();
    assert!(rest.is_empty() && well, "{rest:?}");
}

#[test]
fn short_requests_do_not_wait_for_rankings() {
    let mut server = Server::start(&["--jobs", "1", "--time-limit", "0"]);
    for id in 0..20 {
        server.send(&endless(id));
    }
    for id in 100..120 {
        server.send(&predict(id));
        let answer = server.answer();
        assert_eq!((&answer["id"], &answer["ok"]), (&json!(id), &json!(true)));
    }
    // Nor does a short ranking wait for the longest ones that run.
    for id in 10..20 {
        server.send(&cancel("c", id));
        assert_eq!(server.answers(2).len(), 2);
    }
    for id in 0..9 {
        server.send(&cancel("c", id));
        assert_eq!(server.answers(2).len(), 2);
    }
    let mut short = predict("short");
    short["op"] = json!("rank");
    server.send(&short);
    assert_eq!(server.answer()["id"], "short");
    server.send(&cancel("c", 9));
    assert_eq!(server.answers(2).len(), 2);
}

#[test]
fn files_are_opened_only_where_that_is_allowed() {
    let folder = std::env::temp_dir().join(format!("wavecast-serve-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let pipe = path("pipe.yaml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(path("large.yaml"), "# ".repeat(1 << 20)).unwrap();
    let with = |device: &str| {
        let mut request = predict(1);
        request["device"] = json!(device);
        request
    };
    let mut server = Server::start(&["-d", "devices/a40.yaml"]);
    for device in ["devices/a100-40gb.yaml", &pipe, "/dev/zero", "/nowhere.yaml"] {
        server.send(&with(device));
        assert_eq!(code(&server.answer()), "files-not-allowed", "{device}");
    }
    // The device of the server is its owner's choice.
    let mut own = predict(2);
    own.as_object_mut().unwrap().remove("device");
    server.send(&own);
    assert_eq!(server.answer()["result"]["device"]["id"], "a40");
    let mut server = Server::start(&["--allow-files"]);
    server.send(&with("devices/a100-40gb.yaml"));
    assert_eq!(server.answer()["ok"], true);
    for (device, says) in [
        (pipe.as_str(), "not a regular file"),
        ("/dev/zero", "not a regular file"),
        (&path("large.yaml"), "more than 1048576 bytes"),
        ("/nowhere.yaml", "No such file"),
    ] {
        server.send(&with(device));
        let answer = server.answer();
        assert_eq!(code(&answer), "cannot-read");
        assert!(answer.to_string().contains(says), "{device}: {answer}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn lines_have_a_longest_length() {
    let mut server = Server::start(&["--request-bytes", "1000"]);
    server.send_text(&format!("{{\"id\": 1, \"op\": \"{}\"}}\n", "x".repeat(1000)));
    let answer = server.answer();
    assert_eq!((code(&answer), &answer["id"]), ("document-too-large", &Value::Null));
    assert!(answer.to_string().contains("more than 1000 bytes"), "{answer}");
    server.send(&predict(2));
    assert_eq!(server.answer()["ok"], true);
}

#[test]
fn folds_are_limited_as_those_of_documents_are() {
    let mut server = Server::start(&[]);
    for op in ["rank", "predict"] {
        let mut request = predict(1);
        (request["op"], request["options"]) = (json!(op), json!({"fold": [4097, 1, 1]}));
        server.send(&request);
        let answer = server.answer();
        assert!(answer.to_string().contains("the most is 4096"), "{answer}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_finishes_what_is_being_answered() {
    for signal in ["-TERM", "-INT"] {
        let mut server = Server::start(&["--jobs", "1", "--time-limit", "2"]);
        for id in 0..20 {
            server.send(&endless(id));
        }
        // Everything before this was taken.
        server.send(&predict("taken"));
        assert_eq!(server.answer()["id"], "taken");
        // Who answers the first goes on with the next, however busy the machine is.
        let first = server.answer();
        server.send_text("{\"id\": \"half a line");
        let pid = server.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        // The input stays open: it is the signal that ends the server.
        let input = server.input.take();
        let (rest, well) = server.rest();
        drop(input);
        assert!(well, "{signal} ends it with 0");
        assert!(rest.iter().any(|a| code(a) == "time-limit"), "what was begun before is finished: {rest:?}");
        let all = [&first].into_iter().chain(&rest);
        let mut codes: Vec<(u64, &str)> = all.map(|a| (a["id"].as_u64().unwrap(), code(a))).collect();
        codes.sort_unstable();
        let ids: Vec<u64> = codes.iter().map(|c| c.0).collect();
        assert_eq!(ids, (0..20).collect::<Vec<_>>(), "each is answered once");
        // The first ones were being worked on, until their time was over; the last ones were not begun.
        assert_eq!((codes[0].1, codes[19].1), ("time-limit", "ending"), "{codes:?}");
    }
}

/// A prediction that takes longer than anybody waits for.
fn slow(id: impl Into<Value>) -> Value {
    let mut request = endless(id);
    // Arrays that are accessed in ways of their own are sampled each by itself, for a third of a second or more.
    for array in 1..=12 {
        let name = format!("a{array}");
        request["kernel"]["fields"][&name] = json!({"like": "a"});
        let load =
            json!({"for": {"i": "0..99"}, "at": format!("{name}[x*(i + 1 + {array}) + {}*i]", 1000 + array)});
        request["kernel"]["loads"].as_array_mut().unwrap().push(load);
    }
    (request["op"], request["options"]) = (json!("predict"), json!({"engine": "sampling"}));
    request["options"]["limit"] = json!({"steps": 1_000_000_000_000_u64});
    request
}

#[test]
fn an_engine_that_was_asked_for_heeds_the_time_limit() {
    let mut server = Server::start(&["--time-limit", "0.2"]);
    server.send(&slow(1));
    assert_eq!(code(&server.answer()), "time-limit");
}

/// Whoever waits for each answer is answered by the thread that reads.
#[test]
fn a_reader_that_works_long_is_relieved() {
    let mut server = Server::start(&["--jobs", "1", "--time-limit", "0"]);
    // Soon after another request, and after a pause.
    for (round, pause) in [0, 300].into_iter().enumerate() {
        server.send(&predict("first"));
        assert_eq!(server.answer()["ok"], true, "{round}");
        std::thread::sleep(Duration::from_millis(pause));
        server.send(&slow("slow"));
        std::thread::sleep(Duration::from_millis(20));
        // One works at a time: this waits.
        server.send(&predict("second"));
        server.send(&cancel("cancel", "slow"));
        let answers = server.answers(3);
        assert_eq!(code(&answers["\"slow\""]), "cancelled", "{round}");
        assert_eq!(answers["\"cancel\""]["result"]["cancelled"], 1, "{round}");
        assert_eq!(answers["\"second\""]["ok"], true, "{round}");
    }
    server.input = None;
    let (rest, well) = server.rest();
    assert!(rest.is_empty() && well, "{rest:?}");
}

/// Whoever sends request after request need not read meanwhile, though the answers are more than fit into a pipe: what
/// is asked waits in the server.
#[test]
fn answers_that_nobody_reads_keep_no_request_from_being_read() {
    const REQUESTS: usize = 300;
    let mut server = Server::start(&["--jobs", "2"]);
    let mut input = server.input.take().unwrap();
    let (sent, all_sent) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for id in 0..REQUESTS {
            input.write_all(format!("{:<1000}\n", predict(id).to_string()).as_bytes()).unwrap();
            // Each comes alone.
            std::thread::sleep(Duration::from_millis(3));
        }
        sent.send(()).unwrap();
    });
    if all_sent.recv_timeout(Duration::from_secs(60)).is_err() {
        server.child.kill().unwrap();
        panic!("the server reads no more");
    }
    let (rest, well) = server.rest();
    let mut ids: Vec<u64> = rest.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert!(well && ids == (0..REQUESTS as u64).collect::<Vec<_>>(), "{ids:?}");
}

#[cfg(unix)]
#[test]
fn a_signal_finishes_what_the_reader_works_on() {
    let mut server = Server::start(&["--jobs", "1", "--time-limit", "1"]);
    server.send(&predict("first"));
    assert_eq!(server.answer()["ok"], true);
    server.send(&slow("slow"));
    std::thread::sleep(Duration::from_millis(100));
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let input = server.input.take();
    let (rest, well) = server.rest();
    drop(input);
    assert_eq!((rest.len(), code(&rest[0]), well), (1, "time-limit", true), "{rest:?}");
}
