//! Values of forms at given coordinates.

use num_traits::ToPrimitive;

use super::{Coord, Form, Term};

impl Form<i64> {
    /// The value where the coordinates have given values; `None` if it leaves 64 bits, a table, or
    /// mentions a coordinate without a value.
    pub fn evaluate(&self, value: &dyn Fn(Coord) -> Option<i64>) -> Option<i64> {
        let mut total = i128::from(self.constant);
        for (term, coefficient) in &self.terms {
            total += i128::from(term.evaluate(value)?) * i128::from(*coefficient);
        }
        total.to_i64()
    }
}

impl Term<i64> {
    fn evaluate(&self, value: &dyn Fn(Coord) -> Option<i64>) -> Option<i64> {
        match self {
            Term::Coord(c) => value(*c),
            Term::Floor(inner, divisor) => Some(inner.evaluate(value)?.div_euclid(*divisor)),
            Term::Min(a, b) => Some(a.evaluate(value)?.min(b.evaluate(value)?)),
            Term::Max(a, b) => Some(a.evaluate(value)?.max(b.evaluate(value)?)),
            Term::Lookup(table, indices) => {
                let indices: Vec<i64> = indices.iter().map(|i| i.evaluate(value)).collect::<Option<_>>()?;
                table.get(&indices)
            }
        }
    }
}
