//! Direct evaluation of a syntax tree: for constants, and as an engine independent of lowering.

use super::ast::{Builtin, Expr, Func, Kind, Op};
use crate::text::{Diagnostic, nearest};

/// Where names get their values.
pub trait Environment {
    /// The value of a name.
    fn name(&self, name: &str) -> Option<i64>;
    /// The value of a coordinate or launch size.
    fn builtin(&self, builtin: Builtin) -> Option<i64>;
    /// The entry of a table; `None` if there is no such table or entry.
    fn table(&self, name: &str, indices: &[i64]) -> Option<i64>;
    /// Names worth suggesting.
    fn known(&self) -> Vec<&str> {
        Vec::new()
    }
    /// What names there are, by kind, for somebody who used another.
    fn listed(&self) -> Option<String> {
        None
    }
}

/// The integer value of an expression.
pub fn evaluate(e: &Expr, env: &dyn Environment) -> Result<i64, Diagnostic> {
    match &e.kind {
        Kind::Int(n) => Ok(*n),
        Kind::Name(name) => env.name(name).ok_or_else(|| unknown(e, name, env)),
        Kind::Builtin(b) => env.builtin(*b).ok_or_else(|| {
            let message = format!("`{b}` has no value here: only constants can be used");
            Diagnostic::error("not-constant", e.span, message)
        }),
        Kind::Index(base, indices) => {
            let Kind::Name(name) = &base.kind else {
                return Err(Diagnostic::error("not-a-table", base.span, "only a table can be indexed here"));
            };
            let values: Vec<i64> = indices.iter().map(|i| evaluate(i, env)).collect::<Result<_, _>>()?;
            env.table(name, &values).ok_or_else(|| {
                let message = format!("`{name}` is not a table with an entry {values:?}");
                Diagnostic::error("table-index", e.span, message)
            })
        }
        Kind::Call(function, a, b) => {
            let (a, b) = (evaluate(a, env)?, evaluate(b, env)?);
            Ok(match function {
                Func::Min => a.min(b),
                Func::Max => a.max(b),
            })
        }
        Kind::Neg(inner) => evaluate(inner, env)?.checked_neg().ok_or_else(|| overflow(e)),
        Kind::Not(_) => Err(not_an_integer(e)),
        Kind::Chain(first, links) => {
            let mut value = match links.first() {
                Some((op, _)) if op.is_condition() => return Err(not_an_integer(e)),
                _ => evaluate(first, env)?,
            };
            for (op, operand) in links {
                value = apply(e, *op, value, evaluate(operand, env)?, operand)?;
            }
            Ok(value)
        }
    }
}

fn apply(whole: &Expr, op: Op, a: i64, b: i64, operand: &Expr) -> Result<i64, Diagnostic> {
    let result = match op {
        Op::Mul => a.checked_mul(b),
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Div | Op::Rem if b <= 0 => return Err(bad_divisor(operand, b)),
        Op::Div => Some(a.div_euclid(b)),
        Op::Rem => Some(a.rem_euclid(b)),
        Op::Shl => shift_factor(b).and_then(|f| a.checked_mul(f)),
        Op::Shr => shift_factor(b).map(|f| a.div_euclid(f)),
        _ => return Err(not_an_integer(whole)),
    };
    result.ok_or_else(|| overflow(whole))
}

/// The truth of a condition.
pub fn evaluate_condition(e: &Expr, env: &dyn Environment) -> Result<bool, Diagnostic> {
    match &e.kind {
        Kind::Not(inner) => evaluate_condition(inner, env).map(|b| !b),
        Kind::Chain(first, links) if links.first().is_some_and(|l| l.0.is_condition()) => match links[0].0 {
            Op::And => all(first, links, |e| evaluate_condition(e, env)),
            Op::Or => all(first, links, |e| evaluate_condition(e, env).map(|b| !b)).map(|none| !none),
            op => {
                let (a, b) = (evaluate(first, env)?, evaluate(&links[0].1, env)?);
                Ok(match op {
                    Op::Lt => a < b,
                    Op::Le => a <= b,
                    Op::Gt => a > b,
                    Op::Ge => a >= b,
                    Op::Eq => a == b,
                    _ => a != b,
                })
            }
        },
        _ => Err(not_a_condition(e)),
    }
}

/// Whether `test` holds for every operand; all are evaluated, so that each error is found.
fn all(
    first: &Expr,
    links: &[(Op, Expr)],
    test: impl Fn(&Expr) -> Result<bool, Diagnostic>,
) -> Result<bool, Diagnostic> {
    let mut holds = test(first)?;
    for (_, operand) in links {
        holds &= test(operand)?;
    }
    Ok(holds)
}

/// 2^b for a shift distance.
pub(super) fn shift_factor(b: i64) -> Option<i64> {
    u32::try_from(b).ok().filter(|&b| b <= 62).map(|b| 1_i64 << b)
}

pub(super) fn overflow(e: &Expr) -> Diagnostic {
    Diagnostic::error("overflow", e.span, "the value does not fit into 64 bits")
        .help("addresses are computed in signed 64-bit integers; check the sizes")
}

pub(super) fn bad_divisor(e: &Expr, b: i64) -> Diagnostic {
    Diagnostic::error("divisor", e.span, format!("division by {b}: the divisor must be a positive constant"))
}

pub(super) fn not_an_integer(e: &Expr) -> Diagnostic {
    Diagnostic::error("not-an-integer", e.span, "a condition stands where a number is needed")
        .help("conditions belong into `when` and `guard`")
}

pub(super) fn not_a_condition(e: &Expr) -> Diagnostic {
    Diagnostic::error("not-a-condition", e.span, "a condition is needed here, not a number")
        .help("compare it with something, for example `x > 0`")
}

pub(super) fn unknown(e: &Expr, name: &str, env: &dyn Environment) -> Diagnostic {
    unknown_name(e, name, &env.known(), env.listed())
}

pub(super) fn unknown_name(e: &Expr, name: &str, known: &[&str], listed: Option<String>) -> Diagnostic {
    let near = nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    let help = match (near, listed) {
        (Some(near), Some(listed)) => Some(format!("{near} {listed}")),
        (near, listed) => near.or(listed),
    };
    Diagnostic::error("unknown-name", e.span, format!("unknown name `{}`", crate::text::shorten(name)))
        .maybe_help(help)
}
