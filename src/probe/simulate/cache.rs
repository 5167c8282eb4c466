//! A cache with sets of any size, and levels of them.

use super::spec::{CacheSpec, Prefetch, ProbeSpec, ReplacementRule, Trigger};
use crate::random::Random;

const NONE: u32 = u32::MAX;

/// The number of a line of an array. An element has a number of 32 bits, and a line at least two elements.
#[expect(clippy::cast_possible_truncation, reason = "less than the number of its elements")]
fn number(line: u64) -> u32 {
    debug_assert!(line < u64::from(NONE));
    line as u32
}

/// What is known of a line that was touched.
#[derive(Debug, Clone, Copy)]
struct Line {
    set: u32,
    /// Its way, if it is in the cache.
    way: u32,
    /// The neighbours in its set's list, newer and older.
    newer: u32,
    older: u32,
    /// Whether it was prefetched and not used since.
    tagged: bool,
    /// A bit for each sector that is there.
    sectors: u32,
}

/// A set of lines.
#[derive(Debug, Clone)]
struct Set {
    /// The line in each way.
    lines: Vec<u32>,
    ways: usize,
    newest: u32,
    oldest: u32,
    /// Bits of the tree of halves, from the root on.
    tree: u64,
    /// Of each way, how late it is thought to be used again (NRU and SRRIP).
    late: Vec<u8>,
}

/// How late a line is thought to be used again, at most, and when it comes in (Jaleel et al.: NRU is their policy
/// with one bit).
fn lateness(policy: &ReplacementRule) -> Option<(u8, u8)> {
    match policy {
        ReplacementRule::Nru => Some((1, 0)),
        ReplacementRule::Srrip => Some((3, 2)),
        _ => None,
    }
}

/// A simulated cache.
#[derive(Debug, Clone)]
pub struct ProbedCache {
    spec: CacheSpec,
    lines: Vec<Line>,
    sets: Vec<Set>,
    /// Lines from here on are not prefetched: the array ends.
    limit: u32,
    random: Random,
}

impl ProbedCache {
    /// An empty cache; lines from `limit` on are not prefetched.
    pub fn new(spec: &CacheSpec, limit: u32, seed: u64) -> Self {
        let set = |&w: &u32| Set {
            lines: Vec::with_capacity(w as usize),
            ways: w as usize,
            newest: NONE,
            oldest: NONE,
            tree: 0,
            late: Vec::new(),
        };
        let sets = spec.ways.iter().map(set).collect();
        Self { spec: spec.clone(), lines: Vec::new(), sets, limit, random: Random::new(seed) }
    }

    /// Loads a byte; whether it hits.
    pub fn load(&mut self, address: u64) -> bool {
        let line = number(address / self.spec.line);
        let sector = 1_u32 << (address % self.spec.line / self.spec.sector % 32);
        self.know(line);
        let known = &mut self.lines[line as usize];
        let there = known.way != NONE;
        let hit = there && known.sectors & sector != 0;
        let first_use = std::mem::take(&mut known.tagged);
        if there {
            known.sectors |= sector;
            self.used(line, hit);
        } else {
            self.bring(line, sector);
        }
        if let Some(Prefetch { distance, trigger }) = self.spec.prefetch
            && (!hit || first_use && trigger == Trigger::Tagged)
        {
            let end = line.saturating_add(distance).saturating_add(1).min(self.limit);
            for next in line + 1..end {
                self.know(next);
                if self.lines[next as usize].way == NONE {
                    self.bring(next, u32::MAX);
                    self.lines[next as usize].tagged = true;
                }
            }
        }
        hit
    }

