//! Predictions as documents for programs, `wavecast/ranking/1` and `wavecast/prediction/1`, and for people.

mod build;
mod choice;
mod confidence;
mod document;
mod gaps;
mod long;
mod text;
mod warnings;

pub use build::{head, prediction_document, ranking_document, result_document};
pub use choice::ChoiceDocument;
pub use confidence::ConfidenceDocument;
pub use document::{
    DocumentLine, Head, ModelSummary, OfVariant, PredictionDocument, RankedResult, RankingDocument,
    ResultDocument,
};
pub use long::LongRanking;
pub(super) use warnings::DOMAINS_DIFFER;
