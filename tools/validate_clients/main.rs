//! Holds kernel documents against kernels as real code generators emitted them.
//!
//! `cargo run --release --example validate_clients -- FOLDER` reads the generators' files of FOLDER
//! (`client-kernel/0`: fields, accesses with `element_offset` or indices, guards, loops) and the
//! document of the same name in `tests/clients/`, and compares fields, instruction counts, and the
//! addresses of random threads. The generators' expressions are evaluated here, with exact fractions
//! and independently of Wavecast's own grammar. `--golden FILE` writes facts of a few threads for
//! the test suite, which has to do without FOLDER.

mod described;
mod emitted;
mod symbolic;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use wavecast::kernel::{Kernel, load};
use wavecast::launch::{Launch, Program, candidates, visit_thread};
use wavecast::space::Block;

use described::{compare_counts, compare_domain, compare_fields};
use emitted::{Emitted, array, text};

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
