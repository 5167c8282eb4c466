//! What pointer chases tell of caches.

mod device;
mod document;
mod text;

pub use device::{ProbedLevel, device_keys, fragment};
pub use document::{DeviceKey, ProbeDocument, probe_document};
