//! Cache simulation (C 6), and a hierarchy of two levels.

mod array;
mod hierarchy;
mod ideal;
mod replacement;
mod simulate;
mod statistics;

pub use array::{Cache, CacheShape, Found, WritePolicy};
pub use hierarchy::{Hierarchy, HierarchyConfig, LevelVolumes};
pub use ideal::{Ideal, Kind as CacheKind};
pub use replacement::Replacement;
pub use simulate::{Filter, SimulationConfig, Visit, Window, simulate, simulate_order};
pub use statistics::{Classifier, Statistics};
