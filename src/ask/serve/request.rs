//! What a program can ask.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
#[cfg(test)]
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::asker::Asker;
use super::super::check::Inspect;
use super::super::explain::Explain;
use super::super::launches::OneLaunch;
use super::super::limits::limits;
use super::super::predict::Predict;
use super::super::predictor::{ModelOptions, counter};
use super::super::rank::Rank;
use super::super::sweep::Sweep;
use super::super::tie::Tie;
use super::given::{Assignments, ShapeList, Texts, WholeNumbers, clock};
use super::id::Id;
use super::job::Asked;
use crate::device::RunClock;
use crate::footprint::{Addressing, Engine};
use crate::kernel::{KernelDoc, MAX_FOLD, Options};
use crate::launch::Shapes;
use crate::predict::Model;
use crate::report::ErrorDocument;
use crate::space::{Block, Fold};
use crate::text::{Fault, shorten};
use crate::traffic::{Caches, Counting};

/// One request. The kernel is one of `kernel`, `kernel_text` and `kernel_ref`.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(rename = "Request"))]
pub struct RequestLine {
    /// Any JSON value that tells this request from others; the answer carries it.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Value"))]
    pub id: Id,
    /// What to do.
    pub op: Operation,
    /// `define`: how later requests refer to the kernel; by default the name in its document.
    #[serde(default)]
    pub name: Option<String>,
    /// The kernel as a document; a list of documents asks for each of them.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Option<KernelDocuments>"))]
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
    /// The device as the text of a device file, in the place of `device`.
    #[serde(default)]
    pub device_text: Option<String>,
    /// `cancel`: the id of the request that is to end, written as it was there.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Value"))]
    pub target: Id,
    /// The rest.
    #[serde(default, deserialize_with = "object")]
    pub options: RequestOptions,
}

/// What `kernel` may be; for the schema only, as the text is read with positions.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(untagged))]
#[allow(dead_code)]
enum KernelDocuments {
    /// One document.
    One(Box<KernelDoc>),
    /// A list of documents.
    Several(Vec<KernelDoc>),
}

/// What to do with a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, schemars(rename = "Op"))]
pub enum Operation {
    /// Remember it under a name.
    Define,
    /// Show what was understood.
    Check,
    /// Everything about one launch.
    Predict,
    /// All launches, best first.
    Rank,
    /// Why one launch is as fast as it is.
    Explain,
    /// A series over something that varies.
    Sweep,
    /// The devices that are known, or the one that is given, with their numbers.
    Devices,
    /// End an earlier request that is not answered yet.
    Cancel,
}

/// How to do it; each key as the option of the command line that has its name.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, schemars(rename = "Options"))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct RequestOptions {
    /// Parameters to override: a mapping, or a list of `NAME=VALUE`.
    pub set: Assignments,
    /// Only these variants of the kernel: a name or a list of names.
    pub variant: Texts,
    /// Numbers of the device to change, such as `l2.effective`: a mapping, or a list of `PATH=VALUE`.
    pub device_set: Assignments,
    /// Limits that protect the tool: document-bytes, nodes, accesses, candidates, variants, steps.
    pub limit: Assignments,
    /// Thread blocks to consider: one shape or a list of shapes, a shape being up to three numbers.
    pub block: ShapeList<Block>,
    /// Work items per thread to consider, in the same way; at most 4096 along a dimension.
    pub fold: ShapeList<Fold>,
    /// `rank` and `sweep`: all blocks of so many threads whose extents are powers of two: a number or a list.
    pub threads: WholeNumbers,
    /// `rank`: the best so many only.
    pub top: Option<usize>,
    /// `rank`: launches whose rates differ by less than this many percent share a tie group; by default 4.
    #[serde(rename = "tie")]
    pub tie_percent: Option<f64>,
    /// `default` or `roofline`.
    pub model: Option<String>,
    /// `linear` or `grid`.
    pub addressing: Option<String>,
    /// What the caches hold when a launch begins: `warm`, `cold` or `empty`.
    pub caches: Option<String>,
    /// Count with this engine only.
    pub engine: Option<String>,
    /// Count with a second engine too.
    pub verify: bool,
    /// The clock that the run had, with its unit, such as `1.41GHz`; that of the device by default.
    #[serde(deserialize_with = "clock")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub clock: Option<RunClock>,
    /// `check`: list every launch.
    pub candidates: bool,
    /// `explain`: compare only with launches that are one step away.
    pub near: bool,
    /// `sweep`: what varies, the first being the axis: a mapping, or a list of `NAME=VALUES`, such as
    /// `NX=256..1024 step 64`.
    pub vary: Assignments,
    /// `sweep`: at each point rank all launches and take the best.
    pub best: bool,
}

impl RequestLine {
    /// A request that names no kernel yet.
    pub fn new(op: Operation, options: RequestOptions) -> Self {
        let (name, kernel, kernel_text, kernel_ref) = (None, None, None, None);
        let (device, device_text) = (None, None);
        let (id, target) = (Id::default(), Id::default());
        Self { id, op, name, kernel, kernel_text, kernel_ref, device, device_text, target, options }
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
            (id, not_a_request(&e, text))
        })
    }
}

impl RequestOptions {
    /// Reads the options alone.
    pub fn read(text: &str) -> Result<Self, ErrorDocument> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = object(&mut reader).and_then(|options| reader.end().map(|()| options));
        read.map_err(|e| not_a_request(&e, text))
    }
}

