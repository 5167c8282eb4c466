//! A candidate with its grid, registers and shared memory.

use serde::{Serialize, Serializer};

use super::candidate::Candidate;
use super::domain;
use super::infeasible::Infeasible;
use crate::expr::LaunchSizes;
use crate::kernel::Kernel;
use crate::space::Grid;

/// Registers of a thread where the document gives none.
pub const ASSUMED_REGISTERS: i64 = 32;
/// Most blocks or threads of a grid; beyond it products leave 64 bits.
const MAX_GRID: i64 = 1 << 62;

/// Blocks that a message lists.
const SHOWN: usize = 8;

/// A candidate with all that follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Launch {
    #[serde(flatten)]
    pub(crate) candidate: Candidate,
    /// Blocks along x, y, z.
    #[serde(rename = "grid", serialize_with = "only_grid")]
    #[cfg_attr(test, schemars(with = "Grid"))]
    pub(crate) sizes: LaunchSizes,
    /// Registers of a thread.
    pub(crate) registers: i64,
    /// Whether the document did not give them.
    #[serde(skip)]
    pub(crate) registers_assumed: bool,
    /// Shared memory of a block.
    pub(crate) shared_bytes: i64,
}

/// The block stands beside it already.
fn only_grid<S: Serializer>(sizes: &LaunchSizes, serializer: S) -> Result<S::Ok, S::Error> {
    sizes.grid.serialize(serializer)
}

impl Launch {
    /// Works out grid, registers and shared memory of a candidate.
    pub fn new(kernel: &Kernel, candidate: Candidate) -> Result<Self, Infeasible> {
        if let Some(code) = kernel.code.as_ref().filter(|code| !code.blocks.contains(&candidate.block())) {
            let read: Vec<String> = code.blocks.iter().take(SHOWN).map(ToString::to_string).collect();
            let more = if code.blocks.len() > SHOWN { ", ..." } else { "" };
            let most = code.most_threads.filter(|most| candidate.block().volume() > *most);
            return Err(Infeasible::NotRead { read: format!("{}{more}", read.join(", ")), most });
        }
        let grid = grid(kernel, candidate)?;
        let sizes = LaunchSizes { block: candidate.block(), grid };
        let threads =
            candidate.block().iter().chain(&*grid).try_fold(1_i64, |product, &n| product.checked_mul(n));
        if threads.is_none_or(|n| n > MAX_GRID) {
            return Err(Infeasible::GridTooLarge);
        }
        domain::check(kernel, candidate, &sizes)?;
        let shared_bytes = kernel.launch.shared.at(&sizes)?;
        if shared_bytes < 0 {
            return Err(Infeasible::NotPositive { what: "launch.shared", value: shared_bytes });
        }
        let given = registers(kernel, candidate);
        let registers = given.unwrap_or(ASSUMED_REGISTERS);
        Ok(Self { candidate, sizes, registers, registers_assumed: given.is_none(), shared_bytes })
    }

    /// Block and fold.
    pub fn candidate(&self) -> Candidate {
        self.candidate
    }

    /// Block and grid sizes.
    pub fn sizes(&self) -> LaunchSizes {
        self.sizes
    }

    /// Registers of a thread; [`ASSUMED_REGISTERS`] where the document gives none.
    pub fn registers(&self) -> i64 {
        self.registers
    }

    /// Whether the document gives no registers.
    pub fn registers_assumed(&self) -> bool {
        self.registers_assumed
    }

    /// Bytes of shared memory of a block.
    pub fn shared_bytes(&self) -> i64 {
        self.shared_bytes
    }

    /// Threads of a block.
    pub fn threads_per_block(&self) -> i64 {
        self.candidate.block().iter().product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> i64 {
        self.sizes.grid.iter().product()
    }
}

/// Blocks along each dimension: ceil(N / (B F)), unless the document gives them.
fn grid(kernel: &Kernel, candidate: Candidate) -> Result<Grid, Infeasible> {
    let Some(given) = &kernel.launch.grid else {
        let extents = kernel.extents();
        let along = |d: usize| extents[d].div_ceil_positive(candidate.block()[d] * candidate.fold()[d]);
        return Ok(Grid::known([along(0), along(1), along(2)]));
    };
    // A grid may depend on the block, not on itself.
    let sizes = LaunchSizes { block: candidate.block(), grid: Grid::ONE };
    let mut grid = [1; 3];
    for (extent, scale) in grid.iter_mut().zip(given) {
        *extent = scale.at(&sizes)?;
        if *extent < 1 {
            return Err(Infeasible::NotPositive { what: "launch.grid", value: *extent });
        }
    }
    Ok(Grid::known(grid))
}

trait DivCeil {
    fn div_ceil_positive(self, by: i64) -> i64;
}

impl DivCeil for i64 {
    fn div_ceil_positive(self, by: i64) -> i64 {
        self / by + i64::from(self % by != 0)
    }
}

/// The register count that says most about a launch; of equals, the first.
fn registers(kernel: &Kernel, candidate: Candidate) -> Option<i64> {
    let threads: i64 = candidate.block().iter().product();
    let rules = &kernel.launch.registers;
    let matching = rules
        .iter()
        .filter(|r| r.fold.is_none_or(|f| f == candidate.fold()) && r.threads.is_none_or(|t| t == threads));
    let says = |r: &&crate::kernel::RegisterRule| u8::from(r.fold.is_some()) + u8::from(r.threads.is_some());
    matching.rev().max_by_key(says).map(|r| r.value)
}
