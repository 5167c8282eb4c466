//! Where models and measurements meet: reading what was measured, holding predictions beside it or beside
//! simulations, and fitting curves to it.

pub mod compare;
mod confidence;
pub mod fit;
mod halves;
pub mod import;
mod join;
pub mod measurements;
mod parting;
mod records;
pub mod sets;
mod share;
mod validate;
mod waves;

pub use compare::{
    CompareOptions, ComparedQuantity, Comparison, TraceOfBlock, Uncompared, compare, compare_with, hierarchy,
    simulated,
};
pub use confidence::{Coverage, calibrated, coverage};
pub use halves::{Half, halve};
pub use join::{Case, Library, MeasuredGroup, RejectedCase, ValuePair, join};
pub use parting::{DifferenceTerm, UNEXPLAINED};
pub use records::{Record, Records, Unreadable};
pub use share::PercentShare;
pub use validate::{Errors, OrderScore, Score, Validation, WorstLaunch, order, validate};
