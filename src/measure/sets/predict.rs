//! The launches of a set with their predictions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::set::{MeasuredSet, SetLaunch};
use crate::device::{Architecture, Device, RunClock};
use crate::expr::{Coefficient as _, Scale};
use crate::kernel::{Instructions, Kernel};
use crate::launch::Candidate;
use crate::measure::join::{Case, Library, MeasuredGroup, RejectedCase, ValuePair, estimator, measured};
use crate::measure::measurements::{MeasuredQuantity, MeasuredRow};
use crate::parallel;
use crate::predict::{Confidence, Judge, Terms, Unpredicted};
use crate::quantity::Share;
use crate::sorting;
use crate::text::Fault;

/// A configuration with its prediction.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PredictedCase {
    /// Its position in the set.
    pub case: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Its variant, if it has several.
    pub variant: Option<String>,
    /// Parameters that the set gives.
    pub params: BTreeMap<String, i64>,
    /// The device.
    pub device: String,
    /// Block and fold.
    pub candidate: Candidate,
    /// Registers of a thread.
    pub registers: i64,
    /// Seconds as predicted and as measured, for each of what times are compared per.
    pub seconds: Option<ValuePair>,
    /// Everything else that was measured.
    pub values: Vec<(MeasuredQuantity, ValuePair)>,
    /// What is predicted to limit it.
    pub limiter: &'static str,
    /// Share of the warps that could be resident.
    pub occupancy: Share,
    /// Parts of the predicted time of the launch.
    pub terms: Terms,
    /// How sure the prediction is.
    pub confidence: Confidence,
    /// The architecture of the device.
    pub architecture: Architecture,
}

/// A configuration that cannot be predicted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedConfiguration {
    /// Its position in the set.
    pub case: usize,
    /// A stable name of the reason.
    pub code: &'static str,
    /// The reason.
    pub reason: String,
}

/// The launches of a kernel with its parameters on a device.
#[derive(Debug, Clone)]
pub struct SetGroup {
    /// The launches with their predictions.
    pub group: MeasuredGroup,
    /// For each of them its position in the set.
    pub cases: Vec<usize>,
    /// Whose hit rates and coefficients were used.
    pub curves: String,
    /// How sure the predictions are.
    pub judge: Judge,
}

/// A set with the predictions of its launches, to be scored.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PredictedSet {
    /// The set.
    pub set: MeasuredSet,
    /// Its configurations that have a prediction.
    pub cases: Vec<PredictedCase>,
    /// The others.
    pub rejected: Vec<RejectedConfiguration>,
    /// Whose hit rates and coefficients were used, each once.
    pub curves: BTreeSet<String>,
}

/// Codes of faults of kernels that are the same whatever the parameters are.
const WHOLE: [&str; 5] = ["cannot-read", "unknown-kernel", "unknown-variant", "unknown-param", "not-text"];

/// Predicts every launch of a set. A kernel or device that cannot be found is an error; a launch that cannot be
/// predicted is rejected. `done` counts launches.
pub fn predicted(
    set: &MeasuredSet,
    library: &dyn Library,
    done: &AtomicUsize,
) -> Result<PredictedSet, Vec<Fault>> {
    let outcomes = each(set, library, done, |group| (summed(set, &group), group.curves))?;
    let mut found = PredictedSet::empty(set);
    for outcome in outcomes {
        match outcome {
            Ok((cases, curves)) => {
                found.cases.extend(cases);
                found.curves.insert(curves);
            }
            Err(some) => found.rejected.extend(some),
        }
    }
    Ok(found.in_order())
}

/// The launches of a set with their predictions, which can be given other coefficients.
pub fn groups(
    set: &MeasuredSet,
    library: &dyn Library,
    done: &AtomicUsize,
) -> Result<(Vec<SetGroup>, Vec<RejectedConfiguration>), Vec<Fault>> {
    let (mut groups, mut rejected) = (Vec::new(), Vec::new());
    for outcome in each(set, library, done, |group| group)? {
        match outcome {
            Ok(group) => groups.push(group),
            Err(some) => rejected.extend(some),
        }
    }
    Ok((groups, rejected))
}

