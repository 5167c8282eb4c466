//! How a trace is to be read, and what was met while reading it.

use super::kind::TraceFormat;
use crate::trace::limits::TraceLimits;

/// How a trace is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; by default found by content.
    pub format: Option<TraceFormat>,
    /// Counts and skips malformed lines.
    pub lenient: bool,
    /// How much is unpacked, and held where a format says only at its end what it begins with.
    pub limits: TraceLimits,
}

/// What was met on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// The format.
    pub format: Option<TraceFormat>,
    /// Lines read.
    pub lines: u64,
    /// Malformed lines that were skipped.
    pub skipped: u64,
    /// The first of them.
    pub first_skipped: Option<u64>,
    /// Accesses to other memories than global memory, which no cache of ours sees.
    pub elsewhere: u64,
}
