//! Doing what a request asks for.

use std::sync::Arc;

use memchr::memmem;

use super::super::check::Inspect;
use super::super::explain::Explain;
use super::super::predict::Predict;
use super::super::predictor::{ModelOptions, Predictor};
use super::super::question::{Pieces, Question};
use super::super::rank::Rank;
use super::super::source::{KernelSource, KernelsRead};
use super::super::sweep::Sweep;
use super::answer::{Definition, Document, Documents};
use crate::device::{self, Device, RunClock};
use crate::footprint::Counter;
use crate::kernel::{Kernel, Loaded};
use crate::report::{DevicesDocument, ErrorDocument};

/// A question about kernels.
#[derive(Debug)]
pub(super) enum Asked {
    /// What is there? They are remembered under this name.
    Define(String),
    Devices,
    Check(Inspect),
    Predict(Predict),
    Rank(Rank),
    Explain(Explain),
    Sweep(Sweep),
}

impl Asked {
    /// Whether it may take so long that others should not wait for it.
    pub fn is_long(&self) -> bool {
        matches!(self, Asked::Rank(_) | Asked::Explain(_) | Asked::Sweep(_))
    }
}

/// A request that needs no earlier one any more.
#[derive(Debug)]
pub(super) struct Job {
    pub asked: Asked,
    pub source: KernelSource,
    /// Where the text was read already.
    pub loaded: Option<Arc<Loaded>>,
    pub device: Option<String>,
    /// That of a device file that came with the request.
    pub device_text: Option<Arc<str>>,
    pub device_set: Vec<String>,
    pub clock: Option<RunClock>,
    pub model: ModelOptions<'static>,
}

impl Job {
    /// Whether it mostly takes some microseconds, and looks all the time whether it is to end where it takes long.
    pub fn is_brief(&self) -> bool {
        let Self { asked, source, model, .. } = self;
        let may_have_code = source.ptx.is_some() || has_key(&source.text, "ptx");
        matches!(asked, Asked::Predict(_)) && model.counting.counter == Counter::cheapest() && !may_have_code
    }

    /// Whether there is a device that somebody chose.
    pub fn names_device(&self) -> bool {
        self.device.is_some() || self.device_text.is_some()
    }

    /// The devices that are known, or the one that was named.
    pub fn devices(
        &self,
        predictor: impl FnOnce() -> Result<Predictor<'static>, ErrorDocument>,
    ) -> Result<Documents, ErrorDocument> {
        let document = if self.names_device() {
            DevicesDocument::one(predictor()?.device())
        } else {
            let known: Vec<Device> = device::ids().filter_map(|id| device::find(id, &[]).ok()).collect();
            DevicesDocument::list(&known)
        };
        Ok(Documents::from_list(vec![Document::Devices(document)]))
    }

    /// What is answered; `predictor` gives the one that the request needs.
    pub fn answer(
        &self,
        kernels: &KernelsRead,
        predictor: impl FnOnce() -> Result<Predictor<'static>, ErrorDocument>,
    ) -> Result<Documents, ErrorDocument> {
        match &self.asked {
            Asked::Devices => self.devices(predictor),
            Asked::Define(name) => Ok(definition(name, kernels.kernels())),
            Asked::Check(question) => {
                let predictor = self.names_device().then(predictor).transpose()?;
                let device: Option<&Device> = predictor.as_ref().map(Predictor::device);
                let found = question.answer(kernels, device)?;
                Ok(Documents::from_list(found.into_iter().map(|c| Document::Check(Box::new(c))).collect()))
            }
            Asked::Predict(question) => answered(question, kernels, &predictor()?, Document::Prediction),
            Asked::Rank(question) => answered(question, kernels, &predictor()?, Document::Ranking),
            Asked::Explain(question) => answered(question, kernels, &predictor()?, Document::Explanation),
            Asked::Sweep(question) => answered(question, kernels, &predictor()?, Document::Sweep),
        }
    }
}

/// Whether a document may have a key of this name; a look at its letters, not at what they mean.
fn has_key(text: &str, key: &str) -> bool {
    memmem::find_iter(text.as_bytes(), key).any(|at| {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        rest.starts_with(':')
    })
}

fn answered<Q: Question>(
    question: &Q,
    kernels: &KernelsRead,
    on: &Predictor<'_>,
    document: fn(Box<Q::Answer>) -> Document,
) -> Result<Documents, ErrorDocument> {
    Documents::from_replies(question.answer(kernels, on, &Pieces::default())?, document)
}

fn definition(name: &str, kernels: &[Kernel]) -> Documents {
    let title = |k: &Kernel| match &k.variant {
        Some(variant) => format!("{} ({variant})", k.name),
        None => k.name.clone(),
    };
    let (name, kernels) = (name.to_owned(), kernels.iter().map(title).collect());
    let definition = Definition { schema: "wavecast/definition/1", name, kernels };
    Documents::from_list(vec![Document::Definition(definition)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_however_they_are_written() {
        for text in [
            "code: {ptx: a.ptx}",
            r#"{"code": {"ptx" : "..."}}"#,
            "'ptx':",
            "? ptx\n: a.ptx",
            "ptxas, ptx: a",
        ] {
            assert!(has_key(text, "ptx"), "{text}");
        }
        for text in ["# Registers: ptxas for sm_80", r#"{"kernel": "ptx", "about": "a: b"}"#, "ptx", ""] {
            assert!(!has_key(text, "ptx"), "{text}");
        }
    }
}
