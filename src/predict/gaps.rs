//! What is known to be missing in the prediction of a launch, where the launch has it.

use super::code::{Code, Overflow, working_threads};
use super::estimate::Estimator;
use super::prediction::Summary;
use crate::device::{Vendor, signed};
use crate::kernel::{InstructionClass, Space};
use crate::launch::Launch;
use crate::quantity::{PerItem, PerThread, Times};

/// Something that a launch has and the model leaves out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Gap {
    /// A thread has as many registers as it can have, so that others may have been spilled.
    Spills {
        /// Registers of a thread.
        registers: i64,
        /// Whether they are the most of a block of so many threads, and not of the device.
        block: Option<i64>,
    },
    /// Local memory is accessed.
    LocalMemory {
        /// Loads and stores of a work item.
        accesses: Times<PerItem>,
    },
    /// The code of a thread without its loops is larger than a cache of an SM: what that costs is not known, or how long
    /// it really is.
    InstructionCache {
        /// Instructions, about.
        instructions: Times<PerThread>,
        /// What they take.
        bytes: f64,
        /// What an SM keeps.
        capacity: u64,
        /// Whether time and volumes have what fetching it costs.
        modelled: bool,
    },
    /// Much is written out on a device of AMD, where compilers were seen to make slow code of it.
    Unrolled {
        /// Accesses that stand in the code of a thread.
        accesses: Times<PerThread>,
    },
    /// Products of small matrices.
    TensorUnit {
        /// Instructions of a work item.
        products: Times<PerItem>,
    },
}

impl Gap {
    /// A stable name, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Gap::Spills { .. } => "registers-at-limit",
            Gap::LocalMemory { .. } => "local-memory",
            Gap::InstructionCache { .. } => "instruction-cache",
            Gap::Unrolled { .. } => "amd-unrolled",
            Gap::TensorUnit { .. } => "tensor-unit",
        }
    }
}

/// Accesses in the code of a thread beyond which AMD's compilers were seen to lose: of the convolution of 15 x 15 on a
/// Radeon Pro W6600, threads with one pixel (226 accesses) take 1.8 times the best time at the median, those with two to
/// sixteen 6 to 38 times (measurements of `sets/conv15-w6600.yaml`).
pub(super) const MANY_ACCESSES: Times<PerThread> = Times::new(300.0);

/// Registers are given to threads in steps of so many.
const REGISTER_STEP: i64 = 8;

/// What is missing in the prediction of a launch.
pub fn gaps(estimator: &Estimator<'_>, of: &Summary) -> Vec<Gap> {
    let Estimator { kernel, device, .. } = estimator;
    let some = |class| kernel.work.instructions.count(class).filter(|&n| n > Times::ZERO);
    let described = kernel.fields.iter().any(|f| f.space == Space::Private);
    let many = device.vendor == Vendor::Amd && of.path.written > MANY_ACCESSES;
    let all = [
        spills(estimator, &of.launch),
        some(InstructionClass::Local).filter(|_| !described).map(|accesses| Gap::LocalMemory { accesses }),
        instruction_cache(estimator, of),
        many.then_some(Gap::Unrolled { accesses: of.path.written }),
        some(InstructionClass::Tensor).map(|products| Gap::TensorUnit { products }),
    ];
    all.into_iter().flatten().collect()
}

fn spills(estimator: &Estimator<'_>, launch: &Launch) -> Option<Gap> {
    let (sm, registers) = (&estimator.device.sm, launch.registers());
    if launch.registers_assumed() {
        return None;
    }
    if registers >= signed(sm.max_registers_per_thread.value.0) {
        return Some(Gap::Spills { registers, block: None });
    }
    // A compiler that is told the size of the block keeps to what such a block can have.
    let threads = launch.threads_per_block();
    let told = estimator.kernel.launch.registers.iter().any(|r| r.threads == Some(threads));
    let warp = signed(sm.warp_size.value.0);
    let whole = (threads + warp - 1) / warp * warp;
    let most = signed(sm.registers.value.0) / whole / REGISTER_STEP * REGISTER_STEP;
    (told && registers >= most).then_some(Gap::Spills { registers, block: Some(threads) })
}

/// Code that does not fit, where it is not known how long its instructions take to come, or how many there are.
fn instruction_cache(estimator: &Estimator<'_>, of: &Summary) -> Option<Gap> {
    let Estimator { kernel, device, .. } = estimator;
    let threads = working_threads(&of.launch, of.working_blocks);
    let code = Code::new(&kernel.work, device, &of.path, of.items, threads);
    let Overflow { capacity, each } = code.overflow(device)?;
    let modelled = each.is_some();
    let Code { instructions, bytes } = code;
    let unknown = !modelled || kernel.work.code_length.is_none();
    unknown.then_some(Gap::InstructionCache { instructions, bytes, capacity, modelled })
}
