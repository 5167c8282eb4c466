//! The terms of a form, which many forms share: accesses of a kernel often differ by constants only.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A list of terms. To copy it takes no time, and lists that were copied are found equal at once.
#[derive(Debug, Clone)]
pub(super) struct Terms<T>(Option<Arc<[T]>>);

impl<T> Terms<T> {
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

impl<T> From<Vec<T>> for Terms<T> {
    fn from(terms: Vec<T>) -> Self {
        Self((!terms.is_empty()).then(|| terms.into()))
    }
}

impl<T> Deref for Terms<T> {
    type Target = [T];

    fn deref(&self) -> &Self::Target {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<'t, T> IntoIterator for &'t Terms<T> {
    type Item = &'t T;
    type IntoIter = std::slice::Iter<'t, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for Terms<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_copy_of(other) || **self == **other
    }
}

impl<T: Eq> Eq for Terms<T> {}

impl<T: Ord> Ord for Terms<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_copy_of(other) { Ordering::Equal } else { (**self).cmp(&**other) }
    }
}

impl<T: Ord> PartialOrd for Terms<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Hash> Hash for Terms<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
