//! The launches a kernel could have.

use num_rational::Ratio;

use super::domain;
use crate::expr::{Excess, LaunchSizes};
use crate::kernel::{BlockRule, Kernel};

/// Registers of a thread where the document gives none.
pub const ASSUMED_REGISTERS: i64 = 32;
/// Most blocks or threads of a grid; beyond it products leave 64 bits.
const MAX_GRID: i64 = 1 << 62;

/// A block shape and a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// Threads of a block along x, y, z.
    pub block: [i64; 3],
    /// Work items of a thread along x, y, z.
    pub fold: [i64; 3],
}

/// All candidates of a kernel: for each fold, the blocks in the order of the document.
pub fn candidates(kernel: &Kernel) -> impl Iterator<Item = Candidate> + '_ {
    kernel
        .launch
        .folds
        .iter()
        .flat_map(|&fold| blocks(&kernel.launch.blocks).map(move |block| Candidate { block, fold }))
}

fn blocks(rule: &BlockRule) -> Box<dyn Iterator<Item = [i64; 3]> + '_> {
    match rule {
        BlockRule::List(shapes) => Box::new(shapes.iter().copied()),
        BlockRule::Product { along: [xs, ys, zs], threads } => Box::new(zs.iter().flat_map(move |&z| {
            ys.iter().flat_map(move |&y| {
                let shapes = xs.iter().map(move |&x| [x, y, z]);
                shapes
                    .filter(move |s| threads.is_empty() || threads.binary_search(&s.iter().product()).is_ok())
            })
        })),
    }
}

/// Why a launch cannot be, or cannot be predicted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Infeasible {
    /// More threads than a block can have.
    #[error("threads_per_block {threads} > {most}")]
    ThreadsPerBlock {
        /// Of this launch.
        threads: i64,
        /// Of the device.
        most: u64,
    },
    /// A block that is too long along one dimension.
    #[error("block.{axis} {extent} > {most}")]
    BlockDimension {
        /// Which one.
        axis: char,
        /// Of this launch.
        extent: i64,
        /// Of the device.
        most: u64,
    },
    /// A grid that is too long along one dimension.
    #[error("grid.{axis} {extent} > {most}")]
    GridDimension {
        /// Which one.
        axis: char,
        /// Of this launch.
        extent: i64,
        /// Of the device.
        most: u64,
    },
    /// More registers than a thread can have.
    #[error("registers_per_thread {registers} > {most}")]
    RegistersPerThread {
        /// Of this launch.
        registers: i64,
        /// Of the device.
        most: u64,
    },
    /// A block that needs more registers than there are.
    #[error(
        "a block of {threads} threads with {registers} registers each does not fit into the {most} registers of an SM"
    )]
    RegistersPerBlock {
        /// Threads of the block.
        threads: i64,
        /// Registers of each.
        registers: i64,
        /// Registers of the SM.
        most: u64,
    },
    /// More shared memory than a block can have.
    #[error("shared_bytes {bytes} > {most}")]
    SharedPerBlock {
        /// Of this launch.
        bytes: i64,
        /// Of the device.
        most: u64,
    },
    /// More blocks or threads than can be counted.
    #[error("the grid has more than 2^62 threads")]
    GridTooLarge,
    /// A size given for the launch is not positive for this block.
    #[error("{what} is {value} for this block")]
    NotPositive {
        /// Which size.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// Work items of a thread have no value for this block.
    #[error("launch.units_per_thread divides by zero or leaves 64 bits for this block")]
    NoUnits,
    /// A thread without work items.
    #[error("launch.units_per_thread is {units} for this block; it must be positive")]
    UnitsNotPositive {
        /// Its value.
        units: Ratio<i64>,
    },
    /// Blocks, threads and work items of a thread that together are not the domain.
    #[error(
        "grid x threads x launch.units_per_thread is {blocks} x {threads} x {units} = {product} work items, but the domain has {domain}: leave units_per_thread out, or let it follow the launch, of which it is {needed} here (write it with blockDim and gridDim)"
    )]
    NotTheDomain {
        /// Blocks of the grid.
        blocks: i64,
        /// Threads of a block.
        threads: i64,
        /// Work items of a thread, as the document gives them.
        units: Ratio<i64>,
        /// All three multiplied.
        product: Ratio<i128>,
        /// Work items of the domain.
        domain: i64,
        /// What the work items of a thread would have to be.
        needed: Ratio<i64>,
    },
    /// A grid that does not reach all work items.
    #[error(
        "the grid of launch.grid has {blocks} blocks along {axis}, which reach {reached} of {extent} work items: give more blocks or leave launch.grid out; where threads take further work items in a loop, write its accesses with {thread} instead of axes"
    )]
    GridTooSmall {
        /// Along which dimension.
        axis: char,
        /// Blocks along it.
        blocks: i64,
        /// Work items that these do.
        reached: i64,
        /// Work items that there are.
        extent: i64,
        /// What the thread's coordinate is called.
        thread: &'static str,
    },
    /// Addresses cannot be computed for this block.
    #[error("the addresses cannot be computed: {0}")]
    Address(#[from] Excess),
}

