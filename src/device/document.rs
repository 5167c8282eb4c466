//! The device format as types.

use std::collections::BTreeMap;

use serde::Serialize;

use super::declare::{section, words};
use super::quantity::{
    ByteCount, Count, CycleCount, Duration, Flag, Frequency, MostExtents, PerCycle, Rate, Size, Steps,
};
use super::sourced::{DeviceNumber, Sourced, Visit, plain};
use crate::text::{Decode, Decoder, Named, Node, Span};

words! {
    /// Who makes it.
    Vendor, "a vendor" {
        /// NVIDIA.
        Nvidia = "nvidia",
        /// AMD.
        Amd = "amd",
    }
}

words! {
    /// The architecture, from which curves are inherited.
    Architecture, "an architecture" {
        /// GF100.
        Fermi = "fermi",
        /// GV100.
        Volta = "volta",
        /// Compute capability 7.5.
        Turing = "turing",
        /// Compute capability 8.0 and 8.6.
        Ampere = "ampere",
        /// Compute capability 8.9.
        Ada = "ada",
        /// GH100.
        Hopper = "hopper",
        /// Compute capability 10.
        Blackwell = "blackwell",
        /// Compute capability 12, whose SMs are like those of Ada.
        BlackwellRtx = "blackwell-rtx",
        /// gfx908.
        Cdna1 = "cdna1",
        /// gfx90a.
        Cdna2 = "cdna2",
        /// gfx942.
        Cdna3 = "cdna3",
        /// gfx103x.
        Rdna2 = "rdna2",
        /// gfx110x.
        Rdna3 = "rdna3",
    }
}

words! {
    /// Which wavefront rules the L1 follows.
    Rules, "a set of L1 rules" {
        /// Fermi.
        Fermi = "fermi",
        /// Volta and later NVIDIA devices.
        Volta = "volta",
        /// AMD compute devices.
        Cdna = "cdna",
        /// AMD graphics devices.
        Rdna = "rdna",
    }
}

words! {
    /// The order in which blocks start.
    DispatchOrder, "a dispatch order" {
        /// x fastest, then y, then z.
        Xyz = "xyz",
    }
}

words! {
    /// How a number is known, which is how far it can be trusted.
    SourceKind, "a kind of source" {
        /// The vendor's documents.
        Vendor = "vendor",
        /// A paper.
        Paper = "paper",
        /// A measurement.
        Measured = "measured",
        /// Taken from a relative.
        Inherited = "inherited",
        /// Derived or assumed, as the note says.
        Assumed = "assumed",
    }
}

section! {
    /// A source of numbers.
    SourceText, "a source" {
        /// How it knows.
        kind: SourceKind,
        /// What it is.
        text: String,
        [optional]
    }
}

section! {
    /// Limits and granularities of a streaming multiprocessor (compute unit).
    Sm, "sm" {
        /// Number of SMs.
        count: Sourced<Count>,
        /// Threads of a warp (wavefront).
        warp_size: Sourced<Count>,
        /// Most threads of a block.
        max_threads_per_block: Sourced<Count>,
        /// Most threads of a block along each dimension.
        max_block: Sourced<MostExtents>,
        /// Most blocks of a grid along each dimension.
        max_grid: Sourced<MostExtents>,
        /// Most resident threads.
        max_threads: Sourced<Count>,
        /// Most resident warps.
        max_warps: Sourced<Count>,
        /// Most resident blocks.
        max_blocks: Sourced<Count>,
        /// Warps of a block are rounded up to this when it is checked whether its registers fit.
        warp_allocation: Sourced<Count>,
        /// 32-bit registers.
        registers: Sourced<Count>,
        /// Granularity of register allocation per warp.
        register_allocation: Sourced<Count>,
        /// Most registers of a thread.
        max_registers_per_thread: Sourced<Count>,
        /// Shared memory in all.
        shared: Sourced<ByteCount>,
        /// Most shared memory of a block.
        shared_per_block: Sourced<ByteCount>,
        /// Granularity of shared-memory allocation.
        shared_allocation: Sourced<ByteCount>,
        /// Shared memory of each block that the system takes.
        shared_reserved: Sourced<ByteCount>,
        /// Warp schedulers.
        schedulers: Sourced<Count>,
        [optional]
        /// Cycles that an instruction takes of the one vector unit of its scheduler, where arithmetic and addresses share
        /// one. Without it they have units of their own.
        vector_cycles: Sourced<CycleCount>,
        /// Code that an SM keeps: beyond it, instructions come from the L2.
        instruction_cache: Sourced<Size>,
        /// Cycles until the next instruction of such code is there.
        instruction_fetch: Sourced<CycleCount>,
        /// Code that runs at full speed: beyond it, instructions come from `instruction_cache`.
        near_instruction_cache: Sourced<Size>,
        /// Cycles until the next instruction of such code is there.
        near_instruction_fetch: Sourced<CycleCount>,
    }
}

