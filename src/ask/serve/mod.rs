//! Questions of programs: JSON in, JSON out.
//!
//! ```
//! use wavecast::ask::Session;
//!
//! let session = Session::new(None);
//! let answer = session.ask(r#"{"id": 1, "op": "predict", "device": "a100", "kernel": {
//!     "wavecast": 1, "kernel": "copy", "fields": {"a": {"dtype": "f64", "size": 1024}, "b": {"like": "a"}},
//!     "domain": {"x": 1024}, "loads": ["a[x]"], "stores": ["b[x]"]}}"#);
//! assert!(answer.starts_with(r#"{"id":1,"ok":true,"result":{"schema":"wavecast/prediction/1""#));
//! ```

mod answer;
mod batch;
mod given;
#[cfg(feature = "http")]
mod http;
mod id;
mod job;
mod lines;
mod lock;
mod queue;
mod request;
mod schema;
mod server;
mod session;
mod turns;

pub use answer::{AnswerLine, Cancellation, Definition, Document, Documents};
pub use batch::{Batch, Batched, NotBatched, batch};
pub use given::{Assignments, ShapeList, Texts, WholeNumbers};
#[cfg(feature = "http")]
pub use http::{HttpServing, ServedText, serve_http, wake};
pub use id::Id;
pub use request::{Operation, RequestLine, RequestOptions};
pub use schema::{SCHEMAS, schema};
pub use server::{Ending, Serving, serve};
pub use session::Session;
