//! Lowering a syntax tree to a quasi-affine form: names are resolved, constants folded, products of
//! coordinates refused.

use std::sync::Arc;

use super::ast::{Builtin, Expr, Func, Kind, Op};
use super::cond::Cond;
use super::eval::{bad_divisor, not_a_condition, not_an_integer, overflow, shift_factor, unknown_name};
use super::form::{Coefficient, Coord, Excess, Form, LookupTable, Term};
use super::scale::{LaunchAtom, Scale};
use crate::text::Diagnostic;

/// What a name of the document stands for.
#[derive(Debug, Clone)]
pub enum Binding {
    /// A known integer: a parameter or the variable of a `for`.
    Value(i64),
    /// A coordinate: an axis or a loop variable.
    Coord(Coord),
    /// A table.
    Table(Arc<LookupTable>),
    /// A field: its address is not a number.
    Field,
}

/// What the names mean where an expression stands.
pub trait Scope {
    /// The meaning of a name.
    fn resolve(&self, name: &str) -> Option<Binding>;
    /// The interval in which a coordinate lies wherever the expression is used.
    fn interval(&self, coord: Coord) -> Option<(i64, i64)>;
    /// Whether a coordinate may be used here; if not, why and what to do.
    fn refuse(&self, coord: Coord) -> Option<&'static str> {
        let _ = coord;
        None
    }
    /// What stands for the divisor of a remainder.
    fn modulus(&self, divisor: i64) -> i64 {
        divisor
    }
    /// Names worth suggesting.
    fn known(&self) -> Vec<&str>;
    /// What names there are, by kind, for somebody who used another.
    fn listed(&self) -> Option<String> {
        None
    }
}

type Lowered<T> = Result<T, Diagnostic>;

/// Lowers an integer expression.
pub fn lower(e: &Expr, scope: &dyn Scope) -> Lowered<Form<Scale>> {
    match &e.kind {
        Kind::Int(n) => Ok(Form::int(*n)),
        Kind::Name(name) => lower_name(e, name, scope),
        Kind::Builtin(builtin) => lower_builtin(e, *builtin, scope),
        Kind::Index(base, indices) => lower_lookup(e, base, indices, scope),
        Kind::Call(function, a, b) => {
            let (a, b) = (lower(a, scope)?, lower(b, scope)?);
            // Where the intervals do not overlap, the choice is known.
            let (ia, ib) = (interval(&a, scope), interval(&b, scope));
            let below = |p: Option<(i64, i64)>, q: Option<(i64, i64)>| matches!((p, q), (Some(p), Some(q)) if p.1 <= q.0);
            match function {
                Func::Min if below(ia, ib) => Ok(a),
                Func::Min if below(ib, ia) => Ok(b),
                Func::Min => a.smaller(&b).map_err(|x| excess(e, x)),
                Func::Max if below(ia, ib) => Ok(b),
                Func::Max if below(ib, ia) => Ok(a),
                Func::Max => a.larger(&b).map_err(|x| excess(e, x)),
            }
        }
        Kind::Neg(inner) => lower(inner, scope)?.times(&Scale::int(-1)).map_err(|x| excess(e, x)),
        Kind::Not(_) => Err(not_an_integer(e)),
        Kind::Chain(first, links) => {
            if links.first().is_some_and(|l| l.0.is_condition()) {
                return Err(not_an_integer(e));
            }
            if links.first().is_some_and(|l| matches!(l.0, Op::Add | Op::Sub)) {
                return sum(e, first, links, scope);
            }
            let mut value = lower(first, scope)?;
            for (i, (op, operand)) in links.iter().enumerate() {
                let right = lower(operand, scope)?;
                let left = Part { first, links: &links[..i] };
                value = combine(e, *op, &value, &right, &left, operand, scope)?;
            }
            Ok(value)
        }
    }
}

