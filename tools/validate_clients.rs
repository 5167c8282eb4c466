//! Holds kernel documents against kernels as real code generators emitted them.
//!
//! `cargo run --release --example validate_clients -- FOLDER` reads the generators' files of FOLDER
//! (`client-kernel/0`: fields, accesses with `element_offset` or indices, guards, loops) and the
//! document of the same name in `tests/clients/`, and compares fields, instruction counts, and the
//! addresses of random threads. The generators' expressions are evaluated here, with exact fractions
//! and independently of Wavecast's own grammar. `--golden FILE` writes facts of a few threads for
//! the test suite, which has to do without FOLDER.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use num_rational::Ratio;
use serde_json::{Value, json};

use wavecast::kernel::{AccessKind, Kernel, load};
use wavecast::launch::{Launch, Program, candidates, visit_thread};
use wavecast::space::Block;

type Fraction = Ratio<i128>;
type Touches = BTreeSet<(String, String, i64)>;
type Outcome<T> = Result<T, String>;

/// Threads compared for each client.
const THREADS: usize = 200;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let golden = arguments.iter().position(|a| a == "--golden").map(|at| {
        let file = arguments.get(at + 1).cloned().unwrap_or_default();
        arguments.drain(at..(at + 2).min(arguments.len()));
        file
    });
    let Some(folder) = arguments.first() else {
        eprintln!("usage: validate_clients FOLDER [DOCUMENTS] [--golden FILE]");
        return ExitCode::from(2);
    };
    let documents =
        arguments.get(1).map_or(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients"), String::as_str);
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("{folder} is absent: nothing was validated");
        return ExitCode::from(2);
    };
    let mut files: Vec<_> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    let (mut equal, mut facts) = (0, BTreeMap::new());
    for file in &files {
        let name = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        match compare(file, &Path::new(documents).join(format!("{name}.yaml"))) {
            Ok(comparison) => {
                equal += 1;
                println!("equal   {name}: {}", comparison.summary);
                facts.insert(name, comparison.facts);
            }
            Err(why) => println!("DIFFERS {name}: {why}"),
        }
    }
    println!("{equal} of {} equal", files.len());
    if let Some(path) = golden {
        // One line per client, so that a change shows as one.
        let lines: Vec<String> =
            facts.iter().map(|(name, fact)| format!("{}: {fact}", json!(name))).collect();
        if let Err(e) = std::fs::write(&path, format!("{{\n{}\n}}\n", lines.join(",\n"))) {
            eprintln!("cannot write {path}: {e}");
            return ExitCode::from(2);
        }
    }
    if equal == files.len() && equal > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

struct Comparison {
    summary: String,
    facts: Value,
}

fn compare(client: &Path, document: &Path) -> Outcome<Comparison> {
    let read = |p: &Path| std::fs::read_to_string(p).map_err(|e| format!("{}: {e}", p.display()));
    let client: Value = serde_json::from_str(&read(client)?).map_err(|e| e.to_string())?;
    let name = document.display().to_string();
    let loaded = load(&name, &read(document)?, &Default::default()).map_err(|fault| fault.to_string())?;
    let [kernel] = loaded.kernels.as_slice() else { return Err("one kernel expected".into()) };
    compare_fields(&client, kernel)?;
    compare_domain(&client, kernel)?;
    let all: Vec<_> = candidates(kernel).collect();
    let program = Program::placed(kernel, all[0]).map_err(|e| e.to_string())?;
    compare_counts(&client, &program)?;
    let emitted = Emitted::new(&client);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut touched, mut samples, mut idle) = (0, Vec::new(), 0);
    for number in 0..THREADS {
        let candidate = all[number % all.len()];
        let launch = Launch::new(kernel, candidate).map_err(|e| e.to_string())?;
        let program =
            Program::placed(kernel, candidate).and_then(|p| p.at(&launch)).map_err(|e| e.to_string())?;
        // Every fourth thread in the last block of each dimension, where the domain may cut it.
        let last = number % 4 == 3;
        let block = launch.sizes().grid.map(|n| if last { n - 1 } else { random.below(n) });
        let thread = candidate.block().map(|n| random.below(n));
        let ours = own_touches(kernel, &program, candidate.block(), block, thread)?;
        if ours.is_empty() && emitted.guards.is_empty() {
            // The file has no guard: outside the domain it says nothing.
            idle += 1;
            continue;
        }
        let theirs = emitted.touches(*candidate.block(), *launch.sizes().grid, block, thread)?;
        if ours != theirs {
            return Err(difference(&ours, &theirs, block, thread));
        }
        touched += ours.len();
        if !ours.is_empty() && samples.len() < 4 {
            samples.push(json!({
                "block_shape": candidate.block(), "block": block, "thread": thread, "touched": totals(&ours),
            }));
        }
    }
    if touched == 0 {
        return Err("no thread touched anything".into());
    }
    let summary = format!("{} threads, {touched} addresses", THREADS - idle);
    Ok(Comparison { summary, facts: json!({"fields": field_facts(&client), "threads": samples}) })
}

