//! The launches that are to be ranked, and who watches that.

use std::sync::atomic::{AtomicBool, AtomicUsize};

use super::ranking::Choice;

/// The launches that are to be ranked, by number: a list of all of them may be long.
pub trait Choices: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// The one with this number, below [`Self::count`].
    fn choice(&self, number: usize) -> Choice;
}

impl Choices for &[Choice] {
    fn count(&self) -> usize {
        self.len()
    }

    fn choice(&self, number: usize) -> Choice {
        self[number]
    }
}

/// How others see how far a ranking is, and how they end it.
#[derive(Debug, Clone, Copy)]
pub struct Watch<'w> {
    /// Counts the candidates that are finished.
    pub done: &'w AtomicUsize,
    /// Once this is true, no more candidates are begun: those that are finished are ranked.
    pub end: &'w AtomicBool,
}
