//! Where blocks differ in what they do, what is said of all of them is the mean over all: each block and each wave counted by
//! itself, and each lane asked.

use wavecast::device;
use wavecast::footprint::{Addressing, Counter, FieldTouches, Threads};
use wavecast::kernel::{AccessKind, FieldId, Kernel, load};
use wavecast::launch::{BlockBox, Candidate, Launch, Program, blocks_of_wave, work_items};
use wavecast::traffic::{Counting, Footprints, footprints, l1};

struct Case {
    kernel: Kernel,
    launch: Launch,
    program: Program<i64>,
}

const RESIDENT: i64 = 48;
const SECTOR: i64 = 32;

impl Case {
    fn new(domain: &str, body: &str, block: [i64; 3]) -> Self {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f32, size: 10000000}}}}\ndomain: {domain}\nbody: {body}\n"
        );
        let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate::new(block, [1; 3]).unwrap();
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
        Self { kernel, launch, program }
    }

    fn found(&self) -> Footprints {
        let device = device::find("a100", &[]).unwrap();
        footprints(&self.kernel, &self.launch, &self.program, &device, RESIDENT, &Counting::default())
            .unwrap()
    }

    fn items(&self, blocks: &[BlockBox]) -> f64 {
        work_items(&self.kernel, &self.launch, &self.program, blocks)
    }

    /// Bytes for each work item that all blocks load, each counted by itself, and that all waves do.
    fn all(&self) -> [f64; 2] {
        let threads = Threads { kernel: &self.kernel, launch: &self.launch, program: &self.program };
        let touched = threads.touched(FieldId(0), &[AccessKind::Load], Addressing::Linear).unwrap();
        let bytes = |blocks: &[BlockBox]| {
            let parts = FieldTouches::union(&[(&touched, blocks)], SECTOR).unwrap();
            Counter::cheapest().count(&parts).unwrap().lines as f64 * SECTOR as f64
        };
        let grid = self.launch.sizes().grid;
        let all = grid.volume();
        let every = |size: i64| {
            let begins = (0..all).step_by(usize::try_from(size).unwrap());
            let waves = begins.map(|begin| blocks_of_wave(grid, begin, size.min(all - begin)));
            waves.map(|blocks| bytes(&blocks)).sum::<f64>()
        };
        let items = self.items(&[BlockBox::whole(grid)]);
        [1, RESIDENT].map(|size| every(size) / items)
    }
}

fn assert_near(found: f64, expected: f64, percent: f64, what: &str) {
    let error = (found / expected - 1.0) * 100.0;
    assert!(error.abs() <= percent, "{what}: {found} for {expected}, {error:+.2} %");
}

const LINE: &str = "{x: 131072}";
const SQUARE: &str = "{x: 1024, y: 1024}";

/// Domain, body, block, and by how many per cent blocks and waves may be off.
const CASES: [(&str, &str, [i64; 3], [f64; 2]); 16] = [
    (LINE, "[{at: 'load a[x]', when: 'x < 40960'}, 'load a[x + 1000000]']", [128, 1, 1], [0.1, 1.0]),
    (LINE, "[{at: 'load a[x]', when: 'x >= 60000'}, 'load a[x + 1000000]']", [128, 1, 1], [0.1, 1.0]),
    (LINE, "[{at: 'load a[8*x]', when: 'x >= 30000 && x < 100000'}]", [100, 1, 1], [0.2, 1.0]),
    (LINE, "[{loop: {k: 0..blockIdx.x}, body: ['load a[x + 100000*(k/64)]']}]", [512, 1, 1], [3.0, 3.0]),
    (SQUARE, "[{at: 'load a[x + 1024*y]', when: 'y < 300'}, 'load a[y]']", [32, 4, 1], [1.0, 1.5]),
    (SQUARE, "[{at: 'load a[x + 1024*y]', when: 'x < 320'}, 'load a[y]']", [32, 4, 1], [0.1, 5.0]),
    (SQUARE, "[{at: 'load a[x + 1024*y]', when: 'x < y'}, 'load a[x]']", [32, 8, 1], [6.0, 3.0]),
    (SQUARE, "[{at: 'load a[y + 1024*x]', when: '3*x + y < 1500'}]", [32, 8, 1], [6.0, 3.0]),
    (SQUARE, RECTANGLE, [32, 8, 1], [0.2, 7.0]),
    (SQUARE, FRAME, [32, 8, 1], [0.2, 7.0]),
    (SQUARE, LAYERS, [32, 8, 1], [0.5, 7.0]),
    (SQUARE, "['load a[x + 1024*y]', 'load a[y + 1024*x]']", [16, 16, 1], [1.0, 5.0]),
    (LINE, SIXTEENTH, [128, 1, 1], [0.1, 1.0]),
    (
        LINE,
        "[{at: 'load a[x]', when: 'blockIdx.x % 5 > 0 && blockIdx.x / 5 >= 40'}, 'load a[x + 1000000]']",
        [128, 1, 1],
        [0.1, 1.0],
    ),
    (LINE, "[{at: 'load a[x]', when: '(x / 128) % 8 == 3'}, 'load a[x + 1000000]']", [128, 1, 1], [0.1, 1.0]),
    (
        SQUARE,
        "[{at: 'load a[x + 1024*y]', when: '(blockIdx.x + blockIdx.y) % 2 == 0'}, 'load a[x]']",
        [32, 8, 1],
        [1.0, 1.0],
    ),
];
/// One of 16 blocks, which a few from all of the grid would miss.
const SIXTEENTH: &str = "[{at: 'load a[x]', when: 'blockIdx.x % 16 == 0'}, 'load a[x + 1000000]']";
const RECTANGLE: &str =
    "[{at: 'load a[x + 1024*y]', when: 'x >= 256 && x < 768 && y >= 256 && y < 768'}, 'load a[x]']";
