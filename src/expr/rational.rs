//! Evaluation with exact fractions, for the few numbers of a document that need not be whole
//! (`units_per_thread: 1/32`).

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub};

use super::ast::{Expr, Kind, Op};
use super::eval::{Environment, bad_divisor, evaluate, overflow};
use crate::source::Diagnostic;

/// The value of an expression in which `/` divides exactly.
pub fn evaluate_rational(e: &Expr, env: &dyn Environment) -> Result<Ratio<i64>, Diagnostic> {
    match &e.kind {
        Kind::Neg(inner) => {
            Ratio::from_integer(0).checked_sub(&evaluate_rational(inner, env)?).ok_or_else(|| overflow(e))
        }
        Kind::Chain(first, links)
            if links.iter().all(|l| matches!(l.0, Op::Add | Op::Sub | Op::Mul | Op::Div)) =>
        {
            let mut value = evaluate_rational(first, env)?;
            for (op, operand) in links {
                let b = evaluate_rational(operand, env)?;
                let next = match op {
                    Op::Add => value.checked_add(&b),
                    Op::Sub => value.checked_sub(&b),
                    Op::Mul => value.checked_mul(&b),
                    _ if *b.numer() == 0 => return Err(bad_divisor(operand, 0)),
                    _ => value.checked_div(&b),
                };
                value = next.ok_or_else(|| overflow(e))?;
            }
            Ok(value)
        }
        _ => evaluate(e, env).map(Ratio::from_integer),
    }
}
