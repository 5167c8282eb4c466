//! Each volume of a record beside what our engines count for the same threads.

use serde_json::Value;

use super::address::Accesses;
use super::blocks::{Group, Tiling, lines_at, lines_of_places};
use super::case::{Case, Possible, sum, times};
use super::records::{Record, three};
use super::verdict::{Compared, Verdict, judge};
use super::wave::{Rows, Volumes, WaveBoxes, volumes};

/// Bytes of a page in the program's count of a block, and in that of a wave.
const BLOCK_PAGE: i64 = 512 << 10;
const WAVE_PAGE: i64 = 2 << 20;
/// Most blocks in each dimension over which it averages.
const AVERAGED: i64 = 8;

/// All volumes of a record.
pub fn compare(record: &Record) -> Result<Vec<Compared>, String> {
    let case = Case::new(record)?;
    let device = &record.device_params;
    let averaged = case.grid.map(|n| n.min(AVERAGED));
    let blocks = Tiling { inner: case.block, outer: averaged };
    let (fetch, allocation, write) = (device.fetch.0, device.allocation.0, device.write.0);
    let warps = Tiling::warps(device.warp_size.0, case.block, averaged);
    // The program's own measure of one block takes 32 threads and 32 bytes on every device.
    let of_one_block = Tiling::warps(32, case.block, [1; 3]);
    let number: i64 = averaged.iter().product();
    let mean = |bytes: i64| bytes as f64 / number as f64;

    let mut out = Table { basic: &record.basic, rows: Vec::new() };
    out.launch(record, &case);
    let loads = |of: &dyn Fn(&Accesses) -> Possible| case.loads.iter().map(|f| times(of(f), f)).collect();
    let load: Vec<Possible> = loads(&|f| case.together(f, blocks, fetch));
    out.per_field("fieldBlockL2Load", &case.loads, &load, mean(fetch));
    out.value("blockL2Load", "/blockL2Load", &sum(&load), mean(fetch), 1.0);
    let alloc: Vec<Possible> = case.loads.iter().map(|f| case.together(f, blocks, allocation)).collect();
    out.value("blockL1LoadAlloc", "/blockL1LoadAlloc", &sum(&alloc), mean(allocation), 1.0);
    let warp: Vec<Possible> = loads(&|f| case.separately(f, warps, fetch));
    out.value("blockL1Load", "/blockL1Load", &sum(&warp), mean(fetch), 1.0);
    let of_warps: Vec<Possible> = loads(&|f| case.together(f, of_one_block, 32));
    out.value("warpL1Load", "/warpL1Load", &sum(&of_warps), fetch as f64, 1.0);
    let store: Vec<Possible> =
        case.stores.iter().map(|f| times(case.separately(f, warps, write), f)).collect();
    out.per_field("fieldBlockL2Store", &case.stores, &store, mean(write));
    out.value("blockL2Store", "/blockL2Store", &sum(&store), mean(write), 0.0);
    out.pages(&case, record, blocks);
    out.earlier_blocks(&case, fetch);
    out.waves(&case, record);
    Ok(out.rows)
}

struct Table<'r> {
    basic: &'r Value,
    rows: Vec<Compared>,
}

