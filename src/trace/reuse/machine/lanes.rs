//! Refusal by lane 0 alone, as the published program has it: the lanes of a warp come apart.

use super::{Machine, Turn};
use crate::trace::numbering::number;
use crate::trace::reuse::config::RefusalCheck;

impl Machine<'_> {
    /// Lane 0 was refused. With one portion, nothing has happened; otherwise the other portions go on.
    pub(super) fn split(&mut self, warp: u32, size: u32, portions: u32) -> Turn {
        self.counts.refusals += 1;
        if portions == 1 {
            return Turn::Waits(0);
        }
        let step = self.progress[warp as usize].step;
        let lanes = self.all.warps[warp as usize].lanes.len();
        self.progress[warp as usize].lanes = vec![step; lanes].into();
        self.effects(self.now);
        let mut longest = 0;
        for portion in 1..portions {
            let (_, time) = self.portion(warp, portion, size, portions, u32::MAX);
            longest = longest.max(time);
            self.effects(self.now);
        }
        Turn::Waits(longest)
    }

    /// The turn of a warp whose lanes are apart, the first of which has done `at` steps.
    pub(super) fn turn_of_lanes(&mut self, number_of: u32, at: u32) -> Turn {
        let all = self.all;
        let warp = &all.warps[number_of as usize];
        let has_more = at < all.lengths[warp.lanes.start];
        let step = warp.steps.start + at as usize;
        let portions = if has_more { u32::from(all.steps[step].portions) } else { 1 };
        let size = (all.warp_size / portions.max(1)).max(1);
        let used = self.used;
        let (mut finished, mut longest) = (0, 0);
        for portion in 0..portions {
            let (done, time) = self.portion(number_of, portion, size, portions, used);
            finished += done;
            // A refused lane 0 has no latency, whatever was before: it is the first.
            longest = longest.max(time);
            self.effects(self.now);
        }
        if finished == warp.lanes.len() { Turn::Done } else { Turn::Waits(longest) }
    }

    /// The next access of each lane of a portion: how many have none, and the longest latency.
    fn portion(&mut self, warp: u32, portion: u32, size: u32, portions: u32, used: u32) -> (usize, u32) {
        let all = self.all;
        let of = &all.warps[warp as usize];
        let count = number(of.lanes.len());
        let end = if portion + 1 == portions { count } else { ((portion + 1) * size).min(count) };
        let (mut finished, mut longest) = (0, 0);
        for lane in portion * size..end {
            let done = self.progress[warp as usize].lanes[lane as usize];
            if done >= all.lengths[of.lanes.start + lane as usize] {
                finished += 1;
                continue;
            }
            let requests = all.of_step(of, of.steps.start + done as usize);
            for request in requests.iter().filter(|r| u32::from(r.lane) == lane) {
                let distance = self.distance(request.line);
                if self.is_hit(distance) {
                    self.hit(request.line);
                } else {
                    if lane == 0 && self.refuses_lane_0(used, request.line) {
                        self.counts.refusals += 1;
                        return (finished, 0);
                    }
                    longest = longest.max(self.miss(request.line));
                }
                self.counts.profile.add(distance);
            }
            self.progress[warp as usize].lanes[lane as usize] += 1;
        }
        (finished, longest)
    }

    pub(super) fn refuses_lane_0(&self, used: u32, line: u32) -> bool {
        self.config.rules.check == RefusalCheck::FirstLane
            && used >= self.entries
            && !(self.config.rules.merge && self.flights[line as usize] > 0)
    }
}
