//! Doing what a request asks for.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::answer::{Document, Documents};
use super::request::{Op, Options};
use crate::device::{self, Device};
use crate::footprint::Counter;
use crate::kernel::{Kernel, Loaded, Options as KernelOptions};
use crate::launch::{Chosen, Shapes};
use crate::predict::{Choice, Estimator, rank};
use crate::report::{ErrorDocument, Warning, check, kernels_warnings, prediction_document, ranking_document};
use crate::space::{Block, Fold};
use crate::traffic::Counting;

/// A text of kernels and how to read it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    /// What messages call it.
    pub name: &'static str,
    pub content: Arc<str>,
    pub options: KernelOptions,
}

impl Text {
    pub fn new(name: &'static str, text: String, options: &KernelOptions) -> Self {
        Self { name, content: text.into(), options: options.clone() }
    }
}

/// A request that needs no earlier one any more.
#[derive(Debug)]
pub(super) struct Job {
    pub op: Op,
    /// Of a definition.
    pub name: String,
    pub text: Text,
    /// Where the text was read already.
    pub loaded: Option<Arc<Loaded>>,
    pub device: Option<String>,
    pub options: Options,
}

impl Job {
    pub fn answer(&self, loaded: &Loaded, device: Option<&Device>) -> Result<Documents, ErrorDocument> {
        match (self.op, device) {
            (Op::Rank, Some(device)) => self.rank(loaded, device),
            (Op::Predict, Some(device)) => self.predict(loaded, device),
            _ => Ok(self.check(loaded, device)),
        }
    }

    fn check(&self, loaded: &Loaded, device: Option<&Device>) -> Documents {
        let one = |kernel: &Kernel| check(kernel, &loaded.sources, device, self.options.candidates);
        Documents::from_list(loaded.kernels.iter().map(|k| Document::Check(Box::new(one(k)))).collect())
    }

    fn predict(&self, loaded: &Loaded, device: &Device) -> Result<Documents, ErrorDocument> {
        let (block, fold) = (self.options.block.only("block")?, self.options.folds()?.only("fold")?);
        let mut documents = Vec::new();
        for kernel in &loaded.kernels {
            let estimator = self.estimator(kernel, device)?;
            let chosen = Chosen::new(kernel, block.map(Block::known), fold.map(Fold::known));
            let candidate = chosen.candidate;
            match estimator.predict(candidate) {
                Ok(found) => {
                    let warnings = self.warnings(std::slice::from_ref(kernel), loaded);
                    let document = prediction_document(&estimator, &found, &chosen, warnings);
                    documents.push(Document::Prediction(Box::new(document)));
                }
                Err(why) => {
                    let error = ErrorDocument::unpredicted(kernel, candidate, &why);
                    if loaded.kernels.len() == 1 {
                        return Err(error);
                    }
                    documents.push(Document::Error(error));
                }
            }
        }
        Ok(Documents::from_list(documents))
    }

    fn rank(&self, loaded: &Loaded, device: &Device) -> Result<Documents, ErrorDocument> {
        let tie = self.options.tie()?;
        let shapes = Shapes {
            blocks: self.options.block.all().iter().copied().map(Block::known).collect(),
            threads: self.options.threads.0.clone(),
            folds: self.options.folds()?.all().iter().copied().map(Fold::known).collect(),
        };
        let mut documents = Vec::new();
        for kernels in loaded.kernels.chunk_by(|a, b| a.document == b.document) {
            let estimators: Result<Vec<_>, _> = kernels.iter().map(|k| self.estimator(k, device)).collect();
            let estimators = estimators?;
            let mut choices = Vec::new();
            for (kernel, of) in kernels.iter().enumerate() {
                if let Some(message) = shapes.too_long(of) {
                    return Err(ErrorDocument::single("too-many-folds", message, None));
                }
                let candidates = shapes.candidates(of);
                choices.extend(candidates.into_iter().map(|candidate| Choice { kernel, candidate }));
            }
            let most = self.options.top.unwrap_or(usize::MAX);
            let ranking = rank(&estimators, &choices, tie, most, &AtomicUsize::new(0));
            let warnings = self.warnings(kernels, loaded);
            let document = ranking_document(&estimators, ranking, tie, warnings);
            documents.extend(document.map(|d| Document::Ranking(Box::new(d))));
        }
        Ok(Documents::from_list(documents))
    }

    fn estimator<'a>(&self, kernel: &'a Kernel, device: &'a Device) -> Result<Estimator<'a>, ErrorDocument> {
        let counter = self.options.engine()?.map_or_else(Counter::cheapest, Counter::forced);
        let counter = if self.options.verify { counter.verified() } else { counter };
        let counting = Counting { counter, addressing: self.options.addressing()? };
        let (model, caches) = (self.options.model()?, self.options.caches()?);
        Ok(Estimator { model, counting, caches, ..Estimator::new(kernel, device) })
    }

    fn warnings(&self, kernels: &[Kernel], loaded: &Loaded) -> Vec<Warning> {
        let mut all = kernels_warnings(kernels, &loaded.sources);
        if self.device.is_none() {
            let message = format!("no device given; {} assumed (choose one with `device`)", device::DEFAULT);
            all.push(Warning { code: "device-assumed", message, place: None });
        }
        all
    }
}
