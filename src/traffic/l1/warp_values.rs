//! What forms and conditions are in the lanes of a warp, where it is.

use super::lanes::MOST_LANES;
use super::prepared::{Affine, CondParts, PreparedCond, PreparedForm};
use super::running::ThreadPart;
use super::values::{self, CoordValues, LaneVector, WarpValues, lanes_of, mask_of};
use super::warp::{LARGEST, RunningWarp, STEPS_OF_PART};
use crate::effort::spend_on;
use crate::expr::{Coord, Form, LoopId};
use crate::launch::NotRun;

impl RunningWarp<'_> {
    fn value(&self, lane: usize, coord: Coord) -> Option<i64> {
        match coord {
            Coord::ThreadIdx(d) => Some(self.lanes[lane][d.index()]),
            Coord::BlockIdx(d) => Some(self.block[d.index()]),
            Coord::Loop(LoopId(i)) => self.loops.get(usize::from(i))?.as_ref()?.value(lane),
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }

    pub(super) fn evaluate(&self, form: &Form<i64>, lane: usize) -> Result<i64, NotRun> {
        form.evaluate(&|c| self.value(lane, c)).ok_or(NotRun::Overflow)
    }

    /// What a form gains from threads, made when first needed, and by how much it is more; `None` where it is not
    /// affine or may be too large. None of both is larger than [`LARGEST`].
    pub(super) fn part(&mut self, form: &PreparedForm) -> Option<(&mut ThreadPart, i64)> {
        let affine = self.affine_here(form)?;
        self.part_of(affine)
    }

    /// The affine form that a form is in this warp and iteration, if it is known to be one.
    fn affine_here<'f>(&mut self, form: &'f PreparedForm) -> Option<&'f Affine> {
        if form.affine.is_some() {
            return form.affine.as_ref();
        }
        let free = form.free.as_deref()?;
        for (sum, [low, high]) in &free.bounded {
            let (part, by) = self.part_of(sum)?;
            if part.low + by < *low || part.high + by > *high {
                return None;
            }
        }
        Some(&free.affine)
    }

    /// The same as [`part`](Self::part) of a form that is affine.
    fn part_of(&mut self, affine: &Affine) -> Option<(&mut ThreadPart, i64)> {
        let mut by = i128::from(affine.constant);
        for d in 0..3 {
            by += i128::from(affine.block[d]) * i128::from(self.block[d]);
        }
        for &(number, step) in &affine.loops {
            by += i128::from(step) * i128::from(self.loops[number].as_ref()?.iteration);
        }
        let by = i64::try_from(by).ok().filter(|by| by.unsigned_abs() <= LARGEST.unsigned_abs())?;
        if self.thread_parts[affine.number].is_none() {
            self.thread_parts[affine.number] = Some(Box::new(self.thread_part(affine)?));
        }
        self.thread_parts[affine.number].as_deref_mut().map(|part| (part, by))
    }

    /// What a form gains from threads; `None` where that may be larger than [`LARGEST`].
    fn thread_part(&self, affine: &Affine) -> Option<ThreadPart> {
        let largest = |d: usize| i128::from(affine.thread[d]).abs() * i128::from(self.shape[d]);
        let mut most = largest(0) + largest(1) + largest(2);
        let mut values = [0; MOST_LANES];
        if !affine.of_threads.terms().is_empty() {
            let more = values::form(&affine.of_threads, self, self.everyone(), &mut values)?;
            most += i128::try_from(more).ok()?;
        }
        if most > i128::from(LARGEST) {
            return None;
        }
        let lanes = self.lanes.len();
        for (threads, &stride) in self.threads.iter().zip(affine.thread.iter()).filter(|(_, s)| **s != 0) {
            for (value, thread) in values[..lanes].iter_mut().zip(threads.iter()) {
                *value += thread * stride;
            }
        }
        let there = values[..lanes].iter().copied();
        let (low, high) = there.fold((i64::MAX, i64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        Some(ThreadPart { values, low, high, met: Vec::new() })
    }

    /// The values of a form in some lanes; in others anything.
    pub(super) fn all_values(&mut self, form: &PreparedForm, asked: u64) -> Result<LaneVector, NotRun> {
        let mut all = [0; MOST_LANES];
        let lanes = self.lanes.len();
        if let Some((part, by)) = self.part(form) {
            all[..lanes].iter_mut().zip(&part.values).for_each(|(all, value)| *all = value + by);
        } else {
            self.each_value(form, asked, &mut all)?;
        }
        Ok(all)
    }

    /// The same of a form whose gains from threads are not kept.
    fn each_value(&self, form: &PreparedForm, asked: u64, into: &mut LaneVector) -> Result<(), NotRun> {
        if values::form(form.form, self, asked, into).is_none() {
            for lane in lanes_of(asked) {
                into[lane] = self.evaluate(form.form, lane)?;
            }
        }
        Ok(())
    }

    /// The lanes of `asked` in which the value of a form passes a test.
    fn where_value(
        &mut self,
        form: &PreparedForm,
        asked: u64,
        test: impl Fn(i64) -> bool,
    ) -> Result<u64, NotRun> {
        let lanes = self.lanes.len();
        if let Some((part, by)) = self.part(form) {
            return Ok(mask_of(&part.values[..lanes], |value| test(value + by)) & asked);
        }
        let mut all = [0; MOST_LANES];
        self.each_value(form, asked, &mut all)?;
        Ok(mask_of(&all[..lanes], test) & asked)
    }

    /// The lanes of `asked` in which a condition holds.
    pub(super) fn where_true(&mut self, cond: Option<&PreparedCond>, asked: u64) -> Result<u64, NotRun> {
        let Some(cond) = cond else { return Ok(asked) };
        spend_on(cond.size, STEPS_OF_PART * u64::from(asked.count_ones()))?;
        self.held(&cond.parts, asked)
    }

    /// The lanes of `asked` in which a condition of accesses holds.
    pub(super) fn where_done(&mut self, condition: usize, asked: u64) -> Result<u64, NotRun> {
        let cond = &self.prepared.conditions[condition];
        spend_on(cond.size, STEPS_OF_PART * u64::from(asked.count_ones()))?;
        match self.last_held {
            Some((last, in_lanes, held)) if (last, in_lanes) == (condition, asked) => Ok(held),
            _ => {
                let held = self.held(&cond.parts, asked)?;
                self.last_held = Some((condition, asked, held));
                Ok(held)
            }
        }
    }

    fn held(&mut self, cond: &CondParts, asked: u64) -> Result<u64, NotRun> {
        // All parts are looked at: a number that is too large anywhere is one.
        match cond {
            CondParts::Const(held) => Ok(if *held { asked } else { 0 }),
            CondParts::NonNegative(form) => {
                if let Some((part, by)) = self.part(form) {
                    if part.low + by >= 0 {
                        return Ok(asked);
                    }
                    if part.high + by < 0 {
                        return Ok(0);
                    }
                }
                self.where_value(form, asked, |value| value >= 0)
            }
            CondParts::Zero(form) => {
                if let Some((part, by)) = self.part(form)
                    && (part.low + by > 0 || part.high + by < 0)
                {
                    return Ok(0);
                }
                self.where_value(form, asked, |value| value == 0)
            }
            CondParts::All(parts) => parts.iter().try_fold(asked, |mask, p| Ok(mask & self.held(p, asked)?)),
            CondParts::Any(parts) => parts.iter().try_fold(0, |mask, p| Ok(mask | self.held(p, asked)?)),
        }
    }
}

impl WarpValues for RunningWarp<'_> {
    fn lanes(&self) -> usize {
        self.lanes.len()
    }

    fn coord(&self, coord: Coord) -> Option<CoordValues<'_>> {
        match coord {
            Coord::ThreadIdx(d) => {
                let most = self.shape[d.index()].unsigned_abs();
                Some(CoordValues::Each(&self.threads[d.index()], 0, u128::from(most)))
            }
            Coord::BlockIdx(d) => Some(CoordValues::Same(self.block[d.index()])),
            Coord::Loop(LoopId(i)) => self.loops.get(usize::from(i))?.as_ref()?.values(),
            Coord::Axis(_) | Coord::Thread(_) => None,
        }
    }
}
