//! Kernels that are read from PTX do what their documents say: both are run, thread by thread, and compared.

mod ptx_cases;

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use ptx_cases::{Case, Launch, cases};
use wavecast::kernel::{Options, load};
use wavecast::launch::{Chosen, Touching};
use wavecast::ptx::agreement::{Undecided, agreement};
use wavecast::ptx::run::{AccessOperation, Argument};
use wavecast::ptx::{Compiled, Given, Read};
use wavecast::space::{Block, BlockIndex, Thread};

/// An argument as `read` takes it.
fn said(case: &Case, name: &str, argument: &Argument, out: &mut Vec<String>) {
    match argument {
        Argument::Integer(n) => out.push(format!("{name}={n}")),
        Argument::Float(x) => out.push(format!("{name}={x}")),
        Argument::AnyFloat => {}
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
    given.blocks = vec![Block::new(launch.block).unwrap()];
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
    let undecided = Undecided::among(&read.accesses);
    let found = agreement(kernel, &placed, &machine, &threads, &undecided)
        .map_err(|e| format!("not compared: {e}"))?;
    // A document does not load again what a thread has loaded before; compilers may, where pointers could be the same.
    let touching = Touching::new(kernel, &placed).unwrap();
    let merged = |d: &wavecast::ptx::agreement::ThreadDifference| {
        let touched = touching.thread(d.block, d.thread).unwrap();
        d.invented.is_empty()
            && d.missed.iter().all(|m| {
                m.operation == AccessOperation::Load
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
    assert!(found.accesses > 0, "{} {document}", case.ptx);
    if let Some(data) = read.accesses.iter().find(|a| a.status == "data") {
        return Err(format!("data: line {}: {}", data.line, data.why.as_deref().unwrap_or("?")));
    }
    Ok(())
}

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
            let start = std::time::Instant::now();
            let found = outcome(&case, launch);
            if std::env::var("PTX_TIMES").is_ok() {
                println!("TIME {:?} {}", start.elapsed(), case.ptx);
            }
            let word = match &found {
                Ok(()) => "exact",
                Err(why) => why.split([':', ' ']).next().unwrap(),
            };
            *outcomes.entry(format!("{} {word}", case.expect)).or_default() += 1;
            let known = matches!(
                (word, case.expect.as_str()),
                ("exact", "affine" | "uneven") | ("data", "guard") | ("refused", "uneven" | "data")
            );
            if !known {
                unexpected.push(format!("{} {:?} ({}): {found:?}", case.ptx, launch.block, case.expect));
            }
        }
    }
    println!("{outcomes:?}");
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
    assert!(only.is_some() || outcomes["affine exact"] >= 139, "{outcomes:?}");
}

/// What is read of a kernel of `nvrtc/` for blocks of 64 threads, with what is told of its lines.
fn told(name: &str, args: &[&str], branch: &[&str], assume: &[&str]) -> Result<Read, String> {
    let text = std::fs::read_to_string(format!("tests/ptx/nvrtc/{name}.ptx")).unwrap();
    let all = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    let given = Given {
        args: all(args),
        blocks: vec![Block::new([64, 1, 1]).unwrap()],
        branch: all(branch),
        assume: all(assume),
        ..Given::default()
    };
    Compiled::new(name, &text).unwrap().read(None, &given).map_err(|e| e.to_string())
}

/// Accesses of all threads of a document, and instructions of global memory as it says them.
fn counted(read: &Read) -> (usize, f64) {
    let document = read.document.as_ref().unwrap();
    let kernel = &load("told", document, &Options::default()).unwrap().kernels[0];
    let chosen = Chosen::new(kernel, Some(Block::new([64, 1, 1]).unwrap()), None);
    let placed = wavecast::Launch::new(kernel, chosen.candidate).unwrap();
    let touching = Touching::new(kernel, &placed).unwrap();
    let mut sum = 0;
    for block in 0..placed.sizes().grid.volume() {
        for thread in 0..64 {
            sum += touching.thread([block, 0, 0].into(), [thread, 0, 0].into()).unwrap().len();
        }
    }
    let issued = read.instructions.iter().find(|(class, _)| *class == "global").unwrap().1;
    (sum, serde_json::to_value(issued).unwrap().as_f64().unwrap())
}

/// A probability of a branch is the share of threads that touch what stands behind it, and that of leaving a loop says
/// how often it runs.
#[test]
fn branches_have_probabilities() {
    // Line 47 jumps over the load of line 51, line 67 leaves a loop of 9 loads.
    let read = |branch: &[&str]| told("branch_data", &["3=6400", "4=9"], branch, &[]);
    let threads = 6400;
    let (all, _) = counted(&read(&[]).unwrap());
    assert_eq!(all, threads * (1 + 1 + 9 + 1));
    for (jump, loads) in [("0", 10), ("1", 0), ("0.7", 3), ("0.3", 7), ("0.5", 5)] {
        let (some, issued) = counted(&read(&[&format!("47={jump}")]).unwrap());
        assert_eq!(some, threads * 11 + threads * loads / 10, "{jump}");
        assert!((issued - (11.0 + loads as f64 / 10.0)).abs() < 0.1, "{jump} {issued}");
        // The predicate that the jump asks says the same; whole warps do.
        let (same, _) = counted(&read(&[&format!("45={jump}")]).unwrap());
        let (warps, _) = counted(&read(&[&format!("47={jump}/warp")]).unwrap());
        assert_eq!((same, warps), (some, some), "{jump}");
    }
    // Of 9 iterations that each end the loop with 1/4, 3.7 are done; with 1/100 almost all.
    let left = |leave: &str| counted(&read(&[leave]).unwrap()).0;
    assert_eq!((left("67=0.25"), left("67=0.01")), (threads * (3 + 4), threads * (3 + 9)));
    assert_eq!((left("66=0.5"), left("67=0")), (threads * (3 + 2), threads * (3 + 9)));
    assert!(read(&["67=0.25"]).unwrap().accesses.iter().filter(|a| a.status == "data").count() == 1);
    for (wrong, why) in [("44=0.5", "lines 45, 47, 66, 67"), ("47=1.1", "from 0 to 1"), ("x", "LINE=P")] {
        let message = read(&[wrong]).unwrap_err();
        assert!(message.contains(why), "{message}");
    }
}

/// Sines are taken to have small arguments, unless somebody says how often they have.
#[test]
fn arguments_of_sines_are_small() {
    let args = ["0=x:f32[6400]", "1=s:f32[6400]", "2=c:f32[6400]", "3=6400"];
    let read = |branch: &[&str]| told("trig_single", &args, branch, &[]).unwrap();
    let small = read(&[]);
    assert_eq!(small.accesses.len(), 4, "{:?}", small.accesses);
    let document = small.document.unwrap();
    for line in [59, 194] {
        assert!(document.contains(&format!("# line {line}: arguments of sines")), "{document}");
    }
    // The comparison of the first one holds for three of four threads, by its line or that of the jump.
    for line in ["59=0.75", "61=0.75"] {
        let some = read(&[line]);
        assert!(some.accesses.len() > 8, "{:?}", some.accesses);
        let document = some.document.unwrap();
        assert!(document.contains("hold for 3 of 4 threads"), "{document}");
        assert!(!document.contains("# line 59: arguments"), "{document}");
        assert!(document.contains("# line 194: arguments"), "{document}");
    }
}

/// An address that was told stands in the place of one that data tell.
#[test]
fn addresses_can_be_assumed() {
    let read = |assume: &[&str]| told("gather", &["1=x:f32[6400]", "3=6400"], &[], assume);
    assert!(read(&[]).unwrap().document.is_none());
    let found = read(&["44: x[(tidx*7 + lane) % arg3]"]).unwrap();
    assert!(found.accesses.iter().all(|a| a.status == "exact"));
    let document = found.document.unwrap();
    assert!(document.contains("# line 44: the address is not known"), "{document}");
    let kernel = &load("told", &document, &Options::default()).unwrap().kernels[0];
    let chosen = Chosen::new(kernel, Some(Block::new([64, 1, 1]).unwrap()), None);
    let placed = wavecast::Launch::new(kernel, chosen.candidate).unwrap();
    let touched =
        Touching::new(kernel, &placed).unwrap().thread([90, 0, 0].into(), [40, 0, 0].into()).unwrap();
    let places: Vec<i64> =
        touched.iter().filter(|t| kernel.field(t.field).name() == "x").map(|t| t.offset).collect();
    assert_eq!(places, [4 * (((90 * 64 + 40) * 7 + 8) % 6400)]);
    for (wrong, why) in [
        ("44: y[0]", "`y` is no parameter"),
        ("44: x[i0]", "no loop around it"),
        ("40: x[0]", "line 40 whose address is not known"),
        ("44 x", "LINE: FIELD[INDEX]"),
        ("44: x[threadIdx.x / 0]", "`/` is not done"),
    ] {
        let message = read(&[wrong]).unwrap_err();
        assert!(message.contains(why), "{message}");
    }
}

/// What this thread has had of a processor, where the system tells it: other programs do not make a text slow.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next().and_then(|first| first.parse().ok()));
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Reads texts of PTX that were damaged at random. They are refused or read, and nothing else happens.
fn read_damaged(texts: usize, seed: u64, most: Duration) {
    let cases = cases();
    let mut state = seed;
    let mut next = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % most.max(1)
    };
    let (mut read, mut longest) = (0, Duration::ZERO);
    // Where to begin when one text is looked for: those before are made, as they decide the next, but not read.
    let from = std::env::var("PTX_FROM").map_or(0, |from| from.parse().unwrap());
    for round in 0..texts {
        let case = &cases[next(cases.len())];
        let mut lines: Vec<String> = case.text.lines().map(str::to_owned).collect();
        for _ in 0..=round % 4 {
            let (at, other) = (next(lines.len()), next(lines.len()));
            match next(6) {
                0 => drop(lines.remove(at)),
                1 => lines.swap(at, other),
                2 => {
                    let line = lines[other].clone();
                    lines[at] = line;
                }
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
        if round < from {
            continue;
        }
        let text = lines.join("\n");
        let start = processor_time();
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
        let taken = processor_time().saturating_sub(start);
        if taken > most / 2 {
            println!("{taken:?} for text {round}, of {}", case.ptx);
        }
        longest = longest.max(taken);
        assert!(longest < most, "{longest:?}: {text}");
        if round % 10_000 == 9_999 {
            println!("{} texts, {read} read, at most {longest:?}", round + 1);
        }
    }
    assert!(from > 0 || read > texts / 16, "{read}");
}

#[test]
fn damaged_texts_do_no_harm() {
    // A debug build on a machine that has much to do is slow.
    read_damaged(240, 5, Duration::from_secs(60));
}

#[test]
#[ignore = "takes twenty minutes; run it in release where the parser or the reader changed"]
fn a_million_damaged_texts_do_no_harm() {
    read_damaged(1_000_000, 6, Duration::from_secs(1));
}
