//! What the warps of a block do in the first-level cache, against running every thread by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use wavecast::device::{self, Device};
use wavecast::kernel::{AccessKind, Kernel, Space, load};
use wavecast::launch::{Candidate, Launch, Program, Working, visit_thread};
use wavecast::quantity::Amount;
use wavecast::space::{BlockIndex, Thread};
use wavecast::traffic::l1::{self, FieldCounts, InstructionCounts, L1Counts, Lanes, Pipe};

fn near(a: f64, b: f64, what: &str, name: &str) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{what}: {name} {a}, by thread {b}");
}

struct Case {
    kernel: Kernel,
    launch: Launch,
    program: Program<i64>,
}

impl Case {
    fn new(text: &str, block: [i64; 3], fold: [i64; 3]) -> Self {
        let kernel = load("kernel", text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate::new(block, fold).unwrap();
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
        Self { kernel, launch, program }
    }

    /// Addresses by instruction and occurrence in the thread, for each lane of a warp.
    fn warp(&self, block: BlockIndex, lanes: &[[i64; 3]]) -> BTreeMap<(usize, usize), (Vec<i64>, u64)> {
        let mut found = BTreeMap::new();
        for (lane, thread) in lanes.iter().enumerate() {
            let mut times = BTreeMap::new();
            let shape = self.launch.candidate().block();
            visit_thread(
                &self.program,
                self.kernel.extents(),
                shape,
                block,
                Thread::from(*thread),
                1 << 20,
                &mut |touch| {
                    let time = times.entry(touch.position).or_insert(0);
                    let field = self.kernel.field(touch.instruction.field);
                    let entry =
                        found.entry((touch.position, *time)).or_insert_with(|| (vec![0; lanes.len()], 0));
                    entry.0[lane] = (touch.element + field.offset()) * field.dtype().bytes;
                    entry.1 |= 1 << lane;
                    *time += 1;
                },
            )
            .unwrap();
        }
        found
    }

    /// The counts of given blocks, warp by warp and thread by thread; each stands for as many, or for a share of its own.
    fn oracle(&self, counts: &L1Counts, device: &Device) -> L1Counts {
        let L1Counts { blocks, shares, .. } = counts;
        let pipe = Pipe::new(device);
        let mut instructions = vec![InstructionCounts::default(); self.program.instructions.len()];
        let mut fields = vec![FieldCounts::default(); self.kernel.fields().len()];
        let [bx, by, bz] = *self.launch.candidate().block();
        let threads: Vec<[i64; 3]> = (0..bx * by * bz).map(|i| [i % bx, i / bx % by, i / bx / by]).collect();
        for (at, &block) in blocks.iter().enumerate() {
            let share = shares.get(at).map_or(1.0 / blocks.len() as f64, |share| share.get());
            for lanes in threads.chunks(pipe.warp) {
                let mut unions: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
                for ((position, _), (addresses, active)) in self.warp(block, lanes) {
                    let instruction = &self.program.instructions[position];
                    let field = self.kernel.field(instruction.field);
                    let lanes = Lanes { addresses: &addresses, active };
                    let of = &mut instructions[position];
                    of.issues += Amount::new(share);
                    if *field.space() == Space::Shared {
                        let wavefronts = Pipe::shared(lanes, instruction.width);
                        of.data += Amount::new(share * f64::from(wavefronts.data));
                        of.cycles += Amount::new(share * f64::from(wavefronts.data));
                        continue;
                    }
                    let wavefronts = pipe.global(lanes, instruction.width);
                    let touched = |unit: i64| -> BTreeSet<i64> {
                        let lanes = (0..addresses.len()).filter(|l| active >> l & 1 == 1);
                        let bytes = lanes.flat_map(|l| addresses[l]..addresses[l] + instruction.width);
                        bytes.map(|b| b.div_euclid(unit)).collect()
                    };
                    let sectors = touched(pipe.sector);
                    of.data += Amount::new(share * f64::from(wavefronts.data));
                    of.tag += Amount::new(share * f64::from(wavefronts.tag));
                    of.cycles += Amount::new(share * pipe.cycles(wavefronts, instruction.width));
                    of.sectors += Amount::new(share * sectors.len() as f64);
                    of.lines += Amount::new(share * touched(pipe.line).len() as f64);
                    let of_field = &mut fields[usize::from(instruction.field.0)];
                    let copies = share * *field.multiplicity() as f64;
                    match instruction.kind {
                        AccessKind::Load => {
                            of_field.load_sectors += Amount::new(copies * sectors.len() as f64);
                            of_field.load_lines += Amount::new(copies * touched(pipe.line).len() as f64);
                            of_field.load_issues += Amount::new(copies);
                            unions.entry(usize::from(instruction.field.0)).or_default().extend(&sectors);
                        }
                        AccessKind::Store => {
                            of_field.store_sectors += Amount::new(copies * sectors.len() as f64);
                        }
                        AccessKind::Atomic => {
                            of_field.atomic_sectors += Amount::new(copies * sectors.len() as f64);
                        }
                    }
                }
                for (field, union) in unions {
                    let copies = *self.kernel.fields()[field].multiplicity() as f64;
                    fields[field].warp_load_sectors += Amount::new(share * copies * union.len() as f64);
                }
            }
        }
        let mut total = InstructionCounts::default();
        for (of, instruction) in instructions.iter().zip(&self.program.instructions) {
            let copies = *self.kernel.field(instruction.field).multiplicity() as f64;
            total.tag += copies * of.tag;
            total.cycles += copies * of.cycles;
        }
        L1Counts { instructions, fields, total, ..Default::default() }
    }

    /// Holds counts against the oracle.
    fn check(&self, counts: &L1Counts, device: &Device, what: &str) {
        let expected = self.check_exact_part(counts, device, what);
        for (i, (a, b)) in counts.instructions.iter().zip(&expected.instructions).enumerate() {
            near(a.tag.get(), b.tag.get(), what, &format!("tags of {i}"));
            near(a.cycles.get(), b.cycles.get(), what, &format!("cycles of {i}"));
        }
        near(counts.total.tag.get(), expected.total.tag.get(), what, "tags");
        near(counts.total.cycles.get(), expected.total.cycles.get(), what, "cycles");
        for (a, b) in counts.fields.iter().zip(&expected.fields) {
            near(a.warp_load_sectors.get(), b.warp_load_sectors.get(), what, "loads per warp");
        }
    }

    /// Holds that part of counts against the oracle that is exact even if tags are sampled.
    fn check_exact_part(&self, counts: &L1Counts, device: &Device, what: &str) -> L1Counts {
        let expected = self.oracle(counts, device);
        let near = |a, b, name: &str| near(a, b, what, name);
        for (i, (a, b)) in counts.instructions.iter().zip(&expected.instructions).enumerate() {
            near(a.issues.get(), b.issues.get(), &format!("issues of {i}"));
            near(a.data.get(), b.data.get(), &format!("data of {i}"));
            near(a.sectors.get(), b.sectors.get(), &format!("sectors of {i}"));
            near(a.lines.get(), b.lines.get(), &format!("lines of {i}"));
        }
        for (a, b) in counts.fields.iter().zip(&expected.fields) {
            near(a.load_sectors.get(), b.load_sectors.get(), "loads");
            near(a.load_lines.get(), b.load_lines.get(), "lines");
            near(a.load_issues.get(), b.load_issues.get(), "issues");
            near(a.store_sectors.get(), b.store_sectors.get(), "stores");
            near(a.atomic_sectors.get(), b.atomic_sectors.get(), "atomics");
        }
        expected
    }

    fn count(&self, device: &Device) -> L1Counts {
        l1::count(&self.kernel, &self.launch, &self.program, device).unwrap()
    }

    fn by_lane(&self, device: &Device) -> L1Counts {
        l1::count_by_lane(&self.kernel, &self.launch, &self.program, device).unwrap()
    }
}

fn star(dtype: &str, pitch: i64) -> String {
    format!(
        "wavecast: 1\nkernel: star\nfields:\n  src: {{dtype: {dtype}, shape: [{pitch}, 45, 40], halo: 2, offset: 3}}\n  \
         dst: {{like: src, multiplicity: 2}}\ndomain: {{x: {}, y: 41, z: 36}}\nloads:\n  - src[x, y, z]\n  \
         - {{for: {{r: [1..2], s: [-1, 1]}}, at: [\"src[x + s*r, y, z]\", \"src[x, y + s*r, z]\", \"src[x, y, z + s*r]\"]}}\n\
         stores: [\"dst[x, y, z]\"]\n",
        pitch - 4
    )
}

fn device(name: &str) -> Device {
    device::find(name, &[]).unwrap()
}

#[test]
fn interior_blocks_of_a_star_are_exact() {
    for (dtype, pitch) in [("f64", 104), ("f64", 101), ("f32", 99), ("f32", 128)] {
        for (block, fold) in [
            ([32, 2, 2], [1, 1, 1]),
            ([7, 3, 5], [1, 1, 1]),
            ([7, 3, 5], [1, 2, 1]),
            ([1, 8, 5], [2, 1, 2]),
            ([64, 1, 1], [1, 1, 3]),
            ([4, 4, 4], [1, 1, 1]),
            ([5, 1, 1], [1, 1, 1]),
            ([1, 1, 1], [1, 1, 1]),
        ] {
            let case = Case::new(&star(dtype, pitch), block, fold);
            for name in ["a100-40gb", "rtx-2080-ti", "mi210", "rx-6900-xt", "gtx-480"] {
                let (device, what) = (device(name), format!("{dtype} {pitch} {block:?} {fold:?} {name}"));
                let counts = case.count(&device);
                let items: i64 = block.iter().chain(&fold).product();
                assert!((counts.work_items.get() - items as f64).abs() < 1e-9, "{what}");
                if counts.sampled {
                    case.check_exact_part(&counts, &device, &what);
                } else {
                    case.check(&counts, &device, &what);
                }
            }
        }
    }
}

#[test]
fn blocks_that_the_domain_cuts_are_exact() {
    // The domain is 100 x 41 x 36.
    let mut sampled = 0;
    for (block, fold) in [
        ([128, 2, 2], [1, 1, 1]),
        ([8, 64, 1], [1, 1, 1]),
        ([64, 1, 2], [2, 1, 1]),
        ([4, 4, 40], [1, 2, 1]),
        ([8, 30, 1], [1, 2, 1]),
        ([256, 1, 1], [1, 3, 1]),
    ] {
        let case = Case::new(&star("f64", 104), block, fold);
        let (device, what) = (device("v100-pcie-32gb"), format!("{block:?} {fold:?}"));
        let counts = case.count(&device);
        if counts.sampled {
            let expected = case.check_exact_part(&counts, &device, &what);
            let off = counts.total.tag / expected.total.tag - 1.0;
            assert!(off.abs() < 0.03, "{what}: sampled tags are {off} off");
            sampled += 1;
        } else {
            case.check(&counts, &device, &what);
        }
        let grid = case.launch.sizes().grid;
        let whole = 100 * 41 * 36;
        if grid == [1, 1, 1] {
            assert!((counts.work_items.get() - f64::from(whole)).abs() < 1e-9);
        }
    }
    // Tags of the many short rows of 4 x 4 x 40 threads are beyond what is looked up one by one.
    assert_eq!(sampled, 1);
}

const GUARDED: &str = "wavecast: 1\nkernel: k\nfields: {a: {dtype: f64, size: 5000}, b: {like: a}}\n\
    domain: {x: 40, y: 9, z: 4}\nguard: x >= 1 && x + y < 30\nloads:\n  - a + x + 40*y\n  - a + x/3 + 400*z\n  \
    - {at: b + 7*x + (x + y)%7, when: x != 5}\nstores: [b + x + 40*y + 360*z]\n";

#[test]
fn conditions_and_quotients_are_exact_lane_by_lane() {
    for (block, fold) in [([8, 3, 1], [1, 1, 1]), ([7, 3, 5], [1, 2, 1]), ([16, 4, 1], [2, 1, 1])] {
        let case = Case::new(GUARDED, block, fold);
        let device = device("a100-40gb");
        let counts = case.count(&device);
        let working = Working::new(&case.kernel, &case.launch, &case.program);
        assert_eq!(counts.sampled, working.blocks.count() > 16);
        // Of as many blocks as there are, all warps.
        case.check(&counts, &device, &format!("{block:?} {fold:?}"));
    }
}

const LOOPS: &str = "wavecast: 1\nkernel: k\nfields:\n  a: {dtype: f32, size: 100000}\n  \
    t: {dtype: f32, shape: [100, 40], space: shared}\n  c: {dtype: f64, size: 100000}\n\
    domain: {x: 64, y: 32}\nbody:\n  - loop: {k: 0..19}\n    body:\n      - load a + k + 20*y\n      \
    - load t + 3*threadIdx.x + 64*k\n      - load c + x + 64*k\n  - store c + x + 64*y\n";

#[test]
fn loops_and_shared_memory_are_exact() {
    for block in [[32, 4, 1], [7, 5, 1], [8, 8, 1]] {
        let case = Case::new(LOOPS, block, [1; 3]);
        for name in ["a100-40gb", "mi210"] {
            let device = device(name);
            let counts = case.count(&device);
            assert!(!counts.sampled);
            case.check(&counts, &device, &format!("{block:?} {name}"));
        }
    }
}

/// Numbers below given ones, the same in every run (Lehmer's generator with Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// A program with loops that begin at threads, conditions, quotients and shared memory. Lanes that take part in an
/// access do so in each iteration, as `Case::warp` takes the n-th time of each lane together.
fn random_program(random: &mut Random) -> String {
    let conditions =
        ["x >= 3", "threadIdx.x % 3 == 0 && y > 1", "x + 2*y < 60 || x == 7", "x/4 > 2", "y >= 0"];
    let elements = [
        "x + 70*y + i",
        "3*x + 40*i + 7*y",
        "x/3 + 64*y + 5*i",
        "min(x, 17) + 9*i",
        "(x + i)%8 + 33*y",
        "2*i",
    ];
    let froms = ["threadIdx.y", "threadIdx.x", "0", "threadIdx.x % 5", "threadIdx.x + 2*threadIdx.y"];
    let (from, step, last) = (random.one(&froms), 1 + random.below(6), random.below(14));
    let mut text = format!(
        "wavecast: 1\nkernel: k\nfields:\n  a: {{dtype: f32, size: 100000}}\n  b: {{dtype: f64, size: 100000, offset: 3}}\n  \
         t: {{dtype: f64, size: 4000, space: shared}}\ndomain: {{x: {}, y: {}}}\n",
        20 + random.below(40),
        3 + random.below(8)
    );
    if random.below(3) == 0 {
        let _ = writeln!(text, "guard: {}", random.one(&["x > 1 && y < 6", "x + y < 40", "x % 2 == 0"]));
    }
    let _ = write!(
        text,
        "body:\n  - loop: {{i: {{from: {from}, to: {last}, step: {step}}}}}\n    body:\n      - when: {}\n        at: \
         ['load a + {}', store t + threadIdx.x + 3*i]\n      - load b + {}\n",
        random.one(&conditions),
        random.one(&elements),
        random.one(&elements),
    );
    if from == "0" {
        text += "      - loop: {k: {from: i, to: 9, step: 2}}\n        body: [load a + 3*x + 5*k, load t + 5*k]\n";
    }
    text + "  - sync\n  - load t + 2*threadIdx.x\n  - store b + x + 70*y\n"
}

#[test]
fn random_programs_are_what_their_threads_do() {
    let mut random = Random(18);
    let (mut exact, mut sampled, mut refused) = (0, 0, 0);
    for round in 0..60 {
        let text = random_program(&mut random);
        let block = [[32, 2, 1], [7, 3, 1], [16, 4, 1], [33, 1, 1], [5, 9, 1], [64, 2, 1]][round % 6];
        let case = Case::new(&text, block, [1; 3]);
        for name in ["a100-40gb", "mi210"] {
            let device = device(name);
            let Ok(counts) = l1::count(&case.kernel, &case.launch, &case.program, &device) else {
                refused += 1;
                continue;
            };
            if counts.sampled {
                sampled += 1;
            } else {
                case.check(&counts, &device, &format!("{block:?} {name}\n{text}"));
                exact += 1;
            }
        }
    }
    assert!(exact >= 60 && refused <= 4, "{exact} {sampled} {refused}");
}

#[test]
fn both_ways_of_counting_agree() {
    // One block, so that both look at the same.
    let small = star("f64", 20).replace("y: 41, z: 36", "y: 8, z: 2");
    for (text, block) in [(small, [16, 8, 2]), (LOOPS.replace("y: 32", "y: 4"), [64, 4, 1])] {
        let case = Case::new(&text, block, [1; 3]);
        assert_eq!(case.launch.blocks(), 1);
        let device = device("a100-40gb");
        let (fast, slow) = (case.count(&device), case.by_lane(&device));
        assert!(!fast.sampled && !slow.sampled);
        assert_eq!(fast.blocks, slow.blocks);
        for (a, b) in fast.fields.iter().zip(&slow.fields) {
            assert!((a.warp_load_sectors - b.warp_load_sectors).get().abs() < 1e-9);
            assert!((a.load_sectors - b.load_sectors).get().abs() < 1e-9);
        }
        assert!((fast.total.cycles - slow.total.cycles).abs() < slow.total.cycles * 1e-9);
        assert!((fast.work_items - slow.work_items).get().abs() < 1e-9);
    }
}

#[test]
fn every_kernel_of_the_library_is_counted() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for kernel in load("kernel", &text, &Default::default()).unwrap().kernels {
            let all: Vec<Candidate> = wavecast::launch::candidates(&kernel).collect();
            for candidate in [all[0], all[all.len() / 2], all[all.len() - 1]] {
                let launch = Launch::new(&kernel, candidate).unwrap();
                let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
                for name in ["a100-40gb", "mi300x"] {
                    let counts = l1::count(&kernel, &launch, &program, &device(name)).unwrap();
                    let what = format!("{} {candidate:?} {name}", path.display());
                    let InstructionCounts { issues, data, cycles, .. } = counts.total;
                    let [issues, data, cycles] = [issues.get(), data.get(), cycles.get()];
                    assert!(issues > 0.0 && data >= issues * 0.99 && cycles >= data * 0.99, "{what}");
                    assert!(counts.work_items.get() > 0.0, "{what}");
                    for field in &counts.fields {
                        assert!(field.warp_load_sectors <= field.load_sectors * 1.000_001, "{what}");
                    }
                }
            }
        }
    }
}

/// Each part of 16 bytes looks up the sets of its own lines, wherever they lie: lines 4 and 16 are of one set, and so are lines 3
/// and 15 of two others; lines 0 and 1 are of two.
#[test]
fn parts_of_wide_accesses_look_up_their_own_sets() {
    for (offset, at, tags) in [(-1, "x, 3*y + 1", 4.0), (0, "x, 3*y + 1", 4.0), (0, "x + 16*y, 0", 2.0)] {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, shape: [64, 64], offset: {offset}}}}}\n\
             domain: {{x: 1, y: 2}}\nbody: [{{at: 'load a[{at}]', width: 32}}]\n"
        );
        let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate::new([1, 2, 1], [1; 3]).unwrap();
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::placed(&kernel, candidate).unwrap().at(&launch).unwrap();
        let counts = l1::count(&kernel, &launch, &program, &device::find("a100", &[]).unwrap()).unwrap();
        near(counts.instructions[0].tag.get(), tags, "tags", at);
    }
}
