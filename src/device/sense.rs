//! Whether the numbers of a device can be true together: what no GPU is like is an error, what hardly any is like deserves
//! a look.

use super::document::Device;
use super::overrides;
use super::quantity::Quantity;
use super::sourced::Sourced;
use crate::text::{Diagnostic, Span};

/// SMs beyond which it is no GPU.
const MOST_SMS: u64 = 100_000;
/// SMs beyond which it is none that anybody has built.
const MANY_SMS: u64 = 1_000;
/// Bytes per second beyond which no memory is.
const MOST_BANDWIDTH: f64 = 1e15;
/// Threads of a warp beyond which no warp is.
const MOST_WARP: u64 = 128;
/// Bytes below which no page is.
const LEAST_PAGE: u64 = 4096;

/// What is wrong with a device, and what is unusual about it.
#[derive(Default)]
pub(super) struct Sense {
    pub(super) errors: Vec<Diagnostic>,
    pub(super) doubts: Vec<String>,
}

/// Looks at the numbers of a device; `own` says whether somebody wrote a number at a place, who did not take it from a
/// device that comes with Wavecast.
pub(super) fn of_device(device: &Device, own: &dyn Fn(Span) -> bool) -> Sense {
    let mut found = Sense::default();
    found.of_counts(device);
    found.of_caches(device, own);
    found.of_limits(device, own);
    found
}

impl Sense {
    fn wrong(&mut self, span: Span, message: String, help: &str) {
        self.errors.push(Diagnostic::error("device-sense", span, message).help(help));
    }

    fn of_counts(&mut self, device: &Device) {
        let (sm, warp) = (&device.sm, &device.sm.warp_size);
        if !warp.value.0.is_power_of_two() || warp.value.0 > MOST_WARP {
            let message = format!("no GPU has warps of {} threads", warp.value);
            self.wrong(warp.span, message, "sm.warp_size is a power of two: 32 of NVIDIA, 32 or 64 of AMD");
        }
        match sm.count.value.0 {
            count if count > MOST_SMS => {
                let message = format!("no GPU has {count} SMs");
                self.wrong(
                    sm.count.span,
                    message,
                    "sm.count is the number of SMs or compute units, such as 108",
                );
            }
            count if count > MANY_SMS => {
                self.doubts.push(format!("sm.count is {count}, more than any GPU has"));
            }
            _ => {}
        }
        for (path, rate) in [
            ("dram.bandwidth", &device.dram.bandwidth),
            ("dram.theoretical", &device.dram.theoretical),
            ("l2.bandwidth", &device.l2.bandwidth),
        ] {
            if rate.value.0 > MOST_BANDWIDTH {
                let message = format!("no GPU has {} of {path}", rate.value);
                self.wrong(rate.span, message, "look at its unit: 1400 GB/s are 1.4 TB/s");
            }
        }
        let page = &device.tlb.page;
        if !page.value.0.is_power_of_two() {
            let message = format!("a page cannot have {}", page.value);
            self.wrong(page.span, message, "tlb.page is a power of two, such as 2 MiB");
        } else if page.value.0 < LEAST_PAGE {
            self.doubts.push(format!("tlb.page is {}, smaller than any page", page.value));
        }
    }

    /// Lines consist of whole sectors, and a cache can be used up to its size.
    fn of_caches(&mut self, device: &Device, own: &dyn Fn(Span) -> bool) {
        let (l1, l2) = (&device.l1, &device.l2);
        for (cache, line, sector) in [("l1", &l1.line, &l1.sector), ("l2", &l2.line, &l2.sector)] {
            if !line.value.0.is_multiple_of(sector.value.0) {
                let message = format!(
                    "{cache}.line is {}, which is no multiple of {cache}.sector, {}",
                    line.value, sector.value
                );
                let help = "a line has one or more whole sectors, such as four of 32 B in 128 B";
                self.wrong(nearer([line.span, sector.span], own), message, help);
            }
        }
        // Who asks what if more of it could be used need not say that it is larger, which no prediction reads.
        if !asked(&l2.effective) && l2.effective.value > l2.capacity.value {
            let message = format!(
                "l2.effective is {}, more than l2.capacity, {}",
                l2.effective.value, l2.capacity.value
            );
            let help = "l2.effective is what can be used of l2.capacity";
            self.wrong(nearer([l2.effective.span, l2.capacity.span], own), message, help);
        }
    }

