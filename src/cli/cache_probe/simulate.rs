//! `wavecast cache-probe --simulate`: logs of a simulated cache.

use std::fmt::Write;
use std::process::ExitCode;

use super::super::Outcome;
use super::super::failure::Failure;
use super::super::input::read_text;
use super::Arguments;
use crate::kernel::Limits;
use crate::probe::simulate::{
    Chase, LineRange, ProbeSpec, chase, explore, mshr_points, read_spec, set_hash_runs,
};
use crate::probe::{ChaseOrder, Run, write_runs};

/// Warps and loads of N figure 9, and how often each is timed.
const FIGURE_9: (u32, u32, u32) = (24, 16, 9);
/// Line bits that are tried for a set hash.
const HASH_BITS: u32 = 20;

pub(super) fn run(arguments: &Arguments, path: &str) -> Outcome {
    let (name, text) = read_text(path, Limits::default(), arguments.output.is_json())?;
    let spec =
        read_spec(&name, &text).map_err(|fault| Failure::faults(vec![fault], arguments.output.is_json()))?;
    let text = if arguments.mshr { times(&spec) } else { logs(&runs(arguments, &spec)?)? };
    arguments.output.write(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Times over warps and loads.
fn times(spec: &ProbeSpec) -> String {
    let (warps, loads, often) = FIGURE_9;
    let mut out = "warps,loads,cycles\n".to_owned();
    for p in mshr_points(spec, warps, loads, often) {
        let _ = writeln!(out, "{},{},{:.1}", p.warps, p.loads, p.cycles);
    }
    out
}

fn runs(arguments: &Arguments, spec: &ProbeSpec) -> Result<Vec<Run>, Failure> {
    if arguments.set_hash {
        return Ok(set_hash_runs(spec, HASH_BITS));
    }
    if arguments.chase.is_empty() {
        // Pages are looked for with steps of pages.
        let pages = spec.levels.first().is_some_and(|l| l.line >= LineRange::TLB.least);
        return Ok(explore(spec, if pages { LineRange::TLB } else { LineRange::CACHE }));
    }
    arguments.chase.iter().map(|text| Ok(chase(spec, &wanted(text)?))).collect()
}

/// A chase as it is written.
fn wanted(text: &str) -> Result<Chase, Failure> {
    let wrong = || {
        let message = format!("`--chase {text}` is no chase");
        let help = "write N,STRIDE in elements, and any of cold, shuffled, scattered, rounds=R; N times R up to 2^28";
        Failure::message("usage", message, Some(help))
    };
    let mut parts = text.split(',').map(str::trim);
    let n =
        parts.next().and_then(|n| n.parse().ok()).filter(|n| (1..=1 << 32).contains(n)).ok_or_else(wrong)?;
    let stride: i64 = parts.next().and_then(|s| s.parse().ok()).filter(|&s| s != 0).ok_or_else(wrong)?;
    let mut chase = Chase::warm(n, stride, 10);
    for part in parts {
        match part {
            "cold" => (chase.cold, chase.rounds) = (true, 1),
            "shuffled" => chase.order = ChaseOrder::Shuffled,
            "scattered" => chase.order = ChaseOrder::Scattered,
            _ => {
                let rounds = part.strip_prefix("rounds=").and_then(|r| r.parse().ok());
                chase.rounds = rounds.filter(|r| (1..=1 << 28).contains(r)).ok_or_else(wrong)?;
            }
        }
    }
    let loads = (n / stride.unsigned_abs()).saturating_add(1).saturating_mul(chase.rounds);
    if loads > 1 << 28 { Err(wrong()) } else { Ok(chase) }
}

fn logs(runs: &[Run]) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let written = write_runs(runs, &mut bytes).map_err(|e| e.to_string());
    written
        .and_then(|()| String::from_utf8(bytes).map_err(|e| e.to_string()))
        .map_err(|why| Failure::message("cannot-write", why, None))
}
