//! No text makes the language front end panic, hang or eat memory: kernel documents, expressions and
//! ranges are mutated at random, read, and whatever can be read is folded, launched, run and reported.
//!
//! Every case follows from a seed and a number alone. `WAVECAST_FUZZ_SEED`, `WAVECAST_FUZZ_FIRST` and
//! `WAVECAST_FUZZ_CASES` choose them; a failure prints the values that repeat it. By hand:
//! `WAVECAST_FUZZ_CASES=1000000 cargo test --release --test language_fuzz -- --nocapture mutated`.

use std::cell::Cell;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wavecast::device::{self, Device};
use wavecast::expr::{
    Binding, Builtin, Coord, Dim, Environment, Expr, Form, LaunchSizes, LoopId, Names, Scale, Scope, Table,
    evaluate, evaluate_condition, evaluate_rational, expand_range, lower, lower_condition, parse_expression,
    parse_range,
};
use wavecast::kernel::{Kernel, Limits, Loaded, Options, load};
use wavecast::launch::{Launch, Program, candidates, occupancy, visit_thread};
use wavecast::report::{ErrorDocument, check, check_table, check_text, render_fault, render_warnings};
use wavecast::source::{FileId, Origin, Span};

/// Longest that a case may take, measured a second time before it counts: other programs run too.
const LONGEST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 8_000 } else { 1_000 });
/// Beyond this a case is taken for endless.
const ENDLESS_SECONDS: u64 = 60;
/// Most memory that the whole process may ever have used, in kB.
const MOST_MEMORY: u64 = 1 << 20;
/// Cases per thread; the thread's name tells a stack overflow's place.
const CHUNK: u64 = 500;

// --- random numbers ---

/// `SplitMix64`: small, and any seed is a good one.
struct Rng(u64);

impl Rng {
    fn of_case(seed: u64, case: u64) -> Self {
        let mut rng = Rng(seed ^ case.wrapping_mul(0xd134_2543_de82_ef95));
        rng.next();
        rng
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is positive.
    fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).unwrap();
        usize::try_from(self.next() % n).unwrap()
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

// --- what is mutated ---

const DOCUMENTS: &[&str] = &[
    r#"{"wavecast":1,"kernel":"copy","fields":{"a":{"dtype":"f64","size":1024},"b":{"like":"a"}},"domain":{"x":1024},"loads":["a[x]"],"stores":["b[x]"]}"#,
    r#"{"wavecast": 1, "kernel": "stencil", "params": {"NX": 640, "NY": 512, "R": 2},
 "fields": {"u": {"dtype": "f32", "shape": ["NX+2*R", "NY+2*R"], "halo": ["R", "R"], "order": "C", "align": 512},
            "v": {"like": "u", "offset": -3, "multiplicity": 2}},
 "domain": [{"x": "NX"}, {"y": "NY"}],
 "loads": [{"for": {"i": "-R..R"}, "at": ["u[x+i, y]", "u[x, y+i]"], "width": 16}],
 "stores": [{"at": "v[x, y]", "when": "x > 0 && x < NX-1 || !(y == 3)"}],
 "work": {"unit": "LUP", "flops": 9.5, "precision": "f32"},
 "launch": {"block": {"x": "pow2(1..1024)", "y": [1, "2..4 step 2"], "threads": [256, 512]}, "fold": [[1], [1, 2], [4, 1, 1]], "registers": [{"fold": [1], "threads": 256, "value": 40}, {"value": 32}]}}"#,
    r#"{"wavecast":1,"kernel":"loops","tables":{"t":[[1,2],[3,4],[5,6]]},"params":{"N":100},"fields":{"a":{"dtype":8,"size":"N*N"},"s":{"dtype":"f32","shape":["blockDim.x+1","4"],"space":"shared"}},"domain":{"x":"N","y":3},"guard":"x % 2 == 0","body":[{"loop":{"k":"0..N-1"},"body":["load a[x + N*k]","sync",{"loop":{"j":{"from":"tidx","to":"N-1","step":"blockDim.x*gridDim.x","sample":2}},"body":[{"for":{"q":"0..2"},"at":["load a + t[q][1] + j","store s[threadIdx.x, q]"],"when":"k < 5"}]}]},"atomic a[t[y % 3][0]]"],"launch":{"grid":["N/blockDim.x+1",1,1],"block":[[32],[64,2]],"units_per_thread":"1/32","shared":"4*blockDim.x"}}"#,
    "wavecast: 1\nkernel: proxy\nparams: {N: 1000, M: N/3}\ntables:\n  col: [0, 5, 2, 9, 7]\nfields:\n  a: {dtype: c128, shape: [N, 5], strides: [5, 1]}\n  b: {dtype: i8, size: M*5, halo: 2}\ndomain: {row: N}\nguard: row*2 < N || col[row % 5] > 3\nloads:\n  - {for: {k: [0..2, 4, 3]}, at: \"a[min(row + col[k], N-1), k]\", when: row + k < N}\n  - b + max(tidx - 5, 0) / 7 % 13\n  - {at: \"b[(row << 1) >> 2]\", width: 1}\natomics: [\"a[row, 0]\"]\nlaunch:\n  block: [[64], [128], [256]]\n  fold: [[1], [2], [3]]\n  registers: 24\n  shared: 1024 + 8*blockDim.x\n",
    "wavecast: 1\nkernel: anchors\nfields: &f\n  a: &a {dtype: f64, size: 4096}\n  b: *a\ndomain: {x: 4096}\nloads: &l\n  - a[x]\n  - 'a[x]'\n  - \"a[\\x78]\"\n  - >-\n    a[x\n    ]\nstores: [\"b[x]\"]\nlaunch: {block: [[32]], fold: [[1], [2, 1], [1, 1, 1]]}\n",
    "# many documents\n--- \nwavecast: 1\nkernel: one\nfields: {a: {dtype: 4, size: 64}}\ndomain: {i: 64}\nstores: ['a[i]']\n...\n---\nwavecast: 1.0\nkernel: two\nparams: {N: 1e3, H: 0x10, O: 0o17}\nfields: {a: {dtype: f16, size: N, offset: -H}}\ndomain: {i: N}\nstores: ['a + get_global_id(0) - get_local_id(0) + get_group_id(0)*0 + get_local_size(0)']\nlaunch: {grid: [get_num_groups(0)*0 + 7], block: [[16]]}\n",
    "wavecast: 1\nkernel: variants\nparams: {N: 512, T: 16}\nfields:\n  a: {dtype: f32, shape: [N, N], order: C}\ndomain: {x: N, y: N}\nloads: [\"a[y, x]\"]\nlaunch: {block: [[T, T]], registers: 20}\nvariants:\n  - {name: small, params: {T: 8}}\n  - {name: long, launch: {block: [[4*T]], registers: null}}\n  - {loads: [\"a[x, y]\", \"a[y/T*T + x%T, x/T*T + y%T]\"]}\n",
    "wavecast: 1\nkernel: swizzle\nfields: {a: {dtype: f64, size: 1 << 20}, b: {like: a}}\ndomain: {x: 256, y: 64, z: 8}\nloads:\n  - a + (threadIdx.x + blockIdx.x*blockDim.x + 1) + (threadIdx.y + blockIdx.y*blockDim.y)*256 + tidz*16384\n  - a[(x/16*256 + x%16 + y%16*16 + y/16*4096 + z*16384) % (1 << 20)]\n  - {at: \"a + (tidx ) % blockDim.x + tidy / gridDim.y + get_global_size(0)\", when: \"blockIdx.x != 3 && (x + y) % 2 == 1\"}\nstores: [\"b[z*16384 + y*256 + x]\"]\nlaunch: {block: [[16, 16], [32, 8, 1], [64, 2, 2]], fold: [[1, 1, 1], [2, 2, 1], [1, 1, 4], [4, 4, 4]]}\n",
];

