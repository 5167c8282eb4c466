//! Traces that the tracer records of `OpenCL` programs are those that are synthesised of the same kernels'
//! documents, access for access.

mod oclgrind;

use std::path::{Path, PathBuf};

use oclgrind::{compiled, difference, folder, missing, simulator, succeeded, traced};
use wavecast::kernel::{Options, load};
use wavecast::launch::{Candidate, Launch};
use wavecast::trace::Trace;
use wavecast::trace::synth::Synth;

type Params<'p> = &'p [(&'p str, i64)];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tracer/crawford")
}

/// What Crawford's kernel of this name does by its document.
fn synthesised(name: &str, params: Params<'_>, block: [i64; 3]) -> Trace {
    let text = std::fs::read_to_string(sources().join(name).with_extension("yaml")).unwrap();
    let set = params.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let options = Options { set, ..Options::default() };
    let kernel = load(name, &text, &options).unwrap().kernels.remove(0);
    let launch = Launch::new(&kernel, Candidate::new(block, [1; 3]).unwrap()).unwrap();
    Synth::new(&kernel, &launch).unwrap().whole().unwrap()
}

#[test]
fn recorded_traces_of_crawfords_kernels_are_the_synthesised_ones() {
    if missing("recorded_traces_of_crawfords_kernels_are_the_synthesised_ones") {
        return;
    }
    let folder = folder("crawford");
    let program = folder.join("crawford");
    compiled(&sources().join("crawford.c"), &program);
    let cases: [(&str, &str, i64, Params, [i64; 3]); 6] = [
        ("matmul", "32", 16, &[("N", 32)], [16, 16, 1]),
        ("matmul", "24", 8, &[("N", 24)], [8, 8, 1]),
        ("transpose", "64", 16, &[("N", 64)], [16, 16, 1]),
        ("transpose", "64", 32, &[("N", 64)], [32, 32, 1]),
        // Threads beyond the domain do nothing.
        ("stencil", "32,16,8", 16, &[("NX", 32), ("NY", 16), ("NZ", 8)], [16, 1, 1]),
        ("stencil", "70,5,6", 64, &[("NX", 70), ("NY", 5), ("NZ", 6)], [64, 1, 1]),
    ];
    for (name, size, block, params, shape) in cases {
        let file = folder.join(format!("{name}-{size}-{block}.csv"));
        let (output, traces) = traced(&program, &sources(), &[name, size, &block.to_string()], &file);
        succeeded(&output);
        assert_eq!(traces.len(), 1, "{name} {size}: launches");
        assert!(traces[0].accesses().len() > 1000);
        let different = difference(&traces[0], &synthesised(name, params, shape));
        assert_eq!(different, None, "{name} {size} {block}");
    }
}

/// What the three kernels do not have: vectors, barriers, atomics, shared and constant memory, loops of
/// functions inside of loops.
const FEATURES: &str = "float sum(__global const float *from, int n) {
  float total = 0.0f;
  for (int i = 0; i < n; i++)
    total += from[i];
  return total;
}
__kernel void features(__global float4 *wide, __global int *counter, __global float *out,
                       __constant float *factors) {
  __local float tile[4];
  int own = get_local_id(0) + 2 * get_local_id(1);
  int group = get_group_id(0) + 3 * get_group_id(1);
  tile[own] = wide[own].x;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = 0; j < 2; j++)
    out[4 * group + own] = factors[j] * tile[3 - own] + sum((__global const float *)wide, j + 1);
  atomic_inc(counter);
}
";
/// Six by four threads in groups of two by two.
const RUN: &str = "features.cl\nfeatures\n6 4 1\n2 2 1\n<size=64 fill=1 float>\n<size=4 fill=0 int>\n<size=96 fill=0 float>\n<size=8 fill=2 float>\n";

#[test]
fn barriers_atomics_vectors_and_nested_loops_are_recorded() {
    if missing("barriers_atomics_vectors_and_nested_loops_are_recorded") {
        return;
    }
    let folder = folder("tracer_features");
    std::fs::write(folder.join("features.cl"), FEATURES).unwrap();
    std::fs::write(folder.join("features.sim"), RUN).unwrap();
    let trace = folder.join("features.csv");
    let run = |setting: (&str, &str)| {
        let mut command = simulator("oclgrind-kernel", &trace);
        command.args(["--build-options", "-cl-opt-disable", "features.sim"]).env(setting.0, setting.1);
        (command.current_dir(&folder).output().unwrap(), std::fs::read_to_string(&trace).unwrap())
    };
    let (output, text) = run(("WAVECAST_TRACE_ALIGN", "4096"));
    succeeded(&output);
    assert_eq!(text.lines().nth(1), Some("# launch block=2,2,1 grid=3,2,1 ordered=0 kernel=features"));
    // The last thread of the last group. Buffers lie behind each other, each at a multiple of 4096.
    let (wide, counter, out) = (2_097_152, 2_101_248, 2_105_344 + 4 * 23);
    let expected = [
        format!("R,{},16,", wide + 48),
        "B,0,0,".to_owned(),
        format!("R,{wide},4,0=0;1=0"),
        format!("W,{out},4,0=0"),
        format!("R,{wide},4,0=1;1=0"),
        format!("R,{},4,0=1;1=1", wide + 4),
        format!("W,{out},4,0=1"),
        format!("A,{counter},4,"),
    ];
    let own: Vec<String> = text
        .lines()
        .filter_map(|l| l.strip_prefix("23,"))
        .map(|l| {
            let cells: Vec<&str> = l.split(',').collect();
            format!("{},{},{},{}", cells[0], cells[1], cells[2], cells[6])
        })
        .collect();
    assert_eq!(own, expected);
    let (output, text) = run(("WAVECAST_TRACE_KERNEL", "another"));
    succeeded(&output);
    assert_eq!(text, "# wavecast-trace 1\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no kernel was traced named another"));
    let (output, _) = run(("WAVECAST_TRACE_ALIGN", "100"));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a power of two is needed, in bytes"));
}
