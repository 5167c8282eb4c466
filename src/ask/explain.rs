//! `explain`: why a launch is as fast as it is.

use super::launches::OneLaunch;
use super::predictor::Predictor;
use super::question::{Pieces, Question, Replies, Reply};
use super::source::KernelsRead;
use crate::kernel::Kernel;
use crate::launch::candidates;
use crate::predict::{Choice, explain};
use crate::report::{ExplanationDocument, explanation_document};
use crate::space::Block;

/// Why is one launch of each kernel as fast as it is, and what would help?
#[derive(Debug, Clone, Default)]
pub struct Explain {
    /// The launch.
    pub launch: OneLaunch,
    /// Compare only with launches that are one step away, not with all of the document.
    pub near: bool,
}

impl Question for Explain {
    type Answer = ExplanationDocument;

    fn blocks(&self) -> Vec<Block> {
        self.launch.block.into_iter().collect()
    }

    /// All variants are compared, whichever is explained.
    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, pieces: &Pieces) -> Replies<Self::Answer> {
        let kernels = &*kernels.covering(|kernel| vec![self.launch.chosen(kernel).candidate.block()])?;
        let mut wanted = kernels.all.positions(&kernels.source.variants)?.into_iter().peekable();
        let (mut replies, mut before) = (Vec::new(), 0);
        for of_document in kernels.all.kernels.chunk_by(|a, b| a.document == b.document) {
            let after = before + of_document.len();
            while let Some(position) = wanted.next_if(|&p| p < after) {
                let kernel = &of_document[position - before];
                // Code that was read for each block apart has one kernel that says something of this one.
                if self.launch.meant(of_document).any(|k| std::ptr::eq(k, kernel)) {
                    replies.push(self.one(of_document, position - before, kernels, on, pieces));
                }
            }
            before = after;
        }
        Ok(replies)
    }
}

impl Explain {
    /// Explains the launch of one of the variants of a document.
    fn one(
        &self,
        of_document: &[Kernel],
        position: usize,
        kernels: &KernelsRead,
        on: &Predictor<'_>,
        pieces: &Pieces,
    ) -> Reply<ExplanationDocument> {
        let kernel = &of_document[position];
        let estimators: Vec<_> = of_document.iter().map(|k| on.estimator(k)).collect();
        let chosen = self.launch.chosen(kernel);
        let choice = Choice { kernel: position, candidate: chosen.candidate };
        let mut others = Vec::new();
        if !self.near {
            let of = |(kernel, k)| candidates(k).map(move |candidate| Choice { kernel, candidate });
            others.extend(of_document.iter().enumerate().flat_map(of));
        }
        pieces.begin(others.len());
        match explain(&estimators, choice, &others, &pieces.done) {
            Ok(found) => {
                let warnings = on.warnings(std::slice::from_ref(kernel), kernels.sources());
                Reply::found(explanation_document(&estimators, position, &found, &chosen, warnings))
            }
            Err(why) => Reply::no_prediction(kernel, chosen.candidate, &why),
        }
    }
}
