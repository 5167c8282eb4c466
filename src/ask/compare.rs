//! `compare`: the model beside a simulation of both caches.

use super::launches::few;
use super::predictor::Predictor;
use super::question::{Pieces, Question, Replies, Reply};
use super::source::KernelsRead;
use crate::launch::Shapes;
use crate::measure::{CompareOptions, compare};
use crate::report::ErrorDocument;
use crate::report::trace::{ComparisonDocument, comparison_document};
use crate::space::Block;

/// How far is the model from a simulation?
#[derive(Debug, Clone, Default)]
pub struct Compare {
    /// The launches that are simulated. A simulation takes seconds: without a block, only the first of a document.
    pub shapes: Shapes,
    /// How they are simulated.
    pub simulation: CompareOptions,
}

impl Question for Compare {
    type Answer = ComparisonDocument;

    fn blocks(&self) -> Vec<Block> {
        self.shapes.blocks.clone()
    }

    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, _: &Pieces) -> Replies<Self::Answer> {
        let kernels = &*kernels
            .covering(|kernel| few(&self.shapes, kernel).iter().map(|c| c.candidate.block()).collect())?;
        let mut replies = Vec::new();
        for kernel in kernels.kernels() {
            let estimator = on.estimator(kernel);
            let warnings = on.warnings(std::slice::from_ref(kernel), kernels.sources());
            for chosen in few(&self.shapes, kernel) {
                let candidate = chosen.candidate;
                replies.push(match compare(&estimator, candidate, self.simulation) {
                    Ok(found) => {
                        Reply::found(comparison_document(&estimator, found, &chosen, warnings.clone()))
                    }
                    Err(why) => {
                        let message = format!("{}: {candidate:?} cannot be compared: {why}", kernel.name);
                        Reply::Error(ErrorDocument::single("not-comparable", message, None))
                    }
                });
            }
        }
        Ok(replies)
    }
}
