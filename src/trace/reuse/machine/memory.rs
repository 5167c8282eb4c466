//! Requests in flight and what they do when they land.

use super::Machine;
use crate::trace::reuse::config::{EffectOrder, Release};
use crate::trace::reuse::wheel::Effect;

impl Machine<'_> {
    #[inline]
    pub(super) fn hit(&mut self, line: u32) {
        self.wheel.add(self.now + u64::from(self.config.latency.hit), Effect::new(line, false));
    }

    /// Sends a request to memory; how long it takes.
    #[inline]
    pub(super) fn miss(&mut self, line: u32) -> u32 {
        let latency = self.config.latency;
        let mut time = latency.miss;
        if latency.deviation_ticks > 0.0 {
            // Rounded as in the published program: cut down, a deviation of 1 would add 0.36, not 0.76.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
            let more = (self.random.half_normal() * latency.deviation_ticks).round().min(1e6) as u32;
            time = time.saturating_add(more);
        }
        let mut arrival = self.now + u64::from(time);
        let at = line as usize;
        if !self.seen[at] {
            self.seen[at] = true;
            self.counts.compulsory += 1;
        }
        if self.flights[at] > 0 {
            self.counts.latency_misses += 1;
            if self.config.rules.clip {
                arrival = arrival.min(self.earliest[at]);
            }
            self.earliest[at] = self.earliest[at].min(arrival);
        } else {
            self.used += 1;
            self.earliest[at] = arrival;
        }
        self.flights[at] += 1;
        self.issued += 1;
        if let Some(returns) = &mut self.returns {
            returns.insert((line, arrival, self.issued));
        }
        self.wheel.add(arrival, Effect::new(line, true));
        #[expect(clippy::cast_possible_truncation, reason = "no longer than `time`")]
        let waits = (arrival - self.now) as u32;
        waits
    }

    /// What takes effect at a time.
    #[inline]
    pub(super) fn effects(&mut self, time: u64) {
        let Some(bucket) = self.wheel.take(time) else { return };
        match self.config.rules.order {
            EffectOrder::Issue => bucket.iter().for_each(|&e| self.effect(e, time)),
            EffectOrder::HitsFirst => {
                bucket.iter().filter(|e| !e.is_miss()).for_each(|&e| self.effect(e, time));
                bucket.iter().filter(|e| e.is_miss()).for_each(|&e| self.effect(e, time));
            }
        }
        self.wheel.put_back(time, bucket);
    }

    #[inline]
    fn effect(&mut self, effect: Effect, time: u64) {
        let line = effect.line();
        let set = self.sets[line as usize] as usize;
        self.stacks[set].touch(line, &mut self.places);
        if effect.is_miss() {
            self.land(line, time);
        }
    }

    /// A request returns: its entry may become free.
    fn land(&mut self, line: u32, time: u64) {
        let flights = &mut self.flights[line as usize];
        if let Some(returns) = &mut self.returns {
            let of = |from: u64, to: u64| (line, from, 0)..=(line, to, u64::MAX);
            if let Some(&first) = returns.range(of(time, time)).next() {
                returns.remove(&first);
            }
            if let Some(next) = returns.range(of(0, u64::MAX)).next() {
                self.earliest[line as usize] = next.1;
            }
        }
        if *flights == 0 {
            return;
        }
        *flights = match self.config.rules.release {
            Release::First => 0,
            Release::Last => *flights - 1,
        };
        if *flights == 0 {
            self.used -= 1;
        }
    }
}
