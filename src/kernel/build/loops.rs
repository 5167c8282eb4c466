//! The program of a thread: the lists of loads, stores and atomics, or a body with loops and barriers.

use super::Budget;
use super::accesses::{Unroller, condition};
use super::address::Group;
use super::params::value;
use super::symbols::{LoopName, Symbols};
use crate::expr::{Coefficient, Cond, Coord, Expr, Form, LoopId, Range, Scale, expand_range, lower};
use crate::kernel::document::{AccessDoc, KernelDoc};
use crate::kernel::leaf::{OneOrMany, Ranges};
use crate::kernel::model::{Access, AccessKind, Field, Loop, Statement};
use crate::kernel::statements::{LoopBoundsDoc, LoopDoc, LoopRangeDoc, PartDoc, StatementDoc};
use crate::text::{Decoder, Diagnostic, Span, Spanned};

/// Most loops of a document.
const MAX_LOOPS: usize = 1000;
/// Longest list of values that is recognised as an arithmetic progression.
const MAX_LISTED: usize = 100_000;

/// The statements of a document and its loops.
pub(super) fn body(
    doc: &KernelDoc,
    symbols: &mut Symbols,
    fields: &[Field],
    budget: &mut Budget,
    decoder: &mut Decoder,
) -> (Vec<Statement>, Vec<Loop>) {
    let lists = [
        (AccessKind::Load, &doc.loads, "loads"),
        (AccessKind::Store, &doc.stores, "stores"),
        (AccessKind::Atomic, &doc.atomics, "atomics"),
    ];
    if let Some((_, _, key)) = lists.iter().find(|l| l.1.is_some() && doc.body.is_some()) {
        let message = format!("a document has a `body` or `{key}`, not both");
        decoder
            .report(Diagnostic::error("body-and-lists", doc.span, message).help("move them into the body"));
        return (Vec::new(), Vec::new());
    }
    let unread = ["body", "loads", "stores", "atomics"].iter().any(|key| doc.damaged.contains(key));
    let unroller = Unroller::new(symbols, fields, budget, decoder);
    let mut writer = Writer { unroller, loops: Vec::new() };
    let mut statements = Vec::new();
    if let Some(body) = &doc.body {
        writer.statements(body, &mut statements);
    } else {
        for (kind, accesses, _) in lists {
            for access in accesses.iter().flatten() {
                writer.listed(kind, access, &mut statements);
            }
        }
    }
    let loops = writer.loops;
    if statements.is_empty() && !unread && decoder.diagnostics.is_empty() {
        let error = Diagnostic::error("no-accesses", doc.span, "the document accesses no memory");
        decoder.report(error.help("give `loads` and `stores`, or a `body`"));
    }
    (statements, loops)
}

/// First value, last value, step and sample of a loop.
type Bounds = (Form<Scale>, Form<Scale>, Scale, Option<i64>);

struct Writer<'a> {
    unroller: Unroller<'a>,
    loops: Vec<Loop>,
}

