//! Arguments of everything that reads measurements.

use std::io::BufRead;

use clap::Args;

use super::failure::Failure;
use super::files;
use super::library::{LibraryArguments, Resolver};
use super::model::ModelArguments;
use crate::measure::measurements::{Measurements, read};
use crate::measure::{Half, MeasuredGroup, halve, join};
use crate::report::Warning;
use crate::text::Fault;

/// Measurements, and which of them.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct MeasuredArguments {
    /// Files in the measurement format, `-` for standard input; or set files, which end in .yaml
    #[arg(required = true, value_name = "MEASUREMENTS")]
    pub measurements: Vec<String>,
    /// Take only one half of the launches of each kernel and device: 1 or 2
    #[arg(long, value_name = "HALF", value_parser = half)]
    pub half: Option<HalfArgument>,
    /// Seed of the random halves and samples [default: 1, or that of the set file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub library: LibraryArguments,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct HalfArgument(Half);

fn half(text: &str) -> Result<HalfArgument, String> {
    match text {
        "1" => Ok(HalfArgument(Half::First)),
        "2" => Ok(HalfArgument(Half::Second)),
        _ => Err("1 or 2".to_owned()),
    }
}

impl MeasuredArguments {
    /// All measured launches with their predictions.
    pub(super) fn groups(&self, model: &ModelArguments, json: bool) -> Result<Vec<MeasuredGroup>, Failure> {
        let mut groups = Vec::new();
        let mut faults: Vec<Fault> = Vec::new();
        let options = model.options().map_err(|f| f.for_json(json))?;
        for path in &self.measurements {
            let mut measurements = match open(path, json)? {
                Ok(found) => found,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            if let Some(HalfArgument(half)) = self.half {
                halve(&mut measurements, half, self.seed.unwrap_or(1));
            }
            let resolver = Resolver::new(&self.library, model, options, path, json);
            match model.in_pool(|| join(&measurements, &resolver))? {
                Ok(found) => groups.extend(found),
                Err(all) => faults.extend(all),
            }
        }
        if faults.is_empty() { Ok(groups) } else { Err(Failure::faults(faults, json)) }
    }
}

/// What was given in vain: what rows say themselves goes before.
pub(super) fn given_in_vain(model: &ModelArguments, groups: &[MeasuredGroup]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |option: &str, value: &str, column: &str| {
        let message = format!("`{value}` changes nothing: the measurements have a column `{column}`");
        warnings.push(Warning { code: "no-effect", message, place: Some(option.to_owned()) });
    };
    if let Ok(Some(device)) = model.only_device() {
        let same = crate::device::find(device, &[]).ok();
        let same = |group: &MeasuredGroup| same.as_ref().is_some_and(|same| same.id() == group.device.id());
        if groups.iter().all(|group| group.subject.device.is_some()) && !groups.iter().all(same) {
            warn("-d", device, "device");
        }
    }
    if let Some(clock) = model.clock
        && groups.iter().all(|group| group.subject.clock.is_some_and(|of_rows| of_rows != clock))
    {
        warn("--clock", &clock.to_string(), "clock");
    }
    warnings
}

/// Reads a file of measurements.
fn open(path: &str, json: bool) -> Result<Result<Measurements, Fault>, Failure> {
    let read_all = |name: &str, reader: &mut dyn BufRead| read(name, reader);
    if path == "-" {
        return Ok(read_all("<stdin>", &mut files::stdin().map_err(|f| f.for_json(json))?));
    }
    let file = files::open(std::path::Path::new(path)).map_err(|f| f.for_json(json))?;
    Ok(read_all(path, &mut std::io::BufReader::new(file)))
}
