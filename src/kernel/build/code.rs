//! What a document says of its code: names resolved, sizes computed, so that whoever reads it needs no document.

use super::Override;
use super::launch::asked;
use super::params::{self, value};
use super::symbols::Symbols;
use crate::expr::{Expr, Kind, Op};
use crate::kernel::code::{ArgumentDoc, CodeDoc, CodeField, CodeGrid, CodeRequest};
use crate::kernel::document::KernelDoc;
use crate::kernel::leaf::{Formula, Number, OneOrMany, Space};
use crate::kernel::limits::Limits;
use crate::space::Domain;
use crate::text::{Decoder, Diagnostic, Named, Span, Spanned};

/// The code that a document wants read, or nothing after reporting why it cannot be.
pub(in crate::kernel) fn request(
    doc: &KernelDoc,
    overrides: &[Override],
    limits: Limits,
    decoder: &mut Decoder,
) -> Option<CodeRequest> {
    let code = doc.code.as_ref()?;
    refuse_others(doc, code, decoder);
    let mut symbols = Symbols::new(doc.span);
    params::resolve(doc.params.as_ref(), overrides, &mut symbols, decoder);
    params::tables(doc.tables.as_ref(), &mut symbols, decoder);
    params::axes(doc.domain.as_ref(), &mut symbols, decoder);
    symbols.threads_follow_domain = doc.launch.as_ref().is_none_or(|l| l.grid.is_none());
    let fields = super::fields::build(doc.fields.as_ref(), &mut symbols, decoder);
    let given = asked(doc.launch.as_ref(), &symbols, limits, decoder);
    let mut domain = [1; 3];
    for (extent, axis) in domain.iter_mut().zip(&symbols.axes) {
        *extent = axis.extent;
    }
    let known = fields.iter().filter(|f| f.space == Space::Global);
    let known = known.filter_map(|f| {
        let element = u64::try_from(f.dtype.bytes).ok()?;
        let elements = u64::try_from(crate::expr::Coefficient::as_int(&f.elements)?).ok()?;
        Some(CodeField { name: f.name.clone(), element, bytes: elements.checked_mul(element)? })
    });
    let known: Vec<CodeField> = known.collect();
    let args: Vec<Option<Spanned<String>>> = code
        .args
        .iter()
        .flat_map(|args| &args.0)
        .map(|(name, given)| {
            let text = argument(&given.value, &symbols, doc.fields.is_some(), decoder)?;
            Some(Spanned { value: format!("{name}={text}"), span: given.span })
        })
        .collect();
    let trips = lines(code.trips.as_ref(), decoder, |formula: &Formula, decoder| {
        value(&formula.0, &symbols, decoder).map(|n| n.to_string())
    });
    let branch = lines(code.branch.as_ref(), decoder, |number: &Number, decoder| match number {
        Number::Float(share) => Some(share.to_string()),
        Number::Formula(Formula(e)) => value(e, &symbols, decoder).map(|n| n.to_string()),
    });
    let assume = lines(code.assume.as_ref(), decoder, |text: &String, _| Some(text.clone()));
    let given = given?;
    if decoder.failed() || !code.damaged.is_empty() {
        return None;
    }
    let texts = doc
        .launch
        .as_ref()
        .and_then(|l| l.grid.as_ref())
        .map_or(Vec::new(), |grid| grid.as_slice().iter().map(|formula| formula.0.to_string()).collect());
    let grid_span = doc.launch.as_ref().map_or(doc.span, |l| l.span);
    Some(CodeRequest {
        span: code.span,
        ptx: code.ptx.as_ref().map(OneOrMany::as_slice)?.to_vec(),
        entry: code.entry.clone(),
        args: args.into_iter().collect::<Option<_>>()?,
        trips: joined(&trips, "="),
        branch: joined(&branch, "="),
        assume: joined(&assume, ": "),
        blocks: given.blocks.map(|rule| rule.blocks().collect()),
        shared: given.shared,
        grid: given.grid.map(|extents| CodeGrid { extents, texts, span: grid_span }),
        domain: doc.domain.as_ref().map(|_| Domain::known(domain)),
        fields: known,
    })
}

