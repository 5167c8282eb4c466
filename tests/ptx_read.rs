//! Kernels that are read from PTX do what their documents say: both are run, thread by thread, and compared.

mod ptx_cases;

use std::collections::BTreeMap;

use ptx_cases::{Case, Launch, cases};
use wavecast::kernel::{Options, load};
use wavecast::launch::{Chosen, Touching};
use wavecast::ptx::agreement::agreement;
use wavecast::ptx::run::{Argument, Operation};
use wavecast::ptx::{Compiled, Given};
use wavecast::space::{Block, BlockIndex, Thread};

/// An argument as `read` takes it.
fn said(case: &Case, name: &str, argument: &Argument, out: &mut Vec<String>) {
    match argument {
        Argument::Integer(n) => out.push(format!("{name}={n}")),
        Argument::Float(x) => out.push(format!("{name}={x}")),
        Argument::Pointer { field, offset } => {
            let known = &case.fields[*field];
            let bytes = known.bytes.unwrap();
            out.push(format!("{name}={}+{offset}:u8[{bytes}]", known.name));
        }
        Argument::Parts(parts) => {
            for (at, _, part) in parts {
                said(case, &format!("{name}+{at}"), part, out);
            }
        }
    }
}

fn given(case: &Case, launch: &Launch) -> Given {
    let mut given = Given::default();
    for (number, argument) in case.arguments.iter().enumerate() {
        said(case, &number.to_string(), argument, &mut given.args);
    }
    given.blocks = vec![launch.block];
    let [x, y, z] = launch.grid;
    given.grid = Some(format!("{x}, {y}, {z}"));
    given
}

/// What came of a kernel and a launch.
fn outcome(case: &Case, launch: &Launch) -> Result<(), String> {
    let compiled = Compiled::new(&case.ptx, &case.text).map_err(|e| format!("refused: {e}"))?;
    let read = compiled.read(None, &given(case, launch)).map_err(|e| format!("refused: {e}"))?;
    let Some(document) = read.document else {
        let why = read.accesses.iter().find(|a| a.status == "refused").unwrap();
        return Err(format!("refused: line {}: {}", why.line, why.why.as_deref().unwrap_or("?")));
    };
    if let Some(data) = read.accesses.iter().find(|a| a.status == "data") {
        return Err(format!("data: line {}: {}", data.line, data.why.as_deref().unwrap_or("?")));
    }
    let kernel = load(&case.ptx, &document, &Options::default())
        .map_err(|e| format!("WRONG document: {e}\n{document}"))?;
    let kernel = &kernel.kernels[0];
    let chosen = Chosen::new(kernel, Some(Block::new(launch.block).unwrap()), None);
    let placed = wavecast::Launch::new(kernel, chosen.candidate)
        .map_err(|e| format!("WRONG launch: {e:?}\n{document}"))?;
    assert_eq!(<[i64; 3]>::from(placed.sizes().grid), launch.grid, "{} {document}", case.ptx);
    let machine = case.machine(launch);
    let mut threads: Vec<(BlockIndex, Thread)> = Vec::new();
    let [bx, by, bz] = launch.block;
    let count = bx * by * bz;
    for block in launch.some_blocks() {
        let step = (count / 24).max(1) | 1;
        let mut numbers: Vec<i64> =
            (0..count).step_by(usize::try_from(step).unwrap()).chain([count - 1]).collect();
        numbers.dedup();
        threads.extend(numbers.iter().map(|n| (block.into(), [n % bx, n / bx % by, n / bx / by].into())));
    }
    let found = agreement(kernel, &placed, &machine, &threads).map_err(|e| format!("not compared: {e}"))?;
    // A document does not load again what a thread has loaded before; compilers may, where pointers could be the same.
    let touching = Touching::new(kernel, &placed).unwrap();
    let merged = |d: &wavecast::ptx::agreement::Difference| {
        let touched = touching.thread(d.block, d.thread).unwrap();
        d.invented.is_empty()
            && d.missed.iter().all(|m| {
                m.operation == Operation::Load
                    && touched.iter().any(|t| {
                        let same = t.offset == m.offset && t.bytes == m.bytes;
                        same && *kernel.field(t.field).name() == m.field
                    })
            })
    };
    if !found.differences.iter().all(merged) {
        return Err(format!(
            "WRONG: {} of {} threads differ: {:?}\n{document}",
            found.different, found.threads, found.differences[0]
        ));
    }
    assert!(found.accesses > 0 || document.contains("body: []"), "{} {document}", case.ptx);
    Ok(())
}

