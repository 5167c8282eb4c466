//! Lines longer than what a miss brings. A line in sectors has one tag: to load any of them keeps, or puts out, as many
//! lines as to load all. So one element of each two sectors, at random places, misses as often as one of each sector, if
//! these two share a line; if each is a line of its own, half as many lines are loaded, and most or all of them fit.

use super::super::clusters::Clusters;
use super::super::confidence::{Finding, FindingConfidence};
use super::super::finding::{FittingArrays, PrefetchFound};
use super::super::log::{ChaseOrder, Run};
use super::super::marks::Marks;

/// Misses with wider places over those with all sectors: from here on lines are as wide, below they are not.
const SAME: f64 = 0.75;
const FEWER: f64 = 0.6;
/// Least share of all sectors that must miss, and least number of loads, before anything is said.
const LEAST: f64 = 0.1;
const LOADS: u64 = 64;
/// Random places that must agree: a few may lie in the same set by chance.
const TRIES: usize = 6;
/// Sectors of a line that are thought possible.
const MOST: u64 = 32;

/// Whether places of so many bytes lie in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// They do.
    Yes,
    /// They do not.
    No,
    /// There are too few scattered chases to say.
    Unsaid,
}

/// The share of loads that miss of a chase of one element of each `wide` bytes.
fn share(run: &Run, clusters: &Clusters, noise: f64, wide: u64) -> Option<f64> {
    let scattered = run.order == ChaseOrder::Scattered && !run.cold && run.step() == wide;
    let (loads, misses) = scattered
        .then(|| Marks::new(run, clusters, run.stride.unsigned_abs()).sum())
        .filter(|s| s.0 >= LOADS)?;
    Some((misses as f64 / loads as f64 - noise).max(0.0))
}

/// Whether a chase through all sectors of an array misses often enough to compare others with it.
pub fn misses_enough(run: &Run, clusters: &Clusters, noise: f64) -> bool {
    share(run, clusters, noise, run.step()).is_some_and(|s| s >= LEAST)
}

/// Whether all sectors of places of `wide` bytes share a line. `over` is the smallest array that does not fit.
pub fn shared(
    runs: &[Run],
    clusters: &Clusters,
    noise: f64,
    (sector, wide): (u64, u64),
    over: u64,
) -> Shared {
    if wide >= over {
        // Not a single such line would fit.
        return Shared::No;
    }
    let all: Vec<(u64, f64)> =
        runs.iter().filter_map(|r| Some((r.bytes(), share(r, clusters, noise, sector)?))).collect();
    let against = |run: &Run| {
        let nearest = all.iter().min_by_key(|a| a.0.abs_diff(run.bytes()))?;
        let comparable = nearest.0.abs_diff(run.bytes()) < wide && nearest.1 >= LEAST;
        Some(share(run, clusters, noise, wide)? / nearest.1).filter(|_| comparable)
    };
    let ratios: Vec<f64> = runs.iter().filter_map(against).collect();
    if ratios.iter().any(|&r| r < FEWER) {
        Shared::No
    } else if ratios.len() >= TRIES && ratios.iter().all(|&r| r >= SAME) {
        Shared::Yes
    } else {
        Shared::Unsaid
    }
}

