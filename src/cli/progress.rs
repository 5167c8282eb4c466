//! Progress on standard error, when it is a terminal and the work takes long. By hand: the work counts in an atomic
//! number, and with `indicatif` (five crates more) the thread that watches it would be the same.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::captured;

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
        Self {
            done,
            all,
            noun: "candidates",
            shown: !quiet && !captured::is_on() && std::io::stderr().is_terminal(),
        }
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
        let started = Instant::now();
        let mut written = false;
        let mut pace = Pace::default();
        while !finished.load(Ordering::Relaxed) {
            std::thread::park_timeout(STEP);
            let waited = started.elapsed();
            let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
            pace.note(waited, done);
            if waited >= PATIENCE && all > 0 && !finished.load(Ordering::Relaxed) {
                let percent = 100 * done / all;
                let left = pace.left(done, all).map(|left| format!(", {} left", about(left)));
                let line = format!("{done} of {all} {} ({percent} %{})", self.noun, left.unwrap_or_default());
                let _ = write!(std::io::stderr(), "\r{line:WIDTH$}");
                written = true;
            }
        }
        if written {
            let _ = write!(std::io::stderr(), "\r{:WIDTH$}\r", "");
        }
    }
}

/// Characters that the line takes, so that a shorter one leaves nothing of a longer one.
const WIDTH: usize = 70;
/// How far back the pace of the work is looked at.
const BACK: Duration = Duration::from_secs(20);

/// How fast pieces of work were finished of late: not since the beginning, as what cannot run is found out first and
/// takes hardly any time.
#[derive(Default)]
struct Pace(VecDeque<(Duration, usize)>);

impl Pace {
    /// So many were finished at this time.
    fn note(&mut self, at: Duration, done: usize) {
        // The next of several documents begins anew.
        if self.0.back().is_some_and(|last| last.1 > done) {
            self.0.clear();
        }
        while self.0.front().is_some_and(|first| at.saturating_sub(first.0) > BACK) {
            self.0.pop_front();
        }
        self.0.push_back((at, done));
    }

    /// How long the rest takes at this pace, once it is known.
    fn left(&self, done: usize, all: usize) -> Option<Duration> {
        let (first, last) = (self.0.front()?, self.0.back()?);
        let (took, made) = (last.0.saturating_sub(first.0), last.1.checked_sub(first.1)?);
        if made == 0 || took < PATIENCE / 2 {
            return None;
        }
        Duration::try_from_secs_f64(took.as_secs_f64() * all.saturating_sub(done) as f64 / made as f64).ok()
    }
}

/// A time in words, no more exact than an estimate is.
fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..90 => format!("about {} s", seconds.max(1)),
        90..5_400 => format!("about {} min", (seconds + 30) / 60),
        _ => format!("about {} h", (seconds + 1_800) / 3_600),
    }
}

/// A line on standard error.
pub(super) fn say(text: &str) {
    if !captured::with(|captured| captured.say(text)) {
        let _ = writeln!(anstream::stderr().lock(), "{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_the_pace_of_late() {
        let mut pace = Pace::default();
        let seconds = Duration::from_secs;
        assert_eq!(pace.left(0, 100), None);
        // Many that cannot run are finished at once.
        pace.note(seconds(0), 1_000);
        assert_eq!(pace.left(1_000, 2_000), None);
        for second in 0..60 {
            pace.note(seconds(second), 1_000 + 10 * usize::try_from(second).unwrap());
        }
        assert_eq!(pace.left(1_590, 2_590), Some(seconds(100)));
        // The next document.
        pace.note(seconds(60), 0);
        assert_eq!(pace.left(0, 100), None);
    }

    #[test]
    fn times_are_said_roughly() {
        let words = [0, 42, 100, 4_000, 10_000].map(|s| about(Duration::from_secs(s)));
        assert_eq!(words, ["about 1 s", "about 42 s", "about 2 min", "about 67 min", "about 3 h"]);
    }
}
