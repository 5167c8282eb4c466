//! The one front end: questions about kernels, asked as values and answered as documents. The command line, `serve`,
//! the C interface and the Python package ask here.
//!
//! ```
//! use wavecast::ask::{DeviceSource, KernelSource, Pieces, Predictor, Question, Rank};
//!
//! let text = "{wavecast: 1, kernel: copy, fields: {a: {dtype: f64, size: 1024}, b: {like: a}},
//!              domain: {x: 1024}, loads: ['a[x]'], stores: ['b[x]']}";
//! let kernels = KernelSource::new("copy.yaml", text).read()?;
//! let predictor = Predictor::new(DeviceSource::named("a100"))?;
//! let answers = Rank::default().answer(&kernels, &predictor, &Pieces::default())?;
//! assert_eq!(answers[0].answer().unwrap().results[0].rank, 1);
//! # Ok::<(), wavecast::text::Fault>(())
//! ```

mod asker;
mod check;
mod code;
#[cfg(feature = "fit")]
mod compare;
mod entry;
#[cfg(feature = "explain")]
mod explain;
#[cfg(feature = "explain")]
mod explained;
mod hold;
mod launches;
mod limits;
mod predict;
mod predictor;
mod question;
mod rank;
mod registers;
#[cfg(feature = "serve")]
mod serve;
mod source;
#[cfg(feature = "explain")]
mod sweep;
mod tie;
mod touches;

pub use asker::Asker;
pub use check::Inspect;
#[cfg(feature = "fit")]
pub use compare::Compare;
pub use entry::{EntryGrid, EntrySource};
#[cfg(feature = "explain")]
pub use explain::Explain;
#[cfg(feature = "explain")]
pub use explained::RankExplained;
pub use hold::hold;
pub use launches::OneLaunch;
pub use limits::limits;
pub use predict::Predict;
pub use predictor::{ModelOptions, Predictor, counter};
pub use question::{Pieces, Question, Replies, Reply};
pub use rank::{Rank, RankAll, RankingAnswer};
pub use registers::{AskAssembler, Assembling, CodeRegisters};
#[cfg(feature = "serve")]
pub use serve::{
    AnswerLine, Assignments, Batch, Batched, Cancellation, Definition, Document, Documents, Ending, Id,
    NotBatched, Operation, RequestLine, RequestOptions, SCHEMAS, Serving, Session, ShapeList, Texts,
    WholeNumbers, batch, schema, serve,
};
#[cfg(feature = "http")]
pub use serve::{HttpServing, ServedText, serve_http, wake};
pub use source::{DeviceSource, KernelSource, KernelsRead, PtxSource};
#[cfg(feature = "explain")]
pub use sweep::Sweep;
pub use tie::Tie;
pub use touches::{Spot, Touches};
