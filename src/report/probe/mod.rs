//! What pointer chases tell of caches.

mod device;
mod document;
mod text;

pub use device::{ProbedLevel, fragment};
pub use document::ProbeDocument;
