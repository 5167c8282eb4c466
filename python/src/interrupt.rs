//! Work during which Ctrl-C counts: it is done in a thread of its own, while the caller's looks for signals.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use wavecast::stop::Stop;

/// How long a signal may wait.
const STEP: Duration = Duration::from_millis(25);
/// As much as the main thread of a program has.
const STACK: usize = 8 << 20;

/// Does the work, while other Python threads run. What a signal handler raises, such as `KeyboardInterrupt`, is raised
/// here at once; the work is told to stop, and what cannot stop goes on unheard.
pub fn interruptible<R: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let stop = Stop::default();
    let (sender, mut receiver) = sync_channel(1);
    let stopped_by = stop.clone();
    let worker = move || {
        let found = catch_unwind(AssertUnwindSafe(|| stopped_by.during(work)));
        // Nobody listens any more after an interrupt.
        let _ = sender.send(found);
    };
    Builder::new()
        .stack_size(STACK)
        .spawn(worker)
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
                    stop.stop();
                    return Err(raised);
                }
            }
            Ok(Ok(None)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result"));
            }
        }
    }
}
