//! Sets of measured launches.

use serde::Serialize;

use crate::kernel::InstructionClass;
use crate::launch::Candidate;
use crate::measure::measurements::{MeasuredRow, MeasuredSubject};
use crate::space::Grid;

/// What is known of a set whatever is predicted of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SetFacts {
    /// Its short name.
    pub id: String,
    /// What was measured.
    pub about: Option<String>,
    /// Where the data come from.
    pub source: Option<String>,
    /// Their licence.
    pub licence: Option<String>,
    /// The table.
    pub data: String,
    /// Rows of the table.
    pub rows: usize,
    /// Rows that the set takes.
    pub rows_taken: usize,
    /// Rows that are left out since `when` says nothing of them: a cell that it takes is empty.
    pub rows_unsaid: usize,
}

/// A set of measured launches: configurations of kernels on devices, and which of them are compared.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MeasuredSet {
    /// Its name, and where it comes from.
    pub facts: SetFacts,
    /// Different launches.
    pub launches: Vec<SetLaunch>,
    /// Configurations with what was measured of them.
    pub cases: Vec<SetCase>,
    /// Problems: configurations of one are alternatives to each other.
    pub problems: Vec<Problem>,
    /// Which configurations are scored together.
    pub scopes: Vec<SetScope>,
    /// Whether the clock of the measurements is not known, so that one factor on all times is fitted.
    pub clock_fitted: bool,
}

/// A launch with everything that its prediction depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SetLaunch {
    /// Kernel, parameters, device.
    pub subject: MeasuredSubject,
    /// Block and fold.
    pub candidate: Candidate,
    /// Registers of a thread, if not those of the kernel.
    pub registers: Option<i64>,
    /// Bytes of shared memory of a block, if not those of the kernel.
    pub shared_bytes: Option<i64>,
    /// The grid, if not that of the kernel.
    pub grid: Option<Grid>,
    /// The clock in Hz, if not that of the device.
    pub clock_hz: Option<u64>,
    /// Instructions that a thread issues for a work item, by class, instead of those of the kernel.
    pub(super) instructions: Vec<(InstructionClass, Count)>,
}

/// A finite number of at least 0, which can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Count(u64);

impl Count {
    pub(super) fn new(count: f64) -> Option<Self> {
        (count.is_finite() && count >= 0.0).then(|| Self(count.to_bits()))
    }

    pub(super) fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// A configuration.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SetCase {
    /// Its name: the columns that make it.
    pub config: String,
    /// Its problem.
    pub problem: usize,
    /// Its launch.
    pub launch: usize,
    /// What was measured, once or several times.
    pub rows: Vec<MeasuredRow>,
    /// Times are compared per so many of these.
    pub(crate) per: f64,
    /// The median of its times, in seconds or something proportional to them.
    pub(crate) duration: Option<f64>,
}

/// Configurations that are alternatives to each other.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// Its name.
    pub name: String,
    /// How long the usual choice takes, in seconds or something proportional to them.
    pub(crate) usual: Option<f64>,
}

/// What a scope is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// The whole set.
    All,
    /// Those with the same cells in some columns.
    Group,
    /// Those for which a condition of the set file holds.
    Part,
}

impl ScopeKind {
    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            ScopeKind::All => "all",
            ScopeKind::Group => "group",
            ScopeKind::Part => "part",
        }
    }
}

/// Configurations that are scored together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SetScope {
    /// What it is.
    pub kind: ScopeKind,
    /// Its name; empty for the whole set.
    pub name: String,
    /// Its configurations among those that are looked at.
    pub cases: Vec<usize>,
    /// How many configurations it has in the data.
    pub configurations: usize,
    /// Of those that were measured more than once, the first two times, in seconds or something proportional.
    pub(crate) repeated: Vec<(f64, f64)>,
}