const EXPRESSIONS: &[&str] = &[
    "x",
    "-x + 1",
    "x + y*640 + z*640*512",
    "src[x + r, y, z]",
    "src + (threadIdx.x + blockIdx.x*blockDim.x + 1) + (threadIdx.y + blockIdx.y*blockDim.y)*w",
    "t[x % 4][1]",
    "t[(x + 1) % 4, y % 2]",
    "x/16*256 + x%16",
    "(x + y) / 3 % 5",
    "((x + y) / 3 - 7) / 4",
    "min(max(x - 1, 0), N - 1)",
    "max(x, min(y, z)) % 32",
    "tidx + tidy*blockDim.x*gridDim.x",
    "get_global_id(0) + get_local_id(1)*get_local_size(0) - get_group_id(2)",
    "get_num_groups(1)*get_global_size(2)",
    "x << 3 >> 1",
    "1 << 62",
    "0x1F + 0XffUL + 12ull",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "x % (blockDim.x + 1)",
    "x / (2*blockDim.x)",
    "tidx % blockDim.x / 2",
    "x / blockDim.x / blockDim.y",
    "tidx % (blockDim.x % 7 + 1)",
    "(blockDim.x + blockDim.y)*(gridDim.x + 2)*x",
    "min(blockDim.x, 64)*y",
    "x - (y - (z - 1))",
    "-(-x)",
    "- - -x",
    "+x",
    "!(x < 3)",
    "!!(x == y)",
    "x < 3 && y >= 2 || z != 1",
    "(x < 3 || y < 2) && !(z > 1 && x != y)",
    "(x < 1) < 2",
    "x/3%7 == 2",
    "k*8 + N",
    "(x + 5)/4*4 - x",
    "(a[0])[1]",
    "1..N",
    "0..N-1 step 2",
    "10..0 step -3",
    "pow2(1..1024)",
    "pow2(N..2*N)",
    "-9223372036854775807..9223372036854775807 step 4611686018427387904",
    "(N)..(N)",
    "4",
];

const TOKENS: &[&str] = &[
    // the grammar
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&&",
    "||",
    "!",
    "(",
    ")",
    "[",
    "]",
    ",",
    "..",
    " step ",
    "pow2(",
    "min(",
    "max(",
    "threadIdx.x",
    "blockIdx.y",
    "blockDim.z",
    "gridDim.x",
    "tidx",
    "tidy",
    "tidz",
    "get_global_id(0)",
    "get_local_size(1)",
    "get_global_size(2)",
    "x",
    "y",
    "z",
    "N",
    "t[",
    "x % 3",
    "x / 7",
    "*2/3",
    "%(blockDim.x",
    "/(blockDim.y+1)",
    "tidx%(",
    "0x",
    "uL",
    "..1",
    // YAML
    ": ",
    "- ",
    "\n",
    "\n  ",
    "\n- ",
    "\n---\n",
    "\n...\n",
    "#",
    "&a ",
    "*a",
    "&a",
    "<<: *a\n",
    "<<",
    "? ",
    "| ",
    "|\n",
    ">-\n  ",
    "\"",
    "'",
    "{",
    "}",
    "{}",
    "[]",
    "[[",
    "]]",
    "[[[[[[[[",
    "]]]]]]]]",
    "{{",
    "}}",
    "!!str ",
    "!x ",
    "%YAML 1.2\n",
    "~",
    "null",
    "true",
    "@",
    "`",
    "\t",
    "\r",
    "\r\n",
    "\\",
    "\0",
    "\u{feff}",
    "é",
    "漢",
    "\u{1f980}",
    "\u{2028}",
    "\u{85}",
    "\u{7f}",
    " ",
    "      ",
    // the format
    "wavecast: 1\n",
    "kernel: k\n",
    "params: {N: 3}\n",
    "fields",
    "domain: ",
    "loads",
    "stores",
    "atomics",
    "body",
    "guard: ",
    "launch: ",
    "block: ",
    "fold: ",
    "variants",
    "like: ",
    "for: ",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "63",
    "64",
    "1023",
    "4096",
    "65535",
    "65536",
    "100000",
    "2147483647",
    "4611686018427387903",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e3",
    "1e18",
    "1e308",
    "-0",
    "0.5",
    ".5",
    "0x7fffffffffffffff",
    "0o17",
    "0b1",
];

const KEYS: &[&str] = &[
    "wavecast",
    "kernel",
    "about",
    "params",
    "tables",
    "fields",
    "domain",
    "loads",
    "stores",
    "atomics",
    "body",
    "guard",
    "work",
    "launch",
    "variants",
    "dtype",
    "shape",
    "size",
    "order",
    "strides",
    "halo",
    "align",
    "offset",
    "space",
    "multiplicity",
    "like",
    "unit",
    "flops",
    "precision",
    "block",
    "fold",
    "registers",
    "shared",
    "grid",
    "units_per_thread",
    "threads",
    "for",
    "at",
    "width",
    "when",
    "loop",
    "sample",
];

struct Corpus {
    documents: Vec<String>,
    expressions: Vec<String>,
}

fn corpus() -> &'static Corpus {
    static CORPUS: OnceLock<Corpus> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = Vec::new();
        // The client documents are not part of a published package.
        for folder in ["kernels", "tests/clients"] {
            let files = std::fs::read_dir(root.join(folder)).into_iter().flatten();
            paths.extend(
                files.map(|f| f.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "yaml")),
            );
        }
        paths.sort();
        let mut documents: Vec<String> = paths.iter().map(|p| std::fs::read_to_string(p).unwrap()).collect();
        assert!(!documents.is_empty(), "kernels/*.yaml are there");
        documents.extend(DOCUMENTS.iter().map(|&d| d.to_owned()));
        Corpus { documents, expressions: EXPRESSIONS.iter().map(|&e| e.to_owned()).collect() }
    })
}

fn a_device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| device::find("a100", &[]).unwrap())
}

/// An expression made rule by rule from the grammar.
fn grown(rng: &mut Rng, depth: usize) -> String {
    const LEAVES: [&str; 26] = [
        "x",
        "y",
        "z",
        "tidx",
        "tidy",
        "N",
        "M",
        "k",
        "r",
        "threadIdx.x",
        "threadIdx.y",
        "blockIdx.x",
        "blockIdx.z",
        "blockDim.x",
        "blockDim.y",
        "gridDim.x",
        "0",
        "1",
        "2",
        "3",
        "7",
        "16",
        "255",
        "9223372036854775807",
        "a",
        "t[1, 0]",
    ];
    if depth == 0 || rng.chance(4) {
        return rng.pick(&LEAVES).to_owned();
    }
    let a = grown(rng, depth - 1);
    let b = if rng.chance(2) { grown(rng, depth - 1) } else { format!("{}", 1 + rng.below(20)) };
    match rng.below(16) {
        0 => format!("({a})"),
        1 => format!("-({a})"),
        2 => format!("min({a}, {b})"),
        3 => format!("max({a}, {b})"),
        4 => format!("t[({a}) % 4, ({b}) % 2]"),
        5 => format!("({a}) % ({b})"),
        6 => format!("({a})/({b})"),
        7 => format!("({a} {} {b})", rng.pick(&["<", "<=", ">", ">=", "==", "!=", "&&", "||"])),
        8 => format!("!({a})"),
        n => format!("{a} {} {b}", ["+", "-", "*", "/", "%", "<<", ">>"][n - 9]),
    }
}

