//! What warps take of the pipe at least, before it is counted where each of them begins.

use super::counts::{FieldCounts, InstructionCounts, L1Counts};
use super::lanes::Lanes;
use super::least_stores::{FieldStores, MOST_CLASSES, lane_strides};
use super::pipe::Pipe;
use super::warps::{self, Arrangement};
use crate::expr::{Coefficient, Scale};
use crate::kernel::{AccessKind, Kernel};
use crate::launch::{Launch, Program};
use crate::quantity::{Cycles, ItemCount, PerBlock, Times};
use crate::space::{Strides, Thread};

/// Accesses whose lanes lie alike.
#[derive(Debug, Clone, PartialEq)]
struct Pattern {
    /// Elements from thread to thread along x, y and z; `None` where that does not say where lanes lie.
    strides: Option<[Scale; 3]>,
    size: i64,
    width: i64,
    /// Accesses to all arrays.
    loads: f64,
    stores: f64,
    /// Wavefronts of the data stage for a whole warp in one row, where that is the same for all launches.
    of_row: Option<u32>,
}

/// What a thread of a program without loops and conditions asks of the pipe.
#[derive(Debug, Clone)]
pub struct Least {
    pipe: Pipe,
    patterns: Vec<Pattern>,
    stores: Vec<FieldStores>,
}

impl Least {
    pub(super) fn new(kernel: &Kernel, program: &Program<Scale>, pipe: Pipe) -> Self {
        let mut patterns: Vec<Pattern> = Vec::new();
        for instruction in &program.instructions {
            let field = kernel.field(instruction.field);
            let (size, width) = (field.dtype.bytes, instruction.width);
            let strides = lane_strides(instruction);
            let like = |p: &&mut Pattern| (p.size, p.width, &p.strides) == (size, width, &strides);
            let copies = field.multiplicity as f64;
            let [loads, stores] = match instruction.kind {
                AccessKind::Load | AccessKind::Atomic => [copies, 0.0],
                AccessKind::Store => [0.0, copies],
            };
            if let Some(known) = patterns.iter_mut().find(like) {
                known.loads += loads;
                known.stores += stores;
            } else {
                let of_row = strides.as_ref().and_then(|strides| of_row(&pipe, &strides[0], size, width));
                patterns.push(Pattern { strides, size, width, loads, stores, of_row });
            }
        }
        Self { pipe, patterns, stores: FieldStores::all(kernel, program) }
    }

    /// Whether lanes of a warp may lie in several rows: in one row they mostly do not meet, and store in one piece.
    pub fn may_part(&self, launch: &Launch) -> bool {
        let block = launch.candidate.block();
        block[0] % self.warp() != 0 && block[1..].iter().any(|&n| n > 1)
    }

    /// The least of a launch in which the lanes of all warps have work: what each access takes in the time of its lanes,
    /// of one wavefront, or of conflicts in the data stage that are the same wherever a warp begins, how many loads and stores
    /// there are, and what stores write. The rest is left at 0.
    pub fn of_full_blocks(&self, kernel: &Kernel, launch: &Launch) -> L1Counts {
        let block = *launch.candidate.block();
        let kinds = self.kinds(launch);
        let warps: f64 = kinds.iter().map(|kind| kind.1).sum();
        let cycles = self.patterns.iter().map(|pattern| self.cycles(pattern, launch, &kinds)).sum();
        let (loads, stores) =
            self.patterns.iter().fold((0.0, 0.0), |(loads, stores), p| (loads + p.loads, stores + p.stores));
        let threads = block.iter().map(|&n| n as f64).product::<f64>();
        let mut counts = L1Counts {
            total: InstructionCounts { issues: Times::new(warps * (loads + stores)), ..Default::default() },
            pipe_cycles: cycles,
            global_loads: Times::new(warps * loads),
            store_issues: Times::new(warps * stores),
            warps: Times::new(warps),
            work_items: ItemCount::new(threads * launch.candidate.fold().volume() as f64),
            ..Self::nothing(kernel)
        };
        for stores in &self.stores {
            stores.add_to(&mut counts.fields, launch, &kinds, self.pipe.sector);
        }
        counts
    }

    /// Of a launch of which no more is known.
    pub fn nothing(kernel: &Kernel) -> L1Counts {
        L1Counts { fields: vec![FieldCounts::default(); kernel.fields.len()], ..L1Counts::default() }
    }