/// Count, least, greatest and sum of the elements of each kind and field.
fn totals(touches: &Touches) -> Value {
    let mut totals: BTreeMap<String, (i64, i64, i64, i64)> = BTreeMap::new();
    for (kind, field, element) in touches {
        let t = totals.entry(format!("{kind} {field}")).or_insert((0, i64::MAX, i64::MIN, 0));
        *t = (t.0 + 1, t.1.min(*element), t.2.max(*element), t.3 + element);
    }
    json!(totals)
}

fn field_facts(client: &Value) -> Value {
    let fact = |f: &Value| {
        (
            text(&f["name"]),
            json!([f["dtype_bytes"], f["base_offset_bytes"], f["base_alignment_bytes"], f["strides"]]),
        )
    };
    json!(array(&client["fields"]).iter().map(fact).collect::<BTreeMap<_, _>>())
}

fn difference(ours: &Touches, theirs: &Touches, block: [i64; 3], thread: [i64; 3]) -> String {
    let mut out = format!("block {block:?} thread {thread:?}:");
    for (kind, field, element) in ours.difference(theirs).take(3) {
        let _ = write!(out, " only in the document: {kind} {field} {element};");
    }
    for (kind, field, element) in theirs.difference(ours).take(3) {
        let _ = write!(out, " only in the client: {kind} {field} {element};");
    }
    out
}

fn own_touches(
    kernel: &Kernel,
    program: &Program<i64>,
    shape: Block,
    block: [i64; 3],
    thread: [i64; 3],
) -> Outcome<Touches> {
    let mut touches = Touches::new();
    visit_thread(program, kernel.extents(), shape, block.into(), thread.into(), 1 << 24, &mut |touch| {
        let field = kernel.field(touch.instruction.field).name();
        touches.insert((touch.instruction.kind.verb().to_owned(), field.clone(), touch.element));
    })
    .map_err(|e| e.to_string())?;
    Ok(touches)
}

fn compare_fields(client: &Value, kernel: &Kernel) -> Outcome<()> {
    for theirs in array(&client["fields"]) {
        let name = text(&theirs["name"]);
        let ours = kernel.fields().iter().find(|f| *f.name() == name).ok_or(format!("no field {name}"))?;
        let pairs = [
            ("element bytes", ours.dtype().bytes, &theirs["dtype_bytes"]),
            ("offset bytes", ours.offset() * ours.dtype().bytes, &theirs["base_offset_bytes"]),
            ("alignment", *ours.align(), &theirs["base_alignment_bytes"]),
        ];
        for (what, have, want) in pairs {
            if Some(have) != want.as_i64() {
                return Err(format!("{what} of {name}: {have} in the document, {want} in the client"));
            }
        }
        let space = theirs.get("space").map_or("global".to_owned(), text);
        if ours.space().word() != space {
            return Err(format!(
                "space of {name}: {} in the document, {space} in the client",
                ours.space().word()
            ));
        }
    }
    if kernel.fields().len() != array(&client["fields"]).len() {
        return Err("another number of fields".into());
    }
    Ok(())
}

