//! `wavecast sweep`.

use std::process::ExitCode;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::show;
use super::choices::ShapeArguments;
use super::failure::Failure;
use super::input::{DeviceText, KernelArguments, read_text};
use super::model::ModelArguments;
use super::output::OutputArguments;
use super::progress::{self, Progress};
use crate::device::Device;
use crate::kernel::{Kernel, Loaded, Options, load};
use crate::launch::{Candidate, Chosen};
use crate::report::{SweepDocument, sweep_document, sweep_point};
use crate::space::Fold;
use crate::sweep::{self, Request, Vary};

#[derive(Debug, Args)]
#[command(
    after_help = "VALUES are numbers and ranges with commas between them: 256..1024 step 64, pow2(1..64).\n\
    NAME is a parameter of the kernel (--vary NX=..., what follows from it by an expression follows; \
    --set 'NY=NX' makes another one follow), a number of the device (--vary l2.effective=10MiB,20MiB), \
    block or fold (--vary block=512x2x1,64x4x4), or one extent of them (--vary 'block.x=pow2(1..1024)')."
)]
pub(super) struct Arguments {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    /// What to vary; given twice, the second draws a line for each of its values
    #[arg(long, required = true, value_name = "NAME=VALUES")]
    vary: Vec<String>,
    /// At each point rank all launches and take the best
    #[arg(long)]
    best: bool,
    #[command(flatten)]
    kernel: KernelArguments,
    #[command(flatten)]
    shapes: ShapeArguments,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&["svg"])?;
    let json = arguments.output.is_json();
    let started = Instant::now();
    let options = arguments.kernel.options().map_err(|f| f.for_json(json))?;
    let device = Subject { text: arguments.model.device_text(json)?, device: arguments.model.device(json)? };
    let mut documents = Vec::new();
    let mut faults = Vec::new();
    for path in &arguments.kernels {
        match of_file(arguments, path, &options, &device) {
            Ok(found) => documents.extend(found),
            Err(failure) => faults.extend(failure.for_json(json).into_faults()),
        }
    }
    if !faults.is_empty() {
        return Err(Failure::faults(faults, json));
    }
    show(&arguments.output, &documents, false)?;
    if arguments.model.verbose {
        let points: usize = documents.iter().map(|d| d.summary.points).sum();
        progress::say(&format!("{points} points in {:.1?}", started.elapsed()));
    }
    Ok(code(&documents))
}

/// The device of the request: as a text for the points, and as it is for the head.
struct Subject {
    text: DeviceText,
    device: Device,
}

/// The series of every document of a file.
fn of_file(
    arguments: &Arguments,
    path: &str,
    options: &Options,
    device: &Subject,
) -> Result<Vec<SweepDocument>, Failure> {
    let json = arguments.output.is_json();
    let (name, text) = read_text(path, options.limits, json)?;
    let loaded = load(&name, &text, options).and_then(|loaded| loaded.only(&arguments.kernel.variant));
    let loaded = loaded.map_err(|fault| Failure::faults(vec![fault], json))?;
    let mut params: Vec<String> =
        loaded.kernels.iter().flat_map(|k| k.params.iter().map(|p| p.0.clone())).collect();
    params.sort();
    params.dedup();
    let keys: Vec<String> = device.device.numbers().into_iter().map(|n| n.path).collect();
    let mut documents = Vec::new();
    for kernels in loaded.kernels.chunk_by(|a, b| a.document == b.document) {
        let lines =
            if arguments.best { 1 } else { kernels.iter().map(|k| launches(arguments, k).len()).sum() };
        let vary = sweep::parse(&arguments.vary, &params, &keys, lines)
            .map_err(|fault| Failure::faults(vec![fault], json))?;
        conflicts(arguments, &vary)?;
        let file = File { name: &name, text: &text, options, loaded: &loaded };
        documents.push(of_document(arguments, &file, kernels, &vary, device)?);
    }
    Ok(documents)
}

/// What was read of a file.
struct File<'a> {
    name: &'a str,
    text: &'a str,
    options: &'a Options,
    loaded: &'a Loaded,
}