/// What is made of the launches of groups whose coefficients may have changed.
pub fn summaries(set: &MeasuredSet, groups: &[SetGroup], rejected: &[RejectedConfiguration]) -> PredictedSet {
    let mut found = PredictedSet { rejected: rejected.to_vec(), ..PredictedSet::empty(set) };
    for group in groups {
        found.cases.extend(summed(set, group));
        found.curves.insert(group.curves.clone());
    }
    found.in_order()
}

impl PredictedSet {
    fn empty(set: &MeasuredSet) -> Self {
        Self { set: set.clone(), cases: Vec::new(), rejected: Vec::new(), curves: BTreeSet::new() }
    }

    fn in_order(mut self) -> Self {
        sorting::sort_by_key(&mut self.cases, |c| c.case);
        sorting::sort_by_key(&mut self.rejected, |r| r.case);
        self
    }
}

fn summed(set: &MeasuredSet, group: &SetGroup) -> Vec<PredictedCase> {
    let cases = group.cases.iter().zip(&group.group.cases);
    cases.map(|(&at, case)| summary(set, at, group, case)).collect()
}

type Outcomes<T> = Vec<Result<T, Vec<RejectedConfiguration>>>;

/// Predicts launch by launch, and makes something of each.
fn each<T: Send>(
    set: &MeasuredSet,
    library: &dyn Library,
    done: &AtomicUsize,
    make: impl Fn(SetGroup) -> T + Sync + Send,
) -> Result<Outcomes<T>, Vec<Fault>> {
    let devices = devices(set, library)?;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); set.launches.len()];
    for (i, case) in set.cases.iter().enumerate() {
        members[case.launch].push(i);
    }
    let launches: Vec<(&SetLaunch, Vec<usize>)> = set.launches.iter().zip(members).collect();
    let outcomes = parallel::map(&launches, |(launch, members)| {
        let device = devices[&device_of(launch)].clone();
        let outcome = one(set, launch, members, device, library);
        done.fetch_add(1, Ordering::Relaxed);
        outcome.map(&make)
    });
    // What is wrong with all launches is wrong with the kernel, and so is what no parameters can mend.
    let all = !outcomes.is_empty() && outcomes.iter().all(|o| matches!(o, Err(Unfound::Kernel(_))));
    let (mut found, mut faults): (Outcomes<T>, Vec<Fault>) = Default::default();
    for (outcome, (_, members)) in outcomes.into_iter().zip(launches) {
        match outcome {
            Ok(made) => found.push(Ok(made)),
            Err(Unfound::Kernel(fault))
                if all || fault.diagnostics.iter().any(|d| WHOLE.contains(&d.code)) =>
            {
                // Many launches often share one fault.
                if !faults.iter().any(|f| f.to_string() == fault.to_string()) {
                    faults.push(fault);
                }
            }
            Err(why) => found.push(Err(why.rejected(&members))),
        }
    }
    if all {
        faults.truncate(1);
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

/// Why a launch has no prediction.
enum Unfound {
    /// There is no kernel with these parameters.
    Kernel(Fault),
    /// The kernel cannot be launched like this, or not be counted.
    Launch(Unpredicted),
}

impl Unfound {
    fn rejected(&self, members: &[usize]) -> Vec<RejectedConfiguration> {
        let (code, reason) = match self {
            Unfound::Kernel(fault) => ("kernel", fault.diagnostics.first().map(|d| d.message.clone())),
            Unfound::Launch(why) => (why.code(), Some(why.to_string())),
        };
        let reason = reason.unwrap_or_default();
        members.iter().map(|&case| RejectedConfiguration { case, code, reason: reason.clone() }).collect()
    }
}

type DeviceKey<'l> = (&'l str, Option<u64>);

fn device_of(launch: &SetLaunch) -> DeviceKey<'_> {
    (launch.subject.device.as_deref().unwrap_or_default(), launch.clock_hz)
}

