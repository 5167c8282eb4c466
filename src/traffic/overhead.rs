//! What a thread computes beside its accesses and its arithmetic, and no document says: addresses, bounds of loops,
//! conditions.

use std::collections::BTreeMap;

use crate::expr::{Form, Term};
use crate::kernel::{FieldId, Kernel};
use crate::quantity::{PerThread, Times};

/// Bytes from which on a distance does not fit in an instruction: it has 24 bits with a sign.
const FAR: i128 = 1 << 23;

/// How often the busiest thread of a block does what takes instructions of its own.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Overhead {
    /// Addresses that are a constant away from others of their field, but too far for the instruction.
    pub far: Times<PerThread>,
    /// Times that a loop is entered whose bounds depend on the thread.
    pub entries: Times<PerThread>,
    /// Iterations of these loops.
    pub iterations: Times<PerThread>,
    /// Conditions of accesses and work items, each once in an iteration of the loop around it.
    pub conditions: Times<PerThread>,
}

impl Overhead {
    /// The larger of each.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            far: self.far.max(other.far),
            entries: self.entries.max(other.entries),
            iterations: self.iterations.max(other.iterations),
            conditions: self.conditions.max(other.conditions),
        }
    }
}

/// The addresses that a thread computes. Those of a field that differ in a constant only are related.
#[derive(Debug, Default)]
pub(super) struct Addresses<'p> {
    /// The places of relatives among the constants.
    known: BTreeMap<Relatives<'p>, usize>,
    /// What is constant in the elements of each.
    constants: Vec<Vec<i64>>,
    /// The last one and its place: the next one is mostly a copy of it, moved.
    last: Option<(FieldId, &'p Form<i64>, usize)>,
}

/// A field, and what is not constant in the element.
type Relatives<'p> = (FieldId, &'p [(Term<i64>, i64)]);

impl<'p> Addresses<'p> {
    pub(super) fn add(&mut self, field: FieldId, element: &'p Form<i64>) {
        let place = match self.last {
            Some((of, before, place)) if of == field && before.shares_terms(element) => place,
            _ => *self.known.entry((field, element.terms())).or_insert_with(|| {
                self.constants.push(Vec::new());
                self.constants.len() - 1
            }),
        };
        self.constants[place].push(*element.constant());
        self.last = Some((field, element, place));
    }

    /// How many of them have to be computed because the first of their relatives is too far, however few are taken as
    /// bases.
    pub(super) fn far(&self, kernel: &Kernel) -> Times<PerThread> {
        let far = |(&(field, _), &place): (&Relatives<'p>, &usize)| {
            let field = kernel.field(field);
            f64::from(further_bases(&self.constants[place], field.dtype.bytes)) * field.multiplicity as f64
        };
        Times::new(self.known.iter().map(far).sum())
    }
}

/// How many bases are needed beside the first one so that each element is near one.
fn further_bases(elements: &[i64], bytes: i64) -> u32 {
    let mut places: Vec<i128> = elements.iter().map(|e| i128::from(*e) * i128::from(bytes)).collect();
    places.sort_unstable();
    let mut bases = 0_u32;
    let mut reached = None;
    for place in places {
        if reached.is_none_or(|end| place > end) {
            bases += 1;
            // The base lies as far behind this one as it can, and reaches as far again.
            reached = Some(place + 2 * (FAR - 1));
        }
    }
    bases.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_reaches_eight_mebibytes_to_both_sides() {
        let reach = 2 * (1 << 20);
        assert_eq!(further_bases(&[], 8), 0);
        assert_eq!(further_bases(&[5, 5, 5], 8), 0);
        assert_eq!(further_bases(&[-7, reach - 8], 8), 0);
        assert_eq!(further_bases(&[-7, reach - 7], 8), 1);
        // The same in any order; the last two are near each other.
        assert_eq!(further_bases(&[2 * reach, 0, 2 * reach + 5, reach], 8), 2);
    }
}