    /// How lanes of the warps of a block lie, and how many warps are so.
    fn kinds(&self, launch: &Launch) -> Vec<(Arrangement, f64)> {
        if self.may_part(launch) {
            let classes = warps::classes(launch.candidate.block(), self.pipe.warp, &[]);
            return classes.iter().map(|class| (class.arrangement, class.firsts.len() as f64)).collect();
        }
        // Each row is whole warps, or there is only one.
        let (threads, warp) = (launch.threads_per_block(), self.warp());
        let all = [(warp, threads / warp), (threads % warp, 1)];
        let some = all.into_iter().filter(|(lanes, warps)| *lanes > 0 && *warps > 0);
        some.map(|(lanes, warps)| (Arrangement::row(lanes), warps as f64)).collect()
    }

    fn warp(&self) -> i64 {
        i64::try_from(self.pipe.warp).expect("warps have few lanes")
    }

    /// Cycles of all warps.
    fn cycles(&self, of: &Pattern, launch: &Launch, kinds: &[(Arrangement, f64)]) -> Cycles<PerBlock> {
        let pipe = &self.pipe;
        let strides = self.moves_by_banks(of, launch);
        let of_kind = |(number, (arrangement, warps)): (usize, &(Arrangement, f64))| {
            let whole = arrangement.count() == self.warp();
            let data = match (strides, of.of_row) {
                (Some(_), Some(data)) if arrangement.is_row() && whole => data,
                // What is left of a row has few lanes, which mostly do not meet.
                (Some(strides), _) if number < MOST_CLASSES && (whole || !arrangement.is_row()) => {
                    data(pipe, arrangement, strides, of.width)
                }
                _ => 1,
            };
            let lanes = u32::try_from(arrangement.count()).expect("a warp has few lanes");
            (pipe.least(data, lanes, of.width), *warps)
        };
        let (mut loads, mut stores, mut warps) = (0.0, 0.0, 0.0);
        for (passes, of_kind) in kinds.iter().enumerate().map(of_kind) {
            loads += passes.max(pipe.floor(of.width)) * of_kind;
            stores += passes * of_kind;
            warps += of_kind;
        }
        // Stores wait for each other in the data stage alone: it is all warps together that take no less than their lanes.
        let stores = stores.max(warps * pipe.shared_floor(of.width));
        Cycles::new(of.loads * loads + of.stores * stores)
    }

    /// Bytes from thread to thread, if conflicts are the same wherever a warp begins: an address that moves by a bank
    /// takes all others along.
    fn moves_by_banks(&self, of: &Pattern, launch: &Launch) -> Option<Strides> {
        if !conflicts_move_along(&self.pipe, of.size, of.width) {
            return None;
        }
        let [x, y, z] = of.strides.as_ref()?;
        let bytes = |factor: &Scale| factor.at(&launch.sizes).ok()?.checked_mul(of.size);
        let strides = Strides::from([bytes(x)?, bytes(y)?, bytes(z)?]);
        // Addresses of lanes are sums of these.
        strides.iter().all(|&stride| is_near(stride)).then_some(strides)
    }
}

fn is_near(stride: i64) -> bool {
    stride.unsigned_abs() < 1 << 40
}

/// Whether an address that moves by an element takes all others along to the next banks.
fn conflicts_move_along(pipe: &Pipe, size: i64, width: i64) -> bool {
    pipe.conflicts_by_bank(width) && Pipe::whole_banks(size)
}

/// Wavefronts of the data stage for a whole warp in one row; `None` where they depend on the launch.
fn of_row(pipe: &Pipe, elements: &Scale, size: i64, width: i64) -> Option<u32> {
    let stride = elements.as_int()?.checked_mul(size).filter(|&stride| is_near(stride))?;
    let row = Arrangement::row(i64::try_from(pipe.warp).ok()?);
    conflicts_move_along(pipe, size, width).then(|| data(pipe, &row, [stride, 0, 0].into(), width))
}

