//! Lists of values: integers and ranges of the kernels' grammar, amounts with units, shapes.

use std::ops::RangeInclusive;

use super::value::{MOST_POINTS, VaryValue};
use crate::device;
use crate::expr::{Builtin, Environment, expand_range, parse_range};
use crate::kernel::MAX_FOLD;
use crate::launch::extents;
use crate::space::Shape;
use crate::text::{Diagnostic, Origin, Span, shorten};

/// What an extent of a block can be, and of a fold.
pub(super) const EXTENTS: RangeInclusive<i64> = 1..=65_536;
pub(super) const FOLDS: RangeInclusive<i64> = 1..=MAX_FOLD;

/// Integers and ranges of integers.
pub(super) fn integers(
    list: &str,
    at: Span,
    allowed: RangeInclusive<i64>,
) -> Result<Vec<VaryValue>, Diagnostic> {
    let mut all = Vec::new();
    for (text, span) in items(list, at) {
        let range = parse_range(text, Origin::verbatim(span))?;
        let values = expand_range(&range, &Nothing, MOST_POINTS)?;
        if let Some(wrong) = values.iter().find(|v| !allowed.contains(v)) {
            let message = format!("{wrong} is not from {} to {}", allowed.start(), allowed.end());
            return Err(Diagnostic::error("extent", span, message));
        }
        all.extend(values.into_iter().map(VaryValue::Integer));
    }
    Ok(all)
}

/// Shapes such as `512x2x1`; missing extents are 1.
pub(super) fn shapes<T: Shape>(
    list: &str,
    at: Span,
    allowed: &RangeInclusive<i64>,
    value: fn(T) -> VaryValue,
) -> Result<Vec<VaryValue>, Diagnostic> {
    items(list, at).map(|(text, span)| shape(text, span, allowed).map(value)).collect()
}

fn shape<T: Shape>(text: &str, span: Span, allowed: &RangeInclusive<i64>) -> Result<T, Diagnostic> {
    extents(text, *allowed.end()).ok_or_else(|| {
        let message = format!("at most three extents from 1 to {}, joined by `x`", allowed.end());
        Diagnostic::error("shape", span, message).help("for example 512x2x1,64x4x4")
    })
}

/// Amounts with units and ranges of them. A unit may be left out where a later part of a range has it.
pub(super) fn amounts(list: &str, at: Span) -> Result<Vec<VaryValue>, Diagnostic> {
    let mut all = Vec::new();
    for (text, span) in items(list, at) {
        let powers = text.trim().strip_prefix("pow2(").and_then(|t| t.strip_suffix(')'));
        let bounds = powers.unwrap_or(text).split_once("..");
        match bounds {
            None => all.push(single(text.trim(), span)?),
            Some((from, rest)) => {
                let (to, step) = rest.split_once("step").map_or((rest, None), |(to, step)| (to, Some(step)));
                let range = AmountRange::read(from, to, step, span)?;
                let found = if powers.is_some() { range.powers(span) } else { range.steps(span) };
                all.extend(found?);
            }
        }
    }
    Ok(all)
}

/// Devices by their names, each as its id.
pub(super) fn devices(list: &str, at: Span) -> Result<Vec<VaryValue>, Diagnostic> {
    items(list, at).map(|(text, span)| one_device(text.trim(), span)).collect()
}

fn one_device(name: &str, span: Span) -> Result<VaryValue, Diagnostic> {
    if name.is_empty() {
        return Err(Diagnostic::error("empty-value", span, "a value is missing here"));
    }
    if device::is_path(name) {
        let error = Diagnostic::error("usage", span, "a file is no value of `device`");
        return Err(error.help("ask once for each file, with -d"));
    }
    match device::find(name, &[]) {
        Ok(found) => Ok(VaryValue::Amount { text: found.id().clone(), number: None, unit: String::new() }),
        Err(fault) => {
            let first = fault.diagnostics.into_iter().next();
            let (message, help) = first.map_or_else(Default::default, |d| (d.message, d.help));
            Err(Diagnostic::error("unknown-device", span, message).maybe_help(help))
        }
    }
}

