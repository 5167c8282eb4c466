//! Constant integer tables.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A constant integer table.
#[derive(Debug, Clone)]
pub struct LookupTable {
    /// Its name.
    pub name: String,
    /// Entries along each dimension.
    pub shape: Vec<usize>,
    /// The entries, last dimension fastest.
    pub values: Vec<i64>,
    /// The smallest and the largest entry.
    pub(super) reach: Option<(i64, i64)>,
}

impl LookupTable {
    /// A table with these entries, the last dimension fastest.
    pub fn new(name: String, shape: Vec<usize>, values: Vec<i64>) -> Self {
        let reach = values.iter().copied().min().zip(values.iter().copied().max());
        Self { name, shape, values, reach }
    }

    /// The entry at given indices, if they lie inside.
    pub fn get(&self, indices: &[i64]) -> Option<i64> {
        if indices.len() != self.shape.len() {
            return None;
        }
        let mut flat = 0;
        for (&index, &extent) in indices.iter().zip(&self.shape) {
            flat = flat * extent + usize::try_from(index).ok().filter(|&i| i < extent)?;
        }
        self.values.get(flat).copied()
    }
}

// Forms are compared, sorted and hashed all the time, and a table may be long: the same table is told
// by its place, and names are mostly enough to tell tables apart.
impl Ord for LookupTable {
    fn cmp(&self, other: &Self) -> Ordering {
        if std::ptr::eq(self, other) {
            return Ordering::Equal;
        }
        (&self.name, &self.shape, &self.values).cmp(&(&other.name, &other.shape, &other.values))
    }
}

impl PartialOrd for LookupTable {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for LookupTable {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for LookupTable {}

impl Hash for LookupTable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.shape).hash(state);
    }
}
