//! Measured launches beside the predictions of the same launches.

use std::collections::HashMap;

use serde::Serialize;

use super::PercentShare;
use super::measurements::{MeasuredQuantity, MeasuredRow, MeasuredSubject, Measurements, Per};
use crate::device::Device;
use crate::kernel::Kernel;
use crate::launch::Candidate;
use crate::parallel;
use crate::predict::{Estimator, Prediction};
use crate::text::Fault;
use crate::traffic::Caches;

/// Measured launches of one kernel with its parameters on one device.
#[derive(Debug, Clone)]
pub struct MeasuredGroup {
    /// What the measurements call it.
    pub subject: MeasuredSubject,
    /// The kernel.
    pub kernel: Kernel,
    /// The device.
    pub device: Device,
    /// The launches, each configuration once.
    pub cases: Vec<Case>,
    /// Launches that cannot be predicted.
    pub rejected: Vec<RejectedCase>,
}

/// A measured launch with its prediction.
#[derive(Debug, Clone)]
pub struct Case {
    /// Block and fold.
    pub candidate: Candidate,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
    /// What was measured: bytes and counts per work item, seconds, work items per second, cycles. Of a
    /// launch that was measured several times the medians.
    pub(in crate::measure) measured: Vec<(MeasuredQuantity, f64)>,
    /// What is predicted.
    pub prediction: Prediction,
}

/// A launch that cannot be predicted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RejectedCase {
    /// Block and fold.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// A stable name of the reason.
    pub code: &'static str,
    /// The reason.
    pub reason: String,
    /// Lines of its measurements.
    pub lines: Vec<usize>,
}

/// A number as it was predicted and as it was measured: bytes or counts per work item, seconds, work
/// items per second, cycles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValuePair {
    /// What is predicted.
    predicted: f64,
    /// What was measured.
    measured: f64,
    /// predicted / measured - 1, in percent; null where zero was measured.
    #[serde(rename = "error_percent")]
    error: Option<PercentShare>,
}

impl ValuePair {
    /// Of a value that was measured, at least zero.
    pub fn new(predicted: f64, measured: f64) -> Self {
        Self {
            predicted,
            measured,
            error: (measured > 0.0).then(|| PercentShare::new(predicted / measured - 1.0)),
        }
    }

    /// What is predicted.
    pub fn predicted(&self) -> f64 {
        self.predicted
    }

    /// What was measured.
    pub fn measured(&self) -> f64 {
        self.measured
    }

    /// Predicted / measured - 1; none where zero was measured.
    pub fn error(&self) -> Option<PercentShare> {
        self.error
    }
}

/// Where the kernels and devices come from that measurements name, and how they are predicted.
pub trait Library: Sync {
    /// The kernel of a subject, with its parameters.
    fn kernel(&self, subject: &MeasuredSubject) -> Result<Kernel, Fault>;
    /// The device of a subject.
    fn device(&self, subject: &MeasuredSubject) -> Result<Device, Fault>;
    /// An estimator of a kernel on a device.
    fn estimator<'a>(&'a self, kernel: &'a Kernel, device: &'a Device) -> Estimator<'a>;
}

/// Predicts every launch that was measured. Each kind of subject that cannot be resolved is an error.
pub fn join(measurements: &Measurements, library: &dyn Library) -> Result<Vec<MeasuredGroup>, Vec<Fault>> {
    let mut groups = Vec::new();
    let mut faults: Vec<Fault> = Vec::new();
    for (subject, rows) in measurements.subjects.iter().zip(by_subject(measurements)) {
        if rows.is_empty() {
            continue;
        }
        let found = library.kernel(subject).and_then(|kernel| Ok((kernel, library.device(subject)?)));
        match found {
            Ok((kernel, device)) => groups.push((subject, kernel, device, rows)),
            // Many subjects often share one fault.
            Err(fault) if faults.iter().any(|f| f.to_string() == fault.to_string()) => {}
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let one = |(subject, kernel, device, rows): (&MeasuredSubject, Kernel, Device, Vec<&MeasuredRow>)| {
        let (cases, rejected) = cases(&estimator(library, subject, &kernel, &device), &rows);
        MeasuredGroup { subject: subject.clone(), kernel, device, cases, rejected }
    };
    Ok(parallel::map_each(groups, one))
}

/// An estimator with the caches as they were when the launches were measured, where that is known.
pub(super) fn estimator<'a>(
    library: &'a dyn Library,
    subject: &MeasuredSubject,
    kernel: &'a Kernel,
    device: &'a Device,
) -> Estimator<'a> {
    let estimator = library.estimator(kernel, device);
    Estimator { caches: subject.caches.unwrap_or(estimator.caches), ..estimator }
}

fn by_subject(measurements: &Measurements) -> Vec<Vec<&MeasuredRow>> {
    let mut rows: Vec<Vec<&MeasuredRow>> = vec![Vec::new(); measurements.subjects.len()];
    for row in &measurements.rows {
        rows[row.subject].push(row);
    }
    rows
}

