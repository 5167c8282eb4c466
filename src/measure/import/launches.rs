//! Launches as a profile tells of them, and how they become measurements.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::checks;
use super::metrics::{Counter, Meaning};
use super::number::Decimal;
use super::requests::{Count, Generation, quantities};
use super::tally::{Metrics, Tally};
use crate::device::{self, Device};
use crate::measure::measurements::{MeasuredQuantity, MeasuredSubject, MeasuredValue, Measurements};
use crate::space::{Block, Fold};
use crate::traffic::Caches;

/// Kernels whose name in the profile has this in it are that kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// Part of the name in the profile; empty for every name.
    pub part: String,
    /// The name in the measurements.
    pub name: String,
}

/// What a profile does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Names of kernels. If there are some, launches of other kernels are left out.
    pub kernels: Vec<Rename>,
    /// The device.
    pub device: Option<String>,
    /// Parameters of the kernels.
    pub params: BTreeMap<String, i64>,
    /// Threads of a block, where the profile does not tell.
    pub block: Option<Block>,
    /// Work items of a thread.
    pub fold: Option<Fold>,
    /// The decimal separator, if it is known.
    pub decimal: Option<Decimal>,
    /// What the caches held when each launch began, if that is known. Nsight Compute empties them unless it is
    /// told not to.
    pub caches: Option<Caches>,
    /// Columns of the measurement format, each with the name of a column or tuning parameter.
    pub map: Vec<(String, String)>,
}

/// What was imported.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// The measurements.
    pub measurements: Measurements,
    /// What was left out, and how often.
    pub left_out: BTreeMap<String, usize>,
    /// What was made of the metrics of the file.
    pub metrics: Metrics,
    /// What deserves a look: assumptions, and numbers that can hardly be right.
    pub warnings: Vec<String>,
}

/// How launches are left out of which no metric is known.
pub(super) const WITHOUT_METRIC: &str = "launches without a known metric";

/// A launch that is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Launch {
    line: usize,
    /// Position of its kernel name.
    name: usize,
    block: Option<Block>,
    counts: Vec<Count>,
}

/// Launches by their ids, in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Launches {
    names: Vec<String>,
    known: HashMap<String, usize>,
    ids: HashMap<String, usize>,
    all: Vec<Launch>,
    tally: Tally,
}

impl Launches {
    /// The launch of an id, made if it is new.
    pub(super) fn of_id(&mut self, id: &str, line: usize) -> &mut Launch {
        let known = self.ids.get(id).copied();
        if known.is_none() {
            self.ids.insert(id.to_owned(), self.all.len());
        }
        self.at_or_another(known, line)
    }

    /// A launch of its own.
    pub(super) fn another(&mut self, line: usize) -> &mut Launch {
        self.at_or_another(None, line)
    }

    /// The last launch if it goes on.
    pub(super) fn last_or_another(&mut self, goes_on: bool, line: usize) -> &mut Launch {
        let last = self.all.len().checked_sub(1);
        self.at_or_another(last.filter(|_| goes_on), line)
    }

    fn at_or_another(&mut self, known: Option<usize>, line: usize) -> &mut Launch {
        let at = known.unwrap_or(self.all.len());
        if known.is_none() {
            self.all.push(Launch { line, ..Launch::default() });
        }
        &mut self.all[at]
    }

    /// The last launch.
    pub(super) fn last(&mut self) -> Option<&mut Launch> {
        self.all.last_mut()
    }

    /// The position of a kernel name.
    pub(super) fn name(&mut self, name: &str) -> usize {
        if let Some(&at) = self.known.get(name) {
            return at;
        }
        let at = self.names.len();
        self.names.push(name.to_owned());
        self.known.insert(name.to_owned(), at);
        at
    }

    /// What a metric says; remembers that the file has it.
    pub(super) fn meaning(&mut self, metric: &str) -> Option<Meaning> {
        self.tally.meaning(metric)
    }

    /// Turns them into measurements.
    pub(super) fn finish(self, options: &ImportOptions) -> Imported {
        let mut imported = Imported::default();
        let device = options.device();
        let generation = imported.generation(&self.tally, device.as_ref());
        let subjects: Vec<Option<usize>> = self
            .names
            .iter()
            .map(|name| Some(imported.measurements.subject(&subject(options, name)?)))
            .collect();
        let (mut found, mut assumptions) = (BTreeSet::new(), BTreeMap::new());
        for mut launch in self.all {
            let subject = subjects[launch.name];
            let of_launch = quantities(&mut launch.counts, generation);
            if subject.is_some() {
                found.extend(of_launch.values.iter().map(|v| v.quantity));
                for what in of_launch.missing {
                    imported.leave_out(what);
                }
                for what in of_launch.assumed {
                    *assumptions.entry(what).or_insert(0_usize) += 1;
                }
            }
            imported.add(options, launch.line, subject, launch.block(), of_launch.values);
        }
        imported.metrics = self.tally.metrics(&found);
        let assumed = |(what, n): (&str, usize)| format!("{what} ({n} launches)");
        imported.warnings.extend(assumptions.into_iter().map(assumed));
        imported.check(options);
        imported
    }
}

