//! Device files: what a GPU is made of, every number with its unit and its source.
//!
//! ```
//! let device = wavecast::device::find("a100", &[]).unwrap();
//! assert_eq!(device.id(), "a100-40gb");
//! assert_eq!(device.sm().count().value().0, 108);
//! ```

mod clock;
mod declare;
mod document;
mod edit;
mod embedded;
mod names;
mod overrides;
mod quantity;
mod registry;
mod sense;
mod sourced;
#[cfg(feature = "cli")]
mod template;

pub use clock::{NotAClock, RunClock};
pub use document::{
    Architecture, Device, Dispatch, DispatchOrder, Dram, L1, L2, LastLevel, Rates, Rules, Sm, SourceKind,
    SourceText, Tlb, Vendor, unread,
};
pub use edit::{Change, edit};
pub(crate) use quantity::signed;
pub use quantity::{
    ByteCount, Count, CycleCount, Duration, Flag, Frequency, MostExtents, PerCycle, Quantity, Rate, Size,
    Steps,
};
pub use registry::{DEFAULT, find, ids, is_path, read};
pub use sourced::{DeviceNumber, Sourced};
#[cfg(feature = "cli")]
pub use template::template;
