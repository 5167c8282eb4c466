//! What was understood of a kernel, as a document.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::device::Device;
use crate::kernel::{InstructionClass, Precision, Space};
use crate::launch::{Candidate, Launch, Occupancy};
use crate::quantity::{PerItem, Times};
use crate::space::{Block, Fold};
use crate::text::shorten;

/// What was understood of a kernel: `wavecast/check/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// `wavecast/check/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// Name, domain and parameters.
    pub kernel: KernelSummary,
    /// The compiled code that the accesses were read of, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeSummary>,
    /// The arrays.
    pub fields: Vec<FieldSummary>,
    /// What a thread does before folding, in program order.
    pub program: Vec<StatementSummary>,
    /// The condition under which a thread works, beyond the domain.
    pub guard: Option<String>,
    /// The memory instructions of a thread for each fold.
    pub folds: Vec<FoldSummary>,
    /// The launch candidates.
    pub launch: LaunchSummary,
    /// The device against which candidates were checked.
    pub device: Option<DeviceSummary>,
    /// The sets and maps in isl's notation, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<SetsSummary>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// The sets and maps of one candidate in isl's notation.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SetsSummary {
    /// The candidate.
    pub config: Candidate,
    /// Threads that work (bx, by, bz the block, tx, ty, tz the thread in it), with their iterations.
    pub threads: String,
    /// Maps from threads to byte addresses of a field whose base lies at 0.
    pub accesses: Vec<SetsAccess>,
}

/// A map from threads to addresses.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SetsAccess {
    /// What is done there.
    pub kind: String,
    /// The map.
    pub map: String,
}

/// The program.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tool {
    /// `wavecast`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl Tool {
    /// This program.
    pub fn this() -> Self {
        Self { name: "wavecast", version: env!("CARGO_PKG_VERSION") }
    }
}

/// Name, domain and parameters.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelSummary {
    /// The name.
    pub name: String,
    /// The variant, if the document has variants.
    pub variant: Option<String>,
    /// One line on what it is.
    pub about: Option<String>,
    /// What a work item is called.
    pub unit: String,
    /// Names of the axes in launch order.
    pub axes: Vec<String>,
    /// Work items along the axes.
    pub domain: Vec<i64>,
    /// Work items in all.
    pub work_items: i64,
    /// Parameters after overrides.
    pub params: BTreeMap<String, i64>,
    /// Floating-point operations of a work item; null if not given.
    pub flops: Option<f64>,
    /// Their precision.
    pub precision: Precision,
    /// Instructions that a thread issues for a work item, by class, as far as they are given.
    pub instructions: BTreeMap<InstructionClass, Times<PerItem>>,
}

/// Compiled code.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodeSummary {
    /// The text of PTX.
    pub file: String,
    /// The entry.
    pub entry: String,
    /// The blocks that it was read for.
    pub blocks: Vec<Block>,
}

/// An array.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FieldSummary {
    /// The name.
    pub name: String,
    /// Element type.
    pub dtype: String,
    /// Bytes of an element.
    pub element_bytes: i64,
    /// Elements along each index; text where it depends on the block.
    pub shape: Vec<String>,
    /// Elements between neighbours along each index.
    pub strides: Vec<String>,
    /// Elements before the first interior one along each index.
    pub halo: Vec<i64>,
    /// Bytes of one array; null where it depends on the block.
    pub bytes: Option<i64>,
    /// Alignment of the allocation in bytes.
    pub align: i64,
    /// Bytes added to every address.
    pub offset_bytes: i64,
    /// Byte of the first interior element; null where it depends on the block.
    pub first_interior_byte: Option<i64>,
    /// Where it lives.
    pub space: Space,
    /// Number of identical arrays.
    pub multiplicity: i64,
}

/// A step of a thread.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum StatementSummary {
    /// A memory instruction.
    Access(AccessSummary),
    /// A barrier of the block.
    Sync,
    /// A loop.
    Loop(LoopSummary),
}

/// A memory instruction.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AccessSummary {
    /// `load`, `store` or `atomic`.
    pub kind: &'static str,
    /// The field.
    pub field: String,
    /// As written, names resolved and simplified.
    pub at: String,
    /// Elements from the field's base, before the field's offset, simplified.
    pub element: String,
    /// Bytes touched.
    pub width: i64,
    /// Only where this holds.
    pub when: Option<String>,
    /// Of compiled code: the line of the PTX, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Of compiled code: the line that it was compiled from, where the PTX says so, as `saxpy.cu:4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A loop.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopSummary {
    /// Its variable.
    pub variable: String,
    /// First value.
    pub from: String,
    /// Last value that may occur.
    pub to: String,
    /// Distance.
    pub step: String,
    /// How many iterations the document says are enough to look at; all are counted.
    pub sample: Option<i64>,
    /// What is repeated.
    pub body: Vec<StatementSummary>,
}

/// The memory instructions of a thread for one fold, each counted once whatever the loop around it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoldSummary {
    /// Work items of a thread along x, y, z.
    pub fold: Fold,
    /// Load instructions.
    pub loads: usize,
    /// Store instructions.
    pub stores: usize,
    /// Atomic instructions.
    pub atomics: usize,
    /// Loads that were merged with an equal one.
    pub merged_loads: usize,
}

/// The launch candidates.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchSummary {
    /// Block shapes times folds.
    pub candidates: usize,
    /// Block shapes.
    pub blocks: usize,
    /// Folds.
    pub folds: usize,
    /// Candidates that the device can run; null without a device.
    pub feasible: Option<usize>,
    /// The candidates, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configs: Option<Vec<ConfigSummary>>,
    /// Candidates that cannot run, with the reason.
    pub infeasible: Vec<InfeasibleSummary>,
}

/// A candidate.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConfigSummary {
    /// The rest.
    #[serde(flatten)]
    pub launch: Launch,
    /// The occupancy on the device; null without one.
    pub occupancy: Option<Occupancy>,
}

/// A candidate that cannot run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InfeasibleSummary {
    /// Block and fold.
    pub config: Candidate,
    /// Why it cannot run.
    pub reason: String,
    /// A stable name of the reason.
    pub code: &'static str,
}

/// A device.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DeviceSummary {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The numbers that were changed of it, by their paths; only if some were.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: BTreeMap<String, String>,
}

impl DeviceSummary {
    /// Of a device.
    pub fn new(device: &Device) -> Self {
        Self { id: device.id.clone(), name: device.name.clone(), changed: device.changed.clone() }
    }

    /// What was changed of it, as `PATH=VALUE` texts; empty if nothing was.
    pub(in crate::report) fn changes(&self) -> String {
        let one = |(path, value): (&String, &String)| format!("{path}={}", shorten(value));
        self.changed.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Its name, and what was changed of it.
    pub(in crate::report) fn title(&self) -> String {
        if self.changed.is_empty() {
            self.name.clone()
        } else {
            format!("{} with {}", self.name, self.changes())
        }
    }
}

/// Something that deserves a look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warning {
    /// A stable name of the kind of finding.
    pub code: &'static str,
    /// What it is.
    pub message: String,
    /// `file:line:column`, if it stands anywhere.
    #[serde(rename = "where")]
    pub place: Option<String>,
}
