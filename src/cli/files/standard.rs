//! Standard output, of which a reader may have seen enough, and which may be closed.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::captured;
use super::super::failure::Failure;

/// What messages call it.
const STANDARD_OUTPUT: &str = "standard output";
/// Whether standard output was closed when the program began.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Looks whether standard output is closed. Before `main`, Rust opens `/dev/null` in the place of standard
/// streams that are closed: who wants to know has to look earlier.
#[cfg(unix)]
pub extern "C" fn note_closed() {
    if is_closed() {
        CLOSED.store(true, Ordering::Relaxed);
    }
}

#[cfg(unix)]
fn is_closed() -> bool {
    rustix::io::fcntl_getfd(io::stdout()).is_err()
}

#[cfg(not(unix))]
fn is_closed() -> bool {
    false
}

/// Standard output, without colours where nobody sees them.
fn coloured_output() -> Result<Box<dyn Write>, Failure> {
    Ok(if captured::is_on() { standard_output()? } else { open(|| Box::new(anstream::stdout().lock()))? })
}

/// Standard output for what never has colours: looking for them takes longer than writing.
pub(crate) fn standard_output() -> Result<Box<dyn Write>, Failure> {
    if captured::is_on() {
        return Ok(Box::new(captured::Taken));
    }
    open(|| Box::new(io::stdout().lock()))
}

fn open(output: impl FnOnce() -> Box<dyn Write>) -> Result<Box<dyn Write>, Failure> {
    if CLOSED.load(Ordering::Relaxed) || is_closed() {
        let error = io::Error::new(ErrorKind::NotConnected, "it is closed");
        return Err(Failure::unwritten(STANDARD_OUTPUT, &error));
    }
    Ok(output())
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = coloured_output()?;
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader that has seen enough is no error.
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::unwritten(STANDARD_OUTPUT, &e)),
        _ => Ok(()),
    }
}
