//! Where an access begins.

use std::ops::Deref;
use std::sync::Arc;

use super::clamped::{Free, unclamped};
use super::points::Points;
use super::query::Piece;
use crate::expr::{Form, SharedTerms};

/// One form in bytes, or in grid addressing the indices, fastest first.
#[derive(Debug, Clone)]
pub(super) struct Addresses {
    forms: Arc<[Arc<Form<i64>>]>,
    /// An address that has bounds without them: it is the same wherever the access is looked at.
    free: Option<Arc<Free>>,
}

impl Addresses {
    /// With terms that many accesses have in common.
    pub(super) fn new(forms: Vec<Form<i64>>, shared: &SharedTerms<i64>) -> Self {
        let forms: Arc<[_]> = forms.into_iter().map(|form| Arc::new(shared.share(form))).collect();
        let free = match &*forms {
            [address] => Free::new(address, shared).map(Arc::new),
            _ => None,
        };
        Self { forms, free }
    }

    /// What points touch, without bounds where that is the same.
    pub(super) fn piece(&self, array: usize, points: Points, width: i64) -> Option<Piece> {
        let piece = points.piece(array, Arc::clone(self.forms.first()?), width);
        Some(match self.free.as_ref().and_then(|free| free.piece(&piece)) {
            Some(free) => free,
            None => unclamped(piece),
        })
    }
}

impl Deref for Addresses {
    type Target = [Arc<Form<i64>>];

    fn deref(&self) -> &Self::Target {
        &self.forms
    }
}
