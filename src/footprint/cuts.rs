//! Conditions that join several variables: along which of these to cut a piece so that they are decided in its parts.

use super::query::{CoordRange, Piece};
use crate::expr::{Cond, Coord, Form, Term};

/// How conditions that join several variables are taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    /// Into the fewest pieces.
    Fewest,
    /// Into one piece for each value of the variable that has fewest.
    Values,
}

/// Values of a variable by what a condition says of them.
pub(super) struct Cut {
    pub(super) coord: Coord,
    pub(super) span: Span,
}

/// The same, of any variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// It holds there, or a part of it does, whatever the other variables are.
    pub(super) held: Option<(i64, i64)>,
    /// That depends on the others.
    pub(super) open: [(i64, i64); 2],
}

impl Span {
    /// All values are open.
    pub(super) fn open(range: (i64, i64)) -> Self {
        Self { held: None, open: [range, NOTHING] }
    }

    /// How many pieces it makes.
    pub(super) fn pieces(&self) -> i64 {
        let values = |(from, to): (i64, i64)| to.saturating_sub(from).saturating_add(1).max(0);
        self.open.into_iter().fold(i64::from(self.held.is_some()), |n, o| n.saturating_add(values(o)))
    }
}

/// A range without values.
const NOTHING: (i64, i64) = (0, -1);

/// The cut of a piece that leaves the fewest pieces. A condition without alternatives, of which no part follows from
/// single variables.
pub(super) fn parted(piece: &Piece, when: &Cond<i64>, taking: Taking) -> Option<Cut> {
    let values = |r: &CoordRange| r.2.saturating_sub(r.1).saturating_add(1);
    let undecided = piece.ranges.iter().filter(|r| values(r) > 1 && when.mentions(&|c| c == r.0));
    let parts = if let Cond::All(parts) = when { parts.as_slice() } else { std::slice::from_ref(when) };
    undecided
        .flat_map(|range| {
            let fewest = parts.iter().filter(|_| taking == Taking::Fewest);
            let along = fewest.filter_map(|part| cut(piece, part, range));
            along.chain([Cut { coord: range.0, span: Span::open((range.1, range.2)) }])
        })
        .min_by_key(|cut| cut.span.pieces())
}

/// For which values of a variable a part of a condition holds, whatever the others are, and for which it may.
fn cut(piece: &Piece, part: &Cond<i64>, &(coord, from, to): &CoordRange) -> Option<Cut> {
    let (form, is_zero) = match part {
        Cond::NonNegative(form) => (form, false),
        Cond::Zero(form) => (form, true),
        _ => return None,
    };
    let step = factor(form, coord);
    let rest = form.minus(&Form::coord(coord).times(&step).ok()?).ok()?;
    if step == 0 || rest.mentions(&|c| c == coord) {
        return None;
    }
    let others = rest.interval(&|c| piece.ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2)))?;
    Some(Cut { coord, span: span_of(step, others, is_zero, (from, to))? })
}

/// For which values `v` of a range `step * v` plus something between two values is at least 0, or 0.
pub(super) fn span_of(step: i64, (low, high): (i64, i64), is_zero: bool, range: (i64, i64)) -> Option<Span> {
    if step == 0 {
        return None;
    }
    let possible = at_least(step, high, range)?;
    if is_zero {
        let below = at_least(step.checked_neg()?, low.checked_neg()?, range)?;
        let both = (possible.0.max(below.0), possible.1.min(below.1));
        return Some(Span::open(both));
    }
    let sure = at_least(step, low, range)?;
    if sure.0 > sure.1 {
        return Some(Span::open(possible));
    }
    let before = (possible.0, sure.0.checked_sub(1)?);
    let after = (sure.1.checked_add(1)?, possible.1);
    Some(Span { held: Some(sure), open: [before, after] })
}

/// The values v of a range at which step * v + bound is at least 0.
pub(super) fn at_least(step: i64, bound: i64, (from, to): (i64, i64)) -> Option<(i64, i64)> {
    if step > 0 {
        Some((from.max(bound.div_euclid(step).checked_neg()?), to))
    } else {
        Some((from, to.min(bound.div_euclid(step.checked_neg()?))))
    }
}

/// A condition as several, of which at least one holds where it does; `None` if it has no alternatives.
pub(super) fn choices(when: &Cond<i64>) -> Option<Vec<Cond<i64>>> {
    match when {
        Cond::Any(parts) => Some(parts.clone()),
        Cond::All(parts) => {
            let at = parts.iter().position(|part| matches!(part, Cond::Any(_)))?;
            let Cond::Any(one_of) = &parts[at] else { return None };
            let others = || parts[..at].iter().chain(&parts[at + 1..]).cloned();
            Some(one_of.iter().map(|one| Cond::all(others().chain([one.clone()]).collect())).collect())
        }
        _ => None,
    }
}

/// The forms of a condition.
pub(super) fn leaves(cond: &Cond<i64>) -> Vec<&Form<i64>> {
    match cond {
        Cond::Const(_) => Vec::new(),
        Cond::NonNegative(form) | Cond::Zero(form) => vec![form],
        Cond::All(parts) | Cond::Any(parts) => parts.iter().flat_map(leaves).collect(),
    }
}

/// How far a form moves with a variable, apart from quotients.
pub(super) fn factor(form: &Form<i64>, coord: Coord) -> i64 {
    form.terms().iter().find(|t| t.0 == Term::Coord(coord)).map_or(0, |t| t.1)
}
