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
    /// The numbers of relatives.
    known: BTreeMap<Relatives<'p>, usize>,
    /// What is constant in an element, and whose it is.
    constants: Vec<(usize, i64)>,
    /// The last one and its number: the next one is mostly a copy of it, moved.
    last: Option<(FieldId, &'p Form<i64>, usize)>,
}

/// A field, and what is not constant in the element.
type Relatives<'p> = (FieldId, &'p [(Term<i64>, i64)]);

impl<'p> Addresses<'p> {
    pub(super) fn add(&mut self, field: FieldId, element: &'p Form<i64>) {
        let number = match self.last {
            Some((of, before, number)) if of == field && before.shares_terms(element) => number,
            _ => {
                let next = self.known.len();
                *self.known.entry((field, element.terms())).or_insert(next)
            }
        };
        self.constants.push((number, *element.constant()));
        self.last = Some((field, element, number));
    }

    /// How many of them have to be computed because the first of their relatives is too far, however few are taken as
    /// bases.
    pub(super) fn far(&mut self, kernel: &Kernel) -> Times<PerThread> {
        self.constants.sort_unstable();
        let far = |(&(field, _), &number): (&Relatives<'p>, &usize)| {
            let from = self.constants.partition_point(|&(of, _)| of < number);
            let of_these = self.constants[from..].iter().take_while(|&&(of, _)| of == number);
            let field = kernel.field(field);
            let bases = further_bases(of_these.map(|&(_, constant)| constant), field.dtype.bytes);
            f64::from(bases) * field.multiplicity as f64
        };
        Times::new(self.known.iter().map(far).sum())
    }
}

/// How many bases are needed beside the first one so that each element is near one. Elements come in ascending order.
fn further_bases(elements: impl Iterator<Item = i64>, bytes: i64) -> u32 {
    let mut bases = 0_u32;
    let mut reached = None;
    for place in elements.map(|e| i128::from(e) * i128::from(bytes)) {
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
    use crate::expr::{Coord, Dim};

    #[test]
    fn a_base_reaches_eight_mebibytes_to_both_sides() {
        let reach = 2 * (1 << 20);
        let further = |elements: &[i64]| further_bases(elements.iter().copied(), 8);
        assert_eq!(further(&[]), 0);
        assert_eq!(further(&[5, 5, 5]), 0);
        assert_eq!(further(&[-7, reach - 8]), 0);
        assert_eq!(further(&[-7, reach - 7]), 1);
        // The last two are near each other.
        assert_eq!(further(&[0, reach, 2 * reach, 2 * reach + 5]), 2);
    }

    /// Fields, and elements with others in between, in an order in which none of their addresses ascend.
    #[test]
    fn the_order_of_addresses_makes_no_difference() {
        let text = "wavecast: 1\nkernel: k\nfields: {a: {dtype: f64, size: 1000}, b: {dtype: f64, size: 1000, multiplicity: 3}}\n\
                    domain: {x: 100}\nbody: ['load a[x]', 'load b[x]']\n";
        let kernel = crate::kernel::load("k", text, &Default::default()).unwrap().kernels.remove(0);
        let reach = 2 * (1 << 20);
        let thread = Form::coord(Coord::ThreadIdx(Dim::X));
        let [of_thread, of_two] = [1, 2].map(|factor| {
            [2 * reach, 0, 2 * reach + 5, reach]
                .map(|constant| thread.times(&factor).unwrap().plus(&Form::int(constant)).unwrap())
        });
        let mut addresses = Addresses::default();
        for place in 0..4 {
            addresses.add(FieldId(0), &of_thread[place]);
            addresses.add(FieldId(0), &of_two[place]);
            if place != 1 {
                addresses.add(FieldId(1), &of_thread[place]);
            }
        }
        // Two further bases for each of the first two; of the last there are three arrays, each with one.
        assert_eq!(addresses.far(&kernel), Times::new(2.0 + 2.0 + 3.0));
    }
}
