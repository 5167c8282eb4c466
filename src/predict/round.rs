//! Launches of a contest that are looked at together, one part of them after the other.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::best::{Best, Outcome, Score};
use super::open::{Contest, Entry, Open};
use super::shared::Slot;
use super::slots::{Admitted, Slots};
use crate::effort::{Stop, heeding};
use crate::parallel;

/// Launches whose footprints are counted before the first of them is predicted, of those that are looked at together; or
/// some for each thread, if that is more.
const AT_A_TIME: usize = 1 << 6;
const OF_A_THREAD: usize = 4;

/// Whether it pays to look at what warps do at least before footprints are counted, where that takes long: it does for
/// kernels that the L1 may hold up.
#[derive(Debug, Default)]
pub(super) struct Looks {
    taken: usize,
    left_out: usize,
}

impl Looks {
    /// So many are taken to find out.
    const FIRST: usize = 8;
    /// One of so many has to leave a launch out.
    const EACH: usize = 8;

    fn pay(&self) -> bool {
        self.taken < Self::FIRST || self.left_out * Self::EACH >= self.taken
    }
}

/// The launches of a part.
pub(super) struct Round<'r> {
    pub(super) contest: &'r Contest<'r>,
    pub(super) part: &'r [Admitted],
    pub(super) slots: &'r Slots,
    pub(super) entries: Vec<Entry>,
    pub(super) looks: &'r mut Looks,
    /// Counts those that are done.
    pub(super) done: &'r AtomicUsize,
    pub(super) stop: Option<&'r Stop>,
}

impl Round<'_> {
    /// Finishes what may be among the best. Those come first of whose warps it is known what they do; at the others it is
    /// looked later, if at all.
    pub(super) fn choose(mut self, best: &mut Best) -> Vec<Entry> {
        let mut order: Vec<(bool, Score, usize)> = Vec::with_capacity(self.entries.len());
        for (number, entry) in self.entries.iter().enumerate() {
            match entry {
                Entry::Open(open) => order.push((open.warps.is_none(), Score(open.least), number)),
                Entry::Done(outcome) => best.note(outcome),
            }
        }
        order.sort_unstable();
        let mut chunks = order.chunks(AT_A_TIME.max(OF_A_THREAD * parallel::threads())).peekable();
        let mut begun = Vec::new();
        while let Some(some) = chunks.next() {
            let some: Vec<usize> = some.iter().map(|one| one.2).collect();
            let some = self.promising(&some, best);
            self.look(&some, best);
            let some = self.promising(&some, best);
            self.begin(&some);
            begun.extend(some);
            if !chunks.peek().is_some_and(|next| self.begin_anyway(next, &begun, best)) {
                self.finish(&begun, best);
                begun.clear();
            }
        }
        self.entries
    }

    /// Whether all of the next launches may be among the best, whatever comes of those that are begun: then it is better
    /// known after them which of all are the most promising.
    fn begin_anyway(&self, next: &[(bool, Score, usize)], begun: &[usize], best: &Best) -> bool {
        let Some((warps_unknown, last, _)) = next.last() else { return false };
        let sooner =
            begun.iter().filter(|&&number| self.open(number).is_some_and(|o| Score(o.least) < *last));
        !warps_unknown && best.lacks_more_than(sooner.count(), *last)
    }

    /// Those of some launches that may be among the best, or have to be looked at because they may be refused.
    fn promising(&self, some: &[usize], best: &Best) -> Vec<usize> {
        let may = |number: &usize| {
            let open = self.open(*number);
            open.is_some_and(|open| open.may_be_refused() || best.may_hold(open.least))
        };
        some.iter().copied().filter(may).collect()
    }

    fn open(&self, number: usize) -> Option<&Open> {
        match &self.entries[number] {
            Entry::Open(open) => Some(open),
            Entry::Done(_) => None,
        }
    }

    /// What `work` finds out of some launches that are not done.
    fn each<T: Send>(
        &self,
        some: &[usize],
        work: impl Fn(usize, Option<&Slot>, &Open) -> T + Sync + Send,
    ) -> Vec<(usize, T)> {
        let found = parallel::map(some, |&number| {
            let slot = self.slots.of[number].map(|place| &self.slots.all[place]);
            let choice = self.part[number].choice;
            self.open(number).map(|open| heeding(self.stop, || work(choice, slot, open)))
        });
        some.iter().zip(found).filter_map(|(&number, found)| Some((number, found?))).collect()
    }

    fn settle(&mut self, number: usize, outcome: Outcome) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.entries[number] = Entry::Done(outcome);
    }

    /// Looks at what warps do at least, as long as that pays.
    fn look(&mut self, some: &[usize], best: &Best) {
        // Until there are enough nothing is left out.
        if !best.are_enough() {
            return;
        }
        let unknown = |number: &usize| self.open(*number).is_some_and(|open| open.warps.is_none());
        let unknown: Vec<usize> = some.iter().copied().filter(unknown).collect();
        for some in unknown.chunks(Looks::FIRST) {
            if !self.looks.pay() {
                return;
            }
            for (number, (warps, least)) in
                self.each(some, |choice, _, open| self.contest.warps(choice, open))
            {
                if let Entry::Open(open) = &mut self.entries[number] {
                    (open.warps, open.least) = (Some(warps), least);
                }
            }
            self.looks.taken += some.len();
            self.looks.left_out += some.len() - self.promising(some, best).len();
        }
    }

    /// Counts footprints.
    fn begin(&mut self, some: &[usize]) {
        for (number, begun) in self.each(some, |choice, slot, open| self.contest.begin(choice, slot, open)) {
            match (begun, &mut self.entries[number]) {
                (Ok((footprints, least)), Entry::Open(open)) => {
                    (open.footprints, open.least) = (Some(footprints), least);
                }
                (Err(why), _) => self.settle(number, Outcome::Refused(Box::new(why))),
                (Ok(_), Entry::Done(_)) => {}
            }
        }
    }

    /// Counts what warps do, of the most promising first.
    fn finish(&mut self, some: &[usize], best: &mut Best) {
        let score = |&number: &usize| Some((Score(self.open(number)?.least), number));
        let mut order: Vec<(Score, usize)> = some.iter().filter_map(score).collect();
        order.sort_unstable();
        for some in order.chunks(parallel::threads()) {
            let some: Vec<usize> = some.iter().map(|one| one.1).collect();
            let some = self.promising(&some, best);
            if some.is_empty() {
                break;
            }
            let finished = self.each(&some, |choice, _, open| self.contest.finish(choice, open, best));
            for (number, outcome) in finished {
                if let Some(outcome) = outcome {
                    best.note(&outcome);
                    self.settle(number, outcome);
                }
            }
        }
    }
}
