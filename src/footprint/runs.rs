//! Runs for any quasi-affine address: one variable is followed along its range, where the address is
//! piecewise linear; all others are stepped through. The intervals of lines are sorted and merged. The
//! cost grows with the number of rows and of quotients met.

use super::query::{Piece, Query, Refusal};
use crate::expr::{Cond, Coord, Form, Term};

/// Distinct lines of all pieces of a query, following at most `budget` segments.
pub(super) fn count(query: &Query, budget: u64) -> Result<u128, Refusal> {
    let mut left = budget;
    let mut intervals: Vec<(usize, i64, i64)> = Vec::new();
    for piece in &query.pieces {
        Runs::new(piece, query.line, left)?.follow(&mut intervals, &mut left)?;
    }
    intervals.sort_unstable();
    let mut total = 0;
    let mut reached: Option<(usize, i64)> = None;
    for (array, from, to) in intervals {
        let from = match reached {
            Some((same, last)) if same == array => from.max(last + 1),
            _ => from,
        };
        if from <= to {
            total += u128::from((to - from).unsigned_abs()) + 1;
            reached = Some((array, to));
        }
    }
    Ok(total)
}

/// What remains of a form along the run variable: constant + slope*v + sum of factor*floor(...).
struct Along<'f> {
    slope: i64,
    /// The form with the run variable left out: its value in a row.
    rest: Form<i64>,
    floors: Vec<Floor<'f>>,
}

struct Floor<'f> {
    factor: i64,
    slope: i64,
    inner: &'f Form<i64>,
    divisor: i64,
}

impl<'f> Along<'f> {
    fn new(form: &'f Form<i64>, variable: Coord) -> Result<Self, Refusal> {
        let factor =
            |f: &Form<i64>| f.terms().iter().find(|t| t.0 == Term::Coord(variable)).map_or(0, |t| t.1);
        let mut floors = Vec::new();
        let mut rest = form.minus(&Form::coord(variable).times(&factor(form))?)?;
        for (term, coefficient) in form.terms() {
            if matches!(term, Term::Coord(_)) || !term.mentions(&|c| c == variable) {
                continue;
            }
            let Term::Floor(inner, divisor) = term else { return Err(Refusal::NotAffine) };
            if inner
                .terms()
                .iter()
                .any(|t| t.0.mentions(&|c| c == variable) && !matches!(t.0, Term::Coord(_)))
            {
                return Err(Refusal::NotAffine);
            }
            rest = rest.minus(&Form::term(term.clone()).times(coefficient)?)?;
            floors.push(Floor { factor: *coefficient, slope: factor(inner), inner, divisor: *divisor });
        }
        Ok(Self { slope: factor(form), rest, floors })
    }
}

struct Runs<'p> {
    piece: &'p Piece,
    line: i64,
    run: usize,
    along: Along<'p>,
    /// Affine conditions, each form at least 0.
    bounds: Vec<Along<'p>>,
}

impl<'p> Runs<'p> {
    fn new(piece: &'p Piece, line: i64, budget: u64) -> Result<Self, Refusal> {
        let mut conditions = Vec::new();
        collect(piece.when.as_ref(), &mut conditions)?;
        // The variable that leaves the fewest segments to follow.
        let mut best: Option<(u128, usize)> = None;
        for (i, &(coord, from, to)) in piece.ranges.iter().enumerate() {
            let Ok(along) = Along::new(&piece.address, coord) else { continue };
            let extent = u128::from(to.abs_diff(from)) + 1;
            let breaks = along
                .floors
                .iter()
                .map(|f| extent * u128::from(f.slope.unsigned_abs()) / u128::from(f.divisor.unsigned_abs()));
            let dense = along.slope.abs() - piece.width < line;
            let segments = if dense { breaks.sum::<u128>() + 1 } else { extent };
            let cost = piece.points() / extent * segments;
            if best.is_none_or(|b| cost < b.0) {
                best = Some((cost, i));
            }
        }
        let (cost, run) = best.ok_or(Refusal::NotAffine)?;
        if cost > u128::from(budget) {
            return Err(Refusal::Budget);
        }
        let coord = piece.ranges[run].0;
        let along = Along::new(&piece.address, coord)?;
        let bounds = conditions.iter().map(|form| Along::new(form, coord)).collect::<Result<Vec<_>, _>>()?;
        if bounds.iter().any(|b| !b.floors.is_empty()) {
            return Err(Refusal::Conditional);
        }
        Ok(Self { piece, line, run, along, bounds })
    }