/// A sum as a whole: adding one operand after the other would cost the square of their number.
fn sum(e: &Expr, first: &Expr, links: &[(Op, Expr)], scope: &dyn Scope) -> Lowered<Form<Scale>> {
    let mut parts = Vec::with_capacity(1 + links.len());
    parts.push(lower(first, scope)?);
    for (op, operand) in links {
        let part = lower(operand, scope)?;
        parts.push(if *op == Op::Add {
            part
        } else {
            part.times(&Scale::int(-1)).map_err(|x| excess(e, x))?
        });
    }
    Form::total(parts).map_err(|x| excess(e, x))
}

/// The left operand of a link of a chain, for messages.
struct Part<'e> {
    first: &'e Expr,
    links: &'e [(Op, Expr)],
}

impl std::fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.links.is_empty() {
            return write!(f, "{}", self.first);
        }
        let kind = Kind::Chain(Box::new(self.first.clone()), self.links.to_vec());
        write!(f, "{}", Expr { kind, span: self.first.span })
    }
}

fn combine(
    whole: &Expr,
    op: Op,
    a: &Form<Scale>,
    b: &Form<Scale>,
    left: &Part<'_>,
    right: &Expr,
    scope: &dyn Scope,
) -> Lowered<Form<Scale>> {
    let done = |result: Result<Form<Scale>, Excess>| result.map_err(|x| excess(whole, x));
    match op {
        Op::Mul => match (a.as_scale(), b.as_scale()) {
            (_, Some(factor)) => done(a.times(factor)),
            (Some(factor), _) => done(b.times(factor)),
            (None, None) => Err(product(left, right)),
        },
        Op::Div | Op::Rem => {
            let Some(divisor) = b.as_scale() else {
                let message = format!("the divisor `{right}` depends on a coordinate");
                return Err(Diagnostic::error("divisor", right.span, message)
                    .help("division and remainder need a positive constant on the right"));
            };
            if let Some(m) = divisor.as_int()
                && m <= 0
            {
                return Err(bad_divisor(right, m));
            }
            let standing_for =
                divisor.as_int().filter(|_| op == Op::Rem).map(|m| Scale::int(scope.modulus(m)));
            let divisor = standing_for.as_ref().unwrap_or(divisor);
            let quotient = quotient(a, divisor, scope).map_err(|x| excess(whole, x))?;
            if op == Op::Div {
                return Ok(quotient);
            }
            done(quotient.times(divisor).and_then(|whole| a.minus(&whole)))
        }
        Op::Shl | Op::Shr => {
            let Some(factor) = b.as_constant().and_then(shift_factor) else {
                let message = format!("the shift distance `{right}` must be a constant from 0 to 62");
                return Err(Diagnostic::error("shift", right.span, message));
            };
            let factor = Scale::int(factor);
            if op == Op::Shl { done(a.times(&factor)) } else { done(quotient(a, &factor, scope)) }
        }
        _ => Err(not_an_integer(whole)),
    }
}

/// floor(a / divisor), decided where the interval of `a` lies between two multiples.
fn quotient(a: &Form<Scale>, divisor: &Scale, scope: &dyn Scope) -> Result<Form<Scale>, Excess> {
    let floor = a.floor_div(divisor)?;
    Ok(match interval(&floor, scope) {
        Some((low, high)) if low == high => Form::int(low),
        _ => floor,
    })
}

fn interval(form: &Form<Scale>, scope: &dyn Scope) -> Option<(i64, i64)> {
    form.interval(&|c| scope.interval(c))
}

fn lower_name(e: &Expr, name: &str, scope: &dyn Scope) -> Lowered<Form<Scale>> {
    match scope.resolve(name) {
        Some(Binding::Value(value)) => Ok(Form::int(value)),
        Some(Binding::Coord(coord)) => coordinate(e, coord, scope),
        Some(Binding::Table(table)) => {
            let message =
                format!("the table `{}` needs {}", table.name, count(table.shape.len(), "index", "indices"));
            Err(Diagnostic::error("table-index", e.span, message).help(format!("write {name}[...]")))
        }
        Some(Binding::Field) => {
            let message = format!("the field `{name}` stands where a number is needed");
            Err(Diagnostic::error("field-as-number", e.span, message)
                .help("an access names its field once: `field[...]` or `field + offset`"))
        }
        None => Err(unknown_name(e, name, &scope.known(), scope.listed())),
    }
}

