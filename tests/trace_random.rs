//! Fast paths against slow ones on random traces: stack distances, hits of set-associative caches, samples.

use wavecast::trace::reuse::{lru_misses, profile, sampled_profile};
use wavecast::trace::sets::SetIndex;

/// A plain generator: what is random here must not depend on the crate.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// O(NM): a list of lines, the most recent one last.
fn naive(lines: &[u64]) -> Vec<Option<u64>> {
    let mut stack: Vec<u64> = Vec::new();
    let one = |&line: &u64| {
        let at = stack.iter().rposition(|&l| l == line);
        let distance = at.map(|at| (stack.len() - 1 - at) as u64);
        at.map(|at| stack.remove(at));
        stack.push(line);
        distance
    };
    lines.iter().map(one).collect()
}

fn trace(random: &mut Random) -> Vec<u64> {
    let length = 1 + random.below(300);
    let distinct = 1 + random.below(120);
    let local = random.below(3);
    let mut at = 0;
    let mut line = |_| {
        at = match local {
            0 => random.below(distinct),
            1 => (at + random.below(3)) % distinct,
            _ => random.below(distinct).min(random.below(distinct)) * 4096,
        };
        at
    };
    (0..length).map(&mut line).collect()
}

#[test]
fn ten_thousand_random_traces_have_the_same_distances_and_hits_either_way() {
    let mut random = Random(1);
    for _ in 0..10_000 {
        let lines = trace(&mut random);
        let slow = naive(&lines);
        let fast = profile(lines.iter().copied());
        let infinite = slow.iter().filter(|d| d.is_none()).count() as u64;
        assert_eq!((fast.infinite(), fast.accesses()), (infinite, lines.len() as u64));
        for (distance, times) in fast.distances() {
            assert_eq!(slow.iter().filter(|&&d| d == Some(distance)).count() as u64, times);
        }
        // A cache of one set misses where the distance is at least the number of its lines, and each set
        // of others is such a cache.
        for (sets, ways) in [(1, 4), (1, 7), (4, 2), (8, 8), (3, 5)] {
            let misses = |of: &[u64]| naive(of).iter().filter(|d| d.is_none_or(|d| d >= ways)).count() as u64;
            let of_set = |set: u64| lines.iter().copied().filter(|l| l % sets == set).collect::<Vec<_>>();
            let expected: u64 = (0..sets).map(|set| misses(&of_set(set))).sum();
            let index = SetIndex::Modulo(u32::try_from(sets).unwrap());
            let ways = usize::try_from(ways).unwrap();
            assert_eq!(lru_misses(lines.iter().copied(), &index, ways), expected);
        }
    }
}

#[test]
fn a_sample_of_few_lines_has_the_profile_of_all() {
    let mut random = Random(5);
    let lines: Vec<u64> = (0..2_000_000).map(|_| random.below(60_000).min(random.below(60_000))).collect();
    let (exact, sample) = (profile(lines.iter().copied()), sampled_profile(lines.iter().copied(), 4096));
    let all = exact.accesses() as f64;
    let errors: Vec<f64> = (4..17)
        .map(|k| {
            let size = 1_u64 << k;
            100.0 * (exact.misses(size) as f64 - sample.misses(size) as f64).abs() / all
        })
        .collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean < 1.0, "{errors:?}");
}
