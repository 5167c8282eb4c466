//! Which metrics a file has, and what was made of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::metrics::{Counter, Meaning, explanation, meaning};
use super::requests::Generation;
use crate::measure::measurements::MeasuredQuantity;

/// What was made of the metrics, or tuning parameters, of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metrics {
    /// Quantities, each with the names of what it comes from.
    pub read: BTreeMap<MeasuredQuantity, BTreeSet<String>>,
    /// What nothing was made of, with the reason if it looks as if something could be.
    pub unread: BTreeMap<String, Option<&'static str>>,
}

impl Metrics {
    /// Names of what nothing was made of: those with a reason first, `most` of them, and how many more there are.
    pub fn unread(&self, most: usize) -> String {
        let explained = self.unread.iter().filter_map(|(name, why)| Some(format!("{name} ({})", (*why)?)));
        let others = self.unread.iter().filter(|u| u.1.is_none()).map(|u| u.0.clone());
        let mut all: Vec<String> = explained.chain(others).collect();
        let more = all.len().saturating_sub(most);
        all.truncate(most);
        if more > 0 {
            all.push(format!("{more} more"));
        }
        all.join(", ")
    }
}

/// The metrics that were met.
#[derive(Debug, Default)]
pub(super) struct Tally {
    met: HashMap<String, Option<Meaning>>,
}

impl Tally {
    /// What a metric says; remembers that it was met.
    pub(super) fn meaning(&mut self, name: &str) -> Option<Meaning> {
        if let Some(known) = self.met.get(name) {
            return *known;
        }
        let found = meaning(name);
        self.met.insert(name.to_owned(), found);
        found
    }

    /// The generation of the GPU whose counters have these names.
    pub(super) fn generation(&self) -> Option<Generation> {
        // Names of the MI300 series are the newer ones: they decide.
        self.met.keys().filter_map(|name| Generation::of_name(name)).max()
    }

    /// What was made of them: of several that say the same quantity the preferred one counts.
    pub(super) fn metrics(&self, found: &BTreeSet<MeasuredQuantity>) -> Metrics {
        let mut metrics = Metrics::default();
        let rank = |m: &Meaning| match m.counter {
            Counter::Direct(_, rank) => rank,
            _ => u8::MAX,
        };
        let mut best: BTreeMap<MeasuredQuantity, u8> = BTreeMap::new();
        for meaning in self.met.values().flatten() {
            if let Some(quantity) = meaning.quantity() {
                let least = best.entry(quantity).or_insert(u8::MAX);
                *least = (*least).min(rank(meaning));
            }
        }
        let totals: BTreeSet<Counter> =
            self.met.values().flatten().filter(|m| !m.is_channel).map(|m| m.counter).collect();
        for (name, meaning) in &self.met {
            // Channels beside a total of theirs say nothing more.
            if meaning.is_some_and(|m| m.is_channel && totals.contains(&m.counter)) {
                continue;
            }
            // Channels of a counter are one metric.
            let name = name.split('[').next().unwrap_or(name).to_owned();
            let quantity = meaning.as_ref().and_then(|m| Some((m.quantity()?, rank(m))));
            // Of loads and stores in one follows the part that nothing else tells.
            let rest = || {
                [MeasuredQuantity::DramLoad, MeasuredQuantity::DramStore]
                    .into_iter()
                    .find(|q| !best.contains_key(q))
            };
            let is_total = matches!(meaning, Some(Meaning { counter: Counter::DramTotal, .. }));
            let quantity = quantity.or_else(|| Some((rest().filter(|_| is_total)?, u8::MAX)));
            match quantity {
                Some((quantity, rank)) if found.contains(&quantity) => {
                    if best.get(&quantity).is_none_or(|best| *best == rank) {
                        metrics.read.entry(quantity).or_default().insert(name);
                    }
                }
                _ if matches!(meaning, Some(Meaning { counter: Counter::Block(_), .. })) => {}
                _ => {
                    let why = explanation(&name);
                    metrics.unread.insert(name, why);
                }
            }
        }
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_and_what_was_not() {
        let mut tally = Tally::default();
        for name in ["dram__bytes_read.sum", "dram__sectors_read.sum", "lts__t_bytes.sum", "sm__warps.sum"] {
            tally.meaning(name);
        }
        let metrics = tally.metrics(&[MeasuredQuantity::DramLoad].into());
        assert_eq!(metrics.read[&MeasuredQuantity::DramLoad], ["dram__bytes_read.sum".to_owned()].into());
        let unread: Vec<&str> = metrics.unread.keys().map(String::as_str).collect();
        assert_eq!(unread, ["lts__t_bytes.sum", "sm__warps.sum"]);
        assert!(metrics.unread["lts__t_bytes.sum"].is_some_and(|why| why.contains("in one")));
        assert_eq!(tally.generation(), None);
        tally.meaning("TCC_EA0_RDREQ[3]");
        assert_eq!(tally.generation(), Some(Generation::Mi300));
        assert!(tally.metrics(&BTreeSet::new()).unread.contains_key("TCC_EA0_RDREQ"), "channels are one");
    }
}
