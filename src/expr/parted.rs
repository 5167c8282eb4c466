//! Conditions that are asked often whether intervals decide them.

use super::cond::{Cond, all_are, is_non_negative, is_zero};
use super::form::{Coord, PartedForm};

/// A condition whose forms are taken apart.
#[derive(Debug, Clone)]
pub(crate) enum PartedCond {
    Const(bool),
    NonNegative(PartedForm),
    Zero(PartedForm),
    All(Vec<PartedCond>),
    Any(Vec<PartedCond>),
}

impl PartedCond {
    /// `None` where a form is not known in numbers.
    pub(crate) fn new(cond: &Cond<i64>) -> Option<Self> {
        let each = |parts: &[Cond<i64>]| parts.iter().map(Self::new).collect::<Option<_>>();
        Some(match cond {
            Cond::Const(held) => Self::Const(*held),
            Cond::NonNegative(form) => Self::NonNegative(PartedForm::new(form)?),
            Cond::Zero(form) => Self::Zero(PartedForm::new(form)?),
            Cond::All(parts) => Self::All(each(parts)?),
            Cond::Any(parts) => Self::Any(each(parts)?),
        })
    }

    /// The same as [`Cond::decided`].
    pub(crate) fn decided(&self, within: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<bool> {
        let each = |parts: &[Self], like| all_are(like, parts.iter().map(|part| part.decided(within)));
        match self {
            Self::Const(held) => Some(*held),
            Self::NonNegative(form) => is_non_negative(form.interval(within)?),
            Self::Zero(form) => is_zero(form.interval(within)?),
            Self::All(parts) => each(parts, true),
            Self::Any(parts) => each(parts, false),
        }
    }
}
