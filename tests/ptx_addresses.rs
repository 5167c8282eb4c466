//! What threads of kernels in PTX access, by hand: the sources of tests/ptx/cuda say the same.

mod ptx_cases;

use ptx_cases::{Case, Launch, cases};
use wavecast::ptx::run::{AccessOperation, EntryNotRun, ThreadEvent, Who};

/// A thread and the launch it is in.
struct At {
    block: [i64; 3],
    thread: [i64; 3],
    size: [i64; 3],
    grid: [i64; 3],
}

impl At {
    /// The thread's place in the grid.
    fn place(&self, d: usize) -> i64 {
        self.block[d] * self.size[d] + self.thread[d]
    }
}

/// Operation, field, element, bytes.
type One = (AccessOperation, String, i64, i64);

struct Accesses {
    all: Vec<One>,
    /// Bytes of an element.
    size: i64,
}

impl Accesses {
    fn load(&mut self, field: &str, element: i64) {
        self.all.push((AccessOperation::Load, field.to_owned(), element * self.size, self.size));
    }
    fn store(&mut self, field: &str, element: i64) {
        self.all.push((AccessOperation::Store, field.to_owned(), element * self.size, self.size));
    }
    fn atomic(&mut self, field: &str, element: i64) {
        self.all.push((AccessOperation::Atomic, field.to_owned(), element * self.size, self.size));
    }
}

type Expected = fn(&At, &mut Accesses);

