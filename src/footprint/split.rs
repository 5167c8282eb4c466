//! Quotients and remainders by small numbers taken apart: along v = m*q + r, every quotient of v by a
//! divisor of m is affine in q for each r. A quasi-affine piece becomes m affine ones. Conditions are
//! treated alike; those that then join several variables are decided for each value of one that has few.

use super::division::gcd;
use super::query::{CoordRange, Piece};
use super::region::Region;
use crate::effort::spend_on;
use crate::expr::{Cond, Coord, Form, Term};

/// Most affine pieces that one piece may become.
const MOST: i64 = 256;

/// Steps for putting something in the place of a variable, for each part of a form.
const STEPS_OF_PART: u64 = 16;

/// The affine pieces of a piece, without conditions, if there are few of them.
pub(super) fn affine_pieces(piece: &Piece) -> Option<Vec<Piece>> {
    spend_on(size(piece), 2 * STEPS_OF_PART).ok()?;
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
        unconditional(piece, MOST, &mut found)?;
    }
    found.iter().all(|p| p.address.is_affine()).then_some(found)
}

/// Affine pieces with few long variables, if a piece has such: for going through them one by one.
pub(super) fn long_pieces(piece: &Piece) -> Option<Vec<Piece>> {
    affine_pieces(piece)?.iter().map(joined).collect()
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

/// Adds pieces with the points of a piece for which its condition holds, at most `most` of them.
fn unconditional(piece: Piece, most: i64, out: &mut Vec<Piece>) -> Option<()> {
    let Some(piece) = bounded(piece) else { return Some(()) };
    let Some(when) = &piece.when else {
        out.push(piece);
        return Some(());
    };
    let values = |r: &CoordRange| r.2.saturating_sub(r.1).saturating_add(1);
    let undecided = piece.ranges.iter().filter(|r| values(r) > 1 && when.mentions(&|c| c == r.0));
    let fewest = *undecided.min_by_key(|r| values(r))?;
    if values(&fewest) > most {
        return None;
    }
    for value in fewest.1..=fewest.2 {
        unconditional(at_value(&piece, fewest.0, value)?, most / values(&fewest), out)?;
    }
    Some(())
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
