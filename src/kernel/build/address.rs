//! Accesses as they are written, and taken apart.

use super::symbols::Symbols;
use crate::expr::{Binding, Coord, Expr, Kind, Op, Scope};
use crate::kernel::leaf::{Formula, Ranges};
use crate::kernel::model::AccessKind;
use crate::text::Named;

/// Addresses with what they share.
pub(super) struct Group<'d> {
    /// Variables to unroll over.
    pub variables: Option<&'d Named<Ranges>>,
    /// The addresses and what is done there.
    pub at: Vec<(AccessKind, &'d Expr)>,
    /// Bytes touched.
    pub width: Option<&'d Formula>,
    /// Only where this holds.
    pub when: Option<&'d Formula>,
}

/// An access taken apart.
pub(super) enum Address<'e> {
    Array { field: &'e str, indices: &'e [Expr] },
    Pointer { field: String, offset: Expr },
}

impl Address<'_> {
    pub fn field(&self) -> &str {
        match self {
            Address::Array { field, .. } => field,
            Address::Pointer { field, .. } => field,
        }
    }
}

pub(super) fn split<'e>(at: &'e Expr, symbols: &Symbols) -> Option<Address<'e>> {
    if let Kind::Index(base, indices) = &at.kind {
        let Kind::Name(field) = &base.kind else { return None };
        return symbols.fields.contains_key(field).then_some(Address::Array { field, indices });
    }
    let mut offset = at.clone();
    let field = take_base(&mut offset, symbols)?;
    Some(Address::Pointer { field, offset })
}

/// Replaces the field in a sum by 0 and returns its name.
fn take_base(e: &mut Expr, symbols: &Symbols) -> Option<String> {
    match &mut e.kind {
        Kind::Name(name) if symbols.fields.contains_key(name) => {
            let name = std::mem::take(name);
            e.kind = Kind::Int(0);
            Some(name)
        }
        Kind::Chain(first, links) if links.iter().all(|l| matches!(l.0, Op::Add | Op::Sub)) => {
            let added = links.iter_mut().filter(|l| l.0 == Op::Add).map(|l| &mut l.1);
            std::iter::once(&mut **first).chain(added).find_map(|operand| take_base(operand, symbols))
        }
        _ => None,
    }
}

/// Whether a coordinate is that of a work item.
pub(super) fn is_axis(coord: Coord) -> bool {
    matches!(coord, Coord::Axis(_))
}

/// The same names, where nothing is known of how far the domain reaches.
pub(super) struct Anywhere<'s>(pub &'s Symbols);

impl Scope for Anywhere<'_> {
    fn resolve(&self, name: &str) -> Option<Binding> {
        self.0.resolve(name)
    }

    fn interval(&self, coord: Coord) -> Option<(i64, i64)> {
        if is_axis(coord) { None } else { self.0.interval(coord) }
    }

    // `x % N` is written as an address of work items, however small N happens to be.
    fn modulus(&self, _: i64) -> i64 {
        i64::from(u32::MAX)
    }

    fn known(&self) -> Vec<&str> {
        self.0.known()
    }

    fn listed(&self) -> Option<String> {
        self.0.listed()
    }
}
