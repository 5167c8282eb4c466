//! `wavecast validate`.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::show_one;
use super::measured::{MeasuredArguments, given_in_vain};
use super::model::ModelArguments;
use super::output::OutputArguments;
use super::progress;
use super::sets::{SetArguments, are_sets, each};
use crate::ask::ModelOptions;
use crate::footprint::Addressing;
use crate::measure::sets::predicted;
use crate::measure::{MeasuredGroup, validate};
use crate::report::{ValidationModel, set_page, set_validation_document, validation_document};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    measured: MeasuredArguments,
    #[command(flatten)]
    model: ModelArguments,
    /// Launches with the largest errors to show of each quantity
    #[arg(long, value_name = "N", default_value_t = 3)]
    worst: usize,
    /// How many launches a kernel, or a problem of a set, must have to count in the mean of the orders [default: 20,
    /// or 3 of sets]
    #[arg(long, value_name = "N")]
    least: Option<usize>,
    #[command(flatten)]
    sets: SetArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let sets =
        are_sets(&arguments.measured.measurements).map_err(|f| f.for_json(arguments.output.is_json()))?;
    arguments.output.check(&["svg", "html"])?;
    let json = arguments.output.is_json();
    if sets {
        return whole_sets(arguments, json);
    }
    let started = Instant::now();
    let options = arguments.model.options().map_err(|f| f.for_json(json))?;
    let groups = arguments.measured.groups(&arguments.model, json)?;
    let validation = validate(&groups, arguments.least.unwrap_or(20), arguments.worst);
    let model = model(&options, &groups);
    let warnings = given_in_vain(&arguments.model, &groups);
    let document = validation_document(&groups, validation, model, warnings);
    show_one(&arguments.output, &document)?;
    if arguments.model.verbose {
        progress::say(&format!("{} launches in {:.1?}", document.summary.launches, started.elapsed()));
    }
    Ok(if document.summary.predicted == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Validates whole sets.
fn whole_sets(arguments: &Arguments, json: bool) -> Outcome {
    let started = Instant::now();
    let sets = arguments.sets.read(&arguments.measured, json)?;
    let found = each(&sets, &arguments.measured, &arguments.model, json, |set, library, done| {
        predicted(set, library, done)
    })?;
    let (count, model) = (found.iter().map(|s| s.cases.len()).sum::<usize>(), arguments.model.model.word());
    let document = set_validation_document(found, model, [arguments.least.unwrap_or(3), arguments.worst]);
    if arguments.output.is_page() {
        arguments.output.write(&set_page(&document))?;
    } else {
        show_one(&arguments.output, &document)?;
    }
    if arguments.model.verbose {
        progress::say(&format!("{count} configurations in {:.1?}", started.elapsed()));
    }
    Ok(if count == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// How the predictions were made.
fn model(options: &ModelOptions<'_>, groups: &[MeasuredGroup]) -> ValidationModel {
    let mut curves: Vec<String> = Vec::new();
    let mut model = ValidationModel {
        id: "default",
        addressing: "linear",
        caches: Vec::new(),
        clock: Vec::new(),
        curves: Vec::new(),
    };
    for group in groups {
        let estimator = options.estimator(&group.kernel, &group.device);
        let caches = group.subject.caches.unwrap_or(estimator.caches).word();
        if !model.caches.contains(&caches) {
            model.caches.push(caches);
        }
        if let Some(clock) = group.device.run_clock().map(|clock| clock.to_string())
            && !model.clock.contains(&clock)
        {
            model.clock.push(clock);
        }
        let name = estimator.curves.name();
        if !curves.contains(&name) {
            curves.push(name);
        }
        model.id = estimator.model.word();
        model.addressing = match estimator.counting.addressing {
            Addressing::Linear => "linear",
            Addressing::Grid => "grid",
        };
    }
    ValidationModel { curves, ..model }
}
