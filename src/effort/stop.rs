//! Work that is ended from outside.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::instant::Instant;

/// Ends work, also that of other threads. Copies end the same work.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    asked: AtomicBool,
    /// From when on nothing more is done.
    deadline: Option<Instant>,
}

/// Why work was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked for it.
    Asked,
    /// It took too long.
    Time,
}

impl Stop {
    /// Ends nothing until it is asked to.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also ends what is not done after some time; from now on.
    pub fn after(time: Duration) -> Self {
        Self(Arc::new(Inner { asked: AtomicBool::new(false), deadline: Instant::now().checked_add(time) }))
    }

    /// Ends the work.
    pub fn ask(&self) {
        self.0.asked.store(true, Ordering::Relaxed);
    }

    /// Why the work is to end; `None` as long as it may go on.
    pub fn reason(&self) -> Option<StopReason> {
        if self.0.asked.load(Ordering::Relaxed) {
            return Some(StopReason::Asked);
        }
        self.0.deadline.filter(|d| Instant::now() >= *d).map(|_| StopReason::Time)
    }
}

thread_local! {
    static STOP: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// Does some work that heeds a stop.
pub fn heeding<T>(stop: Option<&Stop>, work: impl FnOnce() -> T) -> T {
    let before = STOP.replace(stop.cloned());
    let _inside = Inside(before);
    work()
}

/// The stop that this thread heeds, to be handed to others that help it.
pub fn stop() -> Option<Stop> {
    STOP.with_borrow(Clone::clone)
}

/// Whether what this thread does is to end.
pub fn stopped() -> bool {
    STOP.with_borrow(|stop| stop.as_ref().is_some_and(|s| s.reason().is_some()))
}

struct Inside(Option<Stop>);

impl Drop for Inside {
    fn drop(&mut self) {
        STOP.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_out() {
        assert_eq!(Stop::after(Duration::ZERO).reason(), Some(StopReason::Time));
        assert_eq!(Stop::after(Duration::from_secs(1000)).reason(), None);
    }

    #[test]
    fn copies_stop_what_other_threads_do() {
        let asked = Stop::new();
        let copy = heeding(Some(&asked), stop).unwrap();
        asked.ask();
        assert!(std::thread::spawn(move || heeding(Some(&copy), stopped)).join().unwrap());
        assert!(stop().is_none() && !stopped());
    }
}
