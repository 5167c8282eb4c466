//! The results of the program's version of the paper's time: 168 configurations on an A100 without their
//! inputs. The kernel of a row is found among the records by its name; a name that ends in `_2y` is the
//! kernel without that ending, folded. Volumes are counted, and what follows from them by the paper's
//! formulas is compared as well.

use std::path::Path;

use serde_json::Value;
use wavecast::expr::{Coord, Dim, Form};

use super::address::Accesses;
use super::blocks::Tiling;
use super::case::{Case, sum, times};
use super::records::{Record, read_rows};
use super::tables::{FileResult, Outcome};
use super::verdict::{Compared, Verdict, judge};
use super::wave::{Rows, Volumes, WaveBoxes, volumes};

/// The A100 of the paper (table 2): bytes of L1 and of one half of L2, SMs, GB/s of L2 and DRAM. Of the
/// bandwidths the L2 one is that of the program's time (`reference/estimator/README.md`).
const L1: f64 = 196_608.0;
const L2: f64 = 20_971_520.0;
const SMS: i64 = 108;
const L2_BANDWIDTH: f64 = 4500.0;
const DRAM_BANDWIDTH: f64 = 1400.0;
const LINE: i64 = 128;
const SECTOR: i64 = 32;
/// Most blocks in each dimension over which the program averaged.
const AVERAGED: i64 = 4;

/// Compares all rows of a file with kernels from `records`.
pub fn validate(file: &Path, records: &[&Record]) -> Result<FileResult, String> {
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let outcomes = read_rows(file)?.iter().map(|row| outcome(row, records)).collect();
    Ok(FileResult { name, outcomes })
}

fn outcome(row: &Value, records: &[&Record]) -> Outcome {
    let what = format!("{} {}", row["kernel"], row["block"]);
    let fields = find(row, records).and_then(|(case, blocks_per_sm)| compare(row, &case, blocks_per_sm));
    let listed = |why| vec![Compared { field: "the whole row".to_owned(), verdict: Verdict::Listed(why) }];
    Outcome { what, fields: fields.unwrap_or_else(listed) }
}

/// The kernel and block of a row, and how many blocks are resident on an SM.
fn find(row: &Value, records: &[&Record]) -> Result<(Case, i64), String> {
    let kernel = row["kernel"].as_str().ok_or("no kernel's name")?;
    let sizes: Option<Vec<i64>> = row["block"].as_array().and_then(|b| b.iter().map(Value::as_i64).collect());
    let block: [i64; 3] = sizes.and_then(|b| b.try_into().ok()).ok_or("no block of three sizes")?;
    let (core, fold) = folding(kernel);
    let mut nearest = None;
    for record in records {
        let (other, of_other) = folding(&record.input.kernel);
        if other != core {
            continue;
        }
        // Registers, and with them residence, depend on how much a thread does.
        let work = |f: [i64; 3]| f.iter().product::<i64>();
        let threads = |b: &[super::records::Whole]| b.iter().map(|n| n.0).product::<i64>();
        let like =
            work(of_other) == work(fold) && threads(&record.input.block) == block.iter().product::<i64>();
        if like && record.device_params.sm_count.0 == SMS {
            nearest = Some(record.lc.blocks_per_sm.0);
        }
    }
    let resident = nearest.ok_or("no record of a like kernel says how many blocks are resident")?;
    let plain = records
        .iter()
        .find(|r| folding(&r.input.kernel) == (core, [1; 3]))
        .ok_or("no record of this kernel without folding")?;
    let mut case = Case::new(plain)?;
    (case.block, case.fold) = (block, fold);
    case.grid = [0, 1, 2].map(|d| (case.domain[d] - 1) / (block[d] * fold[d]) + 1);
    for field in case.loads.iter_mut().chain(&mut case.stores) {
        *field = folded(field, fold).ok_or("an address over 64 bits")?;
    }
    case.bounded()?;
    Ok((case, resident))
}

