//! The document of `cache-probe`.

use serde::Serialize;

use super::device::ProbedLevel;
use super::device::device_keys;
use crate::device::Change;
use crate::probe::{Logs, ProbeFindings};
use crate::report::check::Tool;

/// Cache structure from latencies: `wavecast/probe/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProbeDocument {
    /// `wavecast/probe/1`.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// The logs.
    pub sources: Vec<String>,
    /// What they say.
    #[serde(flatten)]
    pub findings: ProbeFindings,
    /// Keys of a device file that follow.
    pub device_keys: Vec<Change>,
}

impl ProbeDocument {
    /// What logs say; for a device file, what chases went through must be said.
    pub fn new(sources: Vec<String>, logs: &Logs, level: Option<ProbedLevel>) -> Self {
        let findings = ProbeFindings::new(logs);
        let device_keys = device_keys(&findings, level);
        Self { schema: "wavecast/probe/1", tool: Tool::this(), sources, findings, device_keys }
    }
}
