//! The terms of a form, which many forms share: accesses of a kernel often differ by constants only.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::{Coefficient, Term};

/// Terms with their coefficients. To copy them takes no time, and those that were copied are found equal at once.
#[derive(Debug, Clone)]
pub(super) struct Terms<C: Coefficient>(Option<Arc<[Multiple<C>]>>);

/// A term and how often it is added.
type Multiple<C> = (Term<C>, C);

impl<C: Coefficient> Terms<C> {
    pub const NONE: Self = Self(None);

    /// Whether one is a copy of the other. Others may be equal, too.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

impl<C: Coefficient> From<Vec<Multiple<C>>> for Terms<C> {
    fn from(terms: Vec<Multiple<C>>) -> Self {
        Self((!terms.is_empty()).then(|| terms.into()))
    }
}

impl<C: Coefficient> Deref for Terms<C> {
    type Target = [Multiple<C>];

    fn deref(&self) -> &Self::Target {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<'t, C: Coefficient> IntoIterator for &'t Terms<C> {
    type Item = &'t Multiple<C>;
    type IntoIter = std::slice::Iter<'t, Multiple<C>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<C: Coefficient> PartialEq for Terms<C> {
    fn eq(&self, other: &Self) -> bool {
        self.is_copy_of(other) || **self == **other
    }
}

impl<C: Coefficient> Eq for Terms<C> {}

impl<C: Coefficient> Ord for Terms<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_copy_of(other) { Ordering::Equal } else { (**self).cmp(&**other) }
    }
}

impl<C: Coefficient> PartialOrd for Terms<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<C: Coefficient> Hash for Terms<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
