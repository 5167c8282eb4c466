//! Measured launches, each with its prediction.

use std::error::Error;
use std::path::Path;
use std::sync::LazyLock;

use rayon::prelude::*;

use super::csv::columns;
use super::score::Pair;
use wavecast::device::{Device, find};
use wavecast::kernel::{Kernel, Options, load};
use wavecast::launch::Candidate;
use wavecast::predict::{Estimator, Prediction};
use wavecast::quantity::Bytes;

/// The device of both files.
pub static V100: LazyLock<Device> = LazyLock::new(|| find("v100", &[]).expect("the V100 ships"));

/// Launches of one kernel with one size.
pub struct Group {
    /// What it is, for tables.
    pub name: String,
    /// The kernel.
    pub kernel: Kernel,
    /// Its launches.
    pub cases: Vec<Case>,
}

/// One launch.
#[derive(Clone)]
pub struct Case {
    /// Threads of a block.
    pub block: [i64; 3],
    /// What the model says.
    pub prediction: Prediction,
    /// Measured bytes per work item, where counters were read: [`VOLUMES`].
    pub volumes: [f64; 4],
    /// Measured seconds.
    pub seconds: f64,
}

/// The volumes that were measured, with their bars in percent.
pub const VOLUMES: [(&str, f64); 4] =
    [("L2 loads", 4.5), ("L2 stores", 2.6), ("DRAM loads", 3.0), ("DRAM stores", 1.5)];

impl Case {
    /// Predicted bytes per work item in the order of [`VOLUMES`].
    pub fn predicted(&self) -> [f64; 4] {
        let v = &self.prediction.volumes;
        [v.l2.load.total, v.l2.store.total, v.dram.load.total, v.dram.store.total].map(Bytes::get)
    }

    /// Times.
    pub fn pair(&self) -> Pair {
        Pair { predicted: self.prediction.time.seconds.get(), measured: self.seconds }
    }
}

impl Group {
    /// An estimator for it.
    pub fn estimator(&self) -> Estimator<'_> {
        Estimator::new(&self.kernel, &V100)
    }

    fn new(name: String, kernel: Kernel, rows: Vec<Row>) -> Result<Self, Box<dyn Error>> {
        let mut group = Self { name, kernel, cases: Vec::new() };
        let estimator = group.estimator();
        let cases: Result<Vec<Case>, String> = rows
            .into_par_iter()
            .map(|Row { block, volumes, seconds }| {
                let prediction = estimator.predict(Candidate::new(block, [1; 3]).unwrap());
                let prediction = prediction.map_err(|why| format!("{block:?}: {why}"))?;
                Ok(Case { block, prediction, volumes, seconds })
            })
            .collect();
        group.cases = cases?;
        Ok(group)
    }
}

struct Row {
    block: [i64; 3],
    volumes: [f64; 4],
    seconds: f64,
}

/// The star, then each size of laplap.
pub fn groups(folder: &Path) -> Result<Vec<Group>, Box<dyn Error>> {
    let mut groups = vec![star(&folder.join("star3d25.csv"))?];
    groups.extend(laplap(&folder.join("laplap.csv"))?);
    Ok(groups)
}

/// A kernel from its text.
pub fn kernel(name: &str, text: &str, set: Vec<String>) -> Result<Kernel, Box<dyn Error>> {
    let options = Options { set, ..Options::default() };
    Ok(load(name, text, &options)?.kernels.remove(0))
}

fn star(path: &Path) -> Result<Group, Box<dyn Error>> {
    let kernel = kernel("star3d25", include_str!("../../kernels/star3d25.yaml"), Vec::new())?;
    let items: f64 = kernel.extents().iter().map(|&n| n as f64).product();
    let names = [
        "block_x",
        "block_y",
        "block_z",
        "l2_load_B",
        "l2_store_B",
        "dram_load_B",
        "dram_store_B",
        "rate_GLUPs",
    ];
    let rows = columns(path, names)?.into_iter().map(|[x, y, z, l2_load, l2_store, load, store, rate]| Row {
        block: [x, y, z].map(whole),
        volumes: [l2_load, l2_store, load, store],
        seconds: items / (rate * 1e9),
    });
    Group::new("star3d25".to_owned(), kernel, rows.collect())
}

fn laplap(path: &Path) -> Result<Vec<Group>, Box<dyn Error>> {
    let names = ["array_x", "array_y", "array_z", "block_x", "block_y", "block_z", "time_us"];
    let rows = columns(path, names)?;
    let mut sizes: Vec<[i64; 3]> = Vec::new();
    let size_of = |row: &[f64; 7]| [row[0], row[1], row[2]].map(whole);
    for row in &rows {
        if !sizes.contains(&size_of(row)) {
            sizes.push(size_of(row));
        }
    }
    let one = |size: [i64; 3]| {
        let set = ["NX", "NY", "NZ"].iter().zip(size).map(|(n, v)| format!("{n}={v}")).collect();
        let kernel = kernel("laplap2d", include_str!("../../kernels/laplap2d.yaml"), set)?;
        let rows = rows.iter().filter(|row| size_of(row) == size).map(|row| Row {
            block: [row[3], row[4], row[5]].map(whole),
            volumes: [f64::NAN; 4],
            seconds: row[6] * 1e-6,
        });
        Group::new(format!("{}x{}x{}", size[0], size[1], size[2]), kernel, rows.collect())
    };
    sizes.into_iter().map(one).collect()
}

/// An extent, which a column holds as a number like any other.
#[allow(clippy::cast_possible_truncation)] // Extents are small.
pub fn whole(number: f64) -> i64 {
    number as i64
}
