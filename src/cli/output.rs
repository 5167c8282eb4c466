//! Writing results and failures.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use wavecast::report::{ErrorDocument, render_fault};
use wavecast::source::{Diagnostic, Fault};

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Table,
    /// One JSON document (an array if there are several results)
    Json,
    /// One JSON document per line
    Jsonl,
    /// Comma-separated values
    Csv,
    /// A Markdown table
    Md,
}

/// Where results go.
#[derive(Debug, Clone, Args)]
pub(super) struct OutputArguments {
    /// How to write the result; by default by the extension of -o, otherwise a table
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Write the result to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl OutputArguments {
    /// The format that was asked for.
    pub(super) fn format(&self) -> Format {
        let extension = self.output.as_deref().and_then(Path::extension).and_then(|e| e.to_str());
        let by_extension = match extension {
            Some("json") => Format::Json,
            Some("jsonl" | "ndjson") => Format::Jsonl,
            Some("csv") => Format::Csv,
            Some("md") => Format::Md,
            _ => Format::Table,
        };
        self.format.unwrap_or(by_extension)
    }

    /// Whether errors are for a program.
    pub(super) fn is_json(&self) -> bool {
        matches!(self.format(), Format::Json | Format::Jsonl)
    }

    /// Whether a picture was asked for: a file that ends in .svg, and no other format.
    pub(super) fn is_picture(&self) -> bool {
        let extension = self.output.as_deref().and_then(Path::extension);
        self.format.is_none() && extension.is_some_and(|e| e.eq_ignore_ascii_case("svg"))
    }

    /// Columns of the terminal, if the result goes to one.
    pub(super) fn width(&self) -> Option<usize> {
        if self.output.is_some() || !io::stdout().is_terminal() {
            return None;
        }
        let from_environment = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        from_environment.or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
    }

    /// Writes a result to where it belongs.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        if self.is_picture() {
            let message = "this command draws no picture".to_owned();
            let help = "rank, sweep, validate and fit do; for a text in an .svg file add --format";
            return Err(Failure::message("no-picture", message, Some(help)));
        }
        self.write_picture(text)
    }

    /// Writes a picture, or anything else, to where it belongs.
    pub(super) fn write_picture(&self, text: &str) -> Result<(), Failure> {
        let Some(path) = &self.output else { return print(text) };
        std::fs::write(path, text).map_err(|e| self.unwritten(path, &e))
    }

    /// Writes documents one after the other to where they belong, without a text of all in between.
    pub(super) fn write_json(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Some(path) = &self.output else {
            let mut out = BufWriter::new(io::stdout().lock());
            return printed(write(&mut out).and_then(|()| out.flush()));
        };
        let written = File::create(path).and_then(|file| {
            let mut out = BufWriter::new(file);
            write(&mut out).and_then(|()| out.flush())
        });
        written.map_err(|e| self.unwritten(path, &e))
    }

    fn unwritten(&self, path: &Path, error: &io::Error) -> Failure {
        Failure::file("cannot-write", path, "write", error).for_json(self.is_json())
    }
}

/// One document alone, several as an array; an empty list is an empty array.
pub(super) fn json_documents<T: serde::Serialize>(documents: &[T]) -> Result<String, Failure> {
    let text = match documents {
        [one] => serde_json::to_string_pretty(one),
        many => serde_json::to_string_pretty(many),
    };
    text.map(|t| t + "\n").map_err(|e| Failure::json(&e))
}

/// Writes one document alone, several as an array; an empty list is an empty array.
pub(super) fn write_documents<T: serde::Serialize>(documents: &[T], out: &mut dyn Write) -> io::Result<()> {
    match documents {
        [one] => serde_json::to_writer_pretty(&mut *out, one)?,
        many => serde_json::to_writer_pretty(&mut *out, many)?,
    }
    out.write_all(b"\n")
}

/// Writes to standard output.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What came of writing to standard output. A reader that has seen enough is no error.
fn printed(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::message("cannot-write", e.to_string(), None))
        }
        _ => Ok(()),
    }
}

/// Why there is no result.
#[derive(Debug)]
pub(super) struct Failure {
    faults: Vec<Fault>,
    json: bool,
}

impl Failure {
    /// Input that cannot be used.
    pub(super) fn faults(faults: Vec<Fault>, json: bool) -> Self {
        Self { faults, json }
    }

    /// A failure without a place.
    pub(super) fn message(code: &'static str, message: String, help: Option<&str>) -> Self {
        let diagnostic = Diagnostic::global(code, message).maybe_help(help.map(str::to_owned));
        Self { faults: vec![Fault::new(vec![diagnostic], std::sync::Arc::default())], json: false }
    }

    /// A document that cannot be written.
    pub(super) fn json(error: &serde_json::Error) -> Self {
        Self::message("json", error.to_string(), None)
    }

    /// A file that cannot be read or written.
    pub(super) fn file(code: &'static str, path: &Path, verb: &str, error: &io::Error) -> Self {
        let help = match error.kind() {
            ErrorKind::NotFound => Some("check the path; `-` reads standard input"),
            ErrorKind::InvalidData => Some("the file must be UTF-8 text"),
            _ => None,
        };
        Self::message(code, format!("cannot {verb} {}: {error}", path.display()), help)
    }

    /// Makes errors of a program's request readable for it.
    pub(super) fn for_json(mut self, json: bool) -> Self {
        self.json |= json;
        self
    }

    /// The faults, to be joined with others.
    pub(super) fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    /// Writes the failure: JSON to standard output, text to standard error.
    pub(super) fn report(self) -> ExitCode {
        if self.json {
            let text = serde_json::to_string_pretty(&ErrorDocument::new(&self.faults)).unwrap_or_default();
            let _ = print(&(text + "\n"));
        } else {
            let texts: Vec<String> = self.faults.iter().map(render_fault).collect();
            let _ = write!(anstream::stderr().lock(), "{}", texts.join("\n"));
        }
        ExitCode::from(2)
    }
}
