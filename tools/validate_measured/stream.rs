//! Streaming kernels over occupancy: two blocks on each SM, larger and larger ones.

use std::error::Error;
use std::path::Path;

use rayon::prelude::*;

use super::bars::Bars;
use super::csv::columns;
use super::measured::{kernel, whole};
use super::score::mean;
use wavecast::device::find;
use wavecast::kernel::Kernel;
use wavecast::launch::Candidate;
use wavecast::predict::Estimator;

/// Names of files and of devices.
const DEVICES: [(&str, &str); 4] =
    [("v100", "v100"), ("a100_40", "a100-40gb"), ("a100_80", "a100-80gb"), ("h100_pcie", "h100-pcie")];
/// Elements of an array. The runs do not say; from 2^24 on it matters little.
const ELEMENTS: i64 = 1 << 27;
/// From this occupancy on, in percent, the bars hold.
const FROM: f64 = 12.0;

/// A kernel of the runs: loads, stores, and whether bars hold for it.
const KERNELS: [(&str, &[&str], &[&str], bool); 4] = [
    ("init", &[], &["a[i]"], false),
    ("read", &["a[i]"], &[], true),
    ("scale", &["b[i]"], &["a[i]"], true),
    ("triad", &["b[i]", "c[i]"], &["a[i]"], true),
];

/// Errors of one kernel on one device.
struct Errors {
    mean: f64,
    worst: f64,
    at: f64,
}

/// Prints the table.
pub fn print(folder: &Path, bars: &mut Bars) -> Result<(), Box<dyn Error>> {
    println!("\n## Streaming kernels over occupancy\n");
    println!("Mean error and worst (at an occupancy), from {FROM} % occupancy on.\n");
    println!("| device | read | scale | triad | these three | init (no bar) |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let kernels: Result<Vec<Kernel>, _> =
        KERNELS.iter().map(|(name, loads, stores, _)| streaming(name, loads, stores)).collect();
    let kernels = kernels?;
    for (file, device) in DEVICES {
        let names =
            ["block_threads", "occupancy_percent", "init_GBps", "read_GBps", "scale_GBps", "triad_GBps"];
        let rows = columns(&folder.join(format!("{file}.csv")), names)?;
        let errors: Result<Vec<Errors>, String> =
            (0..KERNELS.len()).into_par_iter().map(|i| of_kernel(device, i, &kernels[i], &rows)).collect();
        let errors = errors?;
        let barred = || errors.iter().zip(KERNELS).filter(|(_, k)| k.3).map(|(e, _)| e);
        let all = mean(barred().map(|e| e.mean));
        let worst = barred().map(|e| e.worst.abs()).fold(0.0, f64::max);
        let cell = |e: &Errors| format!("{:.1}, {:+.1} % ({:.0})", e.mean, e.worst, e.at);
        println!(
            "| {device} | {} | {} | {} | {all:.1}, {worst:.1} % | {} |",
            cell(&errors[1]),
            cell(&errors[2]),
            cell(&errors[3]),
            cell(&errors[0])
        );
        bars.at_most(&format!("stream: {device}, mean error, %"), all, 5.0);
        bars.at_most(&format!("stream: {device}, worst error, %"), worst, 15.0);
    }
    Ok(())
}

/// One element per thread.
fn streaming(name: &str, loads: &[&str], stores: &[&str]) -> Result<Kernel, Box<dyn Error>> {
    let names = ["a", "b", "c"].into_iter().filter(|n| loads.iter().chain(stores).any(|a| a.starts_with(n)));
    let fields =
        names.map(|n| format!("  {n}: {{dtype: f64, size: {ELEMENTS}}}\n")).collect::<Vec<_>>().concat();
    let text = format!(
        "wavecast: 1\nkernel: {name}\nfields:\n{fields}domain: {{i: {ELEMENTS}}}\nloads: {loads:?}\nstores: {stores:?}\n\
         launch: {{block: {{x: [1024]}}, registers: 16}}\n"
    );
    kernel(name, &text, Vec::new())
}

fn of_kernel(device: &str, number: usize, kernel: &Kernel, rows: &[[f64; 6]]) -> Result<Errors, String> {
    // The runs keep a third block out with shared memory; here the device takes only two.
    let device = find(device, &["sm.max_blocks=2".to_owned()]).map_err(|e| e.to_string())?;
    let estimator = Estimator::new(kernel, &device);
    let bytes = 8.0 * (KERNELS[number].1.len() + KERNELS[number].2.len()) as f64;
    let mut errors = Vec::new();
    for row in rows.iter().filter(|r| r[1] >= FROM) {
        let candidate = Candidate::new([whole(row[0]), 1, 1], [1; 3]).unwrap();
        let p = estimator.predict(candidate).map_err(|e| e.to_string())?;
        errors.push((100.0 * (bytes * p.rate().get() / 1e9 / row[2 + number] - 1.0), row[1]));
    }
    let worst = errors.iter().copied().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).ok_or("no rows")?;
    Ok(Errors { mean: mean(errors.iter().map(|e| e.0.abs())), worst: worst.0, at: worst.1 })
}
