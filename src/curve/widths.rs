//! How far measured times lie from predicted ones, by what is known of a prediction: `fits/confidence.yaml`.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::registry::{once, tree};
use crate::quantity::{Ratio, Share};
use crate::text::{Diagnostic, Fault, Sources, from_tree};

/// The file in the binary, as JSON, which is read much sooner; a test makes it of `fits/confidence.yaml`.
const FILE: &str = include_str!("shipped/confidence.json");
/// The code of what is wrong with such a file.
const CODE: &str = "confidence";

/// How far a measured time lies from the predicted one, either way, as logarithms of their ratio: never less than 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Width {
    /// Where it is shorter.
    pub(crate) shorter: f64,
    /// Where it is longer.
    pub(crate) longer: f64,
}

impl Width {
    /// Of several that have nothing to do with each other.
    fn together(all: impl Iterator<Item = Self>) -> Self {
        let (shorter, longer) =
            all.fold((0.0, 0.0), |sum, w| (sum.0 + w.shorter * w.shorter, sum.1 + w.longer * w.longer));
        Self { shorter: f64::sqrt(shorter), longer: f64::sqrt(longer) }
    }

    fn is_sound(self) -> bool {
        [self.shorter, self.longer].iter().all(|w| (0.0..=MOST_WIDTH).contains(w))
    }
}

/// Measured launches that a reason needs for a width of its own.
pub(crate) const LEAST_ROWS: u32 = 10;
/// A width beyond which nothing is said about a time: a factor of 20,000.
const MOST_WIDTH: f64 = 10.0;

/// What a reason for doubt adds, and on which measurements that rests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReasonWidth {
    /// Where the measured time is shorter.
    pub(crate) shorter: f64,
    /// Where it is longer.
    pub(crate) longer: f64,
    /// Measured launches that have the reason; where they are too few, the width is that of most other reasons.
    pub rows: u32,
    /// Sets that these are of.
    pub sets: u32,
}

impl ReasonWidth {
    /// By which factors a time may be shorter and longer for this reason alone.
    pub fn factors(&self) -> [Ratio; 2] {
        [(-self.shorter).exp(), self.longer.exp()].map(Ratio::new)
    }

    fn width(self) -> Width {
        Width { shorter: self.shorter, longer: self.longer }
    }
}

/// How many times of a set lie in their intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetCoverage {
    /// Short name of the set.
    pub set: String,
    /// Its launches.
    pub rows: u32,
    /// Percent of them in intervals that were fitted without this set.
    pub(crate) left_out_percent: f64,
    /// The same without all sets that share a kernel with it.
    pub(crate) family_left_out_percent: f64,
    /// Percent of them in the intervals of this file.
    pub(crate) fitted_percent: f64,
    /// The median of the upper over the lower ends of the former.
    pub(crate) left_out_ends_ratio: f64,
}

impl SetCoverage {
    /// The part of its times in intervals that were fitted without this set.
    pub fn left_out(&self) -> Share {
        Share::new(self.left_out_percent / 100.0)
    }

    /// The same without all sets that share a kernel with it.
    pub fn family_left_out(&self) -> Share {
        Share::new(self.family_left_out_percent / 100.0)
    }

    /// The part of them in the intervals of this file.
    pub fn fitted(&self) -> Share {
        Share::new(self.fitted_percent / 100.0)
    }

    /// The median of upper over lower ends of intervals that were fitted without it.
    pub fn ends(&self) -> Ratio {
        Ratio::new(self.left_out_ends_ratio)
    }
}

/// All widths, with where they come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Widths {
    /// Version of the format, 1.
    #[serde(rename = "wavecast-confidence")]
    pub version: u8,
    /// One line on what it rests on.
    pub about: String,
    /// The part of measured times that is to lie in the interval.
    pub(crate) level: f64,
    /// What all widths were multiplied by after their fit, so that the level is reached on sets that it has not seen.
    pub(crate) spread: f64,
    /// What every prediction has.
    pub(crate) base: Width,
    /// Architectures that the sets are of.
    pub architectures: Vec<String>,
    /// What reasons for doubt add, by their codes.
    pub reasons: BTreeMap<String, ReasonWidth>,
    /// How many times of each set lie in their intervals.
    pub coverage: Vec<SetCoverage>,
}

impl Widths {
    /// The part of measured times that is to lie in the interval.
    pub fn level(&self) -> Share {
        Share::new(self.level)
    }