/// Reports what says the same as the code.
fn refuse_others(doc: &KernelDoc, code: &CodeDoc, decoder: &mut Decoder) {
    let others = [
        ("loads", doc.loads.is_some()),
        ("stores", doc.stores.is_some()),
        ("atomics", doc.atomics.is_some()),
        ("body", doc.body.is_some()),
        ("guard", doc.guard.is_some()),
    ];
    if let Some((key, _)) = others.iter().find(|o| o.1) {
        let message = format!("a document has `code` or `{key}`, not both");
        let help = "what threads touch is read from the code; leave one of them out";
        decoder.report(Diagnostic::error("code-and-accesses", code.span, message).help(help));
    }
}

/// A value as arguments of an entry are written.
fn argument(
    given: &ArgumentDoc,
    symbols: &Symbols,
    fields_given: bool,
    decoder: &mut Decoder,
) -> Option<String> {
    match given {
        ArgumentDoc::Fraction(text) | ArgumentDoc::Text(text) => Some(text.clone()),
        ArgumentDoc::Formula(e) => {
            let Some((name, rest)) = field(e, symbols, fields_given) else {
                return value(e, symbols, decoder).map(|n| n.to_string());
            };
            let offset = rest.map_or(Some(0), |rest| value(&rest, symbols, decoder))?;
            Some(if offset == 0 { name } else { format!("{name}+{offset}") })
        }
    }
}

/// The field of a sum, and the rest of it. A document that lists no fields has those that its arguments name.
fn field(e: &Expr, symbols: &Symbols, fields_given: bool) -> Option<(String, Option<Expr>)> {
    let is_field = |name: &String| {
        let param = symbols.params.iter().any(|p| p.0 == *name) || symbols.tables.contains_key(name);
        symbols.fields.contains_key(name) || (!fields_given && !param)
    };
    match &e.kind {
        Kind::Name(name) if is_field(name) => Some((name.clone(), None)),
        Kind::Chain(first, links) if links.iter().all(|l| matches!(l.0, Op::Add | Op::Sub)) => {
            let zero = |span: Span| Expr { kind: Kind::Int(0), span };
            if let Kind::Name(name) = &first.kind
                && is_field(name)
            {
                let kind = Kind::Chain(Box::new(zero(first.span)), links.clone());
                return Some((name.clone(), Some(Expr { kind, span: e.span })));
            }
            let at = links.iter().position(|(op, link)| {
                *op == Op::Add && matches!(&link.kind, Kind::Name(name) if symbols.fields.contains_key(name))
            })?;
            let Kind::Name(name) = &links[at].1.kind else { return None };
            let mut links = links.clone();
            links[at].1 = zero(e.span);
            let kind = Kind::Chain(first.clone(), links);
            Some((name.clone(), Some(Expr { kind, span: e.span })))
        }
        _ => None,
    }
}

/// What is said by lines, with the lines as numbers.
fn lines<T>(
    named: Option<&Named<T>>,
    decoder: &mut Decoder,
    mut text: impl FnMut(&T, &mut Decoder) -> Option<String>,
) -> Vec<(u32, String)> {
    let mut out = Vec::new();
    for (line, said) in named.iter().flat_map(|n| &n.0) {
        if let Ok(number) = line.value.trim().parse() {
            out.extend(text(said, decoder).map(|text| (number, text)));
        } else {
            let message = format!("`{}` is no line of PTX", crate::text::shorten(&line.value));
            let error = Diagnostic::error("code-line", line.span, message);
            decoder.report(error.help("lines are counted from 1: for example `trips: {44: 100}`"));
        }
    }
    out
}

fn joined(all: &[(u32, String)], between: &str) -> Vec<String> {
    all.iter().map(|(line, text)| format!("{line}{between}{text}")).collect()
}
