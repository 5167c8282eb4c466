//! How many blocks an SM runs at a time, and what keeps it from running more.

use serde::Serialize;

use super::geometry::Launch;
use super::infeasible::Infeasible;
use crate::device::{Device, signed};
use crate::expr::Dim;
use crate::named::named;
use crate::quantity::{PerLaunch, Share, Times};

named! {
    /// What limits the number of resident blocks.
    pub enum Limit {
        /// Resident threads (warps).
        Threads = "threads",
        /// Resident blocks.
        Blocks = "blocks",
        /// Registers.
        Registers = "registers",
        /// Shared memory.
        Shared = "shared",
    }
}

/// The occupancy of an SM, and the waves that follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Occupancy {
    /// Resident blocks of an SM.
    pub blocks_per_sm: i64,
    /// Resident warps of an SM.
    pub warps_per_sm: i64,
    /// Share of the warps that could be resident.
    pub fraction: Share,
    /// What keeps further blocks out.
    #[cfg_attr(test, schemars(with = "String"))]
    pub limited_by: Limit,
    /// Resident blocks of the device.
    pub wave_blocks: i64,
    /// Blocks of the grid over resident blocks.
    pub waves: Times<PerLaunch>,
}

impl Occupancy {
    /// Blocks that an SM has at a time of so many blocks in all.
    pub fn resident_per_sm(&self, device: &Device, blocks: i64) -> i64 {
        let sms = signed(device.sm.count.value.0).max(1);
        self.blocks_per_sm.min(blocks / sms + i64::from(blocks % sms != 0)).max(1)
    }

    /// Warps that an SM has at a time of so many blocks in all.
    pub fn resident_warps(&self, device: &Device, blocks: i64) -> i64 {
        self.resident_per_sm(device, blocks) * (self.warps_per_sm / self.blocks_per_sm.max(1)).max(1)
    }
}

/// The usual occupancy rule with the granularities of the device.
pub fn occupancy(device: &Device, launch: &Launch) -> Result<Occupancy, Infeasible> {
    check_shape(device, launch)?;
    let sm = &device.sm;
    let threads = launch.threads_per_block();
    let warps = ceil_to(threads, signed(sm.warp_size.value.0)) / signed(sm.warp_size.value.0);
    let limits = [
        (signed(sm.max_warps.value.0) / warps, Limit::Threads),
        // Threads are counted by whole warps.
        (signed(sm.max_threads.value.0) / signed(sm.warp_size.value.0) / warps, Limit::Threads),
        (signed(sm.max_blocks.value.0), Limit::Blocks),
        (by_registers(device, launch, warps)?, Limit::Registers),
        (by_shared(device, launch)?, Limit::Shared),
    ];
    // Of equal limits the first named counts.
    let (blocks_per_sm, limited_by) = limits.into_iter().min_by_key(|l| l.0).unwrap_or((0, Limit::Threads));
    if blocks_per_sm == 0 {
        let most = sm.max_threads.value.0;
        return Err(Infeasible::ThreadsPerBlock { threads, most });
    }
    let warps_per_sm = blocks_per_sm * warps;
    let wave_blocks = blocks_per_sm.saturating_mul(signed(sm.count.value.0));
    Ok(Occupancy {
        blocks_per_sm,
        warps_per_sm,
        fraction: Share::new(warps_per_sm as f64 / sm.max_warps.value.0 as f64),
        limited_by,
        wave_blocks,
        waves: Times::new(launch.blocks() as f64 / wave_blocks as f64),
    })
}

fn ceil_to(n: i64, granularity: i64) -> i64 {
    n.saturating_add(granularity - 1) / granularity * granularity
}

fn check_shape(device: &Device, launch: &Launch) -> Result<(), Infeasible> {
    let sm = &device.sm;
    let threads = launch.threads_per_block();
    let most = sm.max_threads_per_block.value.0;
    if threads > signed(most) {
        return Err(Infeasible::ThreadsPerBlock { threads, most });
    }
    for d in Dim::ALL {
        let (axis, i) = (d.letter(), d.index());
        let (extent, most) = (launch.candidate.block()[i], sm.max_block.value.0[i]);
        if extent > signed(most) {
            return Err(Infeasible::BlockDimension { axis, extent, most });
        }
        let (extent, most) = (launch.sizes.grid[i], sm.max_grid.value.0[i]);
        if extent > signed(most) {
            return Err(Infeasible::GridDimension { axis, extent, most });
        }
    }
    let most = sm.max_registers_per_thread.value.0;
    if launch.registers > signed(most) {
        return Err(Infeasible::RegistersPerThread { registers: launch.registers, most });
    }
    let most = sm.shared_per_block.value.0;
    if launch.shared_bytes > signed(most) {
        return Err(Infeasible::SharedPerBlock { bytes: launch.shared_bytes, most });
    }
    Ok(())
}

/// Registers are given to whole warps, in units, from the file of one scheduler. A block must fit
/// with its warps rounded up as the device allocates them; how many blocks fit follows from warps.
fn by_registers(device: &Device, launch: &Launch, warps: i64) -> Result<i64, Infeasible> {
    let sm = &device.sm;
    let (registers, schedulers) = (signed(sm.registers.value.0), signed(sm.schedulers.value.0));
    let per_warp =
        ceil_to(launch.registers * signed(sm.warp_size.value.0), signed(sm.register_allocation.value.0));
    let resident_warps = registers / schedulers / per_warp * schedulers;
    let blocks = resident_warps / warps;
    if blocks == 0 || per_warp * ceil_to(warps, signed(sm.warp_allocation.value.0)) > registers {
        return Err(Infeasible::RegistersPerBlock {
            threads: launch.threads_per_block(),
            registers: launch.registers,
            most: sm.registers.value.0,
        });
    }
    Ok(blocks)
}

fn by_shared(device: &Device, launch: &Launch) -> Result<i64, Infeasible> {
    let sm = &device.sm;
    let wanted = launch.shared_bytes + signed(sm.shared_reserved.value.0);
    let per_block = ceil_to(wanted, signed(sm.shared_allocation.value.0).max(1));
    if per_block == 0 {
        return Ok(i64::MAX);
    }
    let blocks = signed(sm.shared.value.0) / per_block;
    if blocks == 0 {
        let most = sm.shared_per_block.value.0;
        return Err(Infeasible::SharedPerBlock { bytes: launch.shared_bytes, most });
    }
    Ok(blocks)
}
