//! `wavecast serve`.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::files::standard_output;
use super::output::Failure;
use wavecast::service::{Session, serve};

#[derive(Debug, Args)]
#[command(
    after_help = "A request a line, such as {\"id\": 7, \"op\": \"rank\", \"device\": \"a100\", \"kernel\": {...}};\n\
    ops are rank, predict, check and define. `wavecast schema request` and `wavecast schema answer` say all."
)]
pub(super) struct Arguments {
    /// Read requests from standard input, one JSON object a line; answer each on standard output
    #[arg(long, required = true)]
    stdio: bool,
    /// The device of requests that name none: an id or alias, or a path ending in .yaml
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,
    /// Threads that work at a time; as many as there are processors by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let jobs = match arguments.jobs.and_then(|n| NonZeroUsize::new(usize::from(n))) {
        Some(jobs) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build_global();
            pool.map_err(|e| Failure::message("threads", format!("cannot start threads: {e}"), None))?;
            jobs
        }
        None => std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
    };
    // Who cannot be answered need not ask.
    drop(standard_output()?);
    let session = Session::new(arguments.device.clone());
    serve(&session, std::io::stdin().lock(), std::io::stdout(), jobs)
        .map_err(|e| Failure::unwritten("standard output", &e))?;
    Ok(ExitCode::SUCCESS)
}
