//! Who reads the requests.
//!
//! A client that waits for each answer is answered soonest by the thread that read its request: to hand it to another
//! takes about as long as to predict a launch. But somebody has to read on, since the next line may say that the first
//! is not wanted any more. So the reader leaves the input here while it works, and takes it back afterwards. If that
//! takes long, another thread, which stands in, has taken it, and the two have changed places.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the input may lie here before the one who stands in takes it: up to twice that passes.
const TICK: Duration = Duration::from_millis(1);
/// Ticks without a request after which who stands in waits to be woken.
const QUIET: u32 = 50;

/// Where the input is.
#[derive(Debug)]
enum Place<I> {
    /// Somebody reads.
    Taken,
    /// Its reader works.
    Left(I),
    /// Nobody will read any more.
    Ended,
}

#[derive(Debug)]
struct State<I> {
    place: Place<I>,
    /// How often it was left here.
    left: u64,
    /// Who stands in waits to be woken.
    asleep: bool,
}

/// The input of two threads that take turns in reading it.
#[derive(Debug)]
pub(super) struct Turns<I> {
    state: Mutex<State<I>>,
    woken: Condvar,
}

/// Whoever left the input, and when that was.
#[derive(Debug)]
#[must_use]
pub(super) struct Left(u64);

impl<I> Turns<I> {
    /// An input that is taken by whoever asks first.
    pub fn new(input: I) -> Self {
        let state = State { place: Place::Left(input), left: 0, asleep: false };
        Self { state: Mutex::new(state), woken: Condvar::new() }
    }

    fn locked(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The input, now, if nobody has it.
    pub fn take(&self) -> Option<I> {
        self.locked().taken()
    }

    /// Leaves the input while its reader works.
    pub fn leave(&self, input: I) -> Left {
        let mut state = self.locked();
        state.left += 1;
        if !matches!(state.place, Place::Ended) {
            state.place = Place::Left(input);
        }
        if state.asleep {
            self.woken.notify_one();
        }
        Left(state.left)
    }

    /// The input that was left, unless somebody else reads now.
    pub fn back(&self, left: &Left) -> Option<I> {
        let mut state = self.locked();
        if state.left == left.0 { state.taken() } else { None }
    }

    /// Waits for a reader to work so long that somebody should read in its place, and has the input then; `None` where
    /// nobody will read any more.
    pub fn stand_in(&self) -> Option<I> {
        let (mut seen, mut quiet) = (0, 0);
        let mut state = self.locked();
        loop {
            let is_new = state.left != seen;
            match state.place {
                Place::Ended => return None,
                Place::Left(_) if !is_new => return state.taken(),
                _ => {}
            }
            seen = state.left;
            quiet = if is_new { 0 } else { quiet + 1 };
            // To be woken for each request would cost each of them as much as a turn of a clock does that ticks anyway.
            state = if quiet < QUIET {
                self.woken.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0
            } else {
                state.asleep = true;
                let mut state = self.woken.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep = false;
                state
            };
        }
    }

    /// Nobody will read any more.
    pub fn end(&self) {
        self.locked().place = Place::Ended;
        self.woken.notify_all();
    }
}

impl<I> State<I> {
    fn taken(&mut self) -> Option<I> {
        match std::mem::replace(&mut self.place, Place::Taken) {
            Place::Left(input) => Some(input),
            other => {
                self.place = other;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_briefly_reads_on() {
        let turns = Turns::new("input");
        for _ in 0..3 {
            let input = turns.take().unwrap();
            assert!(turns.take().is_none());
            let left = turns.leave(input);
            let input = turns.back(&left).unwrap();
            assert!(turns.back(&left).is_none());
            let _ = turns.leave(input);
        }
        turns.end();
        assert_eq!((turns.take(), turns.stand_in()), (None, None));
    }

    #[test]
    fn who_works_long_finds_another_reader() {
        let turns = Turns::new("input");
        let left = turns.leave(turns.take().unwrap());
        let input = turns.stand_in().unwrap();
        assert!(turns.back(&left).is_none());
        // Left by the other: this is not what the first one left.
        let other = turns.leave(input);
        assert!(turns.back(&left).is_none());
        assert!(turns.back(&other).is_some());
    }

    #[test]
    fn who_stands_in_is_woken_after_a_pause() {
        let turns = Turns::new("input");
        let input = turns.take().unwrap();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| turns.stand_in());
            std::thread::sleep(TICK * QUIET * 2);
            let left = turns.leave(input);
            assert_eq!(other.join().unwrap(), Some("input"));
            assert!(turns.back(&left).is_none());
            let other = scope.spawn(|| turns.stand_in());
            turns.end();
            assert_eq!(other.join().unwrap(), None);
        });
    }
}
