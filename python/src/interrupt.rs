//! Work during which Ctrl-C counts: it is done in a thread of its own, while the caller's looks for signals.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use wavecast::effort::Stop;

/// How long a signal may wait.
const STEP: Duration = Duration::from_millis(25);
/// As much as the main thread of a program has.
const STACK: usize = 8 << 20;
/// Most threads that wait for work.
const WAITING: usize = 8;

type Work = Box<dyn FnOnce() + Send>;

/// Threads that wait for work, and the process whose they are: a fork has none of them. To begin a thread takes three
/// times as long as to wake one.
static IDLE: Mutex<Vec<(u32, Sender<Work>)>> = Mutex::new(Vec::new());

/// Does the work, while other Python threads run. What a signal handler raises, such as `KeyboardInterrupt`, is raised
/// here at once; the work is told to stop, and what cannot stop goes on unheard.
pub fn interruptible<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let stop = Stop::unwinding();
    let (sender, mut receiver) = sync_channel(1);
    let stopped_by = stop.clone();
    elsewhere(Box::new(move || {
        let found = catch_unwind(AssertUnwindSafe(|| stopped_by.during(work)));
        // Nobody listens any more after an interrupt.
        let _ = sender.send(found);
    }))
    .map_err(|e| PyRuntimeError::new_err(format!("cannot start a thread: {e}")))?;
    loop {
        // A receiver goes along, as only one thread may have it.
        let (back, found) = py.detach(move || {
            let found = receiver.recv_timeout(STEP);
            (receiver, found)
        });
        receiver = back;
        match found {
            Ok(Ok(Some(found))) => return Ok(found),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals() {
                    stop.ask();
                    return Err(raised);
                }
            }
            Ok(Ok(None)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result"));
            }
        }
    }
}

/// Has another thread do the work: one that waits for some, or a new one.
fn elsewhere(mut work: Work) -> std::io::Result<()> {
    while let Some(idle) = waiting() {
        match idle.send(work) {
            Ok(()) => return Ok(()),
            Err(unsent) => work = unsent.0,
        }
    }
    let (sender, receiver) = channel::<Work>();
    let here = process::id();
    Builder::new().stack_size(STACK).spawn(move || {
        work();
        loop {
            // A lock that a fork inherited from another thread never opens: nobody waits for it.
            let Ok(mut idle) = IDLE.try_lock() else { return };
            if idle.len() >= WAITING {
                return;
            }
            idle.push((here, sender.clone()));
            drop(idle);
            let Ok(work) = receiver.recv() else { return };
            work();
        }
    })?;
    Ok(())
}

/// A thread of this process that waits for work.
fn waiting() -> Option<Sender<Work>> {
    let mut idle = IDLE.try_lock().ok()?;
    let here = process::id();
    idle.retain(|(owner, _)| *owner == here);
    idle.pop().map(|(_, sender)| sender)
}