/// Affine kernels that are refused, with reasons: what is not read yet.
const NOT_YET: [&str; 10] = [
    "nvrtc/loop_break",
    "nvrtc/local_array",
    "nvrtc/coarse_blocked",
    "nvrtc/chunks",
    "numba/gridstride",
    "numba/row_sums",
    "numba/triangle",
    "numba/backward",
    "triton/transpose",
    "triton/matmul",
];

#[test]
fn readings_are_what_programs_do() {
    let only = std::env::var("PTX_ONLY").ok();
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let mut unexpected = Vec::new();
    for case in cases() {
        if only.as_ref().is_some_and(|only| !case.ptx.contains(only.as_str())) {
            continue;
        }
        for launch in &case.launches {
            let found = outcome(&case, launch);
            let word = match &found {
                Ok(()) => "exact",
                Err(why) => why.split([':', ' ']).next().unwrap(),
            };
            *outcomes.entry(format!("{} {word}", case.expect)).or_default() += 1;
            let known = match (word, case.expect.as_str()) {
                ("exact", "affine" | "uneven") | ("data", "guard") | ("refused", "uneven" | "data") => true,
                ("refused", _) => std::env::var("PTX_ALL").is_err() && NOT_YET.contains(&case.ptx.as_str()),
                _ => false,
            };
            if !known {
                unexpected.push(format!("{} {:?} ({}): {found:?}", case.ptx, launch.block, case.expect));
            }
        }
    }
    println!("{outcomes:?}");
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
    assert!(only.is_some() || outcomes["affine exact"] >= 116, "{outcomes:?}");
}

/// Texts of PTX that were damaged at random are refused or read; nothing else happens.
#[test]
fn damaged_texts_do_no_harm() {
    let cases = cases();
    let mut state = 5_u64;
    let mut next = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % most.max(1)
    };
    let mut read = 0;
    for round in 0..240 {
        let case = &cases[next(cases.len())];
        let mut lines: Vec<String> = case.text.lines().map(str::to_owned).collect();
        for _ in 0..=round % 4 {
            let (at, other) = (next(lines.len()), next(lines.len()));
            match next(6) {
                0 => drop(lines.remove(at)),
                1 => lines.swap(at, other),
                2 => lines[at] = lines[other].clone(),
                3 => lines[at] = lines[at].replace("add", "sub").replace("lt", "ne").replace(", 4", ", 0"),
                4 => {
                    let words: Vec<&str> = lines[other].split_whitespace().collect();
                    let word = words.get(next(words.len())).map_or(String::new(), |w| (*w).to_owned());
                    lines[at].push_str(&word);
                }
                _ => {
                    let mut bytes = lines[at].clone().into_bytes();
                    if !bytes.is_empty() {
                        let place = next(bytes.len());
                        bytes[place] = b"%r0123456789,;[]{}.-+@"[next(22)];
                    }
                    lines[at] = String::from_utf8_lossy(&bytes).into_owned();
                }
            }
        }
        let text = lines.join("\n");
        let start = std::time::Instant::now();
        if let Ok(compiled) = Compiled::new("damaged", &text) {
            let launch = &case.launches[0];
            let found = compiled.read(None, &given(case, launch));
            if let Ok(found) = found
                && let Some(document) = found.document
            {
                read += 1;
                load("damaged", &document, &Options::default()).unwrap_or_else(|e| panic!("{e}\n{document}"));
            }
        }
        assert!(start.elapsed().as_secs() < 60, "{text}");
    }
    assert!(read > 15, "{read}");
}
