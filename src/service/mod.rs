//! Requests of programs: JSON in, JSON out. `serve`, the C interface and the Python package ask here.
//!
//! ```
//! use wavecast::service::Session;
//!
//! let session = Session::new(None);
//! let answer = session.ask(r#"{"id": 1, "op": "predict", "device": "a100", "kernel": {
//!     "wavecast": 1, "kernel": "copy", "fields": {"a": {"dtype": "f64", "size": 1024}, "b": {"like": "a"}},
//!     "domain": {"x": 1024}, "loads": ["a[x]"], "stores": ["b[x]"]}}"#);
//! assert!(answer.starts_with(r#"{"id":1,"ok":true,"result":{"schema":"wavecast/prediction/1""#));
//! ```

mod answer;
mod given;
mod id;
mod job;
mod lines;
mod lock;
mod queue;
mod request;
mod schema;
mod serve;
mod session;

pub use answer::{Answer, Cancellation, Definition, Document, Documents};
pub use given::{Given, ShapeList, Texts, WholeNumbers};
pub use id::Id;
pub use request::{Op, Options, Request};
pub use schema::{SCHEMAS, schema};
pub use serve::{Ending, Serving, serve};
pub use session::Session;
