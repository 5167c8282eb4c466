//! Holds our engines against results of the published estimator.
//!
//! `cargo run --release --example validate_reference -- FOLDER [--list] [--own]` reads the records
//! of FOLDER (`*.jsonl.gz`: one configuration a line with its whole input, launch and volumes), counts
//! the same threads under the definitions of that program with the engines of `wavecast::footprint`, and
//! prints how many volumes are equal; `--list` prints every difference. `--own` counts under our own
//! definitions as well and prints how far the others are from them. Exit status 1 says that a comparable volume differs, 2 that there is
//! nothing to read.

mod address;
mod blocks;
mod case;
mod compare;
mod difference;
mod document;
mod fused;
mod ours;
mod paper;
mod records;
mod tables;
mod verdict;
mod wave;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rayon::prelude::*;

use compare::compare;
use records::{Record, read_lines};
use tables::{FileResult, Outcome, print_equality};
use verdict::{Compared, Verdict};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = |flag: &str| arguments.iter().any(|a| a == flag);
    let Some(folder) = arguments.iter().find(|a| !a.starts_with("--")) else {
        eprintln!("usage: validate_reference FOLDER [--list] [--own]");
        return ExitCode::from(2);
    };
    match files_of(Path::new(folder)).and_then(|files| run(&files, asked("--list"), asked("--own"))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("{why}: nothing was compared");
            ExitCode::from(2)
        }
    }
}

/// Compares and prints; whether all that is comparable is equal.
fn run(files: &Files, list: bool, own: bool) -> Result<bool, String> {
    let mut results = Vec::new();
    let mut known = Vec::new();
    for file in &files.records {
        let records = read_lines(file)?;
        results.push(validate(file, &records));
        known.push((name_of(file), records.into_iter().flatten().collect::<Vec<_>>()));
    }
    let all: Vec<&Record> = known.iter().flat_map(|k| &k.1).collect();
    for file in &files.rows {
        results.push(paper::validate(file, &all)?);
    }
    print_equality(&results, list);
    if own {
        println!();
        difference::print_differences(&known);
    }
    Ok(!results.iter().any(FileResult::differs))
}

fn name_of(file: &Path) -> String {
    file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The files of records, by name, and those of rows without inputs.
struct Files {
    records: Vec<PathBuf>,
    rows: Vec<PathBuf>,
}

fn files_of(folder: &Path) -> Result<Files, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut all: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    all.sort();
    let ending = |end: &str| -> Vec<PathBuf> {
        let has = |p: &&PathBuf| p.file_name().is_some_and(|n| n.to_string_lossy().ends_with(end));
        all.iter().filter(has).cloned().collect()
    };
    let files = Files { records: ending(".jsonl.gz"), rows: ending(".json.gz") };
    if files.records.is_empty() {
        Err(format!("{} holds no *.jsonl.gz", folder.display()))
    } else {
        Ok(files)
    }
}

fn validate(file: &Path, records: &[Result<Record, String>]) -> FileResult {
    let outcomes = records
        .par_iter()
        .map(|record| match record {
            Ok(record) => Outcome {
                what: title(record),
                fields: compare(record).unwrap_or_else(|why| vec![whole(&why)]),
            },
            Err(why) => Outcome { what: "?".to_owned(), fields: vec![whole(why)] },
        })
        .collect();
    FileResult { name: name_of(file), outcomes }
}

fn title(record: &Record) -> String {
    let block: Vec<i64> = record.input.block.iter().map(|n| n.0).collect();
    format!("{} {block:?} {}", record.input.kernel, record.input.device)
}

/// A record that cannot be compared at all.
fn whole(why: &str) -> Compared {
    Compared { field: "the whole record".to_owned(), verdict: Verdict::Listed(why.to_owned()) }
}
