//! Who asks, and how they write the options that messages name.

use std::fmt::Display;
use std::sync::Arc;

use crate::text::{Diagnostic, Fault};

/// Who asks: a message about an option names it as they write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asker {
    /// Somebody at a command line, who writes `--engine runs`.
    CommandLine,
    /// A program, whose requests say `{"options": {"engine": "runs"}}`.
    #[default]
    Program,
}

impl Asker {
    /// An option, which the command line calls by this name.
    pub fn option(self, name: &str) -> String {
        match self {
            Asker::CommandLine => format!("--{name}"),
            Asker::Program => format!("options.{}", name.replace('-', "_")),
        }
    }

    /// An option and its value.
    pub fn given(self, name: &str, value: impl Display) -> String {
        let between = if self == Asker::CommandLine { " " } else { ": " };
        format!("{}{between}{value}", self.option(name))
    }

    /// How a device is chosen.
    pub(super) fn choosing_a_device(self) -> &'static str {
        match self {
            Asker::CommandLine => "choose with -d",
            Asker::Program => "choose one with `device`",
        }
    }

    /// A question that cannot be asked so.
    pub(super) fn wrong(self, message: String, help: Option<&str>) -> Fault {
        let code = if self == Asker::CommandLine { "usage" } else { "request" };
        fault(code, message, help)
    }
}

/// A fault that no text is to blame for.
pub(super) fn fault(code: &'static str, message: String, help: Option<&str>) -> Fault {
    let diagnostic = Diagnostic::global(code, message).maybe_help(help.map(str::to_owned));
    Fault::new(vec![diagnostic], Arc::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_as_who_asks_writes_them() {
        assert_eq!(Asker::CommandLine.given("device-set", "clock=1GHz"), "--device-set clock=1GHz");
        assert_eq!(Asker::Program.given("device-set", "clock=1GHz"), "options.device_set: clock=1GHz");
        for (asker, code) in [(Asker::CommandLine, "usage"), (Asker::Program, "request")] {
            assert_eq!(asker.wrong(String::new(), None).diagnostics[0].code, code);
        }
    }
}
