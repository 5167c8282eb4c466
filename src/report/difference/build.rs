//! The document of a difference from two predictions.

use serde_json::Value;

use super::document::{DifferenceDocument, NumberDifference, SideSummary, TermDifference};
use super::shares::of_longest;
use super::side::Side;
use super::verdict::verdict;
use crate::quantity::Ratio;
use crate::report::check::Tool;

/// Terms that come after the longest of the others.
const BESIDE: [&str; 3] = ["tail", "launch", "combination"];
/// Parts of these, which add nothing beside them.
const WITHIN: [&str; 2] = ["first_wave", "blocks"];
/// The least relative change that counts as one.
const SAME: f64 = 1e-9;

/// Two predictions beside each other.
pub fn difference_document(a: &Side, b: &Side) -> DifferenceDocument {
    let scale = match a.items() / b.items() {
        ratio if (ratio - 1.0).abs() > SAME => ratio,
        _ => 1.0,
    };
    let difference_s = b.result.time_s * scale - a.result.time_s;
    let mut document = DifferenceDocument {
        schema: "wavecast/diff/1",
        tool: Tool::this(),
        a: SideSummary::new(a),
        b: SideSummary::new(b),
        speedup: Ratio::new(b.result.rate_per_s / a.result.rate_per_s),
        scale: Ratio::new(scale),
        difference_s,
        verdict: String::new(),
        terms: terms(a, b, scale, difference_s),
        volumes: differing(numbers(&a.result.volumes), &numbers(&b.result.volumes)),
        fields: differing(fields(a), &fields(b)),
        limits: differing(limits(a), &limits(b)),
        occupancy: differing(numbers(&a.result.occupancy), &numbers(&b.result.occupancy)),
    };
    document.verdict = verdict(&document);
    document
}

impl SideSummary {
    fn new(side: &Side) -> Self {
        let Side { kernel, device, result } = side;
        Self {
            kernel: kernel.name.clone(),
            unit: kernel.unit.clone(),
            device: device.id.clone(),
            variant: result.config.variant.clone(),
            block: result.config.block,
            fold: result.config.fold,
            registers: result.config.registers,
            rate_per_s: result.rate_per_s,
            time_s: result.time_s,
            limiter: result.limiter.clone(),
        }
    }
}

fn terms(a: &Side, b: &Side, scale: f64, difference: f64) -> Vec<TermDifference> {
    let time = |side: &Side, name: &str| side.result.time_terms_s.get(name).copied().unwrap_or(0.0);
    let mut names: Vec<&String> = a.result.time_terms_s.keys().collect();
    names.extend(b.result.time_terms_s.keys().filter(|name| !a.result.time_terms_s.contains_key(*name)));
    let (within, others): (Vec<&String>, Vec<&String>) =
        names.into_iter().partition(|name| WITHIN.contains(&name.as_str()));
    let (beside, alone): (Vec<&String>, Vec<&String>) =
        others.into_iter().partition(|name| BESIDE.contains(&name.as_str()));
    let of_a: Vec<f64> = alone.iter().map(|name| time(a, name)).collect();
    let of_b: Vec<f64> = alone.iter().map(|name| time(b, name) * scale).collect();
    let effects = of_longest(&of_a, &of_b);
    let added = beside.iter().map(|name| time(b, name) * scale - time(a, name));
    let mut all: Vec<TermDifference> = alone
        .iter()
        .zip(effects)
        .chain(beside.iter().zip(added))
        .chain(within.iter().map(|name| (name, 0.0)))
        .map(|(name, effect_s)| {
            let (a_s, b_s) = (time(a, name), time(b, name) * scale);
            let volume_factor = volume_factor(name, a, b);
            let speed_factor = volume_factor.filter(|_| a_s > 0.0 && b_s > 0.0).map(|v| v * a_s / b_s);
            let [volume_factor, speed_factor] = [volume_factor, speed_factor].map(|f| f.map(Ratio::new));
            let share = (difference.abs() > SAME * a.result.time_s).then(|| effect_s / difference + 0.0); // no -0
            TermDifference { term: (*name).clone(), a_s, b_s, effect_s, share, volume_factor, speed_factor }
        })
        .filter(|term| term.a_s > 0.0 || term.b_s > 0.0 || term.effect_s.abs() > 0.0)
        .collect();
    crate::sorting::sort_by(&mut all, |a, b| b.effect_s.abs().total_cmp(&a.effect_s.abs()));
    all
}

/// How many times as much the second has to move or do of what a term is the time of, per work item.
fn volume_factor(term: &str, a: &Side, b: &Side) -> Option<f64> {
    let volume = |side: &Side| {
        let number = |path: &str| side.result.volumes.pointer(path).and_then(Value::as_f64);
        match term {
            "l1" => number("/l1/wavefront_cycles"),
            "l2" => Some(number("/l2/load/total")? + number("/l2/store/total")?),
            "dram" => Some(number("/dram/load/total")? + number("/dram/store/total")?),
            _ => None,
        }
    };
    let (of_a, of_b) = (volume(a)?, volume(b)?);
    (of_a > 0.0 && of_b > 0.0).then(|| of_b / of_a)
}

/// A number and where it stands.
type Named = (String, f64);

/// All numbers of a part of a prediction.
fn numbers(value: &Value) -> Vec<Named> {
    fn walk(value: &Value, path: &str, out: &mut Vec<Named>) {
        match value {
            Value::Number(n) => out.extend(n.as_f64().map(|n| (path.to_owned(), n))),
            Value::Object(map) => {
                for (key, value) in map {
                    let dot = if path.is_empty() { "" } else { "." };
                    walk(value, &format!("{path}{dot}{key}"), out);
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(value, "", &mut out);
    out
}

fn fields(side: &Side) -> Vec<Named> {
    let of = |(field, amounts): (&String, &std::collections::BTreeMap<String, f64>)| {
        let field = field.clone();
        amounts.iter().map(move |(amount, &n)| (format!("{field}.{amount}"), n)).collect::<Vec<_>>()
    };
    side.result.fields.iter().flat_map(of).collect()
}

fn limits(side: &Side) -> Vec<Named> {
    side.result.limits_per_s.iter().filter_map(|(name, limit)| Some((name.clone(), (*limit)?))).collect()
}

/// What is not the same on both sides.
fn differing(a: Vec<Named>, b: &[Named]) -> Vec<NumberDifference> {
    let only_b = b.iter().filter(|(name, _)| !a.iter().any(|(other, _)| other == name));
    let only_b: Vec<NumberDifference> =
        only_b.map(|(name, n)| NumberDifference { name: name.clone(), a: None, b: Some(*n) }).collect();
    let both = a.into_iter().filter_map(|(name, of_a)| {
        let of_b = b.iter().find(|(other, _)| *other == name).map(|other| other.1);
        let same = of_b.is_some_and(|of_b| (of_b - of_a).abs() <= SAME * of_a.abs().max(of_b.abs()));
        (!same).then_some(NumberDifference { name, a: Some(of_a), b: of_b })
    });
    both.chain(only_b).collect()
}
