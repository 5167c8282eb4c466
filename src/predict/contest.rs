//! Launches that are predicted one part after the other, where only the best are wanted: of those that cannot be among
//! them it is enough to know that they can run.
//!
//! How long a launch takes at least follows from footprints alone. Launches are looked at in the order of that time; once it
//! is longer than the worst time among the best so far, what the warps of the others do need not be counted. Which are left
//! out depends on what was predicted before; which are the best does not.

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

use super::bound::least_seconds;
use super::choices::{Choices, Watch};
use super::estimate::{Estimator, Unpredicted};
use super::prediction::Summary;
use super::ranking::Choice;
use super::shared::{Runnable, Shared, Slot};
use super::slots::{Admitted, Slots};
use crate::effort::{Instant, heeding, stop, stopped};
use crate::kernel::Kernel;
use crate::launch::{Candidate, Launch};
use crate::parallel::{self, Parts};
use crate::quantity::Seconds;
use crate::traffic::Footprints;
use crate::traffic::l1::{Least, Straight};

/// Launches whose footprints are counted before the first of them is predicted: the more there are, the sooner a good one
/// is among them.
const FIRST: usize = 1 << 8;

/// What came of a launch.
pub(super) enum Outcome {
    /// It was predicted.
    Predicted(Box<Summary>),
    /// It can run, but is not among the best.
    LeftOut {
        /// Whether its registers had to be assumed.
        registers_assumed: bool,
    },
    /// It cannot run, or not be predicted.
    Refused(Box<Unpredicted>),
}

impl From<Result<Summary, Unpredicted>> for Outcome {
    fn from(result: Result<Summary, Unpredicted>) -> Self {
        match result {
            Ok(summary) => Outcome::Predicted(Box::new(summary)),
            Err(why) => Outcome::Refused(Box::new(why)),
        }
    }
}

/// A launch whose footprints are known, and how long it takes at least.
struct Begun {
    runnable: Runnable,
    footprints: Footprints,
    least: Seconds,
}

/// A launch of a part.
enum Entry {
    Done(Outcome),
    Begun(Box<Begun>),
}

/// A time among the best.
#[derive(PartialEq)]
struct Score(Seconds);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Order {
        self.0.total_cmp(&other.0)
    }
}

/// The times of the best so far, if not all launches are wanted.
struct Best {
    wanted: usize,
    /// The longest on top.
    times: BinaryHeap<Score>,
}

impl Best {
    /// Whether a launch that takes so long, or longer, may be one of them.
    fn may_hold(&self, least: Seconds) -> bool {
        self.times.len() < self.wanted || self.times.peek().is_some_and(|worst| least <= worst.0)
    }

    fn add(&mut self, outcome: &Outcome) {
        if let Outcome::Predicted(summary) = outcome {
            self.times.push(Score(summary.time.seconds));
            if self.times.len() > self.wanted {
                self.times.pop();
            }
        }
    }
}

/// What all launches of a contest have in common.
struct Contest<'c> {
    estimators: &'c [Estimator<'c>],
    shared: &'c [Shared<'c>],
    choices: &'c dyn Choices,
}

