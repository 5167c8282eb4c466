//! `wavecast/sweep/1`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::check::{DeviceSummary, Warning};
use super::super::prediction::{
    DocumentLine, Head, ModelSummary, OfVariant, ResultDocument, head, result_document,
};
use crate::device::unread;
use crate::launch::Candidate;
use crate::predict::{Estimator, Summary};
use crate::quantity::{Bytes, ItemsPerSecond, PerItem, Ratio};
use crate::sweep::{Point, Refused, Vary, VaryValue};

/// A series: `wavecast/sweep/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepDocument {
    /// `wavecast/sweep/1`.
    pub schema: &'static str,
    /// What the series is about; the kernel and the device without what varies, or the first device where that varies.
    #[serde(flatten)]
    pub head: Head,
    /// Where the device itself varies, each of the devices, in the order of the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<SweptDevice>,
    /// What varies, one or two things: the axis, and the lines of a picture.
    pub vary: Vec<VaryDocument>,
    /// Whether each point is the best launch of all.
    pub best: bool,
    /// How many points there are.
    pub summary: SweepSummary,
    /// Series by series: for each value of the second thing, each variant and each launch, all values of
    /// the first.
    pub points: Vec<SweepPoint>,
    /// What deserves a look.
    pub warnings: Vec<Warning>,
}

/// One of the devices of a series over devices.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweptDevice {
    /// What the points call it.
    pub value: VaryValue,
    /// The device.
    pub device: DeviceSummary,
    /// How the results on it were made.
    pub model: ModelSummary,
}

/// One thing that varies.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VaryDocument {
    /// A parameter, a key of the device, `device` itself, or `block`, `block.x`, `fold` and so on.
    pub name: String,
    /// `parameter`, `device`, `block` or `fold`.
    pub kind: &'static str,
    /// The values, as the points repeat them.
    pub values: Vec<VaryValue>,
    /// The values as numbers of `unit`; null if they are not all numbers of one unit.
    pub(in crate::report) numbers: Option<Vec<f64>>,
    /// The unit of `numbers`, if it has one.
    pub unit: Option<String>,
}

impl VaryDocument {
    /// Whether it is the device itself, not a number of one.
    pub(in crate::report) fn is_the_device(&self) -> bool {
        self.kind == "device" && self.name == "device"
    }
}

/// How many points there are.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepSummary {
    /// All.
    pub points: usize,
    /// Those with a result.
    pub feasible: usize,
}

/// One point.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepPoint {
    /// What varies, by name.
    pub values: BTreeMap<String, VaryValue>,
    /// The launch; null if the best was asked for and there is none.
    pub config: Option<OfVariant<Candidate>>,
    /// Work items along the axes; empty if the kernel could not be read with these values.
    pub domain: Vec<i64>,
    /// Parameters after overrides.
    pub params: BTreeMap<String, i64>,
    /// Bytes between two uses over the capacity of a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oversubscription: Option<Oversubscription>,
    /// What is predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultDocument>,
    /// Why nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Refused>,
}

/// Bytes between two uses over the capacity of a cache: the further above 1, the fewer hits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Oversubscription {
    /// L1: lines of all resident blocks of an SM.
    pub l1: Ratio,
    /// L2: within a wave.
    pub l2_wave: Ratio,
    /// L2: since the last row of blocks.
    pub l2_row: Ratio,
    /// L2: since the last plane of blocks.
    pub l2_plane: Ratio,
}

/// What is kept of the prediction of a point.
pub type PointKept = (ResultDocument, Oversubscription);

/// What a series keeps of a prediction.
pub fn sweep_point(estimator: &Estimator<'_>, prediction: &Summary) -> PointKept {
    let pressure = &prediction.volumes.pressure;
    let [l2_wave, _, l2_row, l2_plane] = pressure.l2;
    let oversubscription = Oversubscription { l1: pressure.l1, l2_wave, l2_row, l2_plane };
    (result_document(estimator, prediction), oversubscription)
}

/// What a series over devices says of one of them.
pub fn swept_device(value: VaryValue, estimator: &Estimator<'_>) -> SweptDevice {
    let Head { device, model, .. } = head(estimator);
    SweptDevice { value, device, model }
}

