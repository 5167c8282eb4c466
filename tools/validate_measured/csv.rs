//! Columns of numbers by their names.

use std::error::Error;
use std::path::Path;

/// The columns of a file, row by row.
pub fn columns<const N: usize>(path: &Path, names: [&str; N]) -> Result<Vec<[f64; N]>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        let found = header.iter().position(|h| *h == name);
        *place = found.ok_or_else(|| format!("{}: no column {name}", path.display()))?;
    }
    let mut rows = Vec::new();
    for (number, line) in lines.enumerate().filter(|l| !l.1.trim().is_empty()) {
        let cells: Vec<&str> = line.split(',').collect();
        let mut row = [0.0; N];
        for (value, place) in row.iter_mut().zip(places) {
            let cell = cells.get(place).and_then(|c| c.trim().parse().ok());
            *value = cell.ok_or_else(|| format!("{}:{}: no number", path.display(), number + 2))?;
        }
        rows.push(row);
    }
    Ok(rows)
}
