//! Traces of kernel documents are what their kernels do.

use wavecast::kernel::load;
use wavecast::launch::{Candidate, Launch};
use wavecast::trace::synth::Synth;
use wavecast::trace::{Trace, TraceKind};

fn trace(text: &str, block: [i64; 3]) -> Trace {
    let kernel = load("test", text, &Default::default()).unwrap().kernels.remove(0);
    let launch = Launch::new(&kernel, Candidate::new(block, [1; 3]).unwrap()).unwrap();
    Synth::new(&kernel, &launch).unwrap().whole().unwrap()
}

/// Crawford's matrix multiplication (C listing 7.1) as a document.
const MM: &str = "wavecast: 1
kernel: mm
params: {N: 32}
fields: {A: {dtype: f32, shape: [N, N]}, B: {like: A}, C: {like: A}}
domain: {x: N, y: N}
body:
  - loop: {i: 0..N-1}
    body:
      - load A[i, y]
      - load B[x, i]
  - store C[x, y]
work: {flops: 64}
launch: {block: [[16, 16, 1]]}
";

#[test]
fn matrix_multiplication_has_its_accesses_in_order() {
    let trace = trace(MM, [16, 16, 1]);
    assert_eq!((trace.threads(), trace.blocks(), trace.grid.0), (1024, 4, [2, 2, 1]));
    // Thread 17 of block 1: x = 17, y = 1.
    let own = trace.thread(256 + 17);
    assert_eq!(own.len(), 65);
    let base = own[0].address - 4 * 32;
    for (i, pair) in (0..32).zip(own.chunks(2)) {
        let (a, b) = (pair[0], pair[1]);
        assert_eq!((a.kind, a.address - base, a.bytes), (TraceKind::Load, 4 * (32 + i), 4));
        assert_eq!(b.address - base, 4096 + 4 * (32 * i + 17));
        assert_eq!(trace.tables.pairs(a.iteration), [(0, u32::try_from(i).unwrap())]);
        assert_eq!(a.iteration, b.iteration);
        assert_ne!(a.instruction, b.instruction);
    }
    assert_eq!((own[64].kind, own[64].address - base), (TraceKind::Store, 8192 + 4 * (32 + 17)));
    assert!(trace.tables.pairs(own[64].iteration).is_empty());
}

#[test]
fn threads_outside_the_domain_do_nothing_and_barriers_are_kept() {
    let text = "wavecast: 1
kernel: shift
params: {N: 40}
fields: {a: {dtype: f64, size: N}, b: {like: a}}
domain: {x: N}
body:
  - load a[x]
  - sync
  - store b[x]
work: {flops: 0}
launch: {block: [[32, 1, 1]]}
";
    let trace = trace(text, [32, 1, 1]);
    let kinds = |t: usize| trace.thread(t).iter().map(|a| a.kind).collect::<Vec<_>>();
    assert_eq!(kinds(39), [TraceKind::Load, TraceKind::Barrier, TraceKind::Store]);
    assert!(kinds(40).iter().all(|&k| k == TraceKind::Barrier));
    let loaded: Vec<u64> = (0..40).map(|t| trace.thread(t)[0].address).collect();
    assert!(loaded.windows(2).all(|w| w[1] - w[0] == 8));
}
