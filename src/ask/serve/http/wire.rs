//! Bytes of a connection: none is waited for longer than it may take, however slowly they come.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::head::{self, Head};
use super::status::Status;
use crate::ask::Ending;

/// Longest head.
const HEAD_BYTES: usize = 16 << 10;
/// Bytes that are read at a time.
const PIECE: usize = 16 << 10;
/// How long a connection waits at a time before it looks whether the server ends.
const LOOK: Duration = Duration::from_millis(200);
/// Bytes that are read and thrown away at most, so that whoever still sends them reads why they were refused.
const THROWN_AWAY: usize = 1 << 30;

/// How long a sender may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For a head, for the first bytes of a body, and for the reader of an answer.
    pub time: Duration,
    /// Between requests of one connection.
    pub idle: Duration,
}

impl Patience {
    /// For so many bytes: those of a line that carries a megabyte each second.
    fn for_bytes(&self, bytes: usize) -> Duration {
        self.time + Duration::from_micros(bytes as u64)
    }
}

#[derive(Debug)]
pub(super) struct Wire<'s> {
    stream: TcpStream,
    patience: Patience,
    ending: &'s Ending,
    /// What was read and not used.
    ahead: Vec<u8>,
}

/// Why there is no next request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoHead {
    /// The connection ends between two requests.
    End,
    /// What came is answered with this, and the connection ended.
    Refused(Status),
}

impl<'s> Wire<'s> {
    pub fn new(stream: TcpStream, patience: Patience, ending: &'s Ending) -> Self {
        // Answers are written whole: there is nothing to be gathered.
        let _ = stream.set_nodelay(true);
        Self { stream, patience, ending, ahead: Vec::new() }
    }

    /// The head of the next request.
    pub fn head(&mut self) -> Result<Head, NoHead> {
        let mut until = Instant::now() + self.patience.idle;
        let mut begun = false;
        loop {
            // Some clients send an empty line after a body.
            while self.ahead.first().is_some_and(|b| matches!(b, b'\r' | b'\n')) {
                self.ahead.remove(0);
            }
            if !self.ahead.is_empty() {
                if !begun {
                    (begun, until) = (true, Instant::now() + self.patience.time);
                }
                if let Some((head, used)) = head::read(&self.ahead).map_err(NoHead::Refused)? {
                    self.ahead.drain(..used);
                    let fits = used <= HEAD_BYTES;
                    return if fits { Ok(head) } else { Err(NoHead::Refused(Status::HeadTooLarge)) };
                }
                if self.ahead.len() > HEAD_BYTES {
                    return Err(NoHead::Refused(Status::HeadTooLarge));
                }
            } else if self.ending.is_asked() {
                return Err(NoHead::End);
            }
            match self.more(until) {
                Ok(0) => return Err(NoHead::End),
                Ok(_) => {}
                Err(_) if !begun => return Err(NoHead::End),
                Err(e) if e.kind() == ErrorKind::TimedOut => return Err(NoHead::Refused(Status::TooSlow)),
                Err(_) => return Err(NoHead::End),
            }
        }
    }

    /// Reads what there is, once; 0 at the end. While nothing of a request is there, the end of the server ends it.
    fn more(&mut self, until: Instant) -> io::Result<usize> {
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            if self.ahead.is_empty() && self.ending.is_asked() {
                return Ok(0);
            }
            self.stream.set_read_timeout(Some(rest.min(LOOK)))?;
            let before = self.ahead.len();
            self.ahead.resize(before + PIECE, 0);
            let read = self.stream.read(&mut self.ahead[before..]);
            self.ahead.truncate(before + read.as_ref().map_or(0, |n| *n));
            match read {
                Err(e) if is_pause(&e) => {}
                other => return other,
            }
        }
    }

    /// The body of a request that says how long it is.
    pub fn body(&mut self, length: usize) -> Result<Vec<u8>, Status> {
        let until = Instant::now() + self.patience.for_bytes(length);
        let mut body = std::mem::take(&mut self.ahead);
        if body.len() > length {
            self.ahead = body.split_off(length);
        }
        while body.len() < length {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(Status::TooSlow);
            }
            self.stream.set_read_timeout(Some(rest)).map_err(|_| Status::TooSlow)?;
            let before = body.len();
            // Memory is taken as bytes come, not as they are promised.
            body.resize(before + (length - before).min(PIECE), 0);
            let read = self.stream.read(&mut body[before..]);
            body.truncate(before + read.as_ref().map_or(0, |n| *n));
            match read {
                Ok(0) => return Err(Status::BadRequest),
                Ok(_) => {}
                Err(e) if is_pause(&e) => {}
                Err(_) => return Err(Status::BadRequest),
            }
        }
        Ok(body)
    }

    /// Tells a sender that waits for it to send the body.
    pub fn word(&mut self) -> io::Result<()> {
        self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    }

    /// Writes all of it, as fast as somebody reads it.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let until = Instant::now() + self.patience.for_bytes(bytes.len());
        let mut left = bytes;
        while !left.is_empty() {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.stream.set_write_timeout(Some(rest))?;
            match self.stream.write(left) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => left = &left[written..],
                Err(e) if is_pause(&e) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Whether the other side closed the connection.
    pub fn is_gone(&self) -> bool {
        let peeked = self.stream.set_read_timeout(Some(Duration::from_millis(1)));
        match peeked.and_then(|()| self.stream.peek(&mut [0])) {
            Ok(bytes) => bytes == 0,
            Err(e) => !is_pause(&e),
        }
    }

    /// Ends the connection after an answer to a request of which a part was not read. That part is read and thrown away:
    /// closing a connection while bytes come makes the other side lose the answer.
    pub fn close(mut self, unread: usize) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut left = unread.saturating_sub(self.ahead.len()).min(THROWN_AWAY);
        let until = Instant::now() + self.patience.for_bytes(left).min(6 * self.patience.time);
        while left > 0 {
            self.ahead.clear();
            match self.more(until) {
                Ok(read) if read > 0 => left = left.saturating_sub(read),
                _ => return,
            }
        }
    }
}

/// Nothing is wrong but that nothing came.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
