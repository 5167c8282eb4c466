//! Parameters, tables and axes: the names on which everything else rests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Override;
use super::symbols::Symbols;
use crate::expr::{Builtin, Environment, Expr, Kind, Table, evaluate};
use crate::kernel::document::TableDoc;
use crate::kernel::leaf::{Formula, Ordered};
use crate::kernel::model::Axis;
use crate::source::{Decoder, Diagnostic, Named, Spanned};

/// Largest size of anything, in elements or bytes.
pub(super) const MAX_SIZE: i64 = 1 << 62;

/// Resolves parameters by dependency, whatever their order in the document.
pub(super) fn resolve(
    params: Option<&Named<Formula>>,
    overrides: &[Override],
    symbols: &mut Symbols,
    decoder: &mut Decoder,
) {
    let mut pending: Vec<(&Spanned<String>, &Expr)> = Vec::new();
    for (name, formula) in params.iter().flat_map(|p| &p.0) {
        symbols.define(name, "a parameter", decoder);
        let given = overrides.iter().rev().find(|o| o.name == name.value);
        pending.push((name, given.map_or(&formula.0, |o| &o.value)));
    }
    let order: Vec<&str> = pending.iter().map(|p| p.0.value.as_str()).collect();
    let mut values: BTreeMap<&str, i64> = BTreeMap::new();
    // Each round settles every parameter whose names are known; a round without progress is a cycle
    // or an error. Failed ones count as settled so that what uses them is not reported again.
    let mut failed: Vec<&str> = Vec::new();
    while !pending.is_empty() {
        let (ready, waiting): (Vec<_>, Vec<_>) = pending.into_iter().partition(|(_, value)| {
            let needs = |n: &str| order.contains(&n) && !values.contains_key(n) && !failed.contains(&n);
            !mentions(value, &needs)
        });
        if ready.is_empty() {
            report_cycle(&waiting, decoder);
            symbols.unsure = true;
            break;
        }
        for (name, value) in ready {
            if mentions(value, &|n| failed.contains(&n)) {
                failed.push(&name.value);
                continue;
            }
            match evaluate(value, &Settled(&values)) {
                Ok(v) => drop(values.insert(&name.value, v)),
                Err(error) => {
                    decoder.report(error);
                    symbols.unsure = true;
                    failed.push(&name.value);
                }
            }
        }
        pending = waiting;
    }
    symbols.params = order.iter().filter_map(|n| values.get(n).map(|&v| ((*n).to_owned(), v))).collect();
}

struct Settled<'v>(&'v BTreeMap<&'v str, i64>);

impl Environment for Settled<'_> {
    fn name(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }

    fn builtin(&self, _: Builtin) -> Option<i64> {
        None
    }

    fn table(&self, _: &str, _: &[i64]) -> Option<i64> {
        None
    }

    fn known(&self) -> Vec<&str> {
        self.0.keys().copied().collect()
    }
}

fn report_cycle(waiting: &[(&Spanned<String>, &Expr)], decoder: &mut Decoder) {
    let names: Vec<&str> = waiting.iter().map(|w| w.0.value.as_str()).collect();
    let message = format!("the parameters {} depend on each other in a circle", names.join(", "));
    decoder.report(Diagnostic::error("cycle", waiting[0].1.span, message).help("give one of them a number"));
}

/// Whether a name for which `test` holds occurs in an expression.
fn mentions(e: &Expr, test: &dyn Fn(&str) -> bool) -> bool {
    match &e.kind {
        Kind::Name(name) => test(name),
        Kind::Int(_) | Kind::Builtin(_) => false,
        Kind::Neg(inner) | Kind::Not(inner) => mentions(inner, test),
        Kind::Call(_, a, b) => mentions(a, test) || mentions(b, test),
        Kind::Index(base, indices) => mentions(base, test) || indices.iter().any(|i| mentions(i, test)),
        Kind::Chain(first, links) => mentions(first, test) || links.iter().any(|l| mentions(&l.1, test)),
    }
}

/// Tables, whose entries may use parameters.
pub(super) fn tables(tables: Option<&Named<TableDoc>>, symbols: &mut Symbols, decoder: &mut Decoder) {
    for (name, doc) in tables.iter().flat_map(|t| &t.0) {
        symbols.define(name, "a table", decoder);
        let entries: Vec<Option<i64>> = doc.entries.iter().map(|e| value(&e.0, symbols, decoder)).collect();
        match entries.into_iter().collect() {
            Some(values) => {
                let table = Table { name: name.value.clone(), shape: doc.shape.clone(), values };
                symbols.tables.insert(name.value.clone(), Arc::new(table));
            }
            None => symbols.unsure = true,
        }
    }
}

/// The axes of the domain.
pub(super) fn axes(domain: Option<&Ordered>, symbols: &mut Symbols, decoder: &mut Decoder) {
    let Some(domain) = domain else { return };
    if domain.0.is_empty() || domain.0.len() > 3 {
        let message = format!("the domain has {} axes; one to three are possible", domain.0.len());
        let span = domain.0.get(3).map_or(symbols.span, |a| a.0.span);
        let help = "a fourth loop can be a `loop` of the body or part of an axis (x / n, x % n)";
        decoder.report(Diagnostic::error("domain", span, message).help(help));
        symbols.unsure = true;
    }
    for (name, extent) in domain.0.iter().take(3) {
        symbols.define(name, "an axis", decoder);
        let size = value(&extent.0, symbols, decoder).unwrap_or(1);
        if !(1..=MAX_SIZE).contains(&size) {
            let message = format!("the axis `{}` has {size} work items; it needs at least one", name.value);
            decoder.report(
                Diagnostic::error("domain", extent.0.span, message).maybe_help((size > 0).then(too_large)),
            );
        }
        symbols.axes.push(Axis { name: name.value.clone(), extent: size.clamp(1, MAX_SIZE) });
    }
    let items = symbols.axes.iter().try_fold(1_i64, |product, axis| product.checked_mul(axis.extent));
    if items.is_none_or(|n| n > MAX_SIZE) {
        let span = domain.0.first().map_or(symbols.span, |a| a.1.0.span);
        let error = Diagnostic::error("domain", span, "the domain has more than 2^62 work items");
        decoder.report(error.help(too_large()));
    }
}

fn too_large() -> String {
    "sizes up to 2^62 are supported".to_owned()
}

/// The constant value of an expression, or nothing after reporting why it has none.
pub(super) fn value(e: &Expr, symbols: &Symbols, decoder: &mut Decoder) -> Option<i64> {
    evaluate(e, symbols).map_err(|error| symbols.report(error, decoder)).ok()
}
