//! `wavecast batch`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use super::Outcome;
use super::ending::{INTERRUPTED, end_at_interrupt};
use super::failure::Failure;
use super::files::{self, Grown, standard_output};
use super::progress::{self, Progress};
use super::serve::seconds;
use crate::ask::{Batch, Batched, Id, NotBatched, Serving, Session, batch};

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_help = "A request a line, as `serve` takes them: {\"op\": \"rank\", \"device\": \"a100\", \"kernel\": {...}}. A line of answer \
    each, in the same order; those without a result say why. `wavecast schema request` and `wavecast schema answer` say all.\n\
    Example: wavecast batch jobs.jsonl -o answers.jsonl, and with --resume to go on after a crash\n\
    Exit codes: 0 all have results; 1 some have none; 130 ended by Ctrl-C, when --resume goes on"
)]
pub(super) struct Arguments {
    /// Requests as JSON lines; `-` reads standard input
    #[arg(value_name = "JOBS.jsonl")]
    jobs_file: PathBuf,
    /// Write the answers to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Go on with the file of -o: requests whose answers are there are not answered again
    #[arg(long, requires = "output")]
    resume: bool,
    /// The device of requests that name none: an id or alias, or a path ending in .yaml
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,
    /// How many threads work at a time; by default one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// How long a request may be worked on; 0 for as long as it takes
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    time_limit: f64,
    /// Longest request in bytes: longer lines have no result
    #[arg(long, value_name = "N", default_value_t = Serving::REQUEST_BYTES)]
    request_bytes: usize,
    /// Print no progress
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    if let Some(jobs) = arguments.jobs.and_then(|n| NonZeroUsize::new(usize::from(n))) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build_global();
        pool.map_err(|e| Failure::message("threads", format!("cannot start threads: {e}"), None))?;
    }
    let (input, count) = requests(&arguments.jobs_file)?;
    let (mut output, answered) = match &arguments.output {
        Some(path) => {
            let (file, answered) = answers(path, arguments.resume)?;
            (Box::new(file) as Box<dyn Write>, answered)
        }
        None => (Box::new(standard_output()?) as Box<dyn Write>, None),
    };
    let (end, done, all) = (Arc::new(AtomicBool::new(false)), AtomicUsize::new(0), AtomicUsize::new(count));
    end_at_interrupt(&end)?;
    let time_limit = Some(arguments.time_limit).filter(|s| *s > 0.0).map(Duration::from_secs_f64);
    let request_bytes = arguments.request_bytes;
    let how = Batch { time_limit, request_bytes, answered, done: &done, end: &end };
    let mut write = |text: &str| output.write_all(text.as_bytes()).and_then(|()| output.flush());
    let session = Session::new(arguments.device.clone());
    let work = || batch(&session, input, &mut write, &how);
    let found = Progress::start(&done, &all, arguments.quiet).counting("requests").during(work);
    Ok(told(&found.map_err(|why| failed(why, arguments))?, arguments))
}

/// Says how many requests have no result.
fn told(found: &Batched, arguments: &Arguments) -> ExitCode {
    if let Some((number, why)) = &found.first_failed {
        let (failed, answered) = (found.failed, found.answered);
        progress::say(&format!(
            "{failed} of {answered} requests have no result; the first is request {number}: {why}"
        ));
    }
    if found.ended {
        let help = if arguments.output.is_some() { "; the same command with --resume goes on" } else { "" };
        progress::say(&format!("ended after {} answers{help}", found.answered));
        return ExitCode::from(INTERRUPTED);
    }
    if found.failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

fn failed(why: NotBatched, arguments: &Arguments) -> Failure {
    match why {
        NotBatched::Io(error) => {
            let to =
                arguments.output.as_ref().map_or("standard output".into(), |path| path.display().to_string());
            Failure::unwritten(&to, &error)
        }
        other => {
            let help = "these answers are to other requests: name another file with -o";
            Failure::message("resume", other.to_string(), Some(help))
        }
    }
}

/// The requests, and how many lines there are; 0 where that cannot be known.
fn requests(path: &Path) -> Result<(Box<dyn BufRead>, usize), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(files::stdin()?)), 0));
    }
    let mut file = files::open(path)?;
    let unread = |e: &io::Error| Failure::file("cannot-read", path, "read", e);
    // What is no plain file can be read once only.
    let plain = file.metadata().is_ok_and(|about| about.is_file());
    let mut count = 0;
    if plain {
        let mut lines = BufReader::new(&file);
        let mut piece = vec![0; 1 << 16];
        loop {
            match lines.read(&mut piece).map_err(|e| unread(&e))? {
                0 => break,
                n => count += memchr::memchr_iter(b'\n', &piece[..n]).count(),
            }
        }
        file.seek(SeekFrom::Start(0)).map_err(|e| unread(&e))?;
    }
    Ok((Box::new(BufReader::new(file)), count))
}

/// The file for answers, and how many are in it already, with the id of the last.
fn answers(path: &Path, resume: bool) -> Result<(File, Option<(usize, Id)>), Failure> {
    if !resume {
        return Ok((Grown::create(path)?.file, None));
    }
    let Grown { file, lines, last } = Grown::resume(path)?;
    if lines == 0 {
        return Ok((file, None));
    }
    let last = id(&last).ok_or_else(|| {
        let message = format!("line {lines} of {} is no answer", path.display());
        Failure::message("resume", message, Some("name another file with -o"))
    })?;
    Ok((file, Some((lines, last))))
}

/// The id of an answer.
fn id(line: &[u8]) -> Option<Id> {
    #[derive(Deserialize)]
    struct Answered {
        id: Id,
        #[serde(rename = "ok")]
        _ok: bool,
    }
    serde_json::from_slice::<Answered>(line).ok().map(|answer| answer.id)
}