    /// Steps through the rows.
    fn follow(&self, out: &mut Vec<(usize, i64, i64)>, left: &mut u64) -> Result<(), Refusal> {
        let mut at: Vec<i64> = self.piece.ranges.iter().map(|r| r.1).collect();
        loop {
            self.row(&at, out, left)?;
            let mut rows =
                at.iter_mut().zip(self.piece.ranges.iter()).enumerate().filter(|(i, _)| *i != self.run);
            let moved = rows.any(|(_, (value, &(_, from, to)))| {
                let inside = *value < to;
                *value = if inside { *value + 1 } else { from };
                inside
            });
            if !moved {
                return Ok(());
            }
        }
    }

    fn value(&self, form: &Form<i64>, at: &[i64]) -> Result<i64, Refusal> {
        let of = |c: Coord| self.piece.ranges.iter().position(|r| r.0 == c).map(|i| at[i]);
        form.evaluate(&of).ok_or(Refusal::Overflow)
    }

    /// Follows the run variable through one row.
    fn row(&self, at: &[i64], out: &mut Vec<(usize, i64, i64)>, left: &mut u64) -> Result<(), Refusal> {
        let (_, mut from, mut to) = self.piece.ranges[self.run];
        for bound in &self.bounds {
            let rest = self.value(&bound.rest, at)?;
            match bound.slope {
                0 if rest < 0 => return Ok(()),
                0 => {}
                slope if slope > 0 => from = from.max(-rest.div_euclid(slope)),
                slope => to = to.min(rest.div_euclid(-slope)),
            }
        }
        let rest = self.value(&self.along.rest, at)?;
        let mut zero = at.to_vec();
        zero[self.run] = 0;
        let offsets: Vec<i64> =
            self.along.floors.iter().map(|f| self.value(f.inner, &zero)).collect::<Result<_, _>>()?;
        while from <= to {
            *left = left.checked_sub(1).ok_or(Refusal::Budget)?;
            let mut constant = i128::from(rest);
            let mut end = to;
            for (floor, &offset) in self.along.floors.iter().zip(&offsets) {
                let inside = floor
                    .slope
                    .checked_mul(from)
                    .and_then(|n| n.checked_add(offset))
                    .ok_or(Refusal::Overflow)?;
                let quotient = inside.div_euclid(floor.divisor);
                constant += i128::from(floor.factor) * i128::from(quotient);
                // Last value with this quotient.
                let room = if floor.slope > 0 {
                    (quotient * floor.divisor + floor.divisor - 1 - inside) / floor.slope
                } else {
                    (inside - quotient * floor.divisor) / -floor.slope
                };
                end = end.min(from.saturating_add(room));
            }
            self.segment(constant, from, end, out, left)?;
            from = end + 1;
        }
        Ok(())
    }

    /// Adds the lines of constant + slope*v for v from `from` to `to`.
    fn segment(
        &self,
        constant: i128,
        from: i64,
        to: i64,
        out: &mut Vec<(usize, i64, i64)>,
        left: &mut u64,
    ) -> Result<(), Refusal> {
        let slope = self.along.slope;
        let address = |v: i64| {
            i64::try_from(constant + i128::from(slope) * i128::from(v)).map_err(|_| Refusal::Overflow)
        };
        let (a, b) = (address(from)?, address(to)?);
        if slope.abs() - self.piece.width < self.line {
            self.push(a.min(b), a.max(b), out);
            return Ok(());
        }
        for v in from..=to {
            *left = left.checked_sub(1).ok_or(Refusal::Budget)?;
            let first = address(v)?;
            self.push(first, first, out);
        }
        Ok(())
    }

    /// Adds the lines from the first byte at `low` to the last at `high`, joined with those before.
    fn push(&self, low: i64, high: i64, out: &mut Vec<(usize, i64, i64)>) {
        let array = self.piece.array;
        let (low, high) = (low.div_euclid(self.line), (high + self.piece.width - 1).div_euclid(self.line));
        match out.last_mut() {
            Some(last) if last.0 == array && last.1 <= high + 1 && low <= last.2 + 1 => {
                last.1 = last.1.min(low);
                last.2 = last.2.max(high);
            }
            _ => out.push((array, low, high)),
        }
    }
}

/// The forms of a conjunction, each to be at least 0.
fn collect<'c>(cond: Option<&'c Cond<i64>>, out: &mut Vec<&'c Form<i64>>) -> Result<(), Refusal> {
    match cond {
        None | Some(Cond::Const(true)) => Ok(()),
        Some(Cond::NonNegative(form)) => {
            out.push(form);
            Ok(())
        }
        Some(Cond::All(parts)) => parts.iter().try_for_each(|p| collect(Some(p), out)),
        Some(_) => Err(Refusal::Conditional),
    }
}
