//! A lock that a forked process does not wait for.
//!
//! A process made by `fork()` inherits the memory of its parent, and with it locks that threads held which it
//! has not. Nobody will ever open those.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};
use std::thread::sleep;
use std::time::Duration;

use crate::parallel::this_process;

/// How often a process that inherited a lock tries, a millisecond apart: its own threads hold it much shorter.
const TRIES: u32 = 500;

/// A value for all threads of a process, and for the processes forked off it.
#[derive(Debug)]
pub(super) struct Lock<T> {
    value: RwLock<T>,
    /// The process that made it.
    owner: u32,
    /// Whether it was locked when this process was forked off.
    is_lost: AtomicBool,
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Self { value: RwLock::default(), owner: this_process(), is_lost: AtomicBool::new(false) }
    }
}

impl<T> Lock<T> {
    /// The value; none if it cannot be had in this process.
    pub(super) fn read(&self) -> Option<RwLockReadGuard<'_, T>> {
        if self.owner == this_process() {
            // A thread that panicked left nothing half done: values are put in whole.
            return Some(self.value.read().unwrap_or_else(PoisonError::into_inner));
        }
        self.inherited(|| self.value.try_read())
    }

    /// The value, to be changed; none if it cannot be had in this process.
    pub(super) fn write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        if self.owner == this_process() {
            return Some(self.value.write().unwrap_or_else(PoisonError::into_inner));
        }
        self.inherited(|| self.value.try_write())
    }

    fn inherited<G>(&self, attempt: impl Fn() -> TryLockResult<G>) -> Option<G> {
        for i in 0..TRIES {
            match attempt() {
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if i == 0 && self.is_lost.load(Ordering::Relaxed) => {
                    return None;
                }
                Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(1)),
            }
        }
        self.is_lost.store(true, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_fork_left_locked_is_not_waited_for() {
        let inherited = Lock::<i32> { owner: 0, ..Lock::default() };
        *inherited.write().unwrap() = 3;
        let held = inherited.value.read().unwrap();
        assert_eq!(inherited.read().as_deref(), Some(&3), "readers do not keep others out");
        assert!(inherited.write().is_none());
        assert!(inherited.is_lost.load(Ordering::Relaxed), "tried once only from then on");
        assert!(inherited.write().is_none());
        drop(held);
        assert!(inherited.write().is_some());
    }
}
