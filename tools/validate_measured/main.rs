//! Predictions beside measurements of real GPUs. What it prints is `docs/accuracy.md`:
//!
//! `cargo run --release --example validate_measured -- FOLDER > docs/accuracy.md`, where
//! FOLDER has `stencil_v100/star3d25.csv` and `laplap.csv`, `stream_occupancy/DEVICE.csv` and
//! `l1_wavefronts/DEVICE.csv`; `head.md` says which columns. `--rows` adds every shape of the star.
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
mod simplex;
mod star;
mod stream;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use bars::Bars;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.iter().find(|a| !a.starts_with("--")) else {
        eprintln!("give the folder with the measurements: validate_measured FOLDER [--rows]");
        return ExitCode::from(2);
    };
    let folder = Path::new(folder);
    if !folder.join("stencil_v100").is_dir() {
        eprintln!("{} has no folder stencil_v100: nothing to validate against", folder.display());
        return ExitCode::from(2);
    }
    match tables(folder, arguments.iter().any(|a| a == "--rows")) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// Prints all tables; whether every bar is met.
fn tables(folder: &Path, rows: bool) -> Result<bool, Box<dyn Error>> {
    let mut bars = Bars::default();
    let groups = measured::groups(&folder.join("stencil_v100"))?;
    let (star, laplap) = groups.split_first().ok_or("no star")?;
    print!("{}", include_str!("head.md"));
    star::print(star, rows, &mut bars)?;
    laplap::print(laplap, &mut bars);
    halves::print(&groups, &mut bars);
    paper::print(star)?;
    stream::print(&folder.join("stream_occupancy"), &mut bars)?;
    l1_wavefronts(&folder.join("l1_wavefronts"), &mut bars)?;
    Ok(bars.print())
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
