//! Counting with isl: threads as sets, accesses as maps to lines, images united and counted.

use isl_rs::{DimType, Map, PwAff, Set};

use super::build::Coordinates;
use super::session::{IslError, with_session};
use crate::footprint::query::{Piece, Query};

/// Distinct lines of a query within a quota of elementary operations.
pub(in crate::footprint) fn count(query: &Query, quota: u64) -> Result<u128, IslError> {
    let mut arrays: Vec<usize> = query.pieces.iter().map(|p| p.array).collect();
    arrays.sort_unstable();
    arrays.dedup();
    with_session(quota, |session| {
        let mut total = 0;
        for array in arrays {
            let mut lines: Option<Set> = None;
            for piece in query.pieces.iter().filter(|p| p.array == array) {
                let named: Vec<_> =
                    piece.ranges.iter().enumerate().map(|(i, r)| (r.0, format!("v{i}"))).collect();
                let coordinates = Coordinates::new(session, &named)?;
                for image in images(&coordinates, piece, query.line)? {
                    lines = Some(match lines {
                        Some(others) => others.union(image)?,
                        None => image,
                    });
                }
            }
            let Some(lines) = lines else { continue };
            // Boxes are bounded, and so are their images: the count is finite.
            let count = lines.coalesce()?.count_val()?.get_num_si()?;
            total += u128::try_from(count).map_err(|_| IslError::Unsupported("a count below 0"))?;
        }
        Ok(total)
    })
}

/// For each line that a point can touch (two if an element straddles), the image of the points.
fn images(coordinates: &Coordinates<'_>, piece: &Piece, line: i64) -> Result<Vec<Set>, IslError> {
    let session = coordinates.session;
    let mut domain = Set::universe(coordinates.space.copy()?)?;
    for (i, &(_, from, to)) in piece.ranges.iter().enumerate() {
        let position = u32::try_from(i).unwrap_or(u32::MAX);
        domain = domain.lower_bound_val(DimType::Set, position, session.value(from)?)?;
        domain = domain.upper_bound_val(DimType::Set, position, session.value(to)?)?;
    }
    if let Some(when) = &piece.when {
        domain = domain.intersect(coordinates.condition(when)?)?;
    }
    // First byte, then one byte in each further line, then the last.
    let mut offsets: Vec<i64> = (0..piece.width).step_by(usize::try_from(line).unwrap_or(1)).collect();
    offsets.push(piece.width - 1);
    offsets.dedup();
    let image = |offset: i64| {
        let shifted = piece.address.plus(&crate::expr::Form::int(offset));
        let address: PwAff =
            coordinates.form(&shifted.map_err(|_| IslError::Unsupported("an address of this size"))?)?;
        let lines = address.scale_down_val(session.value(line)?)?.floor()?;
        Ok(Map::from_pw_aff(lines)?.intersect_domain(domain.copy()?)?.range()?)
    };
    offsets.into_iter().map(image).collect()
}
