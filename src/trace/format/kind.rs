//! The formats of traces and their names.

use crate::named::named;

named! {
    /// The formats of traces.
    #[cfg_attr(test, schemars(inline))]
    pub enum TraceFormat {
        /// N's: `blocksize: X Y Z`, then `thread rw address bytes`.
        Trc = "trc",
        /// C 5.1: what the instrumented kernel writes.
        Crawford = "crawford",
        /// C 5.3: in the order in which a cache sees it.
        Scheduled = "scheduled",
        /// Accel-Sim's warp instructions.
        Traceg = "traceg",
        /// The text of `NVBit`'s `mem_trace`.
        Nvbit = "nvbit",
        /// A log with instructions and loops.
        Full = "full",
        /// Our own table.
        Csv = "csv",
        /// Our own lines of JSON.
        Jsonl = "jsonl",
    }
}
