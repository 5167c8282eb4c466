//! Loops of a warp that runs.

use super::lanes::MOST_LANES;
use super::prepared::PreparedForm;
use super::running::{FirstValue, RunningLoop};
use super::tally::WarpTally;
use super::values::{LaneVector, lanes_of, mask_of};
use super::warp::{MOST_OF_WARP, RunningWarp, STEPS_OF_PART};
use crate::effort::spend_on;
use crate::expr::LoopId;
use crate::launch::{NotRun, Step};

/// Most iterations of one loop that are run.
pub(super) const MOST_ITERATIONS: i64 = 32;
/// Iterations in a row of which some are run of each part of a loop: as many as share a sector of 4-byte elements.
const TOGETHER: i64 = 8;
/// Parts of a loop of which some are run.
const PARTS: i64 = MOST_ITERATIONS / TOGETHER;
/// The golden ratio, less one: its multiples lie nowhere close together.
const GOLDEN: f64 = 0.618_033_988_749_894_8;

impl<'a> RunningWarp<'a> {
    /// All lanes begin at their own first value and go on until the last has reached its end.
    pub(super) fn repeat(
        &mut self,
        id: LoopId,
        body: &'a [Step],
        active: u64,
        weight: f64,
        tally: &mut WarpTally,
    ) -> Result<(), NotRun> {
        let number = usize::from(id.0);
        let range = &self.program.loops[number];
        let [from, to] = &self.prepared.loops[number];
        spend_on(from.size + to.size, STEPS_OF_PART * u64::from(active.count_ones()))?;
        let count = |from: i64, to: i64| iterations(from, to, range.step);
        if let (Some(first), Some(last)) = (self.same(from), self.same(to)) {
            let most = count(first, last).ok_or(NotRun::Overflow)?;
            let chosen = self.chosen(number, most, tally);
            let weight = weight * chosen.weight;
            let together = self.are_together(number, tally);
            let turns = if together { chosen.run } else { 1 };
            for iteration in chosen.iterations().step_by(usize::try_from(turns.max(1)).unwrap_or(1)) {
                self.begin(number, iteration, || FirstValue::Same(first), range.step)?;
                tally.end_of_iteration();
                self.steps(body, active, weight * turns as f64, tally)?;
            }
            self.end(number, tally);
            return Ok(());
        }
        let first = self.all_values(from, active)?;
        let ends = self.all_values(to, active)?;
        let mut counts = [0; MOST_LANES];
        let (mut most, mut largest) = (0, 0);
        for lane in lanes_of(active) {
            counts[lane] = count(first[lane], ends[lane]).ok_or(NotRun::Overflow)?;
            most = counts[lane].max(most);
            largest = first[lane].unsigned_abs().max(largest);
        }
        let chosen = self.chosen(number, most, tally);
        let weight = weight * chosen.weight;
        let mut running = active;
        let together = self.are_together(number, tally);
        let mut turns = 1;
        let mut iterations = chosen.iterations();
        while let Some(iteration) = iterations.nth(turns - 1) {
            let each = || FirstValue::Each(Box::new(first), u128::from(largest));
            self.begin(number, iteration, each, range.step)?;
            running &= mask_of(&counts, |count| iteration < count);
            if together {
                // Until the first lane has reached its end.
                let next = lanes_of(running).map(|lane| counts[lane]).min().unwrap_or(most).min(chosen.run);
                turns = usize::try_from(next - iteration).unwrap_or(1).max(1);
            }
            tally.end_of_iteration();
            self.steps(body, running, weight * turns as f64, tally)?;
        }
        self.end(number, tally);
        Ok(())
    }

    /// How often each active lane repeats a loop.
    pub(super) fn iterations(&mut self, number: usize, active: u64) -> Result<LaneVector, NotRun> {
        let step = self.program.loops[number].step;
        let [from, to] = &self.prepared.loops[number];
        spend_on(from.size + to.size, STEPS_OF_PART * u64::from(active.count_ones()))?;
        let (first, ends) = (self.all_values(from, active)?, self.all_values(to, active)?);
        let mut all = [0; MOST_LANES];
        for lane in lanes_of(active) {
            all[lane] = iterations(first[lane], ends[lane], step).ok_or(NotRun::Overflow)?;
        }
        Ok(all)
    }

    /// Whether iterations in a row can be passed as one: nothing follows from the loop but addresses.
    fn are_together(&self, number: usize, tally: &WarpTally) -> bool {
        tally.only_passes && !self.prepared.decides[number]
    }

