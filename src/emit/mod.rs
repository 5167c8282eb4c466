//! Benchmark programs generated from kernel documents: a kernel that does exactly the described loads and
//! stores, and a host part that runs every candidate, checks results against a loop on the processor, and
//! prints measurements in the format of `docs/measurements.md`.
//!
//! ```
//! use wavecast::emit::{Language, Settings, emit};
//! let text = "
//! wavecast: 1
//! kernel: copy
//! fields: {a: {dtype: f64, size: 1024}, b: {like: a}}
//! domain: {x: 1024}
//! loads: ['a[x]']
//! stores: ['b[x]']
//! launch: {block: [[128]]}
//! ";
//! let kernel = wavecast::kernel::load("copy.yaml", text, &Default::default()).unwrap().kernels.remove(0);
//! let candidates: Vec<_> = wavecast::launch::candidates(&kernel).collect();
//! let program = emit(&kernel, &candidates, &Settings::new(Language::Cuda)).unwrap();
//! assert!(program.contains("sum0 += a[tidx];"));
//! ```

mod device;
mod element;
mod expression;
mod functions;
mod host;
mod language;
mod magnitude;
mod plan;
mod program;
mod reference;
mod refuse;
mod registers;
mod statements;
mod text;
mod words;

pub use language::Language;
pub use program::{Settings, emit, file_name};
pub use refuse::Unemitted;
pub use registers::registers_of;
