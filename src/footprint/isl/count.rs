//! Counting with isl: threads as sets, the lines they touch as their images, united and counted.

use isl_rs::{DimType, Set, Val};

use super::build::{Coordinates, dimension};
use super::digits::{Digits, InDigits};
use super::image::{Image, Rows, images};
use super::session::{IslError, Session, with_session};
use crate::expr::Form;
use crate::footprint::query::Query;

/// Distinct lines of a query within a quota of elementary operations.
pub(super) fn count(query: &Query, quota: u64) -> Result<u128, IslError> {
    let mut arrays: Vec<usize> = query.pieces.iter().map(|p| p.array).collect();
    arrays.sort_unstable();
    arrays.dedup();
    with_session(quota, |session| {
        let mut total = 0;
        for array in arrays {
            if let Some(lines) = lines(session, query, array)? {
                total += size(&lines)?;
            }
        }
        Ok(total)
    })
}

/// The set of lines that a query touches of an array, in digits.
fn lines(session: &Session<'_>, query: &Query, array: usize) -> Result<Option<Set>, IslError> {
    let pieces = || query.pieces.iter().filter(|p| p.array == array);
    let by_row = images(pieces(), query.line, Rows::Apart)?;
    let digits = Digits::new(&by_row, query.line);
    if digits.count() > 0 {
        return united(session, &by_row, &digits, query.line);
    }
    united(session, &images(pieces(), query.line, Rows::Joined)?, &digits, query.line)
}

