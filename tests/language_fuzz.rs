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
use std::sync::{Arc, OnceLock};
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
    "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "(", ")", "[", "]",
    ",", "..", " step ", "pow2(", "min(", "max(", "threadIdx.x", "blockIdx.y", "blockDim.z", "gridDim.x",
    "tidx", "tidy", "tidz", "get_global_id(0)", "get_local_size(1)", "get_global_size(2)", "x", "y", "z", "N",
    "t[", "x % 3", "x / 7", "*2/3", "%(blockDim.x", "/(blockDim.y+1)", "tidx%(", "0x", "uL", "..1",
    // YAML
    ": ", "- ", "\n", "\n  ", "\n- ", "\n---\n", "\n...\n", "#", "&a ", "*a", "&a", "<<: *a\n", "<<", "? ", "| ", "|\n",
    ">-\n  ", "\"", "'", "{", "}", "{}", "[]", "[[", "]]", "[[[[[[[[", "]]]]]]]]", "{{", "}}", "!!str ", "!x ", "%YAML 1.2\n",
    "~", "null", "true", "@", "`", "\t", "\r", "\r\n", "\\", "\0", "\u{feff}", "é", "漢", "\u{1f980}", "\u{2028}",
    "\u{85}", "\u{7f}", " ", "      ",
    // the format
    "wavecast: 1\n", "kernel: k\n", "params: {N: 3}\n", "fields", "domain: ", "loads", "stores", "atomics", "body",
    "guard: ", "launch: ", "block: ", "fold: ", "variants", "like: ", "for: ",
];

const NUMBERS: &[&str] = &[
    "0", "1", "-1", "2", "3", "63", "64", "1023", "4096", "65535", "65536", "100000", "2147483647",
    "4611686018427387903", "4611686018427387904", "9223372036854775807", "-9223372036854775808",
    "18446744073709551616", "99999999999999999999999999", "1e3", "1e18", "1e308", "-0", "0.5", ".5", "0x7fffffffffffffff",
    "0o17", "0b1",
];

const KEYS: &[&str] = &[
    "wavecast", "kernel", "about", "params", "tables", "fields", "domain", "loads", "stores", "atomics", "body",
    "guard", "work", "launch", "variants", "dtype", "shape", "size", "order", "strides", "halo", "align", "offset",
    "space", "multiplicity", "like", "unit", "flops", "precision", "block", "fold", "registers", "shared", "grid",
    "units_per_thread", "threads", "for", "at", "width", "when", "loop", "sample",
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
            paths.extend(files.map(|f| f.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "yaml")));
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
        "x", "y", "z", "tidx", "tidy", "N", "M", "k", "r", "threadIdx.x", "threadIdx.y", "blockIdx.x", "blockIdx.z",
        "blockDim.x", "blockDim.y", "gridDim.x", "0", "1", "2", "3", "7", "16", "255", "9223372036854775807", "a", "t[1, 0]",
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
            let (open, close) = [("[", "]"), ("(", ")"), ("{a: ", "}"), ("- ", ""), ("-", ""), ("min(1,", ")")][rng.below(6)];
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
            let _ = (check_table(&summary).csv(), check_table(&summary).markdown());
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
        let table = Table { name: "t".into(), shape: vec![4, 2], values: vec![3, -1, 4, -1, 5, -9, 2, 6] };
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
                eprintln!("{what}: WAVECAST_FUZZ_SEED={seed} WAVECAST_FUZZ_FIRST={now} WAVECAST_FUZZ_CASES=1 does not end");
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
    let most_failures = from_environment("WAVECAST_FUZZ_FAILURES", 20) as usize;
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
