//! What somebody says where data decide: how often loops run, how probable branches are, where accesses go.

use std::collections::{BTreeMap, BTreeSet};

use crate::expr::Expr;

/// What was told, by lines of the PTX.
#[derive(Debug, Clone, Default)]
pub(in crate::ptx) struct Told {
    /// How often loops run.
    pub trips: BTreeMap<u32, i64>,
    /// How many threads predicates hold for.
    pub shares: BTreeMap<u32, Share>,
    /// Addresses in the place of those that are not known.
    pub assumed: BTreeMap<u32, Assumed>,
}

/// A share of threads, or of warps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ptx) struct Share {
    pub some: i64,
    pub of: i64,
    pub warps: bool,
}

impl Share {
    /// The fraction that comes next to a probability, of those with a small denominator that come near enough.
    pub fn new(probability: f64, warps: bool) -> Share {
        let some = |of: i64| (probability * of as f64).round();
        let near = |of: i64| {
            let miss = (some(of) / of as f64 - probability).abs();
            miss <= 1e-3 * probability.min(1.0 - probability).max(1e-3)
        };
        let of = (1..=1000).find(|of| near(*of)).unwrap_or(1000);
        #[expect(clippy::cast_possible_truncation, reason = "it is at most 1000")]
        Share { some: some(of) as i64, of, warps }
    }

    pub fn probability(self) -> f64 {
        self.some as f64 / self.of as f64
    }
}

/// An address that was told: elements from the beginning of an array.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ptx) struct Assumed {
    pub array: String,
    pub element: Expr,
}

/// What was made of what was told.
#[derive(Debug, Clone, Default)]
pub(in crate::ptx) struct Heeded {
    /// Lines whose shares or addresses were used.
    pub lines: BTreeSet<u32>,
    /// Lines of predicates that data decide.
    pub deciding: BTreeSet<u32>,
    /// What documents say of it.
    pub notes: BTreeSet<String>,
}
