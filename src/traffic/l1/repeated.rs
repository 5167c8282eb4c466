//! Loops of a warp that runs.

use super::lanes::MOST_LANES;
use super::prepared::PreparedForm;
use super::running::{FirstValue, RunningLoop};
use super::tally::WarpTally;
use super::values::{lanes_of, mask_of};
use super::warp::{MOST_OF_WARP, RunningWarp, STEPS_OF_PART};
use crate::effort::spend_on;
use crate::expr::LoopId;
use crate::launch::{NotRun, Step};

/// Most iterations of one loop that are run.
const MOST_ITERATIONS: i64 = 32;

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
        let count = |from: i64, to: i64| {
            let span = if range.step > 0 { to.checked_sub(from) } else { from.checked_sub(to) };
            let (span, step) = (span?, range.step.checked_abs()?);
            Some(if span < 0 { 0 } else { (span / step).saturating_add(1) })
        };
        if let (Some(first), Some(last)) = (self.same(from), self.same(to)) {
            let most = count(first, last).ok_or(NotRun::Overflow)?;
            let (run, weight) = chosen(most, weight, tally);
            for iteration in 0..run {
                self.begin(number, iteration, || FirstValue::Same(first), range.step)?;
                tally.end_of_iteration();
                self.steps(body, active, weight, tally)?;
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
        let (run, weight) = chosen(most, weight, tally);
        let mut running = active;
        for iteration in 0..run {
            let each = || FirstValue::Each(Box::new(first), u128::from(largest));
            self.begin(number, iteration, each, range.step)?;
            running &= mask_of(&counts, |count| iteration < count);
            tally.end_of_iteration();
            self.steps(body, running, weight, tally)?;
        }
        self.end(number, tally);
        Ok(())
    }

    fn end(&mut self, number: usize, tally: &mut WarpTally) {
        tally.end_of_iteration();
        self.loops[number] = None;
        self.last_held = None;
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

/// How many of the iterations of a loop are run, and how often each is meant.
fn chosen(most: i64, weight: f64, tally: &mut WarpTally) -> (i64, f64) {
    let run = most.min(MOST_ITERATIONS);
    tally.counts.sampled |= run < most;
    (run, if run < most { weight * most as f64 / run as f64 } else { weight })
}
