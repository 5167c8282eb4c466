//! Everything known about one launch.

use std::sync::Arc;

use super::code::{Code, working_threads};
use super::inputs::Inputs;
use super::known::Known;
use super::parts::Time;
use super::prediction::{Counted, Prediction, Summary};
use super::time::{combined, roofline};
use super::work_part::WorkPart;
use crate::curve::{Curves, Fit, TimeFit, VolumeFit, for_device};
use crate::device::Device;
use crate::effort;
use crate::expr::Excess;
use crate::footprint::Uncounted;
use crate::kernel::Kernel;
use crate::launch::{Candidate, Infeasible, Launch, NotRun, Occupancy, Program, occupancy};
use crate::quantity::{Bytes, PerItem, Ratio};
use crate::traffic::l1;
use crate::traffic::{Caches, Counting, Footprints, ThreadPath, Volumes, footprints, open_in_l1, volumes};

/// How time follows from volumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Model {
    /// Limiters with latency, tail, launch, translation and a smooth combination.
    #[default]
    Default,
    /// The paper's: the slowest of four limiters.
    Roofline,
}

impl Model {
    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            Model::Default => "default",
            Model::Roofline => "roofline",
        }
    }
}

/// Why a launch has no prediction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unpredicted {
    /// It cannot run.
    #[error(transparent)]
    Infeasible(#[from] Infeasible),
    /// Its lines could not be counted.
    #[error("{0}")]
    Uncounted(#[from] Uncounted),
    /// Its threads could not be run.
    #[error("{0}")]
    NotRun(#[from] NotRun),
    /// Counting would take longer than it may.
    #[error("counting takes more than {steps} steps, which is the limit `steps`")]
    Spent {
        /// The limit.
        steps: u64,
    },
}

impl From<Excess> for Unpredicted {
    fn from(excess: Excess) -> Self {
        Unpredicted::Infeasible(Infeasible::Address(excess))
    }
}

impl Unpredicted {
    /// A stable name of the reason, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Unpredicted::Infeasible(why) => why.code(),
            Unpredicted::Uncounted(Uncounted::Disagreement { .. }) => "engines-disagree",
            Unpredicted::Uncounted(_) => "not-countable",
            Unpredicted::NotRun(_) => "not-computable",
            Unpredicted::Spent { .. } => "too-many-steps",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Unpredicted::Spent { .. } => Some(
                "say it with fewer accesses, folds, nested quotients or conditions, let `sample` stand for \
                 long loops, or raise the limit `steps`",
            ),
            _ => None,
        }
    }

    /// The same for a launch that may take so many steps.
    fn within(self, steps: u64) -> Self {
        let spent = match &self {
            Unpredicted::Infeasible(Infeasible::Address(Excess::Spent(_)))
            | Unpredicted::NotRun(NotRun::Spent(_)) => true,
            Unpredicted::Uncounted(why) => why.is_spent(),
            _ => false,
        };
        if spent { Unpredicted::Spent { steps } } else { self }
    }
}

/// Predicts launches of one kernel on one device.
#[derive(Debug, Clone, Copy)]
pub struct Estimator<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The device.
    pub device: &'a Device,
    /// Hit rates and coefficients.
    pub curves: Curves<'a>,
    /// How time follows from volumes.
    pub model: Model,
    /// How lines are counted.
    pub counting: Counting,
    /// What the caches hold when the launch begins.
    pub caches: Caches,
}

impl<'a> Estimator<'a> {
    /// With the curves of the device, the default model, the cheapest engines and warm caches.
    pub fn new(kernel: &'a Kernel, device: &'a Device) -> Self {
        let (model, counting) = (Model::default(), Counting::default());
        Self { kernel, device, curves: for_device(device), model, counting, caches: Caches::default() }
    }

    /// Everything about one candidate.
    pub fn predict(&self, candidate: Candidate) -> Result<Prediction, Unpredicted> {
        let launch = Launch::new(self.kernel, candidate)?;
        let occupancy = occupancy(self.device, &launch)?;
        let known = Known::remembered(self.kernel, &self.counting);
        let folded = known.program(self.kernel, candidate.fold());
        let program = self.within(WorkPart::Program, || folded?.at(&launch))?;
        self.of_placed_as_known(launch, occupancy, &program, &known)
    }

