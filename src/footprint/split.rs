//! Quotients and remainders by small numbers taken apart: along v = m*q + r, every quotient of v by a
//! divisor of m is affine in q for each r. A quasi-affine piece becomes m affine ones. Conditions are
//! treated alike; those that then join several variables are decided for each value of one that has few.

use std::sync::Arc;

use super::division::gcd;
use super::query::{CoordRange, Piece};
use super::region::Region;
use crate::effort::spend_on;
use crate::expr::{Cond, Coord, Excess, Form, Term};

/// Most affine pieces that one piece may become.
const MOST: i64 = 256;

/// Steps for putting something in the place of a variable, for each part of a form.
const STEPS_OF_PART: u64 = 16;

/// How conditions that join several variables are taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    /// Into the fewest pieces.
    Fewest,
    /// Into one piece for each value of the variable that has fewest.
    Values,
}

/// The affine pieces of a piece, without conditions, if there are few of them.
pub(super) fn affine_pieces(piece: &Piece, taking: Taking) -> Option<Vec<Piece>> {
    spend_on(size(piece), 2 * STEPS_OF_PART).ok()?;
    let Some(piece) = simpler(piece).ok()? else { return Some(Vec::new()) };
    let mut pieces = vec![piece.clone()];
    for &(coord, _, _) in piece.ranges.iter() {
        let mut modulus = modulus_of(&piece.address, coord, 1, MOST)?;
        for form in piece.when.iter().flat_map(leaves) {
            modulus = modulus_of(form, coord, modulus, MOST)?;
        }
        if modulus == 1 {
            continue;
        }
        if modulus.checked_mul(i64::try_from(pieces.len()).ok()?)? > MOST {
            return None;
        }
        pieces = pieces.iter().map(|p| residues(p, coord, modulus)).collect::<Option<Vec<_>>>()?.concat();
    }
    let mut found = Vec::with_capacity(pieces.len());
    for piece in pieces {
        unconditional(piece, MOST, taking, &mut found)?;
    }
    found.iter().all(|p| p.address.is_affine()).then_some(found)
}

/// A piece with what is decided for all of its points put in; `None` if its condition holds nowhere.
fn simpler(piece: &Piece) -> Result<Option<Piece>, Excess> {
    let of = |c| piece.ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2));
    let address =
        if piece.address.is_affine() { piece.address.clone() } else { Arc::new(piece.address.within(&of)?) };
    let when = match piece.when.as_ref().map(|when| when.within(&of)).transpose()? {
        Some(Cond::Const(false)) => return Ok(None),
        Some(Cond::Const(true)) => None,
        when => when,
    };
    Ok(Some(Piece { address, when, ..piece.clone() }))
}

/// Affine pieces with few long variables, if a piece has such: for going through them one by one.
pub(super) fn long_pieces(piece: &Piece) -> Option<Vec<Piece>> {
    affine_pieces(piece, Taking::Fewest)?.iter().map(joined).collect()
}

/// An affine piece in which variables that continue each other are one: block and thread of an array's
/// row. Those that do not move the address are left out.
pub(super) fn joined(piece: &Piece) -> Option<Piece> {
    let mut address = *piece.address.constant();
    let mut steps: Vec<(i64, i64, Coord)> = Vec::with_capacity(piece.ranges.len());
    for &(coord, from, to) in piece.ranges.iter() {
        let stride = factor(&piece.address, coord);
        // A negative stride runs backwards from the other end.
        let first = if stride < 0 { to } else { from };
        address = address.checked_add(first.checked_mul(stride)?)?;
        let count = to.checked_sub(from)?.checked_add(1)?;
        if stride != 0 && count > 1 {
            steps.push((stride.checked_abs()?, count, coord));
        }
    }
    steps.sort_unstable();
    let mut kept: Vec<(i64, i64, Coord)> = Vec::with_capacity(steps.len());
    for (stride, count, coord) in steps {
        match kept.last_mut() {
            Some((smaller, n, _)) if stride % *smaller == 0 && stride / *smaller <= *n => {
                *n = (stride / *smaller).checked_mul(count - 1)?.checked_add(*n)?;
            }
            _ => kept.push((stride, count, coord)),
        }
    }
    let mut form = Form::int(address);
    for (stride, _, coord) in &kept {
        form = form.plus(&Form::coord(*coord).times(stride).ok()?).ok()?;
    }
    let mut ranges: Vec<CoordRange> =
        kept.into_iter().map(|(_, count, coord)| (coord, 0, count - 1)).collect();
    if ranges.is_empty() {
        // A single point still lies along something.
        ranges.extend(piece.ranges.first().map(|r| (r.0, 0, 0)));
    }
    Some(Piece { ranges: ranges.into(), address: form.into(), ..piece.clone() })
}

