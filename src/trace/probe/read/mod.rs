//! Logs as they come: our own, the supplement's two columns, tables.

mod glued;
mod header;
mod lines;
mod name;
mod number;
mod rows;

use std::io::Read;

use super::log::Run;
use crate::trace::format::ReadError;
use lines::{Ending, Lines};
use rows::Reader;

/// Bytes of a log, unpacked, and loads of all: more is refused.
const MOST_BYTES: u64 = 1 << 30;
const UNPACKED: &str = "bytes when it is unpacked";
pub(super) const MOST_LOADS: usize = 1 << 27;

/// Latency of a chase through a buffer of some size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizePoint {
    /// Size of the buffer in KiB.
    pub kib: f64,
    /// Cycles of a load.
    pub cycles: f64,
}

/// Time of independent loads (N 5.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MshrPoint {
    /// Warps that load, one thread each.
    pub warps: u32,
    /// Loads of each.
    pub loads: u32,
    /// Cycles until all are done.
    pub cycles: f64,
}

/// A row of a table of throughput or latency: its name or parameters, and the number.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured, a column's name.
    pub what: String,
    /// Parameters and their values, in the order of the table.
    pub at: Vec<(String, String)>,
    /// The number.
    pub value: f64,
}

/// All that logs hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Logs {
    /// Chases, load by load.
    pub runs: Vec<Run>,
    /// Latency over size.
    pub sizes: Vec<SizePoint>,
    /// Time over loads and warps.
    pub mshrs: Vec<MshrPoint>,
    /// Throughputs and latencies.
    pub figures: Vec<Figure>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

impl Logs {
    fn sizes(&self) -> [usize; 4] {
        [self.runs.len(), self.sizes.len(), self.mshrs.len(), self.figures.len()]
    }
}

/// What a file that does not say them is to have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given {
    /// Elements of the array.
    pub n: Option<u64>,
    /// Elements from one load to the next.
    pub stride: Option<i64>,
    /// Bytes of an element.
    pub element: Option<u32>,
    /// Whether the first loads were timed with an empty cache.
    pub cold: bool,
}

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// A line that is not what it should be.
    #[error("line {line}: expected {expected}, found `{found}`")]
    Malformed {
        /// Its number, from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
        /// What stands there, cut.
        found: String,
    },
    /// Neither the log nor its name says how large the array is.
    #[error("the log does not say {what}")]
    Unsaid {
        /// What is not said.
        what: &'static str,
    },
    /// There is nothing in it.
    #[error("the log holds no measurements")]
    Empty,
    /// It is larger than what is read.
    #[error("the log is too large: it has more than {most} {what}")]
    TooLarge {
        /// The limit.
        most: u64,
        /// Of what.
        what: &'static str,
    },
    /// A chase that loads next to nothing of its array.
    #[error(
        "the chase up to line {line} has {loads} loads, too few for the {places} places of its array \
         (n={n}, s={stride})"
    )]
    Sparse {
        /// The number of its last line, from 1.
        line: usize,
        /// Its loads.
        loads: usize,
        /// Elements that it would go through.
        places: u64,
        /// Elements of the array.
        n: u64,
        /// Elements from one load to the next.
        stride: i64,
    },
    /// It could not be read at all.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
}

impl From<std::io::Error> for LogError {
    fn from(error: std::io::Error) -> Self {
        // What unpacks has a limit of its own.
        match ReadError::from(error) {
            ReadError::Unpacked { limit } => LogError::TooLarge { most: limit, what: UNPACKED },
            ReadError::Io(error) => LogError::Io(error),
            other => LogError::Io(std::io::Error::other(other)),
        }
    }
}

impl LogError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            LogError::Malformed { .. } => "probe-malformed",
            LogError::Unsaid { .. } => "probe-unsaid",
            LogError::Empty => "probe-empty",
            LogError::TooLarge { .. } => "probe-too-large",
            LogError::Sparse { .. } => "probe-sparse",
            LogError::Io(_) => "cannot-read",
        }
    }

    /// What to do.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            LogError::Unsaid { .. } => Some(
                "give --n ELEMENTS and --stride ELEMENTS, or name the file as in fermi-3073element-stride1.txt",
            ),
            LogError::Malformed { .. } => Some("docs/cache-probe.md shows the formats"),
            LogError::TooLarge { .. } => Some(
                "log fewer rounds of each chase, ten are enough, or analyse a part of the chases at a time",
            ),
            LogError::Sparse { .. } => {
                Some("check the indices and n; a chase goes through its whole array, at least once")
            }
            _ => None,
        }
    }
}