fn cases(estimator: &Estimator<'_>, rows: &[&MeasuredRow]) -> (Vec<Case>, Vec<RejectedCase>) {
    let mut places: HashMap<Candidate, usize> = HashMap::new();
    let mut launches: Vec<(Candidate, Vec<&MeasuredRow>)> = Vec::new();
    for &row in rows {
        let candidate = Candidate::shaped(row.block, row.fold);
        let at = *places.entry(candidate).or_insert(launches.len());
        match launches.get_mut(at) {
            Some((_, same)) => same.push(row),
            None => launches.push((candidate, vec![row])),
        }
    }
    let outcomes: Vec<Result<Case, RejectedCase>> =
        parallel::map(&launches, |(candidate, rows)| case(estimator, *candidate, rows));
    let (mut found, mut rejected) = (Vec::with_capacity(outcomes.len()), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(case) => found.push(case),
            Err(why) => rejected.push(why),
        }
    }
    (found, rejected)
}

fn case(
    estimator: &Estimator<'_>,
    candidate: Candidate,
    rows: &[&MeasuredRow],
) -> Result<Case, RejectedCase> {
    let lines = rows.iter().map(|r| r.line).collect();
    match estimator.predict(candidate) {
        Ok(prediction) => {
            // What single instructions do is not asked for.
            let prediction = prediction.without_instructions();
            let measured = measured(rows, prediction.items.get());
            Ok(Case { candidate, lines, measured, prediction })
        }
        Err(why) => Err(RejectedCase { candidate, lines, code: why.code(), reason: why.to_string() }),
    }
}

/// The medians of each quantity.
pub(super) fn measured(rows: &[&MeasuredRow], items: f64) -> Vec<(MeasuredQuantity, f64)> {
    let of = |quantity: MeasuredQuantity| {
        let values = rows.iter().filter_map(|r| r.value(quantity));
        let mut amounts: Vec<f64> = values
            .map(|v| match v.per {
                Per::Launch if !quantity.is_speed() => v.amount / items.max(1.0),
                _ => v.amount,
            })
            .collect();
        amounts.sort_by(f64::total_cmp);
        let upper = *amounts.get(amounts.len() / 2)?;
        let lower = *amounts.get(amounts.len().saturating_sub(1) / 2)?;
        Some((quantity, f64::midpoint(lower, upper)))
    };
    MeasuredQuantity::ALL.into_iter().filter_map(of).collect()
}

impl Case {
    /// What is predicted of a quantity, in the unit of what was measured; none of what the device has not.
    pub fn predicted(&self, quantity: MeasuredQuantity, device: &Device) -> Option<f64> {
        let (p, v) = (&self.prediction, &self.prediction.volumes);
        Some(match quantity {
            MeasuredQuantity::L1Load => v.l1.load_bytes.get(),
            MeasuredQuantity::L1Store => v.l1.store_bytes.get(),
            MeasuredQuantity::L2Load => v.l2.load.total.get(),
            MeasuredQuantity::L2Read => (v.l2.load.total + v.l2.code).get(),
            MeasuredQuantity::L2Store => v.l2.store.total.get(),
            MeasuredQuantity::LlcLoad => v.llc.as_ref()?.load.total.get(),
            MeasuredQuantity::LlcStore => v.llc.as_ref()?.store.total.get(),
            MeasuredQuantity::DramLoad => v.dram.load.total.get(),
            MeasuredQuantity::DramStore => v.dram.store.total.get(),
            MeasuredQuantity::L1Wavefronts => v.l1.data_wavefronts.get(),
            MeasuredQuantity::L1TagWavefronts => v.l1.tag_wavefronts.get(),
            MeasuredQuantity::Time => p.time.seconds.get(),
            MeasuredQuantity::Rate => p.rate().get(),
            MeasuredQuantity::Cycles => p.time.seconds.get() * device.clock.value.0,
        })
    }

    /// What was measured of a quantity.
    pub fn measured(&self, quantity: MeasuredQuantity) -> Option<f64> {
        self.measured.iter().find(|m| m.0 == quantity).map(|m| m.1)
    }

    /// What is predicted of a quantity beside what was measured of it; none of what the device has not.
    pub fn pair(&self, quantity: MeasuredQuantity, device: &Device) -> Option<ValuePair> {
        let measured = self.measured(quantity)?;
        Some(ValuePair::new(self.predicted(quantity, device)?, measured))
    }

    /// Measured seconds, however they were written.
    pub fn seconds(&self, device: &Device) -> Option<f64> {
        self.measured(MeasuredQuantity::Time)
            .or_else(|| self.measured(MeasuredQuantity::Rate).map(|rate| self.prediction.items.get() / rate))
            .or_else(|| self.measured(MeasuredQuantity::Cycles).map(|cycles| cycles / device.clock.value.0))
    }
}

impl MeasuredGroup {
    /// The estimator of its launches.
    pub fn estimator<'a>(&'a self, library: &'a dyn Library) -> Estimator<'a> {
        estimator(library, &self.subject, &self.kernel, &self.device)
    }

    /// What it is, for people: kernel, variant, parameters, device, its clock if it was another, and the caches if they were not warm.
    pub fn name(&self) -> String {
        let MeasuredSubject { variant, params, .. } = &self.subject;
        let mut name = self.kernel.name.clone();
        if let Some(variant) = variant {
            name = format!("{name}/{variant}");
        }
        for (param, value) in params {
            name = format!("{name} {param}={value}");
        }
        let caches = match self.subject.caches {
            Some(caches @ (Caches::Cold | Caches::Empty)) => format!(", {} caches", caches.word()),
            Some(Caches::Warm) | None => String::new(),
        };
        let clock = self.device.run_clock().map(|clock| format!(" at {clock}")).unwrap_or_default();
        format!("{name} on {}{clock}{caches}", self.device.id)
    }
}
