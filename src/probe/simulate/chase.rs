//! Chases through simulated caches.

use super::cache::Latencies;
use super::spec::ProbeSpec;
use crate::probe::{ChaseOrder, Load, Run};
use crate::random::{Random, mixed};

/// Rounds before the clock runs.
const WARM: u64 = 2;

/// A chase that is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chase {
    /// Elements of the array.
    pub n: u64,
    /// Elements from one load to the next; negative backwards. Of a shuffled chase and the third stage of
    /// N 5.1: elements of a line; of a scattered chase: elements of which one is loaded.
    pub stride: i64,
    /// The order.
    pub order: ChaseOrder,
    /// Whether the first loads are timed too.
    pub cold: bool,
    /// Rounds that are timed.
    pub rounds: u64,
}

impl Chase {
    /// A warm chase by a stride.
    pub fn warm(n: u64, stride: i64, rounds: u64) -> Self {
        Self { n, stride, order: ChaseOrder::Stride, cold: false, rounds }
    }

    /// The elements of a round.
    fn round(&self, seed: u64) -> Vec<u32> {
        let step = self.stride.unsigned_abs().max(1);
        let element = |i: u64| u32::try_from(i).unwrap_or(u32::MAX);
        let firsts = (0..self.n).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        match self.order {
            ChaseOrder::Stride if self.stride < 0 => firsts.map(|i| element(self.n - 1 - i)).collect(),
            ChaseOrder::Stride | ChaseOrder::Evict { .. } => firsts.map(element).collect(),
            ChaseOrder::Scattered => {
                let mut random = Random::new(mixed(seed ^ 0x5ca7));
                let mut within = |room: u64| random.below(usize::try_from(room).unwrap_or(usize::MAX)) as u64;
                let place = |i: u64| element(i + within(step.min(self.n - i)));
                let mut all: Vec<u32> = firsts.map(place).collect();
                if self.stride < 0 {
                    all.reverse();
                }
                all
            }
            ChaseOrder::Shuffled => {
                // The first two elements of a line, which lie in one sector of it, each in an order of its own.
                let mut all: Vec<u32> = firsts.map(element).collect();
                let next = u32::from(step > 1);
                let second: Vec<u32> = all.iter().map(|&i| i.saturating_add(next)).collect();
                let mut random = Random::new(mixed(seed ^ 0x5_4ff1e));
                shuffle(&mut all, &mut random);
                let mut second: Vec<u32> = second.into_iter().filter(|&i| u64::from(i) < self.n).collect();
                shuffle(&mut second, &mut random);
                all.extend(second);
                all
            }
        }
    }
}

fn shuffle(all: &mut [u32], random: &mut Random) {
    for i in (1..all.len()).rev() {
        all.swap(i, random.below(i + 1));
    }
}

/// Runs a chase.
pub fn chase(spec: &ProbeSpec, wanted: &Chase) -> Run {
    let salt = match wanted.order {
        ChaseOrder::Stride => 0,
        ChaseOrder::Shuffled => 1,
        ChaseOrder::Evict { extra } => 2 + u64::from(extra),
        ChaseOrder::Scattered => 3 + u64::from(u32::MAX),
    };
    let seed = mixed(wanted.n ^ wanted.stride.unsigned_abs() << 40 ^ salt << 20);
    let element = u64::from(spec.element);
    let mut caches = Latencies::new(spec, wanted.n.saturating_mul(element), seed);
    let round = wanted.round(seed);
    if !wanted.cold {
        for _ in 0..WARM {
            for &i in &round {
                caches.touch(u64::from(i) * element);
            }
        }
    }
    let mut loads =
        Vec::with_capacity(round.len().saturating_mul(usize::try_from(wanted.rounds).unwrap_or(0)));
    for _ in 0..wanted.rounds {
        if let ChaseOrder::Evict { extra } = wanted.order {
            // Stage 1 again, then stage 2.
            for _ in 0..WARM {
                for &i in &round {
                    caches.touch(u64::from(i) * element);
                }
            }
            caches.touch(u64::from(extra) * element);
        }
        for &index in &round {
            #[expect(clippy::cast_possible_truncation, reason = "cycles need no more digits")]
            let latency = caches.load(u64::from(index) * element) as f32;
            loads.push(Load { index, latency });
        }
    }
    Run {
        name: spec.name.clone(),
        n: wanted.n,
        stride: wanted.stride,
        element: spec.element,
        order: wanted.order,
        cold: wanted.cold,
        loads,
    }
}
