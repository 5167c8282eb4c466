//! `wavecast help`: what the commands take, and the pages of the documentation, which are in the program.

use std::process::ExitCode;

use clap::{Args, CommandFactory};

use super::failure::Failure;
use super::files::print;
use super::{Cli, Outcome};
use crate::text::{nearest, shorten};

macro_rules! pages {
    ($($name:literal: $about:literal,)*) => {
        /// The pages: their names, what they are about, and their texts.
        const PAGES: &[(&str, &str, &str)] = &[
            $(($name, $about, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/", $name, ".md")))),*
        ];
    };
}

pages! {
    "first-quarter-hour": "from an empty folder to a decision, command by command",
    "kernels": "kernel documents, key by key",
    "devices": "devices: names, numbers, files of your own",
    "ranking": "what rank and predict show, and where it comes from",
    "diff": "two predictions beside each other",
    "sweep": "series over parameters, devices and blocks",
    "ptx": "compiled kernels",
    "page": "rankings as a page for a browser",
    "emit": "benchmark programs",
    "model": "the model: volumes and time",
    "model-l1": "wavefronts of the first-level cache",
    "counting": "how distinct lines are counted",
    "fits": "curve files and how they are fitted",
    "measurements": "files of measurements",
    "validation": "predictions beside measurements",
    "trace": "traces, reuse distances, simulated caches",
    "cache-probe": "the structure of caches from latencies",
    "generators": "Wavecast in a code generator",
    "python": "the Python package",
}

#[derive(Debug, Args)]
#[group(skip)]
#[command(after_help = pages_help())]
pub(super) struct Arguments {
    /// A command, as in `help rank` or `help trace sweep`, or a page
    #[arg(value_name = "COMMAND or PAGE")]
    topic: Vec<String>,
    /// The page of this name, where a command has the same
    #[arg(long)]
    page: bool,
}

/// Every page with what it is about.
fn pages_help() -> String {
    let lines: Vec<String> = PAGES.iter().map(|(name, about, _)| format!("  {name:<18} {about}")).collect();
    format!("Pages:\n{}", lines.join("\n"))
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let mut program = Cli::command();
    program.build();
    let topic: Vec<&str> = arguments.topic.iter().map(String::as_str).collect();
    let page = topic.first().filter(|_| topic.len() == 1).and_then(|name| page(name));
    let text = match (page, command(&mut program, &topic)) {
        (Some(page), None) => page.to_owned(),
        (Some(page), Some(_)) if arguments.page => page.to_owned(),
        (None, Some(_)) if arguments.page => return Err(unknown(&program, &topic)),
        (Some(_), Some(help)) => {
            format!("{help}\n`wavecast help --page {}` shows the page about it.\n", topic[0])
        }
        (None, Some(help)) if topic.is_empty() => format!("{help}\n{}\n", pages_help()),
        (None, Some(help)) => help,
        (None, None) => return Err(unknown(&program, &topic)),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn page(name: &str) -> Option<&'static str> {
    PAGES.iter().find(|page| page.0 == name).map(|page| page.2)
}

/// The help of a command, or of a command of a command.
fn command(program: &mut clap::Command, topic: &[&str]) -> Option<String> {
    let found = topic.iter().try_fold(program, |within, name| within.find_subcommand_mut(name))?;
    Some(found.render_long_help().ansi().to_string())
}

fn unknown(program: &clap::Command, topic: &[&str]) -> Failure {
    let name = topic.join(" ");
    let message = format!("there is no page or command `{}`", shorten(&name));
    let known = program.get_subcommands().map(clap::Command::get_name).chain(PAGES.iter().map(|page| page.0));
    let help = match nearest(&name, known) {
        Some(near) => format!("did you mean `{near}`? `wavecast help` lists all"),
        None => "`wavecast help` lists all".to_owned(),
    };
    Failure::message("unknown-page", message, Some(&help))
}
