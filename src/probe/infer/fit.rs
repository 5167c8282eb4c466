//! A rule from lines to sets.

use std::collections::HashMap;

use super::super::finding::MappingFound;
use super::super::gf2::Basis;

/// Longest run of lines in a set that is tried.
const LONGEST: u32 = 256;

/// The simplest rule that puts lines into `sets` as they are known to lie: each line with its set. Lines
/// beside the array (`beside`) must follow it too, but make no table longer.
pub(super) fn fit(known: &[(u64, u32)], beside: &[(u64, u32)], sets: u32) -> MappingFound {
    if sets <= 1 {
        return MappingFound::Single;
    }
    let all: Vec<(u64, u32)> = known.iter().chain(beside).copied().collect();
    let bits = MappingFound::Bits { sets };
    let runs = (2..=LONGEST).map(|run| MappingFound::Spatial { run, sets });
    let simple = std::iter::once(bits).chain(runs).find(|rule| follows(&all, rule));
    simple.or_else(|| linear(&all, sets)).unwrap_or_else(|| table(known))
}

/// Whether a rule makes of lines the sets that they are in, under whatever numbers.
fn follows(known: &[(u64, u32)], rule: &MappingFound) -> bool {
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    known.iter().all(|&(line, set)| {
        rule.set(line).is_some_and(|found| {
            *there.entry(set).or_insert(found) == found && *back.entry(found).or_insert(set) == set
        })
    })
}

/// Parities of bits: differences of lines in a set are vectors of the kernel, the masks are orthogonal to
/// it.
fn linear(known: &[(u64, u32)], sets: u32) -> Option<MappingFound> {
    if !sets.is_power_of_two() {
        return None;
    }
    let mut first: HashMap<u32, u64> = HashMap::new();
    let mut basis = Basis::default();
    for &(line, set) in known {
        let with = *first.entry(set).or_insert(line);
        basis.add(line ^ with);
    }
    let all = known.iter().map(|k| k.0).fold(0, |a, b| a | b);
    let bits = 64 - all.leading_zeros();
    let masks = basis.orthogonal(bits).rows().to_vec();
    let complete = masks.len() == sets.ilog2() as usize;
    let rule = MappingFound::Xor { masks, bits };
    (complete && follows(known, &rule)).then_some(rule)
}

/// What is known, line by line.
pub(super) fn table(known: &[(u64, u32)]) -> MappingFound {
    let most = known.iter().map(|k| k.0).max().map_or(0, |m| usize::try_from(m).unwrap_or(0) + 1);
    let mut sets = vec![None; most];
    for &(line, set) in known {
        if let Some(place) = usize::try_from(line).ok().and_then(|l| sets.get_mut(l)) {
            *place = Some(set);
        }
    }
    MappingFound::Table { sets }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(rule: impl Fn(u64) -> u32, lines: u64) -> Vec<(u64, u32)> {
        // Under other numbers, as a probe finds them.
        (0..lines).map(|l| (l, rule(l) ^ 5)).collect()
    }

    #[test]
    fn rules_are_found_again() {
        assert_eq!(fit(&pairs(|l| (l % 12) as u32, 100), &[], 12), MappingFound::Bits { sets: 12 });
        let spatial = fit(&pairs(|l| (l / 4 % 4) as u32, 100), &[], 4);
        assert_eq!(spatial, MappingFound::Spatial { run: 4, sets: 4 });
        let fermi = crate::trace::sets::SetIndex::Fermi(32);
        let masks = vec![0x41, 0x82, 0x104, 0x408, 0x1010];
        let found = fit(&pairs(|l| fermi.set(l), 1 << 13), &[], 32);
        assert_eq!(found, MappingFound::Xor { masks, bits: 13 });
        let found =
            fit(&pairs(|l| [0, 2, 1, 3, 3, 1, 0, 2, 2, 0][usize::try_from(l % 10).unwrap()], 40), &[], 4);
        assert!(matches!(found, MappingFound::Table { .. }), "{found:?}");
    }
}
