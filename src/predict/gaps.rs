//! What is known to be missing in the prediction of a launch, where the launch has it.

use super::estimate::Estimator;
use super::prediction::Summary;
use crate::device::{Device, Vendor, signed};
use crate::kernel::{InstructionClass, Precision, Space};
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
    /// The code of a thread without its loops is larger than what an SM keeps of it.
    InstructionCache {
        /// Instructions, about.
        instructions: Times<PerThread>,
        /// What they take.
        bytes: f64,
        /// What an SM keeps.
        capacity: u64,
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
    let code = code(estimator, of);
    let described = kernel.fields.iter().any(|f| f.space == Space::Private);
    let many = device.vendor == Vendor::Amd && of.path.written > MANY_ACCESSES;
    let all = [
        spills(estimator, &of.launch),
        some(InstructionClass::Local).filter(|_| !described).map(|accesses| Gap::LocalMemory { accesses }),
        instruction_cache(device, code),
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

/// About how many instructions stand in the code of a thread: those of loops once. Arithmetic is taken to be where
/// accesses are.
fn code(estimator: &Estimator<'_>, of: &Summary) -> Times<PerThread> {
    use InstructionClass::{Global, Local, Shared};
    let work = &estimator.kernel.work;
    let threads = of.working_blocks as f64 * of.launch.threads_per_block() as f64;
    let items = of.items.get() / threads.max(1.0);
    let at_once = if work.precision == Precision::F16 { 4.0 } else { 2.0 };
    let computing = work.instructions.given().filter(|(class, _)| !matches!(class, Global | Local | Shared));
    let said: Vec<f64> = computing.map(|(_, n)| n.get()).collect();
    let per_item = if said.is_empty() { work.counted_flops() / at_once } else { said.iter().sum() };
    let (written, issued) = (of.path.written, of.path.issued);
    let outside = if issued > Times::ZERO { written / issued } else { 0.0 };
    written + Times::new(per_item * items * outside)
}

fn instruction_cache(device: &Device, instructions: Times<PerThread>) -> Option<Gap> {
    let capacity = device.sm.instruction_cache.as_ref()?.value.0;
    let bytes = instructions.get() * device.architecture.instruction_bytes() as f64;
    (bytes > capacity as f64).then_some(Gap::InstructionCache { instructions, bytes, capacity })
}
