//! Volumes as documents for programs.

use schemars::JsonSchema;
use serde::Serialize;

/// Bytes per work item at each boundary.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VolumesDocument {
    /// Registers and L1.
    pub l1: L1Document,
    /// L1 and L2.
    pub l2: L2Document,
    /// L2 and the last-level cache, on devices that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llc: Option<MemoryDocument>,
    /// The last cache and memory.
    pub dram: MemoryDocument,
    /// Address translation.
    pub tlb: TlbDocument,
}

/// Registers and L1, per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct L1Document {
    /// Cycles of the pipe.
    pub wavefront_cycles: f64,
    /// Wavefronts of the data stage.
    pub data_wavefronts: f64,
    /// Wavefronts of the tag stage.
    pub tag_wavefronts: f64,
    /// Bytes of the sectors that loads ask for.
    pub load_bytes: f64,
    /// Bytes of the sectors that stores write.
    pub store_bytes: f64,
}

/// L1 and L2, bytes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct L2Document {
    /// Loads.
    pub load: L2Load,
    /// Stores.
    pub store: Total,
}

/// Loads from L2.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct L2Load {
    /// That a block cannot avoid.
    pub compulsory: f64,
    /// Of what the L1 lost.
    pub capacity: f64,
    /// Their sum.
    pub total: f64,
}

/// A volume without parts.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Total {
    /// All of it.
    pub total: f64,
}

/// A cache and the memory below it, bytes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MemoryDocument {
    /// Loads.
    pub load: MemoryLoad,
    /// Stores.
    pub store: MemoryStore,
}

/// Loads from memory: total = compulsory - `reuse_x` - `reuse_y` - `reuse_z` - `reuse_launch` + capacity +
/// `partial_store_fill`.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MemoryLoad {
    /// That a wave alone cannot avoid.
    pub compulsory: f64,
    /// Saved by hits on blocks of the same row.
    pub reuse_x: f64,
    /// Saved by hits on the row of blocks before.
    pub reuse_y: f64,
    /// Saved by hits on the plane of blocks before.
    pub reuse_z: f64,
    /// Saved by hits on what an earlier launch left, where arrays fit.
    pub reuse_launch: f64,
    /// Loaded again by blocks of one wave.
    pub capacity: f64,
    /// That complete sectors which were written in part.
    pub partial_store_fill: f64,
    /// All of it.
    pub total: f64,
}

/// Stores to memory.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MemoryStore {
    /// That cannot be avoided.
    pub compulsory: f64,
    /// Of sectors that were written out before.
    pub redundant: f64,
    /// Their sum.
    pub total: f64,
}

/// Address translation.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct TlbDocument {
    /// Distinct pages of a wave.
    pub pages_per_wave: f64,
    /// Distinct pages of a block.
    pub pages_per_block: f64,
}

/// One field, bytes per work item.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct FieldDocument {
    /// Loads from L2.
    pub l2_load: f64,
    /// Stores to L2.
    pub l2_store: f64,
    /// Loads from memory.
    pub dram_load: f64,
    /// Stores to memory.
    pub dram_store: f64,
}
