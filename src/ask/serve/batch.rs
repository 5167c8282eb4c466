//! Requests of a file, answered one after the other in their order: the same requests give the same bytes, on any number
//! of threads.

use std::io::{self, BufRead};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::answer::{AnswerLine, Documents};
use super::id::Id;
use super::job::Job;
use super::lines::{Read, read_line};
use super::request::{Operation, RequestLine};
use super::session::Session;
use crate::effort::{Stop, heeding};
use crate::parallel;
use crate::report::ErrorDocument;

/// Requests that are worked on together, for each thread, and bytes of them: answers are written when all are there.
const TURN: usize = 64;
const TURN_BYTES: usize = 16 << 20;

/// How requests of a file are answered.
#[derive(Debug)]
pub struct Batch<'b> {
    /// How long a request may be worked on; as long as it takes without one.
    pub time_limit: Option<Duration>,
    /// Longest request in bytes.
    pub request_bytes: usize,
    /// Requests whose answers are there already, and the id of the last of them. Of these only definitions are heeded.
    pub answered: Option<(usize, Id)>,
    /// Requests that are done.
    pub done: &'b AtomicUsize,
    /// Ends the work when what is being worked on is answered.
    pub end: &'b AtomicBool,
}

/// What came of all requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batched {
    /// Requests that were answered now.
    pub answered: usize,
    /// Those of them without a result.
    pub failed: usize,
    /// The first of these, by its number from 1, and why.
    pub first_failed: Option<(usize, String)>,
    /// Whether it was ended before all were answered.
    pub ended: bool,
}

/// Why no requests are answered.
#[derive(Debug, thiserror::Error)]
pub enum NotBatched {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The answers that are there are not those of these requests: the number of the request, its id and that of the
    /// answer.
    #[error("the request {0} has the id {1}, and the answer that is there the id {2}")]
    Other(usize, String, String),
    /// There are more answers than requests.
    #[error("there are {0} answers to {1} requests")]
    TooMany(usize, usize),
}

/// A request on its way to its answer: its number from 1 and its id.
struct Request {
    number: usize,
    id: Id,
    job: Result<Job, ErrorDocument>,
}

/// Answers the requests of `input`, one a line, in their order. A request without an id gets its number as one.
/// Definitions hold for all requests after theirs.
pub fn batch(
    session: &Session,
    mut input: impl BufRead,
    write: &mut dyn FnMut(&str) -> io::Result<()>,
    how: &Batch<'_>,
) -> Result<Batched, NotBatched> {
    let mut reader = Requests { session, how, line: Vec::new(), number: 0 };
    let mut found = Batched::default();
    loop {
        found.ended = how.end.load(Ordering::Relaxed);
        let turn = if found.ended { Vec::new() } else { reader.turn(&mut input)? };
        if turn.is_empty() {
            break;
        }
        let answers = parallel::map(&turn, |request| {
            let outcome = match &request.job {
                Ok(job) => in_time(how.time_limit, || session.run(job)),
                Err(why) => Err(why.clone()),
            };
            how.done.fetch_add(1, Ordering::Relaxed);
            let error = outcome.as_ref().err().map(said);
            (AnswerLine::new(request.id.clone(), outcome).line() + "\n", error)
        });
        let mut text = String::new();
        for (request, (line, error)) in turn.iter().zip(answers) {
            text.push_str(&line);
            found.answered += 1;
            if let Some(error) = error {
                found.failed += 1;
                found.first_failed.get_or_insert((request.number, error));
            }
        }
        write(&text)?;
    }
    reader.checked(found)
}

/// The first of the reasons why there is no result.
fn said(error: &ErrorDocument) -> String {
    error.errors.first().map_or_else(String::new, |e| e.message.clone())
}

fn in_time(
    limit: Option<Duration>,
    work: impl FnOnce() -> Result<Documents, ErrorDocument>,
) -> Result<Documents, ErrorDocument> {
    let Some(limit) = limit else { return work() };
    let stop = Stop::after(limit);
    let outcome = heeding(Some(&stop), work);
    if stop.reason().is_none() {
        return outcome;
    }
    // What came of stopped work may be a part of the answer.
    let message = format!("the request took longer than {} s", limit.as_secs_f64());
    let help = "ask for fewer launches at a time, or give it more time with --time-limit".to_owned();
    Err(ErrorDocument::single("time-limit", message, Some(help)))
}

struct Requests<'r> {
    session: &'r Session,
    how: &'r Batch<'r>,
    line: Vec<u8>,
    /// Requests that were read.
    number: usize,
}

