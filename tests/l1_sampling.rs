//! Where only some warps and iterations can be run, those that do little stand for themselves alone: what is sampled is
//! near what all of them do.

use wavecast::device;
use wavecast::kernel::{Kernel, load};
use wavecast::launch::{Candidate, Launch, Program};
use wavecast::quantity::{PerThread, Times};
use wavecast::traffic::ThreadPath;
use wavecast::traffic::l1::{self, L1Counts};

fn placed(text: &str, block: [i64; 3]) -> (Kernel, Launch, Program<i64>) {
    let kernel = load("kernel", text, &Default::default()).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let kernel = kernel.kernels.into_iter().next().unwrap();
    let candidate = Candidate::new(block, [1; 3]).unwrap();
    let launch = Launch::new(&kernel, candidate).unwrap();
    let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
    (kernel, launch, program)
}

fn counts(text: &str, block: [i64; 3]) -> L1Counts {
    let (kernel, launch, program) = placed(text, block);
    l1::count(&kernel, &launch, &program, &device::find("a100-40gb", &[]).unwrap()).unwrap()
}

fn assert_near(found: f64, expected: f64, percent: f64, what: &str) {
    let error = (found / expected - 1.0) * 100.0;
    assert!(error.abs() <= percent, "{what}: {found} for {expected}, {error:+.2} %");
}

/// A block of 32 x 32 threads, of which those of the first `rows` rows and columns load so many elements of a tile from
/// shared memory.
fn tile(rows: i64, loads: i64) -> String {
    format!(
        "wavecast: 1\nkernel: tile\nfields:\n  s: {{dtype: f32, shape: [32, 512], space: shared}}\n  \
         out: {{dtype: f32, shape: [4096, 4096]}}\ndomain: {{x: 4096, y: 4096}}\nbody:\n  - for: {{k: 0..{}}}\n    \
         when: threadIdx.y < {rows} && threadIdx.x < {rows}\n    at: \"load s[threadIdx.x, (threadIdx.y + k) % 509]\"\n  \
         - store out[x, y]\n",
        loads - 1
    )
}

#[test]
fn rows_of_threads_that_do_nothing_stand_for_themselves() {
    for loads in [9, 25, 81, 121, 400] {
        for rows in [1, 5, 16, 22, 24, 31] {
            let counts = counts(&tile(rows, loads), [32, 32, 1]);
            let issues: f64 = counts.instructions.iter().map(|i| i.issues.get()).sum();
            let lanes: f64 = counts.instructions.iter().map(|i| i.lanes.get()).sum();
            let what = format!("{loads} loads of {rows} rows");
            assert_near(issues, (rows * loads + 32) as f64, 1e-6, &format!("issues of {what}"));
            assert_near(lanes, (rows * rows * loads + 1024) as f64, 1e-6, &format!("lanes of {what}"));
        }
    }
}

