//! `grammar/expression.ebnf` and the parser agree: the same rules by name, and the same texts. The
//! grammar is read and used here without the parser: it derives random texts, which are damaged a
//! little, and of each it says whether it belongs to the language.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use wavecast::expr::{parse_expression, parse_range};
use wavecast::text::{FileId, Origin, Span};

const GRAMMAR: &str = include_str!("../grammar/expression.ebnf");
const PARSER: &str = include_str!("../src/expr/parse.rs");

/// Rules inside which no white space may stand.
const LEXICAL: [&str; 3] = ["integer", "identifier", "coordinate"];
/// Rules that are part of another rule's function.
const PARTS: [&str; 6] = ["power_range", "decimal", "hexadecimal", "suffix", "coordinate", "dimension"];
/// Parsing functions that stand for no rule.
const HELPERS: [&str; 4] = ["run", "token", "expect", "chain"];

#[test]
fn rules_and_functions_have_the_same_names() {
    let rules: BTreeSet<&str> = GRAMMAR.lines().filter_map(defined).filter(|r| !PARTS.contains(r)).collect();
    let parsers = PARSER.split("fn ").skip(1).filter(|f| f.split('{').next().unwrap().contains("Parsed<"));
    let functions: BTreeSet<&str> = parsers
        .map(|f| f.split(|c: char| !is_name(c)).next().unwrap())
        .filter(|f| !HELPERS.contains(f))
        .collect();
    assert_eq!(rules, functions);
}

#[test]
fn the_parser_reads_what_the_grammar_derives_and_nothing_else() {
    let rules = Reader::rules();
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..1_200 {
        let mut random = Random(seed);
        let start = if seed % 3 == 0 { "range" } else { "expression" };
        let mut tokens = Vec::new();
        derive(&rules, &rules[start], &mut 8, &mut random, &mut tokens);
        // In the place of a dimension the parser also takes `(0)` and `+0`, which no one writes.
        let damaged = seed % 2 == 0 && !tokens.iter().any(|t| t.starts_with("get_"));
        if damaged {
            damage(&mut tokens, &mut random);
        }
        let text = written(&tokens, &mut random);
        let expected = belongs(&rules, start, &text);
        assert!(expected || damaged, "derived, but not recognised by the grammar: {text}");
        let origin = Origin::verbatim(Span::new(FileId(0), 0..text.len()));
        let found = if start == "range" {
            parse_range(&text, origin).map(drop)
        } else {
            parse_expression(&text, origin).map(drop)
        };
        assert_eq!(found.is_ok(), expected, "{start}: {text}\n{found:?}");
        *if expected { &mut valid } else { &mut invalid } += 1;
    }
    assert!(valid > 600 && invalid > 200, "{valid} texts were valid, {invalid} were not");
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The rule that a line of the grammar defines.
fn defined(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('=')?;
    let name = name.trim_end();
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

#[derive(Debug)]
enum Node {
    Terminal(String),
    Words(String),
    Rule(String),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Optional(Box<Node>),
    Repeated(Box<Node>),
}

type Rules = BTreeMap<String, Node>;

/// Reads EBNF.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn rules() -> Rules {
        let mut reader = Reader { rest: GRAMMAR };
        let mut rules = Rules::new();
        reader.skip();
        while !reader.rest.is_empty() {
            let name = reader.name().to_owned();
            assert!(reader.eat("="), "`=` expected after {name}");
            let definition = reader.choice();
            assert!(reader.eat(";"), "`;` expected after {name}, found {:.20}", reader.rest);
            assert!(rules.insert(name, definition).is_none());
        }
        rules
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
        while let Some(comment) = self.rest.strip_prefix("(*") {
            self.rest = comment.split_once("*)").unwrap().1.trim_start();
        }
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let after = self.rest.strip_prefix(symbol);
        self.rest = after.unwrap_or(self.rest);
        self.skip();
        after.is_some()
    }

    fn until(&mut self, end: char) -> &'t str {
        let (inside, rest) = self.rest.split_once(end).unwrap();
        self.rest = rest;
        self.skip();
        inside
    }

    fn name(&mut self) -> &'t str {
        let end = self.rest.find(|c| !is_name(c)).unwrap();
        assert!(end > 0, "a name was expected before {:.20}", self.rest);
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.skip();
        name
    }

    fn choice(&mut self) -> Node {
        let mut options = vec![self.sequence()];
        while self.eat("|") {
            options.push(self.sequence());
        }
        Node::Choice(options)
    }

    fn sequence(&mut self) -> Node {
        let mut parts = vec![self.part()];
        while self.eat(",") {
            parts.push(self.part());
        }
        Node::Sequence(parts)
    }

    fn part(&mut self) -> Node {
        if self.eat("\"") {
            return Node::Terminal(self.until('"').to_owned());
        }
        if self.eat("?") {
            return Node::Words(self.until('?').trim().to_owned());
        }
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}")] {
            if self.eat(open) {
                let inside = self.choice();
                assert!(self.eat(close), "`{close}` expected before {:.20}", self.rest);
                return match open {
                    "(" => inside,
                    "[" => Node::Optional(Box::new(inside)),
                    _ => Node::Repeated(Box::new(inside)),
                };
            }
        }
        Node::Rule(self.name().to_owned())
    }
}

/// A small generator of numbers that are random enough here (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % n as u64).unwrap()
    }

    fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Appends the tokens of a random text. When `fuel` is used up, the shortest way out is taken.
