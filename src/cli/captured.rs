//! Commands that are run for a program in the same process: what they would print is handed over.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};

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

/// Runs a command line, the first of whose arguments is the name of the program. Nothing goes to the standard streams,
/// and no signal is waited for.
pub fn captured(arguments: &[OsString]) -> Captured {
    let capturing = Capturing::begin();
    let code = super::main(arguments);
    let mut found = CAPTURED.take().unwrap_or_default();
    drop(capturing);
    found.status = (0..=u8::MAX).find(|&n| std::process::ExitCode::from(n) == code).unwrap_or(2);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arguments: &[&str]) -> Captured {
        captured(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn results_and_errors_come_back() {
        let found = run(&["wavecast", "check", "kernels/vec3.yaml", "--format", "json"]);
        assert_eq!((found.status, found.errors), (0, None));
        assert!(found.output.starts_with(b"{\n  \"schema\": \"wavecast/check/1\""));
        assert!(found.text.unwrap().starts_with("vec3"));
        let missing = run(&["wavecast", "check", "kernels/none.yaml"]);
        assert_eq!((missing.status, missing.output.len()), (2, 0));
        assert!(missing.errors.unwrap().contains("cannot-read") && missing.said.contains("none.yaml"));
        let usage = run(&["wavecast", "check", "--nothing"]);
        assert!(usage.errors.unwrap().contains("\"usage\""));
        assert!(!is_on());
    }
}