section! {
    /// What an SM computes per cycle: floating-point operations, of which a fused multiply-add is two, and other
    /// instructions, counted by lane.
    Rates, "rates" {
        /// Double precision.
        fp64: Sourced<Count>,
        /// Single precision.
        fp32: Sourced<Count>,
        /// Half precision, without tensor cores.
        fp16: Sourced<Count>,
        /// 32-bit integer instructions, of one lane each.
        int: Sourced<Count>,
        /// Reciprocals, roots, exponentials, sines, of one lane each.
        special: Sourced<Count>,
        /// Conversions between single and double precision, of one lane each.
        convert: Sourced<Count>,
        [optional]
    }
}

section! {
    /// The first-level cache of an SM.
    L1, "l1" {
        /// Which wavefront rules it follows.
        rules: Rules,
        /// Capacity; with shared memory if that is carved out of it.
        capacity: Sourced<Size>,
        /// Whether shared memory is carved out of it.
        unified: bool,
        /// The sizes that shared memory can take.
        carveouts: Sourced<Steps>,
        /// Allocation granularity.
        line: Sourced<Size>,
        /// Transfer granularity.
        sector: Sourced<Size>,
        /// Bytes per cycle and SM.
        bandwidth: Sourced<PerCycle>,
        /// Latency of a hit.
        latency: Sourced<CycleCount>,
        /// Cycles that the pipe takes for one wavefront of data, of shared memory as well.
        wavefront_cycles: Sourced<CycleCount>,
        /// Lanes whose addresses the pipe takes per cycle: an instruction of a whole warp takes no less than the
        /// warp over this, even if all lanes read one word.
        lanes: Sourced<Count>,
        /// Latency of a load from shared memory.
        shared_latency: Sourced<CycleCount>,
        [optional]
        /// Associativity.
        ways: Sourced<Count>,
        /// Miss-status holding registers of an SM.
        mshrs: Sourced<Count>,
        /// Of which one warp can use so many.
        mshrs_per_warp: Sourced<Count>,
    }
}

section! {
    /// The second-level cache.
    L2, "l2" {
        /// Nominal capacity of an instance.
        capacity: Sourced<Size>,
        /// What one wave can use of it.
        effective: Sourced<Size>,
        /// Allocation granularity.
        line: Sourced<Size>,
        /// Transfer granularity.
        sector: Sourced<Size>,
        /// Bandwidth of the device.
        bandwidth: Sourced<Rate>,
        /// Latency of a hit.
        latency: Sourced<CycleCount>,
        /// Number of separate second-level caches.
        instances: Sourced<Count>,
        [optional]
    }
}

section! {
    /// A cache between L2 and DRAM.
    LastLevel, "llc" {
        /// Capacity.
        capacity: Sourced<Size>,
        /// Allocation granularity.
        line: Sourced<Size>,
        /// Bandwidth.
        bandwidth: Sourced<Rate>,
        /// Latency of a hit.
        latency: Sourced<CycleCount>,
        [optional]
    }
}

section! {
    /// Device memory.
    Dram, "dram" {
        /// Capacity.
        capacity: Sourced<Size>,
        /// What streaming kernels reach.
        bandwidth: Sourced<Rate>,
        /// What the data sheet says.
        theoretical: Sourced<Rate>,
        /// Fetch granularity.
        fetch: Sourced<Size>,
        /// Latency.
        latency: Sourced<CycleCount>,
        /// Whether memory is read to complete a sector that leaves the cache written in part.
        fill: Sourced<Flag>,
        [optional]
    }
}

section! {
    /// Address translation.
    Tlb, "tlb" {
        /// Page size.
        page: Sourced<Size>,
        [optional]
        /// Memory that the first level covers.
        l1_reach: Sourced<Size>,
        /// Memory that the last level covers.
        l2_reach: Sourced<Size>,
        /// Additional latency of a miss.
        miss_latency: Sourced<CycleCount>,
    }
}

