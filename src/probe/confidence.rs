//! How sure a finding is, and what it rests on.

use crate::named::named;
use serde::Serialize;

named! {
    /// How sure a finding is.
    #[cfg_attr(test, schemars(rename = "Confidence"))]
    pub enum FindingConfidence {
        /// The logs do not say.
        Open = "open",
        /// One reading of several.
        Low = "low",
        /// The likely reading; something was not checked.
        Medium = "medium",
        /// Every check that the logs allow agrees.
        High = "high",
    }
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "FindingDocument"))]
pub struct Finding<T> {
    /// What; null if it is open.
    pub value: Option<T>,
    /// How sure.
    pub confidence: FindingConfidence,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// Further runs that would settle what is open: n and s in elements.
    pub next: Vec<String>,
}

impl<T> Finding<T> {
    /// A finding with what it rests on.
    pub fn new(value: T, confidence: FindingConfidence, evidence: impl Into<String>) -> Self {
        Self { value: Some(value), confidence, evidence: vec![evidence.into()], next: Vec::new() }
    }

    /// Nothing, with why.
    pub fn open(why: impl Into<String>) -> Self {
        Self {
            value: None,
            confidence: FindingConfidence::Open,
            evidence: vec![why.into()],
            next: Vec::new(),
        }
    }

    /// The same of what its value stands for.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> Finding<U> {
        let Self { value, confidence, evidence, next } = self;
        Finding { value: value.map(to), confidence, evidence, next }
    }

    /// Adds what would settle it.
    #[must_use]
    pub fn next(mut self, run: impl Into<String>) -> Self {
        self.next.push(run.into());
        self
    }

    /// Adds something it rests on.
    pub fn because(&mut self, why: impl Into<String>) {
        self.evidence.push(why.into());
    }

    /// Is no surer than this.
    pub fn at_most(&mut self, most: FindingConfidence) {
        self.confidence = self.confidence.min(most);
    }
}
