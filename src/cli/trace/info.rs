//! `wavecast trace info`.

use clap::Args;

use super::super::Outcome;
use super::super::answers::answer;
use super::super::failure::Failure;
use super::super::output::OutputArguments;
use super::input::TraceArguments;
use crate::report::trace::TraceInfoDocument;
use crate::trace::contents::ContentsSink;
use crate::trace::format::{Reading, Sink};
use crate::trace::{Header, Trace};

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    output: OutputArguments,
}

fn replay(arguments: &TraceArguments, trace: Trace, sink: &mut ContentsSink) -> Result<(), Failure> {
    let header = Header { kernel: trace.kernel.clone(), block: trace.block, grid: Some(trace.grid) };
    let handed = sink.begin(&header, false).and_then(|()| {
        trace.accesses().iter().try_for_each(|&access| sink.access(access, &trace.tables))?;
        sink.end(trace.tables)
    });
    handed.map_err(|e| arguments.failure(&e))
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    answer(&arguments.output, &[], || document(arguments))
}

fn document(arguments: &Arguments) -> Result<TraceInfoDocument, Failure> {
    let mut sink = ContentsSink::default();
    let reading = if arguments.trace.is_kernel() {
        arguments
            .trace
            .one(None, None)
            .and_then(|t| replay(&arguments.trace, t, &mut sink))
            .map(|()| Reading::default())
    } else {
        arguments.trace.stream(&mut sink)
    };
    Ok(TraceInfoDocument::new(&arguments.trace.path, reading?, sink.launches))
}