fn compare_domain(client: &Value, kernel: &Kernel) -> Outcome<()> {
    let ours: i64 = kernel.extents().iter().product();
    let theirs: i64 = array(&client["domain"]).iter().filter_map(Value::as_i64).product();
    let per_thread: i64 = kernel.launch().folds()[0].iter().product();
    let expected = client.get("lups_per_thread").and_then(Value::as_i64).unwrap_or(1);
    if ours != theirs || per_thread != expected {
        return Err(format!(
            "domain or fold: {ours} and {per_thread} in the document, {theirs} and {expected} in the client"
        ));
    }
    Ok(())
}

/// Distinct addresses of a thread, which is what a compiler loads.
fn compare_counts(client: &Value, program: &Program<wavecast::expr::Scale>) -> Outcome<()> {
    for (kind, key) in [(AccessKind::Load, "loads_per_thread"), (AccessKind::Store, "stores_per_thread")] {
        let ours = program.instructions.iter().filter(|i| i.kind == kind).count();
        let theirs = client[key].as_u64().unwrap_or(0);
        if ours as u64 != theirs {
            return Err(format!("{ours} {kind:?} instructions in the document, {theirs} in the client"));
        }
    }
    Ok(())
}

/// A kernel as the generator emitted it.
struct Emitted {
    accesses: Vec<EmittedAccess>,
    guards: Vec<String>,
    loops: Vec<EmittedLoop>,
}

struct EmittedAccess {
    kind: String,
    field: String,
    /// Terms of the element offset: an expression and its factor.
    terms: Vec<(String, i128)>,
    loops: Vec<String>,
}

struct EmittedLoop {
    variable: String,
    start: String,
    /// One past the last value.
    stop: String,
    step: String,
}

impl Emitted {
    fn new(client: &Value) -> Self {
        let strides: BTreeMap<String, Vec<i128>> = array(&client["fields"])
            .iter()
            .map(|f| {
                (
                    text(&f["name"]),
                    array(&f["strides"]).iter().filter_map(Value::as_i64).map(i128::from).collect(),
                )
            })
            .collect();
        let accesses = array(&client["accesses"]).iter().map(|a| {
            let field = text(&a["field"]);
            let terms = match a.get("element_offset") {
                Some(offset) => vec![(text(offset), 1)],
                None => array(&a["index"]).iter().map(text).zip(strides[&field].iter().copied()).collect(),
            };
            let loops = a.get("loops").map(|l| array(l).iter().map(text).collect()).unwrap_or_default();
            EmittedAccess { kind: text(&a["kind"]), field, terms, loops }
        });
        let loops = array(&client["loops"]).iter().map(|l| {
            let variable = text(&l["var"]);
            if let Some(bounds) = l.get("bounds") {
                // `{ [(4095)] }`
                let number = |v: &Value| {
                    text(v).chars().filter(|c| c.is_ascii_digit() || *c == '-').collect::<String>()
                };
                let (low, high) = (number(&bounds[0]), number(&bounds[1]));
                return EmittedLoop { variable, start: low, stop: format!("{high} + 1"), step: "1".into() };
            }
            EmittedLoop { variable, start: text(&l["start"]), stop: text(&l["stop"]), step: text(&l["step"]) }
        });
        let guards = client.get("guards").map(|g| array(g).iter().map(text).collect()).unwrap_or_default();
        Self { accesses: accesses.collect(), guards, loops: loops.collect() }
    }

