//! Loads and stores of memory are those of all waves, each counted by itself with what ran before it: also in
//! grids of few planes or rows, where the wave in the middle is not typical.

mod program;

use program::{answer, number};
use proptest::prelude::*;
use wavecast::device::{self, Device};
use wavecast::footprint::{Addressing, Counter, FieldTouches, Threads};
use wavecast::kernel::{AccessKind, FieldId, Kernel, load};
use wavecast::launch::{BlockBox, Candidate, Program, blocks_of_wave, work_items};
use wavecast::predict::{Estimator, Prediction};
use wavecast::traffic::Caches;

use AccessKind::{Load, Store};

/// Blocks of one launch with what they touch.
struct Grid<'a> {
    fields: Vec<[FieldTouches; 3]>,
    prediction: &'a Prediction,
    device: &'a Device,
}

impl Grid<'_> {
    fn bytes(&self, parts: &[(&FieldTouches, &[BlockBox])]) -> f64 {
        let line = i64::try_from(self.device.dram().fetch().value().0).unwrap();
        let parts: Vec<_> = parts.iter().copied().filter(|p| !p.1.is_empty() && !p.0.is_empty()).collect();
        if parts.is_empty() {
            return 0.0;
        }
        let count = Counter::cheapest().count(&FieldTouches::union(&parts, line).unwrap()).unwrap();
        count.lines as f64 * line as f64
    }

    /// Bytes that a wave loads from memory and stores to it, by section 5 of docs/model.md with cold caches.
    fn of_wave(&self, start: i64, size: i64) -> [f64; 2] {
        let grid = self.prediction.launch.sizes().grid;
        let [row, plane] = [grid[0], grid[0] * grid[1]];
        let blocks = |from: i64, count: i64| blocks_of_wave(grid, from, count);
        let wave = blocks(start, size);
        let in_row = (start % row).min(4 * size);
        let back = [in_row, if start < row { in_row } else { row }, plane];
        let alone = grid[1] * grid[2] == 1;
        let past = back.map(|d| if alone { in_row } else { d.min(start) }).map(|d| blocks(start - d, d));
        let all = |at: &[BlockBox]| self.fields.iter().map(|f| self.bytes(&[(&f[2], at)])).sum::<f64>();
        let within = 0.5 * all(&wave);
        let fit = &wavecast::curve::for_device(self.device).fit.volumes;
        let capacity = self.device.l2().effective().value().0 as f64;
        let distances = [within, within.max(all(&past[1])), within.max(all(&past[2]))];
        let hit = |d: usize| 1.0 - fit.reuse(d + 1).miss(distances[d] / capacity);
        let mut sums = [0.0; 2];
        for f in &self.fields {
            for (sum, some) in sums.iter_mut().zip(&f[..2]) {
                let touched = self.bytes(&[(some, &wave)]);
                let mut nearer = 0.0;
                *sum += touched;
                for (d, past) in past.iter().enumerate() {
                    let either = self.bytes(&[(some, &wave), (&f[2], past)]);
                    let again = (touched + self.bytes(&[(&f[2], past)]) - either).max(nearer);
                    *sum -= (again - nearer) * hit(d);
                    nearer = again;
                }
            }
        }
        sums
    }
}

/// Bytes per work item that are loaded and stored: predicted, and of all waves.
fn volumes(kernel: &Kernel, device: &Device, candidate: Candidate) -> [[f64; 2]; 2] {
    let estimator = Estimator { caches: Caches::Cold, ..Estimator::new(kernel, device) };
    let prediction = estimator.predict(candidate).unwrap();
    let launch = &prediction.launch;
    let program = Program::placed(kernel, candidate).unwrap().at(launch).unwrap();
    let threads = Threads { kernel, launch, program: &program };
    let touched = |field: usize| {
        let of = |kinds: &[AccessKind]| {
            threads.touched(FieldId(u16::try_from(field).unwrap()), kinds, Addressing::Linear).unwrap()
        };
        [of(&[Load]), of(&[Store]), of(&[Load, Store])]
    };
    let fields = (0..kernel.fields().len()).map(touched).collect();
    let grid = Grid { fields, prediction: &prediction, device };
    let size = prediction.occupancy.wave_blocks;
    let (mut sums, mut start, blocks) = ([0.0; 2], 0, launch.blocks());
    while start < blocks {
        let of_wave = grid.of_wave(start, size.min(blocks - start));
        sums = [sums[0] + of_wave[0], sums[1] + of_wave[1]];
        start += size;
    }
    let all = [BlockBox::whole(launch.sizes().grid)];
    let items = work_items(kernel, launch, &program, &all);
    let dram = &prediction.volumes.dram;
    let load = dram.load.total - dram.load.capacity - dram.load.partial_store_fill;
    [[load.get(), dram.store.compulsory.get()], sums.map(|s| s / items)]
}

