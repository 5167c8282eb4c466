//! Questions about kernels, from arguments to what is shown.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;

use super::Outcome;
use super::answers::show_replies;
use super::choices::ShapeArguments;
use super::failure::Failure;
use super::input::KernelFiles;
use super::model::ModelArguments;
use super::output::OutputArguments;
use super::progress::{self, Progress};
use crate::ask::{KernelsRead, Pieces, Predictor, Question, Reply};
use crate::report::Answer;

/// What every question about kernels takes beside itself.
#[derive(Debug, Args)]
pub(super) struct AskingArguments {
    #[command(flatten)]
    kernels: KernelFiles,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    output: OutputArguments,
}

impl AskingArguments {
    /// The kernels that are asked about.
    pub(super) fn kernels(&self) -> &KernelFiles {
        &self.kernels
    }

    /// Asks, and shows the answers, whole if `all` says so. `things` is what they are called.
    pub(super) fn ask<Q: Question<Answer: Send> + Sync>(
        &self,
        question: &Q,
        all: bool,
        things: &str,
    ) -> Outcome {
        self.output.check(&[])?;
        let asking = Asking::begin(&self.kernels, &self.model, &self.output)?;
        let replies = asking.replies(question, "candidates", |_| Ok(()))?;
        let code = asking.show(&replies, all)?;
        asking.tell(replies.len(), things);
        Ok(code)
    }
}

/// What a question about many launches of each kernel takes.
#[derive(Debug, Args)]
pub(super) struct RankedArguments {
    #[command(flatten)]
    kernels: KernelFiles,
    #[command(flatten)]
    pub shapes: ShapeArguments,
    #[command(flatten)]
    model: ModelArguments,
}

impl RankedArguments {
    pub(super) fn begin<'a>(&'a self, output: &'a OutputArguments) -> Result<Asking<'a>, Failure> {
        Asking::begin(&self.kernels, &self.model, output)
    }
}

/// A question that is being asked.
pub(super) struct Asking<'a> {
    kernels: &'a KernelFiles,
    model: &'a ModelArguments,
    output: &'a OutputArguments,
    /// What predicts.
    pub predictor: Predictor<'a>,
    /// Since when.
    pub started: Instant,
}

impl<'a> Asking<'a> {
    fn begin(
        kernels: &'a KernelFiles,
        model: &'a ModelArguments,
        output: &'a OutputArguments,
    ) -> Result<Self, Failure> {
        let started = Instant::now();
        let predictor = model.predictor().map_err(|f| f.for_json(output.is_json()))?;
        Ok(Self { kernels, model, output, predictor, started })
    }

    /// The answers about all files. `prepare` may change the kernels of each before; `pieces` is what an answer
    /// consists of.
    pub(super) fn replies<Q: Question<Answer: Send> + Sync>(
        &self,
        question: &Q,
        pieces: &'static str,
        prepare: impl FnMut(&mut KernelsRead) -> Result<(), Failure>,
    ) -> Result<Vec<Reply<Q::Answer>>, Failure> {
        self.replies_until(&Arc::default(), question, pieces, prepare)
    }

    /// The same, which is ended once `end` is true: what is known by then is answered.
    pub(super) fn replies_until<Q: Question<Answer: Send> + Sync>(
        &self,
        end: &Arc<AtomicBool>,
        question: &Q,
        pieces: &'static str,
        mut prepare: impl FnMut(&mut KernelsRead) -> Result<(), Failure>,
    ) -> Result<Vec<Reply<Q::Answer>>, Failure> {
        let target = self.predictor.device().target.as_deref();
        let replies = self.kernels.each(target, &question.blocks(), |mut kernels| {
            prepare(&mut kernels)?;
            let done = Pieces { end: Arc::clone(end), ..Pieces::default() };
            let progress = Progress::start(&done.done, &done.all, self.model.quiet).counting(pieces);
            let answer = || question.answer(&kernels, &self.predictor, &done);
            Ok(progress.during(|| self.model.in_pool(answer))??)
        });
        replies.map_err(|f| f.for_json(self.output.is_json()))
    }

    pub(super) fn show<A: Answer>(&self, replies: &[Reply<A>], all: bool) -> Result<ExitCode, Failure> {
        show_replies(self.output, replies, all)
    }

    /// The same for answers that take work to write, of which `written` counts the results.
    pub(super) fn show_long<A: Answer + Sync>(
        &self,
        replies: &[Reply<A>],
        written: &Pieces,
    ) -> Result<ExitCode, Failure> {
        // Progress would stand between the lines of a result on the same terminal.
        let quiet = self.model.quiet || self.output.is_on_terminal();
        let progress = Progress::start(&written.done, &written.all, quiet).counting("results written");
        progress.during(|| self.model.in_pool(|| self.show(replies, false)))?
    }

    /// Says how long so many things took, if that was asked for.
    pub(super) fn tell(&self, count: usize, things: &str) {
        if self.model.verbose {
            progress::say(&format!("{count} {things} in {:.1?}", self.started.elapsed()));
        }
    }
}
