//! Conditions over quasi-affine forms, without negation: it is pushed to the leaves.

use super::form::{Change, Coefficient, Coord, Excess, Form};
use super::scale::{LaunchSizes, Scale};
use crate::space::{Fold, ItemOffset};

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cond<C: Coefficient> {
    /// Known beforehand.
    Const(bool),
    /// The form is at least 0.
    NonNegative(Form<C>),
    /// The form is 0.
    Zero(Form<C>),
    /// All hold.
    All(Vec<Cond<C>>),
    /// At least one holds.
    Any(Vec<Cond<C>>),
}

impl<C: Coefficient> Cond<C> {
    /// `form >= 0`, decided if the form is a number.
    pub fn non_negative(form: Form<C>) -> Self {
        match form.as_constant() {
            Some(value) => Self::Const(value >= 0),
            None => Self::NonNegative(form),
        }
    }

    /// `form == 0`, decided if the form is a number. `a == b` and `b == a` become the same condition: of a form and its
    /// negative, the one that begins with a positive multiple stands for both.
    pub fn zero(form: Form<C>) -> Self {
        if let Some(value) = form.as_constant() {
            return Self::Const(value == 0);
        }
        let leads_negative = form.terms().first().and_then(|t| t.1.as_int()).is_some_and(|c| c < 0);
        let positive = if leads_negative { form.times(&C::int(-1)).ok() } else { None };
        Self::Zero(positive.unwrap_or(form))
    }

    /// All of several conditions, flattened.
    pub fn all(parts: Vec<Self>) -> Self {
        Self::joined(parts, false)
    }

    /// Any of several conditions, flattened.
    pub fn any(parts: Vec<Self>) -> Self {
        Self::joined(parts, true)
    }

    fn joined(parts: Vec<Self>, any: bool) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::Const(decided) if decided == any => return Self::Const(any),
                Self::Const(_) => {}
                Self::All(inner) if !any => kept.extend(inner),
                Self::Any(inner) if any => kept.extend(inner),
                other => kept.push(other),
            }
        }
        kept.sort_unstable();
        kept.dedup();
        match (kept.len(), any) {
            (0, _) => Self::Const(!any),
            (1, _) => kept.remove(0),
            (_, true) => Self::Any(kept),
            (_, false) => Self::All(kept),
        }
    }

    /// The condition with every form changed.
    fn map<D: Coefficient>(&self, change: Change<'_, C, D>) -> Result<Cond<D>, Excess> {
        Ok(match self {
            Self::Const(b) => Cond::Const(*b),
            Self::NonNegative(form) => Cond::non_negative(change(form)?),
            Self::Zero(form) => Cond::zero(change(form)?),
            Self::All(parts) => Cond::all(parts.iter().map(|p| p.map(change)).collect::<Result<_, _>>()?),
            Self::Any(parts) => Cond::any(parts.iter().map(|p| p.map(change)).collect::<Result<_, _>>()?),
        })
    }

    /// Puts fold * thread + offset in the place of each work-item axis.
    pub fn fold(&self, fold: Fold, offset: ItemOffset) -> Result<Self, Excess> {
        self.map(&|form| form.fold(fold, offset))
    }

    /// Number of parts.
    pub fn size(&self) -> usize {
        match self {
            Self::Const(_) => 1,
            Self::NonNegative(form) | Self::Zero(form) => form.size(),
            Self::All(parts) | Self::Any(parts) => 1 + parts.iter().map(Self::size).sum::<usize>(),
        }
    }

    /// Other names for coordinates; one without a name counts as 0.
    pub fn rename(&self, to: &dyn Fn(Coord) -> Option<Coord>) -> Result<Self, Excess> {
        self.map(&|form| form.rename(to))
    }

    /// Puts a form in the place of each coordinate for which there is one.
    pub fn substitute(&self, with: &dyn Fn(Coord) -> Option<Form<C>>) -> Result<Self, Excess> {
        self.map(&|form| form.substitute(with))
    }

    /// Whether it asks for nothing but sums of coordinates.
    pub(crate) fn is_affine(&self) -> bool {
        match self {
            Self::Const(_) => true,
            Self::NonNegative(form) | Self::Zero(form) => form.is_affine(),
            Self::All(parts) | Self::Any(parts) => parts.iter().all(Self::is_affine),
        }
    }

    /// Whether it holds everywhere or nowhere where coordinates lie between given values (both
    /// included); `None` if that differs or cannot be told from intervals.
    pub fn decided(&self, within: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<bool> {
        let each = |parts: &[Self], like| all_are(like, parts.iter().map(|part| part.decided(within)));
        match self {
            Self::Const(held) => Some(*held),
            Self::NonNegative(form) => is_non_negative(form.interval(within)?),
            Self::Zero(form) => is_zero(form.interval(within)?),
            Self::All(parts) => each(parts, true),
            Self::Any(parts) => each(parts, false),
        }
    }

    /// A condition that holds where this one does, wherever each coordinate lies in its interval: parts that
    /// are decided there are left out.
    pub fn within(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Result<Self, Excess> {
        let parts = |parts: &[Self]| parts.iter().map(|p| p.within(of)).collect::<Result<_, Excess>>();
        Ok(match (self.settled(of), self) {
            (Some(held), _) => Self::Const(held),
            (None, Self::All(all)) => Self::all(parts(all)?),
            (None, Self::Any(any)) => Self::any(parts(any)?),
            (None, _) => self.map(&|form| form.within(of))?,
        })
    }

    /// The condition with every form changed into another of the same kind.
    pub fn changed(&self, change: Change<'_, C, C>) -> Result<Self, Excess> {
        self.map(change)
    }

    /// Whether a coordinate for which `test` holds occurs anywhere.
    pub fn mentions(&self, test: &dyn Fn(Coord) -> bool) -> bool {
        match self {
            Self::Const(_) => false,
            Self::NonNegative(form) | Self::Zero(form) => form.mentions(test),
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|p| p.mentions(test)),
        }
    }
}