/// Options by name: serde would take a list, too, as values in the order of the keys.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RequestOptions, D::Error> {
    struct Named;
    impl<'de> Visitor<'de> for Named {
        type Value = RequestOptions;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RequestOptions, A::Error> {
            RequestOptions::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_map(Named)
}

/// What is wrong with a text. What is no JSON at all is told where that ends, and not of a key that no request has.
fn not_a_request(error: &serde_json::Error, text: &str) -> ErrorDocument {
    let broken = serde_json::from_str::<IgnoredAny>(text).err();
    let (is_json, error) = (broken.is_none(), broken.as_ref().unwrap_or(error));
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
fn wrong(option: &str, given: &str, help: &str) -> Fault {
    let message = format!("`{}` cannot be `{}`", Asker::Program.option(option), shorten(given));
    Asker::Program.wrong(message, Some(help))
}

impl RequestOptions {
    /// How kernels are read.
    pub(super) fn reading(&self) -> Result<Options, Fault> {
        let limits = limits(self.limit.texts(), Asker::Program)?;
        Ok(Options { set: self.set.texts().to_vec(), limits })
    }

    /// What an operation on kernels asks.
    pub(super) fn asked(&self, op: Operation) -> Result<Asked, Fault> {
        Ok(match op {
            Operation::Define | Operation::Cancel => Asked::Define(String::new()),
            Operation::Devices => Asked::Devices,
            Operation::Check => Asked::Check(Inspect { candidates: self.candidates, sets: None }),
            Operation::Predict => Asked::Predict(Predict { launch: self.launch("predict")? }),
            Operation::Explain => {
                Asked::Explain(Explain { launch: self.launch("explain")?, near: self.near })
            }
            Operation::Rank => Asked::Rank(Rank { shapes: self.shapes()?, tie: self.tie()?, top: self.top }),
            Operation::Sweep => {
                let (vary, best) = (self.vary.texts().to_vec(), self.best);
                if vary.is_empty() {
                    let message = "`options.vary` is missing: a series needs something that varies";
                    let help = r#"for example {"vary": {"NX": "256..1024 step 64"}}"#;
                    return Err(Asker::Program.wrong(message.to_owned(), Some(help)));
                }
                Asked::Sweep(Sweep { vary, best, shapes: self.shapes()? })
            }
        })
    }

    /// How predictions are made.
    pub(super) fn model(&self) -> Result<ModelOptions<'static>, Fault> {
        let models = [Model::Default, Model::Roofline].map(|m| (m.word(), m));
        let addressings = [("linear", Addressing::Linear), ("grid", Addressing::Grid)];
        let model = one_of("model", self.model.as_deref(), &models)?;
        let addressing = one_of("addressing", self.addressing.as_deref(), &addressings)?;
        let caches = one_of("caches", self.caches.as_deref(), &Caches::ALL.map(|c| (c.word(), c)))?;
        let known = || Engine::ALL.map(Engine::word).join(", ");
        let engine = |word: &str| word.parse().map_err(|_| wrong("engine", word, &known()));
        let engine = self.engine.as_deref().map(engine).transpose()?;
        let counter = counter(engine, self.verify, Asker::Program)?;
        Ok(ModelOptions::new(model, Counting { counter, addressing }, caches))
    }

    fn launch(&self, operation: &str) -> Result<OneLaunch, Fault> {
        let (block, fold) = (&self.block, self.folds()?);
        let (block, fold) = (block.only("block", operation)?, fold.only("fold", operation)?);
        Ok(OneLaunch { block, fold })
    }

    fn shapes(&self) -> Result<Shapes, Fault> {
        let blocks = self.block.all().to_vec();
        let folds = self.folds()?.all().to_vec();
        Ok(Shapes { blocks, threads: self.threads.0.clone(), folds })
    }

    /// The folds that were asked for, none longer than a document may have.
    fn folds(&self) -> Result<&ShapeList<Fold>, Fault> {
        self.fold.up_to(MAX_FOLD, "fold")
    }

    fn tie(&self) -> Result<Tie, Fault> {
        let given = |percent| {
            Tie::percent(percent).ok_or_else(|| wrong("tie", &f64::to_string(&percent), Tie::EXPECTED))
        };
        self.tie_percent.map_or(Ok(Tie::default()), given)
    }
}

fn one_of<T: Copy>(option: &str, word: Option<&str>, known: &[(&str, T)]) -> Result<T, Fault> {
    let word = word.unwrap_or(known[0].0);
    let words = || known.iter().map(|k| k.0).collect::<Vec<_>>().join(" or ");
    let found = known.iter().find(|k| k.0 == word).map(|k| k.1);
    found.ok_or_else(|| wrong(option, word, &words()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_is_told_where_it_ends() {
        for (text, begins, column) in [
            (r#"{"method": "predict"}"#, "this is no request: unknown field `method`", 9),
            (r#"{"method": "predict", "dev"#, "this is not JSON: EOF", 26),
            (r#"{"op" "predict"}"#, "this is not JSON: expected `:`", 7),
            (r#"["predict"]"#, "this is no request: expected an object", 1),
        ] {
            let (_, document) = RequestLine::read(text).unwrap_err();
            let error = &document.errors[0];
            assert!(error.message.starts_with(begins), "{text}: {}", error.message);
            assert_eq!(error.column, Some(column), "{text}");
        }
        let document = RequestOptions::read(r#"{"device": 3, "x"#).unwrap_err();
        assert!(document.errors[0].message.starts_with("this is not JSON"), "{}", document.errors[0].message);
    }
}
