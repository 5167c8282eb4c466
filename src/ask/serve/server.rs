//! JSON lines in, JSON lines out.

use std::io::{self, BufRead, ErrorKind, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::answer::{AnswerLine, Cancellation, Document, Documents};
use super::id::Id;
use super::lines::{Read, read_line};
use super::queue::{Begun, Lane, Queue, Task};
use super::request::{Operation, RequestLine};
use super::session::Session;
use super::turns::Turns;
use crate::effort::{Instant, Stop, StopReason, heeding};
use crate::report::ErrorDocument;

/// A buffer that one long line made larger than this is given back.
const KEPT_BYTES: usize = 1 << 20;
/// Nobody has read an answer, thought of the next request and sent it in this time: what comes sooner was sent without
/// waiting for answers, and is for all workers.
const SOONEST: Duration = Duration::from_micros(4);
/// Rankings that take turns, for each worker, and on machines of many processors no more than these or one
/// for each worker.
const RANKINGS: usize = 4;
const MOST_RANKINGS: usize = 32;

/// How many work at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    /// On predictions and the like.
    pub short: usize,
    /// On rankings and the like: they do their work on threads that they share, and who waits for it costs nothing.
    pub long: usize,
}

impl Lanes {
    pub fn for_jobs(jobs: NonZeroUsize) -> Self {
        let jobs = jobs.get();
        Self { short: jobs, long: (jobs * RANKINGS).min(jobs.max(MOST_RANKINGS)) }
    }
}

/// How a server works.
#[derive(Debug, Clone)]
pub struct Serving {
    /// Requests that are worked on at a time; several rankings more take turns.
    pub jobs: NonZeroUsize,
    /// How long a request may be worked on; `None` for as long as it takes.
    pub time_limit: Option<Duration>,
    /// Longest request in bytes.
    pub request_bytes: usize,
    /// Tells the server to finish.
    pub ending: Ending,
}

impl Serving {
    /// Time that a request has by default.
    pub const TIME_LIMIT: Duration = Duration::from_secs(10);
    /// Longest request by default.
    pub const REQUEST_BYTES: usize = 64 << 20;

    /// With the default limits.
    pub fn new(jobs: NonZeroUsize) -> Self {
        let (time_limit, request_bytes) = (Some(Self::TIME_LIMIT), Self::REQUEST_BYTES);
        Self { jobs, time_limit, request_bytes, ending: Ending::default() }
    }

    /// What came of stopped work is not the answer, as it may be a part of it.
    pub(super) fn unless_stopped<T>(
        &self,
        stop: &Stop,
        outcome: Result<T, ErrorDocument>,
    ) -> Result<T, ErrorDocument> {
        match stop.reason() {
            None => outcome,
            Some(StopReason::Asked) => Err(cancelled()),
            Some(StopReason::Time) => Err(self.too_slow()),
        }
    }

    fn too_slow(&self) -> ErrorDocument {
        let seconds = self.time_limit.unwrap_or_default().as_secs_f64();
        let message = format!("the request took longer than {seconds} s, which is the server's time limit");
        let help =
            "ask for fewer launches at a time, or start the server with a larger --time-limit".to_owned();
        ErrorDocument::single("time-limit", message, Some(help))
    }
}

impl From<NonZeroUsize> for Serving {
    fn from(jobs: NonZeroUsize) -> Self {
        Self::new(jobs)
    }
}

/// Tells a server to finish what it is working on and to refuse what waits. Its input has to end then, too.
#[derive(Debug, Clone, Default)]
pub struct Ending(Arc<AtomicBool>);

