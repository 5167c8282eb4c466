//! `wavecast rank`.

use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::answers::say_errors;
use super::asking::RankedArguments;
use super::output::{Format, OutputArguments};
use super::progress;
use super::registers::RegisterArguments;
use crate::ask::{Rank, RankExplained, Reply, Tie};
use crate::report::{ExplainedRanking, RankingDocument, ranking_page};

/// Results that a person is shown without asking for more.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    ranked: RankedArguments,
    #[command(flatten)]
    registers: RegisterArguments,
    /// Show the best N only; a table shows 20 by default
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Candidates whose rate differs by less than this many percent share a tie group
    #[arg(long, value_name = "PERCENT", default_value_t)]
    tie: Tie,
    /// Put the time that it took into JSON documents
    #[arg(long)]
    timing: bool,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&["svg", "html"])?;
    let Arguments { ranked: RankedArguments { shapes, .. }, registers, .. } = arguments;
    let output = &arguments.output;
    let is_table = output.format() == Format::Table && !output.is_picture() && !output.is_page();
    let top = arguments.top.or(is_table.then_some(SHOWN));
    let question = Rank { shapes: shapes.shapes(), tie: arguments.tie, top };
    if arguments.output.is_page() {
        return page(arguments, question);
    }
    let asking = arguments.ranked.begin(&arguments.output)?;
    let device = asking.predictor.device();
    let mut replies =
        asking.replies(&question, "candidates", |kernels| registers.fill(kernels, shapes, device))?;
    if arguments.timing {
        let seconds = asking.started.elapsed().as_secs_f64();
        for document in replies.iter_mut().filter_map(Reply::answer_mut) {
            document.elapsed_s = Some(seconds);
        }
    }
    let mut summary = Summary::default();
    replies.iter().filter_map(Reply::answer).for_each(|document| summary.add(document));
    asking.show(&replies, false)?;
    asking.tell(summary.candidates, "candidates");
    Ok(summary.code())
}

/// Writes the rankings to a page for a browser, with explanations of the best launches.
fn page(arguments: &Arguments, question: Rank) -> Outcome {
    let question = RankExplained { rank: question, ..Default::default() };
    let asking = arguments.ranked.begin(&arguments.output)?;
    let device = asking.predictor.device();
    let (registers, shapes) = (&arguments.registers, &arguments.ranked.shapes);
    let replies =
        asking.replies(&question, "candidates", |kernels| registers.fill(kernels, shapes, device))?;
    let mut summary = Summary::default();
    let found: Vec<&ExplainedRanking> = replies.iter().filter_map(Reply::answer).collect();
    for explained in &found {
        summary.add(&explained.ranking);
    }
    arguments.output.write_json(|out| out.write_all(ranking_page(&found)?.as_bytes()))?;
    replies.iter().for_each(say_errors);
    asking.tell(summary.candidates, "candidates");
    Ok(if found.len() < replies.len() { ExitCode::from(1) } else { summary.code() })
}

/// What came of all rankings.
#[derive(Default)]
struct Summary {
    candidates: usize,
    empty: bool,
    disagree: bool,
}

impl Summary {
    fn add(&mut self, ranking: &RankingDocument) {
        self.candidates += ranking.summary.candidates;
        self.empty |= ranking.summary.feasible == 0;
        for rejected in ranking.infeasible.iter().filter(|r| r.code == "engines-disagree") {
            self.disagree = true;
            progress::say(&format!("error: {}", rejected.reason));
        }
    }

    fn code(&self) -> ExitCode {
        if self.empty || self.disagree { ExitCode::from(1) } else { ExitCode::SUCCESS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{DeviceSource, KernelSource, Predictor};
    use crate::footprint::{Engine, Uncounted};
    use crate::launch::{Candidate, Infeasible};
    use crate::predict::{Choice, Estimator, Ranking, Unpredicted};
    use crate::report::ranking_document;

    fn rejected(why: Unpredicted) -> RankingDocument {
        let text =
            "{wavecast: 1, kernel: k, fields: {a: {dtype: f64, size: 64}}, domain: {x: 64}, loads: ['a[x]']}";
        let kernels = KernelSource::new("k", text).read().unwrap();
        let predictor = Predictor::new(DeviceSource::default()).unwrap();
        let estimator: Estimator<'_> = predictor.estimator(&kernels.kernels()[0]);
        let choice = Choice { kernel: 0, candidate: Candidate::new([1; 3], [1; 3]).unwrap() };
        ranking_document(&[estimator], Ranking::only_rejected(vec![(choice, why)]), 0.04, Vec::new()).unwrap()
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
