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
            parts.iter().for_each(|(at, _, part)| said(case, &format!("{name}+{at}"), part, out));
        }
        other => panic!("{other:?}"),
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

#[test]
fn readings_are_what_programs_do() {
    let mut outcomes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let only = std::env::var("PTX_ONLY").ok();
    let mut lines = Vec::new();
    for case in cases() {
        if only.as_ref().is_some_and(|only| !case.ptx.contains(only.as_str())) {
            continue;
        }
        for launch in &case.launches {
            let start = std::time::Instant::now();
            let found = outcome(&case, launch);
            if only.is_some() || start.elapsed().as_millis() > 1500 {
                println!("{} {:?}", case.ptx, start.elapsed());
            }
            let word = match &found {
                Ok(()) => "exact".to_owned(),
                Err(why) => why.split(':').next().unwrap().split(' ').next().unwrap().to_owned(),
            };
            outcomes.entry(format!("{} {word}", case.expect)).or_default().push(case.ptx.clone());
            if let Err(why) = found {
                lines.push(format!("{} {:?} ({}): {why}", case.ptx, launch.block, case.expect));
            }
        }
    }
    for line in &lines {
        println!("{line}");
    }
    for (what, which) in &outcomes {
        println!("{what}: {}", which.len());
    }
    assert!(!lines.iter().any(|l| l.contains("WRONG")));
}