/// How far a form moves with a variable, apart from quotients.
pub(super) fn factor(form: &Form<i64>, coord: Coord) -> i64 {
    form.terms().iter().find(|t| t.0 == Term::Coord(coord)).map_or(0, |t| t.1)
}

/// The piece with variables cut short after whose first values the same addresses come again: `a[x % m]`
/// touches in m values of x what it touches in all.
pub(super) fn without_repeats(piece: &Piece) -> Piece {
    let mut ranges = piece.ranges.to_vec();
    for (coord, from, to) in &mut ranges {
        let conditional = piece.when.as_ref().is_some_and(|w| w.mentions(&|c| c == *coord));
        if let Some(period) = period(&piece.address, *coord).filter(|_| !conditional) {
            *to = (*to).min(from.saturating_add(period - 1));
        }
    }
    Piece { ranges: ranges.into(), ..piece.clone() }
}

/// After how many values of a variable a form has the same values again, if it ever does.
fn period(form: &Form<i64>, coord: Coord) -> Option<i64> {
    let period = modulus_of(form, coord, 1, i64::MAX)?;
    let mut shift = i128::from(factor(form, coord)) * i128::from(period);
    for (term, times) in form.terms() {
        if let Term::Floor(inner, divisor) = term {
            // The period is a multiple of what makes this exact.
            shift += i128::from(*times)
                * (i128::from(factor(inner, coord)) * i128::from(period) / i128::from(*divisor));
        }
    }
    (shift == 0).then_some(period)
}

/// Adds pieces with the points of a piece for which its condition holds, at most `most` of them; some points may
/// be in several.
fn unconditional(piece: Piece, most: i64, taking: Taking, out: &mut Vec<Piece>) -> Option<()> {
    let Some(piece) = bounded(piece) else { return Some(()) };
    let Some(when) = &piece.when else {
        out.push(piece);
        return Some(());
    };
    spend_on(size(&piece), STEPS_OF_PART).ok()?;
    if taking == Taking::Fewest
        && let Some(choices) = choices(when)
    {
        let each = most / i64::try_from(choices.len()).ok()?;
        let before = out.len();
        let mut all = choices.into_iter().map(|when| Piece { when: Some(when), ..piece.clone() });
        if all.try_for_each(|one| unconditional(one, each, taking, out)).is_some() {
            return Some(());
        }
        out.truncate(before);
    }
    let cut = parted(&piece, when, taking)?;
    let pieces = cut.pieces();
    if pieces > most {
        return None;
    }
    // Each step takes something from what is left, whatever it brings.
    let left = (most / pieces.max(1)).min(most - 1);
    if let Some((from, to)) = cut.held {
        unconditional(with_values(&piece, cut.coord, from, to), left, taking, out)?;
    }
    for (from, to) in cut.open {
        for value in from..=to {
            unconditional(at_value(&piece, cut.coord, value)?, left, taking, out)?;
        }
    }
    Some(())
}

/// Values of a variable by what a condition says of them.
struct Cut {
    coord: Coord,
    /// It holds there, or a part of it does, whatever the other variables are.
    held: Option<(i64, i64)>,
    /// That depends on the others.
    open: [(i64, i64); 2],
}

impl Cut {
    /// All values are open.
    fn none(&(coord, from, to): &CoordRange) -> Self {
        Self { coord, held: None, open: [(from, to), NOTHING] }
    }

    /// How many pieces it makes.
    fn pieces(&self) -> i64 {
        let values = |(from, to): (i64, i64)| to.saturating_sub(from).saturating_add(1).max(0);
        self.open.into_iter().fold(i64::from(self.held.is_some()), |n, o| n.saturating_add(values(o)))
    }
}