    fn know(&mut self, line: u32) {
        while self.lines.len() <= line as usize {
            let set = self.spec.set(self.lines.len() as u64);
            self.lines.push(Line { set, way: NONE, newer: NONE, older: NONE, tagged: false, sectors: 0 });
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a way")]
    fn bring(&mut self, line: u32, sectors: u32) {
        let number = self.lines[line as usize].set as usize;
        let set = &mut self.sets[number];
        let way = if set.lines.len() < set.ways {
            set.lines.push(line);
            set.lines.len() - 1
        } else {
            let way = victim(&self.spec.policy, set, &self.lines, &mut self.random);
            let old = std::mem::replace(&mut set.lines[way], line);
            self.unlink(number, old);
            self.lines[old as usize].way = NONE;
            way
        };
        let known = &mut self.lines[line as usize];
        (known.way, known.sectors) = (way as u32, sectors);
        self.link(number, line);
        self.point_away(number, way);
        if let Some((_, comes)) = lateness(&self.spec.policy) {
            let late = &mut self.sets[number].late;
            late.resize(late.len().max(way + 1), comes);
            late[way] = comes;
        }
    }

    /// A line that is there is used; `hit` if the sector is there, too.
    fn used(&mut self, line: u32, hit: bool) {
        let Line { set, way, .. } = self.lines[line as usize];
        match self.spec.policy {
            ReplacementRule::Lru => {
                self.unlink(set as usize, line);
                self.link(set as usize, line);
            }
            ReplacementRule::TreePlru => self.point_away(set as usize, way as usize),
            // Whether a sector that comes late counts as a use is not known of any cache; here it does not.
            ReplacementRule::Nru | ReplacementRule::Srrip if hit => {
                self.sets[set as usize].late[way as usize] = 0;
            }
            _ => {}
        }
    }

    /// Puts a line first in the list of its set.
    fn link(&mut self, set: usize, line: u32) {
        let set = &mut self.sets[set];
        let before = std::mem::replace(&mut set.newest, line);
        let known = &mut self.lines[line as usize];
        (known.newer, known.older) = (NONE, before);
        if before == NONE {
            set.oldest = line;
        } else {
            self.lines[before as usize].newer = line;
        }
    }

    fn unlink(&mut self, set: usize, line: u32) {
        let Line { newer, older, .. } = self.lines[line as usize];
        if newer == NONE {
            self.sets[set].newest = older;
        } else {
            self.lines[newer as usize].older = older;
        }
        if older == NONE {
            self.sets[set].oldest = newer;
        } else {
            self.lines[older as usize].newer = newer;
        }
    }

    /// Lets every node on the way to `way` point to its other half.
    fn point_away(&mut self, set: usize, way: usize) {
        if self.spec.policy != ReplacementRule::TreePlru {
            return;
        }
        let set = &mut self.sets[set];
        let (mut node, mut half) = (1, set.ways / 2);
        while half > 0 {
            let right = way & half != 0;
            let bit = 1_u64 << (node & 63);
            set.tree = if right { set.tree & !bit } else { set.tree | bit };
            node = node * 2 + usize::from(right);
            half /= 2;
        }
    }
}

/// The way of a full set that gives way.
fn victim(policy: &ReplacementRule, set: &mut Set, lines: &[Line], random: &mut Random) -> usize {
    match policy {
        ReplacementRule::Nru | ReplacementRule::Srrip => {
            let last = lateness(policy).map_or(0, |l| l.0);
            let latest = set.late.iter().copied().max().unwrap_or(0);
            set.late.iter_mut().for_each(|l| *l += last - latest);
            set.late.iter().position(|&l| l == last).unwrap_or(0)
        }
        ReplacementRule::Lru | ReplacementRule::Fifo => lines[set.oldest as usize].way as usize,
        ReplacementRule::Random => random.below(set.ways),
        ReplacementRule::TreePlru => {
            let (mut node, mut half, mut way) = (1, set.ways / 2, 0);
            while half > 0 {
                let right = set.tree >> (node & 63) & 1 == 1;
                way += if right { half } else { 0 };
                node = node * 2 + usize::from(right);
                half /= 2;
            }
            way
        }
        ReplacementRule::Weighted(weights) => {
            let weights = &weights[..set.ways];
            let mut ticket = random.below(weights.iter().map(|&w| w as usize).sum());
            let mut chosen = 0;
            for (way, &weight) in weights.iter().enumerate() {
                chosen = way;
                match ticket.checked_sub(weight as usize) {
                    Some(rest) => ticket = rest,
                    None => break,
                }
            }
            chosen
        }
    }
}

/// Levels of caches with noisy latencies.
#[derive(Debug, Clone)]
pub struct Latencies {
    caches: Vec<ProbedCache>,
    miss: f64,
    noise: f64,
    outliers: f64,
    step: f64,
    random: Random,
}

impl Latencies {
    /// Empty caches for an array that ends at a byte.
    pub fn new(spec: &ProbeSpec, end: u64, seed: u64) -> Self {
        let limit = |line: u64| number(end.div_ceil(line));
        let seed = spec.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
        let caches = spec.levels.iter().map(|l| ProbedCache::new(l, limit(l.line), seed)).collect();
        let random = Random::new(seed ^ 0x0153);
        let (miss, noise, outliers, step) =
            (spec.miss_cycles, spec.noise_share, spec.outlier_share, spec.step_cycles);
        Self { caches, miss, noise, outliers, step, random }
    }

    /// Loads a byte without a look at the time.
    pub fn touch(&mut self, address: u64) -> f64 {
        let hit = self.caches.iter_mut().find_map(|c| c.load(address).then_some(c.spec.hit_cycles));
        hit.unwrap_or(self.miss)
    }

    /// Loads a byte; its latency in cycles.
    pub fn load(&mut self, address: u64) -> f64 {
        let exact = self.touch(address);
        self.noisy(exact)
    }

    /// A time as it would be measured.
    pub fn noisy(&mut self, exact: f64) -> f64 {
        // The sum of eight bytes is nearly normal: mean 1020, standard deviation sqrt(8 (256^2 - 1) / 12).
        let sum: u32 = self.random.next().to_le_bytes().iter().map(|&b| u32::from(b)).sum();
        let normal = (f64::from(sum) - 1020.0) / 209.019;
        let outlier = if self.outliers > 0.0 && self.random.unit() <= self.outliers {
            1.2 + 3.8 * self.random.unit()
        } else {
            1.0
        };
        let cycles = (exact * outlier * (1.0 + self.noise * normal)).max(1.0);
        if self.step <= 0.0 {
            return cycles;
        }
        // The clock ticks at some time between the two looks at it.
        (cycles / self.step + self.random.unit()).floor() * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::simulate::read_spec;

    /// Which of the loads of lines of 32 bytes hit in a set of four.
    fn hits(replacement: &str, lines: &[u64]) -> Vec<bool> {
        let text = format!("{{line: 32, ways: 4, replacement: {replacement}, hit: 10, miss: 20}}");
        let spec = read_spec("x", &text).unwrap();
        let mut cache = ProbedCache::new(&spec.levels[0], 100, 1);
        lines.iter().map(|l| cache.load(l * 32)).collect()
    }

    #[test]
    fn policies_that_predict_reuse_go_as_published() {
        // NRU: all four are used; the fifth clears them and takes the first way, the sixth the second.
        let found = hits("nru", &[0, 1, 2, 3, 4, 0, 2, 3]);
        assert_eq!(found, [false, false, false, false, false, false, true, true]);
        // SRRIP: line 0 was hit, so that four lines that come once do not put it out.
        let found = hits("srrip", &[0, 0, 1, 2, 3, 4, 5, 0, 4]);
        assert_eq!(found, [false, true, false, false, false, false, false, true, true]);
        assert!(!hits("lru", &[0, 0, 1, 2, 3, 4, 5, 0, 4])[7]);
    }

    #[test]
    fn a_miss_brings_a_sector_and_puts_out_a_line() {
        let spec = read_spec("x", "{line: 128, sector: 32, ways: 2, hit: 10, miss: 20}").unwrap();
        let mut cache = ProbedCache::new(&spec.levels[0], 100, 1);
        assert!(!cache.load(0) && cache.load(31), "a sector comes with its first load");
        assert!(!cache.load(32), "the next has not come with it");
        assert!(!cache.load(128) && cache.load(0) && cache.load(32));
        assert!(!cache.load(256) && !cache.load(128), "the third line puts out the second");
        assert!(!cache.load(0) && !cache.load(32), "and with the first go both of its sectors");
    }

    #[test]
    fn a_clock_with_steps_shows_multiples_of_them() {
        let spec = read_spec("x", "{line: 128, ways: 2, hit: 29, miss: 60, step: 2}").unwrap();
        let mut latencies = Latencies::new(&spec, 128, 1);
        latencies.touch(0);
        let all: Vec<f64> = (0..1000).map(|_| latencies.load(0)).collect();
        assert!(all.iter().all(|&l| l.total_cmp(&28.0).is_eq() || l.total_cmp(&30.0).is_eq()), "{all:?}");
        let mean = all.iter().sum::<f64>() / 1000.0;
        assert!((mean - 29.0).abs() < 0.1, "{mean}");
    }
}
