//! Runs for any quasi-affine address: one variable is followed along its range, where the address is
//! piecewise linear; all others are stepped through. The intervals of lines are sorted and merged. The
//! cost grows with the number of rows and of quotients met.

use super::along::{Along, Ranges};
use super::division::quotient;
use super::intervals::Intervals;
use super::query::{Piece, Query, Refusal};
use super::split::{long_pieces, size, without_repeats};
use crate::effort::{left, spend, spend_on};
use crate::expr::{Cond, Coord, Form, Term};

/// Most conjunctions that a condition may consist of.
const MOST_ALTERNATIVES: usize = 64;

/// Steps for a segment, for each form that is followed.
const STEPS_OF_SEGMENT: u64 = 6;
/// Steps that are taken together.
const STEPS_AT_ONCE: u64 = 1 << 12;
/// Where conditions leave out rows, or where quotients change seldom, segments are fewer than is known
/// beforehand: by up to so much.
const AT_MOST_FEWER: u64 = 16;
/// Steps for looking along a variable, for each part of the forms.
const STEPS_OF_PART: u64 = 32;

/// Distinct lines of all pieces of a query, following at most `budget` segments.
pub(super) fn count(query: &Query, budget: u64) -> Result<u128, Refusal> {
    let mut pieces: Vec<Piece> = query.pieces.iter().flat_map(easier).collect();
    pieces.sort_by_key(|p| p.array);
    // What all of it costs is about known before any of it is done: what is far too much costs nothing.
    let mut runs = Vec::with_capacity(pieces.len());
    let mut least = 0_u128;
    for piece in &pieces {
        for bounds in alternatives(piece.when.as_ref())? {
            let (segments, of_piece) = Runs::new(piece, bounds, query.line)?;
            if segments > u128::from(budget) {
                return Err(Refusal::Budget);
            }
            least = least.saturating_add(of_piece.least_steps(segments));
            if least > u128::from(left()) {
                return Err(Refusal::Spent);
            }
            runs.push((piece.array, of_piece));
        }
    }
    let mut left = budget;
    let mut total = 0;
    for (number, of_array) in pieces.chunk_by(|a, b| a.array == b.array).map(|all| (all[0].array, all)) {
        let mut lines = Intervals::covering(of_array, query.line)?;
        for (_, one) in runs.iter_mut().filter(|(array, _)| *array == number) {
            one.follow(&mut lines, &mut left)?;
        }
        total += lines.count();
    }
    Ok(total)
}

/// Pieces that touch the same bytes and are sooner gone through.
fn easier(piece: &Piece) -> Vec<Piece> {
    long_pieces(piece).unwrap_or_else(|| vec![without_repeats(piece)])
}

/// A condition as alternatives, in each of which every form is at least 0.
fn alternatives(cond: Option<&Cond<i64>>) -> Result<Vec<Vec<Form<i64>>>, Refusal> {
    let found = match cond {
        None | Some(Cond::Const(true)) => vec![Vec::new()],
        Some(Cond::Const(false)) => Vec::new(),
        Some(Cond::NonNegative(form)) => vec![vec![form.clone()]],
        Some(Cond::Zero(form)) => vec![vec![form.clone(), form.times(&-1)?]],
        Some(Cond::Any(parts)) => {
            parts.iter().map(|p| alternatives(Some(p))).collect::<Result<Vec<_>, _>>()?.concat()
        }
        Some(Cond::All(parts)) => {
            let mut all = vec![Vec::new()];
            for part in parts {
                let choices = alternatives(Some(part))?;
                if all.len() * choices.len() > MOST_ALTERNATIVES {
                    return Err(Refusal::Conditional);
                }
                all = all.iter().flat_map(|a| choices.iter().map(move |c| [&a[..], c].concat())).collect();
            }
            all
        }
    };
    if found.len() > MOST_ALTERNATIVES { Err(Refusal::Conditional) } else { Ok(found) }
}

/// A piece seen along one of its variables.
struct Runs {
    ranges: Vec<(Coord, i64, i64)>,
    /// Position of the run variable.
    run: usize,
    address: Along,
    /// Each to be at least 0.
    bounds: Vec<Along>,
    width: i64,
    line: i64,
}

