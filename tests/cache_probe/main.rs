//! Structures of caches found again from simulated latencies: those of the papers, and random ones; and the
//! command as scripts meet it. `tests/probe_specs.yaml` says which structures; it was written before the
//! inference.

mod command;
mod doubt;
mod figures;
mod sectors;
mod specs;
mod truth;

use rayon::prelude::*;
use wavecast::probe::simulate::{LineRange, ProbeSpec, explore};
use wavecast::probe::{FindingConfidence, infer};

/// What is wrong or missing of a structure.
fn differences(spec: &ProbeSpec) -> Vec<(&'static str, FindingConfidence)> {
    let lines = if spec.levels[0].line > 4096 { LineRange::TLB } else { LineRange::CACHE };
    truth::differences(spec, &infer(&explore(spec, lines)))
}

#[test]
fn named_structures_are_found_whole() {
    specs::named().par_iter().for_each(|spec| {
        let wrong = differences(spec);
        assert!(wrong.is_empty(), "{}: {wrong:?}", spec.name);
    });
}

/// How many structures are found whole; none may be wrong with high confidence.
fn whole(specs: &[ProbeSpec]) -> usize {
    let one = |spec: &ProbeSpec| {
        let wrong = differences(spec);
        if !wrong.is_empty() {
            println!("{}: {wrong:?} of {:?}", spec.name, spec.levels[0]);
        }
        wrong
    };
    let all: Vec<Vec<(&str, FindingConfidence)>> = specs.par_iter().map(one).collect();
    for (spec, wrong) in specs.iter().zip(&all) {
        let sure = wrong.iter().any(|w| w.1 == FindingConfidence::High);
        assert!(!sure, "{}: wrong and sure of it: {wrong:?}", spec.name);
    }
    all.iter().filter(|w| w.is_empty()).count()
}

/// Whether a prefetch throws out the line that is being loaded.
fn drowned(spec: &ProbeSpec) -> bool {
    let ways = spec.levels[0].ways.iter().min().copied().unwrap_or(0);
    spec.levels[0].prefetch.is_some_and(|p| p.distance >= ways)
}

#[test]
fn small_random_structures_are_found_whole() {
    let small = |s: &ProbeSpec| s.levels[0].lines() <= 40;
    let all = specs::random(None);
    let plain = all.iter().filter(|s| small(s) && !drowned(s)).take(16);
    let specs: Vec<ProbeSpec> =
        plain.chain(all.iter().filter(|s| small(s) && drowned(s)).take(4)).cloned().collect();
    let found = whole(&specs);
    assert!(found * 100 >= specs.len() * 85, "{found} of {}", specs.len());
}

/// The same with sectors, NRU, SRRIP and clocks with steps.
#[test]
fn small_wider_structures_are_found_whole() {
    let plain = |s: &&ProbeSpec| s.levels[0].lines() <= 20 && !drowned(s);
    let specs: Vec<ProbeSpec> = specs::wider(1, 200).iter().filter(plain).take(6).cloned().collect();
    let found = whole(&specs);
    assert!(found * 100 >= specs.len() * 85, "{found} of {}", specs.len());
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Only those of `WAVECAST_PROBE_ONLY=8,25`, if it is given.
fn wanted(specs: &mut Vec<ProbeSpec>) {
    if let Some(only) = variable("WAVECAST_PROBE_ONLY") {
        specs.retain(|s| only.split(',').any(|n| s.name == format!("random-{n}")));
    }
}

/// All 200, with `cargo test --release --test cache_probe random_structures -- --ignored --nocapture`;
/// docs/cache-probe.md says which are missing. `WAVECAST_PROBE_SEED` draws others.
#[test]
#[ignore = "takes minutes without optimisation"]
fn random_structures_are_found_whole() {
    let seed = variable("WAVECAST_PROBE_SEED").map(|s| s.parse().unwrap());
    let mut specs = specs::random(seed);
    wanted(&mut specs);
    let found = whole(&specs);
    println!("{found} of {} are found whole", specs.len());
    assert!(found * 100 >= specs.len() * 95, "{found} of {}", specs.len());
}

/// `WAVECAST_PROBE_COUNT` structures for each seed in `WAVECAST_PROBE_SEED=1,2,3`, sectors, NRU, SRRIP and clocks with
/// steps among them: `cargo test --release --test cache_probe wider_structures -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes without optimisation"]
fn wider_structures_are_found_whole() {
    let seeds = variable("WAVECAST_PROBE_SEED").unwrap_or_else(|| "2031,2032,2033".to_owned());
    let count = variable("WAVECAST_PROBE_COUNT").map_or(167, |c| c.parse().unwrap());
    let (mut found, mut all) = (0, 0);
    for seed in seeds.split(',') {
        let mut specs = specs::wider(seed.trim().parse().unwrap(), count);
        wanted(&mut specs);
        let whole = whole(&specs);
        println!("seed {seed}: {whole} of {} are found whole", specs.len());
        (found, all) = (found + whole, all + specs.len());
    }
    println!("{found} of {all} are found whole");
    assert!(found * 100 >= all * 95, "{found} of {all}");
}
