//! From counters of a launch to quantities. AMD's L2 and L1 count requests, whose sizes differ between
//! generations; `docs/measurements.md` lists them.

use super::metrics::Counter;
use crate::device::{Architecture, Device};
use crate::measure::measurements::MeasuredQuantity::{DramLoad, DramStore, L2Load, Time};
use crate::measure::measurements::{MeasuredQuantity, MeasuredValue, Per};
use crate::sorting;

/// GPUs of AMD by the sizes of their requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Generation {
    /// Up to the MI200 series: 64 bytes from L2 to L1; 32 or 64 from memory.
    Mi200,
    /// The MI300 series: 128 bytes from L2 to L1; 32, 64 or 128 from memory.
    Mi300,
}

impl Generation {
    /// That of a device.
    pub(super) fn of_device(device: &Device) -> Option<Self> {
        match device.architecture {
            Architecture::Cdna1 | Architecture::Cdna2 => Some(Self::Mi200),
            Architecture::Cdna3 => Some(Self::Mi300),
            _ => None,
        }
    }

    /// That of the GPUs on which a counter has this name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        if name.contains("TCC_EA0_") || name.starts_with("TCC_BUBBLE") {
            Some(Self::Mi300)
        } else {
            name.contains("TCC_EA_").then_some(Self::Mi200)
        }
    }

    /// Its name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Mi200 => "GPUs up to the MI200 series",
            Self::Mi300 => "the MI300 series",
        }
    }

    /// Bytes of a read request of L1 to L2.
    fn l1_read(self) -> f64 {
        match self {
            Self::Mi200 => 64.0,
            Self::Mi300 => 128.0,
        }
    }
}

/// A counter of a launch with what was counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Count {
    pub counter: Counter,
    /// Whether it is of one of several channels.
    pub is_channel: bool,
    pub(crate) amount: f64,
}

/// What follows from the counters of a launch.
#[derive(Debug, Default)]
pub(super) struct Followed {
    pub values: Vec<MeasuredValue>,
    /// What does not follow, and why.
    pub missing: Vec<&'static str>,
    /// What was assumed.
    pub assumed: Vec<&'static str>,
}

/// The quantities that follow from the counters of a launch.
pub(super) fn quantities(counts: &mut [Count], generation: Option<Generation>) -> Followed {
    let counters = totals(counts);
    let of = |counter: Counter| counters.iter().find(|c| c.0 == counter).map(|c| c.1);
    let mut found = Followed::default();
    // Sorted, so that of several the preferred one comes first.
    for (counter, amount) in &counters {
        if let Counter::Direct(quantity, _) = counter {
            found.add(*quantity, *amount);
        }
    }
    if let Some(total) = of(Counter::DramTotal) {
        found.split(total);
    }
    if let Some(requests) = of(Counter::L1Read) {
        match generation {
            Some(generation) => found.add(L2Load, requests * generation.l1_read()),
            None if found.has(L2Load) => {}
            None => found.missing.push(
                "L2 loads: a read request has 64 B, on the MI300 series 128 B; say with -d which GPU it was",
            ),
        }
    }
    if !found.has(DramLoad) {
        found.dram_load(&of, generation);
    }
    if let Some(all) = of(Counter::Write).filter(|_| !found.has(DramStore)) {
        let whole = of(Counter::Write64).unwrap_or_else(|| {
            found.assumed.push("DRAM stores: every request has 64 B, as TCC_EA_WRREQ_64B_sum is not there");
            all
        });
        found.add(DramStore, 64.0 * whole + 32.0 * (all - whole));
    }
    if let (Some(start), Some(end)) = (of(Counter::Start), of(Counter::End)) {
        found.add(Time, (end - start) * 1e-9);
    }
    found
}

/// Each counter once. Its totals count; where there are none, the sum of its channels does.
fn totals(counts: &mut [Count]) -> Vec<(Counter, f64)> {
    sorting::sort_by_key(counts, |c| (c.counter, c.is_channel));
    let mut totals: Vec<(Counter, f64)> = Vec::new();
    for same in counts.chunk_by(|a, b| a.counter == b.counter) {
        let Some(first) = same.first() else { continue };
        let counted = same.iter().filter(|c| c.is_channel == first.is_channel);
        totals.push((first.counter, counted.map(|c| c.amount).sum()));
    }
    totals
}

impl Followed {
    fn has(&self, quantity: MeasuredQuantity) -> bool {
        self.values.iter().any(|v| v.quantity == quantity)
    }

    fn total(&self, quantity: MeasuredQuantity) -> Option<f64> {
        self.values.iter().find(|v| v.quantity == quantity).map(|v| v.amount)
    }

    fn add(&mut self, quantity: MeasuredQuantity, amount: f64) {
        let possible = amount.is_finite() && (amount > 0.0 || (amount >= 0.0 && !quantity.is_speed()));
        if possible && !self.has(quantity) {
            self.values.push(MeasuredValue { quantity, per: Per::Launch, amount });
        }
    }

    /// Of loads and stores in one the part that is not known otherwise.
    fn split(&mut self, total: f64) {
        match (self.total(DramLoad), self.total(DramStore)) {
            (Some(load), None) => self.add(DramStore, total - load),
            (None, Some(store)) => self.add(DramLoad, total - store),
            _ => {}
        }
    }

