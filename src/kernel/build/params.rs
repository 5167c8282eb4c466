//! Parameters, tables and axes: the names on which everything else rests.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::Override;
use super::symbols::Symbols;
use crate::expr::{Builtin, Environment, Expr, Kind, LookupTable, evaluate};
use crate::kernel::leaf::{Formula, Ordered};
use crate::kernel::lists::TableDoc;
use crate::kernel::model::Axis;
use crate::text::{Decoder, Diagnostic, Named, some_of};

/// Largest size of anything, in elements or bytes.
pub(super) const MAX_SIZE: i64 = 1 << 62;

/// Resolves parameters by dependency, whatever their order in the document.
pub(super) fn resolve(
    params: Option<&Named<Formula>>,
    overrides: &[Override],
    symbols: &mut Symbols,
    decoder: &mut Decoder,
) {
    let mut pending: Vec<Pending<'_>> = Vec::new();
    for (name, formula) in params.iter().flat_map(|p| &p.0) {
        symbols.define(name, "a parameter", decoder);
        let given = overrides.iter().rev().find(|o| o.name == name.value);
        pending.push(Pending {
            name: &name.value,
            value: given.map_or(&formula.0, |o| &o.value),
            missing: 0,
        });
    }
    let places: HashMap<&str, usize> = pending.iter().enumerate().map(|(i, p)| (p.name, i)).collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); pending.len()];
    for (i, param) in pending.iter_mut().enumerate() {
        for_each_name(param.value, &mut |name| {
            if let Some(&used) = places.get(name) {
                users[used].push(i);
                param.missing += 1;
            }
        });
    }
    // A parameter is settled when all that it uses is. Failed ones count as settled, so that what
    // uses them is not reported again.
    let mut values: BTreeMap<&str, i64> = BTreeMap::new();
    let mut failed = vec![false; pending.len()];
    let mut ready: VecDeque<usize> = (0..pending.len()).filter(|&i| pending[i].missing == 0).collect();
    while let Some(i) = ready.pop_front() {
        if !failed[i] {
            match constant(pending[i].value, &Settled(&values), decoder) {
                Some(v) => drop(values.insert(pending[i].name, v)),
                None => failed[i] = true,
            }
        }
        symbols.unsure |= failed[i];
        for &user in &users[i] {
            failed[user] |= failed[i];
            pending[user].missing -= 1;
            if pending[user].missing == 0 {
                ready.push_back(user);
            }
        }
    }
    let waiting: Vec<&Pending<'_>> = pending.iter().filter(|p| p.missing > 0).collect();
    if !waiting.is_empty() {
        report_cycle(&waiting, decoder);
        symbols.unsure = true;
    }
    symbols.set_params(
        pending.iter().filter_map(|p| values.get(p.name).map(|&v| (p.name.to_owned(), v))).collect(),
    );
}

/// A parameter that has no value yet.
struct Pending<'d> {
    name: &'d str,
    value: &'d Expr,
    /// How often it uses parameters that are not settled.
    missing: usize,
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

    fn listed(&self) -> Option<String> {
        let names: Vec<&str> = self.0.keys().copied().collect();
        (!names.is_empty()).then(|| format!("parameters: {}", some_of(&names)))
    }
}

fn report_cycle(waiting: &[&Pending<'_>], decoder: &mut Decoder) {
    const SHOWN: usize = 20;
    let mut names: Vec<&str> = waiting.iter().take(SHOWN).map(|w| w.name).collect();
    if waiting.len() > SHOWN {
        names.push("...");
    }
    let message = format!("the parameters {} depend on each other in a circle", names.join(", "));
    decoder
        .report(Diagnostic::error("cycle", waiting[0].value.span, message).help("give one of them a number"));
}

/// Calls `found` with every name in an expression.
fn for_each_name<'e>(e: &'e Expr, found: &mut dyn FnMut(&'e str)) {
    match &e.kind {
        Kind::Name(name) => found(name),
        Kind::Int(_) | Kind::Builtin(_) => {}
        Kind::Neg(inner) | Kind::Not(inner) => for_each_name(inner, found),
        Kind::Call(_, a, b) => [a, b].into_iter().for_each(|e| for_each_name(e, found)),
        Kind::Index(base, indices) => {
            std::iter::once(&**base).chain(indices).for_each(|e| for_each_name(e, found));
        }
        Kind::Chain(first, links) => {
            std::iter::once(&**first).chain(links.iter().map(|l| &l.1)).for_each(|e| for_each_name(e, found));
        }
    }
}

/// Tables, whose entries may use parameters.
pub(super) fn tables(tables: Option<&Named<TableDoc>>, symbols: &mut Symbols, decoder: &mut Decoder) {
    for (name, doc) in tables.iter().flat_map(|t| &t.0) {
        symbols.define(name, "a table", decoder);
        let entries: Vec<Option<i64>> = doc.entries.iter().map(|e| value(&e.0, symbols, decoder)).collect();
        match entries.into_iter().collect() {
            Some(values) => {
                let table = LookupTable::new(name.value.clone(), doc.shape.clone(), values);
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
    if decoder.flooded() {
        return None;
    }
    evaluate(e, symbols).map_err(|error| symbols.report(error, decoder)).ok()
}

/// The same where only parameters are known.
fn constant(e: &Expr, settled: &Settled<'_>, decoder: &mut Decoder) -> Option<i64> {
    if decoder.flooded() {
        return None;
    }
    evaluate(e, settled).map_err(|error| decoder.report(error)).ok()
}
