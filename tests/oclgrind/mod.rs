//! Helpers of tests that run `OpenCL` programs under the simulator Oclgrind with our tracer.
// Each test file uses some of them.
#![allow(dead_code)]

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use wavecast::trace::format::{Collector, ReadOptions, read_text};
use wavecast::trace::{Trace, TraceAccess, TraceKind};

const PACKAGES: &str =
    "apt-get install oclgrind liboclgrind-dev llvm-14-dev g++ opencl-headers ocl-icd-opencl-dev";

/// What a test needs that is not there, if anything. The reason is printed: a test that is left out says so.
pub fn missing(test: &str) -> bool {
    let program = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let missing: Vec<&str> =
        ["oclgrind", "llvm-config-14", "g++", "make", "cc"].into_iter().filter(|p| !program(p)).collect();
    let headers: Vec<&str> = ["/usr/include/oclgrind/Plugin.h", "/usr/include/CL/cl.h"]
        .into_iter()
        .filter(|h| !Path::new(h).exists())
        .collect();
    let all = [missing, headers].concat();
    if !all.is_empty() {
        // Not with eprintln, which a passing test keeps to itself.
        let why = format!("{test} SKIPPED: {} not found; on Debian: {PACKAGES}", all.join(", "));
        let _ = writeln!(std::io::stderr(), "{why}");
    }
    !all.is_empty()
}

pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn succeeded(output: &Output) {
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", shown(&output.stdout), shown(&output.stderr));
}

/// The tracer, built once.
fn plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let out = folder("tracer");
        let built = Command::new("make")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tracer/oclgrind"))
            .arg(format!("OUT={}", out.display()))
            .output()
            .unwrap();
        succeeded(&built);
        out.join("libwavecast_tracer.so")
    })
}

/// A C program, compiled with warnings as errors.
pub fn compiled(source: &Path, program: &Path) {
    let built = Command::new("cc")
        .args(["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([program, source])
        .args(["-lOpenCL", "-lm"])
        .output()
        .unwrap();
    succeeded(&built);
}

/// Oclgrind or its runner of single kernels, with the tracer.
pub fn simulator(program: &str, trace: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("--plugins")
        .arg(plugin())
        .env("WAVECAST_TRACE", trace)
        // What emitted programs compile their kernels with: accesses are those of the source.
        .env("WAVECAST_CL_OPTIONS", "-cl-opt-disable")
        .env_remove("WAVECAST_TRACE_ALIGN")
        .env_remove("WAVECAST_TRACE_KERNEL");
    command
}

/// Runs a program under Oclgrind with the tracer: its output, and the traces of its launches.
pub fn traced(program: &Path, folder: &Path, arguments: &[&str], trace: &Path) -> (Output, Vec<Trace>) {
    let mut command = simulator("oclgrind", trace);
    let output = command.arg(program).args(arguments).current_dir(folder).output().unwrap();
    let text = std::fs::read(trace).unwrap_or_default();
    let mut collector = Collector::default();
    if let Err(why) = read_text(&text, ReadOptions::default(), &mut collector) {
        succeeded(&output);
        panic!("{why}");
    }
    (output, collector.traces)
}

/// Where two traces differ first: they are to agree access for access for each thread, in address, bytes,
/// kind and iterations of loops, and in what belongs to one instruction. Barriers count for threads that do
/// anything else: a thread without work ends at once in one, and waits with the others in the other.
pub fn difference(ran: &Trace, expected: &Trace) -> Option<String> {
    if (ran.block, ran.grid) != (expected.block, expected.grid) {
        return Some(format!(
            "blocks {} of {} and {} of {}",
            ran.grid, ran.block, expected.grid, expected.block
        ));
    }
    let mut names: HashMap<u32, u32> = HashMap::new();
    let mut back: HashMap<u32, u32> = HashMap::new();
    for thread in 0..ran.threads().max(expected.threads()) {
        let (a, b) = (working(ran.thread(thread)), working(expected.thread(thread)));
        for (i, (x, y)) in a.iter().zip(b).enumerate() {
            let seen = |t: &Trace, a: &TraceAccess| {
                (a.kind, a.address, a.bytes, t.tables.pairs(a.iteration).to_vec())
            };
            let (seen_x, seen_y) = (seen(ran, x), seen(expected, y));
            let like = x.kind == TraceKind::Barrier && y.kind == TraceKind::Barrier;
            if !like && seen_x != seen_y {
                return Some(format!("access {i} of thread {thread}: {seen_x:x?}, expected {seen_y:x?}"));
            }
            // One instruction of the one is one of the other.
            let there = *names.entry(x.instruction).or_insert(y.instruction);
            let again = *back.entry(y.instruction).or_insert(x.instruction);
            if !like && (there, again) != (y.instruction, x.instruction) {
                return Some(format!("access {i} of thread {thread} belongs to another instruction"));
            }
        }
        if a.len() != b.len() {
            return Some(format!("thread {thread} has {} accesses, expected {}", a.len(), b.len()));
        }
    }
    None
}

fn working(thread: &[TraceAccess]) -> &[TraceAccess] {
    if thread.iter().all(|a| a.kind == TraceKind::Barrier) { &[] } else { thread }
}
