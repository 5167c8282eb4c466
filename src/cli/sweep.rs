//! `wavecast sweep`.

use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::asking::RankedArguments;
use super::output::OutputArguments;
use crate::ask::{Reply, Sweep};
use crate::report::SweepDocument;

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_help = "VALUES are numbers and ranges with commas between them: 256..1024 step 64, pow2(1..64).\n\
    NAME is a parameter of the kernel (--vary NX=..., what follows from it by an expression follows; \
    --set 'NY=NX' makes another one follow), a number of the device (--vary l2.effective=10MiB,20MiB), \
    the device itself (--vary device=a100,h200), \
    block or fold (--vary block=512x2x1,64x4x4), or one extent of them (--vary 'block.x=pow2(1..1024)')."
)]
pub(super) struct Arguments {
    /// What to vary; given twice, the second draws a line for each of its values
    #[arg(long, required = true, value_name = "NAME=VALUES")]
    vary: Vec<String>,
    /// At each point rank all launches and take the best
    #[arg(long)]
    best: bool,
    #[command(flatten)]
    ranked: RankedArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    arguments.output.check(&["svg", "html"])?;
    let (vary, best) = (arguments.vary.clone(), arguments.best);
    let question = Sweep { vary, best, shapes: arguments.ranked.shapes.shapes() };
    let asking = arguments.ranked.begin(&arguments.output)?;
    let replies = asking.replies(&question, "points", |_, _| Ok(()))?;
    asking.show(&replies, false)?;
    let documents: Vec<&SweepDocument> = replies.iter().filter_map(Reply::answer).collect();
    asking.tell(documents.iter().map(|d| d.summary.points).sum(), "points");
    Ok(code(&documents))
}

/// Nothing at all could be predicted, or two engines disagree.
fn code(documents: &[&SweepDocument]) -> ExitCode {
    let errors = || documents.iter().flat_map(|d| &d.points).filter_map(|p| p.error.as_ref());
    let disagree = errors().any(|e| e.code == "engines-disagree");
    let empty = documents.iter().any(|d| d.summary.feasible == 0);
    if empty || disagree { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
