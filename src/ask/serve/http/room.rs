//! Room for the bodies of requests: however many send at a time, what is kept of them is bounded.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bodies of no more bytes than this need no room: a connection has as much for itself.
const SMALL: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Room {
    left: Mutex<usize>,
    changed: Condvar,
}

/// Room that somebody has until this is dropped.
#[derive(Debug)]
pub(super) struct Taken<'r> {
    room: &'r Room,
    bytes: usize,
}

impl Room {
    pub fn new(bytes: usize) -> Self {
        Self { left: Mutex::new(bytes), changed: Condvar::new() }
    }

    /// Room for so many bytes, as soon as there is; nothing if there is none for some time.
    pub fn take(&self, bytes: usize, patience: Duration) -> Option<Taken<'_>> {
        let bytes = if bytes <= SMALL { 0 } else { bytes };
        let until = Instant::now() + patience;
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left < bytes {
            let rest = until.checked_duration_since(Instant::now())?;
            left = self.changed.wait_timeout(left, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
        *left -= bytes;
        Some(Taken { room: self, bytes })
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.room.left.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.room.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back() {
        let room = Room::new(300_000);
        let now = Duration::ZERO;
        let first = room.take(200_000, now).unwrap();
        assert!(room.take(200_000, now).is_none());
        // Small bodies always have room.
        assert!(room.take(1000, now).is_some());
        drop(first);
        assert!(room.take(300_000, now).is_some());
        assert!(room.take(300_001, now).is_none());
    }
}
