//! Where misses come from: instructions, lines, sets.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use crate::trace::{CacheGeometry, TraceInstruction};

/// An instruction and its reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HotInstruction {
    /// What is known of it.
    #[serde(flatten)]
    pub instruction: TraceInstruction,
    /// Read requests of warps.
    pub requests: u64,
    /// Those that miss.
    pub misses: u64,
}

/// A cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HotLine {
    /// First byte.
    pub address: u64,
    /// Its set.
    pub set: u32,
    /// Misses.
    pub misses: u64,
}

/// Where reads miss.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HotSpots {
    /// Instructions, that with most misses first.
    pub instructions: Vec<HotInstruction>,
    /// Lines, that with most misses first.
    pub lines: Vec<HotLine>,
    /// Misses of each set.
    pub sets: Vec<u64>,
}

/// Counts misses as they happen.
#[derive(Debug)]
pub struct MissCounts<'g> {
    geometry: &'g CacheGeometry,
    /// Requests and misses.
    by_instruction: HashMap<u32, (u64, u64)>,
    by_line: HashMap<u64, u64>,
    by_set: Vec<u64>,
}

impl<'g> MissCounts<'g> {
    /// Nothing, of a cache.
    pub fn new(geometry: &'g CacheGeometry) -> Self {
        let by_set = vec![0; geometry.sets()];
        Self { geometry, by_instruction: HashMap::new(), by_line: HashMap::new(), by_set }
    }

    /// Counts a read of an instruction.
    pub fn read(&mut self, instruction: u32, line: u64, missed: bool) {
        let counts = self.by_instruction.entry(instruction).or_default();
        counts.0 += 1;
        if missed {
            counts.1 += 1;
            *self.by_line.entry(line).or_default() += 1;
            self.by_set[self.geometry.set(line) as usize] += 1;
        }
    }

    /// So many instructions and lines that miss most, and all sets.
    pub fn hottest(self, instructions: &[TraceInstruction], top: usize) -> HotSpots {
        let mut all: Vec<(u32, (u64, u64))> = self.by_instruction.into_iter().collect();
        all.sort_by_key(|(i, (_, misses))| (Reverse(*misses), *i));
        let instruction = |(i, (requests, misses)): (u32, (u64, u64))| {
            // Traces without instructions give every access the same number, which stands for none.
            let instruction = instructions.get(i as usize).cloned().unwrap_or_default();
            HotInstruction { instruction, requests, misses }
        };
        let mut lines: Vec<(u64, u64)> = self.by_line.into_iter().collect();
        lines.sort_by_key(|(line, misses)| (Reverse(*misses), *line));
        let line = |(line, misses): (u64, u64)| HotLine {
            address: line.wrapping_mul(self.geometry.line()),
            set: self.geometry.set(line),
            misses,
        };
        HotSpots {
            instructions: all.into_iter().take(top).map(instruction).collect(),
            lines: lines.into_iter().take(top).map(line).collect(),
            sets: self.by_set,
        }
    }
}
