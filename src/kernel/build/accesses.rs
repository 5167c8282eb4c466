//! Accesses: unrolling over `for`, splitting pointer form, lowering.

use std::sync::Arc;

use super::Budget;
use super::fields::linear;
use super::params::value;
use super::symbols::Symbols;
use crate::expr::{Cond, Expr, Form, Kind, Op, Scale, expand_range, lower, lower_condition};
use crate::kernel::leaf::{Formula, Ranges};
use crate::kernel::model::{Access, AccessKind, Field};
use crate::source::{Decoder, Diagnostic, Fault, Named, Spanned, nearest};

/// Largest width of one access in bytes.
const MAX_WIDTH: i64 = 1 << 20;

/// A linear element and, in array form, its indices.
type Element = (Form<Scale>, Option<Arc<[Form<Scale>]>>);

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

/// Unrolls groups into accesses.
pub(super) struct Unroller<'a> {
    pub symbols: &'a mut Symbols,
    pub fields: &'a [Field],
    pub budget: &'a mut Budget,
    pub decoder: &'a mut Decoder,
}

impl Unroller<'_> {
    /// Appends every access of a group: each combination of the variables, the last one fastest.
    pub fn unroll(&mut self, group: &Group<'_>, out: &mut Vec<Access>) {
        let none = Vec::new();
        let variables = group.variables.map_or(&none, |v| &v.0);
        for (name, _) in variables {
            if !self.symbols.check(name, "a variable", self.decoder) {
                return;
            }
        }
        self.nest(variables, group, out);
    }

    fn nest(&mut self, variables: &[(Spanned<String>, Ranges)], group: &Group<'_>, out: &mut Vec<Access>) {
        let Some(((name, ranges), inner)) = variables.split_first() else {
            return self.emit(group, out);
        };
        for range in &ranges.0 {
            let values = match expand_range(range, self.symbols, self.budget.accesses) {
                Ok(values) => values,
                Err(error) => {
                    let limited = error.code == "range-too-long";
                    let help =
                        limited.then(|| "raise it with --limit accesses=N if this is meant".to_owned());
                    self.symbols.report(error.maybe_help(help), self.decoder);
                    return;
                }
            };
            for v in values {
                self.symbols.unrolled.push((name.value.clone(), v));
                self.nest(inner, group, out);
                self.symbols.unrolled.pop();
                if self.exhausted() {
                    return;
                }
            }
        }
    }

    fn exhausted(&self) -> bool {
        self.budget.accesses == 0 || self.decoder.diagnostics.len() > Fault::MOST
    }

    fn emit(&mut self, group: &Group<'_>, out: &mut Vec<Access>) {
        let when = match group.when.map(|w| condition(&w.0, self.symbols, self.decoder)) {
            Some(None) => return,
            Some(Some(Cond::Const(true))) | None => None,
            Some(other) => other,
        };
        for &(kind, at) in &group.at {
            if self.budget.accesses == 0 {
                return;
            }
            self.budget.accesses -= 1;
            if self.budget.accesses == 0 {
                let message = "the document expands to more accesses than the limit allows";
                let help = "raise it with --limit accesses=N if this is meant";
                self.decoder.report(Diagnostic::error("too-many-accesses", at.span, message).help(help));
                return;
            }
            let access = self.access(kind, at, group, when.clone());
            out.extend(access.filter(|_| when != Some(Cond::Const(false))));
        }
    }

    fn access(
        &mut self,
        kind: AccessKind,
        at: &Expr,
        group: &Group<'_>,
        when: Option<Cond<Scale>>,
    ) -> Option<Access> {
        let Some(address) = split(at, self.symbols) else {
            self.not_an_access(at);
            return None;
        };
        let id = *self.symbols.fields.get(address.field())?;
        let field = self.fields.get(usize::from(id.0))?;
        let width = match group.width {
            None => field.dtype.bytes,
            Some(formula) => {
                let width = value(&formula.0, self.symbols, self.decoder)?;
                if !(1..=MAX_WIDTH).contains(&width) {
                    let message = format!("an access of {width} bytes; 1 to {MAX_WIDTH} are possible");
                    self.decoder.report(Diagnostic::error("width", formula.0.span, message));
                    return None;
                }
                width
            }
        };
        let (element, indices) = self.element(&address, field, at)?;
        Some(Access { kind, field: id, element, indices, width, when, span: at.span })
    }

    fn element(&mut self, address: &Address<'_>, field: &Field, at: &Expr) -> Option<Element> {
        match address {
            Address::Pointer { offset, .. } => Some((self.lowered(offset)?, None)),
            Address::Array { indices, .. } => {
                // A stand-in for a field that could not be understood has no shape to compare with.
                if field.shape.is_empty() {
                    return None;
                }
                if indices.len() != field.shape.len() {
                    let message = format!(
                        "`{at}` has {} indices, the field `{}` has {} dimensions",
                        indices.len(),
                        field.name,
                        field.shape.len()
                    );
                    self.decoder.report(
                        Diagnostic::error("rank", at.span, message).help("give one index per dimension"),
                    );
                    return None;
                }
                let lowered: Vec<Option<Form<Scale>>> = indices.iter().map(|i| self.lowered(i)).collect();
                let lowered: Vec<Form<Scale>> = lowered.into_iter().collect::<Option<_>>()?;
                match linear(field, &lowered) {
                    Ok(element) => Some((element, Some(lowered.into()))),
                    Err(excess) => {
                        let message = format!("the address of `{at}` cannot be computed: {excess}");
                        self.decoder.report(Diagnostic::error("overflow", at.span, message));
                        None
                    }
                }
            }
        }
    }

    fn lowered(&mut self, e: &Expr) -> Option<Form<Scale>> {
        lower(e, self.symbols).map_err(|error| self.symbols.report(error, self.decoder)).ok()
    }

    fn not_an_access(&mut self, at: &Expr) {
        if self.symbols.unsure {
            return;
        }
        let fields = self.symbols.fields.keys().map(String::as_str);
        let base = match &at.kind {
            Kind::Index(base, _) => base,
            Kind::Chain(first, _) => first,
            _ => at,
        };
        let name = if let Kind::Name(name) = &base.kind { Some(name) } else { None };
        let near = name.and_then(|n| nearest(n, fields.clone())).map(|n| format!("did you mean `{n}`?"));
        let known: Vec<&str> = fields.collect();
        let help = near.unwrap_or_else(|| {
            format!("write `field[index, ...]` or `field + offset`; fields: {}", known.join(", "))
        });
        let message = match name {
            Some(name) if crate::expr::Scope::resolve(self.symbols, name).is_none() => {
                format!("there is no field `{}`", crate::source::shorten(name))
            }
            _ => format!("`{}` accesses no field", crate::source::shorten(&at.to_string())),
        };
        self.decoder.report(Diagnostic::error("not-an-access", at.span, message).help(help));
    }
}

/// A condition, or nothing after reporting what is wrong with it.
pub(super) fn condition(e: &Expr, symbols: &Symbols, decoder: &mut Decoder) -> Option<Cond<Scale>> {
    lower_condition(e, symbols).map_err(|error| symbols.report(error, decoder)).ok()
}

/// An access taken apart.
enum Address<'e> {
    Array { field: &'e str, indices: &'e [Expr] },
    Pointer { field: String, offset: Expr },
}

impl Address<'_> {
    fn field(&self) -> &str {
        match self {
            Address::Array { field, .. } => field,
            Address::Pointer { field, .. } => field,
        }
    }
}

fn split<'e>(at: &'e Expr, symbols: &Symbols) -> Option<Address<'e>> {
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
