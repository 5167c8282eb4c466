//! How long the code of a thread is, and what it costs where the instruction caches do not hold it.
//!
//! Warps of an SM go through code one after the other and find what another one fetched just before. So a wave of blocks
//! waits for each instruction once, and what it fetches adds to what it issues: with multiply-adds in a row an H100 takes
//! 6.0 cycles for each one if an SM has one warp, 13.8 if each scheduler has 8 and 22.9 if it has 16
//! (`fits/data/h100-sxm/code.csv`; docs/fits.md, section 17).

use crate::device::Device;
use crate::kernel::{InstructionClass, Precision, Work};
use crate::launch::Launch;
use crate::quantity::{Bytes, Cycles, ItemCount, PerBlock, PerLaunch, PerThread, Times};
use crate::traffic::ThreadPath;

/// Part of the code beyond the instruction cache that a block loads from the L2: half of it at the median of 657 launches
/// of the convolution on the RTX 2080 Ti whose code does not fit. What others fetched at the same time comes with it.
const FETCHED: f64 = 0.5;

/// Longest code that is estimated: what a document computes beyond that stands in loops that it does not tell of.
const LONGEST: f64 = 1e9;

/// The code of a thread: accesses that stand in the program and the arithmetic, those of loops once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Code {
    pub(super) instructions: Times<PerThread>,
    pub(super) bytes: f64,
}

/// A cache that does not hold the code, and what its instructions take then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Overflow {
    /// Bytes of the cache.
    pub(super) capacity: u64,
    /// Cycles for each instruction, if the device says.
    pub(super) each: Option<f64>,
}

impl Code {
    /// As the document says it, and otherwise about: arithmetic is taken to be in the loop that runs most often ([`ThreadPath::repeats`]).
    pub(super) fn new(
        work: &Work,
        device: &Device,
        path: &ThreadPath,
        items: ItemCount<PerLaunch>,
        threads: f64,
    ) -> Self {
        let instructions = work
            .code_length
            .map_or_else(|| estimated(work, path, items.get() / threads.max(1.0)), Times::new);
        Self { instructions, bytes: instructions.get() * device.architecture.instruction_bytes() as f64 }
    }

    /// The farthest cache that does not hold it.
    pub(super) fn overflow(&self, device: &Device) -> Option<Overflow> {
        let sm = &device.sm;
        let levels = [
            (&sm.instruction_cache, &sm.instruction_fetch),
            (&sm.near_instruction_cache, &sm.near_instruction_fetch),
        ];
        levels.into_iter().find_map(|(capacity, cycles)| {
            let (capacity, each) = (capacity.as_ref()?.value.0, cycles.as_ref().map(|c| c.value.0));
            (self.bytes > capacity as f64).then_some(Overflow { capacity, each })
        })
    }

    /// Cycles that a wave of blocks waits for its code, besides those in which it is issued.
    pub(super) fn fetch_cycles(&self, device: &Device) -> Option<Cycles<PerThread>> {
        Some(Cycles::new(self.overflow(device)?.each? * self.instructions.get()))
    }

    /// Bytes of it that a block loads from the L2.
    pub(super) fn fetched(&self, device: &Device) -> Bytes<PerBlock> {
        let sm = &device.sm;
        let (Some(capacity), Some(_)) = (&sm.instruction_cache, &sm.instruction_fetch) else {
            return Bytes::ZERO;
        };
        Bytes::new(FETCHED * (self.bytes - capacity.value.0 as f64).max(0.0))
    }
}

fn estimated(work: &Work, path: &ThreadPath, items_of_thread: f64) -> Times<PerThread> {
    use InstructionClass::{Global, Local, Shared};
    let at_once = if work.precision == Precision::F16 { 4.0 } else { 2.0 };
    let computing = work.instructions.given().filter(|(class, _)| !matches!(class, Global | Local | Shared));
    let said: Vec<f64> = computing.map(|(_, n)| n.get()).collect();
    let per_item = if said.is_empty() { work.counted_flops() / at_once } else { said.iter().sum() };
    let arithmetic = per_item * items_of_thread / path.repeats.get().max(1.0);
    Times::new((path.written.get() + arithmetic).min(LONGEST))
}

/// Threads of the blocks that have work.
pub(super) fn working_threads(launch: &Launch, working_blocks: i64) -> f64 {
    working_blocks as f64 * launch.threads_per_block() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::find;
    use crate::kernel::{Options, load};

    /// Code of so many instructions, as a document says it.
    fn code(length: u64, device: &Device) -> Code {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 64}}}}\ndomain: {{x: 64}}\nstores: ['a[x]']\n\
             work: {{flops: 1, code_length: {length}}}\nlaunch: {{block: [[64]], registers: 8}}\n"
        );
        let kernel = load("k", &text, &Options::default()).unwrap().kernels.remove(0);
        Code::new(&kernel.work, device, &ThreadPath::default(), ItemCount::new(64.0), 64.0)
    }

    /// What calibration/probe.cu measured on the H100 for a single warp, without the cycle of its issue.
    #[test]
    fn the_farther_the_cache_the_longer_each_instruction_takes() {
        let h100 = find("h100-sxm", &[]).unwrap();
        let each = |length| code(length, &h100).fetch_cycles(&h100).map(|c| c.get() / length as f64);
        let near = |x: Option<f64>, y: f64| (x.unwrap() - y).abs() < 1e-9;
        assert_eq!(each(2048), None, "32 KiB run at full speed");
        assert!(near(each(3072), 1.8) && near(each(8192), 1.8), "up to 128 KiB");
        assert!(near(each(12288), 5.0) && near(each(32768), 5.0));
    }

    #[test]
    fn half_of_what_does_not_fit_is_loaded_from_the_l2() {
        let turing = find("rtx-2080-ti", &[]).unwrap();
        assert_eq!(code(46 * 64, &turing).fetched(&turing), Bytes::ZERO);
        assert_eq!(code(66 * 64, &turing).fetched(&turing), Bytes::new(10.0 * 1024.0));
        let amd = find("mi100", &[]).unwrap();
        assert_eq!(code(66 * 64, &amd).fetched(&amd), Bytes::ZERO, "nobody measured it there");
    }

    #[test]
    fn a_device_without_cycles_says_that_code_does_not_fit_and_no_more() {
        let volta = find("v100", &[]).unwrap();
        let long = code(129 * 64, &volta);
        assert_eq!(long.overflow(&volta), Some(Overflow { capacity: 128 << 10, each: None }));
        assert_eq!(long.fetch_cycles(&volta), None);
    }
}
