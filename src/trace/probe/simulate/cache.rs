//! A cache with sets of any size, and levels of them.

use super::spec::{CacheSpec, Policy, Prefetch, ProbeSpec, Trigger};
use crate::trace::random::Random;

const NONE: u32 = u32::MAX;

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
}

/// A simulated cache.
#[derive(Debug, Clone)]
pub struct Cache {
    spec: CacheSpec,
    lines: Vec<Line>,
    sets: Vec<Set>,
    /// Lines from here on are not prefetched: the array ends.
    limit: u32,
    random: Random,
}

impl Cache {
    /// An empty cache; lines from `limit` on are not prefetched.
    pub fn new(spec: &CacheSpec, limit: u32, seed: u64) -> Self {
        let set = |&w: &u32| Set {
            lines: Vec::with_capacity(w as usize),
            ways: w as usize,
            newest: NONE,
            oldest: NONE,
            tree: 0,
        };
        let sets = spec.ways.iter().map(set).collect();
        Self { spec: spec.clone(), lines: Vec::new(), sets, limit, random: Random::new(seed) }
    }

    /// Loads a byte; whether it hits.
    pub fn load(&mut self, address: u64) -> bool {
        let line = u32::try_from(address / self.spec.line).unwrap_or(NONE - 1);
        self.know(line);
        let known = &mut self.lines[line as usize];
        let hit = known.way != NONE;
        let first_use = std::mem::take(&mut known.tagged);
        if hit {
            self.used(line);
        } else {
            self.bring(line);
        }
        if let Some(Prefetch { distance, trigger }) = self.spec.prefetch
            && (!hit || first_use && trigger == Trigger::Tagged)
        {
            let end = line.saturating_add(distance).saturating_add(1).min(self.limit);
            for next in line + 1..end {
                self.know(next);
                if self.lines[next as usize].way == NONE {
                    self.bring(next);
                    self.lines[next as usize].tagged = true;
                }
            }
        }
        hit
    }

    fn know(&mut self, line: u32) {
        while self.lines.len() <= line as usize {
            let set = self.spec.set(self.lines.len() as u64);
            self.lines.push(Line { set, way: NONE, newer: NONE, older: NONE, tagged: false });
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a way")]
    fn bring(&mut self, line: u32) {
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
        self.lines[line as usize].way = way as u32;
        self.link(number, line);
        self.point_away(number, way);
    }

    fn used(&mut self, line: u32) {
        let Line { set, way, .. } = self.lines[line as usize];
        match self.spec.policy {
            Policy::Lru => {
                self.unlink(set as usize, line);
                self.link(set as usize, line);
            }
            Policy::TreePlru => self.point_away(set as usize, way as usize),
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
        if self.spec.policy != Policy::TreePlru {
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
fn victim(policy: &Policy, set: &Set, lines: &[Line], random: &mut Random) -> usize {
    match policy {
        Policy::Lru | Policy::Fifo => lines[set.oldest as usize].way as usize,
        Policy::Random => random.below(set.ways),
        Policy::TreePlru => {
            let (mut node, mut half, mut way) = (1, set.ways / 2, 0);
            while half > 0 {
                let right = set.tree >> (node & 63) & 1 == 1;
                way += if right { half } else { 0 };
                node = node * 2 + usize::from(right);
                half /= 2;
            }
            way
        }
        Policy::Weighted(weights) => {
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
    caches: Vec<Cache>,
    miss: f64,
    noise: f64,
    outliers: f64,
    random: Random,
}

impl Latencies {
    /// Empty caches for an array that ends at a byte.
    pub fn new(spec: &ProbeSpec, end: u64, seed: u64) -> Self {
        let limit = |line: u64| u32::try_from(end.div_ceil(line)).unwrap_or(NONE);
        let seed = spec.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
        let caches = spec.levels.iter().map(|l| Cache::new(l, limit(l.line), seed)).collect();
        let random = Random::new(seed ^ 0x0153);
        Self { caches, miss: spec.miss, noise: spec.noise, outliers: spec.outliers, random }
    }

    /// Loads a byte without a look at the time.
    pub fn touch(&mut self, address: u64) -> f64 {
        let hit = self.caches.iter_mut().find_map(|c| c.load(address).then_some(c.spec.hit));
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
        (exact * outlier * (1.0 + self.noise * normal)).max(1.0)
    }
}
