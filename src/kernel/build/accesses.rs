//! Accesses: unrolling over `for`, splitting pointer form, lowering.

use std::sync::Arc;

use super::Budget;
use super::address::{Address, Anywhere, Group, is_axis, split};
use super::fields::linear;
use super::params::value;
use super::symbols::Symbols;
use super::template::Template;
use super::visits::Visits;
use crate::expr::{
    Cond, Expr, Form, Kind, Range, Scale, Scope, SharedTerms, append_range, expand_range, lower,
    lower_condition,
};
use crate::kernel::leaf::Ranges;
use crate::kernel::model::{Access, AccessKind, Field, Statement};
use crate::text::{Decoder, Diagnostic, Fault, Span, Spanned, nearest};

/// Largest width of one access in bytes.
const MAX_WIDTH: i64 = 1 << 20;

/// Combinations of a `for` that are tried once an error was found.
const TRIED: usize = 1000;
/// Most variables of one `for`.
const MAX_VARIABLES: usize = 64;

/// A linear element and, in array form, its indices.
type Element = (Form<Scale>, Option<Arc<[Form<Scale>]>>);

/// Unrolls groups into accesses.
pub(super) struct Unroller<'a> {
    pub symbols: &'a mut Symbols,
    pub fields: &'a [Field],
    pub budget: &'a mut Budget,
    pub decoder: &'a mut Decoder,
    /// The budget was overdrawn, and that reported.
    pub overdrawn: bool,
    /// Combinations that this group may still try.
    pub left: usize,
    shared: SharedTerms<Scale>,
    visits: Visits,
    /// What to put into templates, kept for the next one.
    values: Vec<i64>,
}

impl<'a> Unroller<'a> {
    pub fn new(
        symbols: &'a mut Symbols,
        fields: &'a [Field],
        budget: &'a mut Budget,
        decoder: &'a mut Decoder,
    ) -> Self {
        let (shared, visits) = (SharedTerms::new(), Visits::default());
        Self {
            symbols,
            fields,
            budget,
            decoder,
            overdrawn: false,
            left: 0,
            shared,
            visits,
            values: Vec::new(),
        }
    }

    /// Appends every access of a group: each combination of the variables, the last one fastest.
    pub fn unroll(&mut self, group: &Group<'_>, out: &mut Vec<Access>) {
        let none = Vec::new();
        let variables = group.variables.map_or(&none, |v| &v.0);
        if !self.begin(variables) {
            return;
        }
        // What is clearly too much need not be tried; ranges that depend on each other are not clear.
        let combinations = variables.iter().map(|(_, ranges)| self.values(ranges));
        let expected = combinations.fold(group.at.len(), usize::saturating_mul);
        if let Some((_, at)) = group.at.first()
            && expected > self.budget.accesses
            && !self.take(expected, 0, at.span)
        {
            return;
        }
        self.nest(variables, group, out);
    }

    /// Whether variables may be unrolled over.
    pub fn begin(&mut self, variables: &[(Spanned<String>, Ranges)]) -> bool {
        // A broken document is unrolled only to find more that is wrong with it.
        self.left = if self.decoder.failed() { TRIED } else { usize::MAX };
        if self.exhausted() {
            return false;
        }
        if variables.len() > MAX_VARIABLES {
            let message = format!("{} variables; at most {MAX_VARIABLES} are unrolled", variables.len());
            let span = variables[MAX_VARIABLES].0.span;
            self.decoder.report(Diagnostic::error("too-many-variables", span, message));
            return false;
        }
        for (name, _) in variables {
            if !self.symbols.check(name, "a variable", self.decoder) {
                return false;
            }
        }
        true
    }

    /// Puts the values of a range of a variable in the place of others; nothing where there is no use in going on.
    pub fn expand(&mut self, name: &Spanned<String>, range: &Range, values: &mut Vec<i64>) -> Option<()> {
        if self.exhausted() {
            return None;
        }
        values.clear();
        match append_range(range, self.symbols, self.budget.accesses, values) {
            Ok(()) => self.take(0, range.size() + values.len(), name.span).then_some(()),
            Err(error) => {
                let limited = error.code == "range-too-long";
                let help = limited.then(|| "raise it with --limit accesses=N if this is meant".to_owned());
                self.symbols.report(error.maybe_help(help), self.decoder);
                None
            }
        }
    }

    /// Number of values of a variable, 1 where that is not known beforehand. What comes after too many
    /// is not looked at.
    fn values(&self, ranges: &Ranges) -> usize {
        let mut values = 0_usize;
        for range in &ranges.0 {
            if values > self.budget.accesses {
                break;
            }
            values += expand_range(range, self.symbols, self.budget.accesses).map_or(1, |v| v.len());
        }
        values
    }

    fn nest(&mut self, variables: &[(Spanned<String>, Ranges)], group: &Group<'_>, out: &mut Vec<Access>) {
        let Some(((name, ranges), inner)) = variables.split_first() else {
            return self.combination(group, out);
        };
        let place = self.symbols.unrolled.len();
        let (mut own, mut values) = (None, Vec::new());
        for range in &ranges.0 {
            let Some(()) = self.expand(name, range, &mut values) else { return };
            let own_name = own.take().unwrap_or_else(|| name.value.clone());
            self.symbols.unrolled.push((own_name, 0));
            for &v in &values {
                self.symbols.unrolled[place].1 = v;
                self.nest(inner, group, out);
                if self.exhausted() {
                    break;
                }
            }
            own = self.symbols.unrolled.pop().map(|(name, _)| name);
            if self.exhausted() {
                return;
            }
        }
    }

