//! Which files the command reads and which it writes. Whatever comes second, the input or the output, is
//! refused if it is the same file.

use std::fs::File;
use std::io::{Read, StdinLock};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::super::failure::Failure;
use super::identity::Identity;

/// The files of the command that runs. A process runs one at a time.
static KNOWN: Mutex<Known> = Mutex::new(Known { inputs: Vec::new(), outputs: Vec::new() });

struct Known {
    inputs: Vec<(PathBuf, Identity)>,
    outputs: Vec<(PathBuf, Identity)>,
}

fn known<T>(with: impl FnOnce(&mut Known) -> T) -> T {
    with(&mut KNOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A command begins: files of the one before are none of its own.
pub(crate) fn forget() {
    known(|k| (k.inputs, k.outputs) = (Vec::new(), Vec::new()));
}

/// Says that a file will be read by what opens files itself.
pub(crate) fn reads(path: &Path) -> Result<(), Failure> {
    // Linux opens a directory for reading; only what reads it then fails, wherever that is.
    if path.is_dir() {
        return Err(unread(path, &std::io::ErrorKind::IsADirectory.into()));
    }
    let Some(identity) = Identity::find(path) else { return Ok(()) };
    // `>> file` makes the file grow as it is read.
    if Identity::find(Path::new("/dev/stdout")).is_some_and(|out| out == identity) {
        let message = format!("standard output goes to {}, which this command reads", path.display());
        return Err(Failure::message("same-file", message, Some("write to another file")));
    }
    let path = if path == Path::new("/dev/stdin") { Path::new("standard input") } else { path };
    let clash = known(|k| {
        let clash = k.outputs.iter().find(|o| o.1 == identity).map(|o| o.0.clone());
        k.inputs.push((path.to_owned(), identity));
        clash
    });
    clash.map_or(Ok(()), |output| Err(same(path, &output)))
}

/// Says that a file will be written.
pub(crate) fn writes(path: &Path) -> Result<(), Failure> {
    let Some(identity) = Identity::find(path) else { return Ok(()) };
    let clash = known(|k| {
        let clash = k.inputs.iter().find(|i| i.1 == identity).map(|i| i.0.clone());
        k.outputs.push((path.to_owned(), identity));
        clash
    });
    clash.map_or(Ok(()), |input| Err(same(&input, path)))
}

fn same(input: &Path, output: &Path) -> Failure {
    let (input, output) = (input.display(), output.display());
    let message = if input.to_string() == output.to_string() {
        format!("{input} is read by this command and would be replaced by its result")
    } else {
        format!("{output} would replace {input}, which this command reads: they are the same file")
    };
    Failure::message("same-file", message, Some("write to another file"))
}

/// Opens a file to read it.
pub(crate) fn open(path: &Path) -> Result<File, Failure> {
    let file = File::open(path).map_err(|e| unread(path, &e))?;
    reads(path)?;
    Ok(file)
}

/// Standard input, which may be a file too.
pub(crate) fn stdin() -> Result<StdinLock<'static>, Failure> {
    reads(Path::new("/dev/stdin"))?;
    Ok(std::io::stdin().lock())
}

/// All bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|e| unread(path, &e))?;
    Ok(bytes)
}

/// A file as text.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|e| unread(path, &e))?;
    Ok(text)
}

fn unread(path: &Path, error: &std::io::Error) -> Failure {
    Failure::file("cannot-read", path, "read", error)
}
