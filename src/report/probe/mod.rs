//! What pointer chases tell of caches.

mod device;
mod document;
mod text;

pub use device::{DeviceKey, Place, device_keys, fragment};
pub use document::{ProbeDocument, probe_document};
pub use text::{probe_table, probe_text};
