//! What a program can ask.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::given::{Choice, Given, ShapeList, Texts, WholeNumbers};
use super::id::Id;
use crate::footprint::{Addressing, Engine};
use crate::kernel::{KernelDoc, Limits, MAX_FOLD, Options as KernelOptions};
use crate::predict::Model;
use crate::report::ErrorDocument;
use crate::traffic::Caches;

/// One request. The kernel is one of `kernel`, `kernel_text` and `kernel_ref`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Any JSON value that tells this request from others; the answer carries it.
    #[serde(default)]
    #[schemars(with = "Value")]
    pub id: Id,
    /// What to do.
    pub op: Op,
    /// `define`: how later requests refer to the kernel; by default the name in its document.
    #[serde(default)]
    pub name: Option<String>,
    /// The kernel as a document; a list of documents asks for each of them.
    #[serde(default)]
    #[schemars(with = "Option<KernelDocuments>")]
    pub kernel: Option<Box<RawValue>>,
    /// The kernel as the text of a YAML or JSON document.
    #[serde(default)]
    pub kernel_text: Option<String>,
    /// A name that an earlier request defined.
    #[serde(default)]
    pub kernel_ref: Option<String>,
    /// An id, an alias or a path of a device file; by default that of the server.
    #[serde(default)]
    pub device: Option<String>,
    /// `cancel`: the id of the request that is to end, written as it was there.
    #[serde(default)]
    #[schemars(with = "Value")]
    pub target: Id,
    /// The rest.
    #[serde(default, deserialize_with = "object")]
    pub options: Options,
}

/// What `kernel` may be; for the schema only, as the text is read with positions.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code)]
enum KernelDocuments {
    /// One document.
    One(Box<KernelDoc>),
    /// A list of documents.
    Several(Vec<KernelDoc>),
}

/// What to do with a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Remember it under a name.
    Define,
    /// Show what was understood.
    Check,
    /// Everything about one launch.
    Predict,
    /// All launches, best first.
    Rank,
    /// End an earlier request that is not answered yet.
    Cancel,
}

/// How to do it; each key as the option of the command line that has its name.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Parameters to override: a mapping, or a list of `NAME=VALUE`.
    pub set: Given,
    /// Only these variants of the kernel: a name or a list of names.
    pub variant: Texts,
    /// Numbers of the device to change, such as `l2.capacity`: a mapping, or a list of `PATH=VALUE`.
    pub device_set: Given,
    /// Limits that protect the tool: document-bytes, nodes, accesses, candidates, variants, steps.
    pub limit: Given,
    /// Thread blocks to consider: one shape or a list of shapes, a shape being up to three numbers.
    pub block: ShapeList,
    /// Work items per thread to consider, in the same way; at most 4096 along a dimension.
    pub fold: ShapeList,
    /// `rank`: all blocks of so many threads whose extents are powers of two: a number or a list.
    pub threads: WholeNumbers,
    /// `rank`: the best so many only.
    pub top: Option<usize>,
    /// `rank`: launches whose rates differ by less than this many percent share a tie group; by default 4.
    pub tie: Option<f64>,
    /// `default` or `roofline`.
    pub model: Option<String>,
    /// `linear` or `grid`.
    pub addressing: Option<String>,
    /// What the caches hold when a launch begins: `warm` or `cold`.
    pub caches: Option<String>,
    /// Count with this engine only.
    pub engine: Option<String>,
    /// Count with a second engine too.
    pub verify: bool,
    /// `check`: list every launch.
    pub candidates: bool,
}

impl Request {
    /// A request about the kernel of a text.
    pub fn of_text(op: Op, text: String, options: Options) -> Self {
        let (id, name, kernel, kernel_ref, device) = (Id::default(), None, None, None, None);
        let target = Id::default();
        Self { id, op, name, kernel, kernel_text: Some(text), kernel_ref, device, target, options }
    }

    /// A request about a kernel that was defined.
    pub fn of_defined(op: Op, name: String, device: Option<String>, options: Options) -> Self {
        let (id, kernel, target) = (Id::default(), None, Id::default());
        Self {
            id,
            op,
            name: None,
            kernel,
            kernel_text: None,
            kernel_ref: Some(name),
            device,
            target,
            options,
        }
    }

    /// Reads a request. A mistake keeps the id, where there is one.
    pub fn read(text: &str) -> Result<Self, (Id, ErrorDocument)> {
        // A list of values in the order of the keys would do for serde.
        let is_list = text.trim_start().starts_with('[');
        let read = if is_list {
            Err(serde_json::Error::custom("expected an object"))
        } else {
            serde_json::from_str(text)
        };
        read.map_err(|e| {
            let object: Option<BTreeMap<String, Box<RawValue>>> = serde_json::from_str(text).ok();
            let id = object.and_then(|mut o| o.remove("id")).map(Id::new).unwrap_or_default();
            (id, not_a_request(&e, serde_json::from_str::<IgnoredAny>(text).is_ok()))
        })
    }
}

