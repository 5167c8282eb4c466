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
use super::output::{Format, OutputArguments};
use super::progress::{self, Progress};
use crate::ask::{KernelsRead, Pieces, Predictor, Question, Reply};
use crate::device::Device;
use crate::report::{Answer, Compared, OnDevice, View, device_shares};

/// What every question about kernels takes beside itself.
#[derive(Debug, Args)]
#[group(skip)]
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
        self.output.check(&["html"])?;
        let asking = Asking::begin(&self.kernels, &self.model, &self.output)?;
        let replies = asking.replies(question, "candidates", |_, _| Ok(()))?;
        let code = asking.show(&replies, all)?;
        asking.tell(replies.len(), things);
        Ok(code)
    }

    /// The same where answers about several devices are compared.
    pub(super) fn ask_of_devices<Q: Question<Answer: Send + OnDevice> + Sync>(
        &self,
        question: &Q,
        things: &str,
    ) -> Outcome {
        self.output.check(&["html"])?;
        let asking = Asking::begin(&self.kernels, &self.model, &self.output)?;
        let mut replies = asking.replies(question, "candidates", |_, _| Ok(()))?;
        asking.compare(&mut replies);
        let code = asking.show_compared(&replies, false)?;
        asking.tell(replies.len(), things);
        Ok(code)
    }
}

/// What a question about many launches of each kernel takes.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct RankedArguments {
    #[command(flatten)]
    kernels: KernelFiles,
    #[command(flatten)]
    pub shapes: ShapeArguments,
    #[command(flatten)]
    model: ModelArguments,
}

impl RankedArguments {
    /// Whether more than one device is asked about.
    pub(super) fn several_devices(&self) -> bool {
        self.model.device.len() > 1
    }

    pub(super) fn begin<'a>(&'a self, output: &'a OutputArguments) -> Result<Asking<'a>, Failure> {
        Asking::begin(&self.kernels, &self.model, output)
    }
}

/// A question that is being asked.
pub(super) struct Asking<'a> {
    kernels: &'a KernelFiles,
    model: &'a ModelArguments,
    output: &'a OutputArguments,
    /// What predicts, device by device.
    pub predictors: Vec<Predictor<'a>>,
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
        let predictors = model.predictors().map_err(|f| f.for_json(output.is_json()))?;
        Ok(Self { kernels, model, output, predictors, started })
    }

    /// The answers about all files. `prepare` may change the kernels of each before; `pieces` is what an answer
    /// consists of.
    pub(super) fn replies<Q: Question<Answer: Send> + Sync>(
        &self,
        question: &Q,
        pieces: &'static str,
        prepare: impl FnMut(&mut KernelsRead, &Device) -> Result<(), Failure>,
    ) -> Result<Vec<Reply<Q::Answer>>, Failure> {
        self.replies_until(&Arc::default(), |_| question, pieces, prepare)
    }

    /// The same for a question that is made for each device, which is ended once `end` is true: what is known by then is
    /// answered.
    pub(super) fn replies_until<'s, Q: Question<Answer: Send> + Sync>(
        &'s self,
        end: &Arc<AtomicBool>,
        question: impl Fn(&'s Predictor<'a>) -> Q,
        pieces: &'static str,
        mut prepare: impl FnMut(&mut KernelsRead, &Device) -> Result<(), Failure>,
    ) -> Result<Vec<Reply<Q::Answer>>, Failure> {
        let targets: Vec<_> = self.predictors.iter().map(|p| p.device().target.as_deref()).collect();
        let questions: Vec<Q> = self.predictors.iter().map(question).collect();
        let blocks = questions.first().map(Q::blocks).unwrap_or_default();
        let replies = self.kernels.each(&targets, &blocks, |read| {
            let mut of_devices = Vec::with_capacity(read.len());
            for ((mut kernels, predictor), question) in read.into_iter().zip(&self.predictors).zip(&questions)
            {
                prepare(&mut kernels, predictor.device())?;
                let done = Pieces { end: Arc::clone(end), ..Pieces::default() };
                let progress = Progress::start(&done.done, &done.all, self.model.quiet).counting(pieces);
                let answer = || question.answer(&kernels, predictor, &done);
                of_devices.push(progress.during(|| self.model.in_pool(answer))??);
            }
            Ok(by_kernel(of_devices))
        });
        replies.map_err(|f| f.for_json(self.output.is_json()))
    }

    pub(super) fn show<A: Answer>(&self, replies: &[Reply<A>], all: bool) -> Result<ExitCode, Failure> {
        show_replies(self.output, replies, all)
    }

    /// Puts answers about several devices beside each other: each learns how much slower it is than the fastest.
    pub(super) fn compare<A: OnDevice>(&self, replies: &mut [Reply<A>]) {
        if self.predictors.len() < 2 {
            return;
        }
        for of_kernel in replies.chunks_mut(self.predictors.len()) {
            let times: Vec<_> = of_kernel.iter().map(|r| r.answer().and_then(A::best_time)).collect();
            for (reply, share) in of_kernel.iter_mut().zip(device_shares(&times)) {
                if let Some(answer) = reply.answer_mut() {
                    answer.set_device_relative(share);
                }
            }
        }
    }

    /// Shows answers; for a person, those about several devices as one table.
    fn show_compared<A: Answer + OnDevice>(
        &self,
        replies: &[Reply<A>],
        all: bool,
    ) -> Result<ExitCode, Failure> {
        let is_text = self.output.format() == Format::Table && !self.output.is_drawn();
        if self.predictors.len() < 2 || !is_text {
            return self.show(replies, all);
        }
        let devices: Vec<&Device> = self.predictors.iter().map(Predictor::device).collect();
        let view = View { width: self.output.width(), all };
        let of_kernel = |replies: &[Reply<A>]| {
            let known = |reply: &'_ Reply<A>| match reply {
                Reply::Found(answer) => Ok(answer.launches()),
                Reply::Error(document) => Err(document.clone()),
            };
            Compared { devices: &devices, answers: replies.iter().map(known).collect() }.text(view)
        };
        let texts: Vec<String> = replies.chunks(devices.len()).map(of_kernel).collect();
        self.output.write(&texts.join("\n"))?;
        let missing = replies.iter().any(|reply| reply.answer().is_none());
        Ok(if missing { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    /// The same for answers that take work to write, of which `written` counts the results.
    pub(super) fn show_long<A: Answer + OnDevice + Sync>(
        &self,
        replies: &[Reply<A>],
        written: &Pieces,
    ) -> Result<ExitCode, Failure> {
        // Progress would stand between the lines of a result on the same terminal.
        let quiet = self.model.quiet || self.output.is_on_terminal();
        let progress = Progress::start(&written.done, &written.all, quiet).counting("results written");
        progress.during(|| self.model.in_pool(|| self.show_compared(replies, false)))?
    }

    /// Says how long so many things took, if that was asked for.
    pub(super) fn tell(&self, count: usize, things: &str) {
        if self.model.verbose {
            progress::say(&format!("{count} {things} in {:.1?}", self.started.elapsed()));
        }
    }
}

/// Answers device by device as answers kernel by kernel.
fn by_kernel<T>(of_devices: Vec<Vec<T>>) -> Vec<T> {
    let mut of_devices: Vec<_> = of_devices.into_iter().map(Vec::into_iter).collect();
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(of_devices.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            return all;
        }
    }
}
