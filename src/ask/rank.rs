//! `rank`: all launches, best first.

use super::asker::fault;
use super::predictor::Predictor;
use super::question::{Pieces, Question, Replies, Reply};
use super::source::KernelsRead;
use super::tie::Tie;
use crate::launch::Shapes;
use crate::predict::{Choice, rank};
use crate::report::{RankingDocument, ranking_document};
use crate::space::Block;

/// Which launches of a kernel are fast? The variants of a document compete.
#[derive(Debug, Clone, Default)]
pub struct Rank {
    /// Launches to consider instead of those of the documents.
    pub shapes: Shapes,
    /// Rates that the model cannot tell apart.
    pub tie: Tie,
    /// How many are answered with; all of them by default.
    pub top: Option<usize>,
}

impl Question for Rank {
    type Answer = RankingDocument;

    fn blocks(&self) -> Vec<Block> {
        self.shapes.blocks.clone()
    }

    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, pieces: &Pieces) -> Replies<Self::Answer> {
        let kernels = &*kernels.covering(|kernel| self.shapes.blocks(kernel))?;
        let mut replies = Vec::new();
        for of_document in kernels.documents() {
            let mut choices = Vec::new();
            for (kernel, of) in of_document.iter().enumerate() {
                if let Some(message) = self.shapes.too_long(of) {
                    let help = "give fewer or smaller folds at a time";
                    return Err(fault("too-many-folds", message, Some(help)));
                }
                let candidates = self.shapes.candidates(of);
                choices.extend(candidates.into_iter().map(|candidate| Choice { kernel, candidate }));
            }
            pieces.begin(choices.len());
            let estimators: Vec<_> = of_document.iter().map(|k| on.estimator(k)).collect();
            let (tie, most) = (self.tie.share(), self.top.unwrap_or(usize::MAX));
            let ranking = rank(&estimators, &choices, tie, most, &pieces.done);
            let warnings = on.warnings(of_document, kernels.sources());
            replies.extend(ranking_document(&estimators, ranking, tie, warnings).map(Reply::found));
        }
        Ok(replies)
    }
}