/// A kernel's name without its first word and its folding, and the folding: `i_star3d25pt_2z` is
/// `star3d25pt` with two work items along z.
fn folding(kernel: &str) -> (&str, [i64; 3]) {
    let core = kernel.split_once('_').map_or(kernel, |k| k.1);
    if let Some((name, last)) = core.rsplit_once('_')
        && let Some((times, axis)) = last.split_at_checked(last.len().saturating_sub(1))
        && let (Ok(times @ 1..=64), Some(d)) =
            (times.parse(), ["x", "y", "z"].iter().position(|&a| a == axis))
    {
        let mut fold = [1; 3];
        fold[d] = times;
        return (name, fold);
    }
    (core, [1; 3])
}

/// The accesses of all work items of a thread.
fn folded(field: &Accesses, fold: [i64; 3]) -> Option<Accesses> {
    let mut out = Accesses { indices: Vec::new(), bytes: Vec::new(), ..field.clone() };
    for z in 0..fold[2] {
        for y in 0..fold[1] {
            for x in 0..fold[0] {
                let item = [x, y, z];
                let of = |c| {
                    let Coord::Thread(d) = c else { return None };
                    let thread = Form::coord(c).times(&fold[d.index()]).ok()?;
                    thread.plus(&Form::int(item[d.index()])).ok()
                };
                for (index, bytes) in field.indices.iter().zip(&field.bytes) {
                    let at = |d: Dim| index[d.index()].substitute(&of).ok();
                    let index = [at(Dim::X)?, at(Dim::Y)?, at(Dim::Z)?];
                    if !out.indices.contains(&index) {
                        out.indices.push(index);
                        out.bytes.push(bytes.substitute(&of).ok()?);
                    }
                }
            }
        }
    }
    Some(out)
}

/// What is counted, per work item.
struct Counted {
    l1_load: f64,
    l2_load: f64,
    l2_store: f64,
    o_l1: f64,
    load: f64,
    store: f64,
    /// Overlap with the sets of x and y together, and of z.
    overlap: [f64; 2],
    o_y: f64,
    o_z: f64,
    o_l2: f64,
}

fn count(case: &Case, blocks_per_sm: i64) -> Result<Counted, String> {
    let averaged = case.grid.map(|n| n.min(AVERAGED));
    let blocks = Tiling { inner: case.block, outer: averaged };
    let warps = Tiling::warps(32, case.block, averaged);
    let number: i64 = averaged.iter().product();
    let items = (case.threads() * case.fold.iter().product::<i64>()) as f64;
    let single = |sums: Vec<u128>| sums.first().map_or(0.0, |&n| n as f64) / number as f64;
    let all = |fields: &[Accesses], of: &dyn Fn(&Accesses) -> super::case::Possible| {
        sum(&fields.iter().map(|f| times(of(f), f)).collect::<Vec<_>>()).map(single)
    };
    let per_warp = |f: &Accesses| case.separately(f, warps, SECTOR);
    let alloc = all(&case.loads, &|f| case.together(f, blocks, LINE))? * LINE as f64;

    let resident = blocks_per_sm.checked_mul(SMS).ok_or("too many resident blocks")?;
    let boxes = WaveBoxes::new(case.grid, case.block, case.domain, resident, Rows::OfTheWave);
    let wave = |fields: &[Accesses]| -> Result<Vec<Volumes>, String> {
        fields.iter().map(|f| volumes(f, &boxes, SECTOR)).collect()
    };
    let (loads, stores) = (wave(&case.loads)?, wave(&case.stores)?);
    let total =
        |list: &[Volumes], part: &dyn Fn(&Volumes) -> i128| list.iter().map(part).sum::<i128>() as f64;
    let both = |part: &dyn Fn(&Volumes) -> i128| total(&loads, part) + total(&stores, part);
    let cells = (boxes.wave.threads() * case.fold.iter().product::<i64>()) as f64;
    // Where nothing ran before, the program takes a tenth.
    let oversubscription = |bytes: f64| if bytes > 0.0 { (bytes / L2).clamp(0.01, 10.0) } else { 0.1 };
    Ok(Counted {
        l1_load: all(&case.loads, &per_warp)? * SECTOR as f64 / items,
        l2_load: all(&case.loads, &|f| case.together(f, blocks, SECTOR))? * SECTOR as f64 / items,
        l2_store: all(&case.stores, &per_warp)? * SECTOR as f64 / items,
        o_l1: alloc * blocks_per_sm as f64 / L1,
        load: total(&loads, &|v| v.new) / cells,
        store: total(&stores, &|v| v.new) / cells,
        overlap: [
            total(&loads, &|v| v.overlap[0] + v.overlap[1]) / cells,
            total(&loads, &|v| v.overlap[2]) / cells,
        ],
        o_y: oversubscription(both(&|v| v.old[0] + v.old[1])),
        o_z: oversubscription(both(&|v| v.old[2])),
        o_l2: both(&|v| v.new) / L2,
    })
}

