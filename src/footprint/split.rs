//! Quotients and remainders by small numbers taken apart: along v = m*q + r, every quotient of v by a
//! divisor of m is affine in q for each r. A quasi-affine piece becomes m affine ones.

use super::query::Piece;
use crate::expr::{Coord, Form, Term};

/// Most affine pieces that one piece may become.
const MOST: i64 = 256;

/// The affine pieces of a piece, if there are few of them and no condition.
pub(super) fn affine_pieces(piece: &Piece) -> Option<Vec<Piece>> {
    if piece.when.is_some() {
        return None;
    }
    let mut pieces = vec![piece.clone()];
    for &(coord, _, _) in piece.ranges.iter() {
        let modulus = modulus_of(&piece.address, coord)?;
        if modulus == 1 {
            continue;
        }
        if modulus.checked_mul(i64::try_from(pieces.len()).ok()?)? > MOST {
            return None;
        }
        pieces = pieces.iter().map(|p| residues(p, coord, modulus)).collect::<Option<Vec<_>>>()?.concat();
    }
    pieces.iter().all(|p| p.address.is_affine()).then_some(pieces)
}

/// The least m for which every quotient over `coord` is affine along m*q; `None` beyond the limit.
fn modulus_of(form: &Form<i64>, coord: Coord) -> Option<i64> {
    let mut modulus = 1;
    for (term, _) in form.terms() {
        match term {
            Term::Coord(_) => {}
            Term::Floor(inner, divisor) if inner.is_affine() => {
                let factor = inner.terms().iter().find(|t| t.0 == Term::Coord(coord)).map_or(0, |t| t.1);
                let needed = divisor / gcd(*divisor, factor.abs());
                modulus = (modulus / gcd(modulus, needed)).checked_mul(needed).filter(|&m| m <= MOST)?;
            }
            _ => return None,
        }
    }
    Some(modulus)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
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
        let value = Form::coord(coord).times(&modulus).and_then(|f| f.plus(&Form::int(first))).ok()?;
        let address = piece.address.substitute(&|c| (c == coord).then(|| value.clone())).ok()?;
        let mut ranges = piece.ranges.to_vec();
        ranges[at] = (coord, 0, (to - first) / modulus);
        pieces.push(Piece { ranges: ranges.into(), address: address.into(), ..piece.clone() });
    }
    Some(pieces)
}
