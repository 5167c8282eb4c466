//! The reference program's records: whole input, launch and results of one configuration each.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// One configuration.
#[derive(Debug, Clone, Deserialize)]
pub struct Record {
    /// What was asked.
    pub input: Input,
    /// The device as the reference program describes it.
    pub device_params: Device,
    /// Its launch.
    pub lc: Launched,
    /// The volumes it counted.
    pub basic: Value,
}

/// The kernel and its block.
#[derive(Debug, Clone, Deserialize)]
pub struct Input {
    pub kernel: String,
    pub load_fields: Vec<FieldDef>,
    pub store_fields: Vec<FieldDef>,
    pub domain: Vec<Whole>,
    pub blocking_factors: Vec<Whole>,
    pub block: Vec<Whole>,
    #[serde(default)]
    pub device: String,
}

/// An array and the addresses that a thread touches in it.
#[derive(Debug, Clone, Deserialize)]
pub struct FieldDef {
    pub name: String,
    pub addresses: Vec<Address>,
    pub datatype: Whole,
    pub dimensions: Vec<Whole>,
    #[serde(default)]
    pub alignment: Whole,
    #[serde(default = "Whole::one")]
    pub multiplicity: Whole,
}

/// One index, or one for each dimension.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Address {
    Flat(String),
    Indices(Vec<String>),
}

/// What of a device decides about volumes; names as in the records.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    #[serde(rename = "CLAllocationSize")]
    pub allocation: Whole,
    #[serde(rename = "CLFetchSize")]
    pub fetch: Whole,
    #[serde(rename = "CLWriteSize")]
    pub write: Whole,
    #[serde(rename = "DRAMFetchSize")]
    pub dram_fetch: Whole,
    #[serde(rename = "L1Model")]
    pub l1_model: String,
    pub warp_size: Whole,
    pub sm_count: Whole,
}

/// Grid and residency.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Launched {
    pub grid: Vec<Whole>,
    #[serde(rename = "blocksPerSM")]
    pub blocks_per_sm: Whole,
    pub wave_size: Vec<Whole>,
    pub truncated_wave_size: Vec<Whole>,
}

/// An integer, also where it was written as `8.0`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Whole(pub i64);

impl Whole {
    fn one() -> Self {
        Whole(1)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(from)?;
        let written = number.to_string();
        let text = written.strip_suffix(".0").unwrap_or(&written);
        text.parse().map(Whole).map_err(|_| serde::de::Error::custom(format!("{written} is not an integer")))
    }
}

/// Three values of a list of up to three; what is missing is 1.
pub fn three(list: &[Whole], what: &str) -> Result<[i64; 3], String> {
    if list.len() > 3 {
        return Err(format!("{what} has {} dimensions", list.len()));
    }
    let mut out = [1; 3];
    for (to, from) in out.iter_mut().zip(list) {
        *to = from.0;
    }
    if out.iter().any(|&n| n < 1) {
        return Err(format!("{what} {out:?} is not positive"));
    }
    Ok(out)
}

/// The records of a `*.jsonl.gz` file, each or the reason why it cannot be read.
pub fn read_lines(path: &Path) -> Result<Vec<Result<Record, String>>, String> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut records = Vec::new();
    for line in BufReader::new(MultiGzDecoder::new(file)).lines() {
        let line = line.map_err(|e| format!("{}: {e}", path.display()))?;
        if !line.trim().is_empty() {
            records.push(serde_json::from_str(&line).map_err(|e| {
                // Without the column, so that equal reasons are counted together.
                let why = e.to_string();
                format!("not understood: {}", why.split_once(" at line ").map_or(&*why, |w| w.0))
            }));
        }
    }
    Ok(records)
}

/// The rows of a `*.json.gz` file.
pub fn read_rows(path: &Path) -> Result<Vec<Value>, String> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut text = String::new();
    MultiGzDecoder::new(file).read_to_string(&mut text).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}