impl Options {
    /// Reads the options alone.
    pub fn read(text: &str) -> Result<Self, ErrorDocument> {
        let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = object(&mut reader).and_then(|options| reader.end().map(|()| options));
        read.map_err(|e| not_a_request(&e, is_json()))
    }
}

/// Options by name: serde would take a list, too, as values in the order of the keys.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Options, D::Error> {
    struct Named;
    impl<'de> Visitor<'de> for Named {
        type Value = Options;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Options, A::Error> {
            Options::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_map(Named)
}

fn not_a_request(error: &serde_json::Error, is_json: bool) -> ErrorDocument {
    let text = error.to_string();
    // The line is the request's own: 1. What stands there is said by the column.
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    let (message, help) = if is_json {
        (format!("this is no request: {message}"), "`wavecast schema request` says what a request may hold")
    } else {
        (format!("this is not JSON: {message}"), "send one JSON object a line, as json.dumps writes it")
    };
    let mut document = ErrorDocument::single("request", message, Some(help.to_owned()));
    for entry in &mut document.errors {
        entry.file = Some("request".to_owned());
        // Errors that stand nowhere have line 0.
        entry.line = Some(error.line().max(1));
        entry.column = Some(error.column().max(1));
    }
    document
}

/// A value that an option cannot have.
fn wrong(option: &str, given: &str, help: &str) -> ErrorDocument {
    let message = format!("`options.{option}` cannot be `{}`", crate::text::shorten(given));
    ErrorDocument::single("request", message, Some(help.to_owned()))
}

impl Options {
    /// How kernels are read.
    pub(super) fn reading(&self) -> Result<KernelOptions, ErrorDocument> {
        let mut limits = Limits::default();
        for text in self.limit.texts() {
            let set = text
                .split_once('=')
                .and_then(|(name, value)| limits.set(name.trim(), value.trim().parse().ok()?).then_some(()));
            set.ok_or_else(|| wrong("limit", text, &format!("limits are {}", Limits::NAMES.join(", "))))?;
        }
        Ok(KernelOptions { set: self.set.texts().to_vec(), limits })
    }

    /// How time follows from volumes.
    pub(super) fn model(&self) -> Result<Model, ErrorDocument> {
        let known = [("default", Model::Default), ("roofline", Model::Roofline)];
        one_of("model", self.model.as_deref(), &known)
    }

    /// What counts as the same address.
    pub(super) fn addressing(&self) -> Result<Addressing, ErrorDocument> {
        let known = [("linear", Addressing::Linear), ("grid", Addressing::Grid)];
        one_of("addressing", self.addressing.as_deref(), &known)
    }

    /// What the caches hold when a launch begins.
    pub(super) fn caches(&self) -> Result<Caches, ErrorDocument> {
        one_of("caches", self.caches.as_deref(), &Caches::ALL.map(|c| (c.word(), c)))
    }

    /// What counts.
    pub(super) fn engine(&self) -> Result<Option<Engine>, ErrorDocument> {
        let Some(word) = self.engine.as_deref() else { return Ok(None) };
        let engine: Engine =
            word.parse().map_err(|_| wrong("engine", word, &Engine::ALL.map(Engine::word).join(", ")))?;
        if !engine.is_built() {
            let message = format!("this program was built without {word}");
            return Err(ErrorDocument::single("no-isl", message, Some("choose another engine".to_owned())));
        }
        Ok(Some(engine))
    }

    /// The folds that were asked for, none longer than a document may have.
    pub(super) fn folds(&self) -> Choice<&ShapeList> {
        self.fold.up_to(MAX_FOLD, "fold")
    }

    /// Rates that differ by less than this share are one tie group.
    pub(super) fn tie(&self) -> Result<f64, ErrorDocument> {
        match self.tie.unwrap_or(4.0) {
            percent if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
            other => Err(wrong("tie", &other.to_string(), "a number of percent from 0 to 100")),
        }
    }
}

fn one_of<T: Copy>(option: &str, word: Option<&str>, known: &[(&str, T)]) -> Choice<T> {
    let word = word.unwrap_or(known[0].0);
    let words: Vec<&str> = known.iter().map(|k| k.0).collect();
    let found = known.iter().find(|k| k.0 == word).map(|k| k.1);
    found.ok_or_else(|| wrong(option, word, &words.join(" or ")))
}
