//! `check`: what was understood.

use super::asker::fault;
use super::launches::OneLaunch;
use super::source::KernelsRead;
use crate::device::Device;
use crate::report::{Check, check, check_sets};
use crate::text::Fault;

/// What was understood of each kernel?
#[derive(Debug, Clone, Default)]
pub struct Inspect {
    /// List every launch.
    pub candidates: bool,
    /// Show the sets and maps of this launch in isl's notation.
    pub sets: Option<OneLaunch>,
}

impl Inspect {
    /// What was understood; with a device also what it can run.
    pub fn answer(&self, kernels: &KernelsRead, device: Option<&Device>) -> Result<Vec<Check>, Fault> {
        let one = |kernel| {
            let mut found = check(kernel, kernels.sources(), device, self.candidates);
            if let Some(launch) = self.sets {
                let sets = check_sets(kernel, launch.chosen(kernel).candidate).map_err(|why| {
                    fault("no-sets", format!("{}: the sets cannot be shown: {why}", kernel.name), None)
                });
                found.sets = Some(sets?);
            }
            Ok(found)
        };
        kernels.kernels().iter().map(one).collect()
    }
}