// --- mutations ---

/// A text to read and how it is meant.
enum Case {
    Document(String, Vec<String>),
    Expression(String),
}

fn case(rng: &mut Rng) -> Case {
    let corpus = corpus();
    if rng.chance(4) {
        let mut text = if rng.chance(2) {
            let depth = 1 + rng.below(5);
            grown(rng, depth)
        } else {
            corpus.expressions[rng.below(corpus.expressions.len())].clone()
        };
        for _ in 0..rng.below(4) {
            text = mutated(text, &corpus.expressions, rng);
        }
        return Case::Expression(text);
    }
    let mut text = corpus.documents[rng.below(corpus.documents.len())].clone();
    // Few changes leave much that can be read, many reach far.
    let changes = [1, 1, 2, 3, 5, 12][rng.below(6)];
    for _ in 0..changes {
        text = mutated(text, &corpus.documents, rng);
    }
    let set = if rng.chance(8) {
        let value = if rng.chance(2) { grown(rng, 2) } else { any_token(rng).to_owned() };
        vec![format!("{}={value}", rng.pick(&["N", "NX", "R", "M", "Q", "x"]))]
    } else {
        Vec::new()
    };
    Case::Document(text, set)
}

fn any_token(rng: &mut Rng) -> &'static str {
    if rng.chance(4) { rng.pick(NUMBERS) } else { rng.pick(TOKENS) }
}

/// Ends of a random piece of a text.
fn piece(length: usize, longest: usize, rng: &mut Rng) -> (usize, usize) {
    if length == 0 {
        return (0, 0);
    }
    let from = rng.below(length);
    (from, (from + 1 + rng.below(longest)).min(length))
}

