//! The set of a line from what it puts out (N 5.1).

use std::collections::HashMap;

use serde::Serialize;

use super::clusters::Clusters;
use super::gf2::{Basis, address_bits};
use super::log::{ChaseOrder, Run};
use super::marks::Marks;
use super::noise::noise_of;
use super::serial::hexadecimal;

/// What lines beside an array put out of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evictions {
    /// A line beside the array, and a line of the array that missed after it.
    pub pairs: Vec<(u64, u64)>,
    /// Differences of lines that share a set: vectors under which no set changes, if the mapping is linear.
    pub kernel: Vec<u64>,
    /// Lines that put nothing out: their sets were not full.
    pub silent: Vec<u64>,
}

/// From all runs of the third stage of N 5.1, with lines of so many bytes.
pub fn evictions(runs: &[Run], clusters: &Clusters, noise: f64, bytes: u64) -> Evictions {
    let mut found = Evictions::default();
    let mut kernel = Basis::default();
    for run in runs {
        let ChaseOrder::Evict { extra } = run.order else { continue };
        let extra = u64::from(extra) * u64::from(run.element) / bytes.max(1);
        let marks = Marks::new(run, clusters, bytes / u64::from(run.element).max(1));
        let lost = lost(&marks, noise);
        let Some(&(most, line)) = lost.iter().max() else {
            found.silent.push(extra);
            continue;
        };
        found.pairs.push((extra, line));
        // Of what misses much less often, noise may have made some.
        for (_, line) in lost.iter().filter(|l| l.0 * 4 >= most) {
            kernel.add(extra ^ line);
        }
    }
    found.kernel = kernel.rows().to_vec();
    found
}

/// Lines that miss more than by chance, after how often they do.
fn lost(marks: &Marks, noise: f64) -> Vec<(u32, u64)> {
    let all = (0_u64..).zip(&marks.places);
    let missed = all.filter(|(_, p)| {
        let few = p.0 < 8 && p.1 * 2 > p.0;
        // Many lines are looked at, and one that noise makes would be taken for the set of the one beside.
        let expected = f64::from(p.0) * noise;
        few || f64::from(p.1) > expected + 8.0 * expected.sqrt() + 4.0
    });
    missed.map(|(line, p)| (p.1, line)).collect()
}

/// A set hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "SetHashDocument"))]
pub struct SetHash {
    /// Bits of a byte address whose parity is a bit of the set, for each of them.
    pub address_bits: Vec<Vec<u32>>,
    /// The same as masks of line bits, those of low bits first; written in hexadecimal.
    #[serde(serialize_with = "hexadecimal")]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub masks: Vec<u64>,
    /// Bytes of a line.
    pub line_bytes: u64,
    /// Highest address bit that was tried.
    pub highest_bit: u32,
    /// Sets: classes of lines that put each other out.
    pub sets: usize,
    /// Whether all lines lie as the masks say; if not, the hash is not linear.
    pub linear: bool,
    /// Lines beside the array that were tried.
    pub tried: usize,
    /// Those that put nothing out.
    pub silent: usize,
}

/// Solves for the set bits over GF(2): the masks are orthogonal to all differences of lines in a set.
pub fn set_hash(runs: &[Run], clusters: &Clusters, bytes: u64) -> Option<SetHash> {
    let found = evictions(runs, clusters, noise_of(runs, clusters), bytes);
    if found.pairs.is_empty() {
        return None;
    }
    let array = runs.iter().filter(|r| matches!(r.order, ChaseOrder::Evict { .. }));
    let lines = array.map(|r| r.bytes() / bytes.max(1)).max().unwrap_or(0);
    let most = found.pairs.iter().map(|p| p.0 | p.1).fold(lines.saturating_sub(1), |a, b| a | b);
    let bits = 64 - most.leading_zeros();
    let masks = Basis::spanned(found.kernel.iter().copied()).orthogonal(bits).rows().to_vec();
    let set = |line: u64| {
        masks.iter().enumerate().map(|(i, m)| u64::from((line & m).count_ones() & 1) << i).sum::<u64>()
    };
    // Every set must occur among the lines of the array, and each pair lie in one.
    let mut counts: HashMap<u64, u64> = HashMap::new();
    (0..lines).for_each(|l| *counts.entry(set(l)).or_default() += 1);
    let linear = counts.len() == 1 << masks.len().min(63) && found.pairs.iter().all(|p| set(p.0) == set(p.1));
    Some(SetHash {
        address_bits: address_bits(&masks, bytes),
        masks,
        line_bytes: bytes,
        highest_bit: bits.saturating_sub(1) + bytes.max(1).trailing_zeros(),
        sets: counts.len(),
        linear,
        tried: found.pairs.len() + found.silent.len(),
        silent: found.silent.len(),
    })
}
