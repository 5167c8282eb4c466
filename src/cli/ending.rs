//! Work that ends when the program is asked to, and input likewise.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
#[cfg(unix)]
use std::{
    fs::File,
    io::Write,
    ops::Range,
    os::{fd::AsFd, unix::net::UnixStream},
};

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, poll};

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

/// Bytes that are read at a time.
#[cfg(unix)]
const PIECE: usize = 1 << 16;

/// The same input, which also ends at SIGTERM and SIGINT; then `ending` is asked. A second signal ends the
/// program at once.
#[cfg(unix)]
pub(super) fn until_asked_to_end(input: impl AsFd, ending: &Ending) -> io::Result<impl BufRead + Send> {
    let (woken, waker) = UnixStream::pair()?;
    waker.set_nonblocking(true)?;
    // Where it is full, there is enough to wake the reader.
    at_signals(ending, move || drop((&waker).write(&[0])))?;
    Input::new(input, ending, woken)
}

#[cfg(not(unix))]
pub(super) fn until_asked_to_end(input: impl Read + Send, _: &Ending) -> io::Result<impl BufRead + Send> {
    Ok(io::BufReader::new(input))
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

/// What is read by the thread that wants it: to hand each piece over from a thread that only reads would take longer than
/// most requests do.
#[cfg(unix)]
struct Input {
    from: File,
    ending: Ending,
    /// Something to read here means that `ending` may have been asked.
    woken: UnixStream,
    bytes: Box<[u8]>,
    /// The part of them that is there and not used yet.
    unused: Range<usize>,
    at_end: bool,
}

#[cfg(unix)]
impl Input {
    fn new(input: impl AsFd, ending: &Ending, woken: UnixStream) -> io::Result<Self> {
        let from = File::from(input.as_fd().try_clone_to_owned()?);
        let bytes = vec![0; PIECE].into_boxed_slice();
        Ok(Self { from, ending: ending.clone(), woken, bytes, unused: 0..0, at_end: false })
    }

    /// Waits until there is something to read, or a signal.
    fn wait(&self) -> io::Result<()> {
        let mut wanted = [PollFd::new(&self.from, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        poll(&mut wanted, None)?;
        Ok(())
    }

    /// Reads what comes next; nothing at the end.
    fn read_more(&mut self) -> io::Result<usize> {
        loop {
            self.wait()?;
            // Nobody takes out what woke this reader: to have been asked once holds for ever.
            if self.ending.is_asked() {
                return Ok(0);
            }
            match self.from.read(&mut self.bytes) {
                // Whoever started the program may have made its input one that does not wait.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }
}

#[cfg(unix)]
impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.unused.is_empty() && !self.at_end {
            // An error is told once; whoever reads on finds the end.
            self.at_end = true;
            let number = match self.read_more() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {
                    self.at_end = false;
                    return Err(e);
                }
                other => other?,
            };
            (self.unused, self.at_end) = (0..number, number == 0);
        }
        Ok(&self.bytes[self.unused.clone()])
    }

    fn consume(&mut self, amount: usize) {
        self.unused.start = (self.unused.start + amount).min(self.unused.end);
    }
}

#[cfg(unix)]
impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let number = available.read(buffer)?;
        self.consume(number);
        Ok(number)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// The input, its other end, and what wakes it.
    fn input(ending: &Ending) -> (Input, UnixStream, UnixStream) {
        let (from, to) = UnixStream::pair().unwrap();
        let (woken, waker) = UnixStream::pair().unwrap();
        (Input::new(from, ending, woken).unwrap(), to, waker)
    }

    #[test]
    fn all_that_is_sent_arrives() {
        let sent: Vec<u8> = (0..=250_u8).cycle().take(3 * PIECE + 7).collect();
        let (mut input, mut to, _waker) = input(&Ending::default());
        let mut arrived = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                to.write_all(&sent).unwrap();
                to.shutdown(std::net::Shutdown::Write).unwrap();
            });
            input.read_to_end(&mut arrived).unwrap();
        });
        assert!(arrived == sent);
        assert!(input.fill_buf().unwrap().is_empty(), "an end stays one");
    }

    #[test]
    fn input_that_does_not_wait_is_waited_for() {
        let (from, mut to) = UnixStream::pair().unwrap();
        from.set_nonblocking(true).unwrap();
        let (woken, _waker) = UnixStream::pair().unwrap();
        let mut input = Input::new(from, &Ending::default(), woken).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                to.write_all(b"later").unwrap();
            });
            assert_eq!(input.fill_buf().unwrap(), b"later");
        });
    }

    #[test]
    fn input_ends_when_asked() {
        let ending = Ending::default();
        let (mut input, mut to, waker) = input(&ending);
        to.write_all(b"x").unwrap();
        assert_eq!(input.fill_buf().unwrap(), b"x");
        input.consume(1);
        // While it waits.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                assert!(!ending.ask());
                (&waker).write_all(&[0]).unwrap();
            });
            assert!(input.fill_buf().unwrap().is_empty());
        });
        to.write_all(b"y").unwrap();
        assert!(input.fill_buf().unwrap().is_empty());
    }
}
