//! What moves at each level of the memory hierarchy.

mod alignment;
mod caches;
mod common;
mod counts;
mod differing_waves;
mod far;
mod fields;
mod footprints;
mod in_l1;
mod kept;
pub mod l1;
mod memory;
mod of_launch;
mod overhead;
mod passes;
mod path;
mod phases;
mod places;
mod regions;
mod shared_cache;
mod sparse;
mod volumes;
mod wave_kinds;
mod waves;

pub use caches::Caches;
pub use counts::Counting;
pub use footprints::{FieldFootprint, Footprints, SmallArray, WaveKind};
pub use in_l1::l1_capacity;
pub use memory::{MemoryLoad, MemoryStore, MemoryVolumes};
pub use of_launch::footprints;
pub use overhead::Overhead;
pub use passes::{Again, Passes};
pub use path::ThreadPath;

pub(crate) use phases::phases;
pub use regions::{Region, WorkItems};
pub(crate) use sparse::PIECE;
pub use volumes::{
    FieldVolumes, L1Volumes, L2Load, L2Store, L2Volumes, Pressure, TlbVolumes, Volumes, volumes,
};
pub(crate) use volumes::{L2Requests, open_in_l1};
