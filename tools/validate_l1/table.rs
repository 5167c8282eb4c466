//! The L1 rules beside measured wavefronts and cycles. Shared by `validate_l1` and `validate_measured`.

use std::error::Error;
use std::path::{Path, PathBuf};

use super::l1_patterns::{Elements, Pattern, Predicted};
use wavecast::device::{self, Device};

/// A measured row.
struct Row {
    label: String,
    pattern: Pattern,
    measured: Predicted,
    /// Half a unit of the last digit of the data wavefronts that was printed.
    digits: f64,
}

/// What came of one run.
pub struct Outcome {
    /// The name of its file.
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Rows whose data wavefronts are those measured, within the printed digits.
    pub exact: usize,
    /// Mean and largest relative error of the tag wavefronts, in percent.
    pub tag: (f64, f64),
    /// The same of the cycles.
    pub cycles: (f64, f64),
}

/// All runs of a folder on known devices.
pub fn outcomes(folder: &Path, print: bool) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<Result<_, Box<dyn Error>>>()?;
    files.retain(|f| f.extension().is_some_and(|e| e == "csv"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let name = file.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        match device::find(&name.replace('_', "-"), &[]) {
            Ok(device) => {
                found.push(compare(&name, &read(&std::fs::read_to_string(&file)?)?, &device, print));
            }
            Err(_) => println!("{name}: no such device"),
        }
    }
    Ok(found)
}

/// A Markdown table of them.
pub fn print(outcomes: &[Outcome]) {
    println!("| run | rows | data exact | tag: mean, worst | cycles: mean, worst |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for o in outcomes {
        println!(
            "| {} | {} | {} | {:.2} %, {:.1} % | {:.2} %, {:.1} % |",
            o.name, o.rows, o.exact, o.tag.0, o.tag.1, o.cycles.0, o.cycles.1
        );
    }
}

fn read(text: &str) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().ok_or("an empty file")?.split(',').collect();
    lines.map(|line| row(&header, line)).collect()
}

fn row(header: &[&str], line: &str) -> Result<Row, Box<dyn Error>> {
    let cells: Vec<&str> = line.split(',').collect();
    let cell = |name: &str| {
        let at = header.iter().position(|h| *h == name).ok_or(format!("no column {name}"))?;
        cells.get(at).copied().ok_or(format!("a short line: {line}"))
    };
    let number = |name: &str| -> Result<f64, Box<dyn Error>> { Ok(cell(name)?.trim().parse()?) };
    let width = match cell("dtype")? {
        "float" | "int" => 4,
        "double" | "float2" => 8,
        "float4" | "double2" => 16,
        other => return Err(format!("unknown dtype {other}").into()),
    };
    let value: i64 = cell("value")?.trim().parse()?;
    let elements = match cell("pattern")? {
        "stride" => Elements::Stride(value),
        "block" => Elements::Block { wide: value, pitch: cell("pitch_elements")?.trim().parse()? },
        other => return Err(format!("unknown pattern {other}").into()),
    };
    let data = cell("data_wavefronts_per_warp_load")?;
    let decimals = data.split_once('.').map_or(0, |d| d.1.len());
    Ok(Row {
        label: format!("{} {} {value}", cell("dtype")?, cell("pattern")?),
        pattern: Pattern { width, elements },
        measured: Predicted {
            data: number("data_wavefronts_per_warp_load")?,
            tag: number("tag_wavefronts_per_warp_load")?,
            cycles: number("cycles_per_warp_load")?,
        },
        digits: 0.5 * 0.1_f64.powi(i32::try_from(decimals)?),
    })
}

fn compare(name: &str, rows: &[Row], device: &Device, print: bool) -> Outcome {
    let (mut exact, mut tags, mut cycles) = (0, Vec::new(), Vec::new());
    for Row { label, pattern, measured, digits } in rows {
        let predicted = pattern.predict(device);
        exact += usize::from((predicted.data - measured.data).abs() <= digits + 1e-9);
        tags.push((predicted.tag / measured.tag - 1.0).abs());
        cycles.push((predicted.cycles / measured.cycles - 1.0).abs());
        if print {
            println!(
                "  {label:20} data {:6.2} {:6.2}   tag {:6.2} {:6.2}   cycles {:6.2} {:6.2}",
                predicted.data, measured.data, predicted.tag, measured.tag, predicted.cycles, measured.cycles
            );
        }
    }
    let percent = |errors: &[f64]| {
        let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        (100.0 * mean, 100.0 * errors.iter().copied().fold(0.0, f64::max))
    };
    let name = name.to_owned();
    Outcome { name, rows: rows.len(), exact, tag: percent(&tags), cycles: percent(&cycles) }
}
