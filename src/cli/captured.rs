//! Commands that are run for a program in the same process: what they would print is handed over.

use std::cell::RefCell;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::report::{Answer, View};

/// What came of a command.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// The exit status.
    pub status: u8,
    /// What went to standard output.
    pub output: Vec<u8>,
    /// The result for a person, where it was asked for as JSON.
    pub text: Option<String>,
    /// What was said on standard error.
    pub said: String,
    /// Why there is no result, as an error document in JSON.
    pub errors: Option<String>,
}

impl Captured {
    /// A line on standard error.
    pub(super) fn say(&mut self, text: &str) {
        self.said += text;
        self.said.push('\n');
    }
}

thread_local! {
    static CAPTURED: RefCell<Option<Captured>> = const { RefCell::new(None) };
}

/// Runs a command of this thread, and hands over what it would print.
pub(super) fn capture(command: impl FnOnce() -> ExitCode) -> Captured {
    let capturing = Capturing::begin();
    let code = command();
    let mut found = CAPTURED.take().unwrap_or_default();
    drop(capturing);
    found.status = (0..=u8::MAX).find(|&n| ExitCode::from(n) == code).unwrap_or(2);
    found
}

/// While it lives, this thread captures.
struct Capturing;

impl Capturing {
    fn begin() -> Self {
        CAPTURED.set(Some(Captured::default()));
        Self
    }
}

impl Drop for Capturing {
    /// Also where the command panics.
    fn drop(&mut self) {
        CAPTURED.set(None);
    }
}

/// Whether the command of this thread is run for a program.
pub(super) fn is_on() -> bool {
    CAPTURED.with_borrow(Option::is_some)
}

/// Changes what is captured, if anything is.
pub(super) fn with(change: impl FnOnce(&mut Captured)) -> bool {
    CAPTURED.with_borrow_mut(|captured| captured.as_mut().map(change).is_some())
}

/// Keeps answers for a person beside their JSON.
pub(super) fn keep_text<A: Answer>(answers: &[&A], all: bool) {
    if is_on() {
        let view = View { width: None, all };
        let texts: Vec<String> = answers.iter().map(|a| a.text(view)).collect();
        with(|captured| captured.text = Some(texts.join("\n")));
    }
}

/// What takes the place of standard output.
pub(super) struct Taken;

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        with(|captured| captured.output.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
