//! Published reference results: what they say, and whether the model says the same.

use serde::Deserialize;

use super::CacheGeometry;
use super::coalesce::{Coalescing, Requests};
use super::pattern::AccessPattern;
use super::reuse::{Latency, MshrLimits, ReuseConfig, ReuseRules, RunKind, RunResult, simulate};
use super::schedule::Grouping;
use super::sets::SetIndex;

/// A file of reference results.
#[derive(Debug, Deserialize)]
pub struct Reference {
    configs: std::collections::BTreeMap<String, Cache>,
    cases: Vec<Case>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Cache {
    line: u64,
    ways: u32,
    sets: u32,
    mshr: u32,
    lat: u32,
}

#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    params: AccessPattern,
    runs: std::collections::BTreeMap<String, Runs>,
}

#[derive(Debug, Deserialize)]
struct Runs {
    cases: Vec<Golden>,
}

#[derive(Debug, Deserialize)]
struct Golden {
    ticks: u64,
    cancels: u64,
    hist: Vec<(Distance, u64)>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Distance {
    Finite(u64),
    /// Written as a word.
    Infinite(String),
}

/// A run that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The case.
    pub case: String,
    /// The cache.
    pub cache: String,
    /// Which of the four runs.
    pub run: RunKind,
    /// What is different.
    pub what: String,
}

/// How a comparison ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceComparison {
    /// Cases.
    pub cases: usize,
    /// Runs of all cases with all caches.
    pub runs: usize,
    /// Those that differ.
    pub differences: Vec<Difference>,
}

impl ReferenceComparison {
    fn differs(&mut self, case: &str, cache: &str, run: RunKind, what: impl Into<String>) {
        let (case, cache) = (case.to_owned(), cache.to_owned());
        self.differences.push(Difference { case, cache, run, what: what.into() });
    }
}

impl Reference {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Number of cases.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether there are no cases.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Runs the model for a case by the rules of the published program, and compares.
    pub fn compare(&self, number: usize) -> ReferenceComparison {
        let mut out = ReferenceComparison::default();
        let Some(case) = self.cases.get(number) else { return out };
        out.cases = 1;
        let Some(trace) = case.params.trace() else {
            out.differs(&case.name, "", RunKind::Full, "its parameters make no trace");
            return out;
        };
        for (cache, golden) in &case.runs {
            let Some(&shape) = self.configs.get(cache) else {
                out.differs(&case.name, cache, RunKind::Full, "the file does not say what this cache is");
                continue;
            };
            let config = match shape.config() {
                Ok(config) => config,
                Err(what) => {
                    out.differs(&case.name, cache, RunKind::Full, what);
                    continue;
                }
            };
            let how = Coalescing {
                line: shape.line,
                grouping: Grouping::Position,
                split: ReuseRules::CODE.split,
                ..Coalescing::default()
            };
            let requests = Requests::coalesced(&trace, how, 0..trace.blocks());
            let results = simulate(&requests, trace.block_threads(), &config, RunKind::FOUR);
            for ((result, golden), run) in results.iter().zip(&golden.cases).zip(RunKind::FOUR) {
                out.runs += 1;
                if let Some(what) = golden.differs(result) {
                    out.differs(&case.name, cache, run, what);
                }
            }
        }
        out
    }
}

impl Cache {
    fn config(self) -> Result<ReuseConfig, String> {
        Ok(ReuseConfig {
            geometry: CacheGeometry::with_sets(self.line, SetIndex::Fermi(self.sets), self.ways)?,
            latency: Latency { hit: 0, miss: self.lat, deviation_ticks: 0.0, seed: 1 },
            mshrs: MshrLimits { total: Some(self.mshr), per_warp: None, merged: None },
            ..ReuseConfig::fermi_16k(ReuseRules::CODE)
        })
    }
}

impl Golden {
    fn differs(&self, result: &RunResult) -> Option<String> {
        if self.ticks != result.ticks {
            return Some(format!("{} ticks, not {}", result.ticks, self.ticks));
        }
        if self.cancels != result.refusals {
            return Some(format!("{} refusals, not {}", result.refusals, self.cancels));
        }
        let mut finite: Vec<(u64, u64)> = Vec::new();
        let mut infinite = 0;
        for (distance, times) in &self.hist {
            match distance {
                Distance::Finite(d) => finite.push((*d, *times)),
                Distance::Infinite(word) if word == "inf" => infinite += times,
                Distance::Infinite(word) => return Some(format!("a distance `{word}` in the file")),
            }
        }
        if infinite != result.infinite {
            return Some(format!("{} infinite distances, not {infinite}", result.infinite));
        }
        finite.sort_unstable();
        let found: Vec<(u64, u64)> = result.histogram.iter().map(|&[d, n]| (d, n)).collect();
        let first = finite.iter().zip(&found).find(|(a, b)| a != b);
        match first {
            Some((golden, ours)) => Some(format!("distance {} {} times, not {golden:?}", ours.0, ours.1)),
            None if finite.len() != found.len() => {
                Some(format!("{} distances occur, not {}", found.len(), finite.len()))
            }
            None => None,
        }
    }
}
