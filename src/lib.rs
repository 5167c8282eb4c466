//! Wavecast predicts, in microseconds and without a GPU, what a GPU kernel does to the memory
//! hierarchy, for every thread-block configuration it could be launched with.
//!
//! A kernel is described in YAML or JSON (`docs/kernels.md`), a device is one of those that come with Wavecast or
//! a file of your own. An [`Estimator`] of both predicts single launches and ranks many.
//!
//! Rank all launches that a description names:
//!
//! ```
//! use wavecast::predict::{Choice, rank};
//! use wavecast::{Estimator, device, kernel, launch};
//!
//! let text = "{wavecast: 1, kernel: copy, fields: {a: {dtype: f64, shape: [4096, 4096]}, b: {like: a}},
//!              domain: {x: 4096, y: 4096}, loads: ['a[x, y]'], stores: ['b[x, y]'],
//!              launch: {block: {x: 1..256, y: 1..16}, registers: 32}}";
//! let kernel = kernel::load("copy.yaml", text, &kernel::Options::default())?.kernels.remove(0);
//! let a100 = device::find("a100", &[])?;
//! let estimator = Estimator::new(&kernel, &a100);
//! let choices: Vec<Choice> =
//!     launch::candidates(&kernel).map(|candidate| Choice { kernel: 0, candidate }).collect();
//! let ranking = rank(&[estimator], &choices, 0.04, 5, &Default::default());
//! let best = &ranking.results()[0];
//! println!("{:?}: {:.1} GLUP/s", best.prediction.launch.candidate().block(), best.prediction.rate() / 1e9);
//! # assert_eq!(ranking.results().len(), 5);
//! # Ok::<(), wavecast::text::Fault>(())
//! ```
//!
//! Predict one launch, and see what limits it:
//!
//! ```
//! use wavecast::{Candidate, Estimator, device, kernel};
//!
//! # let text = "{wavecast: 1, kernel: copy, fields: {a: {dtype: f64, shape: [4096, 4096]}, b: {like: a}},
//! #              domain: {x: 4096, y: 4096}, loads: ['a[x, y]'], stores: ['b[x, y]']}";
//! let kernel = kernel::load("copy.yaml", text, &kernel::Options::default())?.kernels.remove(0);
//! let v100 = device::find("v100", &[])?;
//! let found = Estimator::new(&kernel, &v100).predict(Candidate::new([256, 1, 1], [1, 1, 1])?)?;
//! println!("{:.1} us, limited by {}", 1e6 * found.time.seconds, found.time.limiter.word());
//! println!("{:.2} bytes from memory for each work item", found.volumes.dram.load.total);
//! # assert_eq!(found.time.limiter.word(), "dram");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A device of one's own is one that is known, with other numbers; or a file ([`device::read`] reads its text):
//!
//! ```
//! use wavecast::device;
//!
//! let wide = device::find("a100", &["l2.effective=80MiB".to_owned(), "dram.bandwidth=3 TB/s".to_owned()])?;
//! assert_eq!(wide.dram().bandwidth().value().0, 3e12);
//! # Ok::<(), wavecast::text::Fault>(())
//! ```
//!
//! The feature `cli` (a default) adds the command line, `ask` questions that are answered with documents ([`ask`], [`report`]),
//! `explain` explanations and series, `serve` requests in JSON, `ptx` compiled kernels ([`ptx`]), `emit` benchmark programs,
//! `fit` (a default) measurements and fitting ([`measure`]), `trace` the models that read traces ([`trace`], [`cache`],
//! [`probe`]), `isl` (a default) the polyhedral engine. Without any of them, with `default-features = false`, the model is
//! complete and builds in half a minute.

// What rooms share may have its only caller in a room that is left out.
#![cfg_attr(not(all(feature = "cli", feature = "fit")), allow(dead_code, unused_imports))]

#[cfg(feature = "ask")]
pub mod ask;
#[cfg(feature = "trace")]
pub mod cache;
#[cfg(feature = "cli")]
pub mod cli;
pub mod curve;
pub mod device;
pub mod effort;
#[cfg(feature = "emit")]
pub mod emit;
pub mod expr;
pub mod footprint;
pub mod kernel;
pub mod launch;
#[cfg(feature = "fit")]
pub mod measure;
mod named;
pub mod parallel;
pub mod predict;
#[cfg(feature = "trace")]
pub mod probe;
#[cfg(feature = "ptx")]
pub mod ptx;
pub mod quantity;
mod random;
mod readable;
mod recent;
#[cfg(feature = "ask")]
pub mod report;
mod sorting;
pub mod space;
#[cfg(feature = "explain")]
pub mod sweep;
pub mod text;
#[cfg(feature = "trace")]
pub mod trace;
pub mod traffic;

pub use device::Device;
pub use kernel::Kernel;
pub use launch::{Candidate, Launch};
pub use predict::{Estimator, Prediction, Ranking};
