//! How occupancy would fall with more registers or more shared memory: a staircase, as blocks come and go whole.

use serde::Serialize;

use super::geometry::Launch;
use super::occupancy::occupancy;
use crate::device::{Device, signed};

/// A step of the staircase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OccupancyStep {
    /// The largest number for which so many blocks fit.
    pub up_to: i64,
    /// Resident blocks of an SM; none where no block can run.
    pub blocks_per_sm: i64,
}

/// Resident blocks of an SM over the registers of a thread and over the shared memory of a block, where the other stays
/// as it is. Both end where the device has no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Staircase {
    /// Warps of a block.
    pub warps_per_block: i64,
    /// Warps that an SM has room for.
    pub max_warps: i64,
    /// Over registers of a thread, from 1.
    pub registers: Vec<OccupancyStep>,
    /// Over bytes of shared memory of a block, from 0.
    pub shared_bytes: Vec<OccupancyStep>,
}

/// The staircase around a launch.
pub fn staircase(device: &Device, launch: &Launch) -> Staircase {
    let sm = &device.sm;
    let blocks = |changed: Launch| occupancy(device, &changed).map_or(0, |o| o.blocks_per_sm);
    let warp = signed(sm.warp_size.value.0).max(1);
    let threads = launch.threads_per_block();
    Staircase {
        warps_per_block: threads / warp + i64::from(threads % warp != 0),
        max_warps: signed(sm.max_warps.value.0),
        registers: steps(1, signed(sm.max_registers_per_thread.value.0), |registers| {
            blocks(Launch { registers, ..launch.clone() })
        }),
        shared_bytes: steps(0, signed(sm.shared_per_block.value.0), |shared_bytes| {
            blocks(Launch { shared_bytes, ..launch.clone() })
        }),
    }
}

/// The steps of something that never rises, each found by halving.
fn steps(from: i64, most: i64, blocks: impl Fn(i64) -> i64) -> Vec<OccupancyStep> {
    let mut found = Vec::new();
    let mut at = from;
    while at <= most {
        let blocks_per_sm = blocks(at);
        let (mut same, mut beyond) = (at, most + 1);
        while beyond - same > 1 {
            let middle = same + (beyond - same) / 2;
            if blocks(middle) == blocks_per_sm { same = middle } else { beyond = middle }
        }
        found.push(OccupancyStep { up_to: same, blocks_per_sm });
        at = same + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Candidate;

    fn launch(threads: i64, registers: i64, shared_bytes: i64) -> Launch {
        let text = format!(
            "{{wavecast: 1, kernel: k, fields: {{a: {{dtype: f64, size: 65536}}}}, domain: {{x: 65536}}, loads: ['a[x]'], \
             launch: {{block: [[{threads}]], registers: {registers}, shared: {shared_bytes}}}}}"
        );
        let loaded = crate::kernel::load("k.yaml", &text, &Default::default()).unwrap();
        Launch::new(&loaded.kernels[0], Candidate::new([threads, 1, 1], [1, 1, 1]).unwrap()).unwrap()
    }

    /// Each number of registers and many of bytes, one by one.
    #[test]
    fn the_staircase_is_the_occupancy_of_each_number() {
        for id in ["a100", "v100", "h100", "mi100"] {
            let Ok(device) = crate::device::find(id, &[]) else { continue };
            for (threads, registers, shared) in [(256, 32, 0), (96, 64, 5000), (1024, 40, 20_000)] {
                let launch = launch(threads, registers, shared);
                let stairs = staircase(&device, &launch);
                let at = |steps: &[OccupancyStep], n: i64| {
                    steps.iter().find(|s| n <= s.up_to).map(|s| s.blocks_per_sm)
                };
                let of = |changed: &Launch| Some(occupancy(&device, changed).map_or(0, |o| o.blocks_per_sm));
                for registers in 1..=signed(device.sm.max_registers_per_thread.value.0) {
                    assert_eq!(at(&stairs.registers, registers), of(&Launch { registers, ..launch.clone() }));
                }
                let most = signed(device.sm.shared_per_block.value.0);
                for shared_bytes in (0..=most).step_by(37).chain([most]) {
                    assert_eq!(
                        at(&stairs.shared_bytes, shared_bytes),
                        of(&Launch { shared_bytes, ..launch.clone() })
                    );
                }
                for steps in [&stairs.registers, &stairs.shared_bytes] {
                    assert!(steps.windows(2).all(|w| w[0].blocks_per_sm > w[1].blocks_per_sm), "{steps:?}");
                }
            }
        }
    }
}
