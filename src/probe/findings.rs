//! All that logs say.

use serde::Serialize;

use super::clusters::Clusters;
use super::finding::Structure;
use super::infer::infer;
use super::levels::{LatencyLevel, levels};
use super::log::ChaseOrder;
use super::mshr::{MshrsFound, mshrs};
use super::read::{Figure, Logs};
use super::sethash::{SetHash, set_hash};

/// Loads of a chase from which on it is looked at.
const LEAST: usize = 9;

/// All that logs say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProbeFindings {
    /// Chases that were read.
    pub runs: usize,
    /// Loads of all chases.
    pub loads: u64,
    /// What was left out of the logs, and why.
    pub warnings: Vec<String>,
    /// Which latencies belong together.
    #[serde(flatten)]
    pub latencies: Clusters,
    /// One level, from chases load by load.
    pub structure: Option<Structure>,
    /// Levels, from latency against size.
    pub levels: Vec<LatencyLevel>,
    /// The set hash, from what lines put out (N 5.1).
    pub set_hash: Option<SetHash>,
    /// Miss-status holding registers (N 5.2).
    pub mshrs: Option<MshrsFound>,
    /// Throughputs and latencies of other experiments.
    pub figures: Vec<Figure>,
}

impl ProbeFindings {
    /// What follows from logs.
    pub fn new(logs: &Logs) -> Self {
        let evict = logs.runs.iter().find(|r| matches!(r.order, ChaseOrder::Evict { .. }));
        let chases =
            logs.runs.iter().any(|r| !matches!(r.order, ChaseOrder::Evict { .. }) && r.loads.len() >= LEAST);
        let structure = chases.then(|| infer(&logs.runs));
        let latencies = structure.as_ref().map_or_else(|| Clusters::new(&logs.runs), |s| s.clusters.clone());
        let line = structure.as_ref().and_then(|s| s.line.value);
        let hash = evict.and_then(|run| {
            let bytes = line.unwrap_or_else(|| run.step()).max(run.step());
            set_hash(&logs.runs, &latencies, bytes)
        });
        Self {
            runs: logs.runs.len(),
            loads: logs.runs.iter().map(|r| r.loads.len() as u64).sum(),
            warnings: logs.warnings.clone(),
            latencies,
            structure,
            levels: levels(&logs.sizes),
            set_hash: hash,
            mshrs: (!logs.mshrs.is_empty()).then(|| mshrs(&logs.mshrs)),
            figures: logs.figures.clone(),
        }
    }
}
