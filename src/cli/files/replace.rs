//! Writing a file so that it is there whole or not at all.
//!
//! What is written goes to a file beside the target, which takes its place when all of it is on the disk. On
//! Linux that file has no name until then, so that nothing is left of a program that is killed.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::super::failure::Failure;
use super::inputs::writes;
use super::standard::standard_output;
use super::target::{Target, resolved};

/// Names that are tried for a file beside the target.
const MOST_NAMES: u32 = 100;

/// A file that is being written.
pub(crate) struct Output {
    /// What messages call it.
    path: PathBuf,
    out: BufWriter<Box<dyn Write>>,
    /// What takes the place of the target in the end; nothing where it is written directly.
    beside: Option<Beside>,
}

impl Output {
    /// Begins to write a file that is no input. A pipe, a terminal or another device is written directly.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        writes(path)?;
        Self::over_input(path)
    }

    /// Begins to write a file that may be an input, which has been read.
    pub(super) fn over_input(path: &Path) -> Result<Self, Failure> {
        let cannot = |e: io::Error| Failure::file("cannot-write", path, "write", &e);
        let opened = |options: &mut OpenOptions| options.open(path).map_err(cannot);
        let (out, beside): (Box<dyn Write>, _) = match resolved(path).map_err(cannot)? {
            Target::Descriptor(1) => (Box::new(standard_output()?), None),
            Target::Descriptor(2) => (Box::new(io::stderr()), None),
            // If it is a file, whoever opened it may have written to it already.
            Target::Descriptor(_) => (Box::new(opened(OpenOptions::new().append(true))?), None),
            Target::Device => (Box::new(opened(OpenOptions::new().write(true))?), None),
            Target::File(target) => {
                let beside = Beside::create(target).map_err(cannot)?;
                (Box::new(beside.file.try_clone().map_err(cannot)?), Some(beside))
            }
        };
        Ok(Self { path: path.to_owned(), out: BufWriter::with_capacity(1 << 16, out), beside })
    }

    /// Ends the file, if all of it could be written; otherwise nothing is left of it.
    pub(crate) fn finish(mut self, written: io::Result<()>) -> Result<(), Failure> {
        let flushed = written.and_then(|()| self.out.flush());
        let done = match (self.beside.take(), flushed) {
            (Some(beside), Ok(())) => beside.take_place(),
            // A reader of a pipe that has seen enough is no error.
            (None, Err(e)) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
            (_, flushed) => flushed,
        };
        done.map_err(|e| Failure::unwritten(&self.path.display().to_string(), &e))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A file beside its target.
struct Beside {
    /// The same file as that which is written.
    file: File,
    /// Its name, if it has one.
    name: Option<PathBuf>,
    /// The file whose place it takes, behind all links.
    target: PathBuf,
}

impl Beside {
    fn create(target: PathBuf) -> io::Result<Self> {
        // What may not be written may not be replaced either.
        let old = match OpenOptions::new().write(true).open(&target) {
            Ok(file) => Some(file.metadata()?),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let (file, name) = match unnamed(folder(&target)) {
            Some(file) => (file, None),
            None => named(&target).map(|(file, name)| (file, Some(name))).map_err(|e| {
                let why =
                    if old.is_some() { format!("no file can be made beside it: {e}") } else { e.to_string() };
                io::Error::new(e.kind(), why)
            })?,
        };
        let beside = Self { file, name, target };
        if let Some(old) = old {
            keep_rights(&beside.file, &old)?;
        }
        Ok(beside)
    }

    /// Takes the place of the target.
    fn take_place(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if self.name.is_none() {
            // Where there is no file yet, no second name is needed.
            if give_name(&self.file, &self.target)? {
                return Ok(());
            }
            self.name = Some(free_name(&self.target, |name| give_name(&self.file, name))?);
        }
        if let Some(name) = &self.name {
            std::fs::rename(name, &self.target)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Beside {
    /// A file that did not become the target goes.
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = std::fs::remove_file(name);
        }
    }
}

fn folder(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file with a name beside the target.
fn named(target: &Path) -> io::Result<(File, PathBuf)> {
    let mut made = None;
    let name = free_name(target, |name| match OpenOptions::new().write(true).create_new(true).open(name) {
        Ok(file) => {
            made = Some(file);
            Ok(true)
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    })?;
    made.map(|file| (file, name)).ok_or_else(|| ErrorKind::AlreadyExists.into())
}

/// A name beside the target that nothing had before `take` took it.
fn free_name(target: &Path, mut take: impl FnMut(&Path) -> io::Result<bool>) -> io::Result<PathBuf> {
    let of = target.file_name().unwrap_or_default().to_string_lossy();
    for i in 0..MOST_NAMES {
        let name = folder(target).join(format!(".{of}.{}-{i}.tmp", std::process::id()));
        if take(&name)? {
            return Ok(name);
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// A file without a name, where the file system has such.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    // It gets its name through this one later.
    std::fs::symlink_metadata(descriptor_of(&file)).ok().map(|_| file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn descriptor_of(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives a file without a name one; `false` if it is taken.
#[cfg(target_os = "linux")]
fn give_name(file: &File, name: &Path) -> io::Result<bool> {
    use rustix::fs::{AtFlags, CWD, linkat};
    match linkat(CWD, descriptor_of(file), CWD, name, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::EXIST) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<bool> {
    Err(ErrorKind::Unsupported.into())
}

/// Who may do what with the old file may do it with the new one.
#[cfg(unix)]
fn keep_rights(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let made = new.metadata()?;
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        // Only some may give files away; the others keep what they wrote.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    new.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep_rights(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}
