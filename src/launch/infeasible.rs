//! Why a launch cannot run or cannot be predicted.

use num_rational::Ratio;

use crate::expr::Excess;

/// Why a launch cannot be, or cannot be predicted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
    /// A block that compiled code was not read for.
    #[error("the code was read for blocks of {read} only{}", bounds(*.most))]
    NotRead {
        /// Those that it was read for.
        read: String,
        /// The most threads that the code allows, where the block has more.
        most: Option<i64>,
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

/// That launch bounds rule a block out.
fn bounds(most: Option<i64>) -> String {
    most.map_or(String::new(), |most| {
        format!(
            ", as its launch bounds allow at most {most} threads (`.maxntid`, or `__launch_bounds__({most})` in CUDA)"
        )
    })
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
            Infeasible::NotRead { .. } => "not-read",
            Infeasible::GridTooSmall { .. } => "grid-too-small",
            Infeasible::Address(_) => "address",
        }
    }
}
