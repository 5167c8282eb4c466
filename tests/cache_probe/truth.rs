//! What was found beside what is.

use std::collections::HashMap;

use wavecast::probe::simulate::{CacheSpec, ProbeSpec, ReplacementRule, SetMapping, Trigger};
use wavecast::probe::{Basis, FindingConfidence, MappingFound, PrefetchFound, ReplacementFound, Structure};

/// What is wrong or missing, and how sure the finding was.
pub fn differences(spec: &ProbeSpec, found: &Structure) -> Vec<(&'static str, FindingConfidence)> {
    let cache = &spec.levels[0];
    let mut wrong = Vec::new();
    let mut check = |what, right: bool, confidence| {
        if !right {
            wrong.push((what, confidence));
        }
    };
    check("line", found.line.value == Some(cache.line), found.line.confidence);
    check("sector", found.sector.value == Some(cache.sector), found.sector.confidence);
    check("capacity", found.capacity.value == Some(cache.lines() * cache.line), found.capacity.confidence);
    check(
        "mapping",
        found.mapping.value.as_ref().is_some_and(|m| mapping(cache, m.rule())),
        found.mapping.confidence,
    );
    check("ways", ways(cache, found), found.ways.confidence);
    check("replacement", replacement(cache, found.replacement.value), found.replacement.confidence);
    check("prefetch", prefetch(cache, found.prefetch.value), found.prefetch.confidence);
    wrong
}

/// Whether lines lie in the same sets, under whatever numbers; a rule holds beyond the array too.
fn mapping(cache: &CacheSpec, found: &MappingFound) -> bool {
    let lines = match found {
        MappingFound::Table { .. } => cache.lines(),
        _ => cache.lines() * 4,
    };
    let masks = match (&cache.mapping, found) {
        (SetMapping::Xor(truth), MappingFound::Xor { masks, .. }) => {
            Basis::spanned(truth.iter().copied()) == Basis::spanned(masks.iter().copied())
        }
        (SetMapping::Xor(truth), MappingFound::Bits { .. } | MappingFound::Spatial { .. }) => {
            truth.iter().all(|m| m.is_power_of_two())
        }
        _ => true,
    };
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    masks
        && (0..lines).all(|line| {
            let truth = cache.set(line);
            // The array ends; hashes were tried up to some bit.
            let Some(set) = found.set(line) else { return line >= cache.lines() };
            *there.entry(truth).or_insert(set) == set && *back.entry(set).or_insert(truth) == truth
        })
}

fn ways(cache: &CacheSpec, found: &Structure) -> bool {
    let (Some(ways), Some(mapping)) = (&found.ways.value, &found.mapping.value) else { return false };
    ways.len() == cache.ways.len()
        && (0..cache.lines()).all(|line| {
            let Some(set) = mapping.set(line) else { return true };
            ways.get(set as usize) == cache.ways.get(cache.set(line) as usize)
        })
}

fn replacement(cache: &CacheSpec, found: Option<ReplacementFound>) -> bool {
    let most = cache.ways.iter().copied().max().unwrap_or(0);
    let expected: &[ReplacementFound] = match &cache.policy {
        _ if most == 1 => &[ReplacementFound::Direct],
        ReplacementRule::Lru => &[ReplacementFound::Lru],
        ReplacementRule::TreePlru if most == 2 => &[ReplacementFound::Lru],
        ReplacementRule::TreePlru => &[ReplacementFound::NotLru, ReplacementFound::TreePlru],
        ReplacementRule::Fifo => &[ReplacementFound::Fifo],
        ReplacementRule::Nru => &[ReplacementFound::NotLru, ReplacementFound::Nru],
        ReplacementRule::Srrip => &[ReplacementFound::NotLru, ReplacementFound::Srrip],
        ReplacementRule::Random | ReplacementRule::Weighted(_) => &[ReplacementFound::NotLru],
    };
    found.is_some_and(|f| expected.contains(&f))
}

fn prefetch(cache: &CacheSpec, found: Option<PrefetchFound>) -> bool {
    let expected = match cache.prefetch {
        None => PrefetchFound::None,
        Some(p) if p.trigger == Trigger::Miss => PrefetchFound::AtMiss { distance: p.distance },
        Some(p) => PrefetchFound::Stream { distance: Some(p.distance) },
    };
    found == Some(expected)
}
