//! Files that are read more than once: for their format, for their decimal mark, and for their launches.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use crate::trace::format::unpack;

/// A file that can be read more than once.
pub trait Source {
    /// What messages call it.
    fn name(&self) -> &str;
    /// Its bytes from the start; what is packed (gzip, xz, zstd) is unpacked by whoever reads.
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>>;
}

/// A file by its path.
#[derive(Debug, Clone)]
pub struct FileSource {
    name: String,
    path: PathBuf,
}

impl FileSource {
    /// The file at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.display().to_string(), path }
    }
}

impl Source for FileSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(BufReader::with_capacity(1 << 17, File::open(&self.path)?)))
    }
}

/// A text that was read.
#[derive(Debug, Clone)]
pub struct TextSource<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// The text.
    pub bytes: &'a [u8],
}

impl Source for TextSource<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(self.bytes))
    }
}

/// The text of a file, packed or not.
pub(super) fn text(source: &dyn Source) -> io::Result<Box<dyn BufRead + '_>> {
    Ok(Box::new(BufReader::with_capacity(1 << 17, unpack(source.open()?)?)))
}
