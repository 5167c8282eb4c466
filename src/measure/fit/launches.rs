//! What is fitted to.

use crate::measure::join::MeasuredGroup;
use crate::predict::Estimator;

/// Launches to fit to.
#[derive(Debug, Clone)]
pub(super) struct Launches<'g> {
    pub(super) group: &'g MeasuredGroup,
    pub(super) estimator: Estimator<'g>,
    /// Which of the curve files is that of its device.
    pub(super) device: usize,
    /// What predicted times are multiplied with where the clock of the measurements is not known.
    pub(super) clock_factor: f64,
    /// Launches of one class count as much as those of another, however many they are.
    pub(super) class: String,
}
