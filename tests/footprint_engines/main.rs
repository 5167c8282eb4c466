//! Every engine counts what a naive set of lines counts: random boxes, accesses, pitches, strides,
//! folds, element and line sizes, quotients, remainders and conditions.
//!
//! `WAVECAST_FOOTPRINT_CASES` (in thousandths of the usual number) and `WAVECAST_FOOTPRINT_SEED` choose
//! how many and which.

mod case;
mod random;

use case::{Case, Size};
use random::Random;
use wavecast::footprint::{Engine, Refusal, count_with};

const SIZE: Size = Size { points: 700, boxes: 5, accesses: 30 };

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// How many of `usual` cases to run.
fn cases(usual: u64) -> u64 {
    usual * from_environment("WAVECAST_FOOTPRINT_CASES", 1000) / 1000
}

fn seed(default: u64) -> u64 {
    from_environment("WAVECAST_FOOTPRINT_SEED", default)
}

/// What each engine says about random cases, with the number of cases that each decided.
fn decided(
    make: fn(&mut Random, Size) -> Case,
    count: u64,
    seed: u64,
    refuses: fn(Engine, Refusal) -> bool,
) -> [u64; 3] {
    let mut decided = [0; 3];
    for case in 0..count {
        let made = make(&mut Random::new(seed, case), SIZE);
        let (query, expected) = (made.query(), made.naive());
        for (engine, answered) in
            [Engine::Linear, Engine::Runs, Engine::Enumeration].into_iter().zip(&mut decided)
        {
            match count_with(&query, engine) {
                Ok(found) => {
                    *answered += 1;
                    assert_eq!(found, expected, "{engine}, seed {seed}, case {case}: {made:#?}");
                }
                Err(why) => assert!(refuses(engine, why), "{engine}, seed {seed}, case {case}: {why}"),
            }
        }
    }
    decided
}

#[test]
fn affine_addresses() {
    let count = cases(30_000);
    let found = decided(Case::affine, count, seed(1), |engine, why| {
        (engine, why) == (Engine::Linear, Refusal::Strides)
    });
    println!("of {count} affine cases linear, runs and enumeration decided {found:?}");
    assert!(found[0] * 10 >= count * 8, "the closed form answered {} of {count} only", found[0]);
    assert_eq!(found[1..], [count, count]);
}

#[test]
fn quasi_affine_addresses() {
    let count = cases(20_000);
    let found = decided(Case::quasi_affine, count, seed(2), |engine, _| engine != Engine::Enumeration);
    println!("of {count} quasi-affine cases linear, runs and enumeration decided {found:?}");
    assert!(found[0] * 10 >= count * 4, "the closed form answered {} of {count} only", found[0]);
    assert!(found[1] * 10 >= count * 9, "runs answered {} of {count} only", found[1]);
}

/// isl is slow, so that fewer and smaller cases are put to it, with a quota of a fraction of a second
/// each. Of 1,000 it has to decide 900.
#[cfg(feature = "isl")]
mod isl {
    use super::*;
    use wavecast::footprint::{Budget, Counter};

    const SMALL: Size = Size { points: 600, boxes: 2, accesses: 3 };

    fn decides(make: fn(&mut Random, Size) -> Case, seed: u64, least: u64) {
        let count = cases(500);
        let quota = Budget { operations: 120_000, ..Budget::default() };
        let isl = Counter::forced(Engine::Isl).within(quota);
        let mut decided = 0;
        for case in 0..count {
            let made = make(&mut Random::new(seed, case), SMALL);
            if let Ok(found) = isl.count(&made.query()) {
                decided += 1;
                assert_eq!(found.lines, made.naive(), "isl, seed {seed}, case {case}: {made:#?}");
            }
        }
        println!("isl decided {decided} of {count}");
        assert!(decided * 500 >= count * least, "isl decided {decided} of {count} only");
    }

    #[test]
    fn affine_addresses() {
        decides(Case::affine, seed(3), 470);
    }

    #[test]
    fn quasi_affine_addresses() {
        decides(Case::quasi_affine, seed(4), 430);
    }
}