/// The row's values beside ours; cycle counts are the row's own.
fn compare(row: &Value, case: &Case, blocks_per_sm: i64) -> Result<Vec<Compared>, String> {
    let c = count(case, blocks_per_sm)?;
    // Equations and coefficients of the program's time (`reference/estimator/README.md`).
    let l1_miss = 0.73 * (-4.6 * (-0.34 * c.o_l1).exp()).exp();
    let y_hit = (-0.078 * (1.03 * (c.o_y - 0.2)).exp()).exp();
    let z_hit = (-0.0036 * (3.97 * c.o_z).exp()).exp();
    let store_miss = 1.0 - (-0.044 * (0.61 * c.o_l2).exp()).exp();
    let l2_miss = 0.5 * (-13.0 * (-1.8 * c.o_l2).exp()).exp();
    let l2_load = c.l2_load + (c.l1_load - c.l2_load) * l1_miss;
    let load = c.load - c.overlap[0] * y_hit - c.overlap[1] * z_hit;
    let evicted = (c.l2_store - c.store).max(0.0) * store_miss;
    let filled = load + evicted;
    let l2 = L2_BANDWIDTH / (l2_load + c.l2_store);
    let dram = DRAM_BANDWIDTH / (filled + c.store + evicted);
    // The L1 limiter is taken from the row: it rests on cycle counts.
    let l1 = row["perfL1"].as_f64().unwrap_or(f64::INFINITY);
    let ours = [
        ("L1Load", c.l1_load),
        ("L2LoadV1", c.l2_load),
        ("L2LoadV2", l2_load),
        ("L2Store", c.l2_store),
        ("O_L1", c.o_l1),
        ("memLoadV1", c.load),
        ("memStoreV1", c.store),
        ("O_y", c.o_y),
        ("O_z", c.o_z),
        ("O_L2", c.o_l2),
        ("memLoadV2", load),
        ("memStoreV2", c.store + evicted),
        ("memLoadV3", filled),
        ("memLoadV4", filled + (l2_load - load) * l2_miss),
        ("perfL2", l2),
        ("perfMem", dram),
        ("perf", l1.min(l2).min(dram)),
    ];
    let mut out: Vec<Compared> = ours
        .iter()
        .map(|&(field, value)| {
            let verdict = match row[field].as_f64() {
                Some(theirs) => judge(&[value], theirs),
                None => Verdict::Listed("not in the row".to_owned()),
            };
            Compared { field: field.to_owned(), verdict }
        })
        .collect();
    for field in ["L1Cycles", "perfL1"] {
        if row.get(field).is_some() {
            let why = "rests on cycle counts, not on volumes".to_owned();
            out.push(Compared { field: field.to_owned(), verdict: Verdict::Listed(why) });
        }
    }
    Ok(out)
}
