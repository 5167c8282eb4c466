//! Simulated caches: those of Crawford's thesis (section 6, "C"), and the hierarchy of two levels that stands
//! beside the analytic model. They read what `trace` makes.

mod array;
pub mod experiment;
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
