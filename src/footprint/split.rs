//! Quotients and remainders by small numbers taken apart: along v = m*q + r, every quotient of v by a
//! divisor of m is affine in q for each r. A quasi-affine piece becomes m affine ones. Conditions are
//! treated alike; those that then join several variables are decided for each value of one that has few.

use std::sync::Arc;

use super::bounded::unconditional as unconditional_shapes;
use super::continued::continued;
use super::cuts::{Taking, choices, factor, leaves, parted};
use super::digits;
use super::division::gcd;
use super::points::Points;
use super::progression::Progression;
use super::query::{CoordRange, Piece, Refusal};
use super::sum::Shape;
use crate::effort::{spend, spend_on};
use crate::expr::{Cond, Coord, Excess, Form, Term};

/// Most affine pieces that one piece may become.
const MOST: i64 = 256;

/// Steps for putting something in the place of a variable, for each part of a form.
const STEPS_OF_PART: u64 = 16;

/// The same for plain numbers.
const STEPS_OF_SHAPE: u64 = 2;

/// Adds what a piece touches, without conditions and quotients, if that are few progressions.
pub(super) fn progressions(piece: &Piece, taking: Taking, out: &mut Vec<Progression>) -> Result<(), Refusal> {
    if let Some(shapes) = plain(piece, taking) {
        for shape in &shapes {
            out.push(Progression::from_shape(shape, piece)?);
        }
        return Ok(());
    }
    let fewer = continued(piece);
    let pieces = affine_pieces(fewer.as_ref().unwrap_or(piece), taking).ok_or(Refusal::NotAffine)?;
    for piece in &pieces {
        out.push(Progression::from_piece(piece)?);
    }
    Ok(())
}

/// The same by plain numbers, which is sooner done, where quotients are of sums and conditions hold all together.
fn plain(piece: &Piece, taking: Taking) -> Option<Vec<Shape>> {
    let steps = STEPS_OF_SHAPE * size(piece) as u64;
    let pairs = piece.ranges.len() * piece.ranges.len();
    spend(steps).ok()?;
    spend_on(size(piece), pairs as u64).ok()?;
    let shapes = digits::shapes(piece, usize::try_from(MOST).ok()?)?;
    spend_on(shapes.len(), steps).ok()?;
    let mut found = Vec::with_capacity(shapes.len());
    for shape in shapes {
        unconditional_shapes(shape, MOST, taking, steps, &mut found)?;
    }
    Some(found)
}

/// The affine pieces of a piece, without conditions, if there are few of them.
fn affine_pieces(piece: &Piece, taking: Taking) -> Option<Vec<Piece>> {
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
    Ok(Some(Piece { when, address, ..piece.clone() }))
}

/// Affine pieces with few long variables, if a piece has such: for going through them one by one.
pub(super) fn long_pieces(piece: &Piece) -> Option<Vec<Piece>> {
    let fewer = continued(piece);
    affine_pieces(fewer.as_ref().unwrap_or(piece), Taking::Fewest)?.iter().map(joined).collect()
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
    let pieces = cut.span.pieces();
    if pieces > most {
        return None;
    }
    // Each step takes something from what is left, whatever it brings.
    let left = (most / pieces.max(1)).min(most - 1);
    if let Some((from, to)) = cut.span.held {
        unconditional(with_values(&piece, cut.coord, from, to), left, taking, out)?;
    }
    for (from, to) in cut.span.open {
        for value in from..=to {
            unconditional(at_value(&piece, cut.coord, value)?, left, taking, out)?;
        }
    }
    Some(())
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
    Some(Points::restricted(&ranges, when.as_slice())?.piece(array, address, width))
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
    use crate::footprint::linear::count_progressions;
    use crate::footprint::{Engine, Query, count_with};
    use crate::random::Random;

    const COORDS: [Coord; 4] =
        [Coord::ThreadIdx(Dim::X), Coord::BlockIdx(Dim::X), Coord::ThreadIdx(Dim::Y), Coord::Loop(LoopId(0))];

    fn below(draw: &mut Random, limit: usize) -> i64 {
        i64::try_from(draw.below(limit)).unwrap()
    }

    /// A sum of some coordinates or halves of them, each times one of the factors.
    fn form(draw: &mut Random, factors: &[i64]) -> Form<i64> {
        let mut sum = Form::int(below(draw, 40) - 20);
        for coord in COORDS {
            if draw.below(3) > 0 {
                let unit = Form::coord(coord).floor_div(&(1 + below(draw, 6) / 5)).unwrap();
                sum = sum.plus(&unit.times(&factors[draw.below(factors.len())]).unwrap()).unwrap();
            }
        }
        sum
    }

    fn condition(draw: &mut Random) -> Cond<i64> {
        let [a, b, c] = [(); 3].map(|()| Cond::non_negative(form(draw, &[-4, -2, -1, 1, 3, 4])));
        match draw.below(5) {
            0 => a,
            1 => Cond::all(vec![a, b]),
            2 => Cond::any(vec![a, b]),
            3 => Cond::all(vec![c, Cond::any(vec![a, b])]),
            _ => Cond::zero(form(draw, &[-2, -1, 1, 2])),
        }
    }

    /// Random boxes under random conditions that join their variables, taken apart in both ways.
    #[test]
    fn pieces_touch_what_conditions_let_through() {
        let mut draw = Random::new(5);
        let (mut found, mut by_numbers) = ([0; 2], 0);
        for round in 0..500 {
            let ranges: Vec<CoordRange> =
                COORDS.iter().map(|&c| (c, below(&mut draw, 3), 2 + below(&mut draw, 6))).collect();
            let address = form(&mut draw, &[4, 8, 36, 40, 144, 400]).into();
            let when = Some(condition(&mut draw));
            let piece = Piece { array: 0, ranges: ranges.into(), when, address, width: 4 };
            let lines =
                |pieces: Vec<Piece>| count_with(&Query { pieces, line: 32 }, Engine::Enumeration).unwrap();
            let all = lines(vec![piece.clone()]);
            for (number, taking) in found.iter_mut().zip([Taking::Fewest, Taking::Values]) {
                if let Some(pieces) = affine_pieces(&piece, taking) {
                    *number += 1;
                    assert_eq!(lines(pieces), all, "{round} {taking:?}: {piece:?}");
                }
                if let Some(shapes) = plain(&piece, taking) {
                    by_numbers += 1;
                    let of = |shape| Progression::from_shape(shape, &piece).unwrap();
                    let mut found: Vec<_> = shapes.iter().map(of).collect();
                    let counted = count_progressions(&mut found, 32).unwrap();
                    assert_eq!(counted, all, "{round} {taking:?}: {piece:?}");
                }
            }
        }
        assert!(found.iter().all(|&n| n > 300) && by_numbers > 200, "{found:?} {by_numbers}");
    }
}