fn mutated(text: String, others: &[String], rng: &mut Rng) -> String {
    let mut bytes = text.into_bytes();
    match rng.below(16) {
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
            let token = any_token(rng);
            bytes.splice(at..at, token.bytes());
        }
        4 => {
            // A token in the place of another.
            let (from, to) = token_at(&bytes, rng);
            let token = any_token(rng);
            bytes.splice(from..to, token.bytes());
        }
        5 => {
            let (from, to) = piece(bytes.len(), 200, rng);
            let copy = bytes[from..to].to_vec();
            let at = rng.below(bytes.len() + 1);
            let times = if rng.chance(10) { 1 + rng.below(60) } else { 1 };
            bytes.splice(at..at, copy.repeat(times));
        }
        6 | 7 => lines(&mut bytes, rng),
        8 => {
            // The head of one text and the tail of another.
            let other = others[rng.below(others.len())].as_bytes();
            let (at, from) = (rng.below(bytes.len() + 1), rng.below(other.len() + 1));
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
        9 => {
            let other = others[rng.below(others.len())].as_bytes();
            let (from, to) = piece(other.len(), 300, rng);
            let at = rng.below(bytes.len() + 1);
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        10..=12 => {
            if let Some((from, to)) = number_at(&bytes, rng) {
                let number = if rng.chance(2) {
                    i64::try_from(rng.below(100)).unwrap().to_string()
                } else if rng.chance(3) {
                    let depth = 1 + rng.below(4);
                    format!("({})", grown(rng, depth))
                } else {
                    rng.pick(NUMBERS).to_owned()
                };
                bytes.splice(from..to, number.bytes());
            }
        }
        13 => {
            let (from, to) = token_at(&bytes, rng);
            let key = rng.pick(KEYS);
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
            let (from, to) = token_at(&bytes, rng);
            let depth = 1 + rng.below(4);
            let grown = grown(rng, depth);
            bytes.splice(from..to, grown.bytes());
        }
    }
    bytes.truncate(60_000);
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
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

// --- what is done with a case ---

fn small() -> Limits {
    Limits { document_bytes: 50_000, accesses: 2_000, candidates: 2_000, variants: 10 }
}

fn run(case: &Case, rng: &mut Rng) -> bool {
    match case {
        Case::Document(text, set) => document(text, set, rng),
        Case::Expression(text) => expression(text, rng),
    }
}

fn read(text: &str, set: &[String], limits: Limits) -> Option<Loaded> {
    match load("fuzz.yaml", text, &Options { set: set.to_vec(), limits }) {
        Ok(loaded) => Some(loaded),
        Err(fault) => {
            assert!(!fault.diagnostics.is_empty(), "a fault says what is wrong");
            let _ = (fault.to_string(), render_fault(&fault));
            let _ = serde_json::to_string(&ErrorDocument::new([&fault])).unwrap();
            None
        }
    }
}

fn document(text: &str, set: &[String], rng: &mut Rng) -> bool {
    if let Some(loaded) = read(text, set, Limits::default()) {
        for kernel in loaded.kernels.iter().take(2) {
            launches(kernel, 1, rng);
        }
    }
    let Some(loaded) = read(text, set, small()) else { return false };
    for kernel in loaded.kernels.iter().take(3) {
        launches(kernel, 4, rng);
        let _ = render_warnings(&kernel.warnings, &loaded.sources);
        for (device, list) in [(Some(a_device()), true), (None, false)] {
            let summary = check(kernel, &loaded.sources, device, list);
            let _ = check_text(&summary, list, if list { None } else { Some(80) });
            let table = check_table(std::slice::from_ref(&summary));
            let _ = (table.csv(), table.markdown());
            let _ = serde_json::to_string(&summary).unwrap();
        }
    }
    true
}

fn launches(kernel: &Kernel, most: usize, rng: &mut Rng) {
    for &fold in kernel.launch.folds.iter().take(most) {
        let Ok(program) = Program::folded(kernel, fold) else { continue };
        let skipped = rng.below(40);
        let some = candidates(kernel).filter(|c| c.fold == fold);
        for candidate in some.skip(skipped).take(most).chain(candidates(kernel).take(1)) {
            let Ok(launch) = Launch::new(kernel, candidate) else { continue };
            let _ = occupancy(a_device(), &launch);
            if candidate.fold == fold
                && let Ok(program) = program.at(&launch)
            {
                threads(&program, kernel, &launch, rng);
            }
        }
    }
}

fn threads(program: &Program<i64>, kernel: &Kernel, launch: &Launch, rng: &mut Rng) {
    let LaunchSizes { block: shape, grid } = launch.sizes;
    let mut inside = |sizes: [i64; 3]| sizes.map(|n| i64::try_from(rng.next() % n.unsigned_abs()).unwrap());
    let last = |sizes: [i64; 3]| sizes.map(|n| n - 1);
    for (block, thread) in [([0; 3], [0; 3]), (last(grid), last(shape)), (inside(grid), inside(shape))] {
        let seen = Cell::new(0);
        let ran = visit_thread(program, kernel.extents(), shape, block, thread, 300, &mut |touch| {
            assert!(touch.position < program.instructions.len());
            seen.set(seen.get() + 1);
        });
        assert!(seen.get() <= 300, "{ran:?}");
    }
}

/// A place for names: three axes, numbers, a table, a field, a loop.
struct World {
    table: Arc<Table>,
    at: [i64; 3],
    thread: [i64; 3],
    block: [i64; 3],
    sizes: LaunchSizes,
    k: i64,
}

const EXTENTS: [i64; 3] = [640, 512, 16];

impl World {
    fn new(rng: &mut Rng) -> Self {
        let table = Table::new("t".into(), vec![4, 2], vec![3, -1, 4, -1, 5, -9, 2, 6]);
        let mut below = |n: i64| i64::try_from(rng.next() % n.unsigned_abs()).unwrap();
        let at = EXTENTS.map(&mut below);
        let shape = [32_i64, 8, 4].map(|n| 1 + below(n));
        let thread = [0, 1, 2].map(|d| at[d] % shape[d]);
        let block = [0, 1, 2].map(|d| at[d] / shape[d]);
        let grid = [0, 1, 2].map(|d| EXTENTS[d].div_euclid(shape[d]) + 1);
        let sizes = LaunchSizes { block: shape, grid };
        World { table: Arc::new(table), at, thread, block, sizes, k: below(10) }
    }

    /// Coordinates as they are with folding 1.
    fn coord(&self, coord: Coord) -> i64 {
        match coord {
            Coord::Axis(d) | Coord::Thread(d) => self.at[d.index()],
            Coord::ThreadIdx(d) => self.thread[d.index()],
            Coord::BlockIdx(d) => self.block[d.index()],
            Coord::Loop(_) => self.k,
        }
    }
}

impl Environment for World {
    fn name(&self, name: &str) -> Option<i64> {
        match self.resolve(name)? {
            Binding::Value(n) => Some(n),
            Binding::Coord(c) => Some(self.coord(c)),
            Binding::Table(_) | Binding::Field => None,
        }
    }

    fn builtin(&self, builtin: Builtin) -> Option<i64> {
        let LaunchSizes { block, grid } = &self.sizes;
        Some(match builtin {
            Builtin::ThreadIdx(d) => self.coord(Coord::ThreadIdx(d)),
            Builtin::BlockIdx(d) => self.coord(Coord::BlockIdx(d)),
            Builtin::GlobalThread(d) => self.coord(Coord::Thread(d)),
            Builtin::BlockDim(d) => block[d.index()],
            Builtin::GridDim(d) => grid[d.index()],
            Builtin::GlobalSize(d) => block[d.index()] * grid[d.index()],
        })
    }

    fn table(&self, name: &str, indices: &[i64]) -> Option<i64> {
        (name == "t").then(|| self.table.get(indices))?
    }
}

impl Scope for World {
    fn resolve(&self, name: &str) -> Option<Binding> {
        Some(match name {
            "x" => Binding::Coord(Coord::Axis(Dim::X)),
            "y" => Binding::Coord(Coord::Axis(Dim::Y)),
            "z" => Binding::Coord(Coord::Axis(Dim::Z)),
            "k" => Binding::Coord(Coord::Loop(LoopId(0))),
            "N" => Binding::Value(100),
            "M" => Binding::Value(-7),
            "w" => Binding::Value(1 << 40),
            "r" => Binding::Value(1),
            "t" => Binding::Table(self.table.clone()),
            "src" | "a" => Binding::Field,
            _ => return None,
        })
    }

    fn interval(&self, coord: Coord) -> Option<(i64, i64)> {
        match coord {
            Coord::Axis(d) => Some((0, EXTENTS[d.index()] - 1)),
            Coord::Loop(_) => Some((0, 9)),
            Coord::ThreadIdx(_) => Some((0, 31)),
            Coord::Thread(_) | Coord::BlockIdx(_) => None,
        }
    }

    fn known(&self) -> Vec<&str> {
        vec!["x", "y", "z", "N", "t"]
    }
}

fn origin(text: &str) -> Origin {
    Origin::verbatim(Span::new(FileId(0), 0..text.len()))
}

fn expression(text: &str, rng: &mut Rng) -> bool {
    let world = World::new(rng);
    if let Ok(range) = parse_range(text, origin(text)) {
        let printed = range.to_string();
        let again = parse_range(&printed, origin(&printed));
        assert_eq!(again.as_ref().map(ToString::to_string), Ok(printed), "printed range of {text:?}");
        let values = expand_range(&range, &world, 1000);
        assert!(values.as_ref().is_ok_and(|v| v.len() <= 1000) || values.is_err());
        assert_eq!(values.ok(), expand_range(&again.unwrap(), &world, 1000).ok());
    }
    let Ok(tree) = parse_expression(text, origin(text)) else { return false };
    let printed = tree.to_string();
    let again = parse_expression(&printed, origin(&printed));
    assert_eq!(again.as_ref().map(ToString::to_string), Ok(printed.clone()), "printed form of {text:?}");
    let again = again.unwrap();
    let direct = evaluate(&tree, &world).ok();
    assert_eq!(direct, evaluate(&again, &world).ok(), "{text:?} printed as {printed:?}");
    let truth = evaluate_condition(&tree, &world).ok();
    assert_eq!(truth, evaluate_condition(&again, &world).ok(), "{text:?} printed as {printed:?}");
    let _ = evaluate_rational(&tree, &world);
    let names = Names { axes: ["x", "y", "z"].map(str::to_owned).to_vec(), loops: vec!["k".into()] };
    if let Ok(form) = lower(&tree, &world) {
        let value = at_world(&form, &world);
        if let (Some(direct), Some(value)) = (direct, value) {
            assert_eq!(direct, value, "{text:?} lowered to {form:?} at {:?} {:?}", world.at, world.sizes);
        }
        let shown = names.form(&form);
        let reread = reread(&shown, &world).map(|f| at_world(&f, &world));
        if let (Some(value), Some(Some(reread))) = (value, reread) {
            assert_eq!(value, reread, "{text:?} shown as {shown:?}");
        }
    }
    if let Ok(cond) = lower_condition(&tree, &world) {
        let value = cond.fold([1; 3], [0; 3]).and_then(|c| c.at(&world.sizes)).ok();
        let value = value.and_then(|c| c.evaluate(&|c| Some(world.coord(c))));
        if let (Some(truth), Some(value)) = (truth, value) {
            assert_eq!(truth, value, "{text:?} lowered to {cond:?} at {:?} {:?}", world.at, world.sizes);
        }
        let _ = names.cond(&cond);
    }
    true
}

fn reread(shown: &str, world: &World) -> Option<Form<Scale>> {
    let tree: Expr = parse_expression(shown, origin(shown)).ok()?;
    lower(&tree, world).ok()
}

fn at_world(form: &Form<Scale>, world: &World) -> Option<i64> {
    let form = form.fold([1; 3], [0; 3]).ok()?.at(&world.sizes).ok()?;
    form.evaluate(&|c| Some(world.coord(c)))
}

// --- the runs ---

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

/// Most memory that the process has used so far, in kB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

fn check_memory() {
    let peak = peak_memory();
    assert!(peak.is_none_or(|kb| kb < MOST_MEMORY), "{} MB of memory were used", peak.unwrap_or(0) / 1024);
}

/// Ends the process if one step takes too long: a thread cannot be stopped from outside.
fn watch(beat: &'static AtomicU64, what: &'static str, seed: u64) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (u64::MAX, Instant::now());
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let now = beat.load(Ordering::Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            } else if now == u64::MAX {
                return;
            } else if since.elapsed().as_secs() > ENDLESS_SECONDS {
                eprintln!(
                    "{what}: WAVECAST_FUZZ_SEED={seed} WAVECAST_FUZZ_FIRST={now} WAVECAST_FUZZ_CASES=1 does not end"
                );
                std::process::abort();
            }
        }
    });
}

#[derive(Default)]
struct Tally {
    read: u64,
    worst: Duration,
    worst_case: u64,
    failures: Vec<String>,
}

fn timed(case: &Case, seed: u64, number: u64) -> (Result<bool, String>, Duration) {
    let start = Instant::now();
    // The random choices of the run are the same each time.
    let result = catch_unwind(AssertUnwindSafe(|| run(case, &mut Rng::of_case(!seed, number))));
    let result = result.map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        text.or_else(|| cause.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
    });
    (result, start.elapsed())
}

