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
pub(crate) fn standard_output() -> Result<Box<dyn Write>, Failure> {
    if captured::is_on() {
        return Ok(Box::new(captured::Taken));
    }
    if CLOSED.load(Ordering::Relaxed) || is_closed() {
        let error = io::Error::new(ErrorKind::NotConnected, "it is closed");
        return Err(Failure::unwritten(STANDARD_OUTPUT, &error));
    }
    Ok(Box::new(anstream::stdout().lock()))
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = standard_output()?;
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader that has seen enough is no error.
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::unwritten(STANDARD_OUTPUT, &e)),
        _ => Ok(()),
    }
}
