//! What the cell of a column has to be.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::text::{Decode, Decoder, Diagnostic, Node, Value};

/// What a cell has to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// One of these.
    Any(Vec<Test>),
    /// This text, or this number however it is written; the empty text for an empty cell.
    Is(String),
    /// Anything else.
    Not(String),
    /// A number in a range, whose ends may be out.
    Within {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
        /// Whether the ends belong to it.
        closed: bool,
    },
}

impl Test {
    /// Reads what a person writes: `1`, `!= 1`, `>= 20`, `20..100`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let within = |low, high, closed| Some(Test::Within { low, high, closed });
        let (most, least) = (f64::INFINITY, f64::NEG_INFINITY);
        if let Some(rest) = text.strip_prefix("!=") {
            return Some(Test::Not(rest.trim().to_owned()));
        }
        if let Some(rest) = text.strip_prefix(">=") {
            return within(number(rest)?, most, true);
        }
        if let Some(rest) = text.strip_prefix("<=") {
            return within(least, number(rest)?, true);
        }
        if let Some(rest) = text.strip_prefix('>') {
            return within(number(rest)?, most, false);
        }
        if let Some(rest) = text.strip_prefix('<') {
            return within(least, number(rest)?, false);
        }
        if let Some((low, high)) = text.split_once("..")
            && let (Some(low), Some(high)) = (number(low), number(high))
        {
            return within(low, high, true);
        }
        Some(Test::Is(text.to_owned()))
    }

    /// Whether a cell is that.
    pub fn holds(&self, cell: &str) -> bool {
        match self {
            Test::Any(tests) => tests.iter().any(|t| t.holds(cell)),
            Test::Is(text) => same(text, cell),
            Test::Not(text) => !same(text, cell),
            Test::Within { low, high, closed } => cell
                .parse::<f64>()
                .is_ok_and(|n| if *closed { (*low..=*high).contains(&n) } else { *low < n && n < *high }),
        }
    }
}

/// Whether two texts are the same, or the same number.
pub(super) fn same(a: &str, b: &str) -> bool {
    #[expect(clippy::float_cmp, reason = "the same number written in two ways")]
    let numbers = || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b);
    a == b || numbers()
}

impl Decode for Test {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        if let Value::List(_) = &node.value {
            return Vec::decode(node, decoder).map(Test::Any);
        }
        let scalar =
            decoder.scalar(node, "a value, a list of values, or a range such as >= 20 or 20..100")?;
        let test = Test::parse(scalar.text.as_str());
        if test.is_none() {
            let message = format!("`{}` compares with no number", scalar.text.as_str());
            let help = "write `>= 20`, `< 5`, `20..100`, `!= 0`, a value or a list of values";
            decoder.report(Diagnostic::error("condition", node.span, message).help(help));
        }
        test
    }
}

#[cfg(test)]
impl JsonSchema for Test {
    fn schema_name() -> Cow<'static, str> {
        "CellTest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value, a list of values, or a comparison: `>= 20`, `!= 0`, `20..100`.",
            "type": ["number", "string", "array"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_tested_as_numbers_where_they_are_some() {
        let test = |text: &str, cell: &str| Test::parse(text).unwrap().holds(cell);
        assert!(test("1", "1.0") && test("1", "1") && !test("1", "10") && test("ktt", "ktt"));
        assert!(test(">= 20", "20") && !test("> 20", "20") && test("< 5", "-1") && test("<= 5", "5"));
        assert!(test("20..100", "1e2") && !test("20..100", "101") && !test("20..100", ""));
        assert!(test("!= 0", "1") && test("!= 0", "") && !test("!= 0", "0.0"));
        assert!(test("", "") && !test("", "0") && test("a..b", "a..b"));
        assert_eq!(Test::parse(">= x"), None);
    }
}
