//! Why a log could not be read.

use crate::trace::format::ReadError;

pub(super) const UNPACKED: &str = "bytes when it is unpacked";

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
            LogError::Malformed { .. } | LogError::Empty => Some(
                "a log has a line `ELEMENT CYCLES` for each load; `wavecast cache-probe --help` lists the formats",
            ),
            LogError::TooLarge { .. } => Some(
                "log fewer rounds of each chase, ten are enough, or analyse a part of the chases at a time",
            ),
            LogError::Sparse { .. } => {
                Some("check the indices and n; a chase goes through its whole array, at least once")
            }
            LogError::Io(_) => None,
        }
    }
}
