//! Whole sets of measurements: a table as a tuner wrote it, and a file that says what its columns mean.

mod condition;
mod config;
mod document;
mod formula;
mod plan;
mod predict;
mod read;
mod row;
mod sample;
mod score;
mod set;
mod table;

pub use condition::Test as CellTest;
pub use document::{
    BorrowDocument, CellFormula, ClockDocument, ColumnChoice, EachDocument, FurtherColumn, LaunchColumns,
    Many, NameOrColumn, SampleDocument, SetDocument, UnknownClock,
};
pub use predict::{
    PredictedCase, PredictedSet, RejectedConfiguration, SetGroup, groups, predicted, summaries,
};
pub use read::{SampleOptions, SetFile};
pub use score::{ChoiceScore, ClockFactors, ErrorScore, NoiseScore, SetScore};
pub use set::{MeasuredSet, Problem, ScopeKind, SetCase, SetFacts, SetLaunch, SetScope};