impl Ending {
    /// Says so; whether it was said before.
    pub fn ask(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether it was said.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Answers the requests of `input`, one a line, until it ends. Each is answered once and as soon as its
/// answer is known, so that answers may come in another order. Definitions hold for every line after theirs.
/// An output that nobody reads ends the work.
pub fn serve(
    session: &Session,
    input: impl BufRead + Send,
    output: impl Write + Send,
    serving: impl Into<Serving>,
) -> io::Result<()> {
    let (serving, output) = (serving.into(), Mutex::new(Output { to: output, failed: None }));
    let workers = Lanes::for_jobs(serving.jobs);
    let queue = Queue::new(workers.short, workers.long);
    let server = Server { session, serving: &serving, queue, output: &output, turns: Turns::new(input) };
    let read = std::thread::scope(|scope| {
        let lanes = [(Lane::Short, workers.short), (Lane::Long, workers.long)];
        let server = &server;
        for (lane, workers) in lanes {
            for worker in 0..workers {
                scope.spawn(move || server.work(lane, worker));
            }
        }
        // Before there is another who could.
        let input = server.turns.take();
        let other = scope.spawn(|| server.read_in_turn(server.turns.stand_in()));
        let here = server.read_in_turn(input);
        here.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
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

struct Server<'s, I, W> {
    session: &'s Session,
    serving: &'s Serving,
    queue: Queue,
    output: &'s Mutex<Output<W>>,
    turns: Turns<I>,
}

/// What a line asks of its reader.
enum Next {
    Read,
    /// To work on a request by itself.
    Work(Box<Begun>),
    /// Nothing more comes.
    End,
    /// Nobody reads the answers any more.
    Abandon,
}

impl Next {
    fn read_if(go_on: bool) -> Self {
        if go_on { Next::Read } else { Next::Abandon }
    }
}

impl<I: BufRead, W: Write> Server<'_, I, W> {
    /// Writes an answer; `false` if nothing can be written any more.
    fn write(&self, answer: &AnswerLine) -> bool {
        let line = answer.line() + "\n";
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if output.failed.is_none() {
            let written = output.to.write_all(line.as_bytes()).and_then(|()| output.to.flush());
            output.failed = written.err();
        }
        output.failed.is_none()
    }

    /// Does the tasks of a lane until no more come.
    fn work(&self, lane: Lane, worker: usize) {
        while let Some(begun) = self.queue.begin(lane, worker, self.serving.time_limit) {
            if !self.finish(begun) {
                self.queue.abandon();
            }
        }
    }

    /// Does and answers a task; `false` if nothing can be written any more.
    fn finish(&self, begun: Begun) -> bool {
        let outcome = heeding(Some(&begun.stop), || self.session.run(&begun.task.job));
        self.queue.done(&begun);
        let Begun { task: Task { id, .. }, stop, .. } = begun;
        let go_on = self.write(&AnswerLine::new(id, self.serving.unless_stopped(&stop, outcome)));
        self.queue.answered();
        go_on
    }

    /// Reads requests whenever it is this thread's turn, up to the end of the input.
    fn read_in_turn(&self, mut input: Option<I>) -> io::Result<()> {
        let mut line = Vec::new();
        while let Some(mut mine) = input {
            input = match self.read(&mut mine, &mut line) {
                Ok(Next::Read) => Some(mine),
                Ok(Next::Work(begun)) => {
                    let left = self.turns.leave(mine);
                    give_back(&mut line);
                    if !self.finish(*begun) {
                        self.queue.abandon();
                    }
                    self.turns.back(&left).or_else(|| self.turns.stand_in())
                }
                Ok(Next::Abandon) => {
                    self.queue.abandon();
                    self.end();
                    None
                }
                Ok(Next::End) => {
                    self.end();
                    None
                }
                Err(error) => {
                    self.end();
                    return Err(error);
                }
            };
        }
        Ok(())
    }

    /// Nothing more can come: workers end when they have done what waits.
    fn end(&self) {
        self.turns.end();
        if self.serving.ending.is_asked() {
            self.refuse_waiting();
        }
        self.queue.close();
    }

    /// Reads a request, and hands it to the workers if it is not for its reader.
    fn read(&self, input: &mut I, line: &mut Vec<u8>) -> io::Result<Next> {
        give_back(line);
        let began = Instant::now();
        Ok(match read_line(input, line, self.serving.request_bytes)? {
            Read::End => Next::End,
            Read::TooLong => Next::read_if(self.write(&AnswerLine::new(Id::default(), Err(self.too_long())))),
            Read::Line { .. } if line.iter().all(u8::is_ascii_whitespace) => Next::Read,
            Read::Line { more } => self.take(line, !more && began.elapsed() > SOONEST),
        })
    }

    fn too_long(&self) -> ErrorDocument {
        let message = format!("this line has more than {} bytes", self.serving.request_bytes);
        let help = "send the kernel in several requests, or start the server with a larger --request-bytes";
        ErrorDocument::single("document-too-large", message, Some(help.to_owned()))
    }

    /// Takes a line, which is all that was sent if its sender waits for the answer.
    fn take(&self, line: &[u8], sender_waits: bool) -> Next {
        let request = match understood(line) {
            Ok(request) => request,
            // The end of the input may have cut the last line.
            Err(_) if self.serving.ending.is_asked() => return Next::Read,
            Err(answer) => return Next::read_if(self.write(&answer)),
        };
        let id = request.id.clone();
        if self.serving.ending.is_asked() {
            return Next::read_if(self.write(&AnswerLine::new(id, Err(ending()))));
        }
        match request.op {
            Operation::Cancel => Next::read_if(self.cancel(id, &request.target)),
            // Done here and now: it holds for the next line.
            Operation::Define => {
                let stop = self.serving.time_limit.map_or_else(Stop::new, Stop::after);
                let define = || self.session.prepare(request).and_then(|job| self.session.run(&job));
                let outcome = heeding(Some(&stop), define);
                let answer = AnswerLine::new(id, self.serving.unless_stopped(&stop, outcome));
                Next::read_if(self.write(&answer))
            }
            _ => match self.session.prepare(request) {
                Ok(job) => self.begin(Task { id, job: Box::new(job) }, sender_waits),
                Err(error) => Next::read_if(self.write(&AnswerLine::new(id, Err(error)))),
            },
        }
    }

    /// Has the reader do a task for which somebody waits, if there is no other, and the workers otherwise.
    fn begin(&self, task: Task, sender_waits: bool) -> Next {
        let alone =
            if sender_waits { self.queue.begin_alone(task, self.serving.time_limit) } else { Err(task) };
        match alone {
            Ok(begun) => Next::Work(Box::new(begun)),
            Err(task) => Next::read_if(self.queue.push(task)),
        }
    }

    /// Ends other requests; each of them is answered.
    fn cancel(&self, id: Id, target: &Id) -> bool {
        if target.is_null() {
            let message = "a request to cancel another one needs the id of that as `target`".to_owned();
            return self.write(&AnswerLine::new(id, Err(ErrorDocument::single("request", message, None))));
        }
        let (stopped, waiting) = self.queue.cancel(target);
        let cancelled_now = stopped + waiting.len();
        let go_on = waiting.into_iter().all(|task| self.write(&AnswerLine::new(task.id, Err(cancelled()))));
        let (schema, target) = ("wavecast/cancellation/1", target.clone());
        let document = Document::Cancellation(Cancellation { schema, target, cancelled: cancelled_now });
        go_on && self.write(&AnswerLine::new(id, Ok(Documents::from_list(vec![document]))))
    }

    fn refuse_waiting(&self) {
        for task in self.queue.drain() {
            self.write(&AnswerLine::new(task.id, Err(ending())));
        }
    }
}

/// Empties a line, and gives back the memory of a long one.
fn give_back(line: &mut Vec<u8>) {
    line.clear();
    line.shrink_to(KEPT_BYTES);
}

fn cancelled() -> ErrorDocument {
    ErrorDocument::single("cancelled", "the request was cancelled".to_owned(), None)
}

pub(super) fn ending() -> ErrorDocument {
    let help = "ask the next server".to_owned();
    ErrorDocument::single("ending", "the server ends and does not begin this request".to_owned(), Some(help))
}

fn understood(line: &[u8]) -> Result<RequestLine, Box<AnswerLine>> {
    let refuse = |id: Id, error| Box::new(AnswerLine::new(id, Err(error)));
    let text = std::str::from_utf8(line).map_err(|e| {
        let message = format!("this line is not UTF-8 text (byte {})", e.valid_up_to());
        refuse(Id::default(), ErrorDocument::single("not-text", message, Some("send UTF-8".to_owned())))
    })?;
    // Some shells put a byte-order mark before what they send.
    let request = RequestLine::read(text.strip_prefix('\u{feff}').unwrap_or(text))
        .map_err(|(id, error)| refuse(id, error))?;
    if request.id.is_null() {
        let message = "the request has no id, so that its answer could not be told from others".to_owned();
        let help = Some("give it an `id`: a number or a text".to_owned());
        return Err(refuse(Id::default(), ErrorDocument::single("request", message, help)));
    }
    Ok(request)
}
