//! Launches that are predicted one part after the other, where only the best are wanted: of those that cannot be among
//! them it is enough to know that they can run.
//!
//! How long the L1 takes at least follows from how lanes lie; how long all of a launch takes at least follows from that and
//! its footprints. Launches are looked at in the order of the first time, and then of the second; once it is longer than the
//! worst time among the best so far, footprints of the others need not be counted, or what their warps do. Which are left out
//! depends on what was predicted before; which are the best does not.

use std::sync::atomic::Ordering;

use super::best::{Best, Outcome};
use super::choices::{Choices, Watch};
use super::estimate::Estimator;
use super::open::{Contest, Entry};
use super::round::{Looks, Round};
use super::shared::Shared;
use super::slots::{Admitted, Slots};
use crate::effort::{Instant, heeding, stop, stopped};
use crate::parallel::{self, Parts};

/// Launches that are looked at together at first: the more there are, the sooner a good one is among them.
const FIRST: usize = 1 << 8;

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
    let mut best = (wanted < admitted.len()).then(|| Best::new(wanted));
    let mut parts = Parts::new(admitted);
    if best.is_some() && shared.iter().all(Shared::is_plain) {
        parts = parts.from_many(FIRST);
    }
    let (mut slots, mut looks) = (Slots::default(), Looks::default());
    while let Some(part) = parts.take()
        && !stopped()
        && !watch.end.load(Ordering::Relaxed)
    {
        let started = Instant::now();
        slots = slots.of_next(part, parts.upcoming());
        let of_part: Vec<(&Admitted, Option<usize>)> = part.iter().zip(slots.of.iter().copied()).collect();
        let some_are_left_out = best.is_some();
        let mut entries = parallel::map(&of_part, |(admitted, slot)| {
            let slot = slot.map(|place| &slots.all[place]);
            let entry = heeding(stop.as_ref(), || contest.open(admitted.choice, slot, some_are_left_out));
            watch.done.fetch_add(usize::from(matches!(entry, Entry::Done(_))), Ordering::Relaxed);
            entry
        });
        if let Some(best) = &mut best {
            let (contest, slots, looks) = (&contest, &slots, &mut looks);
            let round = Round { contest, part, slots, entries, looks, done: watch.done, stop: stop.as_ref() };
            entries = round.choose(best);
        }
        for (admitted, entry) in part.iter().zip(entries) {
            to(
                admitted.choice,
                match entry {
                    Entry::Done(outcome) => outcome,
                    Entry::Open(open) => {
                        watch.done.fetch_add(1, Ordering::Relaxed);
                        Outcome::LeftOut { registers_assumed: open.runnable.launch.registers_assumed }
                    }
                },
            );
        }
        parts.adapt(started.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;
    use crate::device;
    use crate::footprint::{Counter, Engine};
    use crate::kernel::Limits;
    use crate::launch::candidates;
    use crate::predict::rank;
    use crate::predict::ranking::Choice;
    use crate::traffic::Counting;

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

    /// Footprints that may be refused are counted of all launches, also where none is wanted.
    #[test]
    fn launches_that_cannot_be_counted_are_found() {
        let path = format!("{}/kernels/star3d7.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let limits = Limits { steps: 20_000_000, ..Limits::default() };
        let options = crate::kernel::Options { limits, ..Default::default() };
        let kernel = crate::kernel::load("star3d7", &text, &options).unwrap().kernels.remove(0);
        let device = device::find("a100", &[]).unwrap();
        let mut refused = 0;
        let counters =
            [Counter::cheapest(), Counter::forced(Engine::Enumeration), Counter::cheapest().verified()];
        for counter in counters {
            let counting = Counting { counter, ..Counting::default() };
            let estimators = [Estimator { counting, ..Estimator::new(&kernel, &device) }];
            let choices: Vec<Choice> =
                candidates(&kernel).step_by(8).map(|candidate| Choice { kernel: 0, candidate }).collect();
            let ranked = |most| rank(&estimators, &choices, 0.04, most, &AtomicUsize::new(0));
            let all = ranked(usize::MAX);
            refused += all.rejected().len();
            for most in [0, 1] {
                let best = ranked(most);
                assert_eq!(best.rejected(), all.rejected(), "{counter:?} {most}");
                assert_eq!(best.feasible(), all.feasible(), "{counter:?} {most}");
            }
        }
        assert!(refused > 0);
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
