//! `serve --http`: what a browser and a program are answered, who is refused, and what many bad senders at a time cost.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A server, and its address without `http://`.
struct Server {
    child: Child,
    address: String,
    /// What stands behind the address.
    rest: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let built = env!("CARGO_BIN_EXE_wavecast").to_owned();
        let mut command = Command::new(std::env::var("WAVECAST").unwrap_or(built));
        command
            .arg("serve")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, rest) = line.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
        Self { child, address: address.to_owned(), rest: rest.to_owned() }
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(self.address.replace("0.0.0.0", "127.0.0.1")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        BufReader::new(stream)
    }

    /// Sends bytes on a connection of their own, and reads the answer.
    fn sent(&self, text: &[u8]) -> (u16, String) {
        let mut stream = self.connect();
        let _ = stream.get_mut().write_all(text);
        answer(&mut stream).unwrap()
    }

    /// The same for a question, with further headers.
    fn asked(&self, headers: &str, body: &str) -> (u16, String) {
        self.sent(question(&self.address, headers, body).as_bytes())
    }

    /// Most memory that the server ever had, in bytes.
    fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn question(host: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /ask HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    )
}

/// Status and body of the next answer of a connection.
fn answer(stream: &mut BufReader<TcpStream>) -> Option<(u16, String)> {
    loop {
        let (mut line, mut status, mut length) = (String::new(), 0, 0);
        while stream.read_line(&mut line).ok()? > 0 && line != "\r\n" {
            if status == 0 {
                status = line.split(' ').nth(1)?.parse().ok()?;
            } else if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().ok()?;
            }
            line.clear();
        }
        if status == 0 {
            return None;
        }
        if status != 100 {
            let mut body = vec![0; length];
            stream.read_exact(&mut body).ok()?;
            return Some((status, String::from_utf8(body).ok()?));
        }
    }
}

fn predict(id: usize, size: usize) -> String {
    json!({"id": id, "op": "predict", "device": "a100", "kernel": {"wavecast": 1, "kernel": "copy",
        "fields": {"a": {"dtype": "f64", "size": size}, "b": {"like": "a"}}, "domain": {"x": size},
        "loads": ["a[x]"], "stores": ["b[x]"], "launch": {"block": [[256]], "registers": 16}}})
    .to_string()
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn the_page_and_what_it_asks_are_there() {
    let server = Server::start(&["--http"]);
    assert!(server.address.starts_with("127.0.0.1:") && server.rest.is_empty());
    let get = |path: &str| {
        server.sent(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).as_bytes())
    };
    assert!(get("/").1.contains("/page.js"));
    assert_eq!((get("/page.js").0, get("/page.css?x").0), (200, 200));
    let gallery = read(&get("/gallery.json").1);
    let text = gallery["kernels"]["star3d7"].as_str().unwrap();
    let body = json!({"id": [1], "op": "rank", "kernel_text": text, "device": "a100"}).to_string();
    let (status, said) = server.asked("", &body);
    let over_http = read(&said);
    assert_eq!((status, &over_http["id"]), (200, &json!([1])));
    // The same document as on standard output.
    let program = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .args(["rank", "kernels/star3d7.yaml", "-d", "a100", "--format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert_eq!(over_http["result"], read(&String::from_utf8(program.stdout).unwrap()));
    // A device that is the text of a file, and what is known of it.
    let own = "wavecast-device: 1\nid: own\nname: Own\ninherit: a100-40gb\n\
               sources: {mine: {kind: measured, text: me}}\nsm: {count: {value: 54, source: mine}}\n";
    let found = server.asked("", &json!({"id": 1, "op": "devices", "device_text": own}).to_string()).1;
    let found = read(&found);
    assert_eq!(found["result"]["devices"][0]["numbers"]["sm.count"], "54", "{found}");
}

#[test]
fn who_may_not_ask_is_refused() {
    let server = Server::start(&["--http", "127.0.0.1:0"]);
    let host = server.address.clone();
    let one = predict(1, 4096);
    let with = |headers: &str| server.asked(headers, &one).0;
    assert_eq!(with(""), 200);
    assert_eq!(with(&format!("Origin: http://{host}\r\n")), 200);
    // Other sites, and a name of theirs that has the address of this machine.
    assert_eq!(with("Origin: http://evil.example\r\n"), 403);
    assert_eq!(with("Origin: null\r\n"), 403);
    assert_eq!(with("Sec-Fetch-Site: cross-site\r\n"), 403);
    assert_eq!(server.sent(question("evil.example", "", &one).as_bytes()).0, 421);
    let form = question(&host, "", &one).replace("application/json", "text/plain");
    assert_eq!(server.sent(form.as_bytes()).0, 415);
    assert_eq!(server.sent(question(&host, "", &one).replace("Host:", "X:").as_bytes()).0, 400);
}

#[test]
fn no_path_and_no_header_reads_a_file() {
    let server = Server::start(&["--http"]);
    let secret = "/etc/passwd";
    for path in [
        secret,
        "//etc/passwd",
        "/../../../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/etc/passwd",
        "file:///etc/passwd",
        "/page.js/../../etc/passwd",
        "/./",
        "/page.js%00",
        "http://127.0.0.1/etc/passwd",
        "*",
        "/Cargo.toml",
        "/page.html",
    ] {
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] {
            let text = format!(
                "{method} {path} HTTP/1.1\r\nHost: {}\r\nX-Original-URL: {secret}\r\nX-Rewrite-URL: {secret}\r\n\
                 X-Sendfile: {secret}\r\nReferer: {secret}\r\nRange: bytes=0-9\r\nConnection: close\r\n\r\n",
                server.address
            );
            let mut stream = server.connect();
            stream.get_mut().write_all(text.as_bytes()).unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).unwrap();
            assert!(said.starts_with("HTTP/1.1 4") && !said.contains("root:"), "{method} {path}: {said}");
        }
    }
    // Requests that name files: a device, code of a kernel.
    let device = json!({"id": 1, "op": "predict", "device": secret, "kernel_text": "x"}).to_string();
    assert!(!server.asked("", &device).1.contains("root:"));
    let device = json!({"id": 1, "op": "devices", "device": "/etc/passwd.yaml"}).to_string();
    assert!(server.asked("", &device).1.contains("files-not-allowed"));
    let code = json!({"id": 1, "op": "check", "kernel": {"wavecast": 1, "kernel": "k", "domain": {"i": 64},
        "code": {"ptx": secret, "args": []}}})
    .to_string();
    assert!(server.asked("", &code).1.contains("files-not-allowed"));
    let both = Command::new(env!("CARGO_BIN_EXE_wavecast"))
        .args(["serve", "--http", "--allow-files"])
        .output()
        .unwrap();
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn who_is_not_on_this_machine_needs_the_token() {
    let server = Server::start(&["--http", "0.0.0.0:0"]);
    let token = server.rest.strip_prefix("#token=").unwrap();
    assert_eq!(token.len(), 32);
    let one = predict(1, 4096);
    assert_eq!(server.asked("", &one).0, 401);
    assert_eq!(server.asked("Authorization: Bearer 00000000000000000000000000000000\r\n", &one).0, 401);
    assert_eq!(server.asked(&format!("Authorization: Bearer {token}\r\n"), &one).0, 200);
    // The page has nothing that is not public, and asks with what stands in its address.
    assert_eq!(server.sent(format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).as_bytes()).0, 200);
}