fn one(seed: u64, number: u64, tally: &mut Tally) {
    let case = case(&mut Rng::of_case(seed, number));
    let (result, mut took) = timed(&case, seed, number);
    let mut tries = 1;
    while took > LONGEST && tries < 3 {
        took = took.min(timed(&case, seed, number).1);
        tries += 1;
    }
    if took > tally.worst {
        (tally.worst, tally.worst_case) = (took, number);
    }
    let problem = match result {
        Ok(read) => {
            tally.read += u64::from(read);
            (took > LONGEST).then(|| format!("took {took:?}"))
        }
        Err(cause) => Some(format!("panicked: {cause}")),
    };
    if let Some(problem) = problem {
        let mut report = format!(
            "WAVECAST_FUZZ_SEED={seed} WAVECAST_FUZZ_FIRST={number} WAVECAST_FUZZ_CASES=1 {problem}\n"
        );
        let _ = match &case {
            Case::Document(text, set) => writeln!(report, "document, --set {set:?}:\n{text}"),
            Case::Expression(text) => writeln!(report, "expression: {text:?}"),
        };
        eprintln!("{report}");
        tally.failures.push(report);
    }
}

#[test]
fn mutated_documents_and_expressions() {
    static BEAT: AtomicU64 = AtomicU64::new(0);
    let seed = from_environment("WAVECAST_FUZZ_SEED", 1);
    let first = from_environment("WAVECAST_FUZZ_FIRST", 0);
    let cases = from_environment("WAVECAST_FUZZ_CASES", if cfg!(debug_assertions) { 4_000 } else { 20_000 });
    let most_failures = usize::try_from(from_environment("WAVECAST_FUZZ_FAILURES", 20)).unwrap();
    watch(&BEAT, "fuzz", seed);
    let start = Instant::now();
    let mut total = Tally::default();
    let mut at = first;
    while at < first + cases && total.failures.len() < most_failures {
        let end = (at + CHUNK).min(first + cases);
        // A stack overflow ends the process and tells no more than the thread's name.
        let name = format!("seed {seed} cases {at}..{end}");
        let chunk = move || {
            let mut tally = Tally::default();
            for number in at..end {
                BEAT.store(number, Ordering::Relaxed);
                one(seed, number, &mut tally);
            }
            tally
        };
        let tally = std::thread::Builder::new().name(name).spawn(chunk).unwrap().join().unwrap();
        if tally.worst > total.worst {
            (total.worst, total.worst_case) = (tally.worst, tally.worst_case);
        }
        total.read += tally.read;
        total.failures.extend(tally.failures);
        at = end;
    }
    BEAT.store(u64::MAX, Ordering::Relaxed);
    eprintln!(
        "seed {seed}: {} cases from {first} in {:.0?}, {} could be read, longest {:.0?} (case {}), peak {} MB",
        at - first,
        start.elapsed(),
        total.read,
        total.worst,
        total.worst_case,
        peak_memory().unwrap_or(0) / 1024,
    );
    assert!(total.failures.is_empty(), "{} cases failed:\n{}", total.failures.len(), total.failures[0]);
    check_memory();
}

// --- documents made to hurt ---

/// How large a hurtful document is: everything here is read in about linear time, a quadratic step
/// anywhere would take minutes.
const LARGE: usize = if cfg!(debug_assertions) { 20_000 } else { 100_000 };

/// What is expected of a hurtful document.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// It is understood.
    Good,
    /// It is refused, with this code first.
    Bad(&'static str),
    /// It is refused, by our limits or by those of the YAML parser.
    Refused,
}
use Fate::{Bad, Good, Refused};

/// Reads a document, and if it is good folds, launches, runs and reports it, on a thread with the
/// usual 2 MiB of stack.
fn meets(what: &str, text: String, fate: Fate) {
    static ALONE: Mutex<()> = Mutex::new(());
    let run = move || {
        let start = Instant::now();
        let result = load("nasty.yaml", &text, &Options::default());
        let read = start.elapsed();
        let codes = match result {
            Ok(loaded) => {
                for kernel in loaded.kernels.iter().take(2) {
                    launches(kernel, 2, &mut Rng(7));
                    let summary = check(kernel, &loaded.sources, None, false);
                    let _ = check_text(&summary, false, Some(100));
                }
                Vec::new()
            }
            Err(fault) => {
                let shown = render_fault(&fault);
                assert!(shown.len() < 1 << 20, "{} bytes of messages", shown.len());
                fault.diagnostics.iter().map(|d| d.code).collect()
            }
        };
        (codes, read, start.elapsed())
    };
    // One at a time: the memory of the whole process is looked at.
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    eprint!("{what}: ");
    let thread = std::thread::Builder::new().name(what.to_owned());
    let (codes, read, took) = thread.spawn(run).unwrap().join().unwrap();
    let peak = peak_memory().unwrap_or(0) / 1024;
    eprintln!("read in {read:.0?}, all in {took:.0?}, peak {peak} MB, {} errors", codes.len());
    match fate {
        Good => assert_eq!(codes, [""; 0], "{what}"),
        Bad(code) => assert_eq!(codes.first(), Some(&code), "{what}"),
        Refused => assert!(!codes.is_empty(), "{what}"),
    }
    // What the limits allow in all takes some seconds; without an end it is minutes.
    assert!(took < 10 * LONGEST, "{what} took {took:?}");
    check_memory();
    drop(alone);
}

/// A document of which only what matters is given, as lines `key: value`.
fn with(rest: &str) -> String {
    let mut text = String::from("wavecast: 1\nkernel: nasty\n");
    for (key, default) in [
        ("params", "{N: 1000}"),
        ("fields", "{a: {dtype: f64, size: 1000000}}"),
        ("domain", "{x: 1000}"),
        ("loads", "[\"a[x]\"]"),
        ("launch", "{block: [[64]], registers: 32}"),
    ] {
        let given = format!("\n{rest}");
        let instead = key == "loads" && given.contains("\nbody:");
        if !instead && !given.contains(&format!("\n{key}:")) {
            let _ = writeln!(text, "{key}: {default}");
        }
    }
    format!("{text}{rest}\n")
}

fn joined(n: usize, with: &str, each: impl Fn(usize) -> String) -> String {
    (0..n).map(each).collect::<Vec<_>>().join(with)
}

/// A text with something around it again and again.
fn wrapped(n: usize, inner: &str, around: impl Fn(usize, &str) -> String) -> String {
    (0..n).fold(inner.to_owned(), |text, i| around(i, &text))
}