/// Kernels by their files, bytes of an element, and what a thread accesses.
const KERNELS: &[(&str, i64, Expected)] = &[
    ("saxpy", 4, |at, a| {
        let i = at.place(0);
        if i < 1000 {
            a.load("x", i);
            a.load("y", i);
            a.store("y", i);
        }
    }),
    ("negative_step", 8, |at, a| {
        let mut i = 499 - at.place(0);
        while i >= 0 {
            a.load("a", i);
            a.store("b", i);
            i -= at.grid[0] * at.size[0];
        }
    }),
    ("backward_recurrence", 8, |at, a| {
        let s = at.place(0);
        if s < 100 {
            a.load("x", 600 + s);
            for r in (0..=5).rev() {
                a.load("x", r * 100 + s);
                a.load("c", r * 100 + s);
                a.store("x", r * 100 + s);
            }
        }
    }),
    ("transpose_padded", 4, |at, a| {
        let ([bx, by, _], [tx, ty, _]) = (at.block, at.thread);
        for j in (0..32).step_by(8) {
            let (x, y) = (bx * 32 + tx, by * 32 + ty + j);
            if x < 50 && y < 100 {
                a.load("in", y * 50 + x);
                a.store("tile", (ty + j) * 33 + tx);
            }
        }
        for j in (0..32).step_by(8) {
            let (x, y) = (by * 32 + tx, bx * 32 + ty + j);
            if x < 100 && y < 50 {
                a.load("tile", tx * 33 + ty + j);
                a.store("out", y * 100 + x);
            }
        }
    }),
    ("transpose_swizzled", 4, |at, a| {
        let ([bx, by, _], [tx, ty, _]) = (at.block, at.thread);
        for j in (0..32).step_by(usize::try_from(at.size[1]).unwrap()) {
            a.load("in", (by * 32 + ty + j) * 64 + bx * 32 + tx);
            a.store("tile", (ty + j) * 32 + (tx ^ (ty + j)));
            a.load("tile", tx * 32 + ((ty + j) ^ tx));
            a.store("out", (bx * 32 + ty + j) * 64 + by * 32 + tx);
        }
    }),
    ("matmul_remainder", 8, |at, a| {
        let ([tx, ty, _], row, column) = (at.thread, at.place(1), at.place(0));
        for t in 0..3 {
            if row < 20 && t * 8 + tx < 21 {
                a.load("A", row * 21 + t * 8 + tx);
            }
            if column < 30 && t * 8 + ty < 21 {
                a.load("B", (t * 8 + ty) * 30 + column);
            }
            a.store("a", ty * 8 + tx);
            a.store("b", ty * 9 + tx);
            for k in 0..8 {
                a.load("a", ty * 8 + k);
                a.load("b", k * 9 + tx);
            }
        }
        if row < 20 && column < 30 {
            a.store("C", row * 30 + column);
        }
    }),
    ("stencil3d7", 8, |at, a| {
        let (x, y, z) = (at.place(0), at.place(1), at.place(2));
        if x >= 1 && y >= 1 && z >= 1 && x < 29 && y < 19 && z < 13 {
            let i = (z * 20 + y) * 30 + x;
            for d in [-600, -30, -1, 0, 1, 30, 600] {
                a.load("in", i + d);
            }
            a.store("out", i);
        }
    }),
    ("stencil_march", 4, |at, a| {
        let (x, y) = (at.place(0), at.place(1));
        if x == 0 || y == 0 || x >= 29 || y >= 19 {
            return;
        }
        let mut i = y * 30 + x;
        a.load("in", i);
        a.load("in", i + 600);
        for _ in 1..15 {
            i += 600;
            for d in [600, -1, 1, -30, 30] {
                a.load("in", i + d);
            }
            a.store("out", i);
        }
    }),
    ("nvrtc/block_sum", 4, |at, a| {
        let (t, size) = (at.thread[0], at.size[0]);
        let mut i = at.place(0);
        while i < 3000 {
            a.load("in", i);
            i += size * at.grid[0];
        }
        a.store("part", t);
        let mut s = size / 2;
        while s > 0 {
            if t < s {
                a.load("part", t);
                a.load("part", t + s);
                a.store("part", t);
            }
            s /= 2;
        }
        if t == 0 {
            a.load("part", 0);
            a.store("out", at.block[0]);
        }
    }),
    ("divide3", 4, |at, a| {
        let i = at.place(0);
        if i < 999 {
            a.load("in", i);
            a.store("out", i % 3 * 333 + i / 3);
        }
    }),
    ("divide7_signed", 4, |at, a| {
        let i = at.place(0);
        if i < 1000 {
            a.load("in", i);
            a.store("out", i / 7 * 8 + i % 7);
        }
    }),
    ("divide_long", 4, |at, a| {
        let i = at.place(0);
        if i < 1000 {
            a.load("in", i);
            a.store("out", i / 10 * 16 + i % 10);
        }
    }),
    ("im2col", 4, |at, a| {
        let i = at.place(0);
        if i < 4 * 10 * 13 {
            let (x, y, c) = (i % 13, i / 13 % 10, i / 130);
            for (ky, kx) in (0..9).map(|k| (k / 3, k % 3)) {
                a.load("in", (c * 12 + y + ky) * 15 + x + kx);
                a.store("out", ((c * 9 + ky * 3 + kx) * 10 + y) * 13 + x);
            }
        }
    }),
    ("triangle_upper", 8, |at, a| {
        let i = at.place(0);
        for j in i + 1..40 {
            for k in 0..9 {
                a.load("A", k * 40 + i);
                a.load("A", k * 40 + j);
            }
            a.store("out", i * 40 + j);
        }
    }),
    ("early_exit", 4, |at, a| {
        let i = at.place(0);
        if i >= 100 {
            return;
        }
        for k in 0..8 {
            if i + k * 100 >= 730 {
                return;
            }
            a.load("in", i + k * 100);
            a.store("out", i + k * 100);
        }
        a.store("out", i);
    }),
    ("spmv_csr", 8, |at, a| {
        let r = at.place(0);
        if r >= 100 {
            return;
        }
        let int = |field: &str, element: i64| (AccessOperation::Load, field.to_owned(), element * 4, 4);
        a.all.extend([int("start", r), int("start", r + 1)]);
        for k in 5 * r..5 * r + 5 {
            a.all.push(int("col", k));
            a.load("val", k);
            a.load("x", (37 * k + 3) % 100);
        }
        a.store("y", r);
    }),
    ("struct_param", 8, |at, a| {
        let (x, y) = (at.place(0), at.place(1));
        if x < 40 && y < 30 {
            a.load("in", y * 40 + x);
            a.store("out", y * 40 + x);
        }
    }),
    ("boundary_periodic", 4, |at, a| {
        let (x, y) = (at.place(0), at.place(1));
        if x < 30 && y < 20 {
            let (e, w, n, s) = ((x + 1) % 30, (x + 29) % 30, (y + 1) % 20, (y + 19) % 20);
            for i in [y * 30 + w, y * 30 + e, s * 30 + x, n * 30 + x] {
                a.load("in", i);
            }
            a.store("out", y * 30 + x);
        }
    }),
    ("constant_offsets", 4, |at, a| {
        let i = at.place(0);
        if i + 11 < 300 {
            for (k, d) in [0, 3, 5, 11].into_iter().enumerate() {
                a.load("ahead", i64::try_from(k).unwrap());
                a.load("in", i + d);
            }
            a.store("out", i);
        }
    }),
    ("bit_reversal", 8, |at, a| {
        let i = u32::try_from(at.place(0)).unwrap();
        a.load("in", i64::from(i));
        a.store("out", i64::from(i.reverse_bits() >> 23));
    }),
    ("call_function", 4, |at, a| {
        let (x, y) = (at.place(0), at.block[1]);
        if x < 30 {
            a.load("in", y * 30 + x);
            a.store("out", x * 20 + y);
        }
    }),
    ("short_planes", 2, |at, a| {
        let (x, y) = (at.place(0), at.block[1]);
        if x < 50 {
            a.load("in", y * 50 + x);
            a.store("out", x * 40 + y);
        }
    }),
    ("unsigned_guard", 4, |at, a| {
        let i = at.place(0);
        for d in -2..=2 {
            if (0..300).contains(&(i + d)) {
                a.load("in", i + d);
            }
        }
        if i < 300 {
            a.store("out", i);
        }
    }),
    ("atomic_columns", 4, |at, a| {
        let c = at.place(0);
        if c < 100 {
            for r in (at.block[1]..40).step_by(3) {
                a.load("in", r * 100 + c);
            }
            a.atomic("sums", c);
        }
    }),
    ("float_index", 4, |at, a| {
        let i = at.place(0);
        if i < 300 {
            #[expect(clippy::cast_possible_truncation, reason = "what the kernel does")]
            a.load("in", (i as f32 * 0.7) as i64);
            a.store("out", i);
        }
    }),
];

