//! Compared with `serde_json`, to the byte.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::*;
use crate::random::Random;

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype(f64);

#[derive(Serialize)]
struct Pair(i8, Option<f32>);

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Plain,
    OneValue(Box<Document>),
    Several(u8, String),
    Named { a: i64, b: Vec<bool> },
    Empty {},
}

#[derive(Serialize)]
struct Flat {
    x: f64,
    y: Option<u64>,
}

#[derive(Serialize)]
struct Document {
    text: String,
    number: f64,
    #[serde(flatten)]
    flat: Flat,
    kinds: Vec<Kind>,
    by_name: BTreeMap<String, f32>,
    by_number: BTreeMap<i16, char>,
    by_kind: Vec<BTreeMap<bool, (i64, u128)>>,
    unit: Unit,
    newtype: Newtype,
    pair: Pair,
    shown: Shown,
    written: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<i32>,
}

/// Serialized as what it prints.
struct Shown(String);

impl Serialize for Shown {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("<{}>", self.0))
    }
}

fn text(random: &mut Random) -> String {
    let some =
        ["", "a", "plain words ", "\"", "\\", "\n", "\t\r", "\u{8}\u{c}\u{1}\u{1f}\u{7f}", "é", "漢字", "🚀"];
    (0..random.below(7)).map(|_| some[random.below(some.len())]).collect()
}

fn number(random: &mut Random) -> f64 {
    let some = [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, f64::NAN, f64::INFINITY, 1e16, 123_456.75, -3e-7];
    match random.below(3) {
        0 => some[random.below(some.len())],
        1 => random.below(1 << 20) as f64,
        _ => f64::from_bits((random.below(1 << 32) as u64) << 32 | random.below(1 << 32) as u64),
    }
}

fn integer(random: &mut Random) -> i64 {
    [0, -1, i64::MIN, i64::MAX, 1 << 40, 77][random.below(6)]
}

fn kind(random: &mut Random, depth: usize) -> Kind {
    match random.below(if depth == 0 { 4 } else { 5 }) {
        0 => Kind::Plain,
        1 => Kind::Several(u8::try_from(random.below(256)).unwrap(), text(random)),
        2 => Kind::Named { a: integer(random), b: vec![true; random.below(3)] },
        3 => Kind::Empty {},
        _ => Kind::OneValue(Box::new(document(random, depth - 1))),
    }
}

fn document(random: &mut Random, depth: usize) -> Document {
    let few = |random: &mut Random| 0..random.below(4);
    #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
    let short = |random: &mut Random| number(random) as f32;
    let ready = ["null", "12345678901234567890123", "[1, {\"a\": 2}]", "\"t\""];
    Document {
        text: text(random),
        number: number(random),
        flat: Flat { x: number(random), y: (random.below(2) == 0).then_some(u64::MAX) },
        kinds: few(random).map(|_| kind(random, depth)).collect(),
        by_name: few(random).map(|_| (text(random), short(random))).collect(),
        by_number: few(random).map(|n| [(0, 'x'), (-1, '"'), (7, '\n'), (-300, 'ß')][n]).collect(),
        by_kind: few(random).map(|n| [(n > 1, (integer(random), u128::MAX))].into()).collect(),
        unit: Unit,
        newtype: Newtype(number(random)),
        pair: Pair(-7, (random.below(2) == 0).then(|| short(random))),
        shown: Shown(text(random)),
        written: ready.get(random.below(6)).map(|r| RawValue::from_string((*r).to_owned()).unwrap()),
        left_out: (random.below(2) == 0).then_some(3),
    }
}

#[test]
fn documents_are_what_serde_json_writes() {
    let mut random = Random::new(3);
    for _ in 0..500 {
        let document = document(&mut random, 3);
        let line = serde_json::to_string(&document).unwrap();
        assert_eq!(json_line(&document), line);
        for (layout, expected) in
            [(Layout::Line, line), (Layout::Indented, serde_json::to_string_pretty(&document).unwrap())]
        {
            let mut out = Vec::new();
            write_json(&document, layout, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}

#[test]
fn what_is_long_goes_on_its_way() {
    /// Counts what comes, and takes no more than it is to.
    struct Counting {
        pieces: usize,
        left: usize,
    }
    impl Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.pieces += 1;
            self.left = self.left.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("full"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let long: Vec<Vec<i64>> = vec![vec![12_345; 100]; 1000];
    let mut out = Counting { pieces: 0, left: 1 << 20 };
    write_json(&long, Layout::Line, &mut out).unwrap();
    assert!(out.pieces > 10 && out.pieces < 30, "{}", out.pieces);
    let flat = vec![12_345; 100_000];
    let mut out = Counting { pieces: 0, left: 1 << 20 };
    write_json(&flat, Layout::Line, &mut out).unwrap();
    assert!(out.pieces > 10 && out.pieces < 30, "{}", out.pieces);
    let mut full = Counting { pieces: 0, left: 100_000 };
    assert_eq!(write_json(&long, Layout::Line, &mut full).unwrap_err().to_string(), "full");
}

#[test]
fn names_are_texts() {
    let of_lists = BTreeMap::from([(vec![1], 2)]);
    assert!(write_json(&of_lists, Layout::Line, &mut Vec::new()).is_err());
}
