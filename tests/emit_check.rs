//! The check of an emitted program sees every index that is wrong: each index of each kernel is shifted, by powers
//! of two and by others, and the check has to fail.

mod oclgrind;
mod played;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use wavecast::emit::{Language, Settings, emit};
use wavecast::kernel::{Kernel, Options, load};
use wavecast::launch::Candidate;

/// How indices are wrong. Multiples of 4 were not seen once.
const SHIFTS: [i64; 8] = [1, -1, 3, 4, -4, 8, 32, -64];

/// A kernel, its sizes, a block and a fold.
type Case = (&'static str, &'static [&'static str], [i64; 3], [i64; 3]);

/// Kernels in which every load goes into a store, with small domains: folds, loops, tiles, tables.
const CASES: [Case; 6] = [
    ("star2d5", &["NX=40", "NY=19"], [16, 4, 1], [1, 2, 1]),
    ("conv2d-shared", &["NX=32", "NY=16"], [16, 8, 1], [1, 1, 1]),
    ("matmul-naive", &["M=17", "N=18", "K=9"], [8, 8, 1], [2, 2, 1]),
    ("lbm-d3q19", &["NX=9", "NY=4", "NZ=3"], [8, 2, 1], [1, 1, 1]),
    ("minife", &["NX=5", "NY=4", "NZ=3"], [32, 1, 1], [1, 1, 1]),
    ("vec3", &["N=300"], [32, 1, 1], [1, 1, 1]),
];

/// Narrow types, of which few numbers exist.
fn narrow(dtype: &str) -> String {
    format!(
        "wavecast: 1\nkernel: narrow-{dtype}\nfields:\n  a: {{dtype: {dtype}, size: 4096}}\n\
         \x20 b: {{dtype: {dtype}, size: 4096}}\ndomain: {{x: 4096}}\nloads: ['a[x]']\nstores: ['b[x]']\n\
         launch: {{block: [[64]]}}\n"
    )
}

fn of_library(file: &str, set: &[&str]) -> Kernel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels").join(file).with_extension("yaml");
    let options = Options { set: set.iter().map(|s| (*s).to_owned()).collect(), ..Options::default() };
    load(file, &std::fs::read_to_string(path).unwrap(), &options).unwrap().kernels.remove(0)
}

/// The program with a shift in every index of its kernels, and how many those are.
fn mutable(text: &str) -> (String, usize) {
    let (head, rest) = text.split_once("extern \"C\" __global__").unwrap();
    let (kernels, host) = rest.split_once("// ---- The host ----").unwrap();
    let mut out = format!("{head}extern \"C\" __global__");
    let mut count = 0;
    let mut depth = Vec::new();
    let signature = kernels.find('{').unwrap();
    let mut before = ' ';
    for (at, c) in kernels.char_indices() {
        let indexes = at > signature && c == '[' && (before.is_alphanumeric() || before == '_');
        if indexes && !out.ends_with("shared") && !out.ends_with("sink") {
            out += "[(";
            depth.push(Some(count));
            count += 1;
        } else if c == '[' {
            out.push(c);
            depth.push(None);
        } else if c == ']' {
            if let Some(number) = depth.pop().unwrap() {
                let _ = write!(out, ") + mutant({number})");
            }
            out.push(c);
        } else {
            out.push(c);
        }
        before = c;
    }
    (out + "// ---- The host ----" + host, count)
}

/// Which shifts the check does not see.
fn survivors(kernel: &Kernel, candidate: Candidate, folder: &str) -> (usize, Vec<String>) {
    let text = emit(kernel, &[candidate], &Settings::new(Language::Cuda)).unwrap();
    assert!(!text.contains("are not checked"), "{}", kernel.name());
    let (text, count) = mutable(&text);
    let program = played::built(kernel, &text, Language::Cuda, &played::folder(folder)).unwrap();
    let right = played::checked(&program, None);
    assert!(right.status.success(), "{}: {}", kernel.name(), String::from_utf8_lossy(&right.stderr));
    let all = (0..count).flat_map(|number| SHIFTS.map(|shift| (number, shift)));
    let survives = |mutant: &(usize, i64)| played::checked(&program, Some(*mutant)).status.success();
    let survivors: Vec<String> = all.filter(survives).map(|m| format!("{}: {m:?}", kernel.name())).collect();
    (count * SHIFTS.len(), survivors)
}

#[test]
fn every_wrong_index_is_seen() {
    if played::missing("every_wrong_index_is_seen") {
        return;
    }
    let mut survived = Vec::new();
    let mut tried = 0;
    for (file, set, block, fold) in CASES {
        let (count, alive) =
            survivors(&of_library(file, set), Candidate::new(block, fold).unwrap(), "mutants");
        tried += count;
        survived.extend(alive);
    }
    for dtype in ["u8", "i8", "f16", "i32", "f32", "f64", "c64"] {
        let candidate = Candidate::new([64, 1, 1], [1, 1, 1]).unwrap();
        let (count, alive) = survivors(&played::kernel(&narrow(dtype)), candidate, "mutants-narrow");
        tried += count;
        survived.extend(alive);
    }
    assert!(tried > 500, "{tried}");
    assert!(survived.is_empty(), "{} of {tried} survived:\n{}", survived.len(), survived.join("\n"));
}

#[test]
fn opencl_programs_see_wrong_indices_too() {
    if oclgrind::missing("opencl_programs_see_wrong_indices_too") {
        return;
    }
    let folder = oclgrind::folder("mutants-opencl");
    let kernel = of_library("star2d5", &["NX=40", "NY=19"]);
    let candidate = Candidate::new([16, 4, 1], [1, 1, 1]).unwrap();
    let text = emit(&kernel, &[candidate], &Settings::new(Language::OpenCl)).unwrap();
    let (kernels, host) = text.split_at(text.find("/* ---- Checking").unwrap());
    let (source, rest) = kernels.split_at(kernels.find("// ---- The host").unwrap());
    let load = source.match_indices("sum0 += ").nth(2).unwrap().0;
    let at = load + source[load..].find('[').unwrap() + 1;
    for (shift, succeeds) in [("", true), ("4 + ", false), ("-8 + ", false)] {
        let file = folder.join("star.c");
        let program = file.with_extension("bin");
        let changed = format!("{}{shift}{}", &source[..at], &source[at..]);
        std::fs::write(&file, changed + rest + host).unwrap();
        oclgrind::compiled(&file, &program);
        let arguments = ["--repeat", "0", "--warmup", "0", "--check", "all"];
        let run =
            Command::new("oclgrind").arg(&program).args(arguments).current_dir(&folder).output().unwrap();
        assert_eq!(run.status.success(), succeeds, "{shift}: {}", String::from_utf8_lossy(&run.stderr));
    }
}
