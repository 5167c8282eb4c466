//! Files that grow line by line while a command works, so that what is done survives whatever ends it.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::super::failure::Failure;

/// A file that lines are added to.
pub(crate) struct Grown {
    /// At its end.
    pub file: File,
    /// Whole lines that were there.
    pub lines: usize,
    /// The last of them.
    pub last: Vec<u8>,
}

impl Grown {
    /// A new file: one that holds something is not replaced.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let about = std::fs::metadata(path);
        if about.is_ok_and(|about| about.is_file() && about.len() > 0) {
            let message = format!("{} is there already", path.display());
            let help = "--resume goes on with it; otherwise name another file, or remove it";
            return Err(Failure::message("file-exists", message, Some(help)));
        }
        let file = File::create(path).map_err(|e| Failure::file("cannot-write", path, "write", &e))?;
        Ok(Self { file, lines: 0, last: Vec::new() })
    }

    /// One that may be there: its whole lines are kept, what a crash has cut is not.
    pub fn resume(path: &Path) -> Result<Self, Failure> {
        let unwritten = |e: &std::io::Error| Failure::file("cannot-write", path, "write", e);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(|e| unwritten(&e))?;
        let (mut lines, mut end, mut last) = (0, 0, Vec::new());
        let (mut reader, mut line) = (BufReader::new(&file), Vec::new());
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            let read = read.map_err(|e| Failure::file("cannot-read", path, "read", &e))?;
            if line.last() != Some(&b'\n') {
                break;
            }
            (lines, end) = (lines + 1, end + read as u64);
            std::mem::swap(&mut line, &mut last);
        }
        file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0))).map_err(|e| unwritten(&e))?;
        Ok(Self { file, lines, last })
    }
}
