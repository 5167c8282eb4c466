//! `predict`: everything about one launch.

use super::launches::OneLaunch;
use super::predictor::Predictor;
use super::question::{Pieces, Question, Replies, Reply};
use super::source::KernelsRead;
use crate::report::{PredictionDocument, prediction_document};
use crate::space::Block;

/// What does one launch of each kernel do?
#[derive(Debug, Clone, Default)]
pub struct Predict {
    /// The launch.
    pub launch: OneLaunch,
}

impl Question for Predict {
    type Answer = PredictionDocument;

    fn blocks(&self) -> Vec<Block> {
        self.launch.block.into_iter().collect()
    }

    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, _: &Pieces) -> Replies<Self::Answer> {
        let kernels = &*kernels.covering(|kernel| vec![self.launch.chosen(kernel).candidate.block()])?;
        let one = |kernel| {
            let estimator = on.estimator(kernel);
            let chosen = self.launch.chosen(kernel);
            match estimator.predict(chosen.candidate) {
                Ok(found) => {
                    let warnings = on.warnings(std::slice::from_ref(kernel), kernels.sources());
                    Reply::found(prediction_document(&estimator, &found, &chosen, warnings))
                }
                Err(why) => Reply::no_prediction(kernel, chosen.candidate, &why),
            }
        };
        Ok(self.launch.meant(kernels.kernels()).map(one).collect())
    }
}
