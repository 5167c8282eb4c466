//! JSON lines in, JSON lines out.

use std::io::{self, BufRead, ErrorKind, Write};
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::id::Id;

use super::answer::Answer;
use super::job::Job;
use super::request::{Op, Request};
use super::session::Session;
use crate::report::ErrorDocument;

/// Longest request in bytes.
const MOST_BYTES: usize = 64 << 20;
/// Requests that wait for a worker, for each of them: more are left in the pipe of whoever sends them.
const WAITING: usize = 4;
/// A buffer that one long line made larger than this is given back.
const KEPT_BYTES: usize = 1 << 20;

/// Answers the requests of `input`, one a line, until it ends. Each is answered once and as soon as its
/// answer is known, so that answers may come in another order; `jobs` of them are worked on at a time.
/// Definitions hold for every line after theirs. An output that nobody reads ends the work.
pub fn serve(
    session: &Session,
    mut input: impl BufRead,
    output: impl Write + Send,
    jobs: NonZeroUsize,
) -> io::Result<()> {
    let output = Mutex::new(Output { to: output, failed: None });
    let (sender, receiver) = sync_channel(jobs.get().saturating_mul(WAITING));
    let receiver = Mutex::new(receiver);
    let read = std::thread::scope(|scope| {
        for _ in 0..jobs.get() {
            scope.spawn(|| work(session, &receiver, &output));
        }
        let read = read_all(session, &mut input, &sender, &output);
        // Workers end when nobody can send any more.
        drop(sender);
        read
    });
    let failed = output.into_inner().unwrap_or_else(PoisonError::into_inner).failed;
    match failed {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => read,
    }
}

/// Where answers go.
struct Output<W> {
    to: W,
    failed: Option<io::Error>,
}

/// Writes an answer; `false` if nothing can be written any more.
fn write(output: &Mutex<Output<impl Write>>, answer: &Answer) -> bool {
    let line = answer.line() + "\n";
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    if output.failed.is_none() {
        let written = output.to.write_all(line.as_bytes()).and_then(|()| output.to.flush());
        output.failed = written.err();
    }
    output.failed.is_none()
}

fn work(session: &Session, jobs: &Mutex<Receiver<(Id, Job)>>, output: &Mutex<Output<impl Write>>) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((id, job)) = next else { return };
        // Also where nothing can be written: the reader may wait for room in the queue.
        let _ = write(output, &Answer::new(id, session.run(&job)));
    }
}

/// Reads requests to the end of the input and hands them to the workers.
fn read_all(
    session: &Session,
    input: &mut impl BufRead,
    jobs: &SyncSender<(Id, Job)>,
    output: &Mutex<Output<impl Write>>,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        line.shrink_to(KEPT_BYTES);
        let mut go_on = true;
        match read_line(input, &mut line, MOST_BYTES)? {
            Read::End => return Ok(()),
            Read::TooLong => {
                let message = format!("this line has more than {MOST_BYTES} bytes");
                let help = Some("send the kernel in several requests".to_owned());
                let error = ErrorDocument::of("document-too-large", message, help);
                go_on = write(output, &Answer::new(Id::default(), Err(error)));
            }
            Read::Line if line.iter().all(u8::is_ascii_whitespace) => {}
            Read::Line => match understood(session, &line) {
                // A definition is done already; waiting for a worker would only delay its answer.
                Ok((id, job)) if job.op == Op::Define => {
                    go_on = write(output, &Answer::new(id, session.run(&job)));
                }
                Ok(task) => {
                    if jobs.send(task).is_err() {
                        return Ok(());
                    }
                }
                Err(answer) => go_on = write(output, &answer),
            },
        }
        if !go_on {
            return Ok(());
        }
    }
}

fn understood(session: &Session, line: &[u8]) -> Result<(Id, Job), Box<Answer>> {
    let refuse = |id: Id, error| Box::new(Answer::new(id, Err(error)));
    let text = std::str::from_utf8(line).map_err(|e| {
        let message = format!("this line is not UTF-8 text (byte {})", e.valid_up_to());
        refuse(Id::default(), ErrorDocument::of("not-text", message, Some("send UTF-8".to_owned())))
    })?;
    // Some shells put a byte-order mark before what they send.
    let request = Request::read(text.strip_prefix('\u{feff}').unwrap_or(text))
        .map_err(|(id, error)| refuse(id, error))?;
    let id = request.id.clone();
    if id.is_null() {
        let message = "the request has no id, so that its answer could not be told from others".to_owned();
        let help = Some("give it an `id`: a number or a text".to_owned());
        return Err(refuse(id, ErrorDocument::of("request", message, help)));
    }
    session.prepare(request).map(|job| (id.clone(), job)).map_err(|error| refuse(id, error))
}

/// What came of reading a line.
#[derive(Debug, PartialEq)]
enum Read {
    Line,
    TooLong,
    End,
}

/// Reads a line into `line`, but no more than `most` bytes; the rest of a longer one is skipped.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, most: usize) -> io::Result<Read> {
    let mut too_long = false;
    loop {
        let available = match input.fill_buf() {
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Read::TooLong,
                (false, true) => Read::End,
                (false, false) => Read::Line,
            });
        }
        let end = memchr::memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        too_long |= line.len() + part.len() > most;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(if too_long { Read::TooLong } else { Read::Line });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_end_with_the_input_and_long_ones_are_skipped() {
        // A buffer of three bytes: lines arrive in pieces.
        let mut input = BufReader::with_capacity(3, &b"one\n\nlonger than six\nsix: 6\nend"[..]);
        let mut next = || {
            let mut line = Vec::new();
            let read = read_line(&mut input, &mut line, 6).unwrap();
            (read, String::from_utf8(line).unwrap())
        };
        let wanted = [
            (Read::Line, "one"),
            (Read::Line, ""),
            (Read::TooLong, ""),
            (Read::Line, "six: 6"),
            (Read::Line, "end"),
            (Read::End, ""),
        ];
        for (read, line) in wanted {
            assert_eq!(next(), (read, line.to_owned()));
        }
        let mut input = &b"too long and without an end"[..];
        assert_eq!(read_line(&mut input, &mut Vec::new(), 6).unwrap(), Read::TooLong);
    }
}
