//! The runs that tell a structure: the two stages of S, each run chosen by what the ones before it showed.
//! Nothing but latencies is looked at.

use super::chase::{Chase, chase};
use super::spec::ProbeSpec;
use crate::trace::probe::infer::{noise_of, overflows};
use crate::trace::probe::marks::{Marks, significant};
use crate::trace::probe::{Clusters, Order, PrefetchFound, Run, infer};

/// Bytes of the shortest and the longest line that is thought possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The shortest.
    pub least: u64,
    /// The longest.
    pub most: u64,
    /// The stride at which lines are looked for.
    pub step: u64,
}

impl Lines {
    /// Of caches.
    pub const CACHE: Self = Self { least: 32, most: 512, step: 4 };
    /// Of TLBs.
    pub const TLB: Self = Self { least: 64 << 10, most: 8 << 20, step: 32 << 10 };
}

/// Loads of one run beyond which nothing more is learned.
const MOST_LOADS: u64 = 4_000_000;
/// Loads of all runs beyond which the search is given up.
const MOST_IN_ALL: usize = 80_000_000;
/// Line bits that are tried for a set hash.
const HASH_BITS: u32 = 16;
/// Rounds in which lines are looked for that miss now and then.
const ROUNDS: u64 = 48;

/// Runs of a simulated cache, from which `infer` finds its structure.
pub fn explore(spec: &ProbeSpec, lines: Lines) -> Vec<Run> {
    let mut probe = Probe { spec, element: u64::from(spec.element), runs: Vec::new() };
    probe.cold(lines);
    let Some(line) = probe.line() else { return probe.runs };
    probe.streams(line);
    let Some(fits) = probe.edge(line) else { return probe.runs };
    probe.fine(line, fits, lines);
    probe.grow(line, fits);
    probe.evict(line, fits);
    probe.shuffle(line);
    probe.runs
}

struct Probe<'s> {
    spec: &'s ProbeSpec,
    element: u64,
    runs: Vec<Run>,
}

