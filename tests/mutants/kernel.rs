//! Kernel documents: whatever can be read is folded, launched, run and reported.

use std::cell::Cell;
use std::sync::OnceLock;

use wavecast::device::{self, Device};
use wavecast::expr::LaunchSizes;
use wavecast::kernel::{Kernel, Limits, Loaded, Options, load};
use wavecast::launch::{Launch, Program, candidates, occupancy, visit_thread};
use wavecast::report::{Answer, ErrorDocument, View, check, render_fault, render_warnings};

use super::random::Rng;

/// Documents with much of the format in few lines.
pub const DOCUMENTS: &[&str] = &[
    r#"{"wavecast":1,"kernel":"copy","fields":{"a":{"dtype":"f64","size":1024},"b":{"like":"a"}},"domain":{"x":1024},"loads":["a[x]"],"stores":["b[x]"]}"#,
    r#"{"wavecast": 1, "kernel": "stencil", "params": {"NX": 640, "NY": 512, "R": 2},
 "fields": {"u": {"dtype": "f32", "shape": ["NX+2*R", "NY+2*R"], "halo": ["R", "R"], "order": "C", "align": 512},
            "v": {"like": "u", "offset": -3, "multiplicity": 2}},
 "domain": [{"x": "NX"}, {"y": "NY"}],
 "loads": [{"for": {"i": "-R..R"}, "at": ["u[x+i, y]", "u[x, y+i]"], "width": 16}],
 "stores": [{"at": "v[x, y]", "when": "x > 0 && x < NX-1 || !(y == 3)"}],
 "work": {"unit": "LUP", "flops": 9.5, "precision": "f32", "instructions": {"fp32": 9.5, "int": "2*R", "shared": 0}},
 "launch": {"block": {"x": "pow2(1..1024)", "y": [1, "2..4 step 2"], "threads": [256, 512]}, "fold": [[1], [1, 2], [4, 1, 1]], "registers": [{"fold": [1], "threads": 256, "value": 40}, {"value": 32}]}}"#,
    r#"{"wavecast":1,"kernel":"loops","tables":{"t":[[1,2],[3,4],[5,6]]},"params":{"N":100},"fields":{"a":{"dtype":8,"size":"N*N"},"s":{"dtype":"f32","shape":["blockDim.x+1","4"],"space":"shared"}},"domain":{"x":"N","y":3},"guard":"x % 2 == 0","body":[{"loop":{"k":"0..N-1"},"body":["load a[x + N*k]","sync",{"loop":{"j":{"from":"tidx","to":"N-1","step":"blockDim.x*gridDim.x","sample":2}},"body":[{"for":{"q":"0..2"},"at":["load a + t[q][1] + j","store s[threadIdx.x, q]"],"when":"k < 5"}]}]},"atomic a[t[y % 3][0]]"],"launch":{"grid":["N/blockDim.x+1",1,1],"block":[[32],[64,2]],"units_per_thread":"1/32","shared":"4*blockDim.x"}}"#,
    "wavecast: 1\nkernel: proxy\nparams: {N: 1000, M: N/3}\ntables:\n  col: [0, 5, 2, 9, 7]\nfields:\n  a: {dtype: c128, shape: [N, 5], strides: [5, 1]}\n  b: {dtype: i8, size: M*5, halo: 2}\ndomain: {row: N}\nguard: row*2 < N || col[row % 5] > 3\nloads:\n  - {for: {k: [0..2, 4, 3]}, at: \"a[min(row + col[k], N-1), k]\", when: row + k < N}\n  - b + max(tidx - 5, 0) / 7 % 13\n  - {at: \"b[(row << 1) >> 2]\", width: 1}\natomics: [\"a[row, 0]\"]\nlaunch:\n  block: [[64], [128], [256]]\n  fold: [[1], [2], [3]]\n  registers: 24\n  shared: 1024 + 8*blockDim.x\n",
    "wavecast: 1\nkernel: anchors\nfields: &f\n  a: &a {dtype: f64, size: 4096}\n  b: *a\ndomain: {x: 4096}\nloads: &l\n  - a[x]\n  - 'a[x]'\n  - \"a[\\x78]\"\n  - >-\n    a[x\n    ]\nstores: [\"b[x]\"]\nlaunch: {block: [[32]], fold: [[1], [2, 1], [1, 1, 1]]}\n",
    "# many documents\n--- \nwavecast: 1\nkernel: one\nfields: {a: {dtype: 4, size: 64}}\ndomain: {i: 64}\nstores: ['a[i]']\n...\n---\nwavecast: 1.0\nkernel: two\nparams: {N: 1e3, H: 0x10, O: 0o17}\nfields: {a: {dtype: f16, size: N, offset: -H}}\ndomain: {i: N}\nstores: ['a + get_global_id(0) - get_local_id(0) + get_group_id(0)*0 + get_local_size(0)']\nlaunch: {grid: [get_num_groups(0)*0 + 7], block: [[16]]}\n",
    "wavecast: 1\nkernel: variants\nparams: {N: 512, T: 16}\nfields:\n  a: {dtype: f32, shape: [N, N], order: C}\ndomain: {x: N, y: N}\nloads: [\"a[y, x]\"]\nlaunch: {block: [[T, T]], registers: 20}\nvariants:\n  - {name: small, params: {T: 8}}\n  - {name: long, launch: {block: [[4*T]], registers: null}}\n  - {loads: [\"a[x, y]\", \"a[y/T*T + x%T, x/T*T + y%T]\"]}\n",
    "wavecast: 1\nkernel: swizzle\nfields: {a: {dtype: f64, size: 1 << 20}, b: {like: a}}\ndomain: {x: 256, y: 64, z: 8}\nloads:\n  - a + (threadIdx.x + blockIdx.x*blockDim.x + 1) + (threadIdx.y + blockIdx.y*blockDim.y)*256 + tidz*16384\n  - a[(x/16*256 + x%16 + y%16*16 + y/16*4096 + z*16384) % (1 << 20)]\n  - {at: \"a + (tidx ) % blockDim.x + tidy / gridDim.y + get_global_size(0)\", when: \"blockIdx.x != 3 && (x + y) % 2 == 1\"}\nstores: [\"b[z*16384 + y*256 + x]\"]\nlaunch: {block: [[16, 16], [32, 8, 1], [64, 2, 2]], fold: [[1, 1, 1], [2, 2, 1], [1, 1, 4], [4, 4, 4]]}\n",
];

