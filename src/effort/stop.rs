//! Work that is ended from outside.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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
    /// Whether work unwinds where it is ended.
    unwinds: bool,
}

/// What unwinds where work is ended.
struct Unwound;

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
        Self(Arc::new(Inner { deadline: Instant::now().checked_add(time), ..Inner::default() }))
    }

    /// Ends work that nobody waits for any more, wherever it is shared among threads or walks along a trace, also
    /// where it has no other way to fail: it unwinds up to [`Stop::during`].
    pub fn unwinding() -> Self {
        Self(Arc::new(Inner { unwinds: true, ..Inner::default() }))
    }

    /// Does work that heeds this stop; nothing comes of it if it unwound. Other panics go on.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(|| heeding(Some(self), work))) {
            Ok(found) => Some(found),
            Err(panic) if panic.is::<Unwound>() => None,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Unwinds, if that is how this stop ends work and it was asked to.
    pub(crate) fn unwind_if_asked(&self) {
        if self.0.unwinds && self.0.asked.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Unwound));
        }
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

/// The stop of this thread, if work unwinds where it is ended.
pub(crate) fn unwinding_stop() -> Option<Stop> {
    stop().filter(|stop| stop.0.unwinds)
}

/// Ends the work of this thread here, if it unwinds where it is ended: for loops that run long in one thread.
pub(crate) fn unwind_if_asked() {
    STOP.with_borrow(|stop| stop.as_ref().inspect(|stop| stop.unwind_if_asked()).is_some());
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

    #[test]
    fn stopped_work_unwinds_in_all_threads() {
        use crate::parallel::map;
        let (stop, done) = (Stop::unwinding(), std::sync::atomic::AtomicUsize::new(0));
        let items: Vec<usize> = (0..10_000).collect();
        let one = |&item: &usize| {
            // Work within work is stopped too.
            map(&[1, 2, 3], |_| {
                if done.fetch_add(1, Ordering::Relaxed) == 100 {
                    stop.ask();
                }
            });
            item
        };
        assert!(stop.during(|| map(&items, one)).is_none());
        assert!(done.load(Ordering::Relaxed) < 5_000, "{done:?}");
        assert_eq!(map(&items, |&i| i), items, "what is not stopped goes on");
        let asked = Stop::new();
        asked.ask();
        let inner = || map(&[1, 2, 3], |_| stopped());
        let all = || heeding(Some(&asked), || map(&items[..100], |_| heeding(Some(&asked), inner)));
        assert_eq!(all().len(), 100, "others end in their own way");
        assert!(super::stop().is_none());
    }

    #[test]
    fn other_panics_are_not_hidden() {
        let caught = catch_unwind(|| Stop::unwinding().during(|| resume_unwind(Box::new("of a test"))));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"of a test"));
    }
}
