//! What moves at each level of the memory hierarchy.

mod alignment;
mod caches;
mod fields;
mod footprints;
pub mod l1;
mod memory;
mod passes;
mod places;
mod regions;
mod volumes;
mod wave_kinds;
mod waves;

pub use caches::Caches;
pub use footprints::{Counting, FieldFootprint, Footprints, footprints};
pub use memory::MemoryVolumes;
pub use passes::{Again, Passes};
pub use regions::{Region, WorkItems};
pub use volumes::{FieldVolumes, L1Volumes, L2Volumes, Pressure, Volumes, l1_capacity, volumes};
pub use wave_kinds::WaveKind;