fn single(text: &str, span: Span) -> Result<VaryValue, Diagnostic> {
    if text.is_empty() {
        return Err(Diagnostic::error("empty-value", span, "a value is missing here"));
    }
    Ok(match split(text) {
        Some((number, unit)) => amount(number, unit),
        None => VaryValue::Amount { text: text.to_owned(), number: None, unit: String::new() },
    })
}

fn amount(number: f64, unit: &str) -> VaryValue {
    // Sums of steps are rounded to what a person wrote.
    let rounded: f64 = format!("{number:.9}").parse().unwrap_or(number);
    let text = if unit.is_empty() { rounded.to_string() } else { format!("{rounded} {unit}") };
    VaryValue::Amount { text, number: Some(rounded), unit: unit.to_owned() }
}

/// Number and unit of `40 MiB`.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.replace('_', "").parse().ok()?;
    let unit = unit.trim();
    let is_unit = unit.chars().all(|c| c.is_alphabetic() || c == '/');
    (number.is_finite() && is_unit).then_some((number, unit))
}

/// Bounds and step of a range in one unit.
struct AmountRange<'t> {
    from: f64,
    to: f64,
    step: f64,
    unit: &'t str,
}

impl<'t> AmountRange<'t> {
    fn read(from: &'t str, to: &'t str, step: Option<&'t str>, span: Span) -> Result<Self, Diagnostic> {
        let read = |text: &'t str| {
            let message = format!("`{}` is not a number with a unit", shorten(text.trim()));
            split(text).ok_or_else(|| Diagnostic::error("amount", span, message))
        };
        let (from, to, step) = (read(from)?, read(to)?, step.map(read).transpose()?);
        let units = || [Some(from), Some(to), step].into_iter().flatten().map(|part| part.1);
        let unit = units().rev().find(|unit| !unit.is_empty()).unwrap_or("");
        if units().any(|other| !other.is_empty() && other != unit) {
            let error = Diagnostic::error("units", span, "a range has one unit");
            return Err(error.help("write, for example, 512..4096 step 512 KiB"));
        }
        let step = step.map_or(1.0, |s| s.0);
        if step <= 0.0 {
            return Err(Diagnostic::error("range-step", span, "the step must be greater than 0"));
        }
        Ok(Self { from: from.0, to: to.0, step, unit })
    }

    fn steps(&self, span: Span) -> Result<Vec<VaryValue>, Diagnostic> {
        let (from, to, step) = (self.from, self.to, self.step);
        if from > to {
            return Ok(Vec::new());
        }
        if (to - from) / step >= MOST_POINTS as f64 {
            let message =
                format!("the range has more values than the series may have; at most {MOST_POINTS}");
            return Err(Diagnostic::error("range-too-long", span, message));
        }
        // A part of a step more, so that rounding does not lose the last value.
        let last = to + step * 1e-6;
        let values = (0..=MOST_POINTS).map(|i| from + i as f64 * step);
        Ok(values.take_while(|&v| v <= last).map(|v| amount(v, self.unit)).collect())
    }

    /// Powers of two of the unit.
    fn powers(&self, span: Span) -> Result<Vec<VaryValue>, Diagnostic> {
        if self.from < 1.0 {
            return Err(Diagnostic::error("range-pow2", span, "powers of two begin at 1 of the unit"));
        }
        let all = (0..63).map(|i| f64::from(i).exp2());
        Ok(all.filter(|p| (self.from..=self.to).contains(p)).map(|p| amount(p, self.unit)).collect())
    }
}

/// The items of a list with their places; commas in parentheses and brackets do not count.
fn items(list: &str, at: Span) -> impl Iterator<Item = (&str, Span)> {
    let mut depth = 0_i32;
    let mut start = 0;
    let mut pieces = Vec::new();
    for (i, c) in list.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(start..i);
                start = i + 1;
            }
            _ => {}
        }
    }
    pieces.push(start..list.len());
    let offset = at.start as usize;
    pieces.into_iter().filter_map(move |range| {
        let span = Span::new(at.file, offset + range.start..offset + range.end);
        Some((list.get(range)?, span))
    })
}

/// Values stand for themselves: no name is known.
struct Nothing;

impl Environment for Nothing {
    fn name(&self, _: &str) -> Option<i64> {
        None
    }

    fn builtin(&self, _: Builtin) -> Option<i64> {
        None
    }

    fn table(&self, _: &str, _: &[i64]) -> Option<i64> {
        None
    }
}
