//! What all questions have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;

use super::predictor::Predictor;
use super::source::KernelsRead;
use crate::kernel::Kernel;
use crate::launch::Candidate;
use crate::predict::Unpredicted;
use crate::report::{Answer, ErrorDocument};
use crate::space::Block;
use crate::text::Fault;

/// A question about the launches of kernels.
pub trait Question {
    /// What it is answered with.
    type Answer: Answer;

    /// Blocks that it names: compiled code is read for them where its document names none.
    fn blocks(&self) -> Vec<Block> {
        Vec::new()
    }

    /// The answers about the kernels that are meant, one after the other. `pieces` tells others how far it is.
    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, pieces: &Pieces) -> Replies<Self::Answer>;
}

impl<Q: Question> Question for &Q {
    type Answer = Q::Answer;

    fn blocks(&self) -> Vec<Block> {
        Q::blocks(self)
    }

    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, pieces: &Pieces) -> Replies<Self::Answer> {
        Q::answer(self, kernels, on, pieces)
    }
}

/// What came of a question about kernels.
pub type Replies<A> = Result<Vec<Reply<A>>, Fault>;

/// What came of a question about one kernel.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Reply<A> {
    /// The answer.
    Found(Box<A>),
    /// Why there is none.
    Error(ErrorDocument),
}

impl<A> Reply<A> {
    pub(super) fn found(answer: A) -> Self {
        Reply::Found(Box::new(answer))
    }

    /// Why a launch has no prediction.
    pub(super) fn no_prediction(kernel: &Kernel, candidate: Candidate, why: &Unpredicted) -> Self {
        Reply::Error(ErrorDocument::unpredicted(kernel, candidate, why))
    }

    /// The answer, if there is one.
    pub fn answer(&self) -> Option<&A> {
        match self {
            Reply::Found(answer) => Some(answer),
            Reply::Error(_) => None,
        }
    }

    /// The same, to be changed.
    pub fn answer_mut(&mut self) -> Option<&mut A> {
        match self {
            Reply::Found(answer) => Some(answer),
            Reply::Error(_) => None,
        }
    }
}

/// How far an answer is, for whoever watches from another thread: launches or points of the document that is being
/// worked on.
#[derive(Debug, Default)]
pub struct Pieces {
    /// Those that are finished.
    pub done: AtomicUsize,
    /// All of them.
    pub all: AtomicUsize,
    /// Once this is true, a ranking begins no more launches, and is one of those that are finished.
    pub end: Arc<AtomicBool>,
}

impl Pieces {
    /// The next document has so many.
    pub(super) fn begin(&self, all: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
    }
}