impl Writer<'_> {
    fn group(&mut self, group: &Group<'_>, out: &mut Vec<Statement>) {
        let mut accesses: Vec<Access> = Vec::new();
        self.unroller.unroll(group, &mut accesses);
        let absent = |a: &&Access| self.unroller.fields[usize::from(a.field.0)].elements.as_int() == Some(0);
        if let Some(access) = accesses.iter().find(absent) {
            let name = &self.unroller.fields[usize::from(access.field.0)].name;
            let message = format!("`{name}` is accessed, but has no elements");
            let help = "give it a size, or leave the access out with `when`";
            return self.error("no-elements", access.span, message, help);
        }
        out.extend(accesses.into_iter().map(Statement::Access));
    }

    fn listed(&mut self, kind: AccessKind, access: &AccessDoc, out: &mut Vec<Statement>) {
        let group = match access {
            AccessDoc::At(at) => Group { variables: None, at: vec![(kind, &at.0)], width: None, when: None },
            AccessDoc::Group(g) if g.damaged.is_empty() => Group {
                variables: g.r#for.as_ref(),
                at: g.at.iter().flat_map(OneOrMany::as_slice).map(|at| (kind, &at.0)).collect(),
                width: g.width.as_ref(),
                when: g.when.as_ref(),
            },
            AccessDoc::Group(_) => return,
        };
        self.group(&group, out);
    }

    fn statements(&mut self, docs: &[StatementDoc], out: &mut Vec<Statement>) {
        for doc in docs {
            match doc {
                StatementDoc::Sync(_) => out.push(Statement::Sync),
                StatementDoc::Access(a) => {
                    let at = vec![(a.kind, &a.at.0)];
                    self.group(&Group { variables: None, at, width: None, when: None }, out);
                }
                StatementDoc::Group(g) if g.damaged.is_empty() => {
                    let at = g.at.iter().flat_map(OneOrMany::as_slice).map(|a| (a.kind, &a.at.0)).collect();
                    let (width, when) = (g.width.as_ref(), g.when.as_ref());
                    self.group(&Group { variables: g.r#for.as_ref(), at, width, when }, out);
                }
                StatementDoc::Loop(l) if l.damaged.is_empty() => self.repeat(l, out),
                StatementDoc::Part(p) if p.damaged.is_empty() => {
                    let none = Vec::new();
                    let variables = p.r#for.as_ref().map_or(&none, |v| &v.0);
                    if self.unroller.begin(variables) {
                        self.part(variables, p, out);
                    }
                }
                StatementDoc::Group(_) | StatementDoc::Loop(_) | StatementDoc::Part(_) => {}
            }
        }
    }

    /// The statements of a part for each combination of its variables, the last one fastest.
    fn part(&mut self, variables: &[(Spanned<String>, Ranges)], doc: &PartDoc, out: &mut Vec<Statement>) {
        let Some(((name, ranges), inner)) = variables.split_first() else {
            if self.holds(doc) {
                self.statements(doc.body.as_deref().unwrap_or_default(), out);
            }
            return;
        };
        let mut values = Vec::new();
        for range in &ranges.0 {
            let Some(()) = self.unroller.expand(name, range, &mut values) else { return };
            for &v in &values {
                self.unroller.symbols.unrolled.push((name.value.clone(), v));
                self.part(inner, doc, out);
                self.unroller.symbols.unrolled.pop();
            }
        }
    }

    /// Whether a part is there.
    fn holds(&mut self, doc: &PartDoc) -> bool {
        let Some(when) = &doc.when else { return true };
        match condition(&when.0, self.unroller.symbols, self.unroller.decoder) {
            Some(Cond::Const(holds)) => holds,
            Some(_) => {
                let message = format!("`{}` is not the same for all threads", when.0);
                let help = "parts are there or not by parameters; give the accesses a `when` instead";
                self.error("part", when.0.span, message, help);
                false
            }
            None => false,
        }
    }

    fn repeat(&mut self, doc: &LoopDoc, out: &mut Vec<Statement>) {
        let (Some(names), Some(body)) = (&doc.r#loop, &doc.body) else { return };
        let [(name, range)] = names.0.as_slice() else {
            let message = format!("a loop has one variable, not {}", names.0.len());
            return self.error(
                "loop",
                doc.span,
                message,
                "nest another {loop: ..., body: [...]} in its body",
            );
        };
        if !self.unroller.symbols.check(name, "a loop variable", self.unroller.decoder) {
            return;
        }
        if self.loops.len() >= MAX_LOOPS {
            return self.error(
                "too-many-loops",
                name.span,
                format!("more than {MAX_LOOPS} loops"),
                "use `for` to unroll",
            );
        }
        let Some((from, to, step, sample)) = self.range(range) else { return };
        let interval = self.interval(&from, &to, &step);
        let id = LoopId(u16::try_from(self.loops.len()).expect("at most MAX_LOOPS"));
        self.loops.push(Loop { name: name.value.clone(), from, to, step, sample });
        self.unroller.symbols.loops.push(LoopName { name: name.value.clone(), id, interval });
        let mut inner = Vec::new();
        self.statements(body, &mut inner);
        self.unroller.symbols.loops.pop();
        if !inner.is_empty() {
            out.push(Statement::Loop(id, inner));
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: String, help: &str) {
        self.unroller.decoder.report(Diagnostic::error(code, span, message).help(help));
    }

    /// First value, last value, step and sample of a loop.
    fn range(&mut self, doc: &LoopRangeDoc) -> Option<Bounds> {
        match doc {
            LoopRangeDoc::Bounds(bounds) => self.bounds(bounds),
            LoopRangeDoc::Ranges(ranges) => match ranges.value.0.as_slice() {
                [Range::Span { from, to, step }] => {
                    let step = step.as_ref().map_or(Some(Scale::int(1)), |s| self.step(s))?;
                    Some((self.bound(from)?, self.bound(to)?, step, None))
                }
                [Range::Single(e)] => {
                    let only = self.bound(e)?;
                    Some((only.clone(), only, Scale::int(1), None))
                }
                _ => self.progression(&ranges.value, ranges.span),
            },
        }
    }

    fn bounds(&mut self, doc: &LoopBoundsDoc) -> Option<Bounds> {
        let (from, to) = (doc.from.as_ref()?, doc.to.as_ref()?);
        let step = doc.step.as_ref().map_or(Some(Scale::int(1)), |s| self.step(&s.0))?;
        let sample = match &doc.sample {
            None => None,
            Some(sample) => {
                let count = value(&sample.0, self.unroller.symbols, self.unroller.decoder)?;
                if count < 1 {
                    let message = format!("a sample of {count} iterations; at least one is needed");
                    self.error(
                        "sample",
                        sample.0.span,
                        message,
                        "leave `sample` out to evaluate the whole loop",
                    );
                    return None;
                }
                Some(count)
            }
        };
        Some((self.bound(&from.0)?, self.bound(&to.0)?, step, sample))
    }

    /// Values that were listed one by one, if they are evenly spaced.
    fn progression(&mut self, ranges: &Ranges, span: Span) -> Option<Bounds> {
        let mut values = Vec::new();
        for range in &ranges.0 {
            match expand_range(range, self.unroller.symbols, MAX_LISTED) {
                Ok(more) => values.extend(more),
                Err(error) => {
                    self.unroller.symbols.report(error, self.unroller.decoder);
                    return None;
                }
            }
            if values.len() > MAX_LISTED {
                let message = format!("more than {MAX_LISTED} values");
                self.error("loop-range", span, message, "write the loop as from..to step n");
                return None;
            }
        }
        let step = match values.as_slice() {
            // Too far apart counts as uneven.
            [first, second, ..] => second.checked_sub(*first).unwrap_or(0),
            _ => 1,
        };
        let even = step != 0 && values.windows(2).all(|w| w[1].checked_sub(w[0]) == Some(step));
        let (true, Some(&first), Some(&last)) = (even, values.first(), values.last()) else {
            let message = "the values of a loop must be evenly spaced".to_owned();
            self.error("loop-range", span, message, "use `for` to unroll over a list of values");
            return None;
        };
        Some((Form::int(first), Form::int(last), Scale::int(step), None))
    }

    fn bound(&mut self, e: &Expr) -> Option<Form<Scale>> {
        self.lowered(e, no_axes)
    }

    fn step(&mut self, e: &Expr) -> Option<Scale> {
        let step = self
            .lowered(e, |_| Some("the step is the same for all threads: a number, blockDim or gridDim"))?
            .as_scale()
            .cloned()?;
        if step.as_int() == Some(0) {
            self.error("loop-step", e.span, "the step of a loop must not be 0".into(), "leave it out for 1");
            return None;
        }
        Some(step)
    }

    fn lowered(&mut self, e: &Expr, refusal: fn(Coord) -> Option<&'static str>) -> Option<Form<Scale>> {
        let symbols = &mut *self.unroller.symbols;
        symbols.refusal = Some(refusal);
        let lowered = lower(e, symbols);
        symbols.refusal = None;
        lowered.map_err(|error| self.unroller.symbols.report(error, self.unroller.decoder)).ok()
    }

    /// Where the variable lies, if the bounds tell.
    fn interval(&self, from: &Form<Scale>, to: &Form<Scale>, step: &Scale) -> Option<(i64, i64)> {
        use crate::expr::Scope;
        let of = |c| self.unroller.symbols.interval(c);
        let (from, to) = (from.interval(&of)?, to.interval(&of)?);
        let (low, high) = if step.as_int()? > 0 { (from.0, to.1) } else { (to.0, from.1) };
        (low <= high).then_some((low, high))
    }
}

fn no_axes(coord: Coord) -> Option<&'static str> {
    matches!(coord, Coord::Axis(_))
        .then_some("loop bounds may use threads and blocks (tidx, blockIdx.x), not work items")
}
