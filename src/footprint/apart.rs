//! Strides that do not nest, as those of blocks that are no divisor of a row: what repeats along all but two of them is
//! taken one by one, where those are few. The rest nests again.

use super::linear::Progression;
use super::query::Refusal;
use crate::effort::spend_on;

/// Most progressions that some may become.
const MOST: u64 = 1 << 12;

/// Steps for each of them.
const STEPS_OF_EACH: u64 = 16;

/// Steps for each row, about as many as following it takes.
const STEPS_OF_ROW: u64 = 6;

/// Strides that stay: none, one between rows, or one between rows and one between planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    row: Option<i64>,
    plane: Option<i64>,
}

impl Kept {
    const NONE: Self = Self { row: None, plane: None };

    fn holds(self, stride: i64) -> bool {
        self.row == Some(stride) || self.plane == Some(stride)
    }

    /// How many progressions there are when all others of some strides are taken one by one.
    fn progressions(self, all: &[Progression], strides: &[i64]) -> u64 {
        let of_one = |p: &Progression| {
            let others = strides.iter().filter(|&&stride| !self.holds(stride));
            others.fold(1_u64, |n, &stride| n.saturating_mul(p.count_of(stride).unsigned_abs()))
        };
        all.iter().fold(0, |n, p| n.saturating_add(of_one(p)))
    }
}

/// Progressions that touch the same bytes and whose strides nest, if they are few. `strides` are those that they have,
/// ascending, but for the smallest, which leave no line out.
pub(super) fn taken_apart(all: &[Progression], strides: &[i64]) -> Result<Vec<Progression>, Refusal> {
    spend_on(all.len(), 1 + (strides.len() * strides.len()) as u64)?;
    let Some((kept, number)) = fewest(all, strides) else { return Err(Refusal::Strides) };
    if number > MOST {
        return Err(Refusal::Strides);
    }
    spend_on(usize::try_from(number).unwrap_or(usize::MAX), STEPS_OF_EACH)?;
    let mut found = Vec::with_capacity(usize::try_from(number).unwrap_or(0));
    for p in all {
        let is_apart = |stride: i64| strides.binary_search(&stride).is_ok() && !kept.holds(stride);
        p.each_along(is_apart, &mut found);
    }
    Ok(found)
}

/// The strides that leave the fewest progressions, and how many those are.
fn fewest(all: &[Progression], strides: &[i64]) -> Option<(Kept, u64)> {
    let pairs = strides.iter().enumerate().flat_map(|(i, &row)| {
        let planes = strides[i + 1..].iter().filter(move |&plane| plane % row == 0);
        let none = std::iter::once(None);
        none.chain(planes.map(|&plane| Some(plane))).map(move |plane| Kept { row: Some(row), plane })
    });
    let number = |kept: Kept| (kept, kept.progressions(all, strides));
    std::iter::once(Kept::NONE).chain(pairs).map(number).min_by_key(|found| found.1)
}

/// Steps that going through all rows would take.
pub(super) fn steps_of_rows(all: &[Progression]) -> u64 {
    let rows = |p: &Progression| {
        let counts = p.steps().iter().map(|step| step.1.unsigned_abs());
        let longest = counts.clone().max().unwrap_or(1);
        counts.fold(1_u64, u64::saturating_mul) / longest.max(1)
    };
    all.iter().fold(0_u64, |n, p| n.saturating_add(rows(p))).saturating_mul(STEPS_OF_ROW)
}
