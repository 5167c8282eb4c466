//! What candidates of a ranking have in common, so that it is found out once.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::estimate::{Estimator, Unpredicted};
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
        let items = WorkItems::of(estimator.kernel, &estimator.counting);
        Self { estimator, programs: BTreeMap::new(), items, footprints: BTreeMap::new() }
    }

    /// Finds out whether a candidate can run, and makes room for what it shares with others.
    pub(super) fn admit(&mut self, candidate: Candidate) -> Result<Runnable, Unpredicted> {
        let Estimator { kernel, device, .. } = self.estimator;
        let launch = Launch::new(kernel, candidate)?;
        let occupancy = occupancy(device, &launch)?;
        let program =
            self.programs.entry(candidate.fold).or_insert_with(|| Program::folded(kernel, candidate.fold));
        if let Err(excess) = program {
            return Err(Infeasible::Address(*excess).into());
        }
        if self.items.is_some() {
            self.footprints.entry(Region::of(&launch, occupancy.wave_blocks)).or_default();
        }
        Ok(Runnable { launch, occupancy })
    }

    /// The program of an admitted candidate.
    pub(super) fn program(&self, launch: &Launch) -> Result<Program<i64>, Unpredicted> {
        match self.programs.get(&launch.candidate.fold) {
            Some(Ok(program)) => Ok(program.at(launch)?),
            Some(Err(excess)) => Err(Infeasible::Address(*excess).into()),
            None => Ok(Program::folded(self.estimator.kernel, launch.candidate.fold)?.at(launch)?),
        }
    }

    /// The footprints of an admitted candidate.
    pub(super) fn footprints(&self, of: &Runnable, program: &Program<i64>) -> Result<Footprints, Uncounted> {
        let Estimator { kernel, device, counting, .. } = self.estimator;
        let resident = of.occupancy.wave_blocks;
        let place = self.footprints.get(&Region::of(&of.launch, resident));
        let (Some(items), Some(place)) = (&self.items, place) else {
            return footprints(kernel, &of.launch, program, device, resident, &counting);
        };
        place.get_or_init(|| items.footprints(&of.launch, device, resident, &counting)).clone()
    }
}
