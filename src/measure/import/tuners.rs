//! Tuners: Kernel Tuner's cache files and T4 results, KTT's JSON.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::launches::{ImportOptions, Imported};
use super::mapped::{Mapping, start};
use crate::device;
use crate::launch::whole;
use crate::measure::measurements::{Bad, Builder, Column, MeasuredQuantity, Per, Unit};

/// How Kernel Tuner calls the extents of a block unless it is told otherwise.
const BLOCK: [&str; 3] = ["block_size_x", "block_size_y", "block_size_z"];
/// And the work items of a thread.
const FOLD: [&str; 3] = ["tile_size_x", "tile_size_y", "tile_size_z"];
/// Times from here on stand for a failure, in milliseconds.
const FAILURE: f64 = 1e19;

/// Kernel Tuner's cache: `cache` holds a configuration each, with its time in milliseconds.
pub(super) fn cache(document: &Json, options: &ImportOptions, mapping: &Mapping) -> Imported {
    let kernel = text(document, "kernel_name");
    let mut reading = Reading::new(options, mapping, document.get("device_name"));
    for entry in document.get("cache").and_then(Json::as_object).into_iter().flat_map(Map::values) {
        let Some(entry) = entry.as_object() else { continue };
        let time = entry.get("time").and_then(Json::as_f64).filter(|t| *t < FAILURE);
        reading.row(kernel, entry, None, time.map(|ms| ms * 1e-3));
    }
    // An entry holds more than parameters: times, the date, what else was observed.
    let keys = document.get("tune_params_keys").and_then(Json::as_array).into_iter().flatten();
    reading.finish(&keys.filter_map(Json::as_str).map(str::to_owned).collect())
}

/// T4 results: a list of configurations with measurements that name their units.
pub(super) fn t4(document: &Json, options: &ImportOptions, mapping: &Mapping) -> Imported {
    let kernel = document.get("kernel_name").or(document.pointer("/metadata/kernel_name"));
    let kernel = kernel.and_then(Json::as_str).unwrap_or_default();
    let mut reading = Reading::new(options, mapping, document.get("device_name"));
    let mut parameters = BTreeSet::new();
    for result in document.get("results").and_then(Json::as_array).into_iter().flatten() {
        let Some(configuration) = result.get("configuration").and_then(Json::as_object) else { continue };
        let valid = result.get("invalidity").and_then(Json::as_str).is_none_or(|i| i == "correct");
        let mut measured = result.get("measurements").and_then(Json::as_array).into_iter().flatten();
        let time = measured.find_map(seconds).or_else(|| runtimes(result));
        parameters.extend(configuration.keys().cloned());
        reading.row(kernel, configuration, None, time.filter(|_| valid));
    }
    reading.finish(&parameters)
}

/// The time among the measurements of a T4 result; milliseconds if no unit is named.
fn seconds(measurement: &Json) -> Option<f64> {
    let name = measurement.get("name")?.as_str()?;
    let value = measurement.get("value")?.as_f64()?;
    let unit = measurement.get("unit").and_then(Json::as_str).filter(|u| !u.is_empty()).unwrap_or("ms");
    let known = ["time", "runtime", "kernel_time", "avg_time"];
    let unit = known.contains(&name).then(|| Unit::parse(unit, MeasuredQuantity::Time))??;
    Some(value * unit.factor).filter(|t| *t < FAILURE)
}

/// The mean of the run times of a T4 result, in milliseconds.
fn runtimes(result: &Json) -> Option<f64> {
    let all: Vec<f64> =
        result.pointer("/times/runtimes")?.as_array()?.iter().filter_map(Json::as_f64).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64 * 1e-3)
}

/// KTT: results with the durations and sizes of each kernel function.
pub(super) fn ktt(document: &Json, options: &ImportOptions, mapping: &Mapping) -> Imported {
    let unit = document.pointer("/Metadata/TimeUnit").and_then(Json::as_str).unwrap_or("Nanoseconds");
    let factor = match unit {
        "Seconds" => 1.0,
        "Milliseconds" => 1e-3,
        "Microseconds" => 1e-6,
        _ => 1e-9,
    };
    let mut reading = Reading::new(options, mapping, document.pointer("/Metadata/Device"));
    let mut parameters = BTreeSet::new();
    for result in document.get("Results").and_then(Json::as_array).into_iter().flatten() {
        let configuration: Map<String, Json> = result
            .get("Configuration")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(|p| Some((p.get("Name")?.as_str()?.to_owned(), p.get("Value")?.clone())))
            .collect();
        parameters.extend(configuration.keys().cloned());
        let valid = result.get("Status").and_then(Json::as_str).is_none_or(|s| s == "Ok");
        let computations = result.get("ComputationResults").and_then(Json::as_array).map(Vec::as_slice);
        for computation in computations.unwrap_or_default() {
            let size = computation.get("LocalSize");
            let extent = |axis: &str| size.and_then(|s| s.get(axis)).and_then(Json::as_i64);
            let rest = |axis: &str| extent(axis).unwrap_or(1);
            let block = extent("X").map(|x| format!("{x}x{}x{}", rest("Y"), rest("Z")));
            let time = computation.get("Duration").and_then(Json::as_f64).map(|d| d * factor);
            let function = text(computation, "KernelFunction");
            let name = if function.is_empty() { text(result, "KernelName") } else { function };
            reading.row(name, &configuration, block.as_deref(), time.filter(|_| valid));
        }
    }
    reading.finish(&parameters)
}

