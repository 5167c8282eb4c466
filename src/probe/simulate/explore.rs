//! The runs that tell a structure: the two stages of S, each run chosen by what the ones before it showed.
//! Nothing but latencies is looked at.

use super::chase::{Chase, chase};
use super::spec::ProbeSpec;
use crate::probe::infer::{BESIDE, Shared, ahead, misses_enough, overflows, shared};
use crate::probe::marks::{Marks, significant};
use crate::probe::noise::noise_of;
use crate::probe::{ChaseOrder, Clusters, FindingConfidence, PrefetchFound, Run, evictions, infer};

/// Bytes of the shortest and the longest line that is thought possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The shortest.
    pub least: u64,
    /// The longest.
    pub most: u64,
    /// The stride at which lines are looked for.
    pub step: u64,
}

impl LineRange {
    /// Of caches.
    pub const CACHE: Self = Self { least: 32, most: 512, step: 4 };
    /// Of TLBs.
    pub const TLB: Self = Self { least: 64 << 10, most: 8 << 20, step: 32 << 10 };
}

/// Loads of one run beyond which nothing more is learned.
const MOST_LOADS: u64 = 4_000_000;
/// Loads and rounds of the largest array that fits, so that a line that misses now and then is seen.
const SURE_LOADS: u64 = 200_000;
const SURE: u64 = 512;
/// Loads of all runs beyond which the search is given up.
const MOST_IN_ALL: usize = 100_000_000;
/// Lines ahead up to which a prefetch is followed.
const MOST_AHEAD: u64 = 32;
/// How often an array of a few lines is loaded.
const AGAIN: u64 = 7;
/// Arrays whose last line is looked at.
const TOPS: u64 = 16;
/// Scattered chases for each length of a line, at most, and loads of each.
const SCATTERED: u64 = 8;
const SCATTERED_LOADS: u64 = 6000;
/// Random orders that are tried, at most.
const ORDERS: u64 = 12;
/// Line bits that are tried for a set hash.
const HASH_BITS: u32 = 16;
/// Lines with the same high bit that are tried for a set hash.
const TRIES: u64 = 48;
/// Rounds of growing arrays: enough if lines of full sets always miss.
const FEWEST: u64 = 8;
/// Loads of each growing array, at least.
const SOME_LOADS: u64 = 512;
/// Rounds beyond which more are not tried.
const MOST_ROUNDS: u64 = 2048;
/// Rounds in which lines are looked for that miss now and then.
const ROUNDS: u64 = 48;