const FRAME: &str =
    "[{at: 'load a[x + 1024*y]', when: 'x < 256 || x >= 768 || y < 256 || y >= 768'}, 'load a[x]']";
/// Each is 2 or 3 % of the blocks, all together 9 %.
const LAYERS: &str =
    "[{at: 'load a[x + 1024*y]', when: 'x < 32 || x >= 992 || y < 16 || y >= 1008'}, 'load a[x]']";

#[test]
fn blocks_and_waves_stand_for_all() {
    for (domain, body, block, percent) in CASES {
        let case = Case::new(domain, body, block);
        let found = case.found();
        let [of_blocks, of_waves] = case.all();
        let field = &found.fields[0];
        assert_near(field.mean_block_load.get(), of_blocks, percent[0], &format!("blocks of {body}"));
        assert_near(field.wave_load.get(), of_waves, percent[1], &format!("waves of {body}"));
        // Blocks without any work end at once, and those that are left do alike.
        let all_work = body.contains("', 'load") || body.contains("}, 'load") || body.contains("loop");
        assert_eq!(found.blocks_sampled, all_work || domain == SQUARE, "{body}");
    }
}

#[test]
fn warps_of_all_blocks_count() {
    let device = device::find("a100", &[]).unwrap();
    for (domain, body, block, _) in CASES {
        let case = Case::new(domain, body, block);
        let counts = l1::count(&case.kernel, &case.launch, &case.program, &device).unwrap();
        let grid = case.launch.sizes().grid;
        let holds = |instruction: usize, block: [i64; 3], thread: [i64; 3]| {
            let when = case.program.instructions[instruction].when.as_ref();
            when.is_none_or(|when| when.evaluate(&|c| place(c, block, thread)).unwrap())
        };
        // Of loops it is another matter who runs them how often, and blocks without any work are left out.
        if body.contains("loop") || !body.contains("', 'load") && !body.contains("}, 'load") {
            continue;
        }
        for (number, found) in counts.instructions.iter().enumerate() {
            // All of a line, as some of its blocks might be of one kind.
            let step = if domain == LINE { 1 } else { 7 };
            let mut lanes = 0.0;
            for at in (0..grid.volume()).step_by(step) {
                let at = [at % grid[0], at / grid[0] % grid[1], 0];
                for x in 0..block[0] {
                    lanes += (0..block[1]).filter(|&y| holds(number, at, [x, y, 0])).count() as f64;
                }
            }
            let blocks = (0..grid.volume()).step_by(step).count() as f64;
            assert_near(found.lanes.get(), lanes / blocks, 6.0, body);
        }
    }
}

fn place(coord: wavecast::expr::Coord, block: [i64; 3], thread: [i64; 3]) -> Option<i64> {
    use wavecast::expr::Coord;
    match coord {
        Coord::BlockIdx(d) => Some(block[d.index()]),
        Coord::ThreadIdx(d) => Some(thread[d.index()]),
        Coord::Axis(_) | Coord::Thread(_) | Coord::Loop(_) => None,
    }
}

/// Work at two ends of a grid, most of whose blocks have none, and of which one half does more.
#[test]
fn few_blocks_with_work_stand_for_themselves() {
    let ends = "x < 16 || x >= 1008";
    let body = format!(
        "[{{at: 'load a[x + 1024*y]', when: '{ends}'}}, {{at: 'load a[x + 1024*y + 2000000]', when: '({ends}) && y < 512'}}]"
    );
    let case = Case::new(SQUARE, &body, [4, 16, 1]);
    let (found, [of_blocks, _]) = (case.found(), case.all());
    assert_near(found.fields[0].mean_block_load.get(), of_blocks, 0.01, "blocks");
}

/// Blocks at the edges alone do something else: the one in the middle stands for all, and the output says nothing of samples.
#[test]
fn few_blocks_that_differ_are_left_to_the_others() {
    let body = "[{at: 'load a[x]', when: 'x >= 32'}, 'load a[x + 1000000]']";
    let found = Case::new(LINE, body, [32, 1, 1]).found();
    assert!(!found.blocks_sampled && found.waves.is_empty());
}

/// Two waves that load the same: the second finds all of it in the L2.
#[test]
fn all_of_few_waves_count_where_the_first_finds_nothing() {
    for (items, again) in [(2, 0.5), (3, 2.0 / 3.0), (5, 0.8)] {
        let domain = format!("{{x: {}}}", 32 * RESIDENT * items);
        let found = Case::new(&domain, "['load a[32*threadIdx.x]']", [32, 1, 1]).found();
        let field = &found.fields[0];
        assert_near(field.reuse[0].get() / field.wave_load.get(), again, 0.01, &domain);
    }
}

#[test]
fn warps_of_blocks_that_do_nothing_in_a_loop_do_not_stand_for_others() {
    let body = "[{loop: {k: 0..4}, body: [{at: 'load a[x + k + 1032*y]', when: 'k >= 1 && y >= 341'}]}, \
                'load a[x + 1032*y + 2000000]']";
    let case = Case::new(SQUARE, body, [32, 8, 1]);
    let device = device::find("a100", &[]).unwrap();
    let counts = l1::count(&case.kernel, &case.launch, &case.program, &device).unwrap();
    let each = 4.0 * 683.0 / 1024.0 * 256.0;
    assert_near(counts.instructions[0].lanes.get(), each, 1.0, "lanes of a block");
}
