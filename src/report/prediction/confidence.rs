//! How sure a prediction is.

use serde::{Serialize, Serializer};

use crate::predict::{Confidence, Reason, ReasonKind};
use crate::quantity::{Seconds, Share};
use crate::report::units::wrapped;

/// How sure a prediction is.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ConfidenceDocument {
    /// Seconds between which a measured time of the launch would lie; null where no measurements tell.
    pub time_interval_s: Option<[Seconds; 2]>,
    /// The part of measured times that lies in the interval, on sets of measurements that nothing was fitted to; null
    /// without an interval.
    pub level: Option<Share>,
    /// Why it is not surer, in words; what adds most to the interval comes first, what was seen not to matter last.
    #[serde(serialize_with = "texts")]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub because: Vec<Reason>,
    /// The same as stable names, in the same order.
    pub codes: Vec<ReasonKind>,
}

fn texts<S: Serializer>(reasons: &[Reason], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(reasons.iter().map(ToString::to_string))
}

impl From<Confidence> for ConfidenceDocument {
    fn from(of: Confidence) -> Self {
        Self {
            time_interval_s: of.interval(),
            level: of.level(),
            codes: of.reasons().iter().map(Reason::kind).collect(),
            because: of.into_reasons(),
        }
    }
}

/// A time with three digits: the interval itself is no more certain.
fn short(time: Seconds) -> String {
    let s = time.get();
    let (number, unit) = match s {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "us"),
    };
    let decimals = if number >= 100.0 { 0 } else { 1 + usize::from(number < 10.0) };
    format!("{number:.decimals$} {unit}")
}

/// Two times, the unit once where both have the same.
fn between([low, high]: [Seconds; 2]) -> String {
    let (low, high) = (short(low), short(high));
    let first = match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, one)), Some((_, other))) if one == other => number,
        _ => low.as_str(),
    };
    format!("{first} to {high}")
}

/// Columns that the reasons take where the terminal has more, or is none.
const COLUMNS: usize = 100;

impl ConfidenceDocument {
    /// The interval in words.
    pub(in crate::report) fn range(&self) -> Option<String> {
        self.time_interval_s.map(between)
    }

    /// A line about the interval, after some words, with as many of the reasons as that which make it wider.
    pub(in crate::report) fn text(&self, lead: &str, most: usize, width: Option<usize>) -> String {
        let interval = match (self.time_interval_s, self.level) {
            (Some(ends), Some(level)) => {
                format!("{:.0} % interval {}", level.get() * 100.0, between(ends))
            }
            _ => "no interval".to_owned(),
        };
        let widen: Vec<&Reason> = self.because.iter().filter(|r| r.widens()).collect();
        let mut because: Vec<String> = widen.iter().take(most).map(ToString::to_string).collect();
        match widen.len().saturating_sub(most) {
            0 => {}
            more => because.push(format!("and {more} more")),
        }
        let because =
            if because.is_empty() { String::new() } else { format!(" (because: {})", because.join("; ")) };
        wrapped(format!("{lead}{interval}{because}").split(' '), width.unwrap_or(COLUMNS).clamp(20, COLUMNS))
    }
}