#[test]
fn nesting_has_an_end() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("!x ", ""), ("a: &b ", "")] {
        let nested = open.repeat(LARGE) + "1" + &close.repeat(LARGE);
        meets(&format!("nested {open} in a table"), with(&format!("tables:\n  t: {nested}")), Refused);
        meets(&format!("nested {open}"), nested, Refused);
        meets(&format!("open {open}"), with(&format!("tables:\n  t: {}", open.repeat(LARGE))), Refused);
    }
    for depth in [40, 60, 70, 100] {
        let nested = "[".repeat(depth) + "1" + &"]".repeat(depth);
        let fate = if depth > 60 { Refused } else { Good };
        meets(&format!("{depth} lists"), with(&format!("tables: {{t: {nested}}}")), fate);
    }
    let indented = (0..2_000).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "{:i$}a:", "");
        text
    });
    meets("indented", indented, Refused);
    let accessing = |nested: &str| with(&format!("tables: {{t: [0, 0]}}\nloads: [\"a + {nested}\"]"));
    for (open, close) in [("(", ")"), ("-(", ")"), ("min(1, ", ")"), ("t[", "]"), ("-", ""), ("+", "")] {
        for depth in [10, 60, 64, 65, 20_000] {
            let nested = open.repeat(depth) + "0" + &close.repeat(depth);
            let fate = match depth {
                _ if close.is_empty() => Good,
                20_000 if nested.len() > 65_530 => Bad("expression-too-long"),
                65.. => Bad("expression-too-deep"),
                _ => Good,
            };
            meets(&format!("{depth} {open}"), accessing(&nested), fate);
        }
    }
    let guarded =
        |depth: usize| with(&format!("guard: \"{}x > 1{}\"", "!(".repeat(depth), ")".repeat(depth)));
    meets("60 negations", guarded(60), Good);
    meets("70 negations", guarded(70), Bad("expression-too-deep"));
    let loops = |depth: usize| {
        let open = joined(depth, "", |i| format!("{{loop: {{k{i}: 0..1}}, body: ["));
        with(&format!("body: [{open}load a + x{}]", "]}".repeat(depth)))
    };
    meets("20 loops", loops(20), Good);
    meets("100 loops", loops(100), Refused);
}

#[test]
fn expressions_stay_small() {
    let all = "(blockDim.x + blockDim.y + blockDim.z + gridDim.x + gridDim.y + gridDim.z + 1)";
    let terms = joined(200, " + ", |i| format!("blockDim.x/{}", i + 2));
    let square = |e: &str| format!("({e})*({})", if e.len() < 20_000 { e } else { "2" });
    let complex = Bad("expression-too-complex");
    for (what, address, fate) in [
        ("sum", vec!["x"; 16_000].join(" + "), Good),
        ("quotients", joined(5_000, " + ", |i| format!("x/{}", i + 2)), complex),
        ("remainders in a row", format!("tidx{}", joined(60, "", |i| format!("%{}", 900 - 7 * i))), complex),
        ("quotients in a row", format!("tidx{}", "/3*2".repeat(10_000)), complex),
        ("quotients of blocks in a row", format!("x + blockDim.x{}", "/3*2".repeat(10_000)), complex),
        ("shifts in a row", format!("tidx{}", ">>1<<2>>1".repeat(6_000)), Good),
        ("block shifts in a row", format!("x*(blockDim.x{})", "+1>>1<<2>>1".repeat(5_000)), complex),
        ("nested remainders", wrapped(60, "tidx", |i, e| format!("({e} + x) % {}", 900 - 7 * i)), complex),
        (
            "nested block remainders",
            wrapped(30, "blockDim.x", |i, e| format!("(gridDim.x % ({e} + {i}))")),
            complex,
        ),
        (
            "remainders by remainders",
            wrapped(20, "gridDim.x", |_, e| format!("(blockDim.x % ({e} + 1))")),
            complex,
        ),
        ("quotients by quotients", wrapped(31, "gridDim.x", |_, e| format!("(1000000 / ({e} + 1))")), Good),
        ("minima", wrapped(60, "x", |i, e| format!("min({e}, x*{} - {i})", i + 2)), Good),
        ("minima of blocks", wrapped(30, "x", |i, e| format!("max(min(blockDim.x, {e}), {i})")), Good),
        ("lookups", wrapped(60, "x % 2", |_, e| format!("t[{e}]")), Good),
        ("products of sums", format!("x*{}", [all; 60].join("*")), complex),
        ("many products of sums", joined(150, " + ", |i| format!("x*{all}*{all}*{all}*{i}")), Good),
        ("squares", wrapped(14, "blockDim.x + gridDim.y", |_, e| square(e)), complex),
        ("products of quotients", format!("x*({terms})*({terms})"), complex),
        ("long expression", "x + ".repeat(LARGE * 10), Bad("expression-too-long")),
    ] {
        // With a grid of its own nothing is known of thread coordinates, so that nothing is decided.
        let grid = "launch: {block: [[64]], registers: 32, grid: [16]}";
        meets(
            what,
            with(&format!("{grid}\ntables: {{t: [1, 0]}}\nloads: [\"a[({address}) % 1000]\"]")),
            fate,
        );
    }
    let guarded = |guard: String| with(&format!("guard: \"{guard}\""));
    meets("long condition", guarded(joined(4_000, " && ", |i| format!("x != {i}"))), Good);
    let nested = wrapped(60, "x > 1", |i, e| format!("!({e} || x == {i}) && x < {i}"));
    meets("nested condition", guarded(nested), Good);
    for (units, fate) in [
        ("1/(-9223372036854775807-1)", Bad("overflow")),
        ("(1/2)/(-4611686018427387904)", Bad("overflow")),
        ("(-9223372036854775807-1)/3*-1", Bad("overflow")),
        ("9223372036854775807*9223372036854775807", Bad("overflow")),
        ("1/3 - 9223372036854775807/7", Bad("launch")),
        ("9223372036854775807/7", Good),
    ] {
        meets(
            units,
            with(&format!("launch: {{block: [[64]], registers: 32, units_per_thread: {units}}}")),
            fate,
        );
    }
}

#[test]
fn parameters_and_tables_may_be_many() {
    let n = LARGE;
    let params = |each: &dyn Fn(usize) -> String| {
        with(&format!("params: {{{}}}", joined(n, ", ", |i| format!("p{i}: {}", each(i)))))
    };
    let last = |i: usize| i + 1 == n;
    meets("chain backwards", params(&|i| if last(i) { "1".into() } else { format!("p{} + 1", i + 1) }), Good);
    meets("chain forwards", params(&|i| if i == 0 { "1".into() } else { format!("p{} + 1", i - 1) }), Good);
    meets("star", params(&|i| if last(i) { "1".into() } else { format!("p{}", n - 1) }), Good);
    meets("circle", params(&|i| format!("p{}", (i + 1) % n)), Bad("cycle"));
    meets("unknown", params(&|i| format!("q{i}")), Bad("unknown-name"));
    meets("chain of unknown", params(&|i| format!("p{} + q{i}", i + 1)), Bad("unknown-name"));
    meets(
        "doubling",
        params(&|i| if i == 0 { "1".into() } else { format!("2*p{}", i - 1) }),
        Bad("overflow"),
    );
    let numbers = joined(n, ", ", |i| format!("p{i}: {i}"));
    let using = |name: &str| {
        let loads = joined(n, ", ", |i| format!("\"a[x + {name}{i}]\""));
        with(&format!("params: {{{numbers}}}\nloads: [{loads}]"))
    };
    meets("used parameters", using("p"), Good);
    meets("unknown used", using("r"), Bad("unknown-name"));
    let table = joined(5 * n, ", ", |i| (i % 7).to_string());
    let loads = format!("loads: [{{for: {{i: 1..2000}}, at: \"a[x + t[x*i % {n}]*1000]\"}}]");
    let launch = "launch: {block: [[64]], fold: [[8]], registers: 32}";
    meets("table in loads", with(&format!("{launch}\ntables: {{t: [{table}]}}\n{loads}")), Good);
    let conditions = "loads: [{for: {i: 1..2000}, at: \"a[x + i]\", when: \"t[x + i] > 1 || t[x] < 1\"}]";
    let guard = "guard: t[x] > 1 && t[x + 1] < 2";
    meets("table in conditions", with(&format!("{guard}\ntables: {{t: [{table}]}}\n{conditions}")), Good);
    let tables = |table: String| with(&format!("tables: {{t: [{table}]}}"));
    meets("ragged", tables("[1], [1, 2], ".repeat(n)), Bad("table"));
    meets("wrong entries", tables("q, ".repeat(5 * n)), Bad("unknown-name"));
    meets("no entries", tables("{}, ".repeat(5 * n)), Bad("wrong-type"));
}

