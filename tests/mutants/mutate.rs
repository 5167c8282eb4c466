//! Changes of texts.

use super::expression::grown;
use super::random::Rng;
use super::words::{KEYS, NUMBERS};

/// Longest text that changes make.
const LONGEST: usize = 60_000;

/// How the texts of a format are changed.
pub struct Style {
    /// Pieces that are put in.
    pub words: &'static [&'static str],
    /// Whether there are keys and expressions of kernels in them.
    pub is_language: bool,
}

impl Style {
    fn word(&self, rng: &mut Rng) -> &'static str {
        if rng.chance(4) { rng.pick(NUMBERS) } else { rng.pick(self.words) }
    }
}

/// A value of a parameter.
pub fn setting(rng: &mut Rng) -> String {
    let value = if rng.chance(2) { grown(rng, 2) } else { rng.pick(NUMBERS).to_owned() };
    format!("{}={value}", rng.pick(&["N", "NX", "R", "M", "Q", "x"]))
}

/// A text of a format with some changes. Few leave much that can be read, many reach far.
pub fn mutant(seeds: &[Vec<u8>], style: &Style, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = seeds[rng.below(seeds.len())].clone();
    for _ in 0..[1, 1, 2, 3, 5, 12][rng.below(6)] {
        change(&mut bytes, seeds, style, rng);
        bytes.truncate(LONGEST);
    }
    bytes
}

/// Ends of a random piece of a text.
fn piece(length: usize, longest: usize, rng: &mut Rng) -> (usize, usize) {
    if length == 0 {
        return (0, 0);
    }
    let from = rng.below(length);
    (from, (from + 1 + rng.below(longest)).min(length))
}

fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], style: &Style, rng: &mut Rng) {
    // The last ones are for texts with expressions.
    match rng.below(if style.is_language { 16 } else { 15 }) {
        0 if !bytes.is_empty() => {
            let at = rng.below(bytes.len());
            bytes[at] ^= 1 << rng.below(8);
        }
        1 => {
            let (from, to) = piece(bytes.len(), 12, rng);
            bytes.drain(from..to);
        }
        2 | 3 => {
            let at = rng.below(bytes.len() + 1);
            let token = style.word(rng);
            bytes.splice(at..at, token.bytes());
        }
        4 => {
            // A token in the place of another.
            let (from, to) = token_at(bytes, rng);
            let token = style.word(rng);
            bytes.splice(from..to, token.bytes());
        }
        5 => {
            let (from, to) = piece(bytes.len(), 200, rng);
            let copy = bytes[from..to].to_vec();
            let at = rng.below(bytes.len() + 1);
            let times = if rng.chance(10) { 1 + rng.below(60) } else { 1 };
            bytes.splice(at..at, copy.repeat(times));
        }
        6 | 7 => lines(bytes, rng),
        8 => {
            // The head of one text and the tail of another.
            let other = &others[rng.below(others.len())];
            let (at, from) = (rng.below(bytes.len() + 1), rng.below(other.len() + 1));
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
        9 => {
            let other = &others[rng.below(others.len())];
            let (from, to) = piece(other.len(), 300, rng);
            let at = rng.below(bytes.len() + 1);
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        10..=12 => {
            if let Some((from, to)) = number_at(bytes, rng) {
                let number = if rng.chance(2) {
                    i64::try_from(rng.below(100)).unwrap().to_string()
                } else if style.is_language && rng.chance(3) {
                    let depth = 1 + rng.below(4);
                    format!("({})", grown(rng, depth))
                } else {
                    rng.pick(NUMBERS).to_owned()
                };
                bytes.splice(from..to, number.bytes());
            }
        }
        13 => {
            let (from, to) = token_at(bytes, rng);
            let key = if style.is_language { rng.pick(KEYS) } else { style.word(rng) };
            bytes.splice(from..to, key.bytes());
        }
        14 => {
            let at = rng.below(bytes.len() + 1);
            let depth = 1 << rng.below(8);
            let (open, close) =
                [("[", "]"), ("(", ")"), ("{a: ", "}"), ("- ", ""), ("-", ""), ("min(1,", ")")][rng.below(6)];
            let nested = open.repeat(depth) + "x" + &close.repeat(depth);
            bytes.splice(at..at, nested.bytes());
        }
        _ => {
            let (from, to) = token_at(bytes, rng);
            let depth = 1 + rng.below(4);
            let grown = grown(rng, depth);
            bytes.splice(from..to, grown.bytes());
        }
    }
}

/// Ends of a word at a random place.
fn token_at(bytes: &[u8], rng: &mut Rng) -> (usize, usize) {
    if bytes.is_empty() {
        return (0, 0);
    }
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let at = rng.below(bytes.len());
    let from = bytes[..at].iter().rposition(|b| !word(b)).map_or(0, |i| i + 1);
    let to = bytes[at..].iter().position(|b| !word(b)).map_or(bytes.len(), |i| at + i);
    (from, to.max(from))
}

/// Ends of a number behind a random place.
fn number_at(bytes: &[u8], rng: &mut Rng) -> Option<(usize, usize)> {
    let start = rng.below(bytes.len() + 1);
    let from = start + bytes[start..].iter().position(u8::is_ascii_digit)?;
    let to = bytes[from..].iter().position(|b| !b.is_ascii_digit()).map_or(bytes.len(), |i| from + i);
    Some((from, to))
}

/// Takes out, doubles, swaps or moves lines.
fn lines(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (a, b) = (rng.below(lines.len()), rng.below(lines.len()));
    match rng.below(5) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a].clone()),
        2 => lines.swap(a, b),
        3 => {
            let line = lines.remove(a);
            lines.insert(b.min(lines.len()), line);
        }
        _ => lines[a].splice(0..0, "  ".bytes()).for_each(drop),
    }
    *bytes = lines.concat();
}
