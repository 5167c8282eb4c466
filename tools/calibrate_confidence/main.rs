//! Widths of the intervals around predicted times, from sets of measurements: what `fits/confidence.yaml` holds.
//!
//! `cargo run --release --example calibrate_confidence -- DATA sets/*.yaml -o fits/confidence.yaml`, where DATA is the
//! folder from which the set files name their tables. It prints how many times of each set lie in intervals that were
//! fitted without it. `--sample N` looks at no more than so many configurations of each group and part of a set (300 by
//! default); `--rows FILE.csv` writes every measured time with its reasons; `--left-out` predicts each set with coefficients that were fitted to all others, which takes long.
//!
//! Exit status 2: there is nothing to read, or it cannot be read.

mod library;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicUsize;

use library::Files;
use wavecast::curve::Widths;
use wavecast::measure::fit::{FitRequest, PredictedGroups, SetFitRequest, left_out};
use wavecast::measure::sets::{MeasuredSet, PredictedSet, SampleOptions, SetFile, groups, summaries};
use wavecast::measure::{calibrated, coverage};
use wavecast::report::yaml_text;
use wavecast::trace::format::unpack;

const USAGE: &str =
    "calibrate_confidence DATA SET.yaml... [-o FILE] [--rows FILE.csv] [--sample N] [--left-out]";

/// What was asked for.
#[derive(Default)]
struct Arguments {
    data: PathBuf,
    sets: Vec<PathBuf>,
    output: Option<PathBuf>,
    rows: Option<PathBuf>,
    sample: Option<usize>,
    left_out: bool,
}

fn main() -> ExitCode {
    match arguments().and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut found = Arguments::default();
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or(format!("{argument} takes a value; {USAGE}"));
        match argument.as_str() {
            "-o" => found.output = Some(value()?.into()),
            "--rows" => found.rows = Some(value()?.into()),
            "--sample" => found.sample = Some(value()?.parse()?),
            "--left-out" => found.left_out = true,
            other if other.starts_with('-') => return Err(format!("unknown {other}; {USAGE}").into()),
            path => paths.push(path.into()),
        }
    }
    if paths.len() < 2 {
        return Err(USAGE.into());
    }
    found.data = paths.remove(0);
    found.sets = paths;
    Ok(found)
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let sample = arguments.sample.unwrap_or(300);
    let mut all = Vec::new();
    let files = Files::default();
    for path in &arguments.sets {
        let set = read(path, &arguments.data, sample)?;
        eprintln!("{}: {} launches", set.facts.id, set.launches.len());
        files.beside(path);
        let found = groups(&set, &files, &AtomicUsize::new(0));
        let (groups, rejected) = found.map_err(|faults| faults[0].to_string())?;
        all.push(PredictedGroups { set, groups, rejected });
    }
    let predicted: Vec<PredictedSet> = if arguments.left_out {
        let fit = FitRequest { resamples: (0, 1), ..FitRequest::default() };
        let request = SetFitRequest { fit: &fit, leave_one_out: true, least: 3, most: Some(200) };
        left_out(all, &files, None, request).map_err(|why| why.to_string())?
    } else {
        let one = |of: &PredictedGroups| {
            let mut predicted = summaries(&of.set, &of.groups, &of.rejected);
            predicted.fit_clock();
            predicted
        };
        all.iter().map(one).collect()
    };
    let coefficients = if arguments.left_out { "fitted without the set" } else { "as they ship" };
    let about = format!(
        "measured over predicted times of {} sets, up to {sample} configurations of each group, coefficients {coefficients}",
        predicted.len()
    );
    let before: Vec<Option<f64>> =
        predicted.iter().map(|set| Some(coverage(&set.cases)?.inside.get())).collect();
    if let Some(path) = &arguments.rows {
        std::fs::write(path, rows(&predicted))?;
    }
    let widths = calibrated(&predicted, &about);
    print(&widths, &before);
    if let Some(path) = &arguments.output {
        let head = "# Written by `tools/calibrate_confidence`. Widths are logarithms of measured over predicted times;\n\
                    # docs/ranking.md says how they make an interval.\n";
        std::fs::write(path, head.to_owned() + &yaml_text(&serde_json::to_value(&widths)?))?;
    }
    Ok(())
}

fn read(path: &Path, data: &Path, sample: usize) -> Result<MeasuredSet, Box<dyn Error>> {
    let name = path.display().to_string();
    let file = SetFile::read(&name, &std::fs::read_to_string(path)?).map_err(|fault| fault.to_string())?;
    let table = file.table(path, Some(data));
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(&table).and_then(unpack);
    let mut from = opened.map_err(|why| format!("{}: {why}", table.display()))?;
    std::io::Read::read_to_end(&mut from, &mut bytes)?;
    let options = SampleOptions { rows: Some(sample), seed: None };
    Ok(file.launches(&table.display().to_string(), &bytes, options).map_err(|fault| fault.to_string())?)
}

/// Every measured time with its reasons, to look at.
fn rows(sets: &[PredictedSet]) -> String {
    let mut out = "set,kernel,architecture,log_ratio,inside,codes\n".to_owned();
    for set in sets {
        for case in &set.cases {
            let Some(pair) = case.seconds else { continue };
            let ratio = pair.measured() / pair.predicted();
            let inside =
                case.confidence.ends().is_some_and(|[low, high]| low.get() <= ratio && ratio <= high.get());
            let codes: Vec<&str> = case.confidence.reasons().iter().map(|r| r.kind().word()).collect();
            let _ = writeln!(
                out,
                "{},{},{},{:.4},{},{}",
                set.set.facts.id,
                case.kernel,
                case.architecture.word(),
                ratio.ln(),
                u8::from(inside),
                codes.join(" ")
            );
        }
    }
    out
}

/// The table for a person.
fn print(widths: &Widths, before: &[Option<f64>]) {
    println!(
        "| set | rows | left out | its kernels left out | fitted to all | as it was | upper / lower end |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let (mut by_set, mut by_row, mut by_family, mut rows) = (0.0, 0.0, 0.0, 0.0);
    for (set, before) in widths.coverage.iter().zip(before) {
        let [left_out, family, fitted] =
            [set.left_out(), set.family_left_out(), set.fitted()].map(|share| 100.0 * share.get());
        let ends = set.ends();
        let before = before.map(|share| format!("{:.1} %", 100.0 * share)).unwrap_or_default();
        println!(
            "| {} | {} | {left_out:.1} % | {family:.1} % | {fitted:.1} % | {before} | {ends:.2} |",
            set.set, set.rows
        );
        by_set += left_out;
        by_family += family;
        by_row += left_out * f64::from(set.rows);
        rows += f64::from(set.rows);
    }
    let sets = widths.coverage.len().max(1) as f64;
    println!(
        "\nOf left-out sets {:.1} % on average, of all their rows {:.1} %;",
        by_set / sets,
        by_row / rows
    );
    println!("where all sets of the same kernels are left out {:.1} % on average.\n", by_family / sets);
    println!("| reason | shorter | longer | rows | sets |");
    println!("| --- | --- | --- | --- | --- |");
    for (code, reason) in &widths.reasons {
        let [shorter, longer] = reason.factors();
        println!("| {code} | {shorter:.2} | {longer:.2} | {} | {} |", reason.rows, reason.sets);
    }
}
