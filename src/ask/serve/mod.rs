//! Questions of programs: JSON in, JSON out.

mod answer;
mod given;
mod id;
mod job;
mod lines;
mod lock;
mod queue;
mod request;
mod schema;
mod server;
mod session;

pub use answer::{AnswerLine, Cancellation, Definition, Document, Documents};
pub use given::{Assignments, ShapeList, Texts, WholeNumbers};
pub use id::Id;
pub use request::{Operation, RequestLine, RequestOptions};
pub use schema::{SCHEMAS, schema};
pub use server::{Ending, Serving, serve};
pub use session::Session;