fn coordinate(e: &Expr, coord: Coord, scope: &dyn Scope) -> Lowered<Form<Scale>> {
    match scope.refuse(coord) {
        Some(why) => {
            Err(Diagnostic::error("coordinate-not-allowed", e.span, format!("`{e}` cannot be used here"))
                .help(why))
        }
        None => Ok(Form::coord(coord)),
    }
}

fn lower_builtin(e: &Expr, builtin: Builtin, scope: &dyn Scope) -> Lowered<Form<Scale>> {
    let constant = |atom| Ok(Form::scale(Scale::atom(atom)));
    match builtin {
        Builtin::ThreadIdx(d) => coordinate(e, Coord::ThreadIdx(d), scope),
        Builtin::BlockIdx(d) => coordinate(e, Coord::BlockIdx(d), scope),
        Builtin::GlobalThread(d) => coordinate(e, Coord::Thread(d), scope),
        Builtin::BlockDim(d) => constant(LaunchAtom::BlockDim(d)),
        Builtin::GridDim(d) => constant(LaunchAtom::GridDim(d)),
        Builtin::GlobalSize(d) => {
            let size = Scale::atom(LaunchAtom::BlockDim(d)).times(&Scale::atom(LaunchAtom::GridDim(d)));
            size.map(Form::scale).map_err(|x| excess(e, x))
        }
    }
}

fn lower_lookup(e: &Expr, base: &Expr, indices: &[Expr], scope: &dyn Scope) -> Lowered<Form<Scale>> {
    let Kind::Name(name) = &base.kind else {
        return Err(Diagnostic::error("not-a-table", base.span, format!("`{base}` cannot be indexed")));
    };
    let table = match scope.resolve(name) {
        Some(Binding::Table(table)) => table,
        Some(Binding::Field) => {
            let message = format!("`{e}` is read from memory: an address cannot depend on it");
            return Err(Diagnostic::error("indirect", e.span, message).help(format!(
                "put representative values into `tables` (a proxy) and index that instead of `{name}`"
            )));
        }
        Some(_) => {
            return Err(Diagnostic::error(
                "not-a-table",
                base.span,
                format!("`{name}` is a number, not a table"),
            ));
        }
        None => return Err(unknown_name(base, name, &scope.known(), scope.listed())),
    };
    if indices.len() != table.shape.len() {
        let message = format!(
            "the table `{name}` has {}, not {}",
            count(table.shape.len(), "index", "indices"),
            indices.len()
        );
        return Err(Diagnostic::error("table-index", e.span, message));
    }
    let mut lowered = Vec::with_capacity(indices.len());
    for (index, &extent) in indices.iter().zip(&table.shape) {
        let form = lower(index, scope)?;
        match interval(&form, scope) {
            Some((low, high)) if low >= 0 && usize::try_from(high).is_ok_and(|h| h < extent) => {}
            _ if modulus(index, scope).is_some_and(|m| m <= extent) => {}
            Some((low, high)) => {
                let reach =
                    if low == high { format!("is {low}") } else { format!("runs from {low} to {high}") };
                let message = format!(
                    "the index `{index}` {reach}; the table `{name}` has entries 0 to {}",
                    extent - 1
                );
                return Err(Diagnostic::error("table-index", index.span, message));
            }
            None => {
                let message =
                    format!("the index `{index}` may leave the {extent} entries of the table `{name}`");
                return Err(Diagnostic::error("table-index", index.span, message)
                    .help(format!("bound it, for example `({index}) % {extent}`")));
            }
        }
        lowered.push(form);
    }
    let constants: Option<Vec<i64>> = lowered.iter().map(Form::as_constant).collect();
    match constants.and_then(|c| table.get(&c)) {
        Some(entry) => Ok(Form::int(entry)),
        None => Form::term(Term::Lookup(table, lowered)).bounded().map_err(|x| excess(e, x)),
    }
}

