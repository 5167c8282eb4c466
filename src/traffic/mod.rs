//! What moves at each level of the memory hierarchy.

mod footprints;
pub mod l1;
mod memory;
mod places;
mod volumes;

pub use footprints::{Counting, FieldFootprint, Footprints, footprints};
pub use volumes::{
    FieldVolumes, L1Volumes, L2Volumes, MemoryVolumes, Pressure, Volumes, l1_capacity, volumes,
};