/// A star of some reach along each axis.
fn star(domain: [i64; 3], reach: [i64; 3], dtype: &str) -> Kernel {
    let ([x, y, z], [a, b, c]) = (domain, reach);
    let text = format!(
        "wavecast: 1\nkernel: k\nfields:\n  src: {{dtype: {dtype}, shape: [{}, {}, {}], halo: [{a}, {b}, {c}]}}\n  \
         dst: {{like: src}}\ndomain: {{x: {x}, y: {y}, z: {z}}}\nloads:\n\
         \x20 - {{for: {{i: -{a}..{a}}}, at: 'src[x + i, y, z]'}}\n\
         \x20 - {{for: {{i: -{b}..{b}}}, at: 'src[x, y + i, z]'}}\n\
         \x20 - {{for: {{i: -{c}..{c}}}, at: 'src[x, y, z + i]'}}\n\
         stores: ['dst[x, y, z]']\nlaunch: {{registers: 32}}\n",
        x + 2 * a,
        y + 2 * b,
        z + 2 * c
    );
    load("k", &text, &Default::default()).unwrap().kernels.remove(0)
}

fn off([predicted, counted]: [[f64; 2]; 2]) -> [f64; 2] {
    [0, 1].map(|i| (predicted[i] / counted[i] - 1.0).abs())
}

#[test]
fn few_planes_are_not_all_in_the_middle() {
    for (domain, block, device) in [
        ([632, 504, 8], [32, 4, 2], "a100"),
        ([632, 504, 8], [64, 2, 2], "a100"),
        ([320, 256, 16], [32, 4, 4], "a100"),
        ([632, 504, 8], [32, 4, 2], "v100"),
        ([512, 32, 64], [32, 16, 1], "h100-pcie"),
        ([4096, 32, 1], [32, 8, 1], "a100"),
    ] {
        let reach = [4, 4, if domain[2] > 1 { 4 } else { 0 }];
        let device = device::find(device, &[]).unwrap();
        let found = volumes(&star(domain, reach, "f64"), &device, Candidate::new(block, [1; 3]).unwrap());
        let [load, store] = off(found);
        assert!(load < 0.03 && store < 0.01, "{domain:?} {block:?} {}: {found:?}", device.id());
    }
}

#[test]
fn waves_longer_than_a_plane_start_anywhere_in_it() {
    // Waves of 272 blocks: planes of 231, 260, 180, 130 and 85 blocks. Only some of the waves hold one start of a
    // plane, with the rows beyond its edge, more than others.
    for (grid, reach, dtype) in [
        ([21, 11, 11], [1, 2, 0], "f32"),
        ([20, 13, 10], [3, 3, 0], "f32"),
        ([20, 9, 10], [0, 3, 0], "f32"),
        ([10, 13, 20], [0, 3, 0], "f32"),
        ([17, 5, 30], [1, 3, 0], "f64"),
        ([17, 16, 10], [1, 3, 0], "f64"),
    ] {
        let device = device::find("rtx-2080-ti", &["l2.effective=1MiB".to_owned()]).unwrap();
        let kernel = star([256 * grid[0], grid[1], grid[2]], reach, dtype);
        let found = volumes(&kernel, &device, Candidate::new([256, 1, 1], [1; 3]).unwrap());
        let [load, store] = off(found);
        assert!(load < 0.02 && store < 0.01, "{grid:?} {reach:?}: {found:?}");
    }
}

#[test]
fn large_grids_have_one_kind_of_waves() {
    let kernel = star([1024, 1024, 512], [4; 3], "f64");
    let device = device::find("v100", &[]).unwrap();
    let predicted = Estimator::new(&kernel, &device).predict(Candidate::new([32, 4, 4], [1; 3]).unwrap());
    assert!(predicted.unwrap().footprints().waves.is_empty());
}

#[test]
fn first_planes_are_seen_in_a_sweep() {
    // With fewer planes, more of them are at the end, and more is loaded for each.
    let load = |planes: i64| {
        let set = format!("NZ={planes}");
        let arguments =
            ["predict", "kernels/star3d25.yaml", "-d", "a100", "--block", "32,4,2", "--set", &set];
        number(
            &answer(&[&arguments[..], &["--caches", "cold"]].concat(), "")["result"],
            "volumes.dram.load.total",
        )
    };
    let found = [8, 16, 32, 64].map(load);
    assert!(found.windows(2).all(|pair| pair[0] > pair[1] - 0.05), "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn any_small_grid(
        device in prop::sample::select(vec!["a100", "v100", "h100-pcie", "mi210", "rtx-2080-ti"]),
        dtype in prop::sample::select(vec!["f32", "f64"]),
        shape in prop::sample::select(vec![[32_i64, 8, 1], [16, 4, 4], [64, 2, 2], [8, 8, 4], [256, 1, 1]]),
        grid in [1_i64..24, 1_i64..24, 1_i64..12],
        reach in [0_i64..4, 0_i64..4, 0_i64..4],
    ) {
        let domain = [0, 1, 2].map(|d| shape[d] * grid[d]);
        let device = device::find(device, &["l2.effective=1MiB".to_owned()]).unwrap();
        let kernel = star(domain, reach, dtype);
        let found = volumes(&kernel, &device, Candidate::new(shape, [1; 3]).unwrap());
        let [load, store] = off(found);
        prop_assert!(load < 0.06 && store < 0.04, "{} {dtype} {shape:?} {grid:?} {reach:?}: {found:?}", device.id());
        // All that is stored has to be written at least once.
        let bytes = if dtype == "f32" { 4.0 } else { 8.0 };
        prop_assert!(found[0][1] >= bytes - 1e-9, "{found:?}");
    }
}
