//! How far the loads of a field reach beyond the work item along each axis: what a block or a wave has
//! to load beyond its own place.

use serde::Serialize;

use crate::expr::{Coefficient, Coord, Dim, Form, Scale, Term};
use crate::kernel::{Access, AccessKind, FieldId, Kernel, Space, Statement};

/// How far loads of a field lie apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Halo {
    /// The field.
    pub field: String,
    /// Farthest offset forwards minus farthest backwards along x, y, z; null if an index is anything but
    /// an axis and a number.
    pub reach: [Option<i64>; 3],
}

/// The halos of all global fields that are loaded through indices.
pub(super) fn halos(kernel: &Kernel) -> Vec<Halo> {
    let mut loads = Vec::new();
    collect(&kernel.body, &mut loads);
    let mut fields: Vec<FieldId> = loads.iter().map(|l| l.field).collect();
    fields.sort_unstable();
    fields.dedup();
    fields.retain(|f| kernel.field(*f).space != Space::Shared);
    let halo = |field: FieldId| {
        let of_field: Vec<&Access> = loads.iter().copied().filter(|l| l.field == field).collect();
        let name = kernel.field(field).name.clone();
        Halo { field: name, reach: Dim::ALL.map(|d| reach(&of_field, d)) }
    };
    fields.into_iter().map(halo).collect()
}

fn collect<'k>(body: &'k [Statement], out: &mut Vec<&'k Access>) {
    for statement in body {
        match statement {
            Statement::Access(access) if access.kind == AccessKind::Load => out.push(access),
            Statement::Loop(_, inner) => collect(inner, out),
            Statement::Access(_) | Statement::Sync => {}
        }
    }
}

fn reach(loads: &[&Access], d: Dim) -> Option<i64> {
    let places: Vec<(usize, i64)> = loads.iter().map(|l| offset(l, d)).collect::<Option<_>>()?;
    let &(index, _) = places.first()?;
    // An axis that is now this index, now another, has no single offset.
    if places.iter().any(|p| p.0 != index) {
        return None;
    }
    let (low, high) = (places.iter().map(|p| p.1).min()?, places.iter().map(|p| p.1).max()?);
    high.checked_sub(low)
}

/// Which index is the axis plus a number, and the number.
fn offset(load: &Access, d: Dim) -> Option<(usize, i64)> {
    let indices = load.indices.as_ref()?;
    let axis = |c: Coord| c == Coord::Axis(d);
    let mut found = indices.iter().enumerate().filter(|(_, form)| form.mentions(&axis));
    let (index, form) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    shift(form, d).map(|shift| (index, shift))
}

fn shift(form: &Form<Scale>, d: Dim) -> Option<i64> {
    let [(Term::Coord(Coord::Axis(axis)), factor)] = form.terms() else { return None };
    let plain = *axis == d && factor.as_int() == Some(1);
    plain.then(|| form.constant().as_int()).flatten()
}
