//! `wavecast rank`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::Outcome;
use super::answers::say_errors;
use super::asking::RankedArguments;
use super::ending::{INTERRUPTED, end_at_interrupt};
use super::output::{Format, OutputArguments};
use super::progress;
use super::registers::RegisterArguments;
use crate::ask::{Pieces, Rank, RankAll, RankExplained, Reply, Tie};
use crate::predict::Placing;
use crate::report::{ExplainedRanking, ranking_page};

/// Results that a person is shown without asking for more.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    ranked: RankedArguments,
    #[command(flatten)]
    registers: RegisterArguments,
    /// Show the best N only; a table shows 20 by default
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = how_many)]
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

/// Reads how many results are wanted.
fn how_many(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "a whole number, 0 or more, is how many are shown".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&["svg", "html"])?;
    let Arguments { ranked: RankedArguments { shapes, .. }, registers, .. } = arguments;
    let output = &arguments.output;
    let is_table = output.format() == Format::Table && !output.is_drawn();
    // Of several devices a person is shown the best launch of each.
    let shown = if arguments.ranked.several_devices() { 1 } else { SHOWN };
    let top = arguments.top.or(is_table.then_some(shown));
    if output.is_page() {
        return page(arguments, Rank { shapes: shapes.shapes(), tie: arguments.tie, top });
    }
    let asking = arguments.ranked.begin(&arguments.output)?;
    let written = Arc::new(Pieces::default());
    let rank = Rank { shapes: shapes.shapes(), tie: arguments.tie, top };
    let question =
        |on| RankAll { rank: rank.clone(), on, held: RankAll::HELD, written: Arc::clone(&written) };
    let end = Arc::new(AtomicBool::new(false));
    end_at_interrupt(&end)?;
    let mut replies = asking.replies_until(&end, question, "candidates", |kernels, device| {
        registers.fill(kernels, shapes, device)
    })?;
    // From now on an interrupt ends the program at once.
    end.store(true, Ordering::Relaxed);
    if arguments.timing {
        let seconds = asking.started.elapsed().as_secs_f64();
        for answer in replies.iter_mut().filter_map(Reply::answer_mut) {
            answer.elapsed_s = Some(seconds);
        }
    }
    asking.compare(&mut replies);
    let mut summary = Summary::default();
    replies.iter().filter_map(Reply::answer).for_each(|answer| summary.add(answer.placing()));
    asking.show_long(&replies, &written)?;
    asking.tell(summary.candidates, "candidates");
    Ok(summary.code())
}

/// Writes the rankings to a page for a browser, with explanations of the best launches.
fn page(arguments: &Arguments, question: Rank) -> Outcome {
    let question = RankExplained { rank: question, ..Default::default() };
    let asking = arguments.ranked.begin(&arguments.output)?;
    let (registers, shapes) = (&arguments.registers, &arguments.ranked.shapes);
    let replies =
        asking.replies(&question, "candidates", |kernels, device| registers.fill(kernels, shapes, device))?;
    let mut summary = Summary::default();
    let found: Vec<&ExplainedRanking> = replies.iter().filter_map(Reply::answer).collect();
    for explained in &found {
        summary.add_explained(explained);
    }
    arguments.output.write_pieces(|out| out.write_all(ranking_page(&found).as_bytes()))?;
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
    ended_early: bool,
}

impl Summary {
    fn add(&mut self, ranking: &Placing) {
        self.candidates += ranking.candidates();
        self.empty |= ranking.feasible() == 0;
        if let Some(all) = ranking.ended_before() {
            self.ended_early = true;
            let looked_at = ranking.candidates();
            progress::say(&format!(
                "warning: ended early: {looked_at} of {all} candidates were looked at, so that the result lacks the others"
            ));
        }
        for reason in ranking.disagreements() {
            self.disagree = true;
            progress::say(&format!("error: {reason}"));
        }
    }

    fn add_explained(&mut self, explained: &ExplainedRanking) {
        let summary = &explained.ranking.summary;
        self.candidates += summary.candidates;
        self.empty |= summary.feasible == 0;
        for reason in &explained.disagreements {
            self.disagree = true;
            progress::say(&format!("error: {reason}"));
        }
    }

    fn code(&self) -> ExitCode {
        match self {
            Self { disagree: true, .. } => ExitCode::from(1),
            Self { ended_early: true, .. } => ExitCode::from(INTERRUPTED),
            Self { empty: true, .. } => ExitCode::from(1),
            _ => ExitCode::SUCCESS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::footprint::{Engine, Uncounted};
    use crate::launch::Infeasible;

    #[test]
    fn engines_that_disagree_fail_the_run() {
        let (engines, counts) = ([Engine::Linear, Engine::Enumeration], [99, 100]);
        let mut summary = Summary::default();
        summary.add(&Placing::only_refused(vec![Uncounted::Disagreement { engines, counts }.into()]));
        // Also where other candidates have results.
        summary.empty = false;
        assert!(summary.disagree);
        assert_eq!(format!("{:?}", summary.code()), format!("{:?}", ExitCode::from(1)));
        let mut summary = Summary::default();
        let why = Infeasible::ThreadsPerBlock { threads: 2048, most: 1024 };
        summary.add(&Placing::only_refused(vec![why.into()]));
        assert!(summary.empty && !summary.disagree);
    }
}
