//! What the warps of a block do in the first-level cache, against running every thread by itself.

use std::collections::{BTreeMap, BTreeSet};

use wavecast::device::{self, Device};
use wavecast::kernel::{AccessKind, Kernel, Space, load};
use wavecast::launch::{Candidate, Launch, Program, visit_thread};
use wavecast::traffic::l1::{self, FieldCounts, InstructionCounts, L1Counts, Lanes, Pipe};

struct Case {
    kernel: Kernel,
    launch: Launch,
    program: Program<i64>,
}

impl Case {
    fn new(text: &str, block: [i64; 3], fold: [i64; 3]) -> Self {
        let kernel = load("kernel", text, &Default::default()).unwrap().kernels.remove(0);
        let candidate = Candidate { block, fold };
        let launch = Launch::new(&kernel, candidate).unwrap();
        let program = Program::of(&kernel, candidate).unwrap().at(&launch).unwrap();
        Self { kernel, launch, program }
    }

    /// Addresses by instruction and occurrence in the thread, for each lane of a warp.
    fn warp(&self, block: [i64; 3], lanes: &[[i64; 3]]) -> BTreeMap<(usize, usize), (Vec<i64>, u64)> {
        let mut found = BTreeMap::new();
        for (lane, thread) in lanes.iter().enumerate() {
            let mut times = BTreeMap::new();
            let shape = self.launch.candidate.block;
            visit_thread(
                &self.program,
                self.kernel.extents(),
                shape,
                block,
                *thread,
                1 << 20,
                &mut |touch| {
                    let time = times.entry(touch.position).or_insert(0);
                    let field = self.kernel.field(touch.instruction.field);
                    let entry =
                        found.entry((touch.position, *time)).or_insert_with(|| (vec![0; lanes.len()], 0));
                    entry.0[lane] = (touch.element + field.offset) * field.dtype.bytes;
                    entry.1 |= 1 << lane;
                    *time += 1;
                },
            )
            .unwrap();
        }
        found
    }

    /// The counts of given blocks, warp by warp and thread by thread.
    fn oracle(&self, blocks: &[[i64; 3]], device: &Device) -> L1Counts {
        let pipe = Pipe::of(device);
        let mut instructions = vec![InstructionCounts::default(); self.program.instructions.len()];
        let mut fields = vec![FieldCounts::default(); self.kernel.fields.len()];
        let [bx, by, bz] = self.launch.candidate.block;
        let threads: Vec<[i64; 3]> = (0..bx * by * bz).map(|i| [i % bx, i / bx % by, i / bx / by]).collect();
        let share = 1.0 / blocks.len() as f64;
        for &block in blocks {
            for lanes in threads.chunks(pipe.warp) {
                let mut unions: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
                for ((position, _), (addresses, active)) in self.warp(block, lanes) {
                    let instruction = &self.program.instructions[position];
                    let field = self.kernel.field(instruction.field);
                    let lanes = Lanes { addresses: &addresses, active };
                    let of = &mut instructions[position];
                    of.issues += share;
                    if field.space == Space::Shared {
                        let wavefronts = Pipe::shared(lanes, instruction.width);
                        of.data += share * f64::from(wavefronts.data);
                        of.cycles += share * f64::from(wavefronts.data);
                        continue;
                    }
                    let wavefronts = pipe.global(lanes, instruction.width);
                    let touched = |unit: i64| -> BTreeSet<i64> {
                        let lanes = (0..addresses.len()).filter(|l| active >> l & 1 == 1);
                        let bytes = lanes.flat_map(|l| addresses[l]..addresses[l] + instruction.width);
                        bytes.map(|b| b.div_euclid(unit)).collect()
                    };
                    let sectors = touched(pipe.sector);
                    of.data += share * f64::from(wavefronts.data);
                    of.tag += share * f64::from(wavefronts.tag);
                    of.cycles += share * pipe.cycles(wavefronts, instruction.width);
                    of.sectors += share * sectors.len() as f64;
                    of.lines += share * touched(pipe.line).len() as f64;
                    let of_field = &mut fields[usize::from(instruction.field.0)];
                    let copies = share * field.multiplicity as f64;
                    match instruction.kind {
                        AccessKind::Load => {
                            of_field.load_sectors += copies * sectors.len() as f64;
                            of_field.load_lines += copies * touched(pipe.line).len() as f64;
                            of_field.load_issues += copies;
                            unions.entry(usize::from(instruction.field.0)).or_default().extend(&sectors);
                        }
                        AccessKind::Store => of_field.store_sectors += copies * sectors.len() as f64,
                        AccessKind::Atomic => of_field.atomic_sectors += copies * sectors.len() as f64,
                    }
                }
                for (field, union) in unions {
                    let copies = self.kernel.fields[field].multiplicity as f64;
                    fields[field].warp_load_sectors += share * copies * union.len() as f64;
                }
            }
        }
        let mut total = InstructionCounts::default();
        for (of, instruction) in instructions.iter().zip(&self.program.instructions) {
            let copies = self.kernel.field(instruction.field).multiplicity as f64;
            total.tag += copies * of.tag;
            total.cycles += copies * of.cycles;
        }
        L1Counts { instructions, fields, total, ..Default::default() }
    }

    /// Holds counts against the oracle. Tags and cycles of single instructions are means over those
    /// that begin at the same alignment, so that only their sums are exact.
    fn check(&self, counts: &L1Counts, device: &Device, what: &str) {
        let expected = self.oracle(&counts.blocks, device);
        let near = |a: f64, b: f64, name: &str| {
            assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{what}: {name} {a}, by thread {b}");
        };
        for (i, (a, b)) in counts.instructions.iter().zip(&expected.instructions).enumerate() {
            near(a.issues, b.issues, &format!("issues of {i}"));
            near(a.data, b.data, &format!("data of {i}"));
            near(a.sectors, b.sectors, &format!("sectors of {i}"));
            near(a.lines, b.lines, &format!("lines of {i}"));
        }
        near(counts.total.tag, expected.total.tag, "tags");
        near(counts.total.cycles, expected.total.cycles, "cycles");
        for (a, b) in counts.fields.iter().zip(&expected.fields) {
            near(a.load_sectors, b.load_sectors, "loads");
            near(a.warp_load_sectors, b.warp_load_sectors, "loads per warp");
            near(a.load_lines, b.load_lines, "lines");
            near(a.load_issues, b.load_issues, "issues");
            near(a.store_sectors, b.store_sectors, "stores");
            near(a.atomic_sectors, b.atomic_sectors, "atomics");
        }
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
            for name in ["a100-40gb", "mi210", "rx-6900-xt", "gtx-480"] {
                let (device, what) = (device(name), format!("{dtype} {pitch} {block:?} {fold:?} {name}"));
                let counts = case.count(&device);
                let items: i64 = block.iter().chain(&fold).product();
                assert!((counts.work_items - items as f64).abs() < 1e-9, "{what}");
                if !counts.sampled {
                    case.check(&counts, &device, &what);
                }
            }
        }
    }
}