/// The devices with the clocks of the measurements.
fn devices<'s>(
    set: &'s MeasuredSet,
    library: &dyn Library,
) -> Result<BTreeMap<DeviceKey<'s>, Device>, Vec<Fault>> {
    let mut devices = BTreeMap::new();
    let mut faults: Vec<Fault> = Vec::new();
    let mut named: BTreeMap<&str, Device> = BTreeMap::new();
    for launch in &set.launches {
        let key = device_of(launch);
        if devices.contains_key(&key) {
            continue;
        }
        let known = named.get(key.0).cloned().map_or_else(|| library.device(&launch.subject), Ok);
        match known {
            Ok(device) => {
                named.entry(key.0).or_insert_with(|| device.clone());
                let clock = launch.clock_hz.map(RunClock::of_hertz);
                devices.insert(
                    key,
                    match clock {
                        Some(clock) => device.at_clock(clock),
                        None => device,
                    },
                );
            }
            Err(fault) if faults.iter().any(|f| f.to_string() == fault.to_string()) => {}
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(devices) } else { Err(faults) }
}

/// Predicts one launch.
fn one(
    set: &MeasuredSet,
    launch: &SetLaunch,
    members: &[usize],
    device: Device,
    library: &dyn Library,
) -> Result<SetGroup, Unfound> {
    let kernel = library.kernel(&launch.subject).map_err(Unfound::Kernel)?;
    let kernel = launched(kernel, launch);
    let estimator = estimator(library, &launch.subject, &kernel, &device);
    let curves = estimator.curves.name();
    let judge = Judge::new(&estimator);
    let judge = if launch.clock_hz.is_some() { judge.at_known_clock() } else { judge };
    // What single instructions do is not asked for.
    let prediction = estimator.predict(launch.candidate).map_err(Unfound::Launch)?.without_instructions();
    let case = |&at: &usize| {
        let rows: Vec<&MeasuredRow> = set.cases[at].rows.iter().collect();
        Case {
            candidate: launch.candidate,
            lines: rows.iter().map(|r| r.line).collect(),
            measured: measured(&rows, prediction.items.get()),
            prediction: prediction.clone(),
        }
    };
    let cases = members.iter().map(case).collect();
    let rejected: Vec<RejectedCase> = Vec::new();
    let group = MeasuredGroup { subject: launch.subject.clone(), kernel, device, cases, rejected };
    Ok(SetGroup { group, cases: members.to_vec(), curves, judge })
}

/// A kernel that is launched as the set says.
fn launched(mut kernel: Kernel, launch: &SetLaunch) -> Kernel {
    if let Some(value) = launch.registers {
        kernel.set_registers(value);
    }
    if let Some(bytes) = launch.shared_bytes {
        kernel.launch.shared = Scale::int(bytes);
    }
    if let Some(grid) = launch.grid {
        kernel.launch.grid = Some(grid.map(Scale::int));
    }
    if !launch.instructions.is_empty() {
        let said = |class| launch.instructions.iter().any(|i| i.0 == class);
        let others = kernel.work.instructions.given().filter(|(class, _)| !said(*class));
        let others: Vec<_> = others.map(|(class, count)| (class, count.get())).collect();
        let own = launch.instructions.iter().map(|(class, count)| (*class, count.get()));
        let all = Instructions::new(own.chain(others));
        kernel.work.instructions = all.expect("counts are at least 0, and classes stand once in a mapping");
    }
    kernel
}

/// What scores and reports need of a launch.
fn summary(set: &MeasuredSet, at: usize, of: &SetGroup, case: &Case) -> PredictedCase {
    let SetGroup { group, judge, .. } = of;
    let prediction = &case.prediction;
    let per = set.cases[at].per;
    let seconds = case
        .seconds(&group.device)
        .map(|measured| ValuePair::new(prediction.time.seconds.get() / per, measured / per));
    let volumes = MeasuredQuantity::ALL.into_iter().filter(|q| !q.is_speed());
    PredictedCase {
        case: at,
        kernel: group.kernel.name.clone(),
        variant: group.kernel.variant.clone(),
        params: group.subject.params.clone(),
        device: group.device.id.clone(),
        candidate: case.candidate,
        registers: prediction.launch.registers,
        seconds,
        values: volumes.filter_map(|q| Some((q, case.pair(q, &group.device)?))).collect(),
        limiter: prediction.time.limiter.word(),
        occupancy: prediction.occupancy.fraction,
        terms: prediction.time.terms,
        confidence: judge.confidence(prediction),
        architecture: group.device.architecture,
    }
}
