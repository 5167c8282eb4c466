//! What candidates of a ranking have in common, so that it is found out once.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::estimate::{Estimator, Unpredicted, Work};
use crate::effort;
use crate::expr::{Excess, Scale};
use crate::footprint::Uncounted;
use crate::launch::{Candidate, Infeasible, Launch, Occupancy, Program, occupancy};
use crate::traffic::{Footprints, Region, WorkItems, footprints};

/// What the candidates of one kernel have in common.
pub(super) struct Shared<'k> {
    estimator: Estimator<'k>,
    /// The folded program of each fold.
    programs: BTreeMap<[i64; 3], Result<Program<Scale>, Excess>>,
    items: Option<WorkItems<'k>>,
    /// Filled by the first candidate that needs one; which that is makes no difference.
    footprints: BTreeMap<Region, OnceLock<Result<Footprints, Uncounted>>>,
}

/// A candidate that can run.
pub(super) struct Runnable {
    pub(super) launch: Launch,
    pub(super) occupancy: Occupancy,
}

impl<'k> Shared<'k> {
    pub(super) fn new(estimator: Estimator<'k>) -> Self {
        let steps = Work::Footprints.steps(estimator.kernel.steps);
        let items = effort::within(steps, || WorkItems::of(estimator.kernel, &estimator.counting));
        Self { estimator, programs: BTreeMap::new(), items, footprints: BTreeMap::new() }
    }

    /// Finds out whether a candidate can run, and makes room for what it shares with others.
    pub(super) fn admit(&mut self, candidate: Candidate) -> Result<Runnable, Unpredicted> {
        let Estimator { kernel, device, .. } = self.estimator;
        let launch = Launch::new(kernel, candidate)?;
        let occupancy = occupancy(device, &launch)?;
        let steps = Work::Program.steps(kernel.steps);
        let folded = || effort::within(steps, || Program::folded(kernel, candidate.fold));
        if let Err(excess) = self.programs.entry(candidate.fold).or_insert_with(folded) {
            return self.estimator.within(Work::Program, || Err(Infeasible::Address(*excess)));
        }
        if self.items.is_some() {
            self.footprints.entry(Region::of(&launch, occupancy.wave_blocks)).or_default();
        }
        Ok(Runnable { launch, occupancy })
    }

    /// The program of an admitted candidate.
    pub(super) fn program(&self, launch: &Launch) -> Result<Program<i64>, Unpredicted> {
        match self.programs.get(&launch.candidate.fold) {
            Some(Ok(program)) => self.estimator.within(Work::Program, || program.at(launch)),
            Some(Err(excess)) => Err(Infeasible::Address(*excess).into()),
            None => Ok(Program::folded(self.estimator.kernel, launch.candidate.fold)?.at(launch)?),
        }
    }

    /// The footprints of an admitted candidate.
    pub(super) fn footprints(
        &self,
        of: &Runnable,
        program: &Program<i64>,
    ) -> Result<Footprints, Unpredicted> {
        let Estimator { kernel, device, counting, .. } = self.estimator;
        let resident = of.occupancy.wave_blocks;
        let count = || match &self.items {
            Some(items) => items.footprints(&of.launch, device, resident, &counting),
            None => footprints(kernel, &of.launch, program, device, resident, &counting),
        };
        let steps = Work::Footprints.steps(kernel.steps);
        let counted = match self.footprints.get(&Region::of(&of.launch, resident)) {
            Some(place) => place.get_or_init(|| effort::within(steps, count)).clone(),
            None => effort::within(steps, count),
        };
        self.estimator.within(Work::Footprints, || counted)
    }
}