/// Runs of a simulated cache, from which `infer` finds its structure.
pub fn explore(spec: &ProbeSpec, lines: LineRange) -> Vec<Run> {
    let mut probe = Probe { spec, element: u64::from(spec.element), runs: Vec::new() };
    probe.cold(lines);
    let Some(sector) = probe.sector() else { return probe.runs };
    probe.ahead(sector);
    let Some(fits) = probe.edge(sector) else { return probe.runs };
    probe.fine(sector, fits, lines);
    let line = probe.widen(sector, fits * sector, lines);
    let fits = probe.grow(line, (fits * sector / line).max(1));
    probe.evict(line, fits);
    probe.shuffle(line, fits);
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
        self.elements(bytes).cast_signed()
    }

    fn run(&self, wanted: &Chase) -> Run {
        chase(self.spec, wanted)
    }

    /// Chases of an empty cache, up and down: lines, and what comes unasked.
    fn cold(&mut self, lines: LineRange) {
        let n = self.elements(lines.most * 128);
        let step = self.stride(lines.step.max(self.element));
        for stride in [-step, step] {
            let wanted = Chase { cold: true, ..Chase::warm(n, stride, 1) };
            self.runs.push(self.run(&wanted));
        }
        for lines_long in 2..2 + TOPS {
            let wanted =
                Chase { cold: true, ..Chase::warm(self.elements(lines.most * lines_long), -step, 1) };
            self.runs.push(self.run(&wanted));
        }
        // An array within a line, so that it is known how hits look.
        let few = self.elements(lines.least / 2);
        let rounds = 4096 / few.max(1);
        self.runs.push(self.run(&Chase::warm(few, -1, rounds.max(1))));
    }

    fn sector(&self) -> Option<u64> {
        infer(&self.runs).sector.value
    }

    /// How far ahead a prefetch is, and what sets it off: arrays of a few lines of which the first and the last
    /// are loaded, then one between them too.
    fn ahead(&mut self, line: u64) {
        for lines in 1..=MOST_AHEAD {
            self.ends(line, lines, 1);
            let clusters = Clusters::new(&self.runs);
            if let Some(distance) = ahead(&self.runs.iter(), &clusters, line) {
                if distance > 0 {
                    self.ends(line, distance.into(), 2);
                }
                return;
            }
        }
    }

    /// Empty caches, and loads of the first line of an array and of those `steps` times so many lines on;
    /// several times, because each can be disturbed.
    fn ends(&mut self, line: u64, lines: u64, steps: u64) {
        for more in 1..=AGAIN {
            let n = self.elements(lines * steps * line) + more;
            let wanted = Chase { cold: true, ..Chase::warm(n, self.stride(line * lines), 1) };
            self.runs.push(self.run(&wanted));
        }
    }

    /// A warm chase from the last line to the first: in this order a prefetch brings what is there already.
    fn backwards(&self, line: u64, lines: u64, rounds: u64) -> Run {
        self.run(&Chase::warm(self.elements(line * lines), -self.stride(line), rounds))
    }

    /// Lines of the largest array that fits, by doubling and halving.
    fn edge(&mut self, line: u64) -> Option<u64> {
        let rounds = |lines: u64| ROUNDS.max(40_000 / lines).min((MOST_LOADS / lines).max(3));
        // An array of one line fits everywhere: what looks like a miss is noise.
        self.runs.push(self.backwards(line, 1, 20_000));
        let clusters = Clusters::new(&self.runs);
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

    /// Whether what a miss brings is a sector of a longer line: one element of each two sectors, then of each two of
    /// what these make, beside one of each sector. Bytes of a line.
    fn widen(&mut self, sector: u64, fits: u64, lines: LineRange) -> u64 {
        let clusters = Clusters::new(&self.runs);
        let noise = noise_of(&self.runs, &clusters);
        // Under a prefetch lines look longer than they are.
        let plain = infer(&self.runs).prefetch.value == Some(PrefetchFound::None);
        let mut line = sector;
        let mut most = fits + fits / 4;
        while line * 2 <= (2 * lines.most).min(fits) {
            let wide = line * 2;
            // An array in which all sectors miss often enough.
            let array = loop {
                let array = most.max(fits + wide).next_multiple_of(wide);
                let run = self.scattered(self.elements(array), sector);
                let enough = misses_enough(&run, &clusters, noise);
                self.runs.push(run);
                if enough || most > 4 * fits {
                    break array;
                }
                most += fits / 2;
            };
            let mut told = Shared::Unsaid;
            for less in 0..SCATTERED {
                let n = self.elements(array) - less.min(self.elements(sector));
                self.runs.push(self.scattered(n, wide));
                told = shared(&self.runs, &clusters, noise, (sector, wide), fits + sector);
                if told != Shared::Unsaid {
                    break;
                }
            }
            if told != Shared::Yes || !plain {
                break;
            }
            line = wide;
        }
        line
    }

    /// One element of each place of so many bytes.
    fn scattered(&self, n: u64, place: u64) -> Run {
        let places = n.div_ceil(self.elements(place)).max(1);
        let rounds = (SCATTERED_LOADS / places).clamp(FEWEST, ROUNDS * ROUNDS);
        let wanted = Chase { order: ChaseOrder::Scattered, ..Chase::warm(n, -self.stride(place), rounds) };
        self.run(&wanted)
    }

    /// Stage 1: loads closer than a line in an array that is much too large.
    fn fine(&mut self, line: u64, fits: u64, lines: LineRange) {
        let step = self.stride(lines.step.max(self.element).min(line / 2));
        let n = self.elements((fits * 3).max(64) * line);
        // Not counted when lines are followed: the array is too large for that.
        let wanted = Chase { cold: true, ..Chase::warm(n, -step, 1) };
        self.runs.push(self.run(&wanted));
    }

    /// Stage 2: one line more at a time, until every line of the array that fits has missed; with more
    /// rounds if it is not certain then with which array each began to.
    fn grow(&mut self, line: u64, fits: u64) -> u64 {
        let mut before = self.runs.len();
        let (mut rounds, mut fits) = (FEWEST, fits);
        loop {
            // With more rounds the largest array that fits may turn out to miss.
            while fits > 1 && self.misses_after_all(line, fits, rounds) {
                fits -= 1;
            }
            before = before.max(self.runs.len());
            let certain = self.grow_once(line, fits, rounds);
            let loads: usize = self.runs[before..].iter().map(|r| r.loads.len()).sum();
            if certain || loads * 4 > MOST_IN_ALL || rounds > MOST_ROUNDS {
                return fits;
            }
            self.runs.truncate(before);
            rounds *= 4;
        }
    }

    /// Looks at an array again, longer.
    fn misses_after_all(&mut self, line: u64, lines: u64, rounds: u64) -> bool {
        let clusters = Clusters::new(&self.runs);
        let noise = noise_of(&self.runs, &clusters);
        // Each line of a set that is too full by one misses in a share of rounds, that of its ways; many more rounds
        // show little but how well noise is known.
        let rounds =
            (rounds * 4).max((SURE_LOADS / lines).min(SURE)).min(8 * SURE).min((MOST_LOADS / lines).max(3));
        let run = self.backwards(line, lines, rounds);
        let over = overflows(&run, &clusters, noise);
        self.runs.push(run);
        over
    }

    fn grow_once(&mut self, line: u64, fits: u64, rounds: u64) -> bool {
        let clusters = Clusters::new(&self.runs);
        let noise = noise_of(&self.runs, &clusters);
        let mut lines_seen = Seen::default();
        for lines in fits + 1..=fits * 6 + 1024 {
            // In a few rounds of a few lines one that seldom gives way may not miss at all.
            let rounds = rounds.max(SOME_LOADS / lines).min((MOST_LOADS / lines).max(3));
            let run = self.backwards(line, lines, rounds);
            let marks = Marks::new(&run, &clusters, self.elements(line));
            self.runs.push(run);
            // Some arrays more after all lines miss, in case that the next line has a set of its own.
            let full = lines_seen.add(&marks, noise);
            let longest = lines_seen.longest();
            let most = if longest as u64 * 2 > fits { longest.max(BESIDE) } else { longest };
            if full > most + 1 {
                break;
            }
            if self.runs.iter().map(|r| r.loads.len()).sum::<usize>() > MOST_IN_ALL {
                return true;
            }
        }
        infer(&self.runs).ways.confidence > FindingConfidence::Low
    }

    /// N 5.1: lines beside the array, one for each address bit.
    fn evict(&mut self, line: u64, fits: u64) {
        let n = self.elements(line * fits);
        let first = 64 - (fits - 1).leading_zeros();
        let clusters = Clusters::new(&self.runs);
        let noise = noise_of(&self.runs, &clusters);
        for bit in first..HASH_BITS.max(first + 1) {
            // Where the set of the first line is not full, another with the same high bit may do.
            for low in 0..fits.min(TRIES) {
                let extra = u32::try_from(self.elements((1 << bit | low) * line));
                let Ok(extra) = extra else { return };
                let (stride, order) = (self.stride(line), ChaseOrder::Evict { extra });
                let run = self.run(&Chase { n, stride, order, cold: false, rounds: 48 });
                let silent = evictions(std::slice::from_ref(&run), &clusters, noise, line).pairs.is_empty();
                self.runs.push(run);
                if !silent {
                    break;
                }
            }
        }
    }

    /// Random orders, to tell replacement policies apart, through lines whose sets are known.
    fn shuffle(&mut self, line: u64, fits: u64) {
        let found = infer(&self.runs);
        let Some(mapping) = found.mapping.value else { return };
        let most =
            self.runs.iter().filter(|r| r.is_warm_stride()).map(|r| r.bytes() / line).max().unwrap_or(0);
        let lines = (0..most).take_while(|&l| mapping.set(l).is_some()).count() as u64;
        // With many lines too many every policy misses always; with few, only the smallest sets are full.
        for lines in [lines.min(fits + fits / 8 + 2), lines] {
            self.shuffled(line, lines, 0);
        }
        // One order may be served alike by several policies: others, of the same lines, until one is left.
        for more in 1..ORDERS {
            let found = infer(&self.runs);
            if found.replacement.confidence >= found.ways.confidence {
                return;
            }
            let between = fits + 1 + more % 4 * (lines.saturating_sub(fits) / 4);
            self.shuffled(line, between.min(lines), more);
        }
    }

    /// The last elements are left out, which changes the order and nothing else.
    fn shuffled(&mut self, line: u64, lines: u64, without: u64) {
        let n = self.elements(line * lines) - without.min(self.elements(line) / 4);
        let wanted =
            Chase { n, stride: self.stride(line), order: ChaseOrder::Shuffled, cold: false, rounds: 24 };
        self.runs.push(self.run(&wanted));
    }
}