    fn exhausted(&self) -> bool {
        self.left == 0 || self.overdrawn || self.decoder.diagnostics.len() > Fault::MOST
    }

    /// Takes from the budget, or reports that there is not enough.
    fn take(&mut self, accesses: usize, steps: usize, span: Span) -> bool {
        if !self.overdrawn && !self.budget.take(accesses, steps) {
            self.overdrawn = true;
            let message = "the document expands to more accesses than the limit allows";
            let help = "raise it with --limit accesses=N if this is meant";
            self.decoder.report(Diagnostic::error("too-many-accesses", span, message).help(help));
        }
        !self.overdrawn
    }

    /// The accesses of one combination of the variables.
    fn combination(&mut self, group: &Group<'_>, out: &mut Vec<Access>) {
        let known = self.visits.known(group, self.symbols, self.fields, &mut self.values);
        if known.is_some_and(|templates| self.moved(group, &templates, out)) {
            return;
        }
        let before = out.len();
        self.emit(group, out);
        if !self.decoder.failed() {
            self.visits.remember(group, &out[before..], self.symbols);
        }
    }

    /// The same, of a group whose accesses are understood; whether that is possible.
    fn moved(&mut self, group: &Group<'_>, templates: &[Template], out: &mut Vec<Access>) -> bool {
        let before = out.len();
        for template in templates {
            let Ok(access) = template.at(&self.values) else {
                out.truncate(before);
                return false;
            };
            out.push(access);
        }
        let mut taken = 0;
        if self.begins(group) {
            let steps = |(template, access): (&Template, &Access)| template.steps(access);
            let each = templates.iter().zip(&out[before..]).map(steps).zip(&group.at);
            taken = each.take_while(|(steps, (_, at))| self.take(1, *steps, at.span)).count();
        }
        out.truncate(before + taken);
        true
    }

    /// Takes what a combination takes before its accesses.
    fn begins(&mut self, group: &Group<'_>) -> bool {
        self.left -= 1;
        let shared = [group.when, group.width].into_iter().flatten().map(|f| f.0.size()).sum::<usize>();
        match group.at.first() {
            Some((_, at)) => self.take(0, shared, at.span),
            None => true,
        }
    }

    fn emit(&mut self, group: &Group<'_>, out: &mut Vec<Access>) {
        if !self.begins(group) {
            return;
        }
        let when = match group.when.map(|w| condition(&w.0, self.symbols, self.decoder)) {
            Some(None) => return,
            Some(Some(Cond::Const(true))) | None => None,
            Some(other) => other,
        };
        for &(kind, at) in &group.at {
            if self.decoder.flooded() || !self.take(1, at.size(), at.span) {
                return;
            }
            let access = self.access(kind, at, group, when.clone());
            let Some(access) = access.filter(|_| when != Some(Cond::Const(false))) else { continue };
            // What is made is also kept, and weighs more than what it took to make it.
            let made = access.size();
            if !self.take(0, 2 * made, at.span) {
                return;
            }
            out.push(access);
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
        let element = self.shared.share(element);
        let axis = |name: &str| self.symbols.axes.iter().any(|a| a.name == name);
        let by_item = at.mentions(&axis) || group.when.is_some_and(|w| w.0.mentions(&axis));
        let per_item_address = element.mentions(&is_axis) || (at.mentions(&axis) && self.varies(&address));
        Some(Access {
            kind,
            field: id,
            element,
            indices,
            width,
            when,
            by_item,
            per_item_address,
            span: at.span,
        })
    }

    /// Whether an address that the extents of the domain make the same for all work items is written as one
    /// of work items, which do not cancel.
    fn varies(&self, address: &Address<'_>) -> bool {
        let parts = match address {
            Address::Pointer { offset, .. } => std::slice::from_ref(offset),
            Address::Array { indices, .. } => indices,
        };
        let anywhere = Anywhere(self.symbols);
        parts.iter().any(|e| lower(e, &anywhere).is_ok_and(|form| form.mentions(&is_axis)))
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
                        "`{at}` has {}, the field `{}` has {} dimensions",
                        if indices.len() == 1 {
                            "1 index".to_owned()
                        } else {
                            format!("{} indices", indices.len())
                        },
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
            Some(name) if self.symbols.resolve(name).is_none() => {
                format!("there is no field `{}`", crate::text::shorten(name))
            }
            _ => format!("`{}` accesses no field", crate::text::shorten(&at.to_string())),
        };
        self.decoder.report(Diagnostic::error("not-an-access", at.span, message).help(help));
    }
}

/// Accesses of a body, each counted once.
pub(super) fn count(body: &[Statement]) -> usize {
    let one = |s: &Statement| match s {
        Statement::Loop(_, inner) => count(inner),
        Statement::Access(_) => 1,
        Statement::Sync => 0,
    };
    body.iter().map(one).sum()
}

/// Marks the fields that a body accesses.
pub(super) fn used(body: &[Statement], fields: &mut [bool]) {
    for statement in body {
        match statement {
            Statement::Loop(_, inner) => used(inner, fields),
            Statement::Access(access) => fields[usize::from(access.field.0)] = true,
            Statement::Sync => {}
        }
    }
}

/// A condition, or nothing after reporting what is wrong with it.
pub(super) fn condition(e: &Expr, symbols: &Symbols, decoder: &mut Decoder) -> Option<Cond<Scale>> {
    lower_condition(e, symbols).map_err(|error| symbols.report(error, decoder)).ok()
}
