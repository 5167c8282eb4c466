//! Launches of which it is not known all yet, where only the best are wanted: the steps from what warps do at least, over
//! footprints, to all of it.

use super::best::{Best, Outcome};
use super::bound::{least_seconds, least_seconds_in_l1};
use super::choices::Choices;
use super::estimate::{Estimator, Unpredicted};
use super::prediction::Summary;
use super::ranking::Choice;
use super::shared::{Runnable, Shared, Slot};
use crate::launch::{Candidate, are_points};
use crate::quantity::Seconds;
use crate::traffic::Footprints;
use crate::traffic::l1::{L1Counts, Least};

/// A launch that could be predicted.
pub(super) struct Open {
    pub(super) runnable: Runnable,
    /// What its warps do at least, once that was looked at.
    pub(super) warps: Option<L1Counts>,
    pub(super) footprints: Option<Footprints>,
    /// Whether it is certain that they can be counted.
    certain: bool,
    /// How long it takes at least, as far as that is known.
    pub(super) least: Seconds,
}

impl Open {
    /// Whether it may turn out that it cannot be predicted.
    pub(super) fn may_be_refused(&self) -> bool {
        self.footprints.is_none() && !self.certain
    }
}

/// A launch of a part.
pub(super) enum Entry {
    Done(Outcome),
    Open(Box<Open>),
}

/// What all launches of a contest have in common.
pub(super) struct Contest<'c> {
    pub(super) estimators: &'c [Estimator<'c>],
    pub(super) shared: &'c [Shared<'c>],
    pub(super) choices: &'c dyn Choices,
}

impl Contest<'_> {
    /// All that is known of a launch, or where some are left out perhaps no more than how long its warps take at least.
    pub(super) fn open(&self, choice: usize, slot: Option<&Slot>, some_are_left_out: bool) -> Entry {
        let Choice { kernel, candidate } = self.choices.choice(choice);
        let (estimator, shared) = (&self.estimators[kernel], &self.shared[kernel]);
        if !some_are_left_out {
            return Entry::Done(one(estimator, shared, candidate, slot).into());
        }
        let runnable = match shared.runnable(candidate) {
            Ok(runnable) => runnable,
            Err(why) => return Entry::Done(Outcome::Refused(Box::new(why.into()))),
        };
        // What is left out has to be known to be one that could be counted.
        let Some(straight) = shared.straight(&runnable) else {
            return Entry::Done(one(estimator, shared, candidate, slot).into());
        };
        // Where lanes of a warp lie in several rows, what they do at least takes longer to find out.
        let may_part = straight.may_part(&runnable.launch);
        let certain = shared.footprints_are_certain(candidate);
        let mut open = Open { runnable, warps: None, footprints: None, certain, least: Seconds::ZERO };
        if !may_part {
            let (warps, least) = self.warps(choice, &open);
            (open.warps, open.least) = (Some(warps), least);
        }
        Entry::Open(Box::new(open))
    }

    /// What warps of a launch do at least, and how long it takes at least for that.
    pub(super) fn warps(&self, choice: usize, open: &Open) -> (L1Counts, Seconds) {
        let Choice { kernel, .. } = self.choices.choice(choice);
        let (estimator, shared) = (&self.estimators[kernel], &self.shared[kernel]);
        let launch = &open.runnable.launch;
        // Blocks all of whose lanes have work stand for the launch, if there are any.
        let straight = shared.straight(&open.runnable).filter(|_| are_points(estimator.kernel, launch));
        let Some(of) = straight.and_then(|straight| straight.least(estimator.kernel, launch)) else {
            return (Least::nothing(estimator.kernel), open.least);
        };
        let warps = of.of_full_blocks(estimator.kernel, launch);
        let least = finite(least_seconds_in_l1(estimator, &warps));
        (warps, open.least.max(least))
    }

    /// The footprints of a launch, and how long it takes at least.
    pub(super) fn begin(
        &self,
        choice: usize,
        slot: Option<&Slot>,
        open: &Open,
    ) -> Result<(Footprints, Seconds), Unpredicted> {
        let shared = &self.shared[self.choices.choice(choice).kernel];
        let footprints = shared.footprints_alone(&open.runnable, slot)?;
        let least = self.least(choice, open, &footprints, open.warps.as_ref());
        Ok((footprints, least))
    }

    /// How long a launch takes at least, by its footprints and what its warps do.
    fn least(
        &self,
        choice: usize,
        open: &Open,
        footprints: &Footprints,
        warps: Option<&L1Counts>,
    ) -> Seconds {
        let Choice { kernel, .. } = self.choices.choice(choice);
        let estimator = &self.estimators[kernel];
        let of = |warps: &L1Counts| finite(least_seconds(estimator, &open.runnable, footprints, warps));
        open.least.max(warps.map_or_else(|| of(&Least::nothing(estimator.kernel)), of))
    }

    /// The rest of what is known of a launch whose footprints are known; `None` if it is not among the best.
    pub(super) fn finish(&self, choice: usize, open: &Open, best: &Best) -> Option<Outcome> {
        let Choice { kernel, .. } = self.choices.choice(choice);
        let (estimator, shared) = (&self.estimators[kernel], &self.shared[kernel]);
        let footprints = open.footprints.as_ref()?;
        if open.warps.is_none() {
            let (warps, _) = self.warps(choice, open);
            if !best.may_hold(self.least(choice, open, footprints, Some(&warps))) {
                return None;
            }
        }
        let Runnable { launch, occupancy } = &open.runnable;
        let counted = shared
            .program(launch)
            .and_then(|program| estimator.counted(launch, &program, footprints.clone()));
        Some(counted.map(|counted| estimator.summary(launch.clone(), *occupancy, &counted)).into())
    }
}

/// Of what is no number nothing is known.
fn finite(least: Option<Seconds>) -> Seconds {
    least.filter(|least| least.get().is_finite()).unwrap_or(Seconds::ZERO)
}

fn one(
    estimator: &Estimator<'_>,
    shared: &Shared<'_>,
    candidate: Candidate,
    slot: Option<&Slot>,
) -> Result<Summary, Unpredicted> {
    let runnable = shared.runnable(candidate)?;
    let program = shared.program(&runnable.launch)?;
    let footprints = shared.footprints(&runnable, &program, slot)?;
    let Runnable { launch, occupancy } = runnable;
    // Of many candidates only what a ranking shows is kept.
    let counted = estimator.counted(&launch, &program, footprints)?;
    Ok(estimator.summary(launch, occupancy, &counted))
}