impl Runs {
    /// Along the variable that leaves the fewest segments to follow, and how many these are about.
    fn new(piece: &Piece, bounds: Vec<Form<i64>>, line: i64) -> Result<(u128, Self), Refusal> {
        spend_on(size(piece), STEPS_OF_PART * u64::try_from(piece.ranges.len()).unwrap_or(1))?;
        let shape = Shape { ranges: piece.ranges.to_vec(), address: Form::clone(&piece.address), bounds };
        let mut best = shape.best(piece.width, line);
        // Segments of a few values each hardly save anything: look for a better direction.
        if best.as_ref().is_none_or(|b| b.0 > points(&shape.ranges) / 4) {
            for skewed in shape.skewed(piece.width, line) {
                let other = skewed.best(piece.width, line);
                let fewer = |o: &(u128, Self)| best.as_ref().is_none_or(|b| o.0 < b.0);
                best = if other.as_ref().is_some_and(fewer) { other } else { best };
            }
        }
        best.ok_or(Refusal::NotAffine)
    }

    /// The fewest steps that so many segments may take.
    fn least_steps(&self, segments: u128) -> u128 {
        let is_exact = self.bounds.is_empty() && self.address.size() == 0;
        let steps = segments.saturating_mul(u128::from(self.steps_of_segment()));
        if is_exact { steps } else { steps / u128::from(AT_MOST_FEWER) }
    }

    fn steps_of_segment(&self) -> u64 {
        STEPS_OF_SEGMENT * (1 + self.bounds.len() as u64)
    }

    /// Steps through the rows.
    fn follow(&mut self, out: &mut Intervals, left: &mut u64) -> Result<(), Refusal> {
        let mut at: Vec<i64> = self.ranges.iter().map(|r| r.1).collect();
        let of_segment = self.steps_of_segment();
        let of_row = self.bounds.iter().chain([&self.address]).map(|a| 1 + a.size() as u64).sum::<u64>();
        let mut unpaid = 0;
        loop {
            let before = *left;
            self.row(&at, out, left)?;
            unpaid += of_row + (before - *left) * of_segment;
            if unpaid > STEPS_AT_ONCE {
                spend(unpaid)?;
                unpaid = 0;
            }
            let mut rows = at.iter_mut().zip(&self.ranges).enumerate().filter(|(i, _)| *i != self.run);
            let moved = rows.any(|(_, (value, &(_, from, to)))| {
                let inside = *value < to;
                *value = if inside { *value + 1 } else { from };
                inside
            });
            if !moved {
                spend(unpaid)?;
                return Ok(());
            }
        }
    }

    /// Follows the run variable through one row.
    fn row(&mut self, at: &[i64], out: &mut Intervals, left: &mut u64) -> Result<(), Refusal> {
        self.address.enter(&self.ranges, at)?;
        for bound in &mut self.bounds {
            bound.enter(&self.ranges, at)?;
        }
        let (_, mut from, to) = self.ranges[self.run];
        loop {
            *left = left.checked_sub(1).ok_or(Refusal::Budget)?;
            let (constant, mut end) = self.address.segment(from, to);
            // Where the quotients of all bounds stay, each of them is a first or a last value.
            let mut kept = [i128::from(from), i128::from(to)];
            for bound in &self.bounds {
                let (offset, until) = bound.segment(from, end);
                end = until;
                restrict(&mut kept, offset, i128::from(bound.slope));
            }
            kept[1] = kept[1].min(i128::from(end));
            if let (Ok(first), Ok(last)) = (i64::try_from(kept[0]), i64::try_from(kept[1]))
                && first <= last
            {
                self.segment(constant, first, last, out, left)?;
            }
            if end >= to {
                return Ok(());
            }
            from = end + 1;
        }
    }

    /// Adds the lines of constant + slope*v for v from `from` to `to`.
    fn segment(
        &self,
        constant: i128,
        from: i64,
        to: i64,
        out: &mut Intervals,
        left: &mut u64,
    ) -> Result<(), Refusal> {
        let slope = self.address.slope;
        let address = |v: i64| {
            i64::try_from(constant + i128::from(slope) * i128::from(v)).map_err(|_| Refusal::Overflow)
        };
        let lines = |low: i64, high: i64| {
            let last = high.checked_add(self.width - 1).ok_or(Refusal::Overflow)?;
            Ok::<_, Refusal>((quotient(low, self.line), quotient(last, self.line)))
        };
        if is_dense(slope, self.width, self.line) {
            let (a, b) = (address(from)?, address(to)?);
            let (first, last) = lines(a.min(b), a.max(b))?;
            out.add(first, last);
            return Ok(());
        }
        for v in from..=to {
            *left = left.checked_sub(1).ok_or(Refusal::Budget)?;
            let byte = address(v)?;
            let (first, last) = lines(byte, byte)?;
            out.add(first, last);
        }
        Ok(())
    }
}