/// Wavefronts of the data stage for lanes that lie so many bytes apart.
fn data(pipe: &Pipe, arrangement: &Arrangement, strides: Strides, width: i64) -> u32 {
    let bytes = |lane: &Thread| (0..3).map(|d| lane[d] * strides[d]).sum();
    let addresses: Vec<i64> = arrangement.lanes().iter().map(bytes).collect();
    pipe.data(Lanes::all(&addresses), width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::launch::Candidate;
    use crate::quantity::Amount;
    use crate::space::{Block, Fold};
    use crate::traffic::l1::{self, Straight};

    /// Counting finds no less, whatever the block; and no more on NVIDIA devices where the data stage is what takes time.
    #[test]
    fn warps_take_at_least_that() {
        let (mut looked_at, mut tight, mut runs, mut near) = (0, 0, 0, 0);
        for name in ["star3d7", "star3d25", "stream-triad", "star2d5", "lbm-d3q15", "lbm-d3q19"] {
            let path = format!("{}/kernels/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let kernel = crate::kernel::load(name, &text, &Default::default()).unwrap().kernels.remove(0);
            for device in ["v100", "a100", "a40", "rtx-2080-ti", "mi300x", "rx-6900-xt"] {
                let device = device::find(device, &[]).unwrap();
                for (block, fold) in [
                    ([32, 8, 1], Fold::ONE),
                    ([256, 1, 1], Fold::ONE),
                    ([4, 4, 16], Fold::ONE),
                    ([1, 64, 4], Fold::ONE),
                    ([2, 32, 2], Fold::known([2, 1, 1])),
                    ([8, 16, 1], Fold::known([1, 2, 1])),
                    ([7, 13, 5], Fold::ONE),
                    ([31, 3, 1], Fold::known([2, 1, 1])),
                    ([100, 1, 1], Fold::ONE),
                    ([40, 1, 1], Fold::known([2, 1, 1])),
                    ([33, 1, 1], Fold::known([2, 1, 1])),
                ] {
                    let Ok(launch) = Launch::new(&kernel, Candidate::shaped(Block::known(block), fold))
                    else {
                        continue;
                    };
                    let folded = Program::folded(&kernel, fold).unwrap();
                    let Some(straight) = Straight::new(&kernel, &folded, &device) else { continue };
                    // Otherwise no block is full.
                    let Some(least) = straight.least(&kernel, &launch) else { continue };
                    let least = least.of_full_blocks(&kernel, &launch);
                    let program = folded.at(&launch).unwrap();
                    let counted = l1::count(&kernel, &launch, &program, &device).unwrap();
                    let per_item = |counts: &L1Counts| counts.pipe_cycles.per_item(counts.work_items).get();
                    let (least_cycles, cycles) = (per_item(&least), per_item(&counted));
                    assert!(
                        least_cycles <= cycles * (1.0 + 1e-12),
                        "{name} {} {block:?} {fold:?}: {least_cycles} {cycles}",
                        device.id
                    );
                    let issues = |counts: &L1Counts| counts.total.issues.per_item(counts.work_items).get();
                    assert!(issues(&least) <= issues(&counted) * (1.0 + 1e-12), "{name} {block:?} {fold:?}");
                    let of_warp = |counts: &L1Counts| {
                        let all = [counts.global_loads, counts.store_issues];
                        all.map(|n| format!("{:.9}", n / counts.warps))
                    };
                    assert_eq!(of_warp(&least), of_warp(&counted), "{name} {block:?} {fold:?}");
                    for (few, many) in least.fields.iter().zip(&counted.fields) {
                        let all = |f: &FieldCounts, counts: &L1Counts| {
                            let sectors = [f.store_sectors, f.warp_store_sectors].map(Amount::get);
                            let all = [sectors[0], sectors[1], f.distinct_store_runs().get()];
                            all.map(|n| n / counts.work_items.get())
                        };
                        let (few, many) = (all(few, &least), all(many, &counted));
                        let no_more = |(few, many): (f64, f64)| few <= many * (1.0 + 1e-12);
                        assert!(
                            few.into_iter().zip(many).all(no_more),
                            "{name} {} {block:?} {fold:?}: {few:?} {many:?}",
                            device.id
                        );
                        runs += usize::from(few[2] > 0.0);
                        near += usize::from(few[2] > 0.0 && few[2] > 0.9 * many[2]);
                    }
                    looked_at += 1;
                    tight += usize::from(least_cycles > 0.8 * cycles);
                }
            }
        }
        assert!(looked_at > 150 && tight * 3 > looked_at, "{tight} of {looked_at}");
        assert!(runs > 50 && near * 2 > runs, "{near} of {runs}");
    }
}
