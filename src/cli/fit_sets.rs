//! `wavecast fit` of whole sets.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use super::Outcome;
use super::answers::show_one;
use super::failure::Failure;
use super::library::Resolver;
use super::measured::MeasuredArguments;
use super::model::ModelArguments;
use super::output::{OutputArguments, extension};
use super::progress;
use super::sets::{NamedSet, SetArguments, each};
use crate::curve::Fit;
use crate::measure::fit::{FitRequest, PredictedGroups, SetFitRequest, fit_sets};
use crate::measure::sets::groups;
use crate::report::{SetFitDocument, curve_file, set_fit_document};

/// Problems with less configurations do not count in the means over choices if others have more.
const LEAST: usize = 3;

/// What a fit of sets is asked for.
pub(super) struct SetFit<'a> {
    pub(super) sets: &'a SetArguments,
    pub(super) measured: &'a MeasuredArguments,
    pub(super) model: &'a ModelArguments,
    pub(super) request: FitRequest,
    pub(super) leave_one_out: bool,
    pub(super) fit_rows: Option<usize>,
    pub(super) inherit: Option<Fit>,
    pub(super) report: OutputArguments,
}

/// Fits to sets and writes what came of it.
pub(super) fn run(asked: &SetFit<'_>, files: &[std::path::PathBuf]) -> Outcome {
    let SetFit { measured, model, .. } = *asked;
    let json = asked.report.is_json();
    let started = Instant::now();
    let sets = asked.sets.read(measured, json)?;
    let found = each(&sets, measured, model, json, |set, library, done| groups(set, library, done))?;
    let named = sets.into_iter().zip(found);
    let sets: Vec<PredictedGroups> = named
        .map(|(NamedSet { set, .. }, (groups, rejected))| PredictedGroups { set, groups, rejected })
        .collect();
    let options = model.options().map_err(|f| f.for_json(json))?;
    let library = Resolver::new(&measured.library, model, options, "", json);
    let request = SetFitRequest {
        fit: &asked.request,
        leave_one_out: asked.leave_one_out,
        least: LEAST,
        most: asked.fit_rows,
    };
    let work = || fit_sets(sets, &library, model.curves(), request);
    let fitting = model.in_pool(work)?.map_err(|why| {
        let help = "`wavecast validate` says why launches cannot be predicted";
        Failure::message("no-fit", why.to_string(), Some(help)).for_json(json)
    })?;
    let document = set_fit_document(&fitting);
    for path in files {
        write(path, &document, asked.inherit.as_ref())?;
    }
    if !model.quiet {
        show_one(&asked.report, &document)?;
    }
    if model.verbose {
        progress::say(&format!("{} sets in {:.1?}", document.sets.len(), started.elapsed()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a file by its extension, or the curve files of all devices into a folder.
fn write(path: &Path, document: &SetFitDocument, inherit: Option<&Fit>) -> Result<(), Failure> {
    let text =
        |fit: &Fit| curve_file(fit, inherit).map_err(|e| Failure::message("yaml", e.to_string(), None));
    let to = |path: &Path| OutputArguments { output: Some(path.to_owned()), ..OutputArguments::default() };
    if path.is_dir() {
        for fit in &document.files {
            to(&path.join(format!("{}.yaml", fit.id))).write(&text(fit)?)?;
        }
        return Ok(());
    }
    match (extension(path).as_deref(), document.files.as_slice()) {
        (Some("yaml" | "yml"), [fit]) => to(path).write(&text(fit)?),
        (Some("yaml" | "yml"), _) => {
            let message = format!("the sets are of several devices: {}", document.devices.join(", "));
            let help = "name a folder that is there with -o: each device gets a curve file in it";
            Err(Failure::message("usage", message, Some(help)))
        }
        _ => show_one(&to(path), document),
    }
}
