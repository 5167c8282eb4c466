//! Warnings about a kernel that is understood but looks wrong.

use crate::expr::{Coefficient, Coord, Form, Scale};
use crate::kernel::model::{Access, Kernel, Loop, RegisterRule, Statement};
use crate::kernel::outside::Outside;
use crate::space::Fold;
use crate::text::{Decoder, Diagnostic};

/// Warns of fields that no access touches and of accesses that leave their field.
pub(super) fn check(kernel: &Kernel, decoder: &mut Decoder) {
    let mut accesses: Vec<Vec<Found<'_>>> = kernel.fields.iter().map(|_| Vec::new()).collect();
    flatten(kernel, &kernel.body, true, &mut accesses);
    for (field, accesses) in kernel.fields.iter().zip(accesses) {
        if accesses.is_empty() && field.elements.as_int() != Some(0) {
            let message = format!("the field `{}` is never accessed", field.name);
            decoder.report(Diagnostic::warning("unused-field", None, message));
        }
        // One warning per field: what is wrong with one access is wrong with its neighbours.
        if let Some(warning) = accesses.into_iter().find_map(|found| leaves(kernel, found)) {
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

/// The accesses of which launches tell whether they leave their field: those by numbers of threads and blocks.
pub(super) fn by_threads(kernel: &Kernel) -> Vec<Access> {
    let mut accesses: Vec<Vec<Found<'_>>> = kernel.fields.iter().map(|_| Vec::new()).collect();
    flatten(kernel, &kernel.body, true, &mut accesses);
    let is_item = |coord| matches!(coord, Coord::Axis(_));
    let depends = |found: &Found<'_>| {
        !found.access.element.mentions(&is_item)
            && leaves(kernel, *found).is_none()
            && found.is_certain(kernel)
    };
    accesses.into_iter().flatten().filter(depends).map(|found| found.access.clone()).collect()
}

/// An access, and whether the loops around it certainly run.
#[derive(Clone, Copy)]
struct Found<'k> {
    access: &'k Access,
    in_run: bool,
}

impl Found<'_> {
    /// Whether it is certainly made, by each work item or thread: a condition may keep others inside.
    fn is_certain(&self, kernel: &Kernel) -> bool {
        self.in_run && self.access.when.is_none() && kernel.guard.is_none()
    }
}

/// The accesses of each field.
fn flatten<'k>(kernel: &'k Kernel, statements: &'k [Statement], in_run: bool, out: &mut [Vec<Found<'k>>]) {
    for statement in statements {
        match statement {
            Statement::Access(access) => out[usize::from(access.field.0)].push(Found { access, in_run }),
            Statement::Loop(id, body) => {
                let runs = iterations(&kernel.loops[usize::from(id.0)]).is_some();
                flatten(kernel, body, in_run && runs, out);
            }
            Statement::Sync => {}
        }
    }
}

/// The first and last value of a loop that has the same in every thread and launch.
fn iterations(of: &Loop) -> Option<(i64, i64)> {
    let (from, to, step) = (of.from.as_constant()?, of.to.as_constant()?, of.step.as_int()?);
    let further = to.checked_sub(from).filter(|&further| step > 0 && further >= 0)?;
    Some((from, to - further % step))
}

/// A warning if the access certainly leaves the field for some work item of the domain.
fn leaves(kernel: &Kernel, found: Found<'_>) -> Option<Diagnostic> {
    if !found.is_certain(kernel) {
        return None;
    }
    let extents = kernel.extents();
    let of = |coord: Coord| match coord {
        Coord::Axis(d) => Some((0, extents[d.index()] - 1)),
        Coord::Loop(id) => iterations(&kernel.loops[usize::from(id.0)]),
        _ => None,
    };
    let in_loop = |coord| matches!(coord, Coord::Loop(_));
    let interval = |form: &Form<Scale>| {
        // With loops, other forms may lie in a part of their intervals only.
        if !form.is_affine() && form.mentions(&in_loop) {
            return None;
        }
        form.interval(&of)
    };
    let outside = Outside::find(kernel, found.access, &interval, &Scale::as_int)?;
    let help = "if that is meant, give the field a larger shape or halo";
    Some(Diagnostic::warning("out-of-bounds", Some(found.access.span), outside.told(kernel)).help(help))
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
