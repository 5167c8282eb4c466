//! Work that somebody who waits for it may stop: a person who presses Ctrl-C in Python.
//!
//! What is stopped unwinds at the next piece of work that is shared among threads ([`crate::parallel`]), and at
//! blocks of threads that are traced. Other work goes on until it is done.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops work from another thread.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<AtomicBool>);

/// What unwinds where work is stopped.
struct Stopped;

thread_local! {
    static CURRENT: RefCell<Option<Stopper>> = const { RefCell::new(None) };
}

impl Stopper {
    /// From now on the work is stopped.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Does work that can be stopped; nothing comes of it if it was. Other panics go on.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        let found = catch_unwind(AssertUnwindSafe(|| within(Some(self), work)));
        found
            .map(Some)
            .unwrap_or_else(|panic| if panic.is::<Stopped>() { None } else { resume_unwind(panic) })
    }

    /// What stops the work of this thread.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Ends the work here if it is stopped.
    pub(crate) fn heed(&self) {
        if self.0.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Ends the work of this thread here if it is stopped: for loops that run long in one thread.
pub(crate) fn heed() {
    CURRENT.with_borrow(|stop| {
        if let Some(stop) = stop {
            stop.heed();
        }
    });
}

/// Does a part of work that `stop` stops, in whichever thread.
pub(crate) fn within<R>(stop: Option<&Stopper>, work: impl FnOnce() -> R) -> R {
    /// Puts back what was there, also where the work panics.
    struct Before(Option<Stopper>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Before(CURRENT.replace(stop.cloned()));
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::map;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn stopped_work_ends_in_all_threads() {
        let (stop, done) = (Stopper::default(), AtomicUsize::new(0));
        let items: Vec<usize> = (0..10_000).collect();
        let one = |&item: &usize| {
            // Work within work is stopped too.
            map(&[1, 2, 3], |_| {
                if done.fetch_add(1, Ordering::Relaxed) == 100 {
                    stop.stop()
                }
            });
            item
        };
        assert!(stop.during(|| map(&items, one)).is_none());
        assert!(done.load(Ordering::Relaxed) < 5_000, "{done:?}");
        assert_eq!(map(&items, |&i| i), items, "what is not stopped goes on");
        assert!(Stopper::current().is_none());
    }

    #[test]
    fn other_panics_are_not_hidden() {
        let caught = catch_unwind(|| Stopper::default().during(|| resume_unwind(Box::new("of a test"))));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"of a test"));
    }
}
