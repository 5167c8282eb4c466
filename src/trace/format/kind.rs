//! The formats of traces and their names.

/// The formats of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TraceFormat {
    /// N's: `blocksize: X Y Z`, then `thread rw address bytes`.
    Trc,
    /// C 5.1: what the instrumented kernel writes.
    Crawford,
    /// C 5.3: in the order in which a cache sees it.
    Scheduled,
    /// Accel-Sim's warp instructions.
    Traceg,
    /// The text of `NVBit`'s `mem_trace`.
    Nvbit,
    /// A log with instructions and loops.
    Full,
    /// Our own table.
    Csv,
    /// Our own lines of JSON.
    Jsonl,
}

impl TraceFormat {
    /// All formats and their names.
    pub const ALL: [(&'static str, TraceFormat); 8] = [
        ("trc", TraceFormat::Trc),
        ("crawford", TraceFormat::Crawford),
        ("scheduled", TraceFormat::Scheduled),
        ("traceg", TraceFormat::Traceg),
        ("nvbit", TraceFormat::Nvbit),
        ("full", TraceFormat::Full),
        ("csv", TraceFormat::Csv),
        ("jsonl", TraceFormat::Jsonl),
    ];

    /// Its name.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|f| f.1 == self).map_or("", |f| f.0)
    }
}
