//! Progress on standard error, when it is a terminal and the work takes long. By hand: the work counts in an atomic
//! number, and with `indicatif` (five crates more) the thread that watches it would be the same.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Work that takes less time shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(100);

/// A line that is written again and again.
pub(super) struct Progress<'a> {
    done: &'a AtomicUsize,
    all: &'a AtomicUsize,
    noun: &'static str,
    shown: bool,
}

impl<'a> Progress<'a> {
    /// Of `all` pieces of work, `done` counts those that are finished. Nothing is shown where there are none.
    pub(super) fn start(done: &'a AtomicUsize, all: &'a AtomicUsize, quiet: bool) -> Self {
        Self { done, all, noun: "candidates", shown: !quiet && std::io::stderr().is_terminal() }
    }

    /// What the pieces are called.
    pub(super) fn counting(self, noun: &'static str) -> Self {
        Self { noun, ..self }
    }

    /// Does the work, showing progress beside it.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        if !self.shown {
            return work();
        }
        let finished = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| self.watch(&finished));
            let result = work();
            finished.store(true, Ordering::Relaxed);
            watcher.thread().unpark();
            result
        })
    }

    fn watch(&self, finished: &AtomicBool) {
        let mut waited = Duration::ZERO;
        let mut written = false;
        while !finished.load(Ordering::Relaxed) {
            std::thread::park_timeout(STEP);
            waited += STEP;
            let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
            if waited >= PATIENCE && all > 0 && !finished.load(Ordering::Relaxed) {
                let percent = 100 * done / all;
                let _ = write!(std::io::stderr(), "\r{done} of {all} {} ({percent} %)", self.noun);
                written = true;
            }
        }
        if written {
            let _ = write!(std::io::stderr(), "\r{:60}\r", "");
        }
    }
}

/// A line on standard error.
pub(super) fn say(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}
