//! The ground under everything that a user writes: texts with positions, the tree that YAML and
//! JSON parse to, decoding of that tree into types, and the errors found on the way.
//!
//! Every value remembers the span it came from, so that a later room can say where a fault lies.

mod bounds;
mod characters;
mod csv;
mod decode;
mod diagnostic;
mod everyday;
mod files;
mod json;
mod keys;
mod kind;
mod node;
mod source;
mod stream;
mod suggest;
mod tree;
mod word;
mod yaml;

pub use bounds::Bounds;
pub use csv::csv_cell;
pub use decode::{Decode, Decoder, Named, Spanned};
pub use diagnostic::{Diagnostic, Fault, Location, Severity};
pub use files::{read_limited, read_regular};
pub use node::{Entry, Mapping, Node, Scalar, Value};
pub use source::{FileId, NamedText, Origin, Sources, Span};
pub use stream::parse_stream;
pub use suggest::nearest;
pub use tree::from_tree;
pub use word::Word;

pub(crate) use decode::{key_name, record, shorten, some_of};
pub(crate) use kind::of_another_kind;
