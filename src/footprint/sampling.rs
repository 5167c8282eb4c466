//! An estimate where no engine can count: random lines are looked for, one by one.
//!
//! The lines that can be touched at all are covered by intervals. Of these, some are drawn and searched
//! for in the boxes of points; the share that is found, times all lines in the cover, is the estimate.
//! Its interval is Wilson's for a share (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927), which also holds
//! for shares near 0 and 1. The draws are the same each time.

use super::LineCount;
use super::engine::Engine;
use super::linear;
use super::query::{Piece, Query, Refusal};
use super::reach::Part;
use crate::effort::{is_limited, left, spend_on, stopped, within};
use crate::random::Random;

/// Parts of boxes that make up the cover, at least as many as there are pieces.
const PARTS: usize = 1024;
/// Parts that the search for one line may look at, on average.
const SEARCH: u64 = 2048;
/// An estimate takes this share of the steps that are left.
const SHARE: u64 = 12;
/// Fewer lines than these say nothing.
const FEWEST: u32 = 64;
/// The normal distribution's value for 95 %.
const Z: f64 = 1.959_964;

/// About how many distinct lines a query touches. Where steps are scarce, fewer lines are looked for.
pub(super) fn count(query: &Query, samples: u32) -> Result<LineCount, Refusal> {
    if !is_limited() {
        return estimate(query, samples, 0);
    }
    let mut samples = samples;
    loop {
        match within(left() / SHARE, || estimate(query, samples, 0)) {
            // Some lines cost more than the first ones did.
            Err(Refusal::Spent) if samples > FEWEST && !stopped() => samples /= 8,
            other => return other,
        }
    }
}

fn estimate(query: &Query, samples: u32, seed: u64) -> Result<LineCount, Refusal> {
    let parts = parts(query)?;
    let cover = Cover::new(&parts, query);
    // Nothing is touched where no loop of these threads runs.
    if cover.lines == 0 {
        let interval_lines = Some((0.0, 0.0));
        return Ok(LineCount { lines: 0, engine: Engine::Sampling, verified_by: None, interval_lines });
    }
    let samples = affordable(&parts, &cover, query, samples)?;
    let mut left = SEARCH.saturating_mul(u64::from(samples));
    let mut draw = Random::new(seed);
    // So few lines that each is looked for: then the number is exact.
    let all = cover.lines <= u128::from(samples);
    let few = u32::try_from(cover.lines).ok().filter(|_| all);
    let looked_for = few.unwrap_or(samples);
    let found = search(&parts, &cover, query, looked_for, &mut draw, &mut left)?;
    let interval = wilson(found, looked_for).map(|share| share * cover.lines as f64);
    // Where there are no lines, none is looked for.
    let lines = match u128::from(looked_for) {
        0 => 0,
        draws => (cover.lines * u128::from(found) + draws / 2) / draws,
    };
    if all {
        let interval = Some((lines as f64, lines as f64));
        return Ok(LineCount {
            lines,
            engine: Engine::Sampling,
            verified_by: None,
            interval_lines: interval,
        });
    }
    let (least, most) = bounds(query);
    let lines = lines.clamp(least, most);
    let interval = interval.map(|end| end.clamp(least as f64, most as f64));
    Ok(LineCount {
        lines,
        engine: Engine::Sampling,
        verified_by: None,
        interval_lines: Some(interval.into()),
    })
}

/// What no union can be beyond: it has at least the lines of each of its pieces, and at most those of all
/// of them together.
fn bounds(query: &Query) -> (u128, u128) {
    let of_piece = |piece: &Piece| {
        let alone = Query { pieces: vec![piece.clone()], line: query.line };
        linear::count(&alone).ok()
    };
    let (mut least, mut most) = (0, Some(0_u128));
    for piece in &query.pieces {
        let lines = of_piece(piece);
        // Of a piece that cannot be counted by itself, nothing is known.
        least = least.max(lines.unwrap_or(0));
        most = most.zip(lines).map(|(sum, lines)| sum.saturating_add(lines));
    }
    (least, most.unwrap_or(u128::MAX))
}

