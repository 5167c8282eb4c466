//! Compares the L1 rules with measured wavefronts and cycles.
//!
//! `cargo run --release --example validate_l1 -- FOLDER [--rows]`: each `NAME.csv` in the folder is a
//! run on the device that `wavecast devices` knows as NAME. Columns: `dtype`, `pattern` (`stride` or
//! `block`), `value`, `pitch_elements`, `cycles_per_warp_load`, `data_wavefronts_per_warp_load`,
//! `tag_wavefronts_per_warp_load`. `--rows` prints every row.

#[path = "../../tests/l1_patterns/mod.rs"]
mod l1_patterns;
mod table;

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows = arguments.iter().any(|a| a == "--rows");
    let Some(folder) = arguments.iter().find(|a| !a.starts_with("--")) else {
        println!("usage: validate_l1 FOLDER [--rows]");
        return Ok(());
    };
    let folder = Path::new(folder);
    if !folder.is_dir() {
        println!("{} is not there: nothing to compare with", folder.display());
        return Ok(());
    }
    table::print(&table::outcomes(folder, rows)?);
    Ok(())
}
