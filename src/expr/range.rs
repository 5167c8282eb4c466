//! The integers of a range.

use super::ast::{Expr, Range};
use super::eval::{Environment, evaluate};
use crate::text::Diagnostic;

/// All values of a range in order; an error if there are more than `most`.
pub fn expand_range(range: &Range, env: &dyn Environment, most: usize) -> Result<Vec<i64>, Diagnostic> {
    let mut values = Vec::new();
    append_range(range, env, most, &mut values)?;
    Ok(values)
}

/// The same behind other values.
pub(crate) fn append_range(
    range: &Range,
    env: &dyn Environment,
    most: usize,
    values: &mut Vec<i64>,
) -> Result<(), Diagnostic> {
    match range {
        Range::Single(e) => values.push(evaluate(e, env)?),
        Range::Span { from, to, step } => {
            let (first, last) = (evaluate(from, env)?, evaluate(to, env)?);
            let distance = step.as_ref().map_or(Ok(1), |s| evaluate(s, env))?;
            if distance == 0 {
                let place = step.as_ref().unwrap_or(from);
                return Err(Diagnostic::error("range-step", place.span, "the step of a range must not be 0"));
            }
            let span = i128::from(last) - i128::from(first);
            let count = if span.signum() * i128::from(distance.signum()) < 0 {
                0
            } else {
                span / i128::from(distance) + 1
            };
            if count > most as i128 {
                return Err(too_many(from, to, count, most));
            }
            // Every value lies between first and last; its distance from first may not fit.
            let at = |i: i128| i64::try_from(i128::from(first) + i * i128::from(distance)).ok();
            values.extend((0..count).filter_map(at));
        }
        Range::Pow2 { from, to } => {
            let (first, last) = (evaluate(from, env)?, evaluate(to, env)?);
            if first < 1 {
                let message = format!("pow2 starts at {first}; powers of two begin at 1");
                return Err(Diagnostic::error("range-pow2", from.span, message));
            }
            values.extend((0..63).map(|i| 1_i64 << i).filter(|p| (first..=last).contains(p)));
        }
    }
    Ok(())
}

fn too_many(from: &Expr, to: &Expr, count: i128, most: usize) -> Diagnostic {
    let message = format!("the range has {count} values; at most {most} are expanded");
    Diagnostic::error("range-too-long", from.span.to(to.span), message)
}
