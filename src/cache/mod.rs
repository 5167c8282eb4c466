//! Simulated caches: those of Crawford's thesis (section 6, "C"), and the hierarchy of two levels that stands
//! beside the analytic model. They read what `trace` makes.

mod array;
pub mod experiment;
mod hierarchy;
mod hot;
mod ideal;
mod level;
mod replacement;
mod simulate;
mod statistics;

pub use array::{CacheLookup, CacheShape, SectoredCache, WritePolicy};
pub use hierarchy::{Hierarchy, HierarchyConfig, LevelVolumes, Waiting};
pub use hot::{HotInstruction, HotLine, HotSpots, MissCounts};
pub use ideal::{CacheKind, Ideal};
pub use replacement::Replacement;
pub use simulate::{Filter, ReadVisit, SimulationConfig, Window, simulate, simulate_order};
pub use statistics::{Classifier, SeedRun, SeedRuns, Statistics};