    /// Does a part of the work for a launch with the steps that this part may take.
    pub(super) fn within<T, E: Into<Unpredicted>>(
        &self,
        part: WorkPart,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, Unpredicted> {
        let steps = self.kernel.steps;
        effort::within(part.steps(steps), work).map_err(|why| why.into().within(steps))
    }

    /// Everything about a launch of a program with block and grid sizes put in.
    pub(super) fn of_placed(
        &self,
        launch: Launch,
        occupancy: Occupancy,
        program: &Program<i64>,
    ) -> Result<Prediction, Unpredicted> {
        self.of_placed_as_known(launch, occupancy, program, &Known::remembered(self.kernel, &self.counting))
    }

    fn of_placed_as_known(
        &self,
        launch: Launch,
        occupancy: Occupancy,
        program: &Program<i64>,
        known: &Known,
    ) -> Result<Prediction, Unpredicted> {
        let Self { kernel, device, counting, .. } = *self;
        // As a ranking counts, which shares what follows from work items among launches.
        let of_such = || known.items(kernel, launch.candidate.one_item(), &counting);
        let Some(items) = known.items(kernel, [false; 3], &counting).or_else(of_such) else {
            return self.of_part(launch, occupancy, program);
        };
        let footprints = self.within(WorkPart::Footprints, || {
            items.footprints(kernel, &launch, device, occupancy.wave_blocks, &counting)
        })?;
        self.of_counted(launch, occupancy, program, footprints)
    }

    /// Everything about a launch of a program that may leave out a part of what the kernel does.
    pub(super) fn of_part(
        &self,
        launch: Launch,
        occupancy: Occupancy,
        program: &Program<i64>,
    ) -> Result<Prediction, Unpredicted> {
        let (kernel, device, resident) = (self.kernel, self.device, occupancy.wave_blocks);
        let footprints = self.within(WorkPart::Footprints, || {
            footprints(kernel, &launch, program, device, resident, &self.counting)
        })?;
        self.of_counted(launch, occupancy, program, footprints)
    }

    /// Everything about a launch of which the footprints are known.
    pub(super) fn of_counted(
        &self,
        launch: Launch,
        occupancy: Occupancy,
        program: &Program<i64>,
        footprints: Footprints,
    ) -> Result<Prediction, Unpredicted> {
        let counted = self.counted(&launch, program, footprints)?;
        Ok(Prediction { summary: self.summary(launch, occupancy, &counted), counted: Arc::new(counted) })
    }

    /// Counts what warps do.
    pub(super) fn counted(
        &self,
        launch: &Launch,
        program: &Program<i64>,
        footprints: Footprints,
    ) -> Result<Counted, Unpredicted> {
        let l1 = self.within(WorkPart::L1, || l1::count(self.kernel, launch, program, self.device))?;
        let path = self.within(WorkPart::Program, || {
            ThreadPath::new(self.kernel, launch, program).map_err(NotRun::from)
        })?;
        Ok(Counted { l1, footprints, path })
    }

    /// What follows from what was counted.
    pub(super) fn summary(&self, launch: Launch, occupancy: Occupancy, counted: &Counted) -> Summary {
        let (volumes, time) = self.applied(self.curves.fit, &launch, &occupancy, counted);
        let Footprints { items, working_blocks, .. } = counted.footprints;
        Summary {
            launch,
            occupancy,
            volumes,
            time,
            items,
            working_blocks,
            counting: counted.how(),
            path: counted.path,
        }
    }

    /// Volumes and time of a prediction under other coefficients. What was counted stays, so that this
    /// takes a microsecond: for fitting.
    pub fn refit(&self, prediction: &mut Prediction, fit: &Fit) {
        let Prediction { summary, counted } = prediction;
        (summary.volumes, summary.time) = self.applied(fit, &summary.launch, &summary.occupancy, counted);
    }

    /// The volumes of a prediction under other coefficients.
    pub(crate) fn revolumed(&self, prediction: &Prediction, fit: &VolumeFit) -> Volumes {
        let Prediction { summary, counted } = prediction;
        self.moved(fit, &summary.launch, &summary.occupancy, counted)
    }

    /// What of the loads from the L2 could hit in the L1: oversubscriptions, and bytes per work item at each. Of loops only
    /// what does not depend on them.
    pub(crate) fn open_in_l1(
        &self,
        prediction: &Prediction,
        fit: &VolumeFit,
    ) -> Vec<(Ratio, Bytes<PerItem>)> {
        let Prediction { summary, counted } = prediction;
        open_in_l1(self.device, &summary.launch, &summary.occupancy, fit, &counted.l1, &counted.footprints)
    }

    /// The time of a prediction under other coefficients of the time. Its volumes stay, so that this takes a part of
    /// what [`Self::refit`] does.
    pub(crate) fn retimed(&self, prediction: &Prediction, fit: &TimeFit) -> Time {
        let Prediction { summary, counted } = prediction;
        self.timed(fit, &summary.launch, &summary.occupancy, &summary.volumes, counted)
    }

    /// Volumes and time under some coefficients.
    fn applied(
        &self,
        fit: &Fit,
        launch: &Launch,
        occupancy: &Occupancy,
        counted: &Counted,
    ) -> (Volumes, Time) {
        let volumes = self.moved(&fit.volumes, launch, occupancy, counted);
        let time = self.timed(&fit.time, launch, occupancy, &volumes, counted);
        (volumes, time)
    }

    /// What a launch moves under some coefficients.
    fn moved(&self, fit: &VolumeFit, launch: &Launch, occupancy: &Occupancy, counted: &Counted) -> Volumes {
        let Counted { l1, footprints, path } = counted;
        let mut volumes = volumes(self.device, launch, occupancy, fit, self.caches, l1, footprints);
        let threads = working_threads(launch, footprints.working_blocks);
        let code = Code::new(&self.kernel.work, self.device, path, footprints.items, threads);
        let blocks = footprints.working_blocks as f64;
        volumes.l2.code =
            Bytes::new(code.fetched(self.device).get() * blocks / footprints.items.get().max(1.0));
        volumes
    }

    /// The time that follows from volumes.
    fn timed(
        &self,
        fit: &TimeFit,
        launch: &Launch,
        occupancy: &Occupancy,
        volumes: &Volumes,
        counted: &Counted,
    ) -> Time {
        let Counted { footprints, path, .. } = counted;
        let inputs = Inputs {
            device: self.device,
            work: &self.kernel.work,
            launch,
            occupancy,
            volumes,
            path,
            items: footprints.items,
            working_blocks: footprints.working_blocks,
        };
        match self.model {
            Model::Default => combined(&inputs, fit),
            Model::Roofline => roofline(&inputs),
        }
    }
}
