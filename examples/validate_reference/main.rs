//! Holds our engines against results of the published estimator.
//!
//! `cargo run --release --example validate_reference -- FOLDER [--list]` reads the records of FOLDER
//! (`*.jsonl.gz`: one configuration a line with its whole input, launch and volumes), counts the same
//! threads under the definitions of that program with the engines of `wavecast::footprint`, and prints
//! how many volumes are equal. Exit status 1 says that a comparable volume differs, 2 that there is
//! nothing to read.

mod address;
mod blocks;
mod compare;
mod fused;
mod records;
mod tables;
mod wave;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rayon::prelude::*;

use compare::{Compared, Verdict, compare};
use records::read_lines;
use tables::{FileResult, Outcome, print_equality};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.iter().find(|a| !a.starts_with("--")) else {
        eprintln!("usage: validate_reference FOLDER [--list]");
        return ExitCode::from(2);
    };
    let files = match files_of(Path::new(folder)) {
        Ok(files) => files,
        Err(why) => {
            eprintln!("{why}: nothing was compared");
            return ExitCode::from(2);
        }
    };
    let mut results = Vec::new();
    for file in &files {
        match validate(file) {
            Ok(result) => results.push(result),
            Err(why) => {
                eprintln!("{why}: nothing was compared");
                return ExitCode::from(2);
            }
        }
    }
    print_equality(&results, arguments.iter().any(|a| a == "--list"));
    if results.iter().any(FileResult::differs) { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

/// The files of records, by name.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().ends_with(".jsonl.gz")))
        .collect();
    files.sort();
    if files.is_empty() { Err(format!("{} holds no *.jsonl.gz", folder.display())) } else { Ok(files) }
}

fn validate(file: &Path) -> Result<FileResult, String> {
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let records = read_lines(file)?;
    let outcomes = records
        .par_iter()
        .map(|record| match record {
            Ok(record) => Outcome {
                what: format!(
                    "{} {:?} {}",
                    record.input.kernel,
                    record.input.block.iter().map(|n| n.0).collect::<Vec<_>>(),
                    record.input.device
                ),
                fields: compare(record).unwrap_or_else(|why| vec![whole(&why)]),
            },
            Err(why) => Outcome { what: "?".to_owned(), fields: vec![whole(why)] },
        })
        .collect();
    Ok(FileResult { name, outcomes })
}

/// A record that cannot be compared at all.
fn whole(why: &str) -> Compared {
    Compared { field: "the whole record".to_owned(), verdict: Verdict::Listed(why.to_owned()) }
}
