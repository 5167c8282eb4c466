//! Where requests wait for those who work on them. Work is done by a few threads, however many ask, and rankings by
//! others than predictions, which take a thousandth of their time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::super::answer::AnswerLine;
use super::super::id::Id;
use super::super::request::{Operation, RequestLine};
use super::super::server::{Serving, ending};
use super::super::session::Session;
use crate::effort::{Stop, heeding};
use crate::report::ErrorDocument;

/// How often somebody who waits is asked whether they still do.
const LOOK: Duration = Duration::from_millis(100);

/// A request that waits or is being worked on.
struct Task {
    request: RequestLine,
    answer: SyncSender<String>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Nobody waits for the answer any more.
    is_left: bool,
    /// Ends the work that has begun.
    stop: Option<Stop>,
}

/// Hands requests to workers.
pub(super) struct Desk {
    short: Sender<Task>,
    long: Sender<Task>,
}

/// What the workers of a lane take from.
pub(super) struct Lane(Mutex<Receiver<Task>>);

impl Desk {
    /// A desk, and its lanes for short and for long work. Lanes end when there is no desk any more.
    pub fn new() -> (Self, [Lane; 2]) {
        let ((short, shorts), (long, longs)) = (channel(), channel());
        (Self { short, long }, [Lane(Mutex::new(shorts)), Lane(Mutex::new(longs))])
    }

    /// The answer to a request, as a line; none once `is_gone` says that nobody waits for it.
    pub fn ask(&self, body: &[u8], is_gone: impl Fn() -> bool) -> Option<String> {
        let request = match understood(body) {
            Ok(request) => request,
            Err(answer) => return Some(answer.line()),
        };
        let is_long = matches!(request.op, Operation::Rank | Operation::Explain | Operation::Sweep);
        let ((answer, answered), state) = (sync_channel(1), Arc::<Mutex<State>>::default());
        let task = Task { request, answer, state: Arc::clone(&state) };
        let lane = if is_long { &self.long } else { &self.short };
        lane.send(task).ok()?;
        loop {
            match answered.recv_timeout(LOOK) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if is_gone() => {
                    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    state.is_left = true;
                    state.stop.iter().for_each(Stop::ask);
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Lane {
    /// Works on what comes until nothing more can come.
    pub fn work(&self, session: &Session, serving: &Serving) {
        loop {
            let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(task) = next else { return };
            let id = task.request.id.clone();
            let stop = serving.time_limit.map_or_else(Stop::new, Stop::after);
            {
                let mut state = task.state.lock().unwrap_or_else(PoisonError::into_inner);
                if state.is_left {
                    continue;
                }
                state.stop = Some(stop.clone());
            }
            let outcome = if serving.ending.is_asked() {
                Err(ending())
            } else {
                let outcome = heeding(Some(&stop), || session.answer(task.request));
                serving.unless_stopped(&stop, outcome)
            };
            let line = AnswerLine::new(id, outcome).line();
            // Who left does not read it.
            let _ = task.answer.send(line);
        }
    }
}

fn understood(body: &[u8]) -> Result<RequestLine, Box<AnswerLine>> {
    let refuse = |id: Id, error| Box::new(AnswerLine::new(id, Err(error)));
    let text = std::str::from_utf8(body).map_err(|e| {
        let message = format!("this body is not UTF-8 text (byte {})", e.valid_up_to());
        refuse(Id::default(), ErrorDocument::single("not-text", message, Some("send UTF-8".to_owned())))
    })?;
    let request = RequestLine::read(text.strip_prefix('\u{feff}').unwrap_or(text));
    let request = request.map_err(|(id, error)| refuse(id, error))?;
    if request.op == Operation::Cancel {
        let message = "over HTTP a request is cancelled by closing its connection".to_owned();
        return Err(refuse(request.id, ErrorDocument::single("request", message, None)));
    }
    Ok(request)
}