#[test]
fn unrolling_is_bounded() {
    let unrolled = |group: &str| with(&format!("loads:\n  - \"a[x]\"\n  - {group}"));
    let limit = Bad("too-many-accesses");
    let range = Bad("range-too-long");
    let sum = vec!["1"; 10_000].join("+");
    let quotients = joined(150, " + ", |i| format!("x/{}", i + 2));
    let condition = joined(4_000, " && ", |i| format!("x != {i}"));
    let variables = joined(LARGE, ", ", |i| format!("v{i}: 1"));
    for (what, group, fate) in [
        ("huge range", "for: {i: 1..1000000000000000000}, at: \"a[x+i]\"".into(), range),
        ("whole range", "for: {i: -9223372036854775807..9223372036854775807}, at: \"a[x+i]\"".into(), range),
        (
            "whole range by step",
            "for: {i: -9223372036854775807..9223372036854775807 step 9223372036854775807}, at: \"a[x+i]\""
                .into(),
            Good,
        ),
        ("empty inner range", "for: {i: 1..200000, j: 1..200000, k: 1..0}, at: \"a[x+i]\"".into(), limit),
        ("nothing accessed", "for: {i: 1..200000, j: 1..200000}, at: []".into(), limit),
        ("long ranges", format!("for: {{i: 1..200000, j: 1..{sum}}}, at: []"), limit),
        ("many ranges", "for: {i: 1..999, j: 1..999, k: 1..999}, at: \"a[x+i]\"".into(), Refused),
        ("never", "for: {i: 1..200000, j: 1..200000}, at: \"a[x]\", when: 0 == 1".into(), Refused),
        ("wrong address", "for: {i: 1..200000, j: 1..200000}, at: \"b[x]\"".into(), Refused),
        (
            "wrong condition",
            "for: {i: 1..200000, j: 1..4}, at: \"a[x]\", when: q".into(),
            Bad("not-a-condition"),
        ),
        ("wrong range", "for: {i: 1..200000, j: 1..q}, at: \"a[x]\"".into(), Refused),
        ("wrong width", "for: {i: 1..200000, j: 1..4}, at: \"a[x]\", width: 0".into(), Bad("width")),
        ("long address", format!("for: {{i: 1..200000}}, at: \"a[({quotients} + i) % 1000]\""), Refused),
        ("long condition", format!("for: {{i: 1..200000}}, at: \"a[x]\", when: {condition}"), Refused),
        (
            "ranges in lists",
            format!("for: {{i: [{}]}}, at: \"a[x + i]\"", "1..200000, ".repeat(LARGE)),
            range,
        ),
        ("many variables", format!("for: {{{variables}}}, at: \"a[x]\""), Bad("too-many-variables")),
    ] {
        // Which of several errors comes first depends on where the budget of accesses ends.
        let fate = if matches!(fate, Good) { Good } else { Refused };
        meets(what, unrolled(&format!("{{{group}}}")), fate);
    }
    let looped = |range: &str| {
        with(&format!("body: [\"load a[x]\", {{loop: {{i: [{range}]}}, body: [\"load a[x]\"]}}]"))
    };
    meets("loop over lists", looped(&"1..45000, ".repeat(LARGE)), Bad("loop-range"));
    meets("uneven loop", looped("-9223372036854775807, 9223372036854775807"), Bad("loop-range"));
    let loads = |n: usize, each: &str| with(&format!("loads: [{}]", each.repeat(n)));
    meets("wrong accesses", loads(LARGE, "b, "), Bad("not-an-access"));
    meets("wrong keys", loads(LARGE, "{att: x, fro: {}}, "), Bad("unknown-key"));
    meets("wrong statements", with(&format!("body: [{}]", "lod a, ".repeat(LARGE))), Bad("statement"));
}

#[test]
fn launch_lists_may_be_long() {
    let n = LARGE;
    let launch = |launch: &str| with(&format!("launch: {{registers: 32, {launch}}}"));
    let shapes = |n: usize| joined(n, ", ", |i| format!("[{}, {}]", 1 + i % 100, 1 + i / 100));
    meets("blocks", launch(&format!("block: [{}]", shapes(n))), Good);
    meets("equal blocks", launch(&format!("block: [{}]", "[1, 2, 3], ".repeat(n))), Good);
    meets("folds", launch(&format!("block: [[32]], fold: [{}]", shapes(10_000))), Bad("launch"));
    meets("small folds", launch(&format!("block: [[32]], fold: [{}]", shapes(2_000))), Good);
    meets("threads", launch("block: {x: 1..1000, y: 1..1000, threads: 1..1000000}"), Good);
    meets("few threads", launch("block: {x: 1..1000, y: 1..1000, threads: 7}"), Good);
    meets("block ranges", launch(&format!("block: {{x: [{}]}}", "1..1000000, ".repeat(n))), Bad("launch"));
    meets("small block ranges", launch(&format!("block: {{x: [{}]}}", "1..1000, ".repeat(n))), Bad("launch"));
    let rules = joined(n / 10, ", ", |i| format!("{{threads: {}, value: 32}}", i + 1));
    let block = "{x: 1..1000, y: 1..100}";
    meets("register rules", with(&format!("launch: {{block: {block}, registers: [{rules}]}}")), Good);
    let folds = |rest: &str, folds: &str| {
        with(&format!("{rest}\nlaunch: {{block: [[32]], registers: 32, fold: [{folds}]}}"))
    };
    meets("large fold", folds("about: x", "[40, 40, 40], [4096, 15, 1], [1, 255, 255]"), Good);
    meets(
        "large fold of threads",
        folds("loads: [\"a[tidx]\", \"a[tidx + 1]\"]", "[40, 40, 40], [4096, 15]"),
        Good,
    );
    let space = "domain: {x: 4096, y: 4096, z: 4096}";
    let merging = format!("{space}\nloads: [\"a[x/64 + y/32 + z/31]\", \"a + x + y + z\"]");
    meets("large merging fold", folds(&merging, "[64, 32, 31], [31, 32, 64]"), Good);
    let guarded = "guard: x % 3 == 1\nloads: [\"a[x/4096]\", \"a[tidx]\", \"a[x]\"]";
    meets("large guarded fold", folds(guarded, "[4096, 15], [4096]"), Good);
    let many = joined(300, " && ", |i| format!("x != {i}"));
    meets("large guard", folds(&format!("guard: {many}"), "[4096, 15], [1]"), Good);
    let whole = "fields: {a: {dtype: 1, size: 4611686018427387904}}\ndomain: {x: 4611686018427387904}";
    meets("whole domain", folds(whole, "[1], [4096]"), Good);
    meets(
        "too large domain",
        with("domain: {x: 1000000000000000000, y: 1000000000000000000}"),
        Bad("domain"),
    );
    let grid = "loads: [\"a[x]\", \"a[tidx]\"]\nlaunch: {block: [[1], [65536]], registers: 32, fold: [[4096, 4, 3]], grid: [1152921504606846976, 1, 1]}";
    meets("large grid", with(grid), Good);
    let shared = "s: {dtype: f64, space: shared, shape: [blockDim.x*4611686018427387904, blockDim.y], multiplicity: 4611686018427387904}";
    meets("large shared", with(&format!("fields: {{a: {{dtype: f64, size: 1000}}, {shared}}}")), Good);
}