fn of_document(
    arguments: &Arguments,
    file: &File<'_>,
    kernels: &[Kernel],
    vary: &[Vary],
    device: &Subject,
) -> Result<SweepDocument, Failure> {
    let json = arguments.output.is_json();
    let first = kernels
        .first()
        .ok_or_else(|| Failure::message("no-kernel", "there is no kernel to vary".to_owned(), None))?;
    let estimator = arguments.model.estimator(first, &device.device);
    let with = |set: &[String]| device.text.with(&[&arguments.model.device_set, set].concat());
    let shapes = arguments.shapes.clone();
    let best = arguments.best;
    let launches = move |kernel: &Kernel| launches_of(&shapes, best, kernel);
    let request = Request {
        name: file.name,
        text: file.text,
        options: file.options,
        document: first.document,
        device: &with,
        model: estimator.model,
        counting: estimator.counting,
        caches: estimator.caches,
        curves: arguments.model.curves(),
        kernels,
        launches: &launches,
        best: arguments.best,
        vary,
    };
    let done = AtomicUsize::new(0);
    let progress = Progress::start(&done, request.points(), arguments.model.quiet).counting("points");
    let points = progress.during(|| arguments.model.in_pool(|| sweep::run(&request, &sweep_point, &done)))?;
    let points = points.map_err(|fault| Failure::faults(vec![fault], json))?;
    let warnings = arguments.model.warnings(kernels, file.loaded);
    Ok(sweep_document(&estimator, vary, arguments.best, points, warnings))
}

/// What is given twice.
fn conflicts(arguments: &Arguments, vary: &[Vary]) -> Result<(), Failure> {
    let refuse = |message: String, help: &str| Err(Failure::message("usage", message, Some(help)));
    for Vary { name, subject, .. } in vary {
        let of = |texts: &[String]| texts.iter().any(|t| t.split('=').next().map(str::trim) == Some(name));
        if of(&arguments.kernel.set) || of(&arguments.model.device_set) {
            return refuse(format!("`{name}` varies and is set"), "leave out one of them");
        }
        let is_launch = matches!(subject.word(), "block" | "fold");
        if is_launch && arguments.best {
            let help = "--best ranks all launches at each point; vary something else";
            return refuse(format!("`{name}` varies and --best is given"), help);
        }
        let shapes = &arguments.shapes;
        let given = match subject {
            sweep::Subject::Block => !shapes.block.is_empty() || !shapes.threads.is_empty(),
            sweep::Subject::Fold => !shapes.fold.is_empty(),
            _ => false,
        };
        if given {
            return refuse(format!("`{name}` varies and is given"), "leave out one of them");
        }
    }
    Ok(())
}

fn launches(arguments: &Arguments, kernel: &Kernel) -> Vec<Candidate> {
    launches_of(&arguments.shapes, arguments.best, kernel)
}

/// For the best: those that `rank` considers. Otherwise the blocks and folds that were given; without any
/// block the first of the file, and without a fold the one that `predict` takes.
fn launches_of(shapes: &ShapeArguments, best: bool, kernel: &Kernel) -> Vec<Candidate> {
    if best {
        return shapes.candidates(kernel);
    }
    let first = Candidate::first(kernel);
    let has_block = !shapes.block.is_empty() || !shapes.threads.is_empty();
    let folds: Vec<Fold> = match (shapes.fold.is_empty(), has_block) {
        (false, _) => shapes.fold.iter().map(|s| Fold::known(s.0)).collect(),
        (true, true) => vec![Chosen::fold_of_block(kernel).0],
        (true, false) => vec![first.fold()],
    };
    let blocks = if has_block { shapes.blocks(kernel) } else { vec![first.block()] };
    let of =
        |&fold: &Fold| blocks.iter().map(move |&block| Candidate::shaped(block, fold)).collect::<Vec<_>>();
    folds.iter().flat_map(of).collect()
}

/// Nothing at all could be predicted, or two engines disagree.
fn code(documents: &[SweepDocument]) -> ExitCode {
    let errors = || documents.iter().flat_map(|d| &d.points).filter_map(|p| p.error.as_ref());
    let disagree = errors().any(|e| e.code == "engines-disagree");
    let empty = documents.iter().any(|d| d.summary.feasible == 0);
    if empty || disagree { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
