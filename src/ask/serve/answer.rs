//! What a program is answered.

use serde::{Serialize, Serializer};
#[cfg(test)]
use serde_json::Value;

use super::super::question::Reply;
use super::id::Id;
use crate::report::{
    Answer, Check, DevicesDocument, ErrorDocument, ErrorEntry, ExplanationDocument, PredictionDocument,
    RankingDocument, SweepDocument, View, json_line,
};

/// The answer to a request.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Answer"))]
pub struct AnswerLine {
    /// That of the request; null where a line was not readable.
    #[cfg_attr(test, schemars(with = "Value"))]
    pub id: Id,
    /// Whether there is a result.
    pub ok: bool,
    /// One document, or a list of them if the request had several kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Documents>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDocument>,
}

/// One document alone, several as a list.
#[derive(Debug, Clone)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(untagged))]
pub enum Documents {
    /// Of one kernel.
    One(Box<Document>),
    /// Of several.
    Many(Vec<Document>),
}

impl Serialize for Documents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Documents::One(one) => one.serialize(serializer),
            Documents::Many(many) => many.serialize(serializer),
        }
    }
}

/// What was found out about a kernel.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Document {
    /// Of `rank`.
    Ranking(Box<RankingDocument>),
    /// Of `predict`.
    Prediction(Box<PredictionDocument>),
    /// Of `explain`.
    Explanation(Box<ExplanationDocument>),
    /// Of `sweep`.
    Sweep(Box<SweepDocument>),
    /// Of `check`.
    Check(Box<Check>),
    /// Of `devices`.
    Devices(DevicesDocument),
    /// Of `define`.
    Definition(Definition),
    /// Of `cancel`.
    Cancellation(Cancellation),
    /// Of `predict` and `explain`, for one of several kernels.
    Error(ErrorDocument),
}

/// What was defined: `wavecast/definition/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Definition {
    /// `wavecast/definition/1`.
    pub schema: &'static str,
    /// How to refer to it.
    pub name: String,
    /// The kernels that it holds, variants included.
    pub kernels: Vec<String>,
}

/// What was cancelled: `wavecast/cancellation/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cancellation {
    /// `wavecast/cancellation/1`.
    pub schema: &'static str,
    /// The id that was given.
    #[cfg_attr(test, schemars(with = "Value"))]
    pub target: Id,
    /// How many requests with this id end: each of them is answered with the error `cancelled`. 0 if none was
    /// waiting or being worked on, as it was answered already.
    pub cancelled: usize,
}

impl AnswerLine {
    /// What came of a request.
    pub fn new(id: Id, outcome: Result<Documents, ErrorDocument>) -> Self {
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self { id, ok: error.is_none(), result, error }
    }

    /// As a line of JSON, without its end.
    pub fn line(&self) -> String {
        json_line(self)
    }
}

impl Document {
    /// For a person.
    fn text(&self, view: View) -> String {
        match self {
            Document::Ranking(document) => document.text(view),
            Document::Prediction(document) => document.text(view),
            Document::Explanation(document) => document.text(view),
            Document::Sweep(document) => document.text(view),
            Document::Check(document) => document.text(view),
            Document::Devices(_) | Document::Definition(_) | Document::Cancellation(_) => json_line(self),
            Document::Error(document) => {
                let said = |e: &ErrorEntry| format!("error: {}", e.message);
                document.errors.iter().map(said).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Documents {
    /// For a person: one text for each document.
    pub fn texts(&self, view: View) -> Vec<String> {
        match self {
            Documents::One(one) => vec![one.text(view)],
            Documents::Many(many) => many.iter().map(|document| document.text(view)).collect(),
        }
    }

    /// What came of a question. Why there is no answer at all is an error.
    pub(super) fn from_replies<A>(
        replies: Vec<Reply<A>>,
        document: fn(Box<A>) -> Document,
    ) -> Result<Self, ErrorDocument> {
        if let [Reply::Error(error)] = replies.as_slice() {
            return Err(error.clone());
        }
        let one = |reply| match reply {
            Reply::Found(answer) => document(answer),
            Reply::Error(error) => Document::Error(error),
        };
        Ok(Self::from_list(replies.into_iter().map(one).collect()))
    }

    /// One alone, several together. None at all is an error of the caller.
    pub(super) fn from_list(mut all: Vec<Document>) -> Self {
        match (all.pop(), all.is_empty()) {
            (Some(one), true) => Documents::One(Box::new(one)),
            (Some(last), false) => {
                all.push(last);
                Documents::Many(all)
            }
            (None, _) => Documents::Many(all),
        }
    }
}