/// A series as a document; `estimator` is that of the first variant without what varies, `devices` are those of a series
/// over devices.
pub fn sweep_document(
    estimator: &Estimator<'_>,
    devices: Vec<SweptDevice>,
    vary: &[Vary],
    best: bool,
    points: Vec<Point<PointKept>>,
    warnings: Vec<Warning>,
) -> SweepDocument {
    let feasible = points.iter().filter(|p| p.outcome.is_ok()).count();
    let mut document = SweepDocument {
        schema: "wavecast/sweep/1",
        head: head(estimator),
        devices,
        vary: vary.iter().map(vary_document).collect(),
        best,
        summary: SweepSummary { points: points.len(), feasible },
        points: points.into_iter().map(|p| point_document(vary, p)).collect(),
        warnings,
    };
    let still = without_effect(&document);
    document.warnings.extend(still);
    document
}

fn vary_document(vary: &Vary) -> VaryDocument {
    let numbers: Option<Vec<f64>> = vary.values.iter().map(VaryValue::number).collect();
    let unit = vary.values.first().and_then(VaryValue::unit);
    let same_unit = vary.values.iter().all(|v| v.unit() == unit);
    VaryDocument {
        name: vary.name.clone(),
        kind: vary.kind.word(),
        values: vary.values.clone(),
        numbers: numbers.filter(|_| same_unit),
        unit: unit.filter(|_| same_unit).map(str::to_owned),
    }
}

fn point_document(vary: &[Vary], point: Point<PointKept>) -> SweepPoint {
    let values = vary.iter().zip(point.values).map(|(v, value)| (v.name.clone(), value));
    let variant = point.variant;
    let config = point.candidate.map(|launch| OfVariant { variant, launch });
    let (kept, error) = match point.outcome {
        Ok(kept) => (Some(kept), None),
        Err(why) => (None, Some(why)),
    };
    let (result, oversubscription) = kept.unzip();
    SweepPoint {
        values: values.collect(),
        config,
        domain: point.domain,
        params: point.params.into_iter().collect(),
        oversubscription,
        result,
        error,
    }
}

/// Says of what varies in vain. A key of the device that the model does not read, say.
fn without_effect(document: &SweepDocument) -> Vec<Warning> {
    let length = |i: usize| document.vary.get(i).map_or(1, |v| v.values.len().max(1));
    let (axis, others) = (length(0), length(1));
    let group = document.points.len() / others;
    let mut warnings = Vec::new();
    for (i, vary) in document.vary.iter().enumerate() {
        // The point with the first value of this thing and all else equal.
        let twin = |at: usize| if i == 0 { at - at % axis } else { at % group.max(1) };
        let outcome = |p: &SweepPoint| p.result.as_ref().map(totals);
        let mut all = document.points.iter().enumerate();
        let same = all.all(|(at, p)| document.points.get(twin(at)).map(outcome) == Some(outcome(p)));
        if same && vary.values.len() > 1 && document.summary.feasible > 0 {
            let instead = unread(&vary.name).filter(|instead| !instead.is_empty());
            let help = instead.map(|path| format!("; the model counts with {path}")).unwrap_or_default();
            let message = format!("`{}` changes nothing{help}", vary.name);
            warnings.push(Warning { code: "no-effect", message, place: Some("--vary".to_owned()) });
        }
    }
    warnings
}

fn totals(r: &ResultDocument) -> (ItemsPerSecond, [Bytes<PerItem>; 4]) {
    let (l2, dram) = (&r.volumes.l2, &r.volumes.dram);
    (r.rate_per_s, [l2.load.total, l2.store.total, dram.load.total, dram.store.total])
}

impl SweepDocument {
    /// One line per point, each with its own device.
    pub fn lines(&self) -> impl Iterator<Item = DocumentLine<'_, SweepPoint>> {
        self.points.iter().map(|point| match self.device_of(point) {
            Some(SweptDevice { device, model, .. }) => self.head.line_on(self.schema, device, model, point),
            None => self.head.line(self.schema, point),
        })
    }

    /// Whether the device itself varies, so that the head is about the first only.
    pub(in crate::report) fn device_varies(&self) -> bool {
        self.vary.iter().any(VaryDocument::is_the_device)
    }

    /// The device of a point, where the device varies.
    fn device_of(&self, point: &SweepPoint) -> Option<&SweptDevice> {
        let vary = self.vary.iter().find(|v| v.is_the_device())?;
        let value = point.values.get(&vary.name)?;
        self.devices.iter().find(|d| d.value == *value)
    }
}