fn derive(rules: &Rules, node: &Node, fuel: &mut usize, random: &mut Random, out: &mut Vec<String>) {
    match node {
        Node::Terminal(text) => out.push(text.clone()),
        Node::Words(words) => out.push((*random.one_of(examples(words))).to_owned()),
        Node::Rule(name) if LEXICAL.contains(&name.as_str()) => {
            let mut parts = Vec::new();
            derive(rules, &rules[name], fuel, random, &mut parts);
            out.push(parts.concat());
        }
        Node::Rule(name) if name == "primary" && *fuel == 0 => out.push("n".to_owned()),
        Node::Rule(name) => {
            *fuel -= usize::from(name == "primary");
            derive(rules, &rules[name], fuel, random, out);
        }
        Node::Sequence(parts) => parts.iter().for_each(|p| derive(rules, p, fuel, random, out)),
        Node::Choice(options) => derive(rules, random.one_of(options), fuel, random, out),
        Node::Optional(inner) | Node::Repeated(inner) => {
            let most = if matches!(node, Node::Optional(_)) { 1 } else { 2 };
            let times = if *fuel == 0 || random.below(3) > 0 { 0 } else { 1 + random.below(most) };
            (0..times).for_each(|_| derive(rules, inner, fuel, random, out));
        }
    }
}

fn examples(words: &str) -> &'static [&'static str] {
    match words {
        _ if words.starts_with("a letter") => &["n", "x", "_a1", "NX", "src", "tidx", "threads", "zz_"],
        _ if words.contains("a-f") => &["0", "1F", "ff", "7a"],
        _ if words.starts_with("one or more digits") => &["0", "1", "007", "4096"],
        _ => panic!("unknown words in the grammar: {words}"),
    }
}

/// Changes the tokens so that they are hardly a text of the grammar any more.
fn damage(tokens: &mut Vec<String>, random: &mut Random) {
    const OTHERS: [&str; 30] = [
        "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "(", ")",
        "[", "]", ",", "..", "step", "pow2", "tidx", "min", "7", "0x1f", "=", "?",
    ];
    let at = random.below(tokens.len());
    match random.below(4) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[random.below(tokens.len())].clone()),
        2 => (*random.one_of(&OTHERS)).clone_into(&mut tokens[at]),
        _ => tokens.insert(at, (*random.one_of(&OTHERS)).to_owned()),
    }
}

/// Tokens as a text, with white space here and there and wherever two words would become one.
fn written(tokens: &[String], random: &mut Random) -> String {
    let mut text = String::new();
    for token in tokens {
        let words = text.ends_with(is_name) && token.starts_with(is_name);
        if words || random.below(3) == 0 {
            text.push(*random.one_of(&[' ', '\t', '\n']));
        }
        text.push_str(token);
    }
    text
}

/// Whether a text belongs to a rule of the grammar.
fn belongs(rules: &Rules, start: &str, text: &str) -> bool {
    let mut known = Known::new();
    let ends = matches(rules, &rules[start], text, 0, false, &mut known);
    ends.iter().any(|&end| text[end..].trim().is_empty())
}

type Known<'r> = HashMap<(&'r str, usize), BTreeSet<usize>>;

/// All places where something that a node stands for can end, if it starts at `at`.
fn matches<'r>(
    rules: &'r Rules,
    node: &'r Node,
    text: &str,
    at: usize,
    lexical: bool,
    known: &mut Known<'r>,
) -> BTreeSet<usize> {
    let start = if lexical { at } else { at + text[at..].len() - text[at..].trim_start().len() };
    match node {
        Node::Terminal(terminal) => {
            text[start..].starts_with(terminal.as_str()).then(|| start + terminal.len()).into_iter().collect()
        }
        Node::Words(words) => word(words, &text[start..]).map(|length| start + length).into_iter().collect(),
        Node::Rule(name) => {
            let key = (name.as_str(), at);
            if let Some(ends) = known.get(&key) {
                return ends.clone();
            }
            let inside = lexical || LEXICAL.contains(&name.as_str());
            let ends = matches(rules, &rules[name], text, if inside { start } else { at }, inside, known);
            // A word ends where no further letter follows.
            let whole = |&end: &usize| !LEXICAL.contains(&name.as_str()) || !text[end..].starts_with(is_name);
            let ends: BTreeSet<usize> = ends.into_iter().filter(whole).collect();
            known.insert(key, ends.clone());
            ends
        }
        Node::Sequence(parts) => parts.iter().fold(BTreeSet::from([at]), |starts, part| {
            starts.into_iter().flat_map(|s| matches(rules, part, text, s, lexical, known)).collect()
        }),
        Node::Choice(options) => {
            options.iter().flat_map(|o| matches(rules, o, text, at, lexical, known)).collect()
        }
        Node::Optional(inner) => {
            let mut ends = matches(rules, inner, text, at, lexical, known);
            ends.insert(at);
            ends
        }
        Node::Repeated(inner) => {
            let (mut ends, mut new) = (BTreeSet::from([at]), vec![at]);
            while let Some(from) = new.pop() {
                for end in matches(rules, inner, text, from, lexical, known) {
                    if ends.insert(end) {
                        new.push(end);
                    }
                }
            }
            ends
        }
    }
}

/// The length of the word with which a text begins.
fn word(words: &str, text: &str) -> Option<usize> {
    let letters = words.starts_with("a letter");
    let inside = |c: char| match words {
        _ if letters => is_name(c),
        _ if words.contains("a-f") => c.is_ascii_hexdigit(),
        _ => c.is_ascii_digit(),
    };
    let first = |c: char| inside(c) && !(letters && c.is_ascii_digit());
    text.starts_with(first).then(|| text.find(|c| !inside(c)).unwrap_or(text.len()))
}
