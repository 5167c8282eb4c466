//! A form along one of its variables: constant + slope*v + sum of factor*floor((offset + slope*v)/m).

use super::query::Refusal;
use crate::expr::{Coord, Form, Term};

/// The variables of a box, each with its first and last value.
pub(super) type Ranges = [(Coord, i64, i64)];

/// What remains of a form when the run variable is taken out: its value in a row.
#[derive(Debug, Clone)]
struct Rest {
    constant: i64,
    /// The position of each variable and its factor.
    factors: Vec<(usize, i64)>,
    /// Quotients and whatever else is not affine.
    other: Option<Form<i64>>,
}

impl Rest {
    fn without(form: &Form<i64>, ranges: &Ranges, run: Coord) -> Result<Self, Refusal> {
        let mut rest = Self { constant: *form.constant(), factors: Vec::new(), other: None };
        for (term, factor) in form.terms() {
            match term {
                Term::Coord(coord) if *coord == run => {}
                Term::Coord(coord) => {
                    let at = ranges.iter().position(|r| r.0 == *coord).ok_or(Refusal::NotAffine)?;
                    rest.factors.push((at, *factor));
                }
                _ if term.mentions(&|c| c == run) => {}
                _ => {
                    let more = Form::term(term.clone()).times(factor)?;
                    rest.other = Some(match rest.other {
                        Some(others) => others.plus(&more)?,
                        None => more,
                    });
                }
            }
        }
        Ok(rest)
    }

    fn value(&self, ranges: &Ranges, at: &[i64]) -> Result<i128, Refusal> {
        let mut total = i128::from(self.constant);
        for &(position, factor) in &self.factors {
            total += i128::from(at[position]) * i128::from(factor);
        }
        if let Some(other) = &self.other {
            let value = |c: Coord| ranges.iter().position(|r| r.0 == c).map(|i| at[i]);
            total += i128::from(other.evaluate(&value).ok_or(Refusal::Overflow)?);
        }
        Ok(total)
    }
}

/// A quotient that changes along the run variable.
#[derive(Debug, Clone)]
struct Floor {
    factor: i64,
    slope: i64,
    divisor: i64,
    rest: Rest,
    /// Value of `rest` in the row at hand.
    offset: i128,
}

/// A form along a variable, and its state in the row at hand.
#[derive(Debug, Clone)]
pub(super) struct Along {
    pub(super) slope: i64,
    rest: Rest,
    floors: Vec<Floor>,
    /// Value of `rest` in the row at hand.
    offset: i128,
}

fn slope(form: &Form<i64>, run: Coord) -> i64 {
    form.terms().iter().find(|t| t.0 == Term::Coord(run)).map_or(0, |t| t.1)
}

impl Along {
    pub(super) fn new(form: &Form<i64>, ranges: &Ranges, run: Coord) -> Result<Self, Refusal> {
        let moves = |form: &Form<i64>| form.mentions(&|c| c == run);
        let mut floors = Vec::new();
        for (term, factor) in form.terms() {
            if matches!(term, Term::Coord(_)) || !term.mentions(&|c| c == run) {
                continue;
            }
            let Term::Floor(inner, divisor) = term else { return Err(Refusal::NotAffine) };
            if inner.terms().iter().any(|t| !matches!(t.0, Term::Coord(_)) && t.0.parts().any(moves)) {
                return Err(Refusal::NotAffine);
            }
            let rest = Rest::without(inner, ranges, run)?;
            let slope = slope(inner, run);
            floors.push(Floor { factor: *factor, slope, divisor: *divisor, rest, offset: 0 });
        }
        Ok(Self { slope: slope(form, run), rest: Rest::without(form, ranges, run)?, floors, offset: 0 })
    }

    /// How many pieces without a change of quotient there are along `extent` values, about.
    pub(super) fn segments(&self, extent: u128) -> u128 {
        let breaks = |f: &Floor| {
            extent.saturating_mul(u128::from(f.slope.unsigned_abs())) / u128::from(f.divisor.unsigned_abs())
        };
        self.floors.iter().fold(1, |n, f| n + breaks(f).min(extent))
    }

    /// Quotients that are followed, and what else has to be evaluated in each row.
    pub(super) fn size(&self) -> usize {
        let of_rest = |rest: &Rest| rest.other.as_ref().map_or(0, Form::size);
        self.floors.iter().map(|f| 1 + of_rest(&f.rest)).sum::<usize>() + of_rest(&self.rest)
    }

    /// Moves to the row at `at`.
    pub(super) fn enter(&mut self, ranges: &Ranges, at: &[i64]) -> Result<(), Refusal> {
        self.offset = self.rest.value(ranges, at)?;
        for floor in &mut self.floors {
            floor.offset = floor.rest.value(ranges, at)?;
        }
        Ok(())
    }

    /// The constant of the form from `from` on, and the last value up to `to` for which it holds.
    pub(super) fn segment(&self, from: i64, to: i64) -> (i128, i64) {
        let (mut constant, mut end) = (self.offset, to);
        for floor in &self.floors {
            let (slope, divisor) = (i128::from(floor.slope), i128::from(floor.divisor));
            let inside = floor.offset + slope * i128::from(from);
            let quotient = inside.div_euclid(divisor);
            constant += i128::from(floor.factor) * quotient;
            let remainder = inside - quotient * divisor;
            // Values for which the quotient stays.
            let room = if slope > 0 { (divisor - 1 - remainder) / slope } else { remainder / -slope };
            if let Ok(room) = i64::try_from(room) {
                end = end.min(from.saturating_add(room));
            }
        }
        (constant, end)
    }
}
