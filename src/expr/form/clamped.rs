//! Sums within bounds: `min(max(x + 1, 0), N - 1)`.

use super::{Form, Term};

/// A sum of coordinates and a constant, but no less than `low` and no more than `high`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clamped {
    pub(crate) sum: Form<i64>,
    pub(crate) low: i64,
    pub(crate) high: i64,
}

impl Clamped {
    /// What a form is, if it is that.
    fn of_form(form: &Form<i64>) -> Option<Self> {
        if form.is_affine() {
            return Some(Self { sum: form.clone(), low: i64::MIN, high: i64::MAX });
        }
        let [(term, factor)] = form.terms() else { return None };
        Self::of_term(term)?.times(*factor)?.plus(*form.constant())
    }

    /// The same of a term.
    pub(crate) fn of_term(term: &Term<i64>) -> Option<Self> {
        let (Term::Min(a, b) | Term::Max(a, b)) = term else { return None };
        let (form, bound) = match (a.as_constant(), b.as_constant()) {
            (Some(bound), None) => (b, bound),
            (None, Some(bound)) => (a, bound),
            _ => return None,
        };
        let Self { sum, low, high } = Self::of_form(form)?;
        let bounded =
            |value: i64| if matches!(term, Term::Min(..)) { value.min(bound) } else { value.max(bound) };
        Some(Self { sum, low: bounded(low), high: bounded(high) })
    }

    fn times(self, factor: i64) -> Option<Self> {
        // An open end stays open.
        let end = |value: i64| match value {
            i64::MIN | i64::MAX if factor > 0 => Some(value),
            i64::MIN => Some(i64::MAX),
            i64::MAX => Some(i64::MIN),
            bound => bound.checked_mul(factor),
        };
        let (low, high) = (end(self.low)?, end(self.high)?);
        let (low, high) = if factor < 0 { (high, low) } else { (low, high) };
        Some(Self { sum: self.sum.times(&factor).ok()?, low, high })
    }

    fn plus(self, constant: i64) -> Option<Self> {
        let end = |value: i64| match value {
            i64::MIN | i64::MAX => Some(value),
            bound => bound.checked_add(constant),
        };
        let sum = self.sum.plus(&Form::int(constant)).ok()?;
        Some(Self { sum, low: end(self.low)?, high: end(self.high)? })
    }

    /// A value within the bounds.
    pub(crate) fn kept(&self, value: i64) -> i64 {
        value.max(self.low).min(self.high)
    }
}
