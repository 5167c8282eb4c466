//! Predictions beside measurements of real GPUs. What it prints is `docs/accuracy.md`:
//!
//! `cargo run --release --example validate_measured -- FOLDER > docs/accuracy.md`, where
//! FOLDER has `stencil_v100/star3d25.csv` and `laplap.csv`, `stream_occupancy/DEVICE.csv` and
//! `l1_wavefronts/DEVICE.csv`, and the tables that the files in `sets/` name; `head.md` says which columns.
//!
//! `--rows` adds every shape of the star; `--sets FOLDER` takes other set files, `--sample N` looks at no more than so many
//! configurations of each of their parts, and `--jobs N` takes so many threads.
//!
//! Exit status 1: a bar is missed; 2: there is nothing to read, or it cannot be read.

mod bars;
mod coefficients;
mod csv;
mod halves;
#[path = "../validate_l1/table.rs"]
mod l1;
#[path = "../../tests/l1_patterns/mod.rs"]
mod l1_patterns;
mod laplap;
mod measured;
mod paper;
mod random;
mod score;
mod sets;
mod simplex;
mod star;
mod stream;
mod targets;
mod whole;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bars::Bars;

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("{why}: validate_measured FOLDER [--rows] [--sets FOLDER] [--sample N] [--jobs N]");
            return ExitCode::from(2);
        }
    };
    let folder = &arguments.folder;
    if !folder.join("stencil_v100").is_dir() {
        eprintln!("{} has no folder stencil_v100: nothing to validate against", folder.display());
        return ExitCode::from(2);
    }
    if let Some(jobs) = arguments.jobs
        && let Err(why) = rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global()
    {
        eprintln!("error: {why}");
        return ExitCode::from(2);
    }
    match tables(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// What was asked for.
struct Arguments {
    folder: PathBuf,
    rows: bool,
    sets: PathBuf,
    sample: Option<usize>,
    jobs: Option<usize>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut folder, mut rows, mut sample, mut jobs) = (None, false, None, None);
        let mut sets = PathBuf::from("sets");
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            let number = |text: String| {
                let number = text.parse().ok().filter(|&n: &usize| n > 0);
                number.ok_or_else(|| format!("`{text}` is no number above 0"))
            };
            match word.as_str() {
                "--rows" => rows = true,
                "--sets" => sets = PathBuf::from(value()?),
                "--sample" => sample = Some(number(value()?)?),
                "--jobs" => jobs = Some(number(value()?)?),
                other if other.starts_with("--") => return Err(format!("{other} is not known")),
                _ => folder = Some(PathBuf::from(&word)),
            }
        }
        let folder = folder.ok_or("give the folder with the measurements")?;
        Ok(Self { folder, rows, sets, sample, jobs })
    }
}

/// Prints all tables; whether every bar is met.
fn tables(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let Arguments { folder, rows, sets, sample, .. } = arguments;
    let mut bars = Bars::default();
    let groups = measured::groups(&folder.join("stencil_v100"))?;
    let (star, laplap) = groups.split_first().ok_or("no star")?;
    print!("{}", include_str!("head.md"));
    star::print(star, *rows, &mut bars)?;
    laplap::print(laplap, &mut bars);
    halves::print(&groups, &mut bars);
    paper::print(star)?;
    stream::print(&folder.join("stream_occupancy"), &mut bars)?;
    l1_wavefronts(&folder.join("l1_wavefronts"), &mut bars)?;
    let met = bars.print();
    let library = sets::Shipped::new(sets);
    let predicted = sets::predicted(sets, folder, *sample, &library)?;
    let sets_met = whole::print(predicted, &library, *sample)?;
    Ok(met && sets_met)
}

fn l1_wavefronts(folder: &Path, bars: &mut Bars) -> Result<(), Box<dyn Error>> {
    println!("\n## L1 wavefronts\n");
    let outcomes = l1::outcomes(folder, false)?;
    l1::print(&outcomes);
    for o in &outcomes {
        bars.at_least(&format!("{}: rows with exact data wavefronts", o.name), o.exact as f64, o.rows as f64);
        bars.at_most(&format!("{}: tag wavefronts, mean error, %", o.name), o.tag.0, 5.0);
        bars.at_most(&format!("{}: cycles, mean error, %", o.name), o.cycles.0, 5.0);
    }
    Ok(())
}
