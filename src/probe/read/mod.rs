//! Logs as they come: our own, the supplement's two columns, tables.

mod error;
mod glued;
mod header;
mod lines;
mod logs;
mod name;
mod number;
mod rows;

use std::io::Read;

pub use error::LogError;
pub use logs::{Figure, LogDefaults, Logs, MshrPoint, SizePoint};

use lines::{Ending, Lines};
use rows::Reader;

/// Bytes of a log, unpacked: more is refused.
const MOST_BYTES: u64 = 1 << 30;

/// Reads a log, packed or not, and adds what it holds to `logs`; `name` is the file's. A last row that was cut is
/// left out with a warning.
pub fn read_logs(name: &str, input: impl Read, given: LogDefaults, logs: &mut Logs) -> Result<(), LogError> {
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
        read_logs("log", text.as_bytes(), LogDefaults::default(), &mut logs).map(|()| logs)
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
