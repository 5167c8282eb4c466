//! `wavecast serve`.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::Outcome;
use super::ending::until_asked_to_end;
use super::failure::Failure;
use super::files::standard_output;
use super::http::HERE;
use crate::ask::{Ending, HttpServing, Serving, Session, serve};

#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_help = "A request a line, such as {\"id\": 7, \"op\": \"rank\", \"device\": \"a100\", \"kernel\": {...}};\n\
    ops are rank, predict, explain, sweep, check, devices, define and cancel. `wavecast schema request` and `wavecast schema answer` say all.\n\
    SIGTERM or SIGINT: what is being worked on is answered, what waits is refused, and the exit code is 0."
)]
pub(super) struct Arguments {
    /// Read requests from standard input, one JSON object a line; answer each on standard output
    #[arg(long)]
    stdio: bool,
    /// Serve the page, and requests at POST /ask, over HTTP; prints the address. Only this machine reaches it, at a free
    /// port, unless another address is named
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = HERE, conflicts_with = "stdio")]
    http: Option<String>,
    /// The device of requests that name none: an id or alias, or a path ending in .yaml
    #[arg(short, long, value_name = "DEVICE")]
    device: Option<String>,
    /// How many threads work at a time; by default one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// How long a request may be worked on; 0 for as long as it takes
    #[arg(long, value_name = "SECONDS", default_value_t = Serving::TIME_LIMIT.as_secs_f64(), value_parser = seconds)]
    time_limit: f64,
    /// Longest request in bytes: longer ones are refused unread [default: 64 MiB, or 8 MiB of --http]
    #[arg(long, value_name = "N")]
    request_bytes: Option<usize>,
    /// Let requests name device files of this machine; not over HTTP
    #[arg(long, conflicts_with = "http")]
    allow_files: bool,
}

/// Reads a time.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|s| (0.0..=1e9).contains(s));
    number.ok_or_else(|| "a number of seconds, 0 or more".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    if !arguments.stdio && arguments.http.is_none() {
        let message = "it is not said where requests come from".to_owned();
        let help = "--stdio reads them from standard input, --http serves a page and takes them over HTTP";
        return Err(Failure::message("usage", message, Some(help)));
    }
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
    let session = if arguments.allow_files { session } else { session.without_files() };
    let limit = Some(arguments.time_limit).filter(|s| *s > 0.0).map(Duration::from_secs_f64);
    let ending = Ending::default();
    let usual = if arguments.http.is_some() { HttpServing::REQUEST_BYTES } else { Serving::REQUEST_BYTES };
    let request_bytes = arguments.request_bytes.unwrap_or(usual);
    let serving = Serving { jobs, time_limit: limit, request_bytes, ending: ending.clone() };
    if let Some(address) = &arguments.http {
        return super::http::run(&session, address, serving);
    }
    let input = until_asked_to_end(std::io::stdin(), &ending)
        .map_err(|e| Failure::message("signals", format!("cannot wait for signals: {e}"), None))?;
    serve(&session, input, std::io::stdout(), serving)
        .map_err(|e| Failure::unwritten("standard output", &e))?;
    Ok(ExitCode::SUCCESS)
}