    /// How far the measured time may lie from a predicted one for which there are these reasons for doubt; `None` if one
    /// of them is not in the file. Each further reason makes it wider, or leaves it as it is.
    pub(crate) fn of_reasons<'c>(&self, codes: impl IntoIterator<Item = &'c str>) -> Option<Width> {
        let mut all = vec![self.base];
        for code in codes {
            all.push(self.reasons.get(code)?.width());
        }
        Some(Width::together(all.into_iter()))
    }

    /// The larger of what a reason adds on either side, for their order; 0 if it is not in the file.
    pub(crate) fn weight(&self, code: &str) -> f64 {
        self.reasons.get(code).map_or(0.0, |r| r.shorter.max(r.longer))
    }

    /// Whether enough measured launches have a reason to say what it adds.
    pub fn is_measured(&self, code: &str) -> bool {
        self.reasons.get(code).is_some_and(|r| r.rows >= LEAST_ROWS)
    }

    /// What is wrong with the numbers.
    fn problem(&self) -> Option<String> {
        let odd = self.reasons.iter().find(|(_, r)| !r.width().is_sound());
        match self {
            Self { version: 1, .. } => {}
            Self { version, .. } => return Some(format!("version {version} is not known")),
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return Some(format!("a level of {} is not between 0 and 1", self.level));
        }
        if !self.base.is_sound() {
            return Some("`base` has to be two numbers from 0 to 10".to_owned());
        }
        odd.map(|(code, _)| format!("the widths of `{code}` have to be numbers from 0 to 10"))
    }
}

/// Widths of a text.
pub fn read_widths(name: &str, text: &str) -> Result<Widths, Fault> {
    let mut sources = Sources::new();
    let read = |sources: &mut Sources| {
        let widths: Widths = from_tree(&tree(name, text, sources)?, CODE).map_err(|e| vec![e])?;
        match widths.problem() {
            None => Ok(widths),
            Some(problem) => Err(vec![Diagnostic::global(CODE, format!("{name}: {problem}"))]),
        }
    };
    read(&mut sources).map_err(|errors| Fault::new(errors, Arc::new(sources)))
}

/// The widths that ship.
#[expect(clippy::missing_panics_doc, reason = "a test reads the file")]
pub fn widths() -> &'static Widths {
    static WIDTHS: OnceLock<Widths> = OnceLock::new();
    once(&WIDTHS, || serde_json::from_str(FILE).expect("a test reads it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fits/confidence.yaml")).unwrap()
    }

    /// What the program reads when it starts is what the file says.
    #[test]
    fn what_ships_is_what_the_file_says() {
        let read = read_widths("fits/confidence.yaml", &text()).unwrap();
        let shipped = serde_json::to_string(&read).unwrap() + "\n";
        assert_eq!(serde_json::from_str::<Widths>(&shipped).unwrap(), read);
        crate::curve::held("src/curve/shipped/confidence.json", &shipped);
    }

    #[test]
    fn the_file_reads_and_every_reason_widens() {
        let widths = widths();
        assert!((widths.level().get() - 0.8).abs() < 1e-12);
        let (mut codes, mut before) = (Vec::new(), widths.of_reasons([]).unwrap());
        assert!(before.shorter > 0.0 && before.longer > 0.0, "nothing is predicted exactly");
        for code in widths.reasons.keys() {
            codes.push(code.as_str());
            let after = widths.of_reasons(codes.iter().copied()).unwrap();
            assert!(after.shorter >= before.shorter && after.longer >= before.longer, "{code}");
            before = after;
        }
        assert_eq!(widths.of_reasons(["weather"]), None);
    }

    #[test]
    fn nonsense_is_refused() {
        for (from, to, said) in [
            ("level: 0.8", "level: 1.5", "1.5 is not between"),
            ("wavecast-confidence: 1", "wavecast-confidence: 2", "version 2"),
            ("about:", "abuot:", "abuot"),
        ] {
            assert!(text().contains(from), "{from}");
            let fault = read_widths("mine.yaml", &text().replacen(from, to, 1)).unwrap_err().to_string();
            assert!(fault.contains(said), "{fault}");
        }
        let mut negative = widths().clone();
        negative.base.longer = -1.0;
        assert!(negative.problem().is_some());
        negative.base.longer = f64::NAN;
        assert!(negative.problem().is_some());
    }
}
