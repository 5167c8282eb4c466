//! The address grammar (`grammar/expression.ebnf`): text to syntax tree, evaluation, and lowering to
//! exact quasi-affine forms over named coordinates.
//!
//! ```
//! use wavecast::expr::{Expr, parse_expression};
//! use wavecast::text::{FileId, Origin, Span};
//!
//! let text = "src + threadIdx.x + blockIdx.x*blockDim.x";
//! let origin = Origin::verbatim(Span::new(FileId(0), 0..text.len()));
//! let tree: Expr = parse_expression(text, origin).unwrap();
//! assert_eq!(tree.to_string(), "src + threadIdx.x + blockIdx.x*blockDim.x");
//! ```

mod ast;
mod brackets;
mod cond;
mod eval;
mod form;
mod fraction;
mod halving;
mod lower;
mod parse;
mod parted;
mod points;
mod print;
mod range;
mod remainder;
mod scale;
mod show;
mod syntax;
mod threads;

pub use ast::{Builtin, Dim, Expr, Func, Kind, Op, Range};
pub use cond::Cond;
pub use eval::{Environment, evaluate, evaluate_condition};
pub(crate) use form::PartedForm;
pub(crate) use form::{Alike, Clamped, SharedTerms};
pub use form::{Coefficient, Coord, Excess, Form, LookupTable, LoopId, Term};
pub use fraction::{Fraction, lower_fraction};
pub use lower::{Binding, Scope, lower, lower_condition};
pub use parse::{parse_expression, parse_range};
pub(crate) use parted::PartedCond;
pub(crate) use range::append_range;
pub use range::expand_range;
pub(crate) use remainder::split as split_remainders;
pub use scale::{LaunchAtom, LaunchSizes, Scale};
pub use show::{Names, Show};
