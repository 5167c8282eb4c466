//! One connection: request after request, each with its answer.

use std::fmt::Write as _;
use std::net::TcpStream;

use super::super::server::Serving;
use super::desk::Desk;
use super::guard::Guard;
use super::head::Head;
use super::room::Room;
use super::site::ServedText;
use super::status::Status;
use super::wire::{NoHead, Patience, Wire};
use crate::report::{ErrorDocument, json_line};

/// What all connections of a server share.
pub(super) struct Host<'s> {
    pub guard: Guard,
    pub room: Room,
    pub patience: Patience,
    pub pages: &'s [ServedText],
    pub serving: &'s Serving,
}

/// What a request gets.
struct Answer<'p> {
    status: Status,
    kind: &'static str,
    text: std::borrow::Cow<'p, str>,
}

/// What becomes of a connection.
enum Then {
    Stay,
    /// So many bytes of the request were not read.
    Close(usize),
    /// Nobody is there any more.
    Gone,
}

/// Headers of all answers. A page of this server runs its own script and asks this server, and no other page shows it in
/// a frame or reads it.
const HEADERS: &str = "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
    img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";

impl Host<'_> {
    /// Answers the requests of a connection until it ends.
    pub fn answer(&self, stream: TcpStream, desk: &Desk) {
        let mut wire = Wire::new(stream, self.patience, &self.serving.ending);
        loop {
            let head = match wire.head() {
                Ok(head) => head,
                Err(NoHead::End) => return,
                Err(NoHead::Refused(status)) => {
                    let _ = send(&mut wire, &refusal(status), "close", false);
                    return wire.close(1 << 20);
                }
            };
            match self.one(&mut wire, &head, desk) {
                Then::Stay => {}
                Then::Close(unread) => return wire.close(unread),
                Then::Gone => return,
            }
        }
    }

    /// Answers one request.
    fn one(&self, wire: &mut Wire<'_>, head: &Head, desk: &Desk) -> Then {
        let length = head.length.unwrap_or(0);
        let (answer, unread) = match self.page(head) {
            Some(Ok(answer)) if length == 0 => (answer, 0),
            Some(Ok(answer)) => (answer, length),
            Some(Err(status)) => (refusal(status), length),
            None => match self.asked(wire, head, desk) {
                Ok(Some(answer)) => (answer, 0),
                Ok(None) => return Then::Gone,
                Err((status, unread)) => (refusal(status), unread),
            },
        };
        let stays = head.stays && unread == 0 && !self.serving.ending.is_asked();
        let word = if stays { "keep-alive" } else { "close" };
        match send(wire, &answer, word, head.method == "HEAD") {
            Ok(()) if stays => Then::Stay,
            Ok(()) => Then::Close(unread),
            Err(_) => Then::Gone,
        }
    }

    /// A page, or why there is none; nothing if the request is a question.
    fn page(&self, head: &Head) -> Option<Result<Answer<'_>, Status>> {
        if let Err(status) = self.guard.host(head) {
            return Some(Err(status));
        }
        if head.path == "/ask" {
            return (head.method != "POST").then_some(Err(Status::OtherMethod));
        }
        // A path is one of these or nothing: none of them is looked for in a folder.
        let Some(page) = self.pages.iter().find(|page| page.path == head.path) else {
            return Some(Err(Status::NotFound));
        };
        if !matches!(head.method.as_str(), "GET" | "HEAD") {
            return Some(Err(Status::OtherMethod));
        }
        Some(Ok(Answer { status: Status::Found, kind: page.kind, text: page.text.as_str().into() }))
    }

    /// The answer to a question; none if nobody waits for it. What is refused leaves so many bytes unread.
    fn asked(
        &self,
        wire: &mut Wire<'_>,
        head: &Head,
        desk: &Desk,
    ) -> Result<Option<Answer<'static>>, (Status, usize)> {
        let Some(length) = head.length else { return Err((Status::LengthRequired, 0)) };
        let refused = |status| (status, length);
        self.guard.sender(head).map_err(refused)?;
        let kind = head.content_type.as_deref().and_then(|kind| kind.split(';').next()).unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case("application/json") {
            return Err(refused(Status::OtherType));
        }
        if length > self.serving.request_bytes {
            return Err(refused(Status::TooLong));
        }
        if self.serving.ending.is_asked() {
            return Err(refused(Status::Unavailable));
        }
        let taken = self.room.take(length, self.patience.time).ok_or(refused(Status::Unavailable))?;
        if head.expects_word && wire.word().is_err() {
            return Ok(None);
        }
        let body = wire.body(length).map_err(|status| (status, 1 << 20))?;
        let line = desk.ask(&body, || wire.is_gone());
        drop((body, taken));
        Ok(line.map(|line| Answer {
            status: Status::Found,
            kind: "application/json",
            text: (line + "\n").into(),
        }))
    }
}

/// An error as the documents of `serve` have it.
fn refusal(status: Status) -> Answer<'static> {
    let (code, message, help) = status.said();
    let error = ErrorDocument::single(code, message.to_owned(), Some(help.to_owned()));
    let line = json_line(&super::super::answer::AnswerLine::new(Default::default(), Err(error)));
    Answer { status, kind: "application/json", text: (line + "\n").into() }
}

fn send(wire: &mut Wire<'_>, answer: &Answer<'_>, connection: &str, head_only: bool) -> std::io::Result<()> {
    let mut text = String::with_capacity(answer.text.len() + 1024);
    let (line, kind, length) = (answer.status.line(), answer.kind, answer.text.len());
    let _ = write!(
        text,
        "HTTP/1.1 {line}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\n"
    );
    let _ = write!(text, "Connection: {connection}\r\n");
    match answer.status {
        Status::NoToken => text.push_str("WWW-Authenticate: Bearer\r\n"),
        Status::OtherMethod => text.push_str("Allow: GET, HEAD, POST\r\n"),
        Status::Unavailable => text.push_str("Retry-After: 1\r\n"),
        _ => {}
    }
    text.push_str(HEADERS);
    text.push_str("\r\n");
    if !head_only {
        text.push_str(&answer.text);
    }
    wire.write(text.as_bytes())
}
