//! Warnings about a kernel that is understood but looks wrong.

use crate::expr::{Coefficient, Coord, Form, Scale};
use crate::kernel::leaf::Space;
use crate::kernel::model::{Access, Field, Kernel, RegisterRule, Statement};
use crate::space::Fold;
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
    } else if let Some(fold) = kernel.launch.folds.iter().find(|&&fold| !is_told(rules, fold)) {
        let message = format!(
            "no entry of `launch.registers` matches all launches of fold {fold}; 32 are assumed where none does"
        );
        let warning = Diagnostic::warning("registers-assumed", None, message);
        decoder.report(warning.help("add an entry with a `value` alone"));
    }
}

/// Whether the register count of each launch with a fold is told, whatever its block.
fn is_told(rules: &[RegisterRule], fold: Fold) -> bool {
    rules.iter().any(|rule| rule.threads.is_none() && rule.fold.is_none_or(|of| of == fold))
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

#[cfg(test)]
mod tests {
    use crate::kernel::load;

    /// What is said of registers in a kernel with two folds.
    fn said(registers: &str) -> Vec<String> {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields:\n  a: {{dtype: f64, shape: [64, 64, 64]}}\ndomain: {{x: 64, y: 64, z: 64}}\n\
             loads: ['a[x, y, z]']\nwork: {{flops: 1}}\nlaunch:\n  block: [[64]]\n  fold: [[1], [1, 2]]\n  \
             registers: {registers}\n"
        );
        let loaded = load("kernel", &text, &Default::default()).unwrap();
        loaded.kernels[0].warnings.iter().map(|warning| warning.message.clone()).collect()
    }

    #[test]
    fn launches_without_a_register_count_are_told() {
        assert_eq!(said("[{fold: [1], value: 22}, {fold: [1, 2], value: 32}]"), [""; 0]);
        assert_eq!(said("[{fold: [1], value: 22}, {value: 32}]"), [""; 0]);
        let message = "no entry of `launch.registers` matches all launches of fold 1x2x1; 32 are assumed where none does";
        assert_eq!(said("[{fold: [1], value: 22}]"), [message]);
        assert_eq!(said("[{fold: [1], value: 22}, {fold: [1, 2], threads: 64, value: 32}]"), [message]);
    }
}
