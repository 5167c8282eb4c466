//! Places for what launches that follow each other have in common.

use super::shared::Slot;

/// A candidate that can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Admitted {
    /// Candidates that share what is counted have the same.
    pub(super) key: u64,
    /// Its position among the choices.
    pub(super) choice: usize,
}

/// Places for what candidates of a part share.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) all: Vec<Slot>,
    /// The place of each candidate; `None` for one that shares nothing.
    pub(super) of: Vec<Option<usize>>,
    /// The key of the last place.
    last: u64,
}

impl Slots {
    /// Those of the next part, of which `next` is the candidate after it. What its first candidates share with
    /// the last ones of the part before is there already.
    pub(super) fn of_next(self, part: &[Admitted], next: Option<&Admitted>) -> Self {
        let key = |one: Option<&Admitted>| one.map_or(0, |a| a.key);
        let mut slots = Self { of: Vec::with_capacity(part.len()), last: key(part.last()), all: Vec::new() };
        let begun = if self.last == key(part.first()) { self.all.into_iter().next_back() } else { None };
        let is_begun = begun.is_some();
        slots.all.extend(begun);
        for (number, alike) in part.chunk_by(|a, b| a.key == b.key).enumerate() {
            let goes_on = number == 0 && is_begun;
            let is_shared = alike.len() > 1 || goes_on || key(next) == alike[0].key;
            // Without a key nothing is shared.
            if is_shared && alike[0].key != 0 && !goes_on {
                slots.all.push(Slot::default());
            }
            let place = (is_shared && alike[0].key != 0).then(|| slots.all.len() - 1);
            slots.of.extend(alike.iter().map(|_| place));
        }
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Candidates with the same key have the same place, in whatever parts they come; others have none.
    #[test]
    fn what_is_shared_stays_across_parts() {
        let keys = [0, 0, 0, 3, 5, 5, 5, 6, 7, 7, 8, 9, 9];
        let all: Vec<Admitted> =
            keys.iter().enumerate().map(|(choice, &key)| Admitted { key, choice }).collect();
        for size in 1..=all.len() {
            let (mut slots, mut rest) = (Slots::default(), all.as_slice());
            let mut places: Vec<bool> = Vec::new();
            while !rest.is_empty() {
                let (part, next) = rest.split_at(size.min(rest.len()));
                slots = slots.of_next(part, next.first());
                assert!(slots.of.iter().flatten().all(|&place| place < slots.all.len()));
                places.extend(slots.of.iter().map(Option::is_some));
                rest = next;
            }
            for (i, key) in keys.iter().enumerate() {
                let alone = *key == 0 || keys.iter().filter(|k| *k == key).count() == 1;
                assert_eq!(!places[i], alone, "{size}: {i}");
            }
        }
    }
}