fn find(name: &str) -> Vec<Case> {
    // clang keeps an element of `block_sum` in a register.
    let file = |case: &Case| case.ptx == name || case.ptx.rsplit('/').next() == Some(name);
    cases().into_iter().filter(file).collect()
}

fn compare(case: &Case, launch: &Launch, size: i64, expected: Expected) -> usize {
    let machine = case.machine(launch);
    let mut run = machine.start(1 << 24);
    let mut compared = 0;
    for block in launch.some_blocks() {
        let mut done = vec![Vec::new(); machine.threads() as usize];
        let ran = run.block(block.into(), Who::All, &mut |thread, event| {
            if let ThreadEvent::Access(access) = event {
                assert!(access.sure, "{}", case.ptx);
                let name = machine.name(&access);
                // Variables within functions have longer names.
                let name = ["tile", "part", "ahead"].into_iter().find(|n| name.contains(n)).unwrap_or(name);
                let name = name.strip_prefix("_ZZ").map_or(name, |n| &n[n.len() - 1..]);
                done[thread as usize].push((
                    access.operation,
                    name.to_owned(),
                    access.offset,
                    i64::from(access.bytes),
                ));
            }
        });
        ran.unwrap();
        let [x, y, _] = launch.block;
        for (number, mut found) in (0..).zip(done) {
            let thread = [number % x, number / x % y, number / x / y];
            let at = At { block, thread, size: launch.block, grid: launch.grid };
            let mut wanted = Accesses { all: Vec::new(), size };
            expected(&at, &mut wanted);
            compared += found.len();
            // The compiler may turn loads round.
            found.sort();
            wanted.all.sort();
            assert_eq!(found, wanted.all, "{} block {block:?} thread {thread:?}", case.ptx);
        }
    }
    compared
}

#[test]
fn threads_access_what_the_source_says() {
    for (name, size, expected) in KERNELS {
        let found = find(name);
        // Numba's saxpy is the same.
        assert!(!found.is_empty(), "{name}");
        for case in found {
            for launch in &case.launches {
                assert!(compare(&case, launch, *size, *expected) > 0, "{name}");
            }
        }
    }
}

#[test]
fn a_thread_alone_does_the_same_as_in_its_block() {
    for case in cases().iter().filter(|c| !c.ptx.starts_with("triton")) {
        let launch = &case.launches[0];
        // Functions that call themselves are refused.
        let machine = match case.machine_or_why(launch) {
            Err(EntryNotRun::Recursion(_)) => continue,
            machine => machine.unwrap(),
        };
        let block = launch.some_blocks()[launch.some_blocks().len() - 1];
        let collect = |who: Who<'_>, wanted: u32| {
            let mut own = Vec::new();
            let ran = machine.start(1 << 26).block(block.into(), who, &mut |thread, event| {
                if thread == wanted {
                    own.push(event);
                }
            });
            ran.map(|()| own)
        };
        for wanted in [0, 5, machine.threads() - 1] {
            let alone = collect(Who::Threads(&[wanted]), wanted);
            let all = collect(Who::All, wanted).unwrap();
            // Alone it may need what others have; then it says that it does not know.
            let Ok(alone) = alone else { continue };
            let sure = alone.iter().all(|e| match e {
                ThreadEvent::Access(access) => access.sure,
                other => matches!(other, ThreadEvent::Barrier),
            });
            assert!(!sure || alone == all, "{} thread {wanted}", case.ptx);
        }
    }
}
