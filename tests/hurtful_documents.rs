//! Documents made to hurt: everything here is read in about linear time and little memory, or refused. What nobody
//! thought of is looked for by `mutants`.

use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wavecast::kernel::{Kernel, Options, load};
use wavecast::launch::{Launch, Program, candidates, visit_thread};
use wavecast::report::{Answer, View, check, render_fault};

/// Longest that a case may take.
const LONGEST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 8_000 } else { 1_000 });
/// Most memory that the whole process may ever have used, in kB.
const MOST_MEMORY: u64 = 1 << 20;

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

/// The time of a processor that this thread has used; the time of the clock where the system does not tell. Other
/// programs run, too.
fn spent() -> Duration {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    let elapsed = BEGAN.get_or_init(Instant::now).elapsed();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|n| n.parse().ok()).map_or(elapsed, Duration::from_nanos)
}

/// Folds some launches of a kernel, and runs their first threads.
fn launches(kernel: &Kernel) {
    for &fold in kernel.launch().folds().iter().take(2) {
        let Ok(program) = Program::folded(kernel, fold) else { continue };
        for candidate in candidates(kernel).filter(|c| c.fold() == fold).take(2) {
            let Ok(launch) = Launch::new(kernel, candidate) else { continue };
            let Ok(program) = program.at(&launch) else { continue };
            let shape = launch.sizes().block;
            let _ = visit_thread(
                &program,
                kernel.extents(),
                shape,
                BlockIndex::ZERO,
                Thread::ZERO,
                300,
                &mut |_| {},
            );
        }
    }
}

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
use wavecast::space::{BlockIndex, Thread};

/// Reads a document, and if it is good folds, launches, runs and reports it, on a thread with the
/// usual 2 MiB of stack.
fn meets(what: &str, text: String, fate: Fate) {
    static ALONE: Mutex<()> = Mutex::new(());
    let run = move || {
        let start = spent();
        let result = load("nasty.yaml", &text, &Options::default());
        let read = spent().saturating_sub(start);
        let codes = match result {
            Ok(loaded) => {
                for kernel in loaded.kernels.iter().take(2) {
                    launches(kernel);
                    let summary = check(kernel, &loaded.sources, None, false);
                    let _ = summary.text(View { width: Some(100), all: false });
                }
                Vec::new()
            }
            Err(fault) => {
                let shown = render_fault(&fault);
                assert!(shown.len() < 1 << 20, "{} bytes of messages", shown.len());
                fault.diagnostics.iter().map(|d| d.code).collect()
            }
        };
        (codes, read, spent().saturating_sub(start))
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
