//! `wavecast rank`.

use std::process::ExitCode;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::show;
use super::choices::ShapeArguments;
use super::failure::Failure;
use super::input::KernelArguments;
use super::model::ModelArguments;
use super::output::{Format, OutputArguments};
use super::progress::{self, Progress};
use super::registers::RegisterArguments;
use crate::kernel::{Kernel, Loaded};
use crate::predict::{Choice, Ranking, rank};
use crate::report::{RankingDocument, ranking_document};

/// Results that a person is shown without asking for more.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Kernel files; `-` reads standard input
    #[arg(required = true, value_name = "KERNEL")]
    kernels: Vec<String>,
    #[command(flatten)]
    kernel: KernelArguments,
    #[command(flatten)]
    shapes: ShapeArguments,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    registers: RegisterArguments,
    /// Show the best N only; a table shows 20 by default
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Candidates whose rate differs by less than this many percent share a tie group
    #[arg(long, value_name = "PERCENT", default_value_t = 4.0, value_parser = percent)]
    tie: f64,
    /// Put the time that it took into JSON documents
    #[arg(long)]
    timing: bool,
    #[command(flatten)]
    output: OutputArguments,
}

fn percent(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|p| (0.0..=100.0).contains(p)).ok_or("a number from 0 to 100".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&["svg"])?;
    let json = arguments.output.is_json();
    let started = Instant::now();
    arguments.model.check_engine(json)?;
    let device = arguments.model.device(json)?;
    let mut documents = Vec::new();
    let mut faults = Vec::new();
    let mut outcome = Summary::default();
    for path in &arguments.kernels {
        match arguments.kernel.load(path, json) {
            Ok(mut loaded) => {
                for kernel in &mut loaded.kernels {
                    arguments.registers.fill(kernel, &arguments.shapes, &device, json)?;
                }
                for kernels in loaded.kernels.chunk_by(|a, b| a.document == b.document) {
                    documents.push(one(arguments, kernels, &loaded, &device, &mut outcome)?);
                }
            }
            Err(failure) => faults.extend(failure.into_faults()),
        }
    }
    if !faults.is_empty() {
        return Err(Failure::faults(faults, json));
    }
    if arguments.timing {
        let seconds = started.elapsed().as_secs_f64();
        for document in &mut documents {
            document.elapsed_s = Some(seconds);
        }
    }
    show(&arguments.output, &documents, false)?;
    if arguments.model.verbose {
        progress::say(&format!("{} candidates in {:.1?}", outcome.candidates, started.elapsed()));
    }
    Ok(outcome.code())
}

/// What came of all rankings.
#[derive(Default)]
struct Summary {
    candidates: usize,
    empty: bool,
    disagree: bool,
}

impl Summary {
    fn add(&mut self, ranking: &Ranking) {
        self.candidates += ranking.candidates();
        self.empty |= ranking.feasible() == 0;
        for (_, why) in ranking.rejected().iter().filter(|r| r.1.code() == "engines-disagree") {
            self.disagree = true;
            progress::say(&format!("error: {why}"));
        }
    }

    fn code(&self) -> ExitCode {
        if self.empty || self.disagree { ExitCode::from(1) } else { ExitCode::SUCCESS }
    }
}

/// Ranks a document: its variants compete.
fn one(
    arguments: &Arguments,
    kernels: &[Kernel],
    loaded: &Loaded,
    device: &crate::device::Device,
    outcome: &mut Summary,
) -> Result<RankingDocument, Failure> {
    let estimators: Vec<_> = kernels.iter().map(|k| arguments.model.estimator(k, device)).collect();
    let mut choices = Vec::new();
    for (kernel, of) in kernels.iter().enumerate() {
        arguments.shapes.check(of, arguments.output.is_json())?;
        let candidates = arguments.shapes.candidates(of);
        choices.extend(candidates.into_iter().map(|candidate| Choice { kernel, candidate }));
    }
    let error = arguments.tie / 100.0;
    let done = AtomicUsize::new(0);
    let progress = Progress::start(&done, choices.len(), arguments.model.quiet);
    let is_table = arguments.output.format() == Format::Table && !arguments.output.is_picture();
    let most = arguments.top.or(is_table.then_some(SHOWN)).unwrap_or(usize::MAX);
    let ranking =
        progress.during(|| arguments.model.in_pool(|| rank(&estimators, &choices, error, most, &done)))?;
    outcome.add(&ranking);
    let warnings = arguments.model.warnings(kernels, loaded);
    ranking_document(&estimators, ranking, error, warnings)
        .ok_or_else(|| Failure::message("no-kernel", "there is no kernel to rank".to_owned(), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::footprint::{Engine, Uncounted};
    use crate::launch::{Candidate, Infeasible};
    use crate::predict::Unpredicted;

    fn rejected(why: Unpredicted) -> Ranking {
        let choice = Choice { kernel: 0, candidate: Candidate::new([1; 3], [1; 3]).unwrap() };
        Ranking::only_rejected(vec![(choice, why)])
    }

    #[test]
    fn engines_that_disagree_fail_the_run() {
        let (engines, counts) = ([Engine::Linear, Engine::Enumeration], [99, 100]);
        let ranking = rejected(Uncounted::Disagreement { engines, counts }.into());
        let mut summary = Summary::default();
        summary.add(&ranking);
        // Also where other candidates have results.
        summary.empty = false;
        assert!(summary.disagree);
        assert_eq!(format!("{:?}", summary.code()), format!("{:?}", ExitCode::from(1)));
        let mut summary = Summary::default();
        summary.add(&rejected(Infeasible::ThreadsPerBlock { threads: 2048, most: 1024 }.into()));
        assert!(summary.empty && !summary.disagree);
    }
}
