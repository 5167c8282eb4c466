//! Relations between predictions: what changes how a kernel is said and not what it does changes no number.
//!
//! Each case follows from a seed and a number alone. `WAVECAST_SEED`, `WAVECAST_FIRST` and `WAVECAST_CASES`
//! choose them; `WAVECAST_RELATION` leaves one relation. By hand:
//! `WAVECAST_SEED=7 WAVECAST_CASES=20000 cargo test --release --test metamorphic -- --ignored --nocapture`.
//! A failure prints both kernels, the launch, the device and the numbers, after making the case smaller.

mod compare;
mod document;
mod random;
mod relations;
mod shrink;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use compare::{between_roads, difference};
use random::{Case, Random, case};
use relations::{Pair, RELATIONS, Relation};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

/// The pair that a relation makes of a case of a seed.
fn pair(relation: Relation, case: &Case, seed: u64, number: u64) -> Option<Pair> {
    relation(case, &mut Random::new(seed.wrapping_add(0x5eed), number))
}

/// Holds relations against so many cases, each against all of them or `some`.
fn check(cases: u64, some: Option<usize>) {
    let (seed, first) = (number("WAVECAST_SEED", 1), number("WAVECAST_FIRST", 0));
    let cases = number("WAVECAST_CASES", cases);
    let only = std::env::var("WAVECAST_RELATION").ok();
    let mut held: BTreeMap<&str, usize> = BTreeMap::new();
    let mut failed: BTreeMap<&str, usize> = BTreeMap::new();
    for number in first..first + cases {
        let mut random = Random::new(seed, number);
        let case = case(&mut random);
        let mut chosen: Vec<usize> = (0..RELATIONS.len()).collect();
        if let Some(most) = some {
            random.shuffle(&mut chosen);
            chosen.truncate(most);
        }
        for i in chosen {
            let (name, relation) = RELATIONS[i];
            if only.as_ref().is_some_and(|o| o != name) {
                continue;
            }
            let Some(made) = pair(relation, &case, seed, number) else { continue };
            let found = catch_unwind(AssertUnwindSafe(|| difference(&made)))
                .unwrap_or_else(|_| Some("a panic".to_owned()));
            *held.entry(name).or_default() += 1;
            if found.is_some() {
                let failures = failed.entry(name).or_default();
                *failures += 1;
                if *failures <= 3 {
                    println!("{}", shrink::report(name, relation, &case, seed, number));
                }
            }
        }
    }
    println!("seed {seed}, {cases} kernels from number {first}; pairs by relation: {held:?}");
    assert!(failed.is_empty(), "violations by relation: {failed:?}");
}

/// Holds the two ways of counting in the first-level cache against each other.
fn roads(cases: u64) {
    let (seed, first) = (number("WAVECAST_SEED", 1), number("WAVECAST_FIRST", 0));
    let mut failed = Vec::new();
    for number in first..first + number("WAVECAST_CASES", cases) {
        let found = |case: &Case| between_roads(case);
        let case = case(&mut Random::new(seed, number));
        if found(&case).is_some() {
            failed.push(number);
            if failed.len() <= 3 {
                let case = shrink::smallest(&case, |c| found(c).is_some());
                let Case { device, block, fold, .. } = case;
                println!("number {number} of seed {seed}: device {device}, block {block:?}, fold {fold:?}");
                println!("{}\n{}", found(&case).unwrap_or_default(), case.document.yaml());
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?} of seed {seed}");
}

#[test]
fn lanes_and_alignments_count_alike() {
    roads(300);
}

#[test]
#[ignore = "for the release profile: 20,000 kernels"]
fn lanes_and_alignments_count_alike_20_000_times() {
    roads(20_000);
}

#[test]
fn what_is_said_otherwise_is_predicted_alike() {
    check(2000, Some(4));
}

#[test]
#[ignore = "for the release profile: 20,000 kernels under all relations"]
fn what_is_said_otherwise_is_predicted_alike_20_000_times() {
    check(20_000, None);
}
