//! The engines and their words.

use std::fmt;
use std::str::FromStr;

use crate::named::named;

named! {
    /// What can count the distinct lines of a query.
    pub enum Engine {
        /// Closed form in exact byte addresses.
        Linear = "linear",
        /// Runs along one variable.
        Runs = "runs",
        /// Every point.
        Enumeration = "enumeration",
        /// Sets and maps of isl.
        Isl = "isl",
        /// Some of the lines; not exact.
        Sampling = "sampling",
    }
}

impl Engine {
    /// All engines, the cheapest first.
    pub const ALL: [Engine; 5] =
        [Engine::Linear, Engine::Runs, Engine::Enumeration, Engine::Isl, Engine::Sampling];

    /// Whether this program was built with it: isl can be left out.
    pub fn is_built(self) -> bool {
        cfg!(feature = "isl") || self != Engine::Isl
    }

    /// Whether what it counts is the number itself and not an estimate.
    pub fn is_exact(self) -> bool {
        self != Engine::Sampling
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A word that names no engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no engine is called `{0}`; there are linear, runs, enumeration, isl and sampling")]
pub struct UnknownEngine(pub String);

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(word: &str) -> Result<Self, UnknownEngine> {
        Engine::ALL.into_iter().find(|e| e.word() == word).ok_or_else(|| UnknownEngine(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        for engine in Engine::ALL {
            assert_eq!(engine.word().parse(), Ok(engine));
        }
        let error = "barvinok".parse::<Engine>().unwrap_err().to_string();
        assert!(Engine::ALL.iter().all(|e| error.contains(e.word())), "{error}");
    }
}