impl Requests<'_> {
    /// The next requests to be answered.
    fn turn(&mut self, input: &mut impl BufRead) -> Result<Vec<Request>, NotBatched> {
        let (mut turn, mut bytes) = (Vec::new(), 0);
        while turn.len() < TURN * parallel::threads() && bytes < TURN_BYTES {
            self.line.clear();
            let read = match read_line(input, &mut self.line, self.how.request_bytes)? {
                Read::End => break,
                Read::Line { .. } if self.line.iter().all(u8::is_ascii_whitespace) => continue,
                Read::Line { .. } => request(&self.line),
                Read::TooLong => Err((Id::default(), too_long(self.how.request_bytes))),
            };
            self.number += 1;
            bytes += self.line.len();
            let id = match &read {
                Ok(request) => request.id.clone(),
                Err((id, _)) => id.clone(),
            };
            let id = if id.is_null() { Id::number(self.number) } else { id };
            if self.is_answered(&id)? {
                if let Ok(request) = read
                    && request.op == Operation::Define
                {
                    // Whether it makes sense was answered before.
                    let _ = self.session.prepare(request);
                }
                self.how.done.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let job = read.map_err(|(_, why)| why).and_then(|request| self.session.prepare(request));
            turn.push(Request { number: self.number, id, job });
        }
        Ok(turn)
    }

    /// Whether the request that was read last has its answer already.
    fn is_answered(&self, id: &Id) -> Result<bool, NotBatched> {
        match &self.how.answered {
            Some((count, last)) if self.number == *count && !last.is(id) => {
                Err(NotBatched::Other(self.number, id.text(), last.text()))
            }
            Some((count, _)) => Ok(self.number <= *count),
            None => Ok(false),
        }
    }

    fn checked(&self, found: Batched) -> Result<Batched, NotBatched> {
        match &self.how.answered {
            Some((count, _)) if *count > self.number && !found.ended => {
                Err(NotBatched::TooMany(*count, self.number))
            }
            _ => Ok(found),
        }
    }
}

fn request(line: &[u8]) -> Result<RequestLine, (Id, ErrorDocument)> {
    let text = std::str::from_utf8(line).map_err(|e| {
        let message = format!("this line is not UTF-8 text (byte {})", e.valid_up_to());
        (Id::default(), ErrorDocument::single("not-text", message, Some("save it as UTF-8".to_owned())))
    })?;
    RequestLine::read(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn too_long(most: usize) -> ErrorDocument {
    let message = format!("this line has more than {most} bytes");
    let help = "define the kernel once and name it, or allow longer lines with --request-bytes".to_owned();
    ErrorDocument::single("document-too-large", message, Some(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINE: &str = r#"{"op": "define", "name": "copy", "kernel": {"wavecast": 1, "kernel": "copy", "params": {"N": 65536},
        "fields": {"a": {"dtype": "f64", "size": "N"}, "b": {"like": "a"}}, "domain": {"x": "N"}, "loads": ["a[x]"],
        "stores": ["b[x]"], "launch": {"block": [[64], [128]], "registers": 16}}}"#;

    fn jobs(count: usize) -> String {
        let mut text = DEFINE.replace('\n', " ") + "\n\n";
        for n in 0..count {
            let line = match n % 7 {
                3 => r#"{"id": "x", "op": "rank", "kernel_ref": "none"}"#.to_owned(),
                5 => "{".to_owned(),
                _ => format!(
                    r#"{{"op": "rank", "kernel_ref": "copy", "options": {{"set": {{"N": {}}}}}, "device": "a100"}}"#,
                    4096 + n
                ),
            };
            text += &(line + "\n");
        }
        text
    }

    fn run(jobs: &str, answered: Option<(usize, Id)>) -> Result<(String, Batched), NotBatched> {
        let (done, end) = (AtomicUsize::new(0), AtomicBool::new(false));
        let how = Batch { time_limit: None, request_bytes: 1 << 20, answered, done: &done, end: &end };
        let mut out = String::new();
        let mut write = |text: &str| {
            out.push_str(text);
            Ok(())
        };
        let found = batch(&Session::new(None), jobs.as_bytes(), &mut write, &how)?;
        Ok((out, found))
    }

    #[test]
    fn answers_come_in_the_order_of_requests() {
        let (text, found) = run(&jobs(300), None).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!((lines.len(), found.answered, found.failed), (301, 301, 43 + 43));
        for (n, line) in lines.iter().enumerate() {
            let wrong = n > 0 && matches!((n - 1) % 7, 3 | 5);
            assert_eq!(line["ok"], !wrong, "{line}");
            let id = if n > 0 && (n - 1) % 7 == 3 { "x".into() } else { serde_json::Value::from(n + 1) };
            assert_eq!(line["id"], id);
        }
        assert_eq!(found.first_failed.unwrap().0, 5);
    }

    /// Wherever it was ended, what is answered later is what was missing.
    #[test]
    fn what_is_answered_is_not_answered_again() {
        let jobs = jobs(20);
        let (whole, _) = run(&jobs, None).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        for count in [1, 4, 5, 20, 21] {
            let id = serde_json::from_str::<serde_json::Value>(lines[count - 1]).unwrap()["id"].to_string();
            let id = serde_json::from_str(&id).unwrap();
            let (rest, found) = run(&jobs, Some((count, id))).unwrap();
            assert_eq!((rest, found.answered), (lines[count..].concat(), 21 - count));
        }
        let other = run(&jobs, Some((2, serde_json::from_str("7").unwrap()))).unwrap_err().to_string();
        assert_eq!(other, "the request 2 has the id 2, and the answer that is there the id 7");
        let many = run(&jobs, Some((99, Id::number(99)))).unwrap_err().to_string();
        assert_eq!(many, "there are 99 answers to 21 requests");
    }
}
