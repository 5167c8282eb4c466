//! The `wavecast` command line.

use std::ffi::OsString;
use std::process::ExitCode;

use wavecast::cli;

/// Runs before `main`, and before Rust opens `/dev/null` in the place of standard streams that are closed.
#[cfg(all(unix, not(target_vendor = "apple")))]
#[used]
#[expect(unsafe_code, reason = "a name of the linker's; nothing here is done unsafely")]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = cli::note_closed;

fn main() -> ExitCode {
    cli::main(&std::env::args_os().collect::<Vec<OsString>>())
}
