//! The files of a command. Everything that it reads is opened here and everything that it writes is written
//! here, so that no output replaces an input and none is left half written.

mod grown;
mod identity;
mod inputs;
mod replace;
mod standard;
mod target;

use std::io::Write;
use std::path::Path;

pub(super) use grown::Grown;
pub(super) use inputs::{forget, open, read, read_text, reads, stdin, writes};
pub(super) use replace::Output;
pub(super) use standard::{print, standard_output};

#[cfg_attr(not(unix), expect(unused_imports, reason = "closed streams are a matter of Unix"))]
#[cfg(unix)]
pub use standard::note_closed;

use super::failure::Failure;

/// Whether writing to a path would replace a file.
pub(super) fn is_there(path: &Path) -> bool {
    matches!(target::resolved(path), Ok(target::Target::File(target)) if target.exists())
}

/// Writes a whole file, or what a path such as `/dev/stdout` stands for.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut output = Output::create(path)?;
    let written = output.write_all(text.as_bytes());
    output.finish(written)
}

/// Changes a file that was read. That it is an input is meant.
pub(super) fn change(path: &Path, text: &str) -> Result<(), Failure> {
    let mut output = Output::over_input(path)?;
    let written = output.write_all(text.as_bytes());
    output.finish(written)
}