/// A range without values.
const NOTHING: (i64, i64) = (0, -1);

/// The cut of a piece that leaves the fewest pieces. A condition without alternatives, of which no part follows from
/// single variables.
fn parted(piece: &Piece, when: &Cond<i64>, taking: Taking) -> Option<Cut> {
    let values = |r: &CoordRange| r.2.saturating_sub(r.1).saturating_add(1);
    let undecided = piece.ranges.iter().filter(|r| values(r) > 1 && when.mentions(&|c| c == r.0));
    let parts = if let Cond::All(parts) = when { parts.as_slice() } else { std::slice::from_ref(when) };
    undecided
        .flat_map(|range| {
            let fewest = parts.iter().filter(|_| taking == Taking::Fewest);
            let along = fewest.filter_map(|part| cut(piece, part, range));
            along.chain([Cut::none(range)])
        })
        .min_by_key(Cut::pieces)
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
    let (low, high) = rest.interval(&|c| piece.ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2)))?;
    // The values v at which step * v + bound is at least 0.
    let at_least = |step: i64, bound: i64| {
        if step > 0 {
            Some((from.max(bound.div_euclid(step).checked_neg()?), to))
        } else {
            Some((from, to.min(bound.div_euclid(step.checked_neg()?))))
        }
    };
    let possible = at_least(step, high)?;
    if is_zero {
        let below = at_least(step.checked_neg()?, low.checked_neg()?)?;
        let both = (possible.0.max(below.0), possible.1.min(below.1));
        return Some(Cut { coord, held: None, open: [both, NOTHING] });
    }
    let sure = at_least(step, low)?;
    if sure.0 > sure.1 {
        return Some(Cut { coord, held: None, open: [possible, NOTHING] });
    }
    let before = (possible.0, sure.0.checked_sub(1)?);
    let after = (sure.1.checked_add(1)?, possible.1);
    Some(Cut { coord, held: Some(sure), open: [before, after] })
}