impl Infeasible {
    /// A stable name of the reason, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Infeasible::ThreadsPerBlock { .. } => "threads-per-block",
            Infeasible::BlockDimension { .. } => "block-dimension",
            Infeasible::GridDimension { .. } => "grid-dimension",
            Infeasible::RegistersPerThread { .. } => "registers-per-thread",
            Infeasible::RegistersPerBlock { .. } => "registers-per-block",
            Infeasible::SharedPerBlock { .. } => "shared-per-block",
            Infeasible::GridTooLarge => "grid-too-large",
            Infeasible::NotPositive { .. } | Infeasible::UnitsNotPositive { .. } => "not-positive",
            Infeasible::NoUnits => "no-units",
            Infeasible::NotTheDomain { .. } => "not-the-domain",
            Infeasible::GridTooSmall { .. } => "grid-too-small",
            Infeasible::Address(_) => "address",
        }
    }
}

/// A candidate with all that follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Block and fold.
    pub candidate: Candidate,
    /// Block and grid sizes.
    pub sizes: LaunchSizes,
    /// Registers of a thread.
    pub registers: i64,
    /// Whether the document did not give them.
    pub registers_assumed: bool,
    /// Bytes of shared memory of a block.
    pub shared_bytes: i64,
}

impl Launch {
    /// Works out grid, registers and shared memory of a candidate.
    pub fn new(kernel: &Kernel, candidate: Candidate) -> Result<Self, Infeasible> {
        let grid = grid(kernel, candidate)?;
        let sizes = LaunchSizes { block: candidate.block, grid };
        let threads =
            candidate.block.iter().chain(&grid).try_fold(1_i64, |product, &n| product.checked_mul(n));
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

    /// Threads of a block.
    pub fn threads_per_block(&self) -> i64 {
        self.candidate.block.iter().product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> i64 {
        self.sizes.grid.iter().product()
    }
}

/// Blocks along each dimension: ceil(N / (B F)), unless the document gives them.
fn grid(kernel: &Kernel, candidate: Candidate) -> Result<[i64; 3], Infeasible> {
    let Some(given) = &kernel.launch.grid else {
        let extents = kernel.extents();
        let along = |d: usize| extents[d].div_ceil_positive(candidate.block[d] * candidate.fold[d]);
        return Ok([along(0), along(1), along(2)]);
    };
    // A grid may depend on the block, not on itself.
    let sizes = LaunchSizes { block: candidate.block, grid: [0; 3] };
    let mut grid = [1; 3];
    for (extent, scale) in grid.iter_mut().zip(given) {
        *extent = scale.at(&sizes)?;
        if *extent < 1 {
            return Err(Infeasible::NotPositive { what: "launch.grid", value: *extent });
        }
    }
    Ok(grid)
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
    let threads: i64 = candidate.block.iter().product();
    let rules = &kernel.launch.registers;
    let matching = rules
        .iter()
        .filter(|r| r.fold.is_none_or(|f| f == candidate.fold) && r.threads.is_none_or(|t| t == threads));
    let says = |r: &&crate::kernel::RegisterRule| u8::from(r.fold.is_some()) + u8::from(r.threads.is_some());
    matching.rev().max_by_key(says).map(|r| r.value)
}
