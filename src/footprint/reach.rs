//! Whether any point of a piece touches given bytes: the box is halved again and again, and halves whose
//! addresses lie elsewhere are put aside unseen.

use super::query::{Piece, Refusal};
use crate::effort::spend_on;
use crate::expr::{Cond, Coord, Form, Term};

/// Steps for looking at a part of a form.
const STEPS_OF_PART: u64 = 4;

/// A part of a piece's box.
#[derive(Debug, Clone)]
pub(super) struct Part<'p> {
    piece: &'p Piece,
    ranges: Vec<(Coord, i64, i64)>,
    /// The address, with variables that have one value put in.
    address: Form<i64>,
    /// All bytes that points of the part touch lie between these two.
    pub(super) bytes: [i64; 2],
}

impl<'p> Part<'p> {
    /// The whole box; `None` if the condition holds nowhere.
    pub(super) fn whole(piece: &'p Piece) -> Result<Option<Self>, Refusal> {
        Self::new(piece, piece.ranges.to_vec(), Form::clone(&piece.address))
    }

    fn new(
        piece: &'p Piece,
        ranges: Vec<(Coord, i64, i64)>,
        address: Form<i64>,
    ) -> Result<Option<Self>, Refusal> {
        spend_on(address.size() + piece.when.as_ref().map_or(0, Cond::size), STEPS_OF_PART)?;
        if held(piece, &ranges) == Some(false) {
            return Ok(None);
        }
        let (low, high) = address.interval(&within(&ranges)).ok_or(Refusal::Overflow)?;
        let high = high.checked_add(piece.width - 1).ok_or(Refusal::Overflow)?;
        Ok(Some(Self { piece, ranges, address, bytes: [low, high] }))
    }

    /// Both halves along the variable that narrows the bytes most; `None` for a single point.
    pub(super) fn halves(&self) -> Result<Option<[Option<Self>; 2]>, Refusal> {
        let spread = |i: usize| {
            let mut ranges = self.ranges.clone();
            ranges[i].2 = ranges[i].1;
            let (low, high) = self.address.interval(&within(&ranges))?;
            // A table is known entry by entry only: its indices come first.
            let indexes = self.address.terms().iter().any(|t| indexes(&t.0, self.ranges[i].0));
            Some((!indexes, i128::from(high) - i128::from(low)))
        };
        spend_on(self.ranges.len() * self.address.size(), STEPS_OF_PART)?;
        let many = (0..self.ranges.len()).filter(|&i| self.ranges[i].1 < self.ranges[i].2);
        let Some(best) = many.min_by_key(|&i| spread(i)) else { return Ok(None) };
        let (coord, from, to) = self.ranges[best];
        let middle = i64::midpoint(from, to).clamp(from, to - 1);
        let half = |from, to| {
            let mut ranges = self.ranges.clone();
            ranges[best] = (coord, from, to);
            let address = if from == to {
                self.address.substitute(&|c| (c == coord).then(|| Form::int(from)))?
            } else {
                self.address.clone()
            };
            Self::new(self.piece, ranges, address)
        };
        Ok(Some([half(from, middle)?, half(middle + 1, to)?]))
    }

    /// Whether some point touches one of the bytes `target`. Looks at no more than `left` parts.
    pub(super) fn touches(&self, target: [i64; 2], left: &mut u64) -> Result<bool, Refusal> {
        if self.bytes[1] < target[0] || target[1] < self.bytes[0] {
            return Ok(false);
        }
        *left = left.checked_sub(1).ok_or(Refusal::Budget)?;
        spend_on(1 + self.piece.when.as_ref().map_or(0, Cond::size), STEPS_OF_PART)?;
        let inside = target[0] <= self.bytes[0] && self.bytes[1] <= target[1];
        if inside && held(self.piece, &self.ranges) == Some(true) {
            return Ok(true);
        }
        let Some(halves) = self.halves()? else { return self.point_touches(target) };
        for half in halves.into_iter().flatten() {
            if half.touches(target, left)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn point_touches(&self, target: [i64; 2]) -> Result<bool, Refusal> {
        let value = |c: Coord| self.ranges.iter().find(|r| r.0 == c).map(|r| r.1);
        let works = self.piece.when.as_ref().is_none_or(|w| w.evaluate(&value) == Some(true));
        let first = self.piece.address.evaluate(&value).ok_or(Refusal::Overflow)?;
        let last = first.checked_add(self.piece.width - 1).ok_or(Refusal::Overflow)?;
        Ok(works && first <= target[1] && target[0] <= last)
    }
}

/// Whether a coordinate is part of an index of a table.
fn indexes(term: &Term<i64>, coord: Coord) -> bool {
    match term {
        Term::Lookup(..) => term.mentions(&|c| c == coord),
        _ => term.parts().any(|f| f.terms().iter().any(|t| indexes(&t.0, coord))),
    }
}

fn within(ranges: &[(Coord, i64, i64)]) -> impl Fn(Coord) -> Option<(i64, i64)> + '_ {
    |c| ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2))
}

/// Whether the condition of a piece holds everywhere in a part of it, or nowhere.
fn held(piece: &Piece, ranges: &[(Coord, i64, i64)]) -> Option<bool> {
    piece.when.as_ref().map_or(Some(true), |when| when.decided(&within(ranges)))
}
