//! What the lanes of a warp do together.

use super::code::{Code, Kind, Shuffle, Slot, Together, Vote};
use super::lane::{Lane, State};

/// Threads of a warp.
pub(super) const LANES: u32 = 32;

/// Lanes that do a step together, by where they stand among those that run.
struct Group<'l> {
    lanes: &'l mut [Lane],
    members: Vec<usize>,
    /// Whether no lane is missing, so that what comes out is known.
    complete: bool,
}

/// Does one step of lanes of a warp that wait for each other; false if none wait. `all` says how many threads the warp
/// has, of which not all need run.
pub(super) fn together(code: &Code, lanes: &mut [Lane], all: u32) -> bool {
    let mut steps: Vec<u32> = lanes.iter().filter(|l| l.state == State::Warp).map(|l| l.step).collect();
    steps.sort_unstable();
    steps.dedup();
    let Some(&first) = steps.first() else { return false };
    // Those whose lanes are all there come first. Lanes that a mask names but that go another way would wait forever on
    // a machine too, if it did not give them what it has.
    let ready = steps.iter().find(|&&step| waited_for(code, lanes, step).is_none());
    let step = *ready.unwrap_or(&first);
    let here = |lane: &Lane| lane.state == State::Warp && lane.step == step;
    let members: Vec<usize> = (0..lanes.len()).filter(|&i| here(&lanes[i])).collect();
    let missing = waited_for(code, lanes, step).is_some() || lanes.len() < all as usize;
    let Kind::Warp { what, to, .. } = code.ops[step as usize].kind else { return false };
    let alone = matches!(what, Together::Active) && lanes.iter().any(|l| l.state != State::Done && !here(l));
    let mut group = Group { lanes, members, complete: !missing && !alone };
    group.perform(what, to);
    for &member in &group.members {
        group.lanes[member].state = State::Ready;
        group.lanes[member].step += 1;
    }
    true
}

/// A lane that a mask names and that is not there yet.
fn waited_for(code: &Code, lanes: &[Lane], step: u32) -> Option<usize> {
    let Kind::Warp { mask: Some(mask), .. } = code.ops[step as usize].kind else { return None };
    let here = |lane: &Lane| lane.state == State::Warp && lane.step == step;
    let named = lanes.iter().filter(|lane| here(lane)).fold(0, |named, lane| named | lane.get(mask).bits);
    lanes
        .iter()
        .position(|lane| named >> (lane.thread % LANES) & 1 != 0 && lane.state != State::Done && !here(lane))
}

impl Group<'_> {
    fn perform(&mut self, what: Together, to: Slot) {
        match what {
            Together::Wait => {}
            Together::Active => {
                let all = self.bits(|_| true);
                self.give(to, all, self.complete);
            }
            Together::Elect { found } => {
                let leader = self.bits(|_| true).trailing_zeros();
                self.give(to, u64::from(leader), self.complete);
                let complete = self.complete;
                self.each(|lane| (found, u64::from(lane.thread % LANES == leader), complete));
            }
            Together::Shuffle { mode, found, a, b, c } => self.shuffle(mode, [to, found], [a, b, c]),
            Together::Vote { mode, value, negated } => {
                let known = self.known(value);
                let ballot = self.bits(|lane| (lane.get(value).bits & 1 != 0) != negated);
                let all = self.bits(|_| true);
                let bits = match mode {
                    Vote::All => u64::from(ballot == all),
                    Vote::Any => u64::from(ballot != 0),
                    Vote::Uniform => u64::from(ballot == 0 || ballot == all),
                    Vote::Ballot => ballot,
                };
                self.give(to, bits, known);
            }
            Together::MatchAny { a, wide } => {
                let known = self.known(a);
                let values: Vec<u64> = self.values(a, wide);
                let members = self.members.clone();
                for (&member, own) in members.iter().zip(&values) {
                    let same = members.iter().zip(&values).filter(|(_, v)| *v == own);
                    let bits = same.map(|(&m, _)| 1 << (self.lanes[m].thread % LANES)).sum();
                    self.lanes[member].set(to, bits, known);
                }
            }
            Together::MatchAll { a, wide, found } => {
                let known = self.known(a);
                let values = self.values(a, wide);
                let same = values.iter().all(|v| *v == values[0]);
                let bits = if same { self.bits(|_| true) } else { 0 };
                self.give(found, u64::from(same), known);
                self.give(to, bits, known);
            }
            Together::Reduce { function, a } => {
                let known = self.known(a);
                let reduced = self.values(a, true).into_iter().reduce(function);
                self.give(to, reduced.expect("a step that lanes wait at has lanes"), known);
            }
        }
    }

    fn shuffle(&mut self, mode: Shuffle, [to, found]: [Slot; 2], [a, b, c]: [Slot; 3]) {
        let mut results = Vec::with_capacity(self.members.len());
        for &member in &self.members {
            let lane = &self.lanes[member];
            let (b, c) = (lane.get(b), lane.get(c));
            let own = u64::from(lane.thread % LANES);
            let (by, clamp, segment) = (b.bits & 31, c.bits & 31, c.bits >> 8 & 31);
            let (least, most) = (own & segment, own & segment | clamp & !segment);
            let (source, within) = match mode {
                Shuffle::Up => (own.wrapping_sub(by), own.checked_sub(by).is_some_and(|from| from >= most)),
                Shuffle::Down => (own + by, own + by <= most),
                Shuffle::Butterfly => (own ^ by, own ^ by <= most),
                Shuffle::Index => (least | by & !segment, least | by & !segment <= most),
            };
            let source = if within { source } else { own };
            let from = self.members.iter().find(|&&m| u64::from(self.lanes[m].thread % LANES) == source);
            // What a lane has that does not take part is not known.
            let value = from.map(|&m| self.lanes[m].get(a)).unwrap_or_default();
            let known = b.known && c.known;
            results.push((value.bits, value.known && known, u64::from(within), known));
        }
        for (&member, (bits, known, within, within_known)) in self.members.iter().zip(results) {
            self.lanes[member].set(found, within, within_known);
            self.lanes[member].set(to, bits, known);
        }
    }

    /// One bit for each lane.
    fn bits(&self, of_lane: impl Fn(&Lane) -> bool) -> u64 {
        let lanes = self.members.iter().map(|&m| &self.lanes[m]);
        lanes.filter(|lane| of_lane(lane)).map(|lane| 1 << (lane.thread % LANES)).sum()
    }

    fn values(&self, slot: Slot, wide: bool) -> Vec<u64> {
        let mask = if wide { u64::MAX } else { u64::from(u32::MAX) };
        self.members.iter().map(|&m| self.lanes[m].get(slot).bits & mask).collect()
    }

    /// Whether a register is known in all lanes, and all are here.
    fn known(&self, slot: Slot) -> bool {
        self.complete && self.members.iter().all(|&m| self.lanes[m].get(slot).known)
    }

    fn give(&mut self, to: Slot, bits: u64, known: bool) {
        self.each(|_| (to, bits, known));
    }

    fn each(&mut self, result: impl Fn(&Lane) -> (Slot, u64, bool)) {
        for &member in &self.members {
            let (to, bits, known) = result(&self.lanes[member]);
            self.lanes[member].set(to, bits, known);
        }
    }
}
