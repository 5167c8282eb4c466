//! Types of misses, told apart by runs that leave something out (N section 6).

use serde::Serialize;

use super::config::{ReuseConfig, ReuseRules};
use super::model::{RunKind, RunResult, simulate};
use crate::parallel;
use crate::trace::coalesce::Requests;

/// Misses by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MissTypes {
    /// Requests that hit.
    pub hits: u64,
    /// First requests to a line.
    pub compulsory: u64,
    /// What is lost for want of room in the whole cache.
    pub capacity: u64,
    /// What a fully associative cache would not lose; negative where it would lose more.
    pub associativity: i64,
    /// What is lost for want of MSHRs; negative where fewer MSHRs save misses (N section 7).
    pub mshr: i64,
    /// Requests to lines in flight: no further memory requests, and not in the miss rate (N section 6.1).
    pub latency: u64,
}

impl MissTypes {
    /// The runs from which they are told.
    const RUNS: [RunKind; 3] = [RunKind::Full, RunKind::FullyAssociative, RunKind::UnlimitedMshrs];

    /// What a run without something does not miss, that something causes.
    pub fn new(full: &RunResult, associative: &RunResult, unlimited: &RunResult) -> Self {
        let misses = full.memory_misses.cast_signed();
        let lost = |other: &RunResult| misses - other.memory_misses.cast_signed();
        let (associativity, mshr) = (lost(associative), lost(unlimited));
        let rest = misses - full.compulsory.cast_signed() - associativity.max(0) - mshr.max(0);
        Self {
            hits: full.accesses() - full.misses,
            compulsory: full.compulsory,
            // One miss may be for want of both, ways and MSHRs: it is counted twice, and nothing may be left.
            capacity: rest.max(0).unsigned_abs(),
            associativity,
            mshr,
            latency: full.latency_misses,
        }
    }

    /// Runs the model as often as it needs; with what the full run found.
    pub fn simulated(all: &Requests, threads_per_block: usize, config: &ReuseConfig) -> (Self, RunResult) {
        let [full, associative, unlimited] = simulate(all, threads_per_block, config, Self::RUNS);
        (Self::new(&full, &associative, &unlimited), full)
    }
}

/// What one rule of the published program changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleEffect {
    /// Its name.
    pub rule: &'static str,
    /// What the published program does.
    pub says: &'static str,
    /// Memory misses with it.
    pub memory_misses: u64,
    /// Difference in points of the miss rate.
    #[serde(rename = "points")]
    pub miss_rate_points: f64,
}

/// What each rule of the published program alone changes.
pub fn rule_effects(all: &Requests, threads_per_block: usize, config: &ReuseConfig) -> Vec<RuleEffect> {
    type Change = fn(&mut ReuseRules);
    let code: [(&'static str, &'static str, Change); 7] = [
        ("merge", "a miss to a line in flight needs an entry of its own", |r| {
            r.merge = ReuseRules::CODE.merge;
        }),
        ("check", "only lane 0 is refused", |r| r.check = ReuseRules::CODE.check),
        ("clip", "a request to a line in flight takes its whole latency", |r| r.clip = ReuseRules::CODE.clip),
        ("order", "hits take effect before misses", |r| r.order = ReuseRules::CODE.order),
        ("release", "an entry is free with the first return", |r| r.release = ReuseRules::CODE.release),
        ("portions", "wide loads are served in portions", |r| r.portions = ReuseRules::CODE.portions),
        ("batches", "blocks run in static sets", |r| r.batches = ReuseRules::CODE.batches),
    ];
    let run = |config: &ReuseConfig| {
        let [full] = simulate(all, threads_per_block, config, [RunKind::Full]);
        full
    };
    let base = run(config).miss_rate_percent;
    let one = |(rule, says, change): (&'static str, &'static str, Change)| {
        let mut changed = config.clone();
        change(&mut changed.rules);
        let result = run(&changed);
        RuleEffect {
            rule,
            says,
            memory_misses: result.memory_misses,
            miss_rate_points: result.miss_rate_percent - base,
        }
    };
    parallel::map(&code, |&rule| one(rule))
}
