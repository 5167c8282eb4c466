//! `wavecast fit`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::{Args, ValueEnum};
use sha2::{Digest, Sha256};

use super::Outcome;
use super::answers::show_one;
use super::failure::Failure;
use super::files;
use super::fit_sets::{self, SetFit};
use super::input::load_device_at;
use super::library::Resolver;
use super::measured::{MeasuredArguments, given_in_vain};
use super::model::ModelArguments;
use super::output::{Format, OutputArguments, extension, unknown_extension};
use super::progress::{self, Progress};
use super::sets::{SetArguments, are_sets};
use crate::curve::fit::{FitOptions, Loss};
use crate::curve::{Fit, for_device};
use crate::launch::Candidate;
use crate::measure::fit::{CurveForm, Design, FitRequest, Fitting, design, fit, simulate, time_coefficients};
use crate::measure::{MeasuredGroup, simulated};
use crate::predict::Estimator;
use crate::quantity::Residual;
use crate::report::{FitDocument, curve_file, fit_document, fit_picture};
use crate::text::Fault;

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    mut_arg("measurements", |a| a.required(false).required_unless_present("simulate").conflicts_with("simulate")),
    after_help = "-o x.yaml writes the curve file that --curves of the other commands takes, -o x.svg the \
    plot, -o x.csv the residuals, -o x.json and -o x.md the report; -o can be repeated."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    measured: MeasuredArguments,
    #[command(flatten)]
    model: ModelArguments,
    /// Form of the hit rates
    #[arg(long, value_enum, value_name = "FORM", default_value = "auto")]
    form: FormName,
    /// The loss function of the fit
    #[arg(long, value_enum, value_name = "LOSS", default_value = "cauchy")]
    loss: LossName,
    /// Where the loss turns from squares to less, as a share of the volume; found from the residuals by
    /// default
    #[arg(long, value_name = "SHARE", value_parser = positive)]
    scale: Option<f64>,
    /// Give overlaps in x, y and z curves of their own
    #[arg(long)]
    directions: bool,
    /// Fit only this coefficient of the time (repeatable); all that the measurements tell of by default
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Fits to resampled launches for the bootstrap intervals
    #[arg(long, value_name = "N", default_value_t = 200)]
    bootstrap: usize,
    /// Write only what differs from these curves that ship, and inherit the rest
    #[arg(long, value_name = "ID")]
    inherit: Option<String>,
    /// Mark the curves as those of a simulation
    #[arg(long)]
    simulated: bool,
    /// Instead of measurements, simulate the caches of this device (an id, alias or file) with a designed set
    /// of kernels and shapes; takes minutes
    #[arg(long, value_name = "DEVICE", conflicts_with = "device")]
    simulate: Option<String>,
    /// With --simulate: simulate only one in N of the designed launches
    #[arg(long, value_name = "N", default_value_t = 1, requires = "simulate",
        value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
    /// Of set files: fit without each set in turn too, and say how good that is on the set
    #[arg(long)]
    leave_one_out: bool,
    /// Of set files: fit to no more than so many launches of each set, drawn by chance; scores are of all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    fit_rows: Option<u32>,
    #[command(flatten)]
    sets: SetArguments,
    /// How to write the report
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Write to a file, by its extension: yaml (the curve file), svg, csv, json, jsonl or md; the curve files of several
    /// devices to a folder (repeatable)
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// Hill's, or the sigmoid if it is clearly better
    Auto,
    /// 1 / (1 + (o0 / O)^k)
    Hill,
    /// a exp(-b exp(-c O)), the paper's
    Sigmoid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LossName {
    /// Squares: outliers decide
    Linear,
    /// Squares that turn into amounts smoothly
    SoftL1,
    /// Squares up to the scale, amounts beyond
    Huber,
    /// Logarithms: outliers hardly count
    Cauchy,
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|s: &f64| s.is_finite() && *s > 0.0).ok_or("a number above 0".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let json = matches!(arguments.format, Format::Json | Format::Jsonl);
    check(arguments).map_err(|f| f.for_json(json))?;
    if are_sets(&arguments.measured.measurements).map_err(|f| f.for_json(json))? {
        return fit_sets::run(&of_sets(arguments, json)?, &arguments.output);
    }
    let started = Instant::now();
    let model = arguments.model.options().map_err(|f| f.for_json(json))?;
    let first = arguments.measured.measurements.first().map(String::as_str).unwrap_or_default();
    let resolver = Resolver::new(&arguments.measured.library, &arguments.model, model, first, json);
    let groups = match &arguments.simulate {
        None => arguments.measured.groups(&arguments.model, json)?,
        Some(device) => simulated_groups(arguments, device, &resolver, json)?,
    };
    let request = request(arguments, json)?;
    let nothing = || Failure::message("no-fit", "there is nothing to fit to".to_owned(), None).for_json(json);
    let base = base(arguments, &groups).ok_or_else(nothing)?;
    let fitting = arguments.model.in_pool(|| fit(&groups, &resolver, &base, &request))?;
    let fitting = fitting.map_err(|why| {
        let help = "fit one device at a time; `wavecast validate` says why launches cannot be predicted";
        Failure::message("no-fit", why.to_string(), Some(help)).for_json(json)
    })?;
    let inherit = arguments.inherit.as_deref().map(shipped).transpose()?;
    let warnings = given_in_vain(&arguments.model, &groups);
    let document = fit_document(&groups, &fitting, request.simulated, warnings);
    for path in &arguments.output {
        write(path, &document, &fitting, inherit.as_ref())?;
    }
    let stdout = OutputArguments { format: Some(arguments.format), ..OutputArguments::default() };
    if !arguments.model.quiet {
        show_one(&stdout, &document)?;
    }
    if arguments.model.verbose {
        progress::say(&format!("{} launches in {:.1?}", document.launches, started.elapsed()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is asked for of set files.
fn of_sets(arguments: &Arguments, json: bool) -> Result<SetFit<'_>, Failure> {
    Ok(SetFit {
        sets: &arguments.sets,
        measured: &arguments.measured,
        model: &arguments.model,
        request: request(arguments, json)?,
        leave_one_out: arguments.leave_one_out,
        fit_rows: arguments.fit_rows.map(|rows| rows as usize),
        inherit: arguments.inherit.as_deref().map(shipped).transpose()?,
        report: OutputArguments { format: Some(arguments.format), ..OutputArguments::default() },
    })
}

/// Launches of the designed set with what a simulation says of them.
fn simulated_groups(
    arguments: &Arguments,
    device: &str,
    resolver: &Resolver<'_>,
    json: bool,
) -> Result<Vec<MeasuredGroup>, Failure> {
    let device = load_device_at(device, &arguments.model.device_set, arguments.model.clock, json)?;
    let of = |fault: Fault| Failure::faults(vec![fault], json);
    let design = thinned(design(&device).map_err(of)?, usize::from(arguments.every));
    let launches = AtomicUsize::new(design.iter().map(|(_, _, launches)| launches.len()).sum());
    let done = AtomicUsize::new(0);
    let run = |estimator: &Estimator<'_>, candidate: Candidate| {
        let found = simulated(estimator, candidate, crate::measure::CompareOptions::default());
        done.fetch_add(1, Ordering::Relaxed);
        found.map_err(|why| why.to_string())
    };
    let progress = Progress::start(&done, &launches, arguments.model.quiet).counting("simulated launches");
    progress.during(|| arguments.model.in_pool(|| simulate(&device, design, resolver, &run)))
}

/// Every n-th launch of each kernel and size, each beginning with another one, so that all shapes stay.
fn thinned(mut design: Vec<Design>, n: usize) -> Vec<Design> {
    for (i, (_, _, launches)) in design.iter_mut().enumerate() {
        *launches = launches.iter().copied().skip(i % n).step_by(n).collect();
    }
    design
}

/// Curves that ship, by their id.
fn shipped(id: &str) -> Result<Fit, Failure> {
    let found = crate::curve::shipped(id).cloned();
    found.ok_or_else(|| {
        let message = format!("no curves with the id `{id}` ship");
        Failure::message("unknown-curves", message, Some("see fits/ for those that do"))
    })
}

/// The curves from which the fit starts.
fn base(arguments: &Arguments, groups: &[MeasuredGroup]) -> Option<Fit> {
    let given = arguments.model.curves();
    let device = &groups.first()?.device;
    Some(given.unwrap_or(for_device(device).fit).for_heir(device))
}

fn request(arguments: &Arguments, json: bool) -> Result<FitRequest, Failure> {
    if let Some(name) = arguments.only.iter().find(|n| !time_coefficients().any(|known| known == **n)) {
        let known: Vec<&str> = time_coefficients().collect();
        let message = format!("`{name}` is no coefficient of the time that can be fitted");
        let help = format!("these are: {}", known.join(", "));
        return Err(Failure::message("usage", message, Some(&help)).for_json(json));
    }
    let files = &arguments.measured.measurements;
    let mut hash = Sha256::new();
    let mut hashed = true;
    for path in files.iter().map(Path::new) {
        if path == Path::new("-") {
            hashed = false;
            continue;
        }
        hash.update(files::read(path).map_err(|f| f.for_json(json))?);
    }
    let mut digest = String::new();
    for byte in hash.finalize() {
        let _ = write!(digest, "{byte:02x}");
    }
    let names: Vec<String> = files
        .iter()
        .map(|f| Path::new(f).file_name().map_or_else(|| f.clone(), |n| n.to_string_lossy().into_owned()))
        .collect();
    let loss = match arguments.loss {
        LossName::Linear => Loss::Linear,
        LossName::SoftL1 => Loss::SoftL1,
        LossName::Huber => Loss::Huber,
        LossName::Cauchy => Loss::Cauchy,
    };
    let (text, sha256) = match &arguments.simulate {
        None => (format!("fitted to {} by `wavecast fit`", names.join(", ")), hashed.then_some(digest)),
        Some(device) => (format!("fitted to the simulated caches of {device} by `wavecast fit`"), None),
    };
    Ok(FitRequest {
        form: match arguments.form {
            FormName::Auto => CurveForm::Auto,
            FormName::Hill => CurveForm::Hill,
            FormName::Sigmoid => CurveForm::Sigmoid,
        },
        options: FitOptions { loss, scale: arguments.scale.map(Residual::new), ..FitOptions::default() },
        resamples: (arguments.bootstrap.min(100_000), arguments.measured.seed.unwrap_or(1)),
        directions: arguments.directions,
        only: arguments.only.clone(),
        origin: (text, sha256),
        simulated: arguments.simulated || arguments.simulate.is_some(),
    })
}

/// Refuses files whose names do not say what to write, before the work is done.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    const KNOWN: [&str; 8] = ["yaml", "yml", "svg", "csv", "json", "jsonl", "md", "txt"];
    let known =
        |path: &&PathBuf| path.is_dir() || extension(path).is_some_and(|e| KNOWN.contains(&e.as_str()));
    match arguments.output.iter().find(|path| !known(path)) {
        Some(path) => Err(unknown_extension(path, &KNOWN, None)),
        None => Ok(()),
    }
}

/// Writes a file by its extension.
fn write(
    path: &Path,
    document: &FitDocument,
    fitting: &Fitting,
    inherit: Option<&Fit>,
) -> Result<(), Failure> {
    let extension = extension(path).unwrap_or_default();
    let output = OutputArguments { output: Some(path.to_owned()), ..OutputArguments::default() };
    let text = match extension.as_str() {
        "yaml" | "yml" => {
            curve_file(&fitting.fit, inherit).map_err(|e| Failure::message("yaml", e.to_string(), None))?
        }
        "svg" => fit_picture(document, &|name, o| {
            fitting.curves.iter().find(|c| c.name == name).and_then(|c| c.rate(o))
        }),
        _ => return show_one(&output, document),
    };
    output.write(&text)
}