/// Blocks of 7 x 1 x 36 threads of which the domain leaves five planes: two of their eight warps have work, of 16 blocks. Where
/// all of these can be run, how a program is written makes no difference.
#[test]
fn few_warps_with_work_among_many_idle_ones_are_all_run() {
    let head = "wavecast: 1\nkernel: few\nfields:\n  a: {dtype: u8, shape: [40, 16, 5]}\n  \
                b: {dtype: f32, shape: [456], space: shared}\n  d: {dtype: u8, shape: [25, 22, 8]}\n\
                domain: {x: 22, y: 16, z: 5}\nbody:\n  - store b[2*threadIdx.y]\n  - load d[x + 3, y + 4, z + 3]\n";
    let stores = ["- {for: {v: [0, 1, 2]}, at: \"store a[x + 2*v, y + v, 4 - z]\"}", "- store d[x/9, y, z]"];
    let plain = format!("{head}  {}", stores.join("\n  "));
    let looped = format!("{head}  - loop: {{k: 2..2}}\n    body:\n      {}", stores.join("\n      "));
    let folded = |text: &str| {
        let kernel = load("kernel", text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate::new([7, 1, 36], [3, 2, 1]).unwrap();
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
        l1::count(&kernel, &launch, &program, &device::find("a40", &[]).unwrap()).unwrap()
    };
    let (plain, looped) = (folded(&plain), folded(&looped));
    let sectors = |counts: &L1Counts| counts.instructions.iter().map(|i| i.sectors.get()).sum::<f64>();
    assert_near(sectors(&looped), sectors(&plain), 1e-6, "sectors in a loop of one iteration");
    // 110 work items of a block make five accesses each; 20 threads, on average, have at least one of them and store to b.
    let lanes: f64 = plain.instructions.iter().map(|i| i.lanes.get()).sum();
    assert_near(lanes, 22.0 * 16.0 * 5.0 / 16.0 * 5.0 + 20.0, 1e-6, "lanes");
}

/// A stencil in blocks so wide that each way of lying relative to lines takes all blocks of a row, with those at its ends, where
/// a guard leaves out a thread: what it costs is near what it costs without a guard.
#[test]
fn blocks_between_the_ends_of_a_grid_stand_for_them() {
    let text = |guard: &str| {
        format!(
            "wavecast: 1\nkernel: stencil\nfields:\n  a: {{dtype: f32, shape: [4096, 4096]}}\n  b: {{like: a}}\n\
             domain: {{x: 4096, y: 4096}}\n{guard}loads:\n  - {{for: {{u: -1..1, v: -1..1}}, at: \"a[x + u, y + v]\"}}\n\
             stores: [\"b[x, y]\"]\n"
        )
    };
    let guard = "guard: x > 0 && x < 4095 && y > 0 && y < 4095\n";
    for block in [[254, 1, 1], [129, 1, 1], [254, 3, 1], [250, 2, 1]] {
        let [guarded, free] = [guard, ""].map(|guard| counts(&text(guard), block));
        assert!(guarded.sampled && !free.sampled, "{block:?}");
        let of = |counts: &L1Counts| {
            let sectors: f64 = counts.instructions.iter().map(|i| i.sectors.get()).sum();
            [counts.pipe_cycles.per_item(counts.work_items).get(), sectors / counts.work_items.get()]
        };
        for (found, expected) in of(&guarded).into_iter().zip(of(&free)) {
            assert_near(found, expected, 0.5, &format!("{block:?}"));
        }
    }
}

/// Each thread loads the part of its row that a condition leaves.
fn triangle(condition: &str) -> String {
    format!(
        "wavecast: 1\nkernel: triangle\nparams: {{N: 4096}}\nfields:\n  a: {{dtype: f32, shape: [N, N]}}\n  \
         y: {{dtype: f32, size: N}}\ndomain: {{i: N}}\nbody:\n  - loop: {{k: 0..N-1}}\n    body:\n      \
         - {{when: {condition}, at: \"load a[i, k]\"}}\n  - store y[i]\n"
    )
}

#[test]
fn iterations_are_run_from_all_of_a_loop_that_decides_about_conditions() {
    // The part of the loop in which the mean thread loads.
    for (condition, part) in
        [("k <= i", 0.5), ("k > i", 0.5), ("2*k <= i", 0.25), ("k >= 3072", 0.25), ("k < 16", 1.0 / 256.0)]
    {
        let counts = counts(&triangle(condition), [256, 1, 1]);
        let loads = counts.instructions[0].lanes.get();
        let percent = if part < 0.01 { 100.0 } else { 3.0 };
        assert_near(loads, part * 4096.0 * 256.0, percent, condition);
        assert!(counts.sampled, "{condition}");
    }
}

/// Blocks of 112 threads, most of which load many elements of a tile from shared memory. Each computes four pixels of a row
/// of 4096 and stores those that exist: of ten blocks of a row the last one has 64.
#[test]
fn blocks_at_the_end_of_a_grid_stand_for_themselves() {
    let text = "wavecast: 1\nkernel: row\nfields:\n  s: {dtype: f32, size: 4096, space: shared}\n  \
         out: {dtype: f32, shape: [1024, 4096], order: C}\ndomain: {x: 1120, y: 1024}\nbody:\n  - for: {k: 0..999}\n    \
         when: threadIdx.x < 100\n    at: load s + threadIdx.x + k\n  - for: {p: 0..3}\n    when: blockIdx.x*448 + threadIdx.x + 112*p < 4096\n    \
         at: store out[y, blockIdx.x*448 + threadIdx.x + 112*p]\n";
    let counts = counts(text, [112, 1, 1]);
    assert!(counts.sampled);
    let lanes: f64 = counts.instructions.iter().map(|i| i.lanes.get()).sum();
    assert_near(lanes - 1000.0 * 100.0, 409.6, 1e-6, "pixels stored by a block");
    // All warps begin and end at sectors.
    let sectors = counts.fields[1].store_sectors.get();
    assert_near(sectors, 51.2, 1e-6, "sectors stored by a block");
}

/// How often, in whole numbers.
fn whole(times: Times<PerThread>) -> i64 {
    times.get().to_string().parse().expect("a whole number")
}

#[test]
fn threads_wait_in_those_iterations_that_load() {
    for (condition, loads) in [("k >= 0", 4096), ("k >= 3072", 1024), ("k >= 2048", 2048)] {
        let (kernel, launch, program) = placed(&triangle(condition), [256, 1, 1]);
        let path = ThreadPath::new(&kernel, &launch, &program).unwrap();
        assert_eq!(whole(path.looped_loads), loads, "{condition}");
        // A loop that stores what it loads waits in just these.
        let storing = triangle(condition).replace("\n  - store y[i]", "\n      - store y[i]");
        let (kernel, launch, program) = placed(&storing, [256, 1, 1]);
        let path = ThreadPath::new(&kernel, &launch, &program).unwrap();
        assert_eq!([whole(path.looped_loads), whole(path.waits)], [loads; 2], "{condition}");
    }
}

/// Each warp loads once what no other does, or what one other does that does less beside it, and takes so long that few
/// can be run.
#[test]
fn what_few_warps_alone_do_is_counted() {
    for warps in [1, 2] {
        let each = 1024 / warps;
        let text = format!(
            "wavecast: 1\nkernel: alone\nfields:\n  a: {{dtype: f32, shape: [512, 8192]}}\n  \
             b: {{dtype: f32, shape: [64, 8192]}}\ndomain: {{x: 1024}}\nbody:\n  - for: {{k: 0..59}}\n    \
             when: (x + k) % 3 < 2\n    at: load a[x, k]\n  - for: {{k: 0..59}}\n    \
             when: threadIdx.x < {each} && (x + k) % 5 < 2\n    at: load a[x, 60 + k]\n  - for: {{p: 0..31}}\n    \
             when: threadIdx.x % {each} / 32 == p\n    at: load b[x, p]\n"
        );
        let counts = counts(&text, [1024, 1, 1]);
        assert!(counts.sampled);
        let warps = f64::from(warps);
        let alone = counts.instructions.iter().skip(120).filter(|alone| alone.issues.get() > 0.0);
        assert_near(alone.clone().count() as f64, 32.0 / warps, 1e-6, "instructions");
        for alone in alone {
            assert_near(alone.issues.get(), warps, 1e-6, "issues");
            assert_near(alone.cycles.get(), warps, 1e-6, "cycles");
            assert_near(alone.sectors.get(), 4.0 * warps, 1e-6, "sectors");
        }
    }
}
