//! Parameters without values that decide whether something is done.

use std::collections::BTreeSet;

use super::event::Event;
use super::reader::Reader;
use super::why::Cause;
use crate::ptx::value::{Cond, Rel, WhyId};

impl Reader<'_> {
    /// The parameters without a value that conditions compare with something, in what was read.
    pub fn parameters_missed(&self, events: &[Event]) -> BTreeSet<usize> {
        let mut missed = BTreeSet::new();
        self.add_missed(events, &mut missed);
        missed
    }

    fn add_missed(&self, events: &[Event], missed: &mut BTreeSet<usize>) {
        for event in events {
            match event {
                Event::Work(_, cond) => self.add_missed_of(cond, missed),
                Event::Access(access) => self.add_missed_of(&access.cond, missed),
                Event::Loop { body, .. } => self.add_missed(body, missed),
                Event::Sync => {}
            }
        }
    }

    fn add_missed_of(&self, cond: &Cond, missed: &mut BTreeSet<usize>) {
        match cond {
            Cond::And(all) | Cond::Or(all) => all.iter().for_each(|one| self.add_missed_of(one, missed)),
            Cond::Data(why, _) => missed.extend(self.missed_behind(*why)),
            // A number of 64 bits is taken for a pointer, and pointers are only asked whether they are equal.
            Cond::Raw(raw) if matches!(raw.rel, Rel::Eq | Rel::Ne) => {}
            Cond::Raw(_) | Cond::Ge(_) => missed.extend(self.argument_of(cond)),
            Cond::True | Cond::False | Cond::Eq(_) | Cond::Ne(_) => {}
        }
    }

    /// The parameter at the end of a chain of reasons.
    fn missed_behind(&self, why: WhyId) -> Option<usize> {
        let mut at = &self.whys[why.0 as usize];
        while let Some(from) = at.from {
            at = &self.whys[from.0 as usize];
        }
        match at.cause {
            Cause::Argument(number) => Some(number),
            _ => None,
        }
    }
}
