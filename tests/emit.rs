//! Emitted programs do what their documents say: `OpenCL` ones run under the simulator Oclgrind on small
//! domains, with correct results, and their traces are those that are synthesised of the documents.

mod oclgrind;

use std::path::Path;

use oclgrind::{compiled, difference, folder, missing, traced};
use wavecast::emit::{Language, Settings, emit, file_name};
use wavecast::kernel::{Kernel, Options, load};
use wavecast::launch::{Candidate, Launch};
use wavecast::trace::synth::Synth;

/// A file of `kernels/` with a small domain, and launches of it.
struct Case {
    file: &'static str,
    set: &'static [&'static str],
    blocks: &'static [[i64; 3]],
    folds: &'static [[i64; 3]],
}

const NO_FOLD: &[[i64; 3]] = &[[1, 1, 1]];

const fn case(
    file: &'static str,
    set: &'static [&'static str],
    blocks: &'static [[i64; 3]],
    folds: &'static [[i64; 3]],
) -> Case {
    Case { file, set, blocks, folds }
}

/// All kernels. Domains are no multiples of blocks and folds where the kernel allows it.
const CASES: [Case; 26] = [
    case("allen-cahn-d3q15", &["NX=9", "NY=5", "NZ=3"], &[[8, 2, 1]], &[[1, 1, 1], [1, 1, 2]]),
    case("axpy-gridstride", &["N=500", "THREADS=256"], &[[64, 1, 1], [128, 1, 1]], NO_FOLD),
    case("box3d27", &["NX=11", "NY=6", "NZ=5"], &[[8, 2, 2]], &[[1, 1, 1], [1, 2, 1], [2, 1, 2]]),
    case("conv2d-shared", &["NX=32", "NY=16"], &[[16, 8, 1], [8, 4, 1]], NO_FOLD),
    case("laplap2d", &["NX=19", "NY=9", "NZ=2"], &[[16, 4, 1]], &[[1, 1, 1], [1, 2, 1]]),
    case("lbm-d3q15", &["NX=9", "NY=4", "NZ=3"], &[[8, 2, 1]], &[[1, 1, 1], [2, 1, 1]]),
    case("lbm-d3q19", &["NX=9", "NY=4", "NZ=3"], &[[8, 2, 1], [4, 1, 2]], &[[1, 1, 1], [1, 2, 1]]),
    case("matmul-naive", &["M=17", "N=18", "K=9"], &[[8, 8, 1], [16, 2, 1]], &[[1, 1, 1], [2, 2, 1]]),
    case("matmul-tiled", &["M=16", "N=24", "K=32"], &[[8, 8, 1]], NO_FOLD),
    case("minife", &["NX=5", "NY=4", "NZ=3"], &[[32, 1, 1]], &[[1, 1, 1], [2, 1, 1]]),
    case("polybench-2dconv", &["NI=9", "NJ=21"], &[[16, 4, 1]], &[[1, 1, 1], [1, 2, 1]]),
    case("polybench-3dconv", &["NI=6", "NJ=9", "NK=21"], &[[16, 4, 1]], &[[1, 1, 1], [1, 2, 1]]),
    case("polybench-atax", &["NX=24", "NY=40"], &[[32, 1, 1]], &[[1, 1, 1], [2, 1, 1]]),
    case("polybench-bicg", &["NX=24", "NY=40"], &[[32, 1, 1]], &[[1, 1, 1], [2, 1, 1]]),
    case("polybench-gemm", &["NI=10", "NJ=20", "NK=12"], &[[8, 4, 1]], &[[1, 1, 1], [2, 1, 1]]),
    case("polybench-mvt", &["N=40"], &[[32, 1, 1]], &[[1, 1, 1], [2, 1, 1]]),
    case("star2d4", &["NX=13", "NY=7"], &[[8, 2, 1]], &[[1, 1, 1], [2, 2, 1]]),
    case("star2d5", &["NX=21", "NY=10"], &[[8, 2, 1]], &[[1, 1, 1], [1, 2, 1], [1, 4, 1]]),
    case("star3d25", &["NX=13", "NY=6", "NZ=5"], &[[8, 2, 2]], &[[1, 1, 1], [1, 2, 1], [1, 1, 2]]),
    case("star3d7", &["NX=13", "NY=6", "NZ=5"], &[[8, 2, 2]], &[[1, 1, 1], [2, 2, 2]]),
    case("stream-copy", &["N=1000"], &[[64, 1, 1]], &[[1, 1, 1], [4, 1, 1]]),
    case("stream-scale", &["N=1000"], &[[64, 1, 1]], NO_FOLD),
    case("stream-triad", &["N=1000"], &[[64, 1, 1]], NO_FOLD),
    case("transpose-naive", &["WIDTH=40", "HEIGHT=28"], &[[16, 4, 1]], &[[1, 1, 1], [1, 2, 1]]),
    case("transpose-tiled", &["N=64"], &[], &[]),
    case("vec3", &["N=100"], &[[32, 1, 1]], &[[1, 1, 1], [2, 1, 1]]),
];

fn kernels(file: &str, set: &[&str]) -> Vec<Kernel> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels").join(file).with_extension("yaml");
    let options = Options { set: set.iter().map(|s| (*s).to_owned()).collect(), ..Options::default() };
    load(file, &std::fs::read_to_string(path).unwrap(), &options).unwrap().kernels
}

/// Emits, compiles and runs a program under Oclgrind and compares each launch with the synthesised one.
fn run(kernel: &Kernel, candidates: &[Candidate]) -> Result<usize, String> {
    let text = emit(kernel, candidates, &Settings::of(Language::OpenCl)).map_err(|e| e.to_string())?;
    let folder = folder("emitted");
    let source = folder.join(file_name(kernel, Language::OpenCl));
    let program = source.with_extension("bin");
    std::fs::write(&source, text).unwrap();
    compiled(&source, &program);
    let arguments = ["--repeat", "0", "--warmup", "0", "--check", "all"];
    let (output, traces) = traced(&program, &folder, &arguments, &source.with_extension("csv"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() || said.contains("Invalid") || said.contains("is wrong") {
        return Err(said);
    }
    if traces.len() != candidates.len() {
        return Err(format!("{} launches of {}", traces.len(), candidates.len()));
    }
    for (ran, &candidate) in traces.iter().zip(candidates) {
        let launch = Launch::new(kernel, candidate).unwrap();
        let expected = Synth::new(kernel, &launch).unwrap().whole().unwrap();
        if let Some(different) = difference(ran, &expected) {
            return Err(format!("{candidate:?}: {different}"));
        }
    }
    Ok(traces.iter().map(|t| t.accesses().len()).sum())
}

#[test]
fn opencl_programs_do_what_their_documents_say() {
    if missing("opencl_programs_do_what_their_documents_say") {
        return;
    }
    let mut wrong = Vec::new();
    for case in &CASES {
        for kernel in kernels(case.file, case.set) {
            let mut all: Vec<Candidate> = Vec::new();
            for &fold in case.folds {
                all.extend(case.blocks.iter().map(|&block| Candidate { block, fold }));
            }
            if all.is_empty() {
                all = wavecast::launch::candidates(&kernel).collect();
            }
            match run(&kernel, &all) {
                Ok(accesses) => eprintln!("{}: {accesses}", kernel.name),
                Err(why) => wrong.push(format!("{}: {why}", kernel.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
