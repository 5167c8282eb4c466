//! `wavecast serve --http`: the page, and what it asks.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::process::ExitCode;

use super::Outcome;
use super::ending::at_signals;
use super::failure::Failure;
use super::files::standard_output;
use super::gallery::gallery;
use super::progress;
use crate::ask::{HttpServing, ServedText, Serving, Session, serve_http, wake};

/// The page, as `npm run served` in `web/` builds it.
const PAGE: &str = include_str!("page/page.html");
const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");

/// What stands in the place of an address that is not named: this machine only, and a port that is free.
pub(super) const HERE: &str = "127.0.0.1:0";

fn pages() -> [ServedText; 4] {
    let page = |path, kind, text: &str| ServedText { path, kind, text: text.to_owned() };
    [
        page("/", "text/html", PAGE),
        page("/page.js", "text/javascript", SCRIPT),
        page("/page.css", "text/css", STYLE),
        ServedText { path: "/gallery.json", kind: "application/json", text: gallery() },
    ]
}

/// Serves until the program is asked to end.
pub(super) fn run(session: &Session, address: &str, serving: Serving) -> Outcome {
    let address = address_of(address)?;
    let unlistened = |e| {
        let help = "name another port, or 0 for one that is free";
        Failure::message("cannot-listen", format!("cannot listen at {address}: {e}"), Some(help))
    };
    let listener = TcpListener::bind(address).map_err(unlistened)?;
    let address = listener.local_addr().map_err(unlistened)?;
    // Others than this machine have to know something that only who started the server sees.
    let token = (!address.ip().is_loopback()).then(token).transpose()?;
    at_signals(&serving.ending, move || wake(address))
        .map_err(|e| Failure::message("signals", format!("cannot wait for signals: {e}"), None))?;
    let pages = pages();
    let http = HttpServing { token, ..HttpServing::new(serving, &pages) };
    let hash = http.token.as_ref().map(|token| format!("#token={token}")).unwrap_or_default();
    let mut out = standard_output()?;
    writeln!(out, "http://{address}/{hash}")
        .and_then(|()| out.flush())
        .map_err(|e| Failure::unwritten("standard output", &e))?;
    drop(out);
    if http.token.is_some() {
        progress::say(
            "others can reach this server: the line above has the token that it asks for, and nothing is encrypted",
        );
    }
    serve_http(session, &listener, &http)
        .map_err(|e| Failure::message("cannot-listen", format!("cannot go on listening: {e}"), None))?;
    Ok(ExitCode::SUCCESS)
}

/// An address with a port; a port alone is one of this machine.
fn address_of(text: &str) -> Result<SocketAddr, Failure> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok((IpAddr::from(Ipv4Addr::LOCALHOST), port).into());
    }
    let with_port =
        |port: &str| format!("{text}{port}").to_socket_addrs().ok().and_then(|mut all| all.next());
    with_port("").or_else(|| with_port(":0")).ok_or_else(|| {
        let help = "for example 127.0.0.1:8000, [::1]:8000, or a port alone";
        Failure::message("usage", format!("{text} is no address of this machine"), Some(help))
    })
}

/// A word that nobody guesses: 128 bits from where the system has its random numbers.
fn token() -> Result<String, Failure> {
    let mut bytes = [0_u8; 16];
    random(&mut bytes)
        .map_err(|e| Failure::message("token", format!("there are no random numbers here: {e}"), None))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(unix)]
fn random(bytes: &mut [u8]) -> std::io::Result<()> {
    use std::io::Read;
    std::fs::File::open("/dev/urandom")?.read_exact(bytes)
}

/// The standard library takes the keys of its hash maps from the system: what they make of nothing is as random.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // As where it is read from a file.
fn random(bytes: &mut [u8]) -> std::io::Result<()> {
    use std::hash::{BuildHasher, RandomState};
    for (number, chunk) in bytes.chunks_mut(8).enumerate() {
        let random = RandomState::new().hash_one(number).to_le_bytes();
        chunk.copy_from_slice(&random[..chunk.len()]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_be_short() {
        let read = |text: &str| address_of(text).map(|a| a.to_string()).map_err(|_| ());
        assert_eq!(read(HERE).unwrap(), "127.0.0.1:0");
        assert_eq!(read("8000").unwrap(), "127.0.0.1:8000");
        assert_eq!(read("0.0.0.0").unwrap(), "0.0.0.0:0");
        assert_eq!(read("[::1]:80").unwrap(), "[::1]:80");
        assert!(read("").is_err() && read("not an address").is_err() && read("127.0.0.1:x").is_err());
    }

    #[test]
    fn tokens_differ() {
        let (a, b) = (token().unwrap_or_default(), token().unwrap_or_default());
        assert!(a.len() == 32 && a != b);
    }
}