/// The id of the device that goes by a name such as `NVIDIA A100-SXM4-40GB`.
fn device_of(name: &str) -> Option<String> {
    let same = |text: &str| -> String {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|w| !["nvidia", "amd", "tesla", "instinct", "geforce", "radeon"].contains(w)).collect()
    };
    let wanted = same(name);
    let mut known = device::ids().filter_map(|id| device::find(id, &[]).ok());
    known.find(|d| same(&d.name) == wanted).map(|d| d.id)
}

fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// Configurations that become rows.
struct Reading<'a> {
    options: ImportOptions,
    mapping: &'a Mapping,
    builder: Builder,
    imported: Imported,
    /// Numbers of the row: entries have no lines that a reader would keep.
    count: usize,
}

impl<'a> Reading<'a> {
    /// A device that is known by the name in the file is taken from there.
    fn new(options: &ImportOptions, mapping: &'a Mapping, device: Option<&Json>) -> Self {
        let mut options = options.clone();
        if options.device.is_none()
            && let Some(name) = device.and_then(Json::as_str)
        {
            options.device = device_of(name);
        }
        let (builder, imported) = (Builder::default(), Imported::default());
        Self { options, mapping, builder, imported, count: 0 }
    }

    /// Whether options say which parameters are the block, and which the fold.
    fn maps(&self) -> (bool, bool) {
        let maps = |is: fn(&Column) -> bool| self.mapping.iter().any(|m| is(&m.0));
        (maps(|c| matches!(c, Column::Block(_))), maps(|c| matches!(c, Column::Fold(_))))
    }

    /// What was imported, with the names of the parameters that say nothing of the launch.
    fn finish(mut self, parameters: &BTreeSet<String>) -> Imported {
        let (maps_block, maps_fold) = self.maps();
        let used = |name: &str| {
            (BLOCK.contains(&name) && !maps_block && self.options.block.is_none())
                || (FOLD.contains(&name) && !maps_fold && self.options.fold.is_none())
                || self.mapping.iter().any(|m| m.1 == name)
        };
        self.imported.parameters(parameters.iter().map(String::as_str), used);
        self.imported
    }

    fn row(
        &mut self,
        kernel: &str,
        configuration: &Map<String, Json>,
        block: Option<&str>,
        seconds: Option<f64>,
    ) {
        self.count += 1;
        match self.filled(kernel, configuration, block, seconds) {
            Ok(None) => {}
            Ok(Some(why)) => self.imported.leave_out(why),
            Err(bad) => self.imported.leave_out(&format!("configurations: {}", bad.message)),
        }
    }

    /// Adds a row; says why one is left out.
    fn filled(
        &mut self,
        kernel: &str,
        configuration: &Map<String, Json>,
        block: Option<&str>,
        seconds: Option<f64>,
    ) -> Result<Option<&'static str>, Bad> {
        let Some(seconds) = seconds else { return Ok(Some("configurations that failed")) };
        if !start(&mut self.builder, &self.options, kernel)? {
            return Ok(Some("launches of kernels that --kernel does not name"));
        }
        let value = |name: &str| configuration.get(name).map(plain);
        let (maps_block, maps_fold) = self.maps();
        if let Some(block) = block {
            self.builder.set(&Column::Block(None), block)?;
        } else if !maps_block && self.options.block.is_none() {
            for (axis, name) in BLOCK.into_iter().enumerate() {
                if let Some(extent) = value(name) {
                    self.builder.set(&Column::Block(Some(axis)), &extent)?;
                }
            }
        }
        if !maps_fold && self.options.fold.is_none() {
            for (axis, name) in FOLD.into_iter().enumerate() {
                if let Some(extent) = value(name) {
                    self.builder.set(&Column::Fold(Some(axis)), &extent)?;
                }
            }
        }
        for (column, name) in self.mapping.iter() {
            if let Some(text) = value(name) {
                self.builder.set(column, &text)?;
            }
        }
        self.builder.measured(&Column::Measured(MeasuredQuantity::Time, SECONDS), seconds)?;
        self.builder.finish(self.count, &mut self.imported.measurements)?;
        Ok(None)
    }
}

const SECONDS: Unit = Unit { factor: 1.0, per: Per::Launch };

/// A value as text; of numbers that are whole without a fraction.
fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => {
            let text = other.to_string();
            whole(&text).map_or(text, |n| n.to_string())
        }
    }
}