    fn touches(
        &self,
        shape: [i64; 3],
        grid: [i64; 3],
        block: [i64; 3],
        thread: [i64; 3],
    ) -> Outcome<Touches> {
        let mut names: BTreeMap<String, i128> =
            [("t0", 0), ("t1", 1), ("t2", 2)].map(|(n, v)| (n.to_owned(), v)).into();
        for (d, letter) in ["x", "y", "z"].iter().enumerate() {
            let values = [
                ("threadIdx", thread[d]),
                ("blockIdx", block[d]),
                ("blockDim", shape[d]),
                ("gridDim", grid[d]),
            ];
            for (name, value) in values {
                names.insert(format!("{name}.{letter}"), value.into());
            }
            names.insert(format!("t{letter}"), (block[d] * shape[d] + thread[d]).into());
        }
        let mut touches = Touches::new();
        for access in &self.accesses {
            let around: Vec<&EmittedLoop> =
                self.loops.iter().filter(|l| access.loops.contains(&l.variable)).collect();
            self.repeat(access, &around, &mut names, &mut touches)?;
        }
        Ok(touches)
    }

    fn repeat(
        &self,
        access: &EmittedAccess,
        loops: &[&EmittedLoop],
        names: &mut BTreeMap<String, i128>,
        out: &mut Touches,
    ) -> Outcome<()> {
        if let Some((outer, inner)) = loops.split_first() {
            let (mut k, stop, step) =
                (integer(&outer.start, names)?, integer(&outer.stop, names)?, integer(&outer.step, names)?);
            while k < stop {
                names.insert(outer.variable.clone(), k);
                self.repeat(access, inner, names, out)?;
                k += step;
            }
            return Ok(());
        }
        for guard in &self.guards {
            let (left, right) = guard.split_once('<').ok_or(format!("guard {guard}"))?;
            if integer(left, names)? >= integer(right, names)? {
                return Ok(());
            }
        }
        let mut element = 0;
        for (term, factor) in &access.terms {
            element += integer(term, names)? * factor;
        }
        out.insert((
            access.kind.clone(),
            access.field.clone(),
            i64::try_from(element).map_err(|e| e.to_string())?,
        ));
        Ok(())
    }
}

fn integer(source: &str, names: &BTreeMap<String, i128>) -> Outcome<i128> {
    let mut parser = Symbolic { rest: source.trim(), names };
    let value = parser.sum()?;
    if !parser.rest.is_empty() || !value.is_integer() {
        return Err(format!("`{source}` is {value}, rest `{}`", parser.rest));
    }
    Ok(value.to_integer())
}

/// Evaluates the generators' symbolic notation: `/` divides exactly, `floor` and `Mod` are functions.
struct Symbolic<'s> {
    rest: &'s str,
    names: &'s BTreeMap<String, i128>,
}

impl Symbolic<'_> {
    fn take(&mut self, symbol: char) -> bool {
        let found = self.rest.starts_with(symbol);
        if found {
            self.rest = self.rest[1..].trim_start();
        }
        found
    }

    fn sum(&mut self) -> Outcome<Fraction> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Outcome<Fraction> {
        let mut value = self.operand()?;
        loop {
            if self.take('*') {
                value *= self.operand()?;
            } else if self.take('/') {
                value /= self.operand()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn operand(&mut self) -> Outcome<Fraction> {
        if self.take('-') {
            return Ok(-self.operand()?);
        }
        if self.take('(') {
            let value = self.sum()?;
            return if self.take(')') { Ok(value) } else { Err(format!("`)` expected at `{}`", self.rest)) };
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if let Ok(number) = word.parse::<i128>() {
            return Ok(number.into());
        }
        if !self.take('(') {
            let value = self.names.get(word).ok_or(format!("unknown name `{word}`"))?;
            return Ok((*value).into());
        }
        let first = self.sum()?;
        let second = if self.take(',') { Some(self.sum()?) } else { None };
        if !self.take(')') {
            return Err(format!("`)` expected at `{}`", self.rest));
        }
        match (word, second) {
            ("floor", None) => Ok(first.floor()),
            ("Mod", Some(by)) => Ok(first - (first / by).floor() * by),
            _ => Err(format!("unknown function `{word}`")),
        }
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A small deterministic generator (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let positive = i64::try_from((z ^ (z >> 31)) >> 1).unwrap_or(0);
        positive % n.max(1)
    }
}
