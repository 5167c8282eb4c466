//! Conditions on boxes whose address is a sum: ranges that they cut, and values of a variable for which they are decided.
//! The same as `cuts` does for forms.

use super::cuts::{Span, Taking, at_least, span_of};
use super::sum::{Bound, Ranges, Shape, Sum};
use crate::effort::spend;

/// Whether conditions hold anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Nowhere,
    Somewhere,
}

/// Adds boxes with the points of a box for which its conditions hold, at most `most` of them; some points may be in
/// several. Each takes `steps`.
pub(super) fn unconditional(
    mut shape: Shape,
    most: i64,
    taking: Taking,
    steps: u64,
    out: &mut Vec<Shape>,
) -> Option<()> {
    if restrict(&mut shape)? == Held::Nowhere {
        return Some(());
    }
    if shape.bounds.is_empty() {
        out.push(shape);
        return Some(());
    }
    spend(steps).ok()?;
    let cut = parted(&shape, taking)?;
    let pieces = cut.span.pieces();
    if pieces > most {
        return None;
    }
    // Each step takes something from what is left, whatever it brings.
    let left = (most / pieces.max(1)).min(most - 1);
    let held = cut.span.held.into_iter();
    let open = cut.span.open.iter().flat_map(|&(from, to)| (from..=to).map(|value| (value, value)));
    for range in held.chain(open) {
        let part = Shape { ranges: shape.ranges.with(cut.variable, range), ..shape.clone() };
        spend(steps).ok()?;
        unconditional(part, left, taking, steps, out)?;
    }
    Some(())
}

/// Turns conditions on single variables into ranges and leaves out those that hold.
fn restrict(shape: &mut Shape) -> Option<Held> {
    let Shape { ranges, bounds, .. } = shape;
    let mut kept = 0;
    for at in 0..bounds.len() {
        let bound = bounds[at];
        let (low, high) = bound.sum().interval(ranges)?;
        let is_zero = matches!(bound, Bound::Zero(_));
        if high < 0 || (is_zero && low > 0) {
            return Some(Held::Nowhere);
        }
        if low >= 0 && (!is_zero || high == 0) {
            continue;
        }
        match single(bound.sum(), ranges) {
            Some(one) if is_zero => one.is_zero(ranges)?,
            Some(one) => one.is_not_negative(ranges)?,
            None => {
                bounds[kept] = bound;
                kept += 1;
            }
        }
        if ranges.is_empty() {
            return Some(Held::Nowhere);
        }
    }
    bounds.truncate(kept);
    Some(Held::Somewhere)
}

/// `factor * variable + constant`, where all other variables have one value.
struct Single {
    variable: usize,
    factor: i64,
    constant: i64,
}

/// A sum along the one variable that has several values; `None` if there is not exactly one.
fn single(sum: &Sum, ranges: &Ranges) -> Option<Single> {
    let mut varying = (0..ranges.as_slice().len()).filter(|&v| sum.factors[v] != 0 && ranges.varies(v));
    let (Some(variable), None) = (varying.next(), varying.next()) else { return None };
    let (constant, _) = sum.interval_without(Some(variable), ranges)?;
    Some(Single { variable, factor: sum.factors[variable], constant })
}

impl Single {
    fn is_not_negative(&self, ranges: &mut Ranges) -> Option<()> {
        let range = &mut ranges.as_mut_slice()[self.variable];
        *range = at_least(self.factor, self.constant, *range)?;
        Some(())
    }

    fn is_zero(&self, ranges: &mut Ranges) -> Option<()> {
        let range = &mut ranges.as_mut_slice()[self.variable];
        let value = self.constant.checked_neg()?.checked_div(self.factor)?;
        let exact = value.checked_mul(self.factor)?.checked_add(self.constant)? == 0;
        *range = if exact { (range.0.max(value), range.1.min(value)) } else { (0, -1) };
        Some(())
    }
}

/// A variable, and what conditions say of its values.
struct Cut {
    variable: usize,
    span: Span,
}

/// The cut that leaves the fewest pieces. Each condition depends on several variables.
fn parted(shape: &Shape, taking: Taking) -> Option<Cut> {
    let Shape { ranges, bounds, .. } = shape;
    let mentions = |v: usize| bounds.iter().any(|bound| bound.sum().factors[v] != 0);
    let undecided = (0..ranges.as_slice().len()).filter(|&v| ranges.varies(v) && mentions(v));
    undecided
        .flat_map(|variable| {
            let fewest = bounds.iter().filter(|_| taking == Taking::Fewest);
            let along = fewest.filter_map(move |bound| span(bound, variable, ranges));
            let all = Span::open(ranges.as_slice()[variable]);
            along.chain([all]).map(move |span| Cut { variable, span })
        })
        .min_by_key(|cut| cut.span.pieces())
}

/// For which values of a variable a condition holds, whatever the others are, and for which it may.
fn span(bound: &Bound, variable: usize, ranges: &Ranges) -> Option<Span> {
    let sum = bound.sum();
    let others = sum.interval_without(Some(variable), ranges)?;
    let is_zero = matches!(bound, Bound::Zero(_));
    span_of(sum.factors[variable], others, is_zero, ranges.as_slice()[variable])
}
