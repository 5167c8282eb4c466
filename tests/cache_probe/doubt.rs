//! Nothing is surer than what it rests on: with runs left out, and with more noise than clusters bear.

use rayon::prelude::*;
use wavecast::probe::simulate::{Chase, LineRange, ProbeSpec, ReplacementRule, chase, explore, read_spec};
use wavecast::probe::{ChaseOrder, FindingConfidence, PrefetchFound, Run, Structure, infer};

use super::{specs, truth};

/// Small structures, without those of which a search takes many rounds.
fn few(seed: u64, many: usize) -> Vec<ProbeSpec> {
    let small = |s: &ProbeSpec| {
        let level = &s.levels[0];
        let random = matches!(level.policy, ReplacementRule::Random | ReplacementRule::Weighted(_));
        level.lines() <= 16 && !random && level.prefetch.is_none_or(|p| p.distance < level.ways[0])
    };
    specs::wider(seed, 300).into_iter().filter(small).take(many).collect()
}

/// What is wrong of a structure although it is said to be certain.
fn sure_and_wrong(spec: &ProbeSpec, found: &Structure) -> Vec<&'static str> {
    // That a prefetch goes on and on is right, too, where it is open how far ahead.
    let partly = found.prefetch.value == Some(PrefetchFound::Stream { distance: None });
    let wrong = truth::differences(spec, found).into_iter().filter(|w| w.1 == FindingConfidence::High);
    wrong.map(|w| w.0).filter(|&w| w != "prefetch" || !partly).collect()
}

/// Lets nothing pass that is surer than its ground.
fn check_order(name: &str, found: &Structure) {
    let s = |least: FindingConfidence, most: FindingConfidence, what: &str| {
        assert!(least <= most.max(FindingConfidence::Low), "{name}: {what} of {found:#?}");
    };
    s(found.line.confidence, found.sector.confidence, "line on sector");
    s(found.prefetch.confidence, found.sector.confidence, "prefetch on sector");
    s(found.ways.confidence, found.line.confidence, "ways on line");
    s(found.mapping.confidence, found.line.confidence, "sets on line");
    s(found.capacity.confidence, found.ways.confidence, "capacity on ways");
    s(found.replacement.confidence, found.ways.confidence, "replacement on ways");
}

#[test]
fn with_runs_left_out_nothing_is_wrong_and_sure() {
    few(3, 4).par_iter().for_each(|spec| {
        let runs = explore(spec, LineRange::CACHE);
        let mut random = spec.seed;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random >> 33
        };
        for share in [2, 3, 4, 8, 16] {
            // Now and then all of a kind are missing.
            let kinds = [next() % 4 == 0, next() % 4 == 0, next() % 4 == 0, next() % 4 == 0];
            let kind = |r: &Run| match r.order {
                _ if r.cold => kinds[0],
                ChaseOrder::Stride => false,
                ChaseOrder::Shuffled => kinds[1],
                ChaseOrder::Scattered => kinds[2],
                ChaseOrder::Evict { .. } => kinds[3],
            };
            let some: Vec<Run> = runs.iter().filter(|r| !kind(r) && next() % share != 0).cloned().collect();
            let found = infer(&some);
            check_order(&spec.name, &found);
            let wrong = sure_and_wrong(spec, &found);
            assert!(
                wrong.is_empty(),
                "{} without 1 of {share}, {kinds:?}: {wrong:?} of {found:#?}",
                spec.name
            );
        }
    });
}

#[test]
fn under_noise_nothing_is_wrong_and_sure() {
    few(4, 3).par_iter().for_each(|spec| {
        for noise in [0.05, 0.08] {
            let spec = ProbeSpec { noise_share: noise, ..spec.clone() };
            let found = infer(&explore(&spec, LineRange::CACHE));
            check_order(&spec.name, &found);
            let wrong = sure_and_wrong(&spec, &found);
            assert!(wrong.is_empty(), "{} with noise {noise}: {wrong:?} of {found:#?}", spec.name);
        }
    });
}

/// A prefetch of more lines than a cache has throws out what it brought before it is used: every line misses.
#[test]
fn a_prefetch_that_drowns_is_not_ruled_out() {
    let text = "{line: 256, sets: 2, ways: 2, prefetch: 8, hit: 45, miss: 90, noise: 0.03}";
    let spec = read_spec("drowned", text).unwrap();
    let cold = |n: u64, stride: i64| chase(&spec, &Chase { cold: true, ..Chase::warm(n, stride, 1) });
    let mut runs = vec![cold(16384, 1), cold(16384, -1), chase(&spec, &Chase::warm(8, -1, 512))];
    runs.extend((2..18).map(|lines| cold(128 * lines, -1)));
    let found = infer(&runs);
    assert_eq!(
        (found.sector.value, found.prefetch.value),
        (Some(256), Some(PrefetchFound::None)),
        "{found:#?}"
    );
    assert_eq!(found.prefetch.confidence, FindingConfidence::Medium);
}