/// Draws lines and says how many of them are touched.
fn search(
    parts: &[(usize, Part<'_>)],
    cover: &Cover,
    query: &Query,
    lines: u32,
    draw: &mut Random,
    left: &mut u64,
) -> Result<u32, Refusal> {
    let mut found = 0;
    for i in 0..lines {
        spend_on(parts.len(), 1)?;
        // One line from each of equal shares of the cover: never worse than lines drawn from all of it.
        let (from, to) = (share(cover.lines, i, lines), share(cover.lines, i + 1, lines));
        let (array, line) = cover.line(from + draw.remainder(to - from));
        let bytes = [line.saturating_mul(query.line), line.saturating_mul(query.line) + query.line - 1];
        for (_, part) in parts.iter().filter(|p| p.0 == array) {
            if part.touches(bytes, left)? {
                found += 1;
                break;
            }
        }
    }
    Ok(found)
}

/// How many lines can be looked for with the steps that are left: as many as a few first ones cost.
fn affordable(
    parts: &[(usize, Part<'_>)],
    cover: &Cover,
    query: &Query,
    samples: u32,
) -> Result<u32, Refusal> {
    if !is_limited() || samples <= FEWEST {
        return Ok(samples);
    }
    let before = left();
    let mut draw = Random::new(u64::MAX);
    search(parts, cover, query, FEWEST, &mut draw, &mut SEARCH.saturating_mul(u64::from(FEWEST)))?;
    let cost = (before - left()).max(1);
    // Others may cost more.
    let affordable = u128::from(left()) * u128::from(FEWEST) / u128::from(cost) * 2 / 3;
    let affordable = u32::try_from(affordable).unwrap_or(samples).min(samples);
    if affordable < FEWEST { Err(Refusal::Spent) } else { Ok(affordable) }
}

fn share(lines: u128, i: u32, of: u32) -> u128 {
    // A share of fewer than 2^61 lines in fewer than 2^32 parts.
    lines * u128::from(i) / u128::from(of.max(1))
}

/// Wilson's 95 % interval for a share of which `found` of `of` samples were seen.
fn wilson(found: u32, of: u32) -> [f64; 2] {
    let n = f64::from(of.max(1));
    let p = f64::from(found) / n;
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    [(middle - half).max(0.0), (middle + half).min(1.0)]
}

/// The boxes, halved where that narrows the cover most.
fn parts(query: &Query) -> Result<Vec<(usize, Part<'_>)>, Refusal> {
    let mut parts = Vec::new();
    for piece in &query.pieces {
        parts.extend(Part::whole(piece)?.map(|part| (piece.array, part)));
    }
    let mut single = Vec::new();
    while parts.len() + single.len() < PARTS.max(query.pieces.len()) {
        let width = |p: &(usize, Part<'_>)| p.1.bytes[1].abs_diff(p.1.bytes[0]);
        spend_on(parts.len(), 1)?;
        let widest = parts.iter().enumerate().max_by_key(|(_, p)| width(p)).map(|(i, _)| i);
        let Some(widest) = widest else { break };
        let (array, part) = parts.swap_remove(widest);
        match part.halves()? {
            Some(halves) => parts.extend(halves.into_iter().flatten().map(|half| (array, half))),
            None => single.push((array, part)),
        }
    }
    parts.extend(single);
    Ok(parts)
}

/// Intervals of lines that hold all that are touched.
struct Cover {
    /// Array, first line, and the number of lines in all intervals before this one.
    intervals: Vec<(usize, i64, u128)>,
    lines: u128,
}

impl Cover {
    fn new(parts: &[(usize, Part<'_>)], query: &Query) -> Self {
        let line = |byte: i64| byte.div_euclid(query.line);
        let mut ends: Vec<_> =
            parts.iter().map(|(array, part)| (*array, line(part.bytes[0]), line(part.bytes[1]))).collect();
        ends.sort_unstable();
        ends.dedup_by(|next, kept| {
            let meets = next.0 == kept.0 && next.1 <= kept.2;
            if meets {
                kept.2 = kept.2.max(next.2);
            }
            meets
        });
        let mut lines = 0;
        let intervals = ends
            .into_iter()
            .map(|(array, from, to)| {
                let before = lines;
                lines += u128::from(to.abs_diff(from)) + 1;
                (array, from, before)
            })
            .collect();
        Self { intervals, lines }
    }

    /// The array and the number of the n-th line.
    fn line(&self, n: u128) -> (usize, i64) {
        let at = self.intervals.partition_point(|i| i.2 <= n).saturating_sub(1);
        let (array, from, before) = self.intervals[at];
        (array, from + i64::try_from(n - before).expect("a line is within its interval"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::expr::{Coord, Dim, Form, LookupTable, Term};
    use crate::footprint::{Piece, count_with};

    const X: Coord = Coord::Thread(Dim::X);
    const Y: Coord = Coord::Thread(Dim::Y);

    /// A gather: rows of doubles, of which a table says where each begins.
    fn gather(rows: i64, columns: i64, stride: i64) -> Query {
        let begins = (0..rows).map(|y| y * 37 % rows * 5 / 3).collect();
        let table = Arc::new(LookupTable::new("begin".into(), vec![usize::try_from(rows).unwrap()], begins));
        let begin = Form::term(Term::Lookup(table, vec![Form::coord(Y)]));
        let row = begin.times(&(8 * 200)).unwrap();
        let address = row.plus(&Form::coord(X).times(&(8 * stride)).unwrap()).unwrap();
        let piece = |array, shift| Piece {
            array,
            ranges: vec![(X, 0, columns - 1), (Y, 0, rows - 1)].into(),
            when: None,
            address: address.plus(&Form::int(shift)).unwrap().into(),
            width: 8,
        };
        Query { pieces: vec![piece(0, 0), piece(0, 24), piece(1, 0)], line: 32 }
    }

    /// Of 200 intervals at 95 %, at least 180 hold the number: fewer would happen once in a thousand
    /// times even if they were only 94 % intervals. Strata make them hold more often, if anything.
    #[test]
    fn intervals_hold_what_they_promise() {
        for (columns, stride) in [(90, 1), (30, 6)] {
            let query = gather(60, columns, stride);
            let exact = count_with(&query, Engine::Enumeration).unwrap();
            let mut held = 0;
            for seed in 0..200 {
                let count = estimate(&query, 400, seed << 32).unwrap();
                let (low, high) = count.interval_lines.unwrap();
                assert!(low <= count.lines as f64 + 0.5 && count.lines as f64 - 0.5 <= high, "{count:?}");
                held += u32::from(low <= exact as f64 && exact as f64 <= high);
            }
            assert!(held >= 180, "{held} of 200 intervals hold {exact}");
        }
    }

    #[test]
    fn few_lines_are_counted_exactly() {
        let query = gather(7, 20, 1);
        let exact = count_with(&query, Engine::Enumeration).unwrap();
        let count = estimate(&query, 100_000, 0).unwrap();
        assert_eq!((count.lines, count.interval_lines), (exact, Some((exact as f64, exact as f64))));
    }

    /// Two far strides that hardly meet: their union is nearly their sum, which no estimate exceeds.
    #[test]
    fn estimates_stay_between_the_largest_piece_and_the_sum() {
        let piece = |stride| Piece {
            array: 0,
            ranges: vec![(X, 0, 49_999)].into(),
            when: None,
            address: Form::coord(X).times(&stride).unwrap().into(),
            width: 8,
        };
        let query = Query { pieces: vec![piece(8 * 1009), piece(8 * 1013)], line: 32 };
        for seed in 0..50 {
            let count = estimate(&query, 100, seed << 32).unwrap();
            let (low, high) = count.interval_lines.unwrap();
            assert!((50_000..=100_000).contains(&count.lines), "{count:?}");
            assert!(50_000.0 <= low && high <= 100_000.0, "{count:?}");
        }
    }

    /// Also with few steps, where a few first lines are looked for to see what they cost.
    #[test]
    fn nothing_is_nothing() {
        // Loops that do not run leave no pieces.
        let query = Query { pieces: Vec::new(), line: 32 };
        let unlimited = estimate(&query, 100, 0).unwrap();
        let limited = within(1 << 20, || count(&query, 100_000)).unwrap();
        for found in [unlimited, limited] {
            assert_eq!((found.lines, found.interval_lines), (0, Some((0.0, 0.0))));
        }
    }
}