/// The modulus of what is a remainder by a constant as a whole: it proves what an interval may not.
fn modulus(e: &Expr, scope: &dyn Scope) -> Option<usize> {
    let Kind::Chain(_, links) = &e.kind else { return None };
    let (_, divisor) = links.last().filter(|l| l.0 == Op::Rem)?;
    usize::try_from(lower(divisor, scope).ok()?.as_constant()?).ok()
}

/// Lowers a condition.
pub fn lower_condition(e: &Expr, scope: &dyn Scope) -> Lowered<Cond<Scale>> {
    condition(e, scope, false)
}

/// Lowers a condition or, if `negated`, its opposite.
fn condition(e: &Expr, scope: &dyn Scope, negated: bool) -> Lowered<Cond<Scale>> {
    match &e.kind {
        Kind::Not(inner) => condition(inner, scope, !negated),
        Kind::Chain(first, links) if links.first().is_some_and(|l| l.0.is_condition()) => {
            let op = links[0].0;
            if matches!(op, Op::And | Op::Or) {
                let operands = std::iter::once(&**first).chain(links.iter().map(|l| &l.1));
                let parts = operands.map(|o| condition(o, scope, negated)).collect::<Lowered<Vec<_>>>()?;
                return Ok(if (op == Op::And) == negated { Cond::any(parts) } else { Cond::all(parts) });
            }
            comparison(e, op, first, &links[0].1, scope, negated)
        }
        _ => Err(not_a_condition(e)),
    }
}

fn comparison(
    e: &Expr,
    op: Op,
    a: &Expr,
    b: &Expr,
    scope: &dyn Scope,
    negated: bool,
) -> Lowered<Cond<Scale>> {
    let (a, b) = (lower(a, scope)?, lower(b, scope)?);
    let op = if negated { opposite(op) } else { op };
    let less = |a: &Form<Scale>, b: &Form<Scale>, strict: i64| {
        let difference = b.minus(a)?.plus(&Form::int(-strict))?;
        Ok(decided(Cond::non_negative(difference.clone()), &difference, scope))
    };
    let made: Result<Cond<Scale>, Excess> = match op {
        Op::Lt => less(&a, &b, 1),
        Op::Le => less(&a, &b, 0),
        Op::Gt => less(&b, &a, 1),
        Op::Ge => less(&b, &a, 0),
        Op::Eq => a.minus(&b).map(Cond::zero),
        _ => less(&a, &b, 1).and_then(|below| Ok(Cond::any(vec![below, less(&b, &a, 1)?]))),
    };
    made.map_err(|x| excess(e, x))
}

/// `form >= 0`, decided where the interval of the form has one sign.
fn decided(cond: Cond<Scale>, form: &Form<Scale>, scope: &dyn Scope) -> Cond<Scale> {
    match interval(form, scope) {
        Some((low, _)) if low >= 0 => Cond::Const(true),
        Some((_, high)) if high < 0 => Cond::Const(false),
        _ => cond,
    }
}

fn opposite(op: Op) -> Op {
    match op {
        Op::Lt => Op::Ge,
        Op::Le => Op::Gt,
        Op::Gt => Op::Le,
        Op::Ge => Op::Lt,
        Op::Eq => Op::Ne,
        _ => Op::Eq,
    }
}

fn product(left: &Part<'_>, right: &Expr) -> Diagnostic {
    let parenthesise = |text: String| if text.contains(' ') { format!("({text})") } else { text };
    let product = format!("{}*{}", parenthesise(left.to_string()), parenthesise(right.to_string()));
    let span = left.first.span.to(right.span);
    let message = format!("`{product}` multiplies two coordinates: the address is not quasi-affine");
    Diagnostic::error("not-affine", span, message)
        .help("put a representative constant in the place of one factor (a proxy), or use `tables`")
}

pub(super) fn excess(e: &Expr, excess: Excess) -> Diagnostic {
    match excess {
        Excess::Overflow => overflow(e),
        Excess::TooComplex | Excess::Spent(_) => Diagnostic::error(
            "expression-too-complex",
            e.span,
            format!("`{}` is too complex", crate::text::shorten(&e.to_string())),
        )
        .help("nest fewer remainders and minima, or give representative values in `tables`"),
        Excess::Divisor(value) => bad_divisor(e, value),
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
