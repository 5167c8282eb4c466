//! The access patterns of a published L1 microbenchmark, and what the rules say of them. Shared by
//! `tests/l1_wavefronts.rs` and `tools/validate_l1`.
//!
//! One block of 1024 threads; each loop body has eight loads at constant element offsets, all of which
//! hit the L1, and four fused multiply-adds that use them up.

use wavecast::device::Device;
use wavecast::traffic::l1::{Lanes, Pipe};

/// Elements from the thread's address to each of the eight loads.
const OFFSETS: [i64; 8] = [0, 4, 8, 12, 20, 16, 24, 28];
/// Threads of the block.
const THREADS: i64 = 1024;

/// A row of the measurement.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// Bytes of an element.
    pub width: i64,
    /// Which element a thread reads.
    pub elements: Elements,
}

/// Which element a thread reads.
#[derive(Debug, Clone, Copy)]
pub enum Elements {
    /// `(t % 64) * stride`.
    Stride(i64),
    /// A thread grid so many threads wide over rows of `pitch` elements.
    Block {
        /// Threads of a row.
        wide: i64,
        /// Elements from row to row.
        pitch: i64,
    },
}

/// What the rules say, per warp-wide load.
#[derive(Debug, Clone, Copy, Default)]
pub struct Predicted {
    /// Data wavefronts.
    pub data: f64,
    /// Tag wavefronts.
    pub tag: f64,
    /// Cycles: those of the pipe, and at least those of the arithmetic.
    pub cycles: f64,
}

impl Elements {
    fn of(self, thread: i64) -> i64 {
        match self {
            Elements::Stride(stride) => thread % 64 * stride,
            Elements::Block { wide, pitch } => thread % wide % 64 + (thread / wide % 32 + 1) * pitch,
        }
    }
}

impl Pattern {
    /// The mean over all loads of all warps.
    pub fn predict(&self, device: &Device) -> Predicted {
        let pipe = Pipe::new(device);
        let lanes = i64::try_from(pipe.warp).unwrap();
        let warps = THREADS / lanes;
        let mut sum = Predicted::default();
        for warp in 0..warps {
            for offset in OFFSETS {
                let address = |lane: i64| self.width * (self.elements.of(warp * lanes + lane) + offset);
                let addresses: Vec<i64> = (0..lanes).map(address).collect();
                let wavefronts = pipe.global(Lanes::all(&addresses), self.width);
                sum.data += f64::from(wavefronts.data);
                sum.tag += f64::from(wavefronts.tag);
                sum.cycles += pipe.cycles(wavefronts, self.width);
            }
        }
        let loads = (warps * 8) as f64;
        let cycles = (sum.cycles / loads).max(self.arithmetic(device));
        Predicted { data: sum.data / loads, tag: sum.tag / loads, cycles }
    }

    /// Cycles of the arithmetic per load. Two loads feed one fused multiply-add, so that a load stands
    /// for one floating-point operation: what limits doubles where they are computed at a low rate.
    fn arithmetic(&self, device: &Device) -> f64 {
        let rate = if self.width == 8 { &device.rates().fp64() } else { &device.rates().fp32() };
        device.sm().warp_size().value().0 as f64 / rate.value().0 as f64
    }
}