fn a_device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| device::find("a100", &[]).unwrap())
}

fn small() -> Limits {
    Limits { document_bytes: 50_000, accesses: 2_000, candidates: 2_000, variants: 10, ..Limits::default() }
}

fn read(text: &str, set: &[String], limits: Limits) -> Option<Loaded> {
    match load("fuzz.yaml", text, &Options { set: set.to_vec(), limits }) {
        Ok(loaded) => Some(loaded),
        Err(fault) => {
            assert!(!fault.diagnostics.is_empty(), "a fault says what is wrong");
            let _ = (fault.to_string(), render_fault(&fault));
            let _ = serde_json::to_string(&ErrorDocument::new([&fault])).unwrap();
            None
        }
    }
}

/// Reads a document, with all limits and with small ones, and does with its kernels what can be done.
pub fn run(text: &str, rng: &mut Rng) -> bool {
    let set: &[String] = &if rng.chance(8) { vec![super::mutate::setting(rng)] } else { Vec::new() };
    if let Some(loaded) = read(text, set, Limits::default()) {
        for kernel in loaded.kernels.iter().take(2) {
            launches(kernel, 1, rng);
        }
    }
    let Some(loaded) = read(text, set, small()) else { return false };
    for kernel in loaded.kernels.iter().take(3) {
        launches(kernel, 4, rng);
        let _ = render_warnings(kernel.warnings(), &loaded.sources);
        for (device, list) in [(Some(a_device()), true), (None, false)] {
            let summary = check(kernel, &loaded.sources, device, list);
            let _ = summary.text(View { width: (!list).then_some(80), all: list });
            let table = Answer::table(&[&summary]);
            let _ = (table.csv(), table.markdown());
            let _ = serde_json::to_string(&summary).unwrap();
        }
    }
    true
}

fn launches(kernel: &Kernel, most: usize, rng: &mut Rng) {
    for &fold in kernel.launch().folds().iter().take(most) {
        let Ok(program) = Program::folded(kernel, fold) else { continue };
        let skipped = rng.below(40);
        let some = candidates(kernel).filter(|c| c.fold() == fold);
        for candidate in some.skip(skipped).take(most).chain(candidates(kernel).take(1)) {
            let Ok(launch) = Launch::new(kernel, candidate) else { continue };
            let _ = occupancy(a_device(), &launch);
            if candidate.fold() == fold
                && let Ok(program) = program.at(&launch)
            {
                threads(&program, kernel, &launch, rng);
            }
        }
    }
}

fn threads(program: &Program<i64>, kernel: &Kernel, launch: &Launch, rng: &mut Rng) {
    let LaunchSizes { block: shape, grid } = launch.sizes();
    let mut inside = |sizes: [i64; 3]| sizes.map(|n| i64::try_from(rng.next() % n.unsigned_abs()).unwrap());
    let last = |sizes: [i64; 3]| sizes.map(|n| n - 1);
    for (block, thread) in [([0; 3], [0; 3]), (last(*grid), last(*shape)), (inside(*grid), inside(*shape))] {
        let seen = Cell::new(0);
        let ran =
            visit_thread(program, kernel.extents(), shape, block.into(), thread.into(), 300, &mut |touch| {
                assert!(touch.position < program.instructions.len());
                seen.set(seen.get() + 1);
            });
        assert!(seen.get() <= 300, "{ran:?}");
    }
}
