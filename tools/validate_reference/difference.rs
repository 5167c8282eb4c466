//! How far the reference program's definitions are from ours.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::Value;

use super::case::Case;
use super::ours::{Own, count_own};
use super::records::Record;

/// What is compared, and what makes the difference.
const QUANTITIES: [(&str, &str); 8] = [
    ("block load", "clipping to the domain, blocks in the middle of the grid"),
    ("block allocation", "clipping to the domain, blocks in the middle of the grid"),
    ("warp load", "linear warps, clipping to the domain"),
    ("warp store", "linear warps, clipping to the domain"),
    ("wave load, grid", "exact wave in the middle"),
    ("wave load", "exact wave in the middle, linear addresses"),
    ("wave store, grid", "exact wave in the middle"),
    ("wave store", "exact wave in the middle, linear addresses"),
];

/// Relative differences of one quantity over records.
#[derive(Debug, Clone, Default)]
struct Spread {
    number: usize,
    sum: f64,
    most: f64,
    worst: String,
}

/// Prints mean and largest relative difference per file, and where each quantity differs most.
pub fn print_differences(files: &[(String, Vec<Record>)]) {
    let columns = QUANTITIES.map(|q| q.0).join(" | ");
    println!("| file | devices | records | {columns} |");
    println!("| --- | --- | ---: |{}", " ---: |".repeat(QUANTITIES.len()));
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut largest = vec![Spread::default(); QUANTITIES.len()];
    for (file, records) in files {
        for fuses in [false, true] {
            let chosen: Vec<_> =
                records.iter().filter(|r| (r.device_params.l1_model != "NV") == fuses).collect();
            let all: Vec<_> = chosen.par_iter().map(|record| one(record)).collect();
            let mut spreads = vec![Spread::default(); QUANTITIES.len()];
            for (record, differences) in chosen.iter().zip(all) {
                match differences {
                    Ok(differences) => gather(&mut spreads, record, &differences),
                    Err(why) => *refused.entry(why).or_default() += 1,
                }
            }
            if spreads[0].number > 0 {
                let devices = if fuses { "AMD" } else { "NVIDIA" };
                let cells: Vec<String> = spreads.iter().map(Spread::cell).collect();
                println!("| {file} | {devices} | {} | {} |", spreads[0].number, cells.join(" | "));
            }
            // On AMD most of the difference in what warps ask for is its fused accesses.
            for (all, spread) in largest.iter_mut().zip(spreads).filter(|_| !fuses) {
                if spread.most > all.most {
                    *all = spread;
                }
            }
        }
    }
    println!("\n| volume | what differs | largest on NVIDIA | where |\n| --- | --- | ---: | --- |");
    for ((volume, what), spread) in QUANTITIES.iter().zip(&largest) {
        println!("| {volume} | {what} | {:.2} % | {} |", 100.0 * spread.most, spread.worst);
    }
    if !refused.is_empty() {
        println!("\n| not counted under our definitions | records |\n| --- | ---: |");
        for (why, times) in refused {
            println!("| {why} | {times} |");
        }
    }
}

impl Spread {
    fn cell(&self) -> String {
        format!("{:.2} / {:.2} %", 100.0 * self.sum / self.number as f64, 100.0 * self.most)
    }
}

fn gather(spreads: &mut [Spread], record: &Record, differences: &[f64; 8]) {
    for (spread, &difference) in spreads.iter_mut().zip(differences) {
        spread.number += 1;
        spread.sum += difference;
        if difference > spread.most + 1e-12 {
            spread.most = difference;
            let block: Vec<String> = record.input.block.iter().map(|n| n.0.to_string()).collect();
            let Record { input, .. } = record;
            spread.worst = format!("{} on {}, {}", input.kernel, input.device, block.join("x"));
        }
    }
}

/// |theirs - ours| / ours for each quantity.
fn one(record: &Record) -> Result<[f64; 8], String> {
    let case = Case::new(record)?;
    let own = count_own(record, &case)?;
    let theirs = theirs(record, &case)?;
    let apart =
        |ours: f64, theirs: f64| if ours > 0.0 { (theirs - ours).abs() / ours } else { theirs.min(1.0) };
    Ok([
        apart(own.block_load, theirs.block_load),
        apart(own.block_alloc, theirs.block_alloc),
        apart(own.warp_load, theirs.warp_load),
        apart(own.warp_store, theirs.warp_store),
        apart(own.wave_load_grid, theirs.wave_load),
        apart(own.wave_load, theirs.wave_load),
        apart(own.wave_store_grid, theirs.wave_store),
        apart(own.wave_store, theirs.wave_store),
    ])
}

/// The record's volumes per thread, as the program divides them.
fn theirs(record: &Record, case: &Case) -> Result<Own, String> {
    let value = |pointer: &str| {
        let value = record.basic.pointer(pointer).and_then(Value::as_f64);
        value.ok_or_else(|| format!("no {pointer} in the record"))
    };
    let threads = case.threads() as f64;
    let cells = value("/waveValidCells")?;
    Ok(Own {
        block_load: value("/fieldBlockL2Load/total")? / threads,
        block_alloc: value("/blockL1LoadAlloc")? / threads,
        warp_load: value("/blockL1Load")? / threads,
        warp_store: value("/fieldBlockL2Store/total")? / threads,
        wave_load: value("/waveMemLoadNew")? / cells,
        wave_store: value("/waveMemStoreNew")? / cells,
        ..Own::default()
    })
}
