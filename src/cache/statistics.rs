//! What C 6.2 counts.

use crate::trace::intern::Interner;
use crate::trace::reuse::LineStack;

/// Counts of one cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Reads.
    pub reads: u64,
    /// Reads that miss.
    pub read_misses: u64,
    /// Writes.
    pub writes: u64,
    /// Writes that miss.
    pub write_misses: u64,
    /// Lines written back.
    pub write_backs: u64,
    /// Read misses of lines never seen before.
    pub cold: u64,
    /// Read misses of lines that a fully associative cache would have lost too.
    pub capacity: u64,
    /// The other read misses.
    pub conflict: u64,
}

impl Statistics {
    /// Read misses of all reads, in percent (C 7.3); 0 of none.
    pub fn miss_rate(&self) -> f64 {
        if self.reads == 0 { 0.0 } else { 100.0 * self.read_misses as f64 / self.reads as f64 }
    }
}

/// Tells cold, capacity and conflict misses apart (C 6.2): by the stack distance among all lines. C takes a
/// distance of exactly the number of lines for a conflict; a cache of n lines holds distances below n.
#[derive(Debug)]
pub struct Classifier {
    lines: u64,
    interner: Interner,
    stack: LineStack,
}

/// Why a read missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// The line was never seen before.
    Cold,
    /// Too many other lines since.
    Capacity,
    /// Only the set was full.
    Conflict,
}

impl Classifier {
    /// For a cache of so many lines.
    pub fn new(lines: u64) -> Self {
        Self { lines, interner: Interner::default(), stack: LineStack::default() }
    }

    /// About the bytes that the lines seen so far take.
    pub fn bytes(&self) -> u64 {
        // Their places in the stack.
        const PLACE: u64 = 32;
        self.interner.bytes() + self.interner.lines().len() as u64 * PLACE
    }

    /// Notes that a line is used; why it would miss, if it does.
    pub fn used(&mut self, line: u64) -> Miss {
        match self.stack.access(self.interner.number(line)) {
            None => Miss::Cold,
            Some(distance) if distance >= self.lines => Miss::Capacity,
            Some(_) => Miss::Conflict,
        }
    }
}
