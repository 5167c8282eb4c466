//! The lines that a piece touches, written with as few variables as possible.
//!
//! Threads along one variable whose lines leave no gap are not projected out by isl but replaced by
//! the interval between the first and the last of their bytes: each variable less saves isl most of
//! its work. Pieces that differ only in where their interval lies become one where the intervals meet.

use crate::expr::{Coord, Form, Term};
use crate::footprint::query::Piece;

use super::session::IslError;

/// Points of `domain` touch all lines from the byte `low` to the byte `high` of their array.
#[derive(Debug, Clone)]
pub(super) struct Image<'p> {
    pub(super) piece: &'p Piece,
    /// The variables that remain.
    pub(super) ranges: Vec<(Coord, i64, i64)>,
    pub(super) low: Form<i64>,
    pub(super) high: Form<i64>,
}

/// What becomes of rows that follow each other without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// They are one interval: fewer variables.
    Joined,
    /// Rows of whole lines stay rows: each then is a digit.
    Apart,
}

const TOO_LARGE: IslError = IslError::Unsupported("an address of this size");

impl<'p> Image<'p> {
    fn new(piece: &'p Piece, line: i64, rows: Rows) -> Result<Self, IslError> {
        let high = piece.address.plus(&Form::int(piece.width - 1)).map_err(|_| TOO_LARGE)?;
        let (ranges, low) = (piece.ranges.to_vec(), (*piece.address).clone());
        let mut image = Self { piece, ranges, low, high };
        for &(coord, value, _) in piece.ranges.iter().filter(|r| r.1 == r.2) {
            image.put(coord, value, value)?;
        }
        while image.swallow(line, rows)? {}
        image.ranges.retain(|r| image.low.mentions(&|c| c == r.0) || is_condition(piece, r.0));
        Ok(image)
    }

    /// Puts a variable's first and last value into the ends of the interval.
    fn put(&mut self, coord: Coord, first: i64, last: i64) -> Result<(), IslError> {
        let at = |form: &Form<i64>, value| form.substitute(&|c| (c == coord).then(|| Form::int(value)));
        self.low = at(&self.low, first).map_err(|_| TOO_LARGE)?;
        self.high = at(&self.high, last).map_err(|_| TOO_LARGE)?;
        Ok(())
    }

    /// Replaces one variable by an interval, if along one the intervals leave out no line.
    fn swallow(&mut self, line: i64, rows: Rows) -> Result<bool, IslError> {
        let Some(width) = self.high.minus(&self.low).ok().and_then(|f| f.as_constant()) else {
            return Ok(false);
        };
        let step = |form: &Form<i64>, coord| {
            let alone = |t: &Term<i64>| matches!(t, Term::Coord(_)) || !t.mentions(&|c| c == coord);
            let slope = form.terms().iter().find(|t| t.0 == Term::Coord(coord)).map_or(0, |t| t.1);
            form.terms().iter().all(|t| alone(&t.0)).then_some(slope)
        };
        let found = self.ranges.iter().enumerate().find_map(|(i, r)| {
            let slope = step(&self.low, r.0)?;
            // A gap shorter than a line holds none.
            let dense = slope.checked_abs()? - width - 1 < line && !is_condition(self.piece, r.0);
            let row = rows == Rows::Apart && slope.abs() > line && slope % line == 0;
            (dense && !row).then_some((i, slope))
        });
        let Some((i, slope)) = found else { return Ok(false) };
        let (coord, from, to) = self.ranges.remove(i);
        let (first, last) = if slope < 0 { (to, from) } else { (from, to) };
        self.put(coord, first, last)?;
        Ok(true)
    }
}

fn is_condition(piece: &Piece, coord: Coord) -> bool {
    piece.when.as_ref().is_some_and(|w| w.mentions(&|c| c == coord))
}

/// The images of pieces of one array, joined where that leaves out no line.
pub(super) fn images<'p>(
    pieces: impl Iterator<Item = &'p Piece>,
    line: i64,
    rows: Rows,
) -> Result<Vec<Image<'p>>, IslError> {
    let mut images = pieces.map(|p| Image::new(p, line, rows)).collect::<Result<Vec<_>, _>>()?;
    images.sort_by(|a, b| {
        let key = |i: &Image<'p>| *i.low.constant();
        (&a.ranges, &a.piece.when, a.low.terms(), key(a)).cmp(&(
            &b.ranges,
            &b.piece.when,
            b.low.terms(),
            key(b),
        ))
    });
    images.dedup_by(|next, kept| {
        let alike = next.ranges == kept.ranges
            && next.piece.when == kept.piece.when
            && next.low.terms() == kept.low.terms()
            && next.high.terms() == kept.high.terms();
        let gap = i128::from(*next.low.constant()) - i128::from(*kept.high.constant()) - 1;
        if !alike || gap >= i128::from(line) {
            return false;
        }
        if next.high.constant() > kept.high.constant() {
            kept.high = next.high.clone();
        }
        true
    });
    Ok(images)
}