    fn dram_load(&mut self, of: &dyn Fn(Counter) -> Option<f64>, generation: Option<Generation>) {
        let (small, middle, large) = (of(Counter::Read32), of(Counter::Read64), of(Counter::Read128));
        if let (Some(small), Some(middle), Some(large)) = (small, middle, large) {
            self.add(DramLoad, 32.0 * small + 64.0 * middle + 128.0 * large);
            return;
        }
        let Some(all) = of(Counter::Read) else { return };
        let large = match (large.or_else(|| of(Counter::Bubble)), generation) {
            (_, Some(Generation::Mi200)) => 0.0,
            (Some(large), _) => large,
            (None, _) => {
                self.missing.push(
                    "DRAM loads: the MI300 series reads 32, 64 or 128 B at a time; measure TCC_BUBBLE_sum \
                     and TCC_EA0_RDREQ_32B_sum too",
                );
                return;
            }
        };
        let small = small.unwrap_or_else(|| {
            self.assumed.push("DRAM loads: no request has 32 B, as TCC_EA_RDREQ_32B_sum is not there");
            0.0
        });
        let middle = all - small - large;
        // Counters of different runs of a kernel differ a little.
        if middle < -0.01 * all {
            self.missing.push("DRAM loads: requests of single sizes are more than all of them");
            return;
        }
        self.add(DramLoad, 32.0 * small + 64.0 * middle.max(0.0) + 128.0 * large);
    }
}

#[cfg(test)]
mod tests {
    use super::super::metrics::meaning;
    use super::*;

    fn counts(all: &[(&str, f64)]) -> Vec<Count> {
        let count = |&(name, n): &(&str, f64)| {
            let meaning = meaning(name).unwrap_or_else(|| panic!("{name}"));
            Count { counter: meaning.counter, is_channel: meaning.is_channel, amount: n * meaning.factor }
        };
        all.iter().map(count).collect()
    }

    fn total_of(
        all: &[(&str, f64)],
        generation: Option<Generation>,
        quantity: MeasuredQuantity,
    ) -> Option<f64> {
        quantities(&mut counts(all), generation).total(quantity)
    }

    #[test]
    fn requests_become_bytes() {
        let (mi200, mi300) = (Some(Generation::Mi200), Some(Generation::Mi300));
        let both = [
            ("TCC_EA0_RDREQ_sum", 100.0),
            ("TCC_EA0_RDREQ_32B_sum", 10.0),
            ("TCC_BUBBLE_sum", 5.0),
            ("TCC_EA_WRREQ[0]", 6.0),
            ("TCC_EA_WRREQ[1]", 4.0),
            ("TCC_EA_WRREQ_64B_sum", 8.0),
            ("TCP_TCC_READ_REQ_sum", 3.0),
        ];
        assert_eq!(total_of(&both, mi300, DramLoad), Some(320.0 + 640.0 + 85.0 * 64.0));
        assert_eq!(
            total_of(&both, mi200, DramLoad),
            Some(320.0 + 90.0 * 64.0),
            "a bubble is no request there"
        );
        assert_eq!(total_of(&both, mi200, DramStore), Some(512.0 + 64.0));
        assert_eq!(
            (total_of(&both, mi200, L2Load), total_of(&both, mi300, L2Load)),
            (Some(192.0), Some(384.0))
        );
        assert_eq!(total_of(&both, None, L2Load), None);
        let sizes = [
            ("TCC_EA0_RDREQ_sum", 100.0),
            ("TCC_EA0_RDREQ_32B_sum", 10.0),
            ("TCC_EA0_RDREQ_64B_sum", 20.0),
            ("TCC_EA0_RDREQ_128B_sum", 70.0),
        ];
        assert_eq!(total_of(&sizes, None, DramLoad), Some(320.0 + 1280.0 + 8960.0));
        assert_eq!(total_of(&sizes[..2], mi300, DramLoad), None, "nobody knows how many have 128 B");
    }

    #[test]
    fn a_total_and_its_channels_are_one_counter() {
        let all = [
            ("TCC_EA_RDREQ[0]", 60.0),
            ("TCC_EA_RDREQ[1]", 40.0),
            ("TCC_EA_RDREQ_sum", 101.0),
            ("TCC_EA_RDREQ_32B[0]", 1.0),
            ("TCC_EA_RDREQ_32B[1]", 1.0),
        ];
        assert_eq!(total_of(&all, Some(Generation::Mi200), DramLoad), Some(64.0 + 99.0 * 64.0));
    }

    #[test]
    fn of_several_metrics_one_is_preferred() {
        let both = [("lts__t_sectors_op_read.sum", 9.0), ("lts__t_sectors_srcunit_tex_op_read.sum", 5.0)];
        assert_eq!(total_of(&both, None, L2Load), Some(160.0), "that of the texture unit");
        let total = [("dram__bytes.sum", 100.0), ("dram__bytes_op_read.sum", 60.0)];
        assert_eq!(
            (total_of(&total, None, DramLoad), total_of(&total, None, DramStore)),
            (Some(60.0), Some(40.0))
        );
        assert_eq!(total_of(&total[..1], None, DramLoad), None);
    }
}
