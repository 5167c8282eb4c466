//! Accesses that leave their field.

use super::model::{Access, Field, Kernel};
use crate::expr::{Form, Scale};

/// Between which values an index or offset lies; none if that is not known.
type IntervalOf<'f> = &'f dyn Fn(&Form<Scale>) -> Option<(i64, i64)>;

/// Where an access leaves its field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outside<'k> {
    /// The field.
    pub(crate) field: &'k Field,
    /// The index that leaves it, from 0; none if it is the offset from the beginning.
    index: Option<usize>,
    form: &'k Form<Scale>,
    /// What the index or offset runs over.
    reached: (i64, i64),
    /// What there is.
    there: (i64, i64),
}

impl<'k> Outside<'k> {
    /// The first index of an access that leaves the field where indices lie in such intervals and sizes are as told; none if
    /// all stay inside, or if that is not known.
    pub(crate) fn find(
        kernel: &'k Kernel,
        access: &'k Access,
        interval: IntervalOf<'_>,
        size: &dyn Fn(&Scale) -> Option<i64>,
    ) -> Option<Self> {
        let field = kernel.field(access.field);
        let outside = |index, form: &'k Form<Scale>, there: (i64, i64)| {
            let reached = interval(form)?;
            let is_inside = reached.0 >= there.0 && reached.1 <= there.1;
            (!is_inside).then_some(Self { field, index, form, reached, there })
        };
        let Some(indices) = &access.indices else {
            return outside(None, &access.element, (0, size(&field.elements)? - 1));
        };
        for (index, form) in indices.iter().enumerate() {
            let (count, halo) = (size(&field.shape[index])?, field.halo[index]);
            if let Some(found) = outside(Some(index), form, (-halo, count - halo - 1)) {
                return Some(found);
            }
        }
        None
    }

    /// In words.
    pub(crate) fn told(&self, kernel: &Kernel) -> String {
        let what = match self.index {
            Some(index) => format!("index {}", index + 1),
            None => "the offset".to_owned(),
        };
        let ((from, to), (low, last)) = (self.reached, self.there);
        let form = kernel.names().form(self.form);
        let field = &self.field.name;
        format!(
            "{what} of this access to `{field}`, `{form}`, runs from {from} to {to}; the field has {low} to {last}"
        )
    }
}