fn united(
    session: &Session<'_>,
    images: &[Image<'_>],
    digits: &Digits,
    line: i64,
) -> Result<Option<Set>, IslError> {
    let mut united: Option<Set> = None;
    for image in images {
        let set = set_of(session, image, digits, line)?;
        united = Some(match united {
            Some(others) => others.union(set)?.coalesce()?,
            None => set,
        });
    }
    Ok(united.map(Set::coalesce).transpose()?)
}

/// The number of elements. An unbounded set is an error: isl may count it as 0.
fn size(set: &Set) -> Result<u128, IslError> {
    if !set.is_bounded()? {
        return Err(IslError::Unbounded);
    }
    // Quotients made explicit and joined beforehand leave fewer parts for isl to tell from each other.
    let parts = set.copy()?.compute_divs()?.coalesce()?.make_disjoint()?.get_basic_set_list()?;
    let mut total = 0_u128;
    for i in 0..parts.size()? {
        let part = Set::from_basic_set(parts.get_at(i)?)?;
        let count = if part.is_box()? { size_of_box(&part)? } else { number(&part.count_val()?)? };
        total = total.checked_add(count).ok_or(TOO_MANY)?;
    }
    Ok(total)
}

const TOO_MANY: IslError = IslError::Unsupported("a count of this size");

fn number(value: &Val) -> Result<u128, IslError> {
    u128::try_from(value.get_num_si()?).map_err(|_| TOO_MANY)
}

/// The number of points of a box. isl would go through all of its rows one by one.
fn size_of_box(set: &Set) -> Result<u128, IslError> {
    let mut size = 1_u128;
    for i in 0..set.dim(DimType::Set)? {
        let extent = set.copy()?.dim_max_val(i)?.sub(set.copy()?.dim_min_val(i)?)?.add_ui(1)?;
        size = size.checked_mul(number(&extent)?).ok_or(TOO_MANY)?;
    }
    Ok(size)
}

/// All (digits, l) with low <= l * line + line - 1 and l * line <= high for a point of the domain.
fn set_of(session: &Session<'_>, image: &Image<'_>, digits: &Digits, line: i64) -> Result<Set, IslError> {
    let written = digits.write(image).ok_or(IslError::Unsupported("an address of this size"))?;
    let InDigits { leading, low, high } = written;
    let named: Vec<_> = image.ranges.iter().enumerate().map(|(i, r)| (r.0, format!("v{i}"))).collect();
    let coordinates = Coordinates::with_more(session, &named, dimension(digits.count() + 1))?;
    let mut set = Set::universe(coordinates.space.copy()?)?;
    for (i, &(_, from, to)) in image.ranges.iter().enumerate() {
        set = set.lower_bound_val(DimType::Set, dimension(i), session.value(from)?)?;
        set = set.upper_bound_val(DimType::Set, dimension(i), session.value(to)?)?;
    }
    if let Some(when) = &image.piece.when {
        set = set.intersect(coordinates.condition(when)?)?;
    }
    for (i, digit) in leading.iter().enumerate() {
        let difference = coordinates.variable(dimension(named.len() + i))?.sub(coordinates.form(digit)?)?;
        set = set.intersect(difference.zero_set()?)?;
    }
    let l = dimension(named.len() + digits.count());
    let first = || Ok::<_, IslError>(coordinates.variable(l)?.scale_val(session.value(line)?)?);
    let last = first()?.add(coordinates.form(&Form::int(line - 1))?)?;
    set = set.intersect(last.ge_set(coordinates.form(&low)?)?)?;
    set = set.intersect(coordinates.form(&high)?.ge_set(first()?)?)?;
    Ok(set.project_out(DimType::Set, 0, dimension(named.len()))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Coord, Dim};
    use crate::footprint::{Engine, Piece, count_with};

    /// A box of threads under a few accesses, different for each seed.
    fn query(seed: i64) -> Query {
        let (x, y) = (Coord::Thread(Dim::X), Coord::Thread(Dim::Y));
        let address = |offset: i64| {
            let skewed = Form::coord(x).plus(&Form::coord(y).times(&(seed % 3)).unwrap()).unwrap();
            let column = if seed % 2 == 0 { skewed } else { skewed.floor_div(&2).unwrap() };
            let row = Form::coord(y).times(&(33 + seed % 5)).unwrap();
            column.plus(&row).unwrap().plus(&Form::int(offset)).unwrap().times(&8).unwrap()
        };
        let ranges = vec![(x, seed % 7, 20 + seed % 11), (y, seed % 4, 3 + seed % 6)];
        let piece = |offset| Piece {
            array: 0,
            ranges: ranges.clone().into(),
            when: None,
            address: address(offset).into(),
            width: 8,
        };
        Query { pieces: vec![piece(0), piece(seed % 50), piece(33)], line: 32 << (seed % 3) }
    }

    /// Intersection and difference as isl makes them are what inclusion and exclusion give.
    #[test]
    fn sets_obey_inclusion_and_exclusion() {
        for seed in 0..40_i64 {
            let (a, b) = (query(seed), query(seed * 7 + 3));
            let b = Query { line: a.line, ..b };
            let of = |q: &Query| count_with(q, Engine::Enumeration).unwrap();
            let both = Query { pieces: [a.pieces.clone(), b.pieces.clone()].concat(), line: a.line };
            let (in_a, in_b, in_any) = (of(&a), of(&b), of(&both));
            let counts = with_session(10_000_000, |session| {
                // Sets are comparable only if written in the same digits.
                let all = images(both.pieces.iter(), both.line, Rows::Joined)?;
                let digits = Digits::new(&all, both.line);
                let set = |q: &Query| {
                    let of_one = images(q.pieces.iter(), q.line, Rows::Joined)?;
                    united(session, &of_one, &digits, q.line).map(|s| s.unwrap())
                };
                let common = set(&a)?.intersect(set(&b)?)?;
                let only_a = set(&a)?.subtract(set(&b)?)?;
                let any = set(&a)?.union(set(&b)?)?;
                Ok([size(&common)?, size(&only_a)?, size(&any)?])
            });
            assert_eq!(counts, Ok([in_a + in_b - in_any, in_any - in_b, in_any]), "seed {seed}");
        }
    }

    /// isl itself says 0 for some sets without bounds.
    #[test]
    fn sets_without_bounds_are_not_counted() {
        let error = with_session(1_000_000, |session| {
            let space = Coordinates::with_more(session, &[], 1)?.space;
            size(&Set::universe(space)?)
        });
        assert_eq!(error, Err(IslError::Unbounded));
    }
}
