//! Work that ends when the program is asked to, and input likewise: reading blocks, so that it is done in a thread of
//! its own.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::failure::Failure;
use crate::ask::Ending;

/// The exit status of a program that ended because of an interrupt.
pub(super) const INTERRUPTED: u8 = 130;

/// Has an interrupt (Ctrl-C) only set `end`, so that what is known by then is told; once it is set, an interrupt ends
/// the program at once.
#[cfg(unix)]
pub(super) fn end_at_interrupt(end: &Arc<AtomicBool>) -> Result<(), Failure> {
    use signal_hook::consts::SIGINT;
    use signal_hook::flag;
    if super::captured::is_on() {
        // Signals are the program's own.
        return Ok(());
    }
    // In this order: what sets it comes after what looks at it.
    flag::register_conditional_shutdown(SIGINT, i32::from(INTERRUPTED), Arc::clone(end))
        .and_then(|_| flag::register(SIGINT, Arc::clone(end)))
        .map(|_| ())
        .map_err(|e| Failure::message("signals", format!("cannot wait for signals: {e}"), None))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // As where there are signals.
pub(super) fn end_at_interrupt(_: &Arc<AtomicBool>) -> Result<(), Failure> {
    Ok(())
}

/// Bytes that are read at a time, and how many such pieces wait.
const PIECE: usize = 1 << 16;
const PIECES: usize = 2;

/// What comes through the channel.
enum Piece {
    Bytes(Vec<u8>),
    Failed(io::Error),
    /// Only to wake the reader: whether to end is asked before each piece.
    Wake,
}

/// The same input, which also ends at SIGTERM and SIGINT; then `ending` is asked. A second signal ends the
/// program at once.
pub(super) fn until_asked_to_end(
    input: impl Read + Send + 'static,
    ending: &Ending,
) -> io::Result<impl BufRead> {
    let (sender, receiver) = sync_channel(PIECES);
    let wake = sender.clone();
    // If there is no room, there is something to read: whoever reads it sees that it ends.
    at_signals(ending, move || drop(wake.try_send(Piece::Wake)))?;
    Input::new(input, ending, sender, receiver)
}

/// Reads until the input ends or nobody listens any more.
fn read(mut input: impl Read, to: &SyncSender<Piece>) {
    let mut bytes = vec![0; PIECE];
    loop {
        let piece = match input.read(&mut bytes) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => Piece::Failed(e),
            Ok(number) => Piece::Bytes(bytes[..number].to_vec()),
        };
        let last = match &piece {
            Piece::Bytes(bytes) => bytes.is_empty(),
            _ => true,
        };
        if to.send(piece).is_err() || last {
            return;
        }
    }
}

/// At SIGTERM and SIGINT asks `ending`, and wakes whoever waits for something else. A second signal ends the program at
/// once.
#[cfg(unix)]
pub(super) fn at_signals(ending: &Ending, wake: impl Fn() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let ending = ending.clone();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            if ending.ask() {
                std::process::exit(128 + signal);
            }
            wake();
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // As where there are signals.
pub(super) fn at_signals(_: &Ending, _: impl Fn() + Send + 'static) -> io::Result<()> {
    Ok(())
}

struct Input {
    receiver: Receiver<Piece>,
    ending: Ending,
    bytes: Vec<u8>,
    used: usize,
    at_end: bool,
}

impl Input {
    fn new(
        input: impl Read + Send + 'static,
        ending: &Ending,
        sender: SyncSender<Piece>,
        receiver: Receiver<Piece>,
    ) -> io::Result<Self> {
        std::thread::Builder::new().spawn(move || read(input, &sender))?;
        Ok(Self { receiver, ending: ending.clone(), bytes: Vec::new(), used: 0, at_end: false })
    }

    /// The next piece; an empty one at the end.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        while !self.at_end && !self.ending.is_asked() {
            match self.receiver.recv() {
                Ok(Piece::Bytes(bytes)) if !bytes.is_empty() => return Ok(bytes),
                Ok(Piece::Wake) => {}
                Ok(Piece::Failed(error)) => {
                    self.at_end = true;
                    return Err(error);
                }
                Ok(Piece::Bytes(_)) | Err(_) => self.at_end = true,
            }
        }
        Ok(Vec::new())
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.bytes.len() {
            (self.bytes, self.used) = (self.next()?, 0);
        }
        Ok(&self.bytes[self.used..])
    }

    fn consume(&mut self, amount: usize) {
        self.used = (self.used + amount).min(self.bytes.len());
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let number = available.read(buffer)?;
        self.consume(number);
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(input: impl Read + Send + 'static, ending: &Ending) -> Input {
        let (sender, receiver) = sync_channel(PIECES);
        Input::new(input, ending, sender, receiver).unwrap()
    }

    #[test]
    fn all_that_is_sent_arrives() {
        let sent: Vec<u8> = (0..=250_u8).cycle().take(3 * PIECE + 7).collect();
        let mut input = input(io::Cursor::new(sent.clone()), &Ending::default());
        let mut arrived = Vec::new();
        input.read_to_end(&mut arrived).unwrap();
        assert!(arrived == sent);
    }

    #[test]
    fn input_ends_when_asked() {
        let ending = Ending::default();
        let mut input = input(io::repeat(b'x'), &ending);
        assert!(!input.fill_buf().unwrap().is_empty());
        assert!(!ending.ask());
        let rest = input.fill_buf().unwrap().len();
        input.consume(rest);
        assert!(input.fill_buf().unwrap().is_empty());
    }
}
