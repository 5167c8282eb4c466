//! `wavecast touches`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::choices::one_launch;
use super::entry::EntryArguments;
use super::input::{KernelArguments, is_ptx, parse_block, parse_fold};
use super::output::streamed;
use crate::ask::{Spot, Touches};
use crate::report::write_line;
use crate::space::{Block, BlockIndex, Fold, Thread};

#[derive(Debug, Args)]
#[group(skip)]
#[command(after_help = "One line of JSON for each access.\n\
    Example: wavecast touches kernels/transpose-tiled.yaml --variant '8 rows' --at 0,0,0:1,0,0")]
pub(super) struct Arguments {
    /// A kernel file, or PTX (.ptx); `-` reads a kernel file from standard input
    #[arg(value_name = "KERNEL")]
    path: String,
    /// Threads: the place of the block in the grid, and that of the thread in the block (repeatable)
    #[arg(long, value_name = "BX,BY,BZ:TX,TY,TZ", value_parser = parse_spot, required = true)]
    at: Vec<Spot>,
    /// Threads of a block; the first candidate of the file by default
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_block)]
    block: Option<Block>,
    /// Work items per thread along x, y, z; by default the fold of the file, or 1,1,1 if it has several
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_fold)]
    fold: Option<Fold>,
    #[command(flatten)]
    kernel: KernelArguments,
    #[command(flatten)]
    entry: EntryArguments,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Reads a place of a block and one of a thread; what is missing is 0.
fn parse_spot(text: &str) -> Result<Spot, String> {
    let wrong = || "not the places of a block and a thread, as in 3,0,0:31,1,0".to_owned();
    let place = |text: &str| {
        let mut place = [0; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(wrong());
        }
        for (at, part) in place.iter_mut().zip(parts) {
            *at = part.trim().parse().ok().filter(|&n: &i64| (0..1 << 32).contains(&n)).ok_or_else(wrong)?;
        }
        Ok(place)
    };
    let (block, thread) = text.split_once(':').ok_or_else(wrong)?;
    Ok(Spot { block: BlockIndex::from(place(block)?), thread: Thread::from(place(thread)?) })
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let question = Touches { launch: one_launch(arguments.block, arguments.fold), at: arguments.at.clone() };
    let lines = if is_ptx(&arguments.path) {
        question.answer_entry(&arguments.entry.source(&arguments.path, arguments.block)?)?
    } else {
        // Standard input can be read once.
        let source = arguments.kernel.source(&arguments.path)?;
        match arguments.entry.of_document(&source, arguments.block)? {
            Some(entry) => question.answer_entry(&entry)?,
            None => question.answer(&source.read()?)?,
        }
    };
    streamed(arguments.output.as_deref(), |out| lines.iter().try_for_each(|line| write_line(line, out)))?;
    Ok(ExitCode::SUCCESS)
}