/// Predicts launches, those that share what is counted one after the other, and hands over what came of each. The best
/// `wanted` of them are predicted, and of others some.
pub(super) fn predict(
    estimators: &[Estimator<'_>],
    shared: &[Shared<'_>],
    choices: &dyn Choices,
    admitted: &mut [Admitted],
    wanted: usize,
    watch: Watch<'_>,
    mut to: impl FnMut(usize, Outcome),
) {
    let contest = Contest { estimators, shared, choices };
    let stop = stop();
    // Those that share what is counted follow each other, so that it need not be kept for long.
    admitted.sort_unstable();
    let mut best = (wanted < admitted.len()).then(|| Best { wanted, times: BinaryHeap::new() });
    let mut parts = Parts::new(admitted);
    if best.is_some() && shared.iter().all(Shared::is_plain) {
        parts = parts.from_many(FIRST);
    }
    let mut slots = Slots::default();
    while let Some(part) = parts.take()
        && !stopped()
        && !watch.end.load(Ordering::Relaxed)
    {
        let started = Instant::now();
        slots = slots.of_next(part, parts.upcoming());
        let of_part: Vec<(&Admitted, Option<usize>)> = part.iter().zip(slots.of.iter().copied()).collect();
        let done = |entry: Entry| {
            watch.done.fetch_add(usize::from(matches!(entry, Entry::Done(_))), Ordering::Relaxed);
            entry
        };
        let mut entries = parallel::map(&of_part, |(admitted, slot)| {
            let slot = slot.map(|i| &slots.all[i]);
            done(heeding(stop.as_ref(), || contest.begin(admitted.choice, slot, best.is_some())))
        });
        if let Some(best) = &mut best {
            for entry in &entries {
                if let Entry::Done(outcome) = entry {
                    best.add(outcome);
                }
            }
            let finish = |number: usize, begun: &Begun, best: &Best| {
                let outcome = heeding(stop.as_ref(), || contest.finish(part[number].choice, begun, best));
                outcome.map(|outcome| done(Entry::Done(outcome)))
            };
            choose(&mut entries, best, finish);
        }
        for (admitted, entry) in part.iter().zip(entries) {
            to(
                admitted.choice,
                match entry {
                    Entry::Done(outcome) => outcome,
                    Entry::Begun(begun) => {
                        watch.done.fetch_add(1, Ordering::Relaxed);
                        Outcome::LeftOut { registers_assumed: begun.runnable.launch.registers_assumed }
                    }
                },
            );
        }
        parts.adapt(started.elapsed());
    }
}

/// Finishes what may be among the best, the most promising first.
fn choose(
    entries: &mut [Entry],
    best: &mut Best,
    finish: impl Fn(usize, &Begun, &Best) -> Option<Entry> + Sync + Send,
) {
    let least = |entry: &Entry| match entry {
        Entry::Begun(begun) => Some(begun.least),
        Entry::Done(_) => None,
    };
    let mut order: Vec<(Score, usize)> =
        entries.iter().enumerate().filter_map(|(i, entry)| Some((Score(least(entry)?), i))).collect();
    order.sort_unstable();
    for some in order.chunks(parallel::threads()) {
        let promising: Vec<usize> = some.iter().filter(|s| best.may_hold(s.0.0)).map(|s| s.1).collect();
        if promising.is_empty() {
            break;
        }
        let finished = parallel::map(&promising, |&number| match &entries[number] {
            Entry::Begun(begun) => finish(number, begun, best),
            Entry::Done(_) => None,
        });
        for (number, entry) in promising.into_iter().zip(finished) {
            if let Some(Entry::Done(outcome)) = entry {
                best.add(&outcome);
                entries[number] = Entry::Done(outcome);
            }
        }
    }
}

impl Contest<'_> {
    /// All that is known of a launch, or where not all are `wanted` perhaps no more than how long it takes at least.
    fn begin(&self, choice: usize, slot: Option<&Slot>, some_are_left_out: bool) -> Entry {
        let Choice { kernel, candidate } = self.choices.choice(choice);
        let (estimator, shared) = (&self.estimators[kernel], &self.shared[kernel]);
        if !some_are_left_out {
            return Entry::Done(one(estimator, shared, candidate, slot).into());
        }
        let begun = || -> Result<Option<Begun>, Unpredicted> {
            let runnable = shared.runnable(candidate)?;
            // What is left out has to be known to be one that could be counted.
            let Some(straight) = shared.straight(&runnable) else { return Ok(None) };
            let Some(footprints) = shared.footprints_alone(&runnable, slot).transpose()? else {
                return Ok(None);
            };
            // Where lanes of a warp lie in several rows, what they do at least takes longer to find out.
            let warps = match full_blocks(straight, estimator.kernel, &runnable.launch, &footprints) {
                Some(of) if !of.may_part(&runnable.launch) => {
                    of.of_full_blocks(estimator.kernel, &runnable.launch)
                }
                _ => Least::nothing(estimator.kernel),
            };
            let least = finite(least_seconds(estimator, &runnable, &footprints, &warps));
            Ok(Some(Begun { runnable, footprints, least }))
        };
        match begun() {
            Ok(Some(begun)) => Entry::Begun(Box::new(begun)),
            Ok(None) => Entry::Done(one(estimator, shared, candidate, slot).into()),
            Err(why) => Entry::Done(Outcome::Refused(Box::new(why))),
        }
    }

    /// The rest of what is known of a launch; `None` if it is not among the best.
    fn finish(&self, choice: usize, begun: &Begun, best: &Best) -> Option<Outcome> {
        let Choice { kernel, .. } = self.choices.choice(choice);
        let (estimator, shared) = (&self.estimators[kernel], &self.shared[kernel]);
        let Begun { runnable, footprints, .. } = begun;
        let Runnable { launch, occupancy } = runnable;
        // Lanes that lie in many rows may meet in the banks of the L1 wherever their warp begins, and store in pieces.
        let straight = shared.straight(runnable);
        let of_full =
            straight.and_then(|straight| full_blocks(straight, estimator.kernel, launch, footprints));
        if let Some(of) = of_full.filter(|of| of.may_part(launch)) {
            let warps = of.of_full_blocks(estimator.kernel, launch);
            if !best.may_hold(finite(least_seconds(estimator, runnable, footprints, &warps))) {
                return None;
            }
        }
        let counted = shared
            .program(launch)
            .and_then(|program| estimator.counted(launch, &program, footprints.clone()));
        Some(counted.map(|counted| estimator.summary(launch.clone(), *occupancy, &counted)).into())
    }
}

/// What warps of a launch do at least, if blocks all of whose lanes have work stand for it.
fn full_blocks<'s>(
    straight: &'s Straight,
    kernel: &Kernel,
    launch: &Launch,
    footprints: &Footprints,
) -> Option<&'s Least> {
    footprints.stands_for.and_then(|_| straight.least(kernel, launch))
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;
    use crate::device;
    use crate::kernel::Limits;
    use crate::launch::candidates;
    use crate::predict::rank;

    /// Who asks for the best of them gets what stands first among all, and the same of all else.
    #[test]
    fn the_best_are_the_best_of_all() {
        // With few steps the warps of some launches cannot be counted.
        let few = Limits { steps: 40_000, ..Limits::default() };
        let mut refused = 0;
        for (name, limits) in [
            ("star3d7", Limits::default()),
            ("lbm-d3q15", Limits::default()),
            ("stream-triad", Limits::default()),
            ("transpose-tiled", Limits::default()),
            ("star3d7", few),
            ("lbm-d3q15", few),
        ] {
            let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let kernels =
                crate::kernel::load(name, &text, &crate::kernel::Options { limits, ..Default::default() })
                    .unwrap()
                    .kernels;
            for device in ["v100", "a100", "mi300x"] {
                let device = device::find(device, &[]).unwrap();
                let estimators: Vec<_> =
                    kernels.iter().map(|kernel| Estimator::new(kernel, &device)).collect();
                let of = |(kernel, k)| candidates(k).map(move |candidate| Choice { kernel, candidate });
                let choices: Vec<Choice> = kernels.iter().enumerate().flat_map(of).collect();
                let ranked = |most| rank(&estimators, &choices, 0.04, most, &AtomicUsize::new(0));
                let all = ranked(usize::MAX);
                refused += all.rejected().len() * usize::from(limits == few);
                for most in [0, 1, 3, 20] {
                    let best = ranked(most);
                    assert_eq!(
                        best.results(),
                        &all.results()[..most.min(all.results().len())],
                        "{name} {most}"
                    );
                    assert_eq!(best.rejected(), all.rejected());
                    assert_eq!((best.feasible(), best.candidates()), (all.feasible(), all.candidates()));
                    assert_eq!(best.registers_assumed(), all.registers_assumed());
                }
            }
        }
        assert!(refused > 100, "{refused}");
    }

    /// Of a star, whose launches differ in what they ask of memory, most are never counted as a whole.
    #[test]
    fn what_cannot_be_among_the_best_is_left_out() {
        let path = format!("{}/kernels/star3d7.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let kernel = crate::kernel::load("star3d7", &text, &Default::default()).unwrap().kernels.remove(0);
        let device = device::find("a100", &[]).unwrap();
        let estimators = [Estimator::new(&kernel, &device)];
        let choices: Vec<Choice> =
            candidates(&kernel).map(|candidate| Choice { kernel: 0, candidate }).collect();
        let mut shared = [Shared::new(estimators[0])];
        let mut admitted: Vec<Admitted> = Vec::new();
        for (choice, of) in choices.iter().enumerate() {
            admitted.extend(shared[0].admit(of.candidate).ok().map(|key| Admitted { key, choice }));
        }
        let (done, mut left_out, all) = (AtomicUsize::new(0), 0, admitted.len());
        let watch = Watch { done: &done, end: &AtomicBool::new(false) };
        predict(&estimators, &shared, &choices.as_slice(), &mut admitted, 3, watch, |_, outcome| {
            left_out += usize::from(matches!(outcome, Outcome::LeftOut { .. }));
        });
        assert!(left_out * 2 > all, "{left_out} of {all}");
        assert_eq!(done.load(Ordering::Relaxed), all);
    }
}
