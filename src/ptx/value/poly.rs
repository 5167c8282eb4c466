//! Sums of atoms times numbers.

use std::cmp::Ordering;

/// Largest number in a formula: far beyond 64 bits, far from where sums of them overflow.
const LARGEST: u128 = 1 << 110;

/// Number of an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::ptx) struct AtomId(pub(super) u32);

/// Least and largest value.
pub(in crate::ptx) type Interval = (i128, i128);

/// A constant plus multiples of atoms, in the order of the atoms, none of them zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(in crate::ptx) struct Poly {
    pub constant: i128,
    pub terms: Vec<(AtomId, i128)>,
}

impl Poly {
    pub fn constant(value: i128) -> Self {
        Self { constant: value, terms: Vec::new() }
    }

    pub fn atom(id: AtomId) -> Self {
        Self { constant: 0, terms: vec![(id, 1)] }
    }

    /// Its value, if it is a number.
    pub fn number(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// How often this atom stands in the sum.
    pub fn coefficient(&self, atom: AtomId) -> i128 {
        self.terms.binary_search_by_key(&atom, |t| t.0).map_or(0, |at| self.terms[at].1)
    }

    /// `self + times*other`; none if numbers become too large.
    pub fn plus(&self, other: &Poly, times: i128) -> Option<Poly> {
        let small = |value: i128| (value.unsigned_abs() < LARGEST).then_some(value);
        let sum = |a: i128, b: i128| small(a.checked_add(multiplied(b, times)?)?);
        let constant = sum(self.constant, other.constant)?;
        if other.terms.is_empty() {
            return Some(Poly { constant, terms: self.terms.clone() });
        }
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (&self.terms[..], &other.terms[..]);
        while let (Some(a), Some(b)) = (left.first(), right.first()) {
            let (atom, coefficient) = match a.0.cmp(&b.0) {
                Ordering::Less => *a,
                Ordering::Greater => (b.0, sum(0, b.1)?),
                Ordering::Equal => (a.0, sum(a.1, b.1)?),
            };
            left = &left[usize::from(a.0 == atom)..];
            right = &right[usize::from(b.0 == atom)..];
            if coefficient != 0 {
                terms.push((atom, coefficient));
            }
        }
        terms.extend_from_slice(left);
        for (atom, coefficient) in right {
            let coefficient = sum(0, *coefficient)?;
            if coefficient != 0 {
                terms.push((*atom, coefficient));
            }
        }
        Some(Poly { constant, terms })
    }

    pub fn add(&self, other: &Poly) -> Option<Poly> {
        self.plus(other, 1)
    }

    pub fn sub(&self, other: &Poly) -> Option<Poly> {
        self.plus(other, -1)
    }

    pub fn add_number(&self, value: i128) -> Option<Poly> {
        self.plus(&Poly::constant(value), 1)
    }

    pub fn scale(&self, times: i128) -> Option<Poly> {
        Poly::default().plus(self, times)
    }

    /// The quotient, if all parts can be divided.
    pub fn exact_quotient(&self, by: i128) -> Option<Poly> {
        let terms = self.terms.iter().map(|t| Some((t.0, exactly(t.1, by)?)));
        Some(Poly { constant: exactly(self.constant, by)?, terms: terms.collect::<Option<_>>()? })
    }

    /// The multiples of atoms that stand in both sums.
    pub fn common(&self, other: &Poly) -> Vec<(AtomId, i128)> {
        self.terms.iter().filter(|t| other.coefficient(t.0) == t.1).copied().collect()
    }

    /// The largest number that divides all multiples of atoms; 0 without atoms.
    pub fn content(&self) -> i128 {
        self.terms.iter().fold(0, |g, t| gcd(g, t.1))
    }
}

/// A product; none if it has more than 128 bits. Nearly all factors have 64 bits, whose products are quick.
pub(super) fn multiplied(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

/// A quotient without a rest; none otherwise, or of a division by 0. Quick where numbers have 64 bits.
fn exactly(a: i128, by: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(by)) {
        (Ok(a), Ok(by)) => (a.checked_rem(by)? == 0).then(|| i128::from(a / by)),
        _ => (a.checked_rem(by)? == 0).then(|| a / by),
    }
}

pub(in crate::ptx) fn gcd(a: i128, b: i128) -> i128 {
    // Numbers of more than 64 bits are divided slowly.
    if let (Ok(mut a), Ok(mut b)) = (u64::try_from(a.unsigned_abs()), u64::try_from(b.unsigned_abs())) {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        return a.into();
    }
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