    /// Is in an iteration of a loop, without having been in those before.
    pub(super) fn be_in(&mut self, number: usize, iteration: i64, active: u64) -> Result<(), NotRun> {
        let [from, _] = &self.prepared.loops[number];
        let first = self.all_values(from, active)?;
        let largest = lanes_of(active).map(|lane| first[lane].unsigned_abs()).max().unwrap_or(0);
        let each = || FirstValue::Each(Box::new(first), largest.into());
        self.begin(number, iteration, each, self.program.loops[number].step)
    }

    pub(super) fn leave(&mut self, number: usize) {
        self.loops[number] = None;
        self.last_held = None;
    }

    /// Which iterations of a loop are run. Where conditions or bounds of inner loops follow from it, the first ones are not
    /// like the others: then some of each part are, and of each warp others.
    fn chosen(&self, number: usize, most: i64, tally: &mut WarpTally) -> Chosen {
        let run = most.min(MOST_ITERATIONS);
        if run == most {
            return Chosen { run, most, within: None, weight: 1.0 };
        }
        tally.counts.sampled = true;
        let within = self.prepared.decides[number].then(|| (tally.begun as f64 * GOLDEN).fract());
        Chosen { run, most, within, weight: most as f64 / run as f64 }
    }

    fn end(&mut self, number: usize, tally: &mut WarpTally) {
        tally.end_of_iteration();
        self.leave(number);
    }

    /// The value of a form, if it is known to be the same in all lanes.
    fn same(&mut self, form: &PreparedForm) -> Option<i64> {
        let (part, by) = self.part(form)?;
        (part.low == part.high).then_some(part.low + by)
    }

    /// Begins an iteration of a loop.
    fn begin(
        &mut self,
        number: usize,
        iteration: i64,
        first: impl FnOnce() -> FirstValue,
        step: i64,
    ) -> Result<(), NotRun> {
        self.left = self.left.checked_sub(1).ok_or(NotRun::Stopped(MOST_OF_WARP))?;
        self.last_held = None;
        match &mut self.loops[number] {
            Some(running) => running.iteration = iteration,
            none => *none = Some(RunningLoop { first: first(), step, iteration }),
        }
        Ok(())
    }
}

/// Iterations from a value to another; `None` where that leaves 64 bits.
pub(super) fn iterations(from: i64, to: i64, step: i64) -> Option<i64> {
    let span = if step > 0 { to.checked_sub(from) } else { from.checked_sub(to) };
    let (span, step) = (span?, step.checked_abs()?);
    Some(if span < 0 { 0 } else { (span / step).saturating_add(1) })
}

/// The iterations of a loop that are run: the first ones, or some from each of equal parts.
struct Chosen {
    run: i64,
    most: i64,
    /// How far into its part each run of iterations lies, from 0 to 1; `None` where the first ones are run.
    within: Option<f64>,
    /// How often each is meant.
    weight: f64,
}

impl Chosen {
    fn iterations(&self) -> impl Iterator<Item = i64> + use<> {
        let Self { run, most, within, .. } = *self;
        (0..run).map(move |turn| match within {
            None => turn,
            Some(within) => first_of(turn / TOGETHER, most, within) + turn % TOGETHER,
        })
    }
}

/// Where the iterations that are run of one part of a loop begin: so many whole runs after the first iteration that a
/// walk along a row begins its sectors as the loop does.
fn first_of(part: i64, most: i64, within: f64) -> i64 {
    let runs = most / TOGETHER;
    let (from, to) = (runs * part / PARTS, runs * (part + 1) / PARTS);
    #[expect(clippy::cast_possible_truncation, reason = "it is rounded down, and below the length of a loop")]
    let beyond = ((to - from) as f64 * within) as i64;
    (from + beyond.clamp(0, (to - from - 1).max(0))) * TOGETHER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_iterations_are_spread_over_a_loop() {
        for most in [33, 40, 100, 4096, i64::MAX] {
            for within in [0.0, 0.5, 0.999] {
                let chosen = Chosen { run: MOST_ITERATIONS, most, within: Some(within), weight: 1.0 };
                let all: Vec<i64> = chosen.iterations().collect();
                assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{most} {within} {all:?}");
                assert!(all[0] >= 0 && *all.last().unwrap() < most, "{most} {within} {all:?}");
                assert!(all.chunks(8).all(|run| run[0] % TOGETHER == 0), "{most} {within} {all:?}");
            }
        }
        let middles = Chosen { run: 32, most: 320, within: Some(0.5), weight: 1.0 };
        let firsts: Vec<i64> = middles.iterations().step_by(8).collect();
        assert_eq!(firsts, [40, 120, 200, 280]);
    }
}
