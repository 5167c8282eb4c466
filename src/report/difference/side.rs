//! One of two predictions: as it was made now, or as it was saved.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::space::{Block, Fold};

/// A prediction as its JSON says it.
#[derive(Debug, Clone, Deserialize)]
pub struct Side {
    pub(super) kernel: Kernel,
    pub(super) device: Device,
    pub(super) result: Outcome,
}

/// The kernel of a prediction.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) unit: String,
}

/// The device of a prediction.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Device {
    pub(super) id: String,
}

/// What is predicted of a launch.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Outcome {
    pub(super) config: Config,
    pub(super) rate_per_s: f64,
    pub(super) time_s: f64,
    pub(super) limiter: String,
    pub(super) time_terms_s: BTreeMap<String, f64>,
    pub(super) limits_per_s: BTreeMap<String, Option<f64>>,
    pub(super) occupancy: Value,
    pub(super) volumes: Value,
    pub(super) fields: BTreeMap<String, BTreeMap<String, f64>>,
}

/// A launch.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Config {
    pub(super) variant: Option<String>,
    pub(super) block: [i64; 3],
    pub(super) fold: [i64; 3],
    pub(super) registers: i64,
}

/// Which launch of a saved ranking is meant; the best by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct SideChoice {
    /// Its block.
    pub block: Option<Block>,
    /// Its fold.
    pub fold: Option<Fold>,
}

impl Side {
    /// The documents of a text, if it is a saved answer: a prediction, a ranking, or an array of them.
    pub fn saved(text: &str) -> Option<Vec<Value>> {
        let value: Value = serde_json::from_str(text).ok()?;
        let all = match value {
            Value::Array(all) => all,
            one => vec![one],
        };
        let is_answer = |v: &Value| v["schema"].as_str().is_some_and(|s| s.starts_with("wavecast/"));
        (!all.is_empty() && all.iter().all(is_answer)).then_some(all)
    }

    /// A document, or what is wrong with it.
    pub fn of_document(mut document: Value, choice: SideChoice) -> Result<Self, String> {
        if let Some(results) = document.get_mut("results").map(Value::take) {
            document["result"] = chosen(&results, choice)?;
        }
        let side: Self = serde_json::from_value(document).map_err(|e| format!("it is no prediction: {e}"))?;
        if side.result.time_s > 0.0 && side.result.rate_per_s > 0.0 {
            return Ok(side);
        }
        Err("its time and rate have to be more than 0".to_owned())
    }

    /// Work items of a launch.
    pub(super) fn items(&self) -> f64 {
        self.result.rate_per_s * self.result.time_s
    }
}

/// The launch of a ranking that is meant.
fn chosen(results: &Value, choice: SideChoice) -> Result<Value, String> {
    let results = results.as_array().map(Vec::as_slice).unwrap_or_default();
    let is = |result: &Value, key: &str, wanted: Option<[i64; 3]>| {
        wanted.is_none_or(|wanted| result["config"][key] == serde_json::json!(wanted))
    };
    let (block, fold) = (choice.block.map(<[i64; 3]>::from), choice.fold.map(<[i64; 3]>::from));
    let found = results.iter().find(|r| is(r, "block", block) && is(r, "fold", fold));
    found.cloned().ok_or_else(|| {
        let what = if results.is_empty() { "launch" } else { "launch with this block and fold" };
        format!("the ranking has no {what}")
    })
}
