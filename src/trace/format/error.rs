//! Why a trace could not be read.

/// Why a trace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A line that is not what it should be.
    #[error("line {line}: expected {expected}, found `{found}`")]
    Malformed {
        /// Its number, from 1.
        line: u64,
        /// What should stand there.
        expected: &'static str,
        /// What stands there, cut.
        found: String,
    },
    /// The text ends in the middle of something.
    #[error("the trace ends after line {line}: expected {expected}")]
    Truncated {
        /// The last line.
        line: u64,
        /// What is missing.
        expected: &'static str,
    },
    /// A line that cannot be part of any trace.
    #[error("line {line} is longer than {most} bytes")]
    LongLine {
        /// Its number, from 1.
        line: u64,
        /// The limit.
        most: usize,
    },
    /// More than can be held.
    #[error("line {line}: {what}")]
    Limit {
        /// Its number, from 1.
        line: u64,
        /// Which limit.
        what: &'static str,
    },
    /// More than may be held in memory.
    #[error("{what} take more than {limit} bytes of memory (limit trace-memory)")]
    Memory {
        /// What has to be held.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A packed file that unpacks to more than it may.
    #[error("the file unpacks to more than {limit} bytes (limit unpacked-bytes)")]
    Unpacked {
        /// The limit.
        limit: u64,
    },
    /// A file that is read twice was another one the second time.
    #[error("the trace changed while it was read")]
    Changed,
    /// No format was recognised.
    #[error("this is no trace in a format that is known")]
    Unknown,
    /// There is nothing in it.
    #[error("the trace is empty")]
    Empty,
    /// It was read, but what takes it could not write it.
    #[error("cannot be written: {0}")]
    Unwritten(std::io::Error),
    /// It could not be read at all, or could not be unpacked.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        match error.get_ref().and_then(|e| e.downcast_ref::<super::unpack::TooLong>()) {
            Some(&super::unpack::TooLong(limit)) => ReadError::Unpacked { limit },
            None => ReadError::Io(error),
        }
    }
}

impl ReadError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            ReadError::Malformed { .. } => "trace-malformed",
            ReadError::Truncated { .. } => "trace-truncated",
            ReadError::LongLine { .. }
            | ReadError::Limit { .. }
            | ReadError::Memory { .. }
            | ReadError::Unpacked { .. } => "trace-limit",
            ReadError::Changed => "trace-changed",
            ReadError::Unknown => "trace-format",
            ReadError::Empty => "trace-empty",
            ReadError::Unwritten(_) => "cannot-write",
            ReadError::Io(_) => "cannot-read",
        }
    }
}
