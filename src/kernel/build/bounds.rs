//! Warnings about a kernel that is understood but looks wrong.

use crate::expr::{Coefficient, Coord, Form, Scale};
use crate::kernel::leaf::Space;
use crate::kernel::model::{Access, Field, Kernel, Statement};
use crate::text::{Decoder, Diagnostic};

/// Warns of fields that no access touches and of accesses that leave their field.
pub(super) fn check(kernel: &Kernel, decoder: &mut Decoder) {
    let mut accesses: Vec<Vec<&Access>> = kernel.fields.iter().map(|_| Vec::new()).collect();
    flatten(&kernel.body, &mut accesses);
    for (field, accesses) in kernel.fields.iter().zip(accesses) {
        if accesses.is_empty() && field.elements.as_int() != Some(0) {
            let message = format!("the field `{}` is never accessed", field.name);
            decoder.report(Diagnostic::warning("unused-field", None, message));
        }
        // One warning per field: what is wrong with one access is wrong with its neighbours.
        if let Some(warning) = accesses.into_iter().find_map(|a| leaves(kernel, field, a)) {
            decoder.report(warning);
        }
    }
    if kernel.work.flops.is_none() {
        let message = "no `work.flops` given; the floating-point limit is left out";
        decoder.report(Diagnostic::warning("flops-missing", None, message));
    }
    let rules = &kernel.launch.registers;
    if rules.is_empty() {
        let message = "no register count given; 32 assumed";
        decoder.report(Diagnostic::warning("registers-assumed", None, message));
    } else if rules.iter().all(|r| r.fold.is_some() || r.threads.is_some()) {
        let message = "no entry of `launch.registers` matches all launches; 32 are assumed where none does";
        let warning = Diagnostic::warning("registers-assumed", None, message);
        decoder.report(warning.help("add an entry with a `value` alone"));
    }
}

/// The accesses of each field.
fn flatten<'k>(statements: &'k [Statement], out: &mut [Vec<&'k Access>]) {
    for statement in statements {
        match statement {
            Statement::Access(access) => out[usize::from(access.field.0)].push(access),
            Statement::Loop(_, body) => flatten(body, out),
            Statement::Sync => {}
        }
    }
}

/// A warning if the access certainly leaves the field for some work item of the domain.
fn leaves(kernel: &Kernel, field: &Field, access: &Access) -> Option<Diagnostic> {
    // A condition may keep it inside; and of loops and explicit grids only an outer bound is known.
    if access.when.is_some() || kernel.guard.is_some() || field.space == Space::Shared {
        return None;
    }
    let extents = kernel.extents();
    let of = |c: Coord| match c {
        Coord::Axis(d) => Some((0, extents[d.index()] - 1)),
        _ => None,
    };
    let linear_only = std::slice::from_ref(&access.element);
    let (forms, lows, counts): (&[Form<Scale>], Vec<i64>, Vec<i64>) = match &access.indices {
        Some(indices) => {
            let counts: Option<Vec<i64>> = field.shape.iter().map(Scale::as_int).collect();
            (indices, field.halo.iter().map(|h| -h).collect(), counts?)
        }
        None => (linear_only, vec![0], vec![field.elements.as_int()?]),
    };
    for (position, ((form, low), count)) in forms.iter().zip(lows).zip(counts).enumerate() {
        let (from, to) = form.interval(&of)?;
        let last = low + count - 1;
        if from < low || to > last {
            let what = if access.indices.is_some() {
                format!("index {} ", position + 1)
            } else {
                "the offset ".into()
            };
            let message = format!(
                "{what}of this access to `{}`, `{}`, runs from {from} to {to}; the field has {low} to {last}",
                field.name,
                kernel.names().form(form),
            );
            let help = "if that is meant, give the field a larger shape or halo";
            return Some(Diagnostic::warning("out-of-bounds", Some(access.span), message).help(help));
        }
    }
    None
}