impl Table<'_> {
    fn add(&mut self, field: impl Into<String>, verdict: Verdict) {
        self.rows.push(Compared { field: field.into(), verdict });
    }

    /// Compares with the value at a JSON pointer. The program replaces what is smaller than `least`.
    fn value(&mut self, field: &str, pointer: &str, ours: &Possible, unit: f64, least: f64) {
        let values = ours.clone().map(|v| v.iter().map(|&n| (n as f64 * unit).max(least)).collect());
        self.any_of(field, pointer, &values);
    }

    fn any_of(&mut self, field: &str, pointer: &str, ours: &Result<Vec<f64>, String>) {
        let verdict = match (self.basic.pointer(pointer).and_then(Value::as_f64), ours) {
            (None, _) => Verdict::Listed("not in the record".to_owned()),
            (_, Err(why)) => Verdict::Listed(why.clone()),
            (Some(theirs), Ok(values)) => judge(values, theirs),
        };
        self.add(field, verdict);
    }

    /// Each field by its name, where one name means one field, and their sum.
    fn per_field(&mut self, field: &str, accesses: &[Accesses], ours: &[Possible], unit: f64) {
        for (one, value) in accesses.iter().zip(ours) {
            let pointer = format!("/{field}/{}", escaped(&one.name));
            if accesses.iter().filter(|a| a.name == one.name).count() > 1 {
                self.add(field, Verdict::Listed("fields of one name overwrite each other".to_owned()));
            } else {
                self.value(field, &pointer, value, unit, 0.0);
            }
        }
        self.value(&format!("{field}.total"), &format!("/{field}/total"), &sum(ours), unit, 0.0);
    }

    /// The launch that follows from domain, block and folding.
    fn launch(&mut self, record: &Record, case: &Case) {
        let along = |d: usize| (case.domain[d] - 1) / case.block[d].saturating_mul(case.fold[d]) + 1;
        let grid = [0, 1, 2].map(along);
        let same = |ours: [i64; 3], theirs: [i64; 3]| {
            let apart = (0..3).find(|&d| ours[d] != theirs[d]);
            apart.map_or(Verdict::Equal, |d| Verdict::Differs {
                ours: ours[d] as f64,
                theirs: theirs[d] as f64,
            })
        };
        self.add("grid", same(grid, case.grid));
        let verdict = three(&record.lc.truncated_wave_size, "the averaged blocks")
            .map_or_else(Verdict::Listed, |theirs| same(grid.map(|n| n.min(AVERAGED)), theirs));
        self.add("truncatedWaveSize", verdict);
    }

    /// Distinct pages of a block, and of a wave as a box at the origin.
    fn pages(&mut self, case: &Case, record: &Record, blocks: Tiling) {
        let all = || case.loads.iter().chain(&case.stores);
        let number: i64 = blocks.outer.iter().product();
        let of_block: Vec<_> = all().map(|f| times(case.together(f, blocks, BLOCK_PAGE), f)).collect();
        self.value("blockL1TLBPages", "/blockL1TLBPages", &sum(&of_block), 1.0 / number as f64, 1.0);
        let pages = three(&record.lc.wave_size, "the wave").and_then(|wave| {
            if (0..3).any(|d| wave[d] > case.grid[d]) {
                return Err("a wave larger than the grid".to_owned());
            }
            let inner = [0, 1, 2].map(|d| wave[d] * case.block[d]);
            let one = Tiling { inner, outer: [1; 3] };
            sum(&all().map(|f| times(case.together(f, one, WAVE_PAGE), f)).collect::<Vec<_>>())
        });
        self.value("TLBpages", "/TLBpages", &pages, 1.0, 0.0);
    }

    /// Mean overlap of the block in the middle of the grid with up to 40 earlier ones, every 108th.
    fn earlier_blocks(&mut self, case: &Case, fetch: i64) {
        let [gx, gy, _] = case.grid;
        let middle = case.grid.map(|n| n / 2);
        let mut number = middle[0] + middle[1] * gx + middle[2] * gx * gy;
        let mut earlier = Vec::new();
        while number > 0 && earlier.len() < 40 {
            number = (number - 108).max(0);
            earlier.push([number % gx, number / gx % gy, number / (gx * gy)]);
        }
        let field = "fieldBlockL2LoadOverlap";
        if earlier.is_empty() {
            let why = "a grid of a single block divides by zero".to_owned();
            return self.add(field, Verdict::Listed(why));
        }
        let common = |way: Group<'_>| {
            let one = lines_at(way, case.block, middle, fetch)?;
            let mut total = 0;
            for &place in &earlier {
                let other = lines_at(way, case.block, place, fetch)?;
                total += one + other - lines_of_places(way, case.block, &[middle, place], fetch)?;
            }
            Ok(total)
        };
        let ours: Vec<Possible> = case
            .loads
            .iter()
            .map(|f| times(case.ways(f).and_then(|ways| ways.iter().map(|w| common(w)).collect()), f))
            .collect();
        self.per_field(field, &case.loads, &ours, fetch as f64 / earlier.len() as f64);
    }

    /// Volumes of the wave and its neighbours.
    fn waves(&mut self, case: &Case, record: &Record) {
        let resident = record.lc.blocks_per_sm.0.saturating_mul(record.device_params.sm_count.0);
        if !(1..=i64::from(u32::MAX)).contains(&resident) {
            return self.add("wave", Verdict::Listed(format!("{resident} resident blocks")));
        }
        let boxes = WaveBoxes::new(case.grid, case.block, case.domain, resident, Rows::One);
        let cells = resident * case.threads();
        self.any_of("waveValidCells", "/waveValidCells", &Ok(vec![cells as f64]));
        if boxes.wave.threads() == 0 {
            return self
                .add("wave", Verdict::Listed("the program's wave lies outside the domain".to_owned()));
        }
        // The box is larger than the wave: its volumes are scaled down, those of older threads are not.
        let scale = boxes.wave.threads() as f64 / cells as f64;
        let of = |fields: &[Accesses]| -> Vec<Result<Volumes, String>> {
            fields.iter().map(|f| volumes(f, &boxes, record.device_params.dram_fetch.0)).collect()
        };
        let (loads, stores) = (of(&case.loads), of(&case.stores));
        let one = |list: &[Result<Volumes, String>], part: &dyn Fn(&Volumes) -> i128, scale: f64| {
            let parts = list.iter().map(|v| v.as_ref().map(part).map_err(String::clone));
            parts.sum::<Result<i128, String>>().map(|n| vec![n as f64 / scale])
        };
        self.any_of("waveMemLoadNew", "/waveMemLoadNew", &one(&loads, &|v| v.new, scale));
        self.any_of("waveMemStoreNew", "/waveMemStoreNew", &one(&stores, &|v| v.new, scale));
        let both: Vec<_> = loads.iter().chain(&stores).cloned().collect();
        for at in 0..2 {
            self.any_of("waveMemOld", &format!("/waveMemOld/{at}"), &one(&both, &|v| v.old[at + 1], 1.0));
            let part = |v: &Volumes| if at == 0 { v.overlap[0] + v.overlap[1] } else { v.overlap[2] };
            for (name, list) in [("waveMemLoadOverlap", &loads), ("waveMemStoreOverlap", &stores)] {
                self.any_of(name, &format!("/{name}/{at}"), &one(list, &part, scale));
            }
        }
        let fields = || case.loads.iter().chain(&case.stores);
        for (field, volume) in fields().zip(&both) {
            if fields().filter(|f| f.name == field.name).count() > 1 {
                let why = "fields of one name overwrite each other".to_owned();
                self.add("fieldWaveMemVolumes", Verdict::Listed(why));
                continue;
            }
            let volume = std::slice::from_ref(volume);
            let at = |key| format!("/fieldWaveMemVolumes/{}/{key}", escaped(&field.name));
            let name = "fieldWaveMemVolumes";
            self.any_of(name, &at("VNew"), &one(volume, &|v| v.new, scale));
            self.any_of(name, &at("VOverlapY"), &one(volume, &|v| v.overlap[1], scale));
            self.any_of(name, &at("VOverlapZ"), &one(volume, &|v| v.overlap[2], scale));
        }
    }
}

/// A name as part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