section! {
    /// How blocks are given to SMs.
    Dispatch, "dispatch" {
        /// The order in which blocks start.
        order: DispatchOrder,
        /// Consecutive blocks go in turn to so many dies.
        round_robin: Sourced<Count>,
        /// Cycles that a dispatcher takes to start a block.
        block_cycles: Sourced<CycleCount>,
        /// Dispatchers that start blocks at the same time.
        dispatchers: Sourced<Count>,
        [optional]
    }
}

section! {
    /// A GPU.
    Device, "a device" {
        /// Its id.
        id: String,
        /// Its full name.
        name: String,
        /// Who makes it.
        vendor: Vendor,
        /// Its architecture.
        architecture: Architecture,
        /// Short names.
        aliases: Vec<String>,
        /// One line on what it is and which quirks matter.
        about: String,
        /// Where the numbers come from.
        sources: BTreeMap<String, SourceText>,
        /// The clock that turns cycles into time.
        clock: Sourced<Frequency>,
        /// Limits of an SM.
        sm: Sm,
        /// What an SM computes per cycle.
        rates: Rates,
        /// First-level cache.
        l1: L1,
        /// Second-level cache.
        l2: L2,
        /// Device memory.
        dram: Dram,
        /// Address translation.
        tlb: Tlb,
        /// How blocks are given to SMs.
        dispatch: Dispatch,
        /// Time a kernel launch takes by itself.
        launch_overhead: Sourced<Duration>,
        [optional]
        /// What compilers call it: `sm_80`, `gfx90a`.
        target: String,
        /// Its ids on the PCI bus, `VENDOR:DEVICE`, as far as they are published. Several devices may share one.
        pci: Vec<String>,
        /// A cache between L2 and DRAM.
        llc: LastLevel,
        [kept]
        /// The device that comes with Wavecast from which a file of somebody's own inherits.
        relative: Option<String>,
        /// What was changed of it by `PATH=VALUE` texts: the values by their paths.
        changed: BTreeMap<String, String>,
        /// What hardly any GPU is like.
        doubts: Vec<String>,
    }
}

plain!(String, bool, Vec<String>, BTreeMap<String, SourceText>);

impl Decode for BTreeMap<String, SourceText> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let named = Named::<SourceText>::decode(node, decoder)?;
        Some(named.0.into_iter().map(|(name, source)| (name.value, source)).collect())
    }
}

impl Architecture {
    /// Bytes of an instruction in the code of a kernel; the most that one takes where they differ.
    pub fn instruction_bytes(self) -> u64 {
        match self {
            Architecture::Volta
            | Architecture::Turing
            | Architecture::Ampere
            | Architecture::Ada
            | Architecture::Hopper
            | Architecture::Blackwell
            | Architecture::BlackwellRtx => 16,
            // Those of AMD take 4 or 8, with a constant 12.
            Architecture::Fermi
            | Architecture::Cdna1
            | Architecture::Cdna2
            | Architecture::Cdna3
            | Architecture::Rdna2
            | Architecture::Rdna3 => 8,
        }
    }
}

/// Numbers that no prediction reads, and what to change instead, where there is something.
const UNREAD: [(&str, &str); 11] = [
    ("l1.shared_latency", ""),
    ("l1.ways", ""),
    ("l1.mshrs", ""),
    ("l1.mshrs_per_warp", ""),
    ("l2.capacity", "l2.effective"),
    ("l2.instances", "l2.effective"),
    ("dram.theoretical", "dram.bandwidth"),
    ("tlb.l1_reach", ""),
    ("tlb.l2_reach", ""),
    ("tlb.miss_latency", ""),
    ("dispatch.round_robin", ""),
];

/// Whether predictions do without the number of this path: then what the model reads instead, or an empty text if there
/// is nothing.
pub fn unread(path: &str) -> Option<&'static str> {
    UNREAD.iter().find(|(unread, _)| *unread == path).map(|(_, instead)| *instead)
}

impl Device {
    /// Every number with its path and source, in the order of the format.
    pub fn numbers(&self) -> Vec<DeviceNumber<'_>> {
        let mut all = Vec::new();
        self.entries("", &mut |entry| all.push(entry));
        all
    }
}