#[test]
fn bodies_and_fields_may_be_large() {
    // Of both together there may be 100,000.
    let n = (2 * LARGE).min(50_000);
    let fields = "fields: {a: {dtype: f64, size: 1000000}, b: {like: a}}";
    let group = |key: &str, field: &str| format!("{key}: [{{for: {{i: 1..{n}}}, at: \"{field}[x+i]\"}}]");
    meets(
        "loads and stores",
        with(&format!("{fields}\n{}\n{}", group("loads", "a"), group("stores", "b"))),
        Good,
    );
    let steps = joined(LARGE, ", ", |i| format!("\"load a[x+{i}]\", sync, \"store a[x]\""));
    meets("loads and syncs", with(&format!("body: [{steps}]")), Good);
    let loops = |n: usize| joined(n, ", ", |i| format!("{{loop: {{k: 0..{i}}}, body: [\"load a[x+k]\"]}}"));
    let loads = format!("{{for: {{i: 1..{LARGE}}}, at: \"load a[x+i]\"}}");
    meets("loops after loads", with(&format!("body: [{loads}, {}]", loops(900))), Good);
    meets("too many loops", with(&format!("body: [{}]", loops(n / 4))), Bad("too-many-loops"));
    let like = |each: &dyn Fn(usize) -> String| {
        let fields = joined(10_000, ", ", |i| format!("f{i}: {}", each(i)));
        with(&format!("fields: {{{fields}}}\nloads: [{{for: {{i: 1..{n}}}, at: \"f7[x]\"}}, \"f9999[x]\"]"))
    };
    let whole = || "{dtype: f64, size: 1000}".to_owned();
    meets(
        "like the one before",
        like(&|i| if i == 0 { whole() } else { format!("{{like: f{}}}", i - 1) }),
        Good,
    );
    meets(
        "like the one after",
        like(&|i| if i == 9_999 { whole() } else { format!("{{like: f{}}}", i + 1) }),
        Good,
    );
    meets("like the first", like(&|i| if i == 0 { whole() } else { "{like: f0}".into() }), Good);
    meets("like in a circle", like(&|i| format!("{{like: f{}}}", (i + 1) % 10_000)), Bad("like"));
    meets("like nothing", like(&|i| format!("{{like: g{i}}}")), Bad("like"));
    let many = joined(LARGE, ", ", |i| format!("f{i}: {{}}"));
    meets("too many fields", with(&format!("fields: {{{many}}}")), Bad("too-many-fields"));
}

#[test]
fn variants_and_documents_may_be_many() {
    let n = LARGE;
    let variants = |head: &str, variants: &str| with(&format!("{head}\nvariants: [{variants}]"));
    let named = joined(n / 2, ", ", |i| format!("{{name: v{i}, params: {{N: {i}}}}}"));
    meets("variants", variants("about: x", &named), Good);
    let table = |n: usize| format!("tables: {{t: [{}]}}", "1, ".repeat(n));
    meets("variants of much", variants(&table(n / 20), &"{}, ".repeat(n / 100)), Good);
    meets("variants of very much", variants(&table(n), &"{}, ".repeat(n)), Bad("too-many-variants"));
    let params = |value: &str| format!("params: {{{}}}", joined(n, ", ", |i| format!("p{i}: {value}")));
    meets("variants that change much", variants(&params("1"), &format!("{{{}}}", params("2"))), Good);
    meets("variants that delete much", variants(&params("1"), &format!("{{{}}}", params("~"))), Good);
    meets("wrong variants", variants("about: x", &"1, ".repeat(n)), Bad("wrong-type"));
    meets("documents", (with("about: x") + "---\n").repeat(n / 10) + &with(""), Good);
    meets("empty documents", "---\n".repeat(n), Bad("wrong-type"));
    meets("unknown keys", with(&joined(n, "\n", |i| format!("key{i}: 1"))), Bad("unknown-key"));
    meets("equal keys", with(&"about: x\n".repeat(n)), Bad("duplicate-key"));
}

#[test]
fn aliases_and_texts_may_be_long() {
    let n = LARGE;
    let long = "x".repeat(10 * n);
    let bomb = |open: &str, close: &str, first: &str, each: &dyn Fn(usize, usize) -> String| {
        let mut bomb = format!("a0: &a0 {open}{first}{close}\n");
        for i in 1..20 {
            let items = joined(10, ", ", |j| each(i - 1, j));
            let _ = writeln!(bomb, "a{i}: &a{i} {open}{items}{close}");
        }
        bomb
    };
    let expansion = Bad("alias-expansion");
    let alias = |i: usize, _: usize| format!("*a{i}");
    meets("bomb of lists", bomb("[", "]", "x, x, x", &alias), expansion);
    meets("bomb of mappings", bomb("{", "}", "k: x", &|i, j| format!("k{j}: *a{i}")), expansion);
    meets("bomb of long texts", bomb("[", "]", &long, &alias), expansion);
    meets(
        "long text many times",
        with(&format!("about: &a {long}\nx: [{}]", "*a , ".repeat(n - 10))),
        expansion,
    );
    meets(
        "long key many times",
        with(&format!("x: &a {{{long}: 1}}\ny: [{}]", "*a , ".repeat(n / 2))),
        expansion,
    );
    meets(
        "aliases as keys",
        with(&format!("x: &a k\ny: [{}]", "{*a : 1}, ".repeat(n / 2))),
        Bad("unknown-key"),
    );
    let anchors = joined(60, " ", |i| format!("&b{i} ["));
    let nested = format!("tables:\n  t: {anchors}{}{}", "1, ".repeat(n), "]".repeat(60));
    meets("nested anchors", with(&nested), expansion);
    meets(
        "many anchors",
        with(&format!("tables: {{t: [{}]}}", joined(n, ", ", |i| format!("&a{i} 1")))),
        Good,
    );
    meets("long key", with(&format!("? {long}\n: 1")), Bad("unknown-key"));
    meets("long keys", with(&format!("? {long}\n: 1\n? {long}\n: 1")), Bad("unknown-key"));
    meets("long text", with(&format!("about: \"{long}\"")), Good);
    meets("long escaped text", with(&format!("about: \"{}\"", "\\u00e9".repeat(10 * n))), Good);
    let near = |c: char| format!("{}{c}", &long[..60_000]);
    let guard = format!("guard: x < {}", near('d'));
    meets(
        "long names",
        with(&format!("params:\n  ? {}\n  : 1\n  ? {}\n  : 2\n{guard}", near('a'), near('b'))),
        Bad("unknown-name"),
    );
    meets("long line", format!("{}\u{e9}: [", " ".repeat(10 * n)), Bad("yaml"));
    meets("long comment", format!("#{long}\n{}", with("")), Good);
    let wrong = format!("\"{} + \", ", "x*".repeat(20_000));
    meets("long wrong expressions", with(&format!("loads: [{}]", wrong.repeat(20))), Bad("syntax"));
    meets("tabs", "\t".repeat(n), Bad("empty"));
    meets("returns", "\r".repeat(n) + &with("\r\r\r\nx:\r\r\r\n -\r\r\n"), Bad("unknown-key"));
    let wide = format!("about: {}\nx: {}", "\u{6f22}".repeat(n), "\u{1f980}".repeat(n));
    meets("wide characters", with(&wide), Bad("unknown-key"));
    meets("colons", ": ".repeat(n), Refused);
    meets("quotes", "\"' ".repeat(n), Refused);
    meets("too long", "#".repeat((64 << 20) + 1), Bad("document-too-large"));
}