/// A condition as several, of which at least one holds where it does; `None` if it has no alternatives.
fn choices(when: &Cond<i64>) -> Option<Vec<Cond<i64>>> {
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

/// The points of a piece at which a variable has some of its values.
fn with_values(piece: &Piece, coord: Coord, from: i64, to: i64) -> Piece {
    let some = |r: &CoordRange| if r.0 == coord { (coord, from, to) } else { *r };
    let ranges: Vec<CoordRange> = piece.ranges.iter().map(some).collect();
    Piece { ranges: ranges.into(), ..piece.clone() }
}

/// The points of a piece at which a variable has one value.
fn at_value(piece: &Piece, coord: Coord, value: i64) -> Option<Piece> {
    spend_on(size(piece), STEPS_OF_PART).ok()?;
    let with = |c| (c == coord).then(|| Form::int(value));
    let address = piece.address.substitute(&with).ok()?;
    let when = piece.when.as_ref().map(|w| w.substitute(&with)).transpose().ok()?;
    let there = |r: &CoordRange| if r.0 == coord { (coord, value, value) } else { *r };
    let ranges: Vec<CoordRange> = piece.ranges.iter().map(there).collect();
    Some(Piece { ranges: ranges.into(), address: address.into(), when, ..piece.clone() })
}

/// The piece with conditions on single variables turned into bounds; `None` if nothing is left.
fn bounded(piece: Piece) -> Option<Piece> {
    let Piece { array, ranges, when, address, width } = piece;
    if when.is_none() {
        return Some(Piece { array, ranges, when, address, width });
    }
    let region = Region { ranges, when: when.into_iter().collect(), forms: [address].into(), width };
    Some(region.restricted()?.piece(array))
}

/// The forms of a condition.
fn leaves(cond: &Cond<i64>) -> Vec<&Form<i64>> {
    match cond {
        Cond::Const(_) => Vec::new(),
        Cond::NonNegative(form) | Cond::Zero(form) => vec![form],
        Cond::All(parts) | Cond::Any(parts) => parts.iter().flat_map(leaves).collect(),
    }
}

/// The least multiple m of `modulus` for which every quotient over `coord` is affine along m*q; `None`
/// beyond `most`.
fn modulus_of(form: &Form<i64>, coord: Coord, mut modulus: i64, most: i64) -> Option<i64> {
    for (term, _) in form.terms() {
        match term {
            Term::Coord(_) => {}
            Term::Floor(inner, divisor) if inner.is_affine() => {
                let needed = divisor / gcd(factor(inner, coord), *divisor);
                modulus = (modulus / gcd(modulus, needed)).checked_mul(needed).filter(|&m| m <= most)?;
            }
            _ => return None,
        }
    }
    Some(modulus)
}

/// Parts of its address and its condition.
pub(super) fn size(piece: &Piece) -> usize {
    piece.address.size() + piece.when.as_ref().map_or(0, Cond::size)
}

/// The piece for each residue of a variable, which from then on counts the quotient.
fn residues(piece: &Piece, coord: Coord, modulus: i64) -> Option<Vec<Piece>> {
    let at = piece.ranges.iter().position(|r| r.0 == coord)?;
    let (_, from, to) = piece.ranges[at];
    let mut pieces = Vec::new();
    for residue in 0..modulus {
        let first = from.checked_add((residue - from).rem_euclid(modulus))?;
        if first > to {
            continue;
        }
        spend_on(size(piece), STEPS_OF_PART).ok()?;
        let value = Form::coord(coord).times(&modulus).and_then(|f| f.plus(&Form::int(first))).ok()?;
        let with = |c| (c == coord).then(|| value.clone());
        let address = piece.address.substitute(&with).ok()?;
        let when = piece.when.as_ref().map(|w| w.substitute(&with)).transpose().ok()?;
        let mut ranges = piece.ranges.to_vec();
        ranges[at] = (coord, 0, (to - first) / modulus);
        pieces.push(Piece { ranges: ranges.into(), address: address.into(), when, ..piece.clone() });
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Dim, LoopId};
    use crate::footprint::{Engine, Query, count_with};
    use crate::random::Random;

    /// Random boxes under random conditions that join their variables, taken apart in both ways.
    #[test]
    fn pieces_touch_what_conditions_let_through() {
        let mut draw = Random::new(5);
        let mut below = |n: i64| i64::try_from(draw.remainder(n.unsigned_abs().into())).unwrap();
        let x = Coord::ThreadIdx(Dim::X);
        let coords = [x, Coord::BlockIdx(Dim::X), Coord::ThreadIdx(Dim::Y), Coord::Loop(LoopId(0))];
        let mut found = [0; 2];
        for round in 0..500 {
            let mut form = |factors: [i64; 6]| {
                let mut sum = Form::int(below(40) - 20);
                for c in coords.into_iter().filter(|_| below(3) > 0) {
                    let unit = Form::coord(c).floor_div(&(1 + below(6) / 4)).unwrap();
                    let times = factors[usize::try_from(below(6)).unwrap()];
                    sum = sum.plus(&unit.times(&times).unwrap()).unwrap();
                }
                sum
            };
            let address = form([4, 8, 36, 40, 144, 400]).into();
            let mut leaf = || Cond::non_negative(form([-4, -2, -1, 1, 3, 4]));
            let (a, b, c) = (leaf(), leaf(), leaf());
            let either = Cond::any(vec![a.clone(), b.clone()]);
            let zero = Cond::zero(form([-2, -1, 1, 1, 2, 2]));
            let when = [a, Cond::all(vec![b, c.clone()]), Cond::all(vec![either.clone(), c]), either, zero];
            let when = Some(when[usize::try_from(below(5)).unwrap()].clone());
            let ranges: Vec<CoordRange> = coords.iter().map(|&c| (c, below(3), 2 + below(6))).collect();
            let piece = Piece { array: 0, ranges: ranges.into(), when, address, width: 4 };
            let lines =
                |pieces: Vec<Piece>| count_with(&Query { pieces, line: 32 }, Engine::Enumeration).unwrap();
            let all = lines(vec![piece.clone()]);
            for (number, taking) in found.iter_mut().zip([Taking::Fewest, Taking::Values]) {
                if let Some(pieces) = affine_pieces(&piece, taking) {
                    *number += 1;
                    assert_eq!(lines(pieces), all, "{round} {taking:?}: {piece:?}");
                }
            }
        }
        assert!(found.iter().all(|&n| n > 350), "{found:?}");
    }
}
