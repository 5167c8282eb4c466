//! The same requests over HTTP, for the page and for programs: `POST /ask`, and a few texts that do not change.
//!
//! The parser of heads is `httparse`, that of hyper: without dependencies, looked after by the same people, and fuzzed.
//! What is around it is threads that read and write, so that each limit (of time, bytes, and connections) is one line that
//! can be seen; a server on an executor would bring fifteen crates to do the same for a dozen connections of one person.

mod connection;
mod desk;
mod guard;
mod head;
mod room;
mod site;
mod status;
mod wire;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use connection::Host;
use desk::Desk;
use guard::Guard;
use room::Room;
use wire::Patience;

pub use site::ServedText;

use super::server::{Lanes, Serving};
use super::session::Session;

/// How a server of HTTP works, beside what all servers do.
#[derive(Debug)]
pub struct HttpServing<'p> {
    /// What all servers do. [`Serving::request_bytes`] is that of a body.
    pub serving: Serving,
    /// What there is beside `/ask`.
    pub pages: &'p [ServedText],
    /// What requests have to know; for servers that others than this machine reach.
    pub token: Option<String>,
    /// Connections at a time; more wait.
    pub connections: usize,
    /// How long a head, the first bytes of a body, and a reader of an answer may take.
    pub patience: Duration,
}

impl<'p> HttpServing<'p> {
    /// Longest body by default: documents have some kilobytes, PTX a few megabytes.
    pub const REQUEST_BYTES: usize = 8 << 20;
    /// Connections by default.
    pub const CONNECTIONS: usize = 512;
    /// Patience by default.
    pub const PATIENCE: Duration = Duration::from_secs(10);

    /// With the default limits.
    pub fn new(serving: Serving, pages: &'p [ServedText]) -> Self {
        Self { serving, pages, token: None, connections: Self::CONNECTIONS, patience: Self::PATIENCE }
    }
}

/// How long a connection may have nothing to say.
const IDLE: Duration = Duration::from_secs(30);
/// Bytes of bodies at a time, if no single one may have more.
const BODIES: usize = 32 << 20;
/// Bytes of the stacks of connections, which only read and write.
const STACK: usize = 256 << 10;
/// How long to wait where no connection can be taken, as there are no descriptors or too many connections.
const PAUSE: Duration = Duration::from_millis(20);

/// Answers requests until it is asked to end: then what is being worked on is answered, what waits is refused. A
/// listener that waits for a connection hears of it with the next one: [`wake`] makes one.
pub fn serve_http(session: &Session, listener: &TcpListener, http: &HttpServing<'_>) -> io::Result<()> {
    let serving = &http.serving;
    let host = &Host {
        guard: Guard::new(listener.local_addr()?, http.token.clone()),
        room: Room::new(serving.request_bytes.max(BODIES)),
        patience: Patience { time: http.patience, idle: IDLE },
        pages: http.pages,
        serving,
    };
    let (desk, lanes) = Desk::new();
    let open = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let workers = Lanes::for_jobs(serving.jobs);
        for (lane, workers) in lanes.iter().zip([workers.short, workers.long]) {
            for _ in 0..workers {
                scope.spawn(move || lane.work(session, serving));
            }
        }
        let desk = std::sync::Arc::new(desk);
        while !serving.ending.is_asked() {
            if open.load(Ordering::Acquire) >= http.connections {
                std::thread::sleep(PAUSE);
                continue;
            }
            let Ok((stream, _)) = listener.accept() else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let desk = std::sync::Arc::clone(&desk);
            open.fetch_add(1, Ordering::AcqRel);
            let answer = move || {
                let _open = Open(open);
                host.answer(stream, &desk);
            };
            if std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, answer).is_err() {
                std::thread::sleep(PAUSE);
            }
        }
        // Workers end with the last connection.
    });
    Ok(())
}

/// Has a server at this address look whether it is to end.
pub fn wake(address: SocketAddr) {
    let ip = if address.ip().is_unspecified() {
        let any_v4 = address.is_ipv4();
        if any_v4 { std::net::Ipv4Addr::LOCALHOST.into() } else { std::net::Ipv6Addr::LOCALHOST.into() }
    } else {
        address.ip()
    };
    let _ = TcpStream::connect_timeout(&SocketAddr::new(ip, address.port()), Duration::from_secs(1));
}

/// A connection counts until this is dropped, also where its thread could not be started.
struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