/// Reads a log, packed or not, and adds what it holds to `logs`; `name` is the file's. A last row that was cut is
/// left out with a warning.
pub fn read_logs(name: &str, input: impl Read, given: Given, logs: &mut Logs) -> Result<(), LogError> {
    let mut lines = Lines::new(crate::trace::format::unpack(input)?, MOST_BYTES);
    let before = logs.sizes();
    let mut reader = Reader::new(name, given, logs);
    while let Some((line, ending)) = lines.next()? {
        let read = reader.line(line);
        match (ending, read) {
            (Ending::Whole, read) => read?,
            (Ending::Cut, Ok(())) => reader.distrust_last(),
            (Ending::Cut, Err(LogError::Malformed { .. })) => reader.forget_line(),
            (Ending::Cut, Err(error)) => return Err(error),
        }
    }
    reader.finish()?;
    if before == logs.sizes() { Err(LogError::Empty) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "# run n=64 s=8 element=4 cold=0 order=stride\n0,30.0\n8,31.0\n16,30.5\n";

    fn read(text: &str) -> Result<Logs, LogError> {
        let mut logs = Logs::default();
        read_logs("log", text.as_bytes(), Given::default(), &mut logs).map(|()| logs)
    }

    #[test]
    fn a_log_that_was_cut_anywhere_in_its_last_row_loses_that_row() {
        let whole = read(RUN).unwrap();
        assert!(whole.warnings.is_empty());
        let last = RUN.trim_end().rfind('\n').unwrap() + 1;
        for end in last + 1..RUN.len() {
            let cut = read(&RUN[..end]).unwrap();
            assert_eq!(cut.runs[0].loads, whole.runs[0].loads[..2], "{:?}", &RUN[..end]);
            assert!(cut.warnings[0].contains("line 4"), "{:?}", cut.warnings);
        }
        // A second chase of which only the head was written is none.
        let two = format!("{RUN}# run n=72 s=");
        assert_eq!(read(&two).unwrap().runs, whole.runs);
        // In the middle it is an error still.
        assert!(matches!(read(&RUN.replace("8,31.0", "8,")), Err(LogError::Malformed { line: 3, .. })));
        // A table by hand may end without the end of a line.
        let table = read("bytes,cycles\n1024,30\n2048,30").unwrap();
        assert_eq!((table.sizes.len(), table.warnings.len()), (2, 0));
        let table = read("bytes,cycles\n1024,30\n2048,").unwrap();
        assert_eq!((table.sizes.len(), table.warnings.len()), (1, 1));
    }

    #[test]
    fn indices_beyond_the_array_are_refused() {
        let error = read("# run n=64 s=8 element=4 order=stride\n0,30\n2147483647,31\n").unwrap_err();
        assert!(matches!(error, LogError::Malformed { line: 3, .. }), "{error}");
        // Where the log does not say n, ten loads are no chase through that many elements.
        let rows = "0,30\n1,30\n2,30\n".repeat(3);
        for end in ["2147483647,31\n", "4294967295,31\n"] {
            let text = format!("index,latency\n{rows}{end}0,30\n1,30\n");
            let error = read(&text).unwrap_err();
            assert!(matches!(error, LogError::Sparse { loads: 12, .. }), "{error}");
        }
        let error = read("# run n=4294967296 s=1 order=stride\n0,30\n1,31\n").unwrap_err();
        assert!(matches!(error, LogError::Sparse { .. }), "{error}");
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let mut lines = Lines::new(std::io::repeat(b'#'), 1 << 20);
        assert!(matches!(lines.next(), Err(LogError::Malformed { .. })), "a line without an end");
        let mut text = "0,30\n".repeat(1000);
        text.push_str("0,3");
        let mut lines = Lines::new(text.as_bytes(), 600);
        let error = loop {
            match lines.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("all was read"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, LogError::TooLarge { most: 600, .. }), "{error}");
    }
}
