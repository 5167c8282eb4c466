//! What the caches hold when a launch begins.

/// What the caches shared by all SMs hold when a launch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Caches {
    /// What an earlier launch of the same kernel left there, as far as it fits: the launch is repeated on the
    /// same arrays, and nothing else runs in between.
    #[default]
    Warm,
    /// Nothing that the launch touches: its first touches all miss, and all that it stores is written back.
    Cold,
    /// Nothing at all: a profiler has emptied them, and its counters end with the launch, so that they lack the stores
    /// that still wait in the cache.
    Empty,
}

impl Caches {
    /// All of them.
    pub const ALL: [Caches; 3] = [Caches::Warm, Caches::Cold, Caches::Empty];

    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            Caches::Warm => "warm",
            Caches::Cold => "cold",
            Caches::Empty => "empty",
        }
    }

    /// What a word means.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.word() == word)
    }
}
