//! Texts of files whose names somebody else chose.

use std::fs::File;
use std::io::{self, Error, ErrorKind, Read};
use std::path::Path;

/// The text of a regular file of at most `most` bytes. Pipes would block, and devices have no end.
pub fn read_regular(path: impl AsRef<Path>, most: usize) -> io::Result<String> {
    let refused = || Error::new(ErrorKind::InvalidInput, "it is not a regular file");
    // Asked before it is opened, which blocks for a pipe, and again, as it may have become another one.
    if !std::fs::metadata(&path)?.is_file() {
        return Err(refused());
    }
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(refused());
    }
    read_limited(file, most)
}

/// The text of anything that can be read, pipes included, of at most `most` bytes.
pub fn read_limited(reader: impl Read, most: usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader.take(u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_much_is_read() {
        assert_eq!(read_limited(&b"four"[..], 4).unwrap(), "four");
        assert!(read_limited(io::repeat(b'x'), 1000).unwrap_err().to_string().contains("1000 bytes"));
        assert!(read_limited(&b"\xff"[..], 4).unwrap_err().to_string().contains("UTF-8"));
    }

    #[test]
    fn only_regular_files_are_opened() {
        let this = concat!(env!("CARGO_MANIFEST_DIR"), "/src/text/files.rs");
        assert!(read_regular(this, 1 << 20).unwrap().contains("only_regular_files"));
        assert!(read_regular(this, 10).is_err());
        for path in [env!("CARGO_MANIFEST_DIR"), "/dev/zero", "/nowhere"] {
            assert!(read_regular(path, 10).is_err(), "{path}");
        }
    }
}