/// What growing arrays have shown.
#[derive(Default)]
struct Seen {
    /// Loads and misses of each line so far, and the array with which it was first seen to miss.
    lines: Vec<(u64, u64, Option<usize>)>,
    arrays: usize,
    /// Arrays in a row of which all lines miss.
    full: usize,
}

impl Seen {
    /// Looks at the next array; how many in a row miss with all lines.
    fn add(&mut self, marks: &Marks, noise: f64) -> usize {
        self.lines.resize(self.lines.len().max(marks.places.len()), (0, 0, None));
        for (known, place) in self.lines.iter_mut().zip(&marks.places) {
            *known = (known.0 + u64::from(place.0), known.1 + u64::from(place.1), known.2);
            if place.1 * 2 > place.0 || significant(known.0, known.1, noise) {
                known.2.get_or_insert(self.arrays);
            }
        }
        self.arrays += 1;
        self.full = if self.lines.iter().all(|l| l.2.is_some()) { self.full + 1 } else { 0 };
        self.full
    }

    /// Most lines side by side that began to miss together.
    fn longest(&self) -> usize {
        let together = |a: &(u64, u64, Option<usize>), b: &(u64, u64, Option<usize>)| a.2 == b.2;
        self.lines.chunk_by(together).map(<[_]>::len).max().unwrap_or(0)
    }
}
