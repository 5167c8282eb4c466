//! Measured launches.

use std::collections::{BTreeMap, HashMap};

use super::quantity::MeasuredQuantity;
use crate::device::RunClock;
use crate::kernel::Kernel;
use crate::sorting;
use crate::space::{Block, Fold};
use crate::traffic::Caches;

/// What a number is the amount of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Per {
    /// One work item.
    Item,
    /// The whole launch.
    Launch,
}

/// One measured number in base units: bytes, seconds, work items per second, or a count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredValue {
    /// What was measured.
    pub quantity: MeasuredQuantity,
    /// Of a launch or of a work item; of the launch for what says how fast it was.
    pub per: Per,
    /// The number.
    pub(in crate::measure) amount: f64,
}

impl MeasuredValue {
    /// The number, in the base unit of its quantity.
    pub fn amount(&self) -> f64 {
        self.amount
    }
}

/// One measured launch.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRow {
    /// Its line in the file, from 1; 0 if it comes from none.
    pub line: usize,
    /// Position of its subject.
    pub subject: usize,
    /// Threads of a block.
    pub block: Block,
    /// Work items of a thread.
    pub fold: Fold,
    /// What was measured, at least one number, each quantity once, in the order of [`MeasuredQuantity::ALL`].
    pub values: Box<[MeasuredValue]>,
}

/// What launches are of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MeasuredSubject {
    /// The name of a kernel, or the path of its file.
    pub kernel: String,
    /// Its variant, if it has several.
    pub variant: Option<String>,
    /// The device, if it is named.
    pub device: Option<String>,
    /// Parameters that differ from those of the file.
    pub params: BTreeMap<String, i64>,
    /// What the caches held when each launch began, if that is known.
    pub caches: Option<Caches>,
    /// The clock that the runs had, if that is known.
    pub clock: Option<RunClock>,
}

impl MeasuredSubject {
    /// Whether this kernel of its document is meant: that with the variant, or with that for a name where a document has
    /// several kernels.
    pub fn means(&self, kernel: &Kernel) -> bool {
        self.variant.as_deref().is_none_or(|v| kernel.variant().as_deref() == Some(v) || kernel.name() == v)
    }
}

/// Measured launches of any kernels and devices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measurements {
    /// What they are of, each once, in the order in which they come.
    pub subjects: Vec<MeasuredSubject>,
    /// The launches in the order in which they come.
    pub rows: Vec<MeasuredRow>,
    known: HashMap<MeasuredSubject, usize>,
}

impl Measurements {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The position of a subject, which is added if it is new.
    pub fn subject(&mut self, subject: &MeasuredSubject) -> usize {
        if let Some(&at) = self.known.get(subject) {
            return at;
        }
        let at = self.subjects.len();
        self.subjects.push(subject.clone());
        self.known.insert(subject.clone(), at);
        at
    }

    /// Adds a launch with its numbers, which it puts in order. Of a quantity that comes twice the later
    /// number holds.
    pub fn push(
        &mut self,
        line: usize,
        subject: usize,
        block: Block,
        fold: Fold,
        mut values: Vec<MeasuredValue>,
    ) {
        values.reverse();
        sorting::sort_by_key(&mut values, |v| v.quantity);
        values.dedup_by_key(|v| v.quantity);
        self.rows.push(MeasuredRow { line, subject, block, fold, values: values.into_boxed_slice() });
    }

    /// What a row is of.
    pub fn subject_of(&self, row: &MeasuredRow) -> &MeasuredSubject {
        &self.subjects[row.subject]
    }
}

impl MeasuredRow {
    /// A number of the row.
    pub fn value(&self, quantity: MeasuredQuantity) -> Option<MeasuredValue> {
        self.values.iter().copied().find(|v| v.quantity == quantity)
    }
}