    fn of_limits(&mut self, device: &Device, own: &dyn Fn(Span) -> bool) {
        let (sm, dram) = (&device.sm, &device.dram);
        if !asked(&sm.shared_per_block) && sm.shared_per_block.value > sm.shared.value {
            let message = format!(
                "sm.shared_per_block is {}, more than sm.shared, {}",
                sm.shared_per_block.value, sm.shared.value
            );
            let help = "a block cannot have more shared memory than its SM";
            self.wrong(nearer([sm.shared_per_block.span, sm.shared.span], own), message, help);
        }
        if !asked(&dram.bandwidth)
            && !asked(&dram.theoretical)
            && dram.bandwidth.value > dram.theoretical.value
        {
            self.doubts.push(format!(
                "dram.bandwidth, {}, is more than dram.theoretical, {}: kernels reach less than the data sheet says",
                dram.bandwidth.value, dram.theoretical.value
            ));
        }
    }
}

/// Whether somebody asked what if the number were this one.
fn asked<T: Quantity>(number: &Sourced<T>) -> bool {
    number.source == overrides::SOURCE
}

/// The place of the number that somebody wrote, of two that do not go together.
fn nearer([one, other]: [Span; 2], own: &dyn Fn(Span) -> bool) -> Span {
    if own(other) && !own(one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use crate::device::{find, ids, read};

    fn file(numbers: &str) -> String {
        format!(
            "wavecast-device: 1\nid: mine\nname: mine\ninherit: a100\naliases: []\nabout: x\n\
             sources:\n  me: {{kind: assumed, text: x}}\n{numbers}\n"
        )
    }

    #[test]
    fn what_no_gpu_is_like_is_refused_at_its_place() {
        for (numbers, place, why) in [
            ("l2:\n  effective: {value: 80 MiB, source: me}", "10:14", "more than l2.capacity"),
            ("l1:\n  line: {value: 100 B, source: me}", "10:9", "no multiple of l1.sector, 32 B"),
            ("l1:\n  sector: {value: 256 B, source: me}", "10:11", "no multiple of l1.sector, 256 B"),
            ("sm:\n  warp_size: {value: 33, source: me}", "10:14", "warps of 33 threads"),
            ("sm:\n  count: {value: 1000000000, source: me}", "10:10", "1000000000 SMs"),
            ("dram:\n  bandwidth: {value: 1e5 TB/s, source: me}", "10:14", "of dram.bandwidth"),
            ("tlb:\n  page: {value: 3 B, source: me}", "10:9", "a page cannot have 3 B"),
            ("sm:\n  shared_per_block: {value: 1 MiB, source: me}", "10:21", "more than sm.shared"),
        ] {
            let said = read("mine.yaml", &file(numbers), &[]).unwrap_err().to_string();
            assert!(
                said.starts_with(&format!("mine.yaml:{place}: ")) && said.contains(why),
                "{numbers}: {said}"
            );
        }
        let said = find("a100", &["sm.warp_size=33".to_owned()]).unwrap_err().to_string();
        assert!(said.contains("--device-set") && said.contains("warps of 33 threads"), "{said}");
    }

    #[test]
    fn what_hardly_any_gpu_is_like_deserves_a_look() {
        for (numbers, what) in [
            ("sm:\n  count: {value: 5000, source: me}", "sm.count is 5000"),
            ("tlb:\n  page: {value: 64 B, source: me}", "tlb.page is 64 B"),
            ("dram:\n  bandwidth: {value: 2000 GB/s, source: me}", "dram.bandwidth, 2000 GB/s"),
        ] {
            let device = read("mine.yaml", &file(numbers), &[]).unwrap();
            assert!(matches!(&device.doubts[..], [only] if only.contains(what)), "{:?}", device.doubts);
        }
    }

    #[test]
    fn devices_that_ship_and_questions_are_as_usual() {
        for id in ids() {
            assert!(find(id, &[]).unwrap().doubts.is_empty(), "{id}");
        }
        let set = ["l2.effective=80MiB", "dram.bandwidth=3 TB/s"].map(str::to_owned);
        assert!(find("a100", &set).unwrap().doubts.is_empty());
    }
}