#[test]
fn bodies_that_are_no_requests_are_answered() {
    let server = Server::start(&["--http", "--request-bytes", "2000"]);
    let mut stream = server.connect();
    // All on one connection, which stays.
    for (body, code) in
        [("", "request"), ("{", "request"), ("[1]", "request"), ("{\"op\": \"cancel\"}", "request")]
    {
        stream.get_mut().write_all(question(&server.address, "", body).as_bytes()).unwrap();
        let (status, said) = answer(&mut stream).unwrap();
        assert_eq!(
            (status, &read(&said)["error"]["errors"][0]["code"]),
            (200, &json!(code)),
            "{body}: {said}"
        );
    }
    // Two requests at once are answered one after the other.
    let two =
        question(&server.address, "", &predict(1, 4096)) + &question(&server.address, "", &predict(2, 4096));
    stream.get_mut().write_all(two.as_bytes()).unwrap();
    for id in 1..=2 {
        assert_eq!(read(&answer(&mut stream).unwrap().1)["id"], id);
    }
    // Who waits for a word before the body is told to send it, or why not.
    let waiting = question(&server.address, "Expect: 100-continue\r\n", &predict(3, 4096));
    assert_eq!(server.sent(waiting.as_bytes()).0, 200);
    assert_eq!(server.asked("", &"x".repeat(2001)).0, 413);
    let endless = question(&server.address, "Transfer-Encoding: chunked\r\n", "0\r\n\r\n");
    assert_eq!(server.sent(endless.as_bytes()).0, 411);
    assert_eq!(server.sent(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc").0, 400);
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(20_000));
    assert_eq!(server.sent(long.as_bytes()).0, 431);
}

/// What is being worked on is answered, and the program ends by itself.
#[cfg(unix)]
#[test]
fn it_ends_when_it_is_asked_to() {
    let mut server = Server::start(&["--http", "--jobs", "1"]);
    let mut idle = server.connect();
    idle.get_mut()
        .write_all(format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).as_bytes())
        .unwrap();
    assert_eq!(answer(&mut idle).unwrap().0, 200);
    let mut busy = server.connect();
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/star3d25.yaml")).unwrap();
    let body = json!({"id": 1, "op": "rank", "kernel_text": text, "device": "a100"}).to_string();
    busy.get_mut().write_all(question(&server.address, "", &body).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let ended = Instant::now();
    Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap();
    let (status, said) = answer(&mut busy).unwrap();
    // It had begun, or was told that it will not.
    let said = read(&said);
    assert!(
        status == 200 && (said["ok"] == true || said["error"]["errors"][0]["code"] == "ending")
            || status == 503
    );
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(ended.elapsed() < Duration::from_secs(10), "{:?}", ended.elapsed());
}

/// A closed connection ends the work: otherwise it would keep the only worker for as long as it may.
#[test]
fn who_leaves_is_not_worked_for() {
    let server = Server::start(&["--http", "--jobs", "1", "--time-limit", "600"]);
    let folds: Vec<[usize; 3]> = (1..=200).map(|x| [x, 1, 1]).collect();
    let body = json!({"id": 1, "op": "rank", "device": "a100", "kernel": {"wavecast": 1, "kernel": "k",
        "fields": {"a": {"dtype": "f64", "size": 1 << 27}}, "domain": {"x": 512, "y": 512, "z": 512},
        "loads": ["a[x + 512*y + 262144*z]"], "launch": {"block": {"x": "1..32", "y": "1..8", "z": "1..4"}, "fold": folds, "registers": 32}}})
    .to_string();
    for _ in 0..8 {
        let mut leaves = server.connect();
        leaves.get_mut().write_all(question(&server.address, "", &body).as_bytes()).unwrap();
    }
    let began = Instant::now();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/star3d7.yaml")).unwrap();
    let small = json!({"id": 2, "op": "rank", "kernel_text": text, "device": "a100"}).to_string();
    assert_eq!(read(&server.asked("", &small).1)["ok"], true);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// 10,000 requests of which a tenth is bad, on 200 connections, beside bodies of 100 MB and senders that never finish.
#[test]
fn none_is_lost_under_load() {
    const CONNECTIONS: usize = 200;
    const REQUESTS: usize = 10_000;
    let server = Server::start(&["--http", "--jobs", "2"]);
    let (answered, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let began = Instant::now();
    std::thread::scope(|scope| {
        // Heads and bodies that trickle: each takes as long as it may and is told that it was too slow.
        let slow: Vec<_> = (0..20)
            .map(|i| {
                let server = &server;
                scope.spawn(move || {
                    let mut stream = server.connect();
                    let text = question(&server.address, "", &predict(i, 4096));
                    let cut = if i % 2 == 0 { 40 } else { text.len() - 5 };
                    stream.get_mut().write_all(&text.as_bytes()[..cut]).unwrap();
                    answer(&mut stream).map(|a| a.0)
                })
            })
            .collect();
        let large: Vec<_> = (0..4)
            .map(|_| {
                let server = &server;
                scope.spawn(move || {
                    let mut stream = server.connect();
                    let head = question(&server.address, "", "").replace("Length: 0", "Length: 100000000");
                    stream.get_mut().write_all(head.as_bytes()).unwrap();
                    let piece = vec![b' '; 1 << 20];
                    for _ in 0..100_000_000 / piece.len() {
                        stream.get_mut().write_all(&piece).unwrap();
                    }
                    answer(&mut stream).map(|a| a.0)
                })
            })
            .collect();
        for connection in 0..CONNECTIONS {
            let (server, answered, refused) = (&server, &answered, &refused);
            scope.spawn(move || {
                let mut stream = server.connect();
                for i in (connection..REQUESTS).step_by(CONNECTIONS) {
                    let body = match (i / CONNECTIONS % 10, i % 3) {
                        (9, 0) => format!("{{\"id\": {i}, \"op\": "),
                        (9, 1) => predict(i, 4096).replace("a100", "b100"),
                        (9, _) => predict(i, 4096).replace("loads", "lodas"),
                        _ => predict(i, 4096 * (1 + i % 7)),
                    };
                    stream.get_mut().write_all(question(&server.address, "", &body).as_bytes()).unwrap();
                    let (status, said) = answer(&mut stream).unwrap_or_else(|| panic!("request {i} is lost"));
                    let said = read(&said);
                    let is_bad = i / CONNECTIONS % 10 == 9;
                    assert_eq!((status, &said["ok"]), (200, &json!(!is_bad)), "{i}: {said}");
                    if !said["id"].is_null() {
                        assert_eq!(said["id"], i);
                    }
                    (if is_bad { refused } else { answered }).fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        assert!(large.into_iter().all(|l| l.join().unwrap() == Some(413)));
        assert!(slow.into_iter().all(|s| s.join().unwrap() == Some(408)));
    });
    let (answered, refused) = (answered.into_inner(), refused.into_inner());
    let memory = server.peak_memory();
    println!(
        "{answered} answered, {refused} refused in {:.1?}, {} MB at most",
        began.elapsed(),
        memory / 1_000_000
    );
    assert_eq!((answered, refused), (REQUESTS * 9 / 10, REQUESTS / 10));
    assert!(memory < 200_000_000, "{memory}");
}
