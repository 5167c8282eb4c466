//! Two clients of two servers, one of them slow, with many requests of which one in ten is bad: none is
//! lost, and predictions do not wait for a ranking that runs all the time.
//!
//! The figures of many requests, best of a release build:
//!
//! ```sh
//! cargo build --release
//! WAVECAST=target/release/wavecast cargo test --test serve_load -- --ignored --nocapture
//! ```

use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Requests of the fast client that are not answered yet.
const WINDOW: usize = 4;

fn program() -> Command {
    let built = env!("CARGO_BIN_EXE_wavecast").to_owned();
    let mut command = Command::new(std::env::var("WAVECAST").unwrap_or(built));
    // A ranking of many launches takes longer than a request may by default.
    command.args(["serve", "--stdio", "--jobs", "2", "--time-limit", "600"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn start() -> (Child, BufWriter<ChildStdin>, BufReader<ChildStdout>) {
    let mut child = program().spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, BufWriter::new(input), BufReader::new(output))
}

fn define() -> Value {
    json!({"id": "define", "op": "define", "name": "star", "kernel": {"wavecast": 1, "kernel": "star",
        "params": {"N": 512}, "fields": {"a": {"dtype": "f64", "shape": ["N + 2", "N + 2", "N + 2"], "halo": 1},
        "b": {"like": "a"}}, "domain": {"x": "N", "y": "N", "z": "N"},
        "loads": ["a[x, y, z]", {"for": {"s": [-1, 1]}, "at": ["a[x + s, y, z]", "a[x, y + s, z]", "a[x, y, z + s]"]}],
        "stores": ["b[x, y, z]"], "work": {"flops": 8}, "launch": {"block": [[256]], "registers": 32}}})
}

/// The `i`-th request; one in ten is bad in one of four ways, one of which leaves it without an id.
fn request(i: usize) -> String {
    let (block, n) = ([32 << (i % 3), 1 << (i % 3), 1 + i / 7 % 2], 256 + 32 * (i % 9));
    let good = json!({"id": i, "op": "predict", "kernel_ref": "star", "device": "a100",
        "options": {"block": block, "set": {"N": n}}});
    match (i % 10, i / 10 % 4) {
        (9, 0) => format!("{{\"id\": {i}, \"op\": "),
        (9, 1) => json!({"id": i, "op": "predict", "kernel_ref": "sun", "device": "a100"}).to_string(),
        (9, 2) => json!({"id": i, "op": "predict", "kernel_ref": "star", "device": "b100"}).to_string(),
        (9, _) => json!({"id": i, "op": "predict", "kernel": {"wavecast": 1, "kernle": "x"}}).to_string(),
        _ => good.to_string(),
    }
}

/// A ranking of about so many launches, all of which can run.
fn ranking(id: usize, launches: usize) -> String {
    let folds: Vec<[usize; 3]> = (0..launches.div_ceil(1024)).map(|i| [1 + i % 10, 1 + i / 10, 1]).collect();
    let blocks = json!({"x": "1..32", "y": "1..8", "z": "1..4"});
    json!({"id": format!("ranking {id}"), "op": "rank", "device": "a100", "options": {"top": 10},
        "kernel": {"wavecast": 1, "kernel": "copy", "fields": {"a": {"dtype": "f64", "size": 1 << 27}},
        "domain": {"x": 512, "y": 512, "z": 512}, "loads": ["a[x + 512*y + 262144*z]"], "work": {"flops": 1},
        "launch": {"block": blocks, "fold": folds, "registers": 32}}})
    .to_string()
}

/// Most memory that a process ever had, in bytes.
fn peak_memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

struct Figures {
    answered: usize,
    refused: usize,
    /// Of predictions.
    latencies: Vec<Duration>,
    rankings: usize,
    memory: u64,
}

impl Figures {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
    fn percentile(&mut self, share: f64) -> Duration {
        self.latencies.sort_unstable();
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get((last as f64 * share) as usize).copied().unwrap_or_default()
    }
}

/// A client that waits for answers, while a ranking runs all the time.
fn fast(requests: usize, launches: usize) -> Figures {
    let (mut child, mut input, output) = start();
    let (sender, answers) = channel::<(Instant, Value)>();
    let reader = std::thread::spawn(move || {
        for line in output.lines() {
            let answer = serde_json::from_str(&line.unwrap()).unwrap();
            if sender.send((Instant::now(), answer)).is_err() {
                return;
            }
        }
    });
    let mut client = Fast { figures: none(), sent: HashMap::new(), without_id: 0, ranking: true };
    let mut send = |text: &str| writeln!(input, "{text}").and_then(|()| input.flush()).unwrap();
    send(&define().to_string());
    assert_eq!(answers.recv().unwrap().1["ok"], true);
    send(&ranking(0, launches));
    for i in 0..requests {
        while client.sent.len() + client.without_id >= WINDOW {
            client.take(&answers);
        }
        if !client.ranking {
            client.ranking = true;
            send(&ranking(client.figures.rankings, launches));
        }
        let text = request(i);
        if text.ends_with("\"op\": ") {
            client.without_id += 1;
        } else {
            client.sent.insert(i as u64, Instant::now());
        }
        send(&text);
    }
    while client.sent.len() + client.without_id > 0 {
        client.take(&answers);
    }
    client.figures.memory = peak_memory(&child);
    send(
        &json!({"id": "c", "op": "cancel", "target": format!("ranking {}", client.figures.rankings)})
            .to_string(),
    );
    drop(input);
    assert!(child.wait().unwrap().success());
    drop(answers);
    reader.join().unwrap();
    client.figures
}

struct Fast {
    figures: Figures,
    sent: HashMap<u64, Instant>,
    without_id: usize,
    ranking: bool,
}

impl Fast {
    fn take(&mut self, answers: &Receiver<(Instant, Value)>) {
        let (now, answer) = answers.recv().unwrap();
        if answer["id"].is_string() {
            assert_eq!(answer["ok"], true, "{answer}");
            (self.figures.rankings, self.ranking) = (self.figures.rankings + 1, false);
            return;
        }
        self.figures.answered += 1;
        self.figures.refused += usize::from(answer["ok"] == false);
        if answer["id"].is_null() {
            self.without_id -= 1;
            return;
        }
        let sent = self.sent.remove(&answer["id"].as_u64().unwrap()).unwrap_or_else(|| panic!("{answer}"));
        if answer["ok"] == true {
            self.figures.latencies.push(now - sent);
        }
    }
}

fn none() -> Figures {
    Figures { answered: 0, refused: 0, latencies: Vec::new(), rankings: 0, memory: 0 }
}

/// A client that sends as much as it can and reads slowly.
fn slow(requests: usize, pause: Duration) -> Figures {
    let (mut child, mut input, output) = start();
    let memory = Arc::new(Mutex::new(0));
    let writer = std::thread::spawn(move || {
        writeln!(input, "{}", define()).unwrap();
        (0..requests).for_each(|i| writeln!(input, "{}", request(i)).unwrap());
    });
    let (mut figures, mut seen) = (none(), vec![false; requests]);
    for line in output.lines() {
        std::thread::sleep(pause);
        let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if answer["id"] == "define" {
            continue;
        }
        figures.answered += 1;
        figures.refused += usize::from(answer["ok"] == false);
        if figures.answered % 100 == 0 {
            // None any more when it has ended.
            let mut memory = memory.lock().unwrap();
            *memory = peak_memory(&child).max(*memory);
        }
        if let Some(id) = answer["id"].as_u64() {
            let seen = &mut seen[usize::try_from(id).unwrap()];
            assert!(!std::mem::replace(seen, true), "{id} was answered twice");
        }
    }
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    figures.memory = *memory.lock().unwrap();
    figures
}

fn both(requests: usize, launches: usize, pause: Duration) -> [Figures; 2] {
    let slow = std::thread::spawn(move || slow(requests, pause));
    let fast = fast(requests, launches);
    let figures = [fast, slow.join().unwrap()];
    for (name, one) in ["fast", "slow"].iter().zip(&figures) {
        assert_eq!((one.answered, one.refused), (requests, requests / 10), "{name}: none is lost");
    }
    figures
}

#[test]
fn nothing_is_lost() {
    both(300, 20_000, Duration::from_micros(100));
}

#[test]
#[ignore = "takes minutes; prints figures"]
fn figures_of_many_requests() {
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (requests, launches) = (number("REQUESTS", 50_000), number("LAUNCHES", 100_000));
    let started = Instant::now();
    let mut figures = both(requests, launches, Duration::from_micros(500));
    println!("2 x {requests} requests in {:.0?}, none lost", started.elapsed());
    for (name, one) in ["fast", "slow"].iter().zip(&mut figures) {
        let (half, most) = (one.percentile(0.5), one.percentile(0.99));
        let (refused, memory) = (one.refused, one.memory as f64 / 1e6);
        println!("{name}: {refused} bad, memory {memory:.0} MB, rankings of {launches}: {}", one.rankings);
        println!("{name}: predictions took {half:.1?} in the middle, {most:.1?} at 99 %");
    }
}
