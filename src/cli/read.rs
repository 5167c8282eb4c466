//! `wavecast read`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::Outcome;
use super::answers::{answer, show_one};
use super::failure::Failure;
use super::input::{ReadingArguments, parse_block, read_text};
use super::output::OutputArguments;
use super::progress;
use crate::ask::hold;
use crate::kernel::Limits;
use crate::ptx::agreement::{Reached, Undecided};
use crate::ptx::{Compiled, Given};
use crate::report::{entries_document, reading_document};
use crate::space::Block;
use crate::text::Fault;

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_help = "By itself it lists the entries; with --arg and others it reads the only one, or the one of --entry, \
    by its name in the PTX or in the source. The kernel document goes to standard output.\n\
    Example: wavecast read saxpy.ptx --arg 0=1048576 > saxpy.yaml"
)]
pub(super) struct Arguments {
    /// PTX, as nvcc -ptx, NVRTC, clang, Numba or Triton write it
    #[arg(value_name = "FILE.ptx")]
    path: String,
    #[command(flatten)]
    reading: ReadingArguments,
    /// Thread block to read it for (repeatable); by default all that the kernel may be launched with
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    block: Vec<Block>,
    /// Run the PTX too, and compare so many threads, chosen at random, with the document
    #[arg(long, value_name = "THREADS", num_args = 0..=1, default_missing_value = "64")]
    check: Option<usize>,
    #[command(flatten)]
    output: OutputArguments,
}

impl Arguments {
    /// Whether a kernel is to be read: something is said of it. Otherwise the kernels are listed.
    fn reads(&self) -> bool {
        let ReadingArguments { entry, arg, grid, trips, branch, assume, registers } = &self.reading;
        let lists = [arg, trips, branch, assume];
        entry.is_some()
            || grid.is_some()
            || registers.is_some()
            || self.check.is_some()
            || !self.block.is_empty()
            || lists.iter().any(|list| !list.is_empty())
    }
}

/// A text of PTX, parsed and as it is.
fn compiled(path: &str, json: bool) -> Result<(Compiled, String), Failure> {
    let (name, text) = read_text(path, Limits::default(), json)?;
    Ok((Compiled::new(&name, &text)?, text))
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let json = arguments.output.is_json();
    let yaml = arguments.output.output.as_deref().and_then(Path::extension).is_some_and(|e| e == "yaml");
    if !yaml {
        arguments.output.check(&["yaml"])?;
    }
    let (compiled, text) = compiled(&arguments.path, json).map_err(|f| f.for_json(json))?;
    if !arguments.reads() {
        return answer(&arguments.output, &["yaml"], || Ok(entries_document(&compiled)));
    }
    let entry = compiled.entry(arguments.reading.entry.as_deref());
    let entry = &entry.map_err(|f| Failure::from(f).for_json(json))?.name;
    let given = arguments.reading.registers(None).of_entry(&compiled, &text, Some(entry)).map(|told| Given {
        registers: told.registers,
        assembled: told.assembled,
        ..arguments.reading.given(&arguments.block)
    });
    let given =
        given.map_err(|wrong| Failure::from(Fault::new(vec![wrong], Arc::default())).for_json(json))?;
    let found = || -> Result<_, Failure> {
        let read = compiled.read(Some(entry), &given)?;
        let document = reading_document(&compiled, compiled.entry(Some(entry))?, &read);
        Ok((document, read.document, Undecided::among(&read.accesses)))
    };
    let (document, found_text, undecided) = found().map_err(|f| f.for_json(json))?;
    show_one(&arguments.output, &document)?;
    if let (Some(threads), Some(text)) = (arguments.check, found_text) {
        return checked(&compiled, entry, &given, (&text, &undecided), threads);
    }
    if document.document.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    if !json {
        progress::say("error: there is no kernel document, as not all accesses could be read");
    }
    Ok(ExitCode::from(1))
}

/// Says whether threads do what the document says when the program runs. Status 1 if one does not.
fn checked(
    compiled: &Compiled,
    entry: &str,
    given: &Given,
    (document, undecided): (&str, &Undecided),
    threads: usize,
) -> Outcome {
    let all = hold(compiled, entry, &given.args, document, threads, undecided)?;
    let mut wrong = false;
    for (block, found) in all {
        let (threads, accesses) = (found.threads, found.accesses);
        if found.holds() {
            let guessed = match found.guessed {
                0 => String::new(),
                n => format!("; {n} of them rest on data that was not given"),
            };
            let undone = match found.undone {
                0 => String::new(),
                n => format!("; {n} accesses of the document are not done, as data decide"),
            };
            progress::say(&format!(
                "checked: block {block}, {threads} threads do the same, {accesses} accesses{guessed}{undone}"
            ));
            continue;
        }
        wrong = true;
        progress::say(&format!("error: block {block}, {} of {threads} threads differ", found.different));
        for difference in found.differences.iter().take(3) {
            let reached =
                |r: &Reached| format!("{} {} {} bytes at {}", r.operation.word(), r.field, r.bytes, r.offset);
            let list = |list: &[Reached]| list.iter().take(4).map(reached).collect::<Vec<_>>().join(", ");
            progress::say(&format!(
                "  block {:?} thread {:?}: the document alone has [{}], the program alone [{}]",
                difference.block,
                difference.thread,
                list(&difference.invented),
                list(&difference.missed)
            ));
        }
    }
    Ok(if wrong { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