impl Cond<Scale> {
    /// The condition for given launch sizes.
    pub fn at(&self, sizes: &LaunchSizes) -> Result<Cond<i64>, Excess> {
        self.map(&|form| form.at(sizes))
    }
}

impl Cond<i64> {
    /// Whether it holds where the coordinates have given values; `None` as for [`Form::evaluate`].
    pub fn evaluate(&self, value: &dyn Fn(Coord) -> Option<i64>) -> Option<bool> {
        match self {
            Self::Const(b) => Some(*b),
            Self::NonNegative(form) => form.evaluate(value).map(|v| v >= 0),
            Self::Zero(form) => form.evaluate(value).map(|v| v == 0),
            Self::All(parts) => parts.iter().try_fold(true, |held, p| Some(held & p.evaluate(value)?)),
            Self::Any(parts) => parts.iter().try_fold(false, |held, p| Some(held | p.evaluate(value)?)),
        }
    }
}

/// Whether conditions are all held, or none is, as far as that is known of each: one that is not like asked decides.
pub(super) fn all_are(like: bool, parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    for part in parts {
        match part {
            Some(held) if held != like => return Some(held),
            held => known &= held.is_some(),
        }
    }
    known.then_some(like)
}

/// Whether all numbers of an interval, or none of them, are at least 0.
pub(super) fn is_non_negative((low, high): (i64, i64)) -> Option<bool> {
    if low >= 0 { Some(true) } else { (high < 0).then_some(false) }
}

/// Whether all numbers of an interval, or none of them, are 0.
pub(super) fn is_zero((low, high): (i64, i64)) -> Option<bool> {
    if (low, high) == (0, 0) { Some(true) } else { (low > 0 || high < 0).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::{Cond, Coord, Form};
    use crate::expr::LoopId;
    use crate::expr::ast::Dim;

    #[test]
    fn what_is_compared_may_stand_on_either_side() {
        let (x, k) = (Form::<i64>::coord(Coord::ThreadIdx(Dim::X)), Form::coord(Coord::Loop(LoopId(0))));
        let odd = x.remainder(&2).unwrap();
        for (a, b) in [(&x, &k), (&odd, &Form::int(0)), (&odd, &k), (&x, &Form::int(7))] {
            let [left, right] = [(a, b), (b, a)].map(|(a, b)| Cond::zero(a.minus(b).unwrap()));
            assert_eq!(left, right);
            assert_eq!(Cond::all(vec![left.clone(), right]), left);
        }
    }
}