/// Keeps those values v for which offset + slope*v is at least 0.
fn restrict(kept: &mut [i128; 2], offset: i128, slope: i128) {
    match slope {
        0 if offset < 0 => kept[1] = kept[0] - 1,
        0 => {}
        _ if slope > 0 => kept[0] = kept[0].max(-offset.div_euclid(slope)),
        _ => kept[1] = kept[1].min(offset.div_euclid(-slope)),
    }
}

/// Whether elements `slope` bytes apart leave out no line: the gap is shorter than a line.
fn is_dense(slope: i64, width: i64, line: i64) -> bool {
    i128::from(slope).abs() - i128::from(width) < i128::from(line)
}

fn extent(range: &(Coord, i64, i64)) -> u128 {
    u128::from(range.2.abs_diff(range.1)) + 1
}

fn points(ranges: &Ranges) -> u128 {
    ranges.iter().map(extent).fold(1_u128, u128::saturating_mul)
}

/// A box, its address and its bounds, before a direction is chosen.
struct Shape {
    ranges: Vec<(Coord, i64, i64)>,
    address: Form<i64>,
    bounds: Vec<Form<i64>>,
}

impl Shape {
    /// The best variable to follow, and the segments it leaves.
    fn best(&self, width: i64, line: i64) -> Option<(u128, Runs)> {
        let along = |form: &Form<i64>, i: usize| Along::new(form, &self.ranges, self.ranges[i].0).ok();
        let cost = |i: usize| {
            let address = along(&self.address, i)?;
            let bounds = self.bounds.iter().map(|b| along(b, i)).collect::<Option<Vec<_>>>()?;
            let values = extent(&self.ranges[i]);
            let dense = is_dense(address.slope, width, line);
            let along = |a: &Along| a.segments(values);
            let segments = bounds.iter().map(along).fold(along(&address), |n, s| n + s - 1);
            let rows = points(&self.ranges) / values;
            let cost = rows.saturating_mul(if dense { segments } else { values });
            let runs = Runs { ranges: self.ranges.clone(), run: i, address, bounds, width, line };
            Some((cost, runs))
        };
        (0..self.ranges.len()).filter_map(cost).min_by_key(|c| c.0)
    }

    /// The same with y = u - k*x for pairs of variables, where along x, with u kept, elements lie close
    /// together: a diagonal becomes a run.
    fn skewed(&self, width: i64, line: i64) -> Vec<Shape> {
        let slope =
            |coord| self.address.terms().iter().find(|t| t.0 == Term::Coord(coord)).map_or(0, |t| t.1);
        let mut found = Vec::new();
        for x in &self.ranges {
            for y in self.ranges.iter().filter(|y| y.0 != x.0) {
                let (a, b) = (slope(x.0), slope(y.0));
                // The nearest integer to a/b.
                let (Some(twice), Some(base)) = (a.checked_mul(2), b.checked_mul(2)) else { continue };
                if b == 0 {
                    continue;
                }
                let k = (twice.saturating_add(b)).div_euclid(base);
                let left = i128::from(a) - i128::from(k) * i128::from(b);
                if k != 0 && i64::try_from(left).is_ok_and(|s| is_dense(s, width, line)) {
                    found.extend(self.skew(x, y, k));
                }
            }
        }
        found
    }

    fn skew(&self, x: &(Coord, i64, i64), y: &(Coord, i64, i64), k: i64) -> Option<Shape> {
        let ends = [x.1.checked_mul(k)?, x.2.checked_mul(k)?];
        let whole = (y.0, y.1.checked_add(ends[0].min(ends[1]))?, y.2.checked_add(ends[0].max(ends[1]))?);
        let y_of = Form::coord(y.0).minus(&Form::coord(x.0).times(&k).ok()?).ok()?;
        let put = |form: &Form<i64>| form.substitute(&|c| (c == y.0).then(|| y_of.clone())).ok();
        let mut bounds = self.bounds.iter().map(put).collect::<Option<Vec<_>>>()?;
        bounds.push(y_of.minus(&Form::int(y.1)).ok()?);
        bounds.push(Form::int(y.2).minus(&y_of).ok()?);
        let ranges = self.ranges.iter().map(|r| if r.0 == y.0 { whole } else { *r }).collect();
        Some(Shape { ranges, address: put(&self.address)?, bounds })
    }
}
