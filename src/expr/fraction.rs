//! Fractions of launch constants, for the few numbers of a document that need not be whole and may differ
//! from launch to launch (`units_per_thread: N/(blockDim.x*gridDim.x)`).

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul};

use super::ast::{Expr, Kind, Op};
use super::eval::bad_divisor;
use super::form::{Coefficient, Excess};
use super::lower::{Scope, excess, lower};
use super::scale::{LaunchSizes, Scale};
use crate::text::Diagnostic;

/// One launch constant over another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fraction {
    over: Scale,
    under: Scale,
}

impl From<Ratio<i64>> for Fraction {
    fn from(ratio: Ratio<i64>) -> Self {
        Self { over: Scale::int(*ratio.numer()), under: Scale::int(*ratio.denom()) }
    }
}

impl Fraction {
    /// The value, if it is the same for every launch.
    pub fn as_ratio(&self) -> Option<Ratio<i64>> {
        quotient(self.over.as_int()?, self.under.as_int()?)
    }

    /// The value for given sizes; `None` if it divides by zero or leaves 64 bits.
    pub fn at(&self, sizes: &LaunchSizes) -> Option<Ratio<i64>> {
        quotient(self.over.at(sizes).ok()?, self.under.at(sizes).ok()?)
    }

    fn plus(&self, other: &Self) -> Result<Self, Excess> {
        self.with(
            other,
            |a, b| a.checked_add(&b),
            |a, b| {
                let over = a.over.times(&b.under)?.plus(&b.over.times(&a.under)?)?;
                Ok(Self { over, under: a.under.times(&b.under)? })
            },
        )
    }

    fn times(&self, other: &Self) -> Result<Self, Excess> {
        self.with(
            other,
            |a, b| a.checked_mul(&b),
            |a, b| Ok(Self { over: a.over.times(&b.over)?, under: a.under.times(&b.under)? }),
        )
    }

    fn inverse(&self) -> Self {
        Self { over: self.under.clone(), under: self.over.clone() }
    }

    /// With plain numbers as such, which are kept in lowest terms, or with launch constants.
    fn with(
        &self,
        other: &Self,
        plain: impl Fn(Ratio<i64>, Ratio<i64>) -> Option<Ratio<i64>>,
        scaled: impl Fn(&Self, &Self) -> Result<Self, Excess>,
    ) -> Result<Self, Excess> {
        if [self, other].iter().any(|f| f.over.as_int().is_none() || f.under.as_int().is_none()) {
            return scaled(self, other);
        }
        let both = self.as_ratio().zip(other.as_ratio());
        both.and_then(|(a, b)| plain(a, b)).map(Self::from).ok_or(Excess::Overflow)
    }
}

/// In lowest terms. The most negative number has no opposite, which that needs.
fn quotient(over: i64, under: i64) -> Option<Ratio<i64>> {
    if over == i64::MIN || under == i64::MIN {
        return None;
    }
    Ratio::from_integer(over).checked_div(&Ratio::from_integer(under))
}

/// Lowers an expression in which `/` divides exactly.
pub fn lower_fraction(e: &Expr, scope: &dyn Scope) -> Result<Fraction, Diagnostic> {
    let done = |made: Result<Fraction, Excess>| made.map_err(|why| excess(e, why));
    let minus = Fraction::from(Ratio::from_integer(-1));
    match &e.kind {
        Kind::Neg(inner) => done(lower_fraction(inner, scope)?.times(&minus)),
        Kind::Chain(first, links)
            if links.iter().all(|l| matches!(l.0, Op::Add | Op::Sub | Op::Mul | Op::Div)) =>
        {
            let mut value = lower_fraction(first, scope)?;
            for (op, operand) in links {
                let right = lower_fraction(operand, scope)?;
                value = done(match op {
                    Op::Add => value.plus(&right),
                    Op::Sub => right.times(&minus).and_then(|r| value.plus(&r)),
                    Op::Mul => value.times(&right),
                    _ if right.over.as_int() == Some(0) => return Err(bad_divisor(operand, 0)),
                    _ => value.times(&right.inverse()),
                })?;
            }
            Ok(value)
        }
        _ => {
            let form = lower(e, scope)?;
            let scale = form.as_scale().cloned().ok_or_else(|| {
                let message = format!("`{e}` is not the same for all threads");
                Diagnostic::error("not-constant", e.span, message)
                    .help("use numbers, parameters, blockDim and gridDim")
            })?;
            Ok(Fraction { over: scale, under: Scale::int(1) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Binding, Coord, parse_expression};
    use crate::space::{Block, Grid};
    use crate::text::{FileId, Origin, Span};

    struct Names;

    impl Scope for Names {
        fn resolve(&self, name: &str) -> Option<Binding> {
            (name == "N").then_some(Binding::Value(1000))
        }

        fn interval(&self, _: Coord) -> Option<(i64, i64)> {
            None
        }

        fn known(&self) -> Vec<&str> {
            vec!["N"]
        }
    }

    fn made(text: &str) -> Result<Fraction, Diagnostic> {
        let origin = Origin::verbatim(Span::new(FileId(0), 0..text.len()));
        lower_fraction(&parse_expression(text, origin).unwrap(), &Names)
    }

    fn at(text: &str, block: i64, grid: i64) -> Option<(i64, i64)> {
        let sizes = LaunchSizes { block: Block::known([block, 1, 1]), grid: Grid::known([grid, 1, 1]) };
        made(text).unwrap().at(&sizes).map(|r| (*r.numer(), *r.denom()))
    }

    #[test]
    fn division_is_exact() {
        assert_eq!(at("1/blockDim.x", 256, 1), Some((1, 256)));
        assert_eq!(at("N/blockDim.x/gridDim.x", 32, 3), Some((125, 12)));
        assert_eq!(at("(N + blockDim.x - 1)/blockDim.x", 256, 1), Some((1255, 256)));
        assert_eq!(at("1 - 1/blockDim.x", 4, 1), Some((3, 4)));
        assert_eq!(at("-N/(gridDim.x*3)", 1, 7), Some((-1000, 21)));
        // Below `min` it is the floor division of all other expressions.
        assert_eq!(at("min(N/3, blockDim.x*100)", 32, 1), Some((333, 1)));
    }

    #[test]
    fn what_has_no_value_is_none_or_an_error() {
        assert_eq!(at("1/(blockDim.x - 64)", 64, 1), None);
        assert_eq!(at("1/(blockDim.x - 64)", 65, 1), Some((1, 1)));
        assert_eq!(made("1/(N - 1000)").unwrap_err().code, "divisor");
        assert_eq!(made("9223372036854775807*N").unwrap_err().code, "overflow");
    }

    #[test]
    fn numbers_are_kept_in_lowest_terms() {
        assert_eq!(made("9223372036854775807/7 + 1/7*7").unwrap().as_ratio().map(|r| *r.denom()), Some(1));
        assert_eq!(made("N/blockDim.x").unwrap().as_ratio(), None);
    }
}
