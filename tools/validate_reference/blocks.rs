//! The reference program's volumes of a block, in linear addresses and not clipped to the domain: a box
//! of threads, repeated over a grid of boxes from the corner at the origin.

use std::collections::HashMap;

use wavecast::expr::{Coord, Dim, Form, Term};
use wavecast::footprint::{Piece, Query, count};

/// A box of `inner` threads at each of `outer` places.
#[derive(Debug, Clone, Copy)]
pub struct Tiling {
    pub inner: [i64; 3],
    pub outer: [i64; 3],
}

impl Tiling {
    /// Warp-shaped boxes: as many threads of x as fit, then of y, then of z. That is a warp of
    /// consecutive thread ids only where the block is a power of two wide. Boxes that do not fit whole
    /// into the threads are left out.
    pub fn warps(warp: i64, block: [i64; 3], blocks: [i64; 3]) -> Self {
        let x = warp.min(block[0]);
        let y = block[1].min((warp / block[0]).max(1));
        let z = block[2].min((warp / block[0] / block[1]).max(1));
        let inner = [x, y, z];
        Self { inner, outer: [0, 1, 2].map(|d| blocks[d] * block[d] / inner[d]) }
    }
}

/// First bytes of accesses that are counted together.
pub type Group<'a> = &'a [Form<i64>];

/// Distinct lines of one box at a place, first bytes only.
pub fn lines_at(group: Group<'_>, inner: [i64; 3], place: [i64; 3], line: i64) -> Result<u128, String> {
    lines_of_places(group, inner, &[place], line)
}

/// Distinct lines of the boxes at several places together.
pub fn lines_of_places(
    group: Group<'_>,
    inner: [i64; 3],
    places: &[[i64; 3]],
    line: i64,
) -> Result<u128, String> {
    let mut pieces = Vec::with_capacity(group.len() * places.len());
    for place in places {
        for form in group {
            let range = |d: Dim| {
                let from = place[d.index()] * inner[d.index()];
                (Coord::Thread(d), from, from + inner[d.index()] - 1)
            };
            pieces.push(Piece {
                array: 0,
                ranges: Dim::ALL.map(range).into(),
                when: None,
                address: form.clone().into(),
                width: 1,
            });
        }
    }
    lines(pieces, line)
}

/// Distinct lines of pieces by the engine that can.
pub fn lines(pieces: Vec<Piece>, line: i64) -> Result<u128, String> {
    if pieces.is_empty() {
        return Ok(0);
    }
    count(&Query { pieces, line }).map(|c| c.0).map_err(|why| format!("our engines refuse: {why}"))
}

/// Sum over all places of the distinct lines of a box.
///
/// A box whose addresses are all shifted by the same multiple of a line has as many lines: places are
/// grouped by the shift of the first access within a line and the distances between accesses.
pub fn lines_over(group: Group<'_>, tiling: Tiling, line: i64) -> Result<u128, String> {
    if group.is_empty() {
        return Ok(0);
    }
    let Some(steps) = group.iter().map(|form| steps(form, tiling.inner)).collect::<Option<Vec<_>>>() else {
        let mut total = 0;
        each_place(tiling.outer, |place| {
            total += lines_at(group, tiling.inner, place, line)?;
            Ok(())
        })?;
        return Ok(total);
    };
    let parallel = steps.iter().all(|s| *s == steps[0]);
    let mut alike: HashMap<(i64, Vec<i64>), ([i64; 3], u128)> = HashMap::new();
    each_place(tiling.outer, |place| {
        let shift = |s: &[i64; 3]| s[0] * place[0] + s[1] * place[1] + s[2] * place[2];
        let first = shift(&steps[0]);
        let apart = if parallel { Vec::new() } else { steps.iter().map(|s| shift(s) - first).collect() };
        alike.entry((first.rem_euclid(line), apart)).or_insert((place, 0)).1 += 1;
        Ok(())
    })?;
    let mut total = 0;
    for (place, times) in alike.into_values() {
        total += times * lines_at(group, tiling.inner, place, line)?;
    }
    Ok(total)
}

/// Bytes between boxes that are neighbours along x, y, z; `None` where the address is not affine.
fn steps(form: &Form<i64>, inner: [i64; 3]) -> Option<[i64; 3]> {
    let mut steps = [0; 3];
    for (term, factor) in form.terms() {
        let Term::Coord(Coord::Thread(d)) = term else { return None };
        steps[d.index()] = factor.checked_mul(inner[d.index()])?;
    }
    Some(steps)
}

fn each_place(outer: [i64; 3], mut visit: impl FnMut([i64; 3]) -> Result<(), String>) -> Result<(), String> {
    for z in 0..outer[2] {
        for y in 0..outer[1] {
            for x in 0..outer[0] {
                visit([x, y, z])?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::address::parse_index;
    use super::*;

    #[test]
    fn warp_boxes() {
        let warps = |block| Tiling::warps(32, block, [8, 8, 1]);
        assert_eq!((warps([48, 2, 1]).inner, warps([48, 2, 1]).outer), ([32, 1, 1], [12, 16, 1]));
        assert_eq!((warps([4, 4, 4]).inner, warps([4, 4, 4]).outer), ([4, 4, 2], [8, 8, 2]));
        assert_eq!(warps([3, 64, 1]).inner, [3, 10, 1]);
    }

    #[test]
    fn grouping_places_changes_nothing() {
        for texts in
            [["8*tidx + 800*tidy", "8*tidx + 24"], ["8*tidx", "24*tidx + 8"], ["8*tidx", "8*(tidx//3)"]]
        {
            let group = texts.map(|t| parse_index(t).unwrap());
            let tiling = Tiling { inner: [5, 3, 1], outer: [7, 4, 1] };
            let mut slowly = 0;
            each_place(tiling.outer, |p| {
                slowly += lines_at(&group, tiling.inner, p, 32)?;
                Ok(())
            })
            .unwrap();
            assert_eq!(lines_over(&group, tiling, 32).unwrap(), slowly, "{texts:?}");
        }
    }
}
