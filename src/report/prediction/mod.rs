//! Predictions as documents for programs: `wavecast/ranking/1` and `wavecast/prediction/1`.

mod build;
mod document;

pub use build::{head, prediction_document, ranking_document, result_document};
pub use document::{
    Head, KernelHead, MemoryLoad, ModelSummary, PredictionDocument, RankedResult, RankingDocument,
    RejectedConfig, ResultDocument,
};
