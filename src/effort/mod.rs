//! How much work an answer may cost, and work that somebody stops.
//!
//! A small document can ask for more counting than a machine gets done in a year. So whoever asks for an
//! answer says how many elementary steps it may take ([`within`]), and whatever counts takes its steps from
//! there ([`spend`]) before it does them. A step is some nanoseconds of work; how many of them something
//! takes follows from the input alone, so that the same input is answered, estimated or refused in the
//! same way on every machine.
//!
//! The steps that are left belong to the thread and are not handed from function to function: what counts
//! stands deep inside, and a loop that nobody remembered to hand them to would be one without a limit.
//! Outside of [`within`] there is no limit.
//!
//! A [`Stop`] ends work from outside, by the clock or because nobody wants the answer any more. Work that
//! heeds it fails as if its steps were used up; its result is to be thrown away.

mod instant;
mod stop;

use std::cell::Cell;

pub(crate) use instant::Instant;
pub use stop::{Stop, StopReason, heeding, stop, stopped};
pub(crate) use stop::{unwind_if_asked, unwinding_stop};

/// Steps after which it is time to look whether somebody stopped the work.
const LOOK: u64 = 1 << 16;

/// The steps are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("counting takes more steps than it may")]
pub struct Spent;

#[derive(Debug, Clone, Copy)]
struct Purse {
    given: u64,
    left: u64,
    /// Steps since it was last looked whether the work was stopped.
    unseen: u64,
}

impl Purse {
    fn is_limited(&self) -> bool {
        self.given != u64::MAX
    }
}

const UNLIMITED: Purse = Purse { given: u64::MAX, left: u64::MAX, unseen: 0 };

thread_local! {
    static PURSE: Cell<Purse> = const { Cell::new(UNLIMITED) };
}

/// Takes steps, if so many are left; otherwise none, so that something cheaper can be tried.
#[inline]
pub fn spend(steps: u64) -> Result<(), Spent> {
    PURSE.with(|cell| {
        let purse = cell.get();
        let unseen = purse.unseen.saturating_add(steps);
        match purse.left.checked_sub(steps) {
            Some(left) if unseen < LOOK => {
                let left = if purse.is_limited() { left } else { purse.left };
                cell.set(Purse { left, unseen, ..purse });
                Ok(())
            }
            enough => look(cell, purse, unseen, enough),
        }
    })
}

/// Looks whether somebody stopped the work before steps are taken, of which `enough` would be left.
#[cold]
fn look(cell: &Cell<Purse>, purse: Purse, unseen: u64, enough: Option<u64>) -> Result<(), Spent> {
    let stopped = unseen >= LOOK && stopped();
    let left = if purse.is_limited() { enough.unwrap_or(purse.left) } else { purse.left };
    // Whoever asks next looks at once, too, where the work was stopped.
    let unseen = if unseen >= LOOK && !stopped { 0 } else { unseen };
    cell.set(Purse { left, unseen, ..purse });
    if stopped { Err(Spent) } else { enough.map(|_| ()).ok_or(Spent) }
}

/// As [`spend`], for a number of things.
#[inline]
pub fn spend_on(things: usize, steps_each: u64) -> Result<(), Spent> {
    spend((things as u64).saturating_mul(steps_each))
}

/// Does some work with at most so many steps of those that are left.
pub fn within<T>(steps: u64, work: impl FnOnce() -> T) -> T {
    let before = PURSE.get();
    let given = before.left.min(steps);
    let _inside = Inside { before, given };
    PURSE.set(Purse { given, left: given, unseen: before.unseen });
    work()
}

/// Does some work, but leaves a part of the steps for what comes later: those that are left beyond
/// `kept` of `of` parts of all that were given.
pub fn keeping<T>(kept: u64, of: u64, work: impl FnOnce() -> T) -> T {
    let before = PURSE.get();
    let reserve = before.given / of.max(1) * kept;
    within(if is_limited() { before.left.saturating_sub(reserve) } else { u64::MAX }, work)
}

/// Does some work with steps of its own, one part of `of` of all that were given: what others need is not
/// taken from them.
pub fn aside<T>(of: u64, work: impl FnOnce() -> T) -> T {
    let before = PURSE.get();
    if !before.is_limited() {
        return work();
    }
    // Nothing of what it uses is taken from the steps before.
    let given = before.given / of.max(1);
    let _inside = Inside { before, given: 0 };
    PURSE.set(Purse { given, left: given, unseen: before.unseen });
    work()
}

/// Steps that are left.
pub fn left() -> u64 {
    PURSE.get().left
}

/// Whether the steps are limited at all.
pub fn is_limited() -> bool {
    PURSE.get().is_limited()
}

/// Puts back what was not used, also if the work panics.
struct Inside {
    before: Purse,
    given: u64,
}

impl Drop for Inside {
    fn drop(&mut self) {
        let now = PURSE.get();
        let used = self.given - now.left.min(self.given);
        let left = if self.before.is_limited() { self.before.left - used } else { u64::MAX };
        PURSE.set(Purse { left, unseen: now.unseen, ..self.before });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_taken_from_what_was_given() {
        assert!(!is_limited() && spend(1 << 40).is_ok());
        within(100, || {
            assert_eq!(spend(60), Ok(()));
            within(1000, || assert_eq!((left(), spend(30)), (40, Ok(()))));
            assert_eq!(left(), 10);
            assert_eq!((spend(11), left(), spend(10), spend(1)), (Err(Spent), 10, Ok(()), Err(Spent)));
        });
        assert!(!is_limited());
    }

    #[test]
    fn some_are_kept_for_later() {
        within(80, || {
            keeping(3, 4, || assert_eq!((spend(20), spend(1)), (Ok(()), Err(Spent))));
            assert_eq!(left(), 60);
            keeping(3, 4, || assert_eq!(spend(1), Err(Spent)));
            keeping(1, 2, || assert_eq!(left(), 20));
        });
        assert!(keeping(1, 2, || !is_limited()));
    }

    #[test]
    fn steps_aside_are_nobody_elses() {
        within(80, || {
            assert_eq!(spend(70), Ok(()));
            aside(4, || assert_eq!((left(), spend(20), spend(1)), (20, Ok(()), Err(Spent))));
            assert_eq!(left(), 10);
        });
        assert!(aside(4, || !is_limited()));
    }

    #[test]
    fn a_panic_puts_back_what_was_not_used() {
        let _ = std::panic::catch_unwind(|| within(10, || std::panic::resume_unwind(Box::new(()))));
        assert!(!is_limited());
    }

    #[test]
    fn stopped_work_has_no_steps_left() {
        let by_hand = Stop::new();
        heeding(Some(&by_hand), || {
            assert_eq!(spend(LOOK), Ok(()));
            by_hand.ask();
            assert_eq!(spend(LOOK), Err(Spent));
        });
        assert_eq!(spend(LOOK), Ok(()));
        assert_eq!(by_hand.reason(), Some(StopReason::Asked));
    }
}