impl Launch {
    pub(super) fn set_name(&mut self, name: usize) {
        self.name = name;
    }

    pub(super) fn has_name(&self, name: usize) -> bool {
        self.name == name
    }

    pub(super) fn set_block(&mut self, block: Block) {
        self.block = Some(block);
    }

    pub(super) fn has(&self, counter: Counter) -> bool {
        self.counts.iter().any(|c| c.counter == counter)
    }

    /// Adds what a metric says.
    pub(super) fn count(&mut self, meaning: Meaning, amount: f64) {
        let Meaning { counter, factor, is_channel } = meaning;
        self.counts.push(Count { counter, is_channel, amount: scaled(amount, factor) });
    }

    fn block(&self) -> Option<Block> {
        let axis = |axis: u8| {
            let found = self.counts.iter().find(|c| c.counter == Counter::Block(axis))?;
            #[expect(clippy::cast_possible_truncation, reason = "checked to be a small whole number")]
            (found.amount.fract() == 0.0 && (1.0..=1e6).contains(&found.amount))
                .then_some(found.amount as i64)
        };
        self.block.or_else(|| Block::new([axis(0)?, axis(1).unwrap_or(1), axis(2).unwrap_or(1)]).ok())
    }
}

/// What launches of a kernel of the profile are of; none if they are left out.
pub(super) fn subject(options: &ImportOptions, name: &str) -> Option<MeasuredSubject> {
    let kernel = if options.kernels.is_empty() {
        name.to_owned()
    } else {
        options.kernels.iter().find(|r| name.contains(&r.part))?.name.clone()
    };
    let (device, params) = (options.device.clone(), options.params.clone());
    Some(MeasuredSubject { kernel, variant: None, device, params, caches: options.caches, clock: None })
}

impl ImportOptions {
    /// The device, if it is one that is known by its name.
    fn device(&self) -> Option<Device> {
        device::find(self.device.as_deref()?, &[]).ok()
    }
}

impl Imported {
    /// The generation of an AMD GPU: as its counters are called, otherwise that of the device.
    fn generation(&mut self, tally: &Tally, device: Option<&Device>) -> Option<Generation> {
        let (named, given) = (tally.generation(), device.and_then(Generation::of_device));
        if let (Some(named), Some(given), Some(device)) = (named, given, device)
            && named != given
        {
            let (named, given) = (named.word(), given.word());
            self.warnings.push(format!(
                "the counters have names of {named}, but {} is of {given}: sizes of requests are those of {named}",
                device.id
            ));
        }
        named.or(given)
    }

    /// Adds what is strange about the measurements.
    pub(super) fn check(&mut self, options: &ImportOptions) {
        self.warnings.extend(checks::warnings(&self.measurements, options.device().as_ref()));
    }

    /// Names tuning parameters that say something, and those that do not.
    pub(super) fn parameters<'n>(&mut self, all: impl Iterator<Item = &'n str>, used: impl Fn(&str) -> bool) {
        if self.measurements.rows.is_empty() {
            return;
        }
        for name in all.filter(|name| !used(name)) {
            self.metrics.unread.insert(name.to_owned(), None);
        }
        self.metrics
            .read
            .entry(MeasuredQuantity::Time)
            .or_default()
            .insert("the times of configurations".to_owned());
    }

    /// Adds a launch, or counts why it is left out.
    pub(super) fn add(
        &mut self,
        options: &ImportOptions,
        line: usize,
        subject: Option<usize>,
        block: Option<Block>,
        values: Vec<MeasuredValue>,
    ) {
        let block = block.or(options.block);
        match (subject, block) {
            (None, _) => self.leave_out("launches of kernels that --kernel does not name"),
            (_, None) => self.leave_out("launches without a block: give --block"),
            _ if values.is_empty() => self.leave_out(WITHOUT_METRIC),
            (Some(subject), Some(block)) => {
                let fold = options.fold.unwrap_or(Fold::ONE);
                self.measurements.push(line, subject, block, fold, values);
            }
        }
    }

    /// Counts something that is left out.
    pub(super) fn leave_out(&mut self, what: &str) {
        if let Some(count) = self.left_out.get_mut(what) {
            *count += 1;
        } else {
            self.left_out.insert(what.to_owned(), 1);
        }
    }
}

/// An amount in base units. A product with a part of one, as a microsecond is of a second, has errors in its last digits,
/// of which no profiler writes so many: 8.45 us are 0.00000845 s, not 0.000008449999999999999.
fn scaled(amount: f64, factor: f64) -> f64 {
    let product = amount * factor;
    if factor >= 1.0 { product } else { format!("{product:.14e}").parse().unwrap_or(product) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_unit_keep_their_digits() {
        assert_eq!(scaled(8.45, 1e-9 * 1e3).to_string(), "0.00000845");
        assert_eq!(scaled(8.45, 1e6).to_string(), "8450000");
        assert_eq!(scaled(3.0, 0.0).to_string(), "0");
    }
}