impl Probe<'_> {
    fn elements(&self, bytes: u64) -> u64 {
        bytes / self.element
    }

    fn stride(&self, bytes: u64) -> i64 {
        i64::try_from(self.elements(bytes)).unwrap_or(i64::MAX)
    }

    fn run(&self, wanted: &Chase) -> Run {
        chase(self.spec, wanted)
    }

    /// Chases of an empty cache, up and down: lines, and what comes unasked.
    fn cold(&mut self, lines: Lines) {
        let n = self.elements(lines.most * 128);
        let step = self.stride(lines.step.max(self.element));
        for stride in [-step, step] {
            let wanted = Chase { cold: true, ..Chase::warm(n, stride, 1) };
            self.runs.push(self.run(&wanted));
        }
    }

    fn line(&self) -> Option<u64> {
        infer(&self.runs).line.value
    }

    /// How far ahead a stream prefetch is.
    fn streams(&mut self, line: u64) {
        if !matches!(infer(&self.runs).prefetch.value, Some(PrefetchFound::Stream { .. })) {
            return;
        }
        for lines in 2..=16 {
            let n = self.elements(line * lines * 64);
            let wanted = Chase { cold: true, ..Chase::warm(n, self.stride(line * lines), 1) };
            self.runs.push(self.run(&wanted));
            if matches!(infer(&self.runs).prefetch.value, Some(PrefetchFound::Stream { distance: Some(_) })) {
                return;
            }
        }
    }

    /// A warm chase from the last line to the first: in this order a prefetch brings what is there already.
    fn backwards(&self, line: u64, lines: u64, rounds: u64) -> Run {
        self.run(&Chase::warm(self.elements(line * lines), -self.stride(line), rounds))
    }

    /// Lines of the largest array that fits, by doubling and halving.
    fn edge(&mut self, line: u64) -> Option<u64> {
        let rounds = |lines: u64| ROUNDS.max(4096 / lines).min((MOST_LOADS / lines).max(3));
        // An array of one line fits everywhere: what looks like a miss is noise.
        self.runs.push(self.backwards(line, 1, 4096));
        let clusters = Clusters::of(&self.runs);
        let mut over = |lines: u64| {
            let run = self.backwards(line, lines, rounds(lines));
            let noise = noise_of(&self.runs, &clusters);
            let over = overflows(&run, &clusters, noise);
            self.runs.push(run);
            over
        };
        let (mut fits, mut beyond) = (1, 2);
        while !over(beyond) {
            fits = beyond;
            beyond *= 2;
            if beyond * line > 1 << 33 {
                return None;
            }
        }
        while beyond - fits > 1 {
            let middle = u64::midpoint(fits, beyond);
            if over(middle) {
                beyond = middle;
            } else {
                fits = middle;
            }
        }
        // What lies far beyond says nothing about sets: their lines are not followed up to there.
        let most = fits * line;
        self.runs.retain(|r| !r.is_warm_stride() || r.bytes() <= most);
        Some(fits)
    }

    /// Stage 1: loads closer than a line in an array that is much too large.
    fn fine(&mut self, line: u64, fits: u64, lines: Lines) {
        let step = self.stride(lines.step.max(self.element).min(line / 2));
        let n = self.elements(fits * line * 3);
        // Not counted when lines are followed: the array is too large for that.
        let wanted = Chase { cold: true, ..Chase::warm(n, -step, 1) };
        self.runs.push(self.run(&wanted));
    }

    /// Stage 2: one line more at a time, until every line of the array that fits has missed.
    fn grow(&mut self, line: u64, fits: u64) {
        let clusters = Clusters::of(&self.runs);
        let noise = noise_of(&self.runs, &clusters);
        let first = self.backwards(line, fits + 1, ROUNDS * 2);
        let marks = Marks::of(&first, &clusters, self.elements(line));
        let rounds = self.rounds(&marks, noise);
        let mut missed = vec![false; usize::try_from(fits).unwrap_or(0)];
        for lines in fits + 1..=fits * 6 + 1024 {
            let rounds = rounds.min((MOST_LOADS / lines).max(3));
            let run = self.backwards(line, lines, rounds);
            let marks = Marks::of(&run, &clusters, self.elements(line));
            for (known, place) in missed.iter_mut().zip(&marks.places) {
                *known |= place.1 * 2 > place.0 || significant(u64::from(place.0), u64::from(place.1), noise);
            }
            self.runs.push(run);
            if self.runs.iter().map(|r| r.loads.len()).sum::<usize>() > MOST_IN_ALL {
                return;
            }
            if missed.iter().all(|&m| m) {
                // One more, so that the last change is seen twice.
                self.runs.push(self.backwards(line, lines + 1, rounds));
                return;
            }
        }
    }

    /// Rounds after which every line of a full set has missed often enough to be told from noise.
    fn rounds(&self, marks: &Marks, noise: f64) -> u64 {
        let missing: Vec<f64> = marks
            .places
            .iter()
            .filter(|p| significant(u64::from(p.0), u64::from(p.1), noise))
            .map(|p| f64::from(p.1) / f64::from(p.0.max(1)))
            .collect();
        let mean = missing.iter().sum::<f64>() / missing.len().max(1) as f64;
        if mean > 0.9 {
            return 8;
        }
        // The set may have more lines than have missed: at least two loads of a round do (docs).
        let lines = marks.places.len() as f64;
        let (loads, misses) = marks.sum();
        let per_round = misses as f64 / f64::from(marks.rounds().max(1)) - noise * loads as f64 / f64::from(marks.rounds().max(1));
        let share = (per_round.max(1.0) / lines).max(mean / 8.0).clamp(0.002, 1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let rounds = (40.0 / share.min(mean.max(0.002))).clamp(64.0, 4000.0) as u64;
        rounds
    }

    /// N 5.1: lines beside the array, one for each address bit.
    fn evict(&mut self, line: u64, fits: u64) {
        let n = self.elements(line * fits);
        let first = 64 - (fits - 1).leading_zeros();
        for bit in first..HASH_BITS.max(first + 1) {
            let extra = self.elements(line << bit);
            let Ok(extra) = u32::try_from(extra) else { return };
            let (stride, order) = (self.stride(line), Order::Evict { extra });
            self.runs.push(self.run(&Chase { n, stride, order, cold: false, rounds: 48 }));
        }
    }

    /// Random orders, to tell replacement policies apart: up to the last line whose set is known.
    fn shuffle(&mut self, line: u64) {
        let found = infer(&self.runs);
        let Some(mapping) = found.mapping.value else { return };
        let most = self.runs.iter().filter(|r| r.is_warm_stride()).map(|r| r.bytes() / line).max().unwrap_or(0);
        let lines = (0..most).take_while(|&l| mapping.set(l).is_some()).count() as u64;
        let n = self.elements(line * lines);
        let wanted = Chase { n, stride: self.stride(line), order: Order::Shuffled, cold: false, rounds: 24 };
        self.runs.push(self.run(&wanted));
    }
}
