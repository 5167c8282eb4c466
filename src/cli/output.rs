//! How results are written, and where.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::captured;
use super::failure::Failure;
use super::files::{self, Output, print, standard_output};

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
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(super) struct OutputArguments {
    /// How to write the result; by default by the extension of -o, otherwise a table
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Write the result to a file instead of standard output; its extension says how
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// As `--format`, where neither that nor the extension of -o says it: what settings say
    #[arg(long, value_enum, hide = true)]
    pub usual_format: Option<Format>,
    /// Show all columns of tables, however narrow the terminal is
    #[arg(long)]
    pub wide: bool,
    /// Leave out columns of tables until they fit into so many characters, wherever they are printed
    #[arg(long, value_name = "CHARACTERS", conflicts_with = "wide", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
}

impl OutputArguments {
    /// Refuses a file whose name does not say how to write it. `more` are extensions beside those of formats.
    pub(super) fn check(&self, more: &[&str]) -> Result<(), Failure> {
        let Some(path) = self.output.as_deref().filter(|_| self.format.is_none()) else { return Ok(()) };
        let Some(extension) = extension(path) else { return Ok(()) };
        if of_extension(&extension).is_some() || more.contains(&extension.as_str()) {
            return Ok(());
        }
        if extension == "svg" {
            let message = "this command draws no picture".to_owned();
            let help = "rank, sweep, validate, fit, cache-probe and most of trace do; for a text in an .svg file add --format";
            return Err(Failure::message("no-picture", message, Some(help)));
        }
        Err(unknown_extension(
            path,
            &[&["json", "jsonl", "csv", "md", "txt"], more].concat(),
            Some("--format"),
        ))
    }

    /// Refuses a file whose name says something else than what is written, which has one format only.
    pub(super) fn check_only(&self, known: &[&str]) -> Result<(), Failure> {
        let Some(path) = self.output.as_deref().filter(|_| self.format.is_none()) else { return Ok(()) };
        match extension(path) {
            Some(e) if !known.contains(&e.as_str()) => Err(unknown_extension(path, known, Some("--format"))),
            _ => Ok(()),
        }
    }

    /// The format that was asked for.
    pub(super) fn format(&self) -> Format {
        let by_extension = || of_extension(&extension(self.output.as_deref()?)?);
        self.format.or_else(by_extension).or(self.usual_format).unwrap_or(Format::Table)
    }

    /// Whether errors are for a program.
    pub(super) fn is_json(&self) -> bool {
        matches!(self.format(), Format::Json | Format::Jsonl)
    }

    /// Whether a picture was asked for: a file that ends in .svg, and no other format.
    pub(super) fn is_picture(&self) -> bool {
        let extension = self.output.as_deref().and_then(extension);
        self.format.is_none() && extension.is_some_and(|e| e == "svg")
    }

    /// Whether a page for a browser was asked for: a file that ends in .html, and no other format.
    pub(super) fn is_page(&self) -> bool {
        let extension = self.output.as_deref().and_then(extension);
        self.format.is_none() && extension.is_some_and(|e| e == "html")
    }

    /// Whether a picture or a page was asked for.
    pub(super) fn is_drawn(&self) -> bool {
        self.is_picture() || self.is_page()
    }

    /// Whether the result goes to a terminal.
    pub(super) fn is_on_terminal(&self) -> bool {
        self.output.is_none() && !captured::is_on() && io::stdout().is_terminal()
    }

    /// Characters of a line, if the result has to fit: those that were asked for, or those of the terminal it goes to.
    pub(super) fn width(&self) -> Option<usize> {
        if self.width.is_some() {
            return self.width.map(usize::from);
        }
        if self.wide || !self.is_on_terminal() {
            return None;
        }
        let from_environment = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        from_environment.or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
    }

    /// Writes a result to where it belongs.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        let written = self.output.as_deref().map_or_else(|| print(text), |path| files::write(path, text));
        written.map_err(|f| f.for_json(self.is_json()))
    }

    /// Writes piece by piece to where it belongs, without a text of all in between.
    pub(super) fn write_pieces(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        streamed(self.output.as_deref(), write).map_err(|f| f.for_json(self.is_json()))
    }
}

/// Writes piece by piece to a file, or to standard output if there is none.
pub(super) fn streamed(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut write = Some(write);
    written(path, &mut |out| write.take().expect("`written` calls it once")(out))
}

/// The same, compiled once for all that is written; `write` is called once.
fn written(
    path: Option<&Path>,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if let Some(path) = path {
        let mut output = Output::create(path)?;
        let written = write(&mut output);
        return output.finish(written);
    }
    let mut out = BufWriter::new(standard_output()?);
    match write(&mut out).and_then(|()| out.flush()) {
        // A reader that has seen enough is no error.
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::unwritten("standard output", &e)),
        _ => Ok(()),
    }
}

/// The extension of a file, in small letters.
pub(super) fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_ascii_lowercase())
}

/// The format that an extension stands for.
fn of_extension(extension: &str) -> Option<Format> {
    match extension {
        "json" => Some(Format::Json),
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "csv" => Some(Format::Csv),
        "md" => Some(Format::Md),
        "txt" => Some(Format::Table),
        _ => None,
    }
}

/// The refusal of a file whose name does not say how to write it; `option`, if there is one, does.
pub(super) fn unknown_extension(path: &Path, known: &[&str], option: Option<&str>) -> Failure {
    let message = format!("the name {} does not say how to write the result", path.display());
    let known: Vec<String> = known.iter().map(|e| format!(".{e}")).collect();
    let other = option.map(|o| format!("; for any other name add {o}")).unwrap_or_default();
    let help = format!("known extensions are {}{other}", known.join(", "));
    Failure::message("unknown-extension", message, Some(&help))
}
