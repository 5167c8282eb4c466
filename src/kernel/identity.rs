//! What tells a kernel from all others in the process, so that what is found out about it can be remembered.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that no other kernel has. A copy, which somebody may change, has one of its own.
#[derive(Debug)]
pub struct Identity(u64);

impl Identity {
    /// The number.
    pub fn number(&self) -> u64 {
        self.0
    }
}

impl Default for Identity {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_others() {
        let one = Identity::default();
        assert_ne!(one.number(), one.clone().number());
    }
}
