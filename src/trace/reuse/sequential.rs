//! Sequential traces: the theory of N 3.3 without extensions, exact, by sampling, and as hits alone.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::profile::Profile;
use super::stack::LineStack;
use crate::random::mixed;
use crate::trace::intern::Interner;
use crate::trace::sets::SetIndex;

/// The profile of lines in order.
pub fn profile(lines: impl IntoIterator<Item = u64>) -> Profile {
    let mut exact = Exact::default();
    for line in lines {
        exact.access(line);
    }
    exact.profile
}

#[derive(Default)]
struct Exact {
    interner: Interner,
    stack: LineStack,
    profile: Profile,
}

impl Exact {
    #[inline]
    fn access(&mut self, line: u64) {
        let number = self.interner.number(line);
        self.profile.add(self.stack.access(number));
    }
}

/// Misses of a set-associative cache with least-recently-used replacement: no distances, only hits.
pub fn lru_misses(lines: impl IntoIterator<Item = u64>, index: &SetIndex, ways: usize) -> u64 {
    let lines = lines.into_iter();
    match index {
        // Most caches: the set is some bits of the line.
        SetIndex::Modulo(n) if n.is_power_of_two() => {
            let mask = u64::from(*n) - 1;
            lru(lines, index.sets(), ways, |line| line & mask)
        }
        _ => lru(lines, index.sets(), ways, |line| u64::from(index.set(line))),
    }
}

fn lru(lines: impl Iterator<Item = u64>, sets: usize, ways: usize, of: impl Fn(u64) -> u64) -> u64 {
    match ways {
        0 => lines.count() as u64,
        4 => lru_of::<4>(lines, sets, of),
        8 => lru_of::<8>(lines, sets, of),
        _ => lru_slices(lines, sets, ways, of),
    }
}

/// No line is the largest number: lines are addresses over their size.
const NO_LINE: u64 = u64::MAX;

#[expect(clippy::cast_possible_truncation, reason = "a set's number")]
fn lru_of<const WAYS: usize>(lines: impl Iterator<Item = u64>, sets: usize, of: impl Fn(u64) -> u64) -> u64 {
    let mut all = vec![[NO_LINE; WAYS]; sets];
    let mut misses = 0_u64;
    for line in lines {
        let set = &mut all[of(line) as usize];
        // Lines move down until the place where this one was. Without branches: hits cannot be foreseen.
        let (mut carried, mut found) = (line, false);
        for place in set.iter_mut() {
            let here = *place;
            *place = if found { here } else { carried };
            found |= here == line;
            carried = here;
        }
        misses = misses.wrapping_add(u64::from(!found));
    }
    misses
}

#[expect(clippy::cast_possible_truncation, reason = "a set's number")]
fn lru_slices(lines: impl Iterator<Item = u64>, sets: usize, ways: usize, of: impl Fn(u64) -> u64) -> u64 {
    let mut all = vec![NO_LINE; sets.saturating_mul(ways)];
    let mut misses = 0_u64;
    for line in lines {
        let from = of(line) as usize * ways;
        let set = &mut all[from..from + ways];
        let found = set.iter().position(|&l| l == line);
        misses += u64::from(found.is_none());
        set.copy_within(..found.unwrap_or(ways - 1), 1);
        set[0] = line;
    }
    misses
}

/// The profile of a sample of lines, scaled to all: Waldspurger et al.'s SHARDS with a fixed number of lines.
/// What the sample has too many or too few accesses, it is taken to have of all distances alike.
pub fn sampled_profile(lines: impl IntoIterator<Item = u64>, most_lines: usize) -> Profile {
    let mut sample = Sample::new(most_lines.max(1));
    let mut all = 0_u64;
    for line in lines {
        all += 1;
        let hash = mixed(line.wrapping_add(0x9e37_79b9_7f4a_7c15)) >> 40;
        if hash < sample.threshold {
            sample.access(line, hash);
        }
    }
    sample.finish(all)
}

/// Hashes have so many values.
const HASHES: u64 = 1 << 24;

struct Sample {
    exact: Exact,
    /// Lines with a hash below it are in the sample.
    threshold: u64,
    most: usize,
    /// The lines, that with the largest hash first.
    lines: BinaryHeap<(u64, u64)>,
    /// What was counted at earlier rates, scaled; `exact` has what is counted at the present one.
    scaled: FxHashMap<u64, f64>,
    infinite: f64,
}

impl Sample {
    fn new(most: usize) -> Self {
        Self {
            exact: Exact::default(),
            threshold: HASHES,
            most,
            lines: BinaryHeap::new(),
            scaled: FxHashMap::default(),
            infinite: 0.0,
        }
    }

    fn access(&mut self, line: u64, hash: u64) {
        let before = self.exact.interner.lines().len();
        self.exact.access(line);
        if self.exact.interner.lines().len() == before {
            return;
        }
        self.lines.push((hash, line));
        if self.lines.len() > self.most {
            self.shrink();
        }
    }

    /// Takes the quarter of the lines with the largest hashes out of the sample.
    fn shrink(&mut self) {
        self.settle();
        let keep = self.most - self.most / 4;
        while self.lines.len() > keep {
            if let Some((hash, _)) = self.lines.pop() {
                self.threshold = hash;
            }
        }
        while self.lines.peek().is_some_and(|l| l.0 >= self.threshold) {
            self.lines.pop();
        }
        let kept: rustc_hash::FxHashSet<u64> = self.lines.iter().map(|l| l.1).collect();
        let order = self.exact.stack.order();
        let old = std::mem::take(&mut self.exact);
        for number in order {
            let line = old.interner.lines()[number as usize];
            if kept.contains(&line) {
                let number = self.exact.interner.number(line);
                self.exact.stack.access(number);
            }
        }
    }

    fn rate(&self) -> f64 {
        self.threshold as f64 / HASHES as f64
    }

    /// Adds what was counted at the present rate, scaled: an access stands for 1/rate, a distance too.
    fn settle(&mut self) {
        let rate = self.rate();
        let counted = std::mem::take(&mut self.exact.profile);
        self.infinite += counted.infinite() as f64 / rate;
        for (distance, times) in counted.distances() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a distance")]
            let scaled = (distance as f64 / rate) as u64;
            *self.scaled.entry(scaled).or_default() += times as f64 / rate;
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of accesses")]
    fn finish(mut self, all: u64) -> Profile {
        self.settle();
        let counted: f64 = self.scaled.values().sum::<f64>() + self.infinite;
        let scale = if counted > 0.0 { all as f64 / counted } else { 1.0 };
        let times = |n: f64| (n * scale).round() as u64;
        let distances = self.scaled.iter().map(|(&distance, &n)| (distance, times(n)));
        Profile::sparse(distances, times(self.infinite))
    }
}
