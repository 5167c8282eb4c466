//! Emitted programs do what their documents say: `OpenCL` ones run under the simulator Oclgrind on small
//! domains, with correct results, and their traces are those that are synthesised of the documents.

mod oclgrind;

use std::io::Write;
use std::path::Path;
use std::process::Command;

use oclgrind::{compiled, difference, folder, missing, succeeded, traced};
use wavecast::emit::{Language, Settings, emit, file_name, registers_of};
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
    let text = emit(kernel, candidates, &Settings::new(Language::OpenCl)).map_err(|e| e.to_string())?;
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

/// Kernels with folds, loops, guards, barriers and shared memory, which stand for all.
const SOME: [&str; 11] = [
    "axpy-gridstride",
    "box3d27",
    "conv2d-shared",
    "lbm-d3q19",
    "matmul-naive",
    "matmul-tiled",
    "polybench-2dconv",
    "polybench-atax",
    "polybench-gemm",
    "star2d5",
    "star3d25",
];

fn is_chosen(case: &Case) -> bool {
    std::env::var_os("WAVECAST_ALL_KERNELS").is_some() || SOME.contains(&case.file)
}

#[test]
fn opencl_programs_do_what_their_documents_say() {
    if missing("opencl_programs_do_what_their_documents_say") {
        return;
    }
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(|c| is_chosen(c)) {
        for kernel in kernels(case.file, case.set) {
            let mut all: Vec<Candidate> = Vec::new();
            for &fold in case.folds {
                all.extend(case.blocks.iter().map(|&block| Candidate::new(block, fold).unwrap()));
            }
            if all.is_empty() {
                all = wavecast::launch::candidates(&kernel).collect();
            }
            match run(&kernel, &all) {
                Ok(accesses) => assert!(accesses > 500, "{}: {accesses} accesses", kernel.name()),
                Err(why) => wrong.push(format!("{}: {why}", kernel.name())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What no kernel of the library has: vectors, identical arrays, conditions, atomics, loads that nothing
/// depends on, names that languages reserve, quotients of what may be negative.
const ODD: &str = "wavecast: 1
kernel: odd one
params: {N: 50}
tables: {jump: [0, 3, 1, 2]}
fields:
  new: {dtype: f32, size: 4*N + 16}
  float: {dtype: f32, size: N + 4, multiplicity: 2, halo: 4}
  sum0: {dtype: i32, size: N + 8}
  z2: {dtype: c64, size: N}
  hits: {dtype: u32, size: 4}
domain: {in: N}
body:
  - load float[(in - 3)/4]
  - {at: \"load new[4*in]\", width: 16}
  - load sum0[in + jump[in % 4]]
  - {at: \"store float[in]\", when: in % 3 != 1}
  - store z2[in]
  - load new[min(in, 7)]
  - atomic hits[in % 4]
work: {flops: 1}
launch: {block: [[16], [32]], fold: [[1], [2]]}
";

#[test]
fn odd_kernels_are_emitted_too() {
    if missing("odd_kernels_are_emitted_too") {
        return;
    }
    // A store that others may load is not checked; everything else is.
    let apart = ODD.replace("load float[(in - 3)/4]", "load sum0[(in - 3)/4 + 1]");
    for text in [ODD, &apart] {
        let kernel = load("odd", text, &Options::default()).unwrap().kernels.remove(0);
        let all: Vec<Candidate> = wavecast::launch::candidates(&kernel).collect();
        let program = emit(&kernel, &all, &Settings::new(Language::OpenCl)).unwrap();
        assert_eq!(program.contains("are not checked"), text == ODD);
        assert!(program.contains("if (sum1 == -1) sink[0] = sum1;"), "the last load is kept");
        assert_eq!(run(&kernel, &all).map(|n| n > 0), Ok(true));
    }
}

#[test]
fn what_no_program_can_do_is_refused() {
    let refused = |change: (&str, &str)| {
        let text = "wavecast: 1
kernel: k
fields: {a: {dtype: f32, size: 1024}, b: {like: a}}
domain: {x: 256}
loads: [{at: 'a[4*x]', width: 16}]
stores: ['b[x]']
work: {flops: 0}
launch: {block: [[64]]}
";
        assert!(text.contains(change.0));
        let kernel =
            load("k", &text.replace(change.0, change.1), &Options::default()).unwrap().kernels.remove(0);
        let all: Vec<Candidate> = wavecast::launch::candidates(&kernel).collect();
        let why = emit(&kernel, &all, &Settings::new(Language::Cuda)).unwrap_err();
        assert!(!why.help().is_empty());
        format!("{}: {why}", why.code())
    };
    assert_eq!(
        refused(("width: 16", "width: 12")),
        "width: `a` is accessed in 12 bytes at a time; GPUs load and store 1, 2, 4, 8 or 16"
    );
    assert!(refused(("a[4*x]", "a[4*x + 1]")).starts_with("misaligned: "));
    assert!(refused(("b[x]", "b[x + 1000]")).starts_with("out-of-bounds: "));
    assert!(refused(("a: {dtype: f32", "a: {multiplicity: 600, dtype: f32")).starts_with("arrays: "));
}

/// The compiler, if there is one: what `WAVECAST_NVCC` names, or that of `.ci/setup --simulator`.
fn compiler(test: &str) -> Option<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = root.join("target/cuda/bin/python");
    let named = std::env::var("WAVECAST_NVCC").ok().filter(|n| !n.is_empty());
    let words = match named {
        Some(named) => named.split_whitespace().map(str::to_owned).collect(),
        None if own.exists() => {
            vec![own.display().to_string(), root.join("calibration/wavecast-nvcc").display().to_string()]
        }
        None => {
            let why = format!("{test} SKIPPED: no compiler for CUDA; .ci/setup --simulator installs one");
            let _ = writeln!(std::io::stderr(), "{why}");
            return None;
        }
    };
    Some(words)
}

/// What the compiler says of a program that it must take without a warning.
fn compiled_cuda(compiler: &[String], source: &Path, target: &Path, arch: &str) -> String {
    let mut command = Command::new(&compiler[0]);
    command.args(&compiler[1..]).arg(format!("-arch={arch}")).args(["-cubin", "-Xptxas", "-v", "-o"]);
    let output = command.arg(target).arg(source).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !said.contains("warning"), "{}, {arch}: {said}", source.display());
    said.into_owned()
}

/// Their kernels; what runs on the host is left out by `wavecast-nvcc`.
#[test]
fn microbenchmarks_compile_without_warnings() {
    let Some(compiler) = compiler("microbenchmarks_compile_without_warnings") else { return };
    let folder = folder("pchase");
    for (name, kernels) in [("pchase", 2), ("experiments", 7)] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tracer/pchase/{name}.cu"));
        for arch in ["sm_70", "sm_80", "sm_90"] {
            let said = compiled_cuda(&compiler, &source, &folder.join(format!("{name}.{arch}")), arch);
            assert_eq!(said.matches("Compiling entry function").count(), kernels, "{said}");
        }
    }
}

#[test]
fn cuda_programs_compile_without_warnings() {
    let Some(compiler) = compiler("cuda_programs_compile_without_warnings") else { return };
    let folder = folder("cuda");
    let all = std::env::var_os("WAVECAST_ALL_KERNELS").is_some();
    let some = ["conv2d-shared", "lbm-d3q19", "star3d25", "polybench-2dconv"];
    for case in CASES.iter().filter(|c| all || some.contains(&c.file)) {
        for kernel in kernels(case.file, &[]) {
            let candidates: Vec<Candidate> = wavecast::launch::candidates(&kernel).collect();
            let text = emit(&kernel, &candidates, &Settings::new(Language::Cuda)).unwrap();
            let file = folder.join(file_name(&kernel, Language::Cuda));
            std::fs::write(&file, text).unwrap();
            for arch in ["sm_70", "sm_80", "sm_90"] {
                let said = compiled_cuda(&compiler, &file, &file.with_extension(arch), arch);
                let folds: std::collections::BTreeSet<_> =
                    candidates.iter().map(wavecast::Candidate::fold).collect();
                let registers = registers_of(&said);
                assert_eq!(registers.len(), folds.len(), "{}, {arch}: {said}", kernel.name());
                assert!(registers.values().all(|r| (8..=255).contains(r)), "{registers:?}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn registers_of_the_compiler_go_into_the_ranking() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("registers");
    let stub = folder.join("nvcc");
    let says = "#!/bin/sh\nfor f in 1x1x1 1x2x1; do\necho \"ptxas info : Compiling entry function 'k_$f' for '$1'\" >&2\n\
        echo 'ptxas info : Used 77 registers, 384 bytes cmem[0]' >&2\ndone\n";
    std::fs::write(&stub, says).unwrap();
    std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
    let rank = |compiler: &str, device: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wavecast"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).env("WAVECAST_NVCC", compiler);
        command.args(["rank", "kernels/star3d25.yaml", "-d", device, "--block", "32,2,8", "--fold", "1,2,1"]);
        command.args(["--registers-from", "ptxas", "--format", "json"]).output().unwrap()
    };
    let output = rank(stub.to_str().unwrap(), "v100");
    let ranking: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ranking["results"][0]["config"]["registers"], 77, "{ranking}");
    for (compiler, device, message) in [
        ("/nowhere/nvcc", "v100", "the compiler `/nowhere/nvcc` cannot be run"),
        ("false", "v100", "`false` failed for sm_70"),
        ("true", "v100", "the compiler tells no registers"),
        ("true", "mi100", "ptxas does not compile for mi100"),
    ] {
        let output = rank(compiler, device);
        assert_eq!(output.status.code(), Some(2));
        let error: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = error["errors"][0]["message"].as_str().unwrap();
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn the_command_writes_one_file_for_each_program() {
    let root = env!("CARGO_MANIFEST_DIR");
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_wavecast")).current_dir(root).args(arguments).output().unwrap()
    };
    let out = folder("files").join("several");
    let path = out.to_str().unwrap();
    let output = run(&[
        "emit",
        "kernels/transpose-tiled.yaml",
        "kernels/vec3.yaml",
        "--lang",
        "hip",
        "--force",
        "-o",
        path,
    ]);
    succeeded(&output);
    let hip = std::fs::read_to_string(out.join("vec3.hip")).unwrap();
    assert!(
        hip.contains("hipLaunchKernel(")
            && hip.contains("#include <hip/hip_runtime.h>")
            && !hip.contains("cuda")
    );
    assert!(out.join("transpose-tiled-8-rows--not-padded.hip").exists());
    let output = run(&["emit", "kernels/transpose-tiled.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    let output = run(&["emit", "kernels/transpose-tiled.yaml", "--variant", "8 rows"]);
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("extern \"C\" __global__ void transpose_tiled_1x4x1(")
    );
}