/// Bytes of a line, from those of a sector.
pub(super) fn line(
    runs: &[Run],
    clusters: &Clusters,
    noise: f64,
    sector: &Finding<u64>,
    (arrays, prefetch): (FittingArrays, Option<PrefetchFound>),
) -> Finding<u64> {
    let Some(bytes) = sector.value else { return sector.clone() };
    let told = |wide: u64| {
        arrays
            .overflows_bytes
            .map_or(Shared::Unsaid, |over| shared(runs, clusters, noise, (bytes, wide), over))
    };
    let mut line = bytes;
    let mut last = told(2 * line);
    // A prefetch brings both halves of what is no line.
    let plain = matches!(prefetch, None | Some(PrefetchFound::None));
    while last == Shared::Yes && plain && line < bytes * MOST {
        line *= 2;
        last = told(2 * line);
    }
    let mut found = Finding { value: Some(line), ..sector.clone() };
    if line > bytes {
        found.because(format!(
            "scattered: one element of each {line} B misses as often as one of each {bytes} B: they share a line"
        ));
        if prefetch.is_none() {
            found.at_most(FindingConfidence::Medium);
            found.because("if there is no prefetch, which would look alike");
        }
    }
    match last {
        Shared::No => found.because(format!(
            "scattered: one element of each {} B misses more seldom, or {} B do not fit: lines are no longer",
            2 * line,
            2 * line
        )),
        Shared::Yes if !plain => {
            found.at_most(FindingConfidence::Medium);
            found.because("a prefetch hides whether lines have sectors");
        }
        _ => {
            found.at_most(FindingConfidence::Low);
            found.because(format!(
                "a miss brings {bytes} B, which may be a sector of a line of {} B",
                2 * line
            ));
            found.next.push(next(runs, arrays.fits_bytes, (bytes, line)));
        }
    }
    found
}

/// The chases that would tell whether lines are longer.
fn next(runs: &[Run], fits: Option<u64>, (sector, line): (u64, u64)) -> String {
    let element = runs.first().map_or(4, |r| u64::from(r.element).max(1));
    let strides = format!("s={} and, {TRIES} times with other n, s={}", sector / element, 2 * line / element);
    match fits {
        Some(fits) => {
            let n = (fits + (fits / 4).max(2 * line)).next_multiple_of(2 * line) / element;
            format!(
                "order=scattered, n={n} (a little less each time), {strides}: as many misses are sectors of a line"
            )
        }
        None => format!("order=scattered with an array a quarter larger than the cache, {strides}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::simulate::{Chase, chase, read_spec};

    /// Whether 64 bytes share a line, and 128 do.
    fn both(text: &str, fits: u64) -> (Shared, Shared) {
        let spec = read_spec("x", text).unwrap();
        let run = |wide: i64, less: u64| {
            let n = (fits + fits / 4) / 4 - less;
            chase(&spec, &Chase { order: ChaseOrder::Scattered, ..Chase::warm(n, wide / 4, 60) })
        };
        let mut runs = vec![chase(&spec, &Chase::warm(8, 1, 500)), run(32, 0)];
        runs.extend(
            [64, 128].iter().flat_map(|&wide| (0..6).map(move |less| (wide, less))).map(|r| run(r.0, r.1)),
        );
        let clusters = Clusters::new(&runs);
        let told = |wide| shared(&runs, &clusters, 0.002, (32, wide), fits + 32);
        (told(64), told(128))
    }

    #[test]
    fn sectors_of_a_line_are_told_from_lines() {
        let rest = "hit: 30, miss: 200, noise: 0.03, outliers: 0.01}";
        for replacement in ["lru", "random", "plru", "nru", "srrip"] {
            let whole = format!("{{line: 32, sets: 64, ways: 16, replacement: {replacement}, {rest}");
            assert_eq!(both(&whole, 32 << 10), (Shared::No, Shared::No), "{replacement}");
            let two =
                format!("{{line: 64, sector: 32, sets: 64, ways: 8, replacement: {replacement}, {rest}");
            assert_eq!(both(&two, 32 << 10), (Shared::Yes, Shared::No), "{replacement}");
            let four =
                format!("{{line: 128, sector: 32, sets: 64, ways: 4, replacement: {replacement}, {rest}");
            assert_eq!(both(&four, 32 << 10), (Shared::Yes, Shared::Yes), "{replacement}");
            // Consecutive lines of a set are put out together, too.
            let run = format!(
                "{{line: 32, sets: 64, ways: 16, mapping: spatial, run: 4, replacement: {replacement}, {rest}"
            );
            assert_eq!(both(&run, 32 << 10), (Shared::No, Shared::No), "{replacement}");
        }
    }
}
