//! `wavecast trace sweep`.

use clap::Args;

use super::super::Outcome;
use super::super::answers::answer;
use super::super::failure::Failure;
use super::super::output::OutputArguments;
use super::input::{Opened, TraceArguments};
use super::settings::ModelArguments;
use crate::quantity::Ratio;
use crate::report::trace::{TraceHead, TraceSweepDocument, TraceSweepPoint};
use crate::trace::coalesce::Requests;
use crate::trace::reuse::MissTypes;

/// The factors of N section 7.
const FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    trace: TraceArguments,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    answer(&arguments.output, &["svg"], || document(arguments))
}

fn document(arguments: &Arguments) -> Result<TraceSweepDocument, Failure> {
    let opened = arguments.model.open(&arguments.trace)?;
    let rules = arguments.model.config()?.rules;
    let requests = arguments.model.requests(&arguments.trace, &opened, rules)?;
    let mut points = Vec::new();
    for parameter in ["associativity", "size", "line", "mshrs"] {
        for factor in FACTORS {
            points.extend(point(arguments, &opened, &requests, parameter, factor)?);
        }
    }
    let head = TraceHead::new(&arguments.trace.path, opened.facts().launch.clone());
    Ok(TraceSweepDocument { schema: "wavecast/trace-sweep/1", head, points })
}

/// One value of a parameter, with the requests for lines of the original length; none if it is below 1.
fn point(
    arguments: &Arguments,
    opened: &Opened,
    requests: &Requests,
    parameter: &'static str,
    factor: f64,
) -> Result<Option<TraceSweepPoint>, Failure> {
    let base = arguments.model.config()?;
    let mut model = arguments.model.clone();
    let scaled = |n: u64| {
        let value = n as f64 * factor;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number")]
        (value >= 1.0 && value.fract() == 0.0).then_some(value as u64)
    };
    let original = match parameter {
        // The cache keeps its size: sets become fewer.
        "associativity" => u64::from(base.geometry.ways()),
        "size" => base.geometry.bytes(),
        "line" => model.line,
        _ => u64::from(base.mshrs.total.unwrap_or(64)),
    };
    let Some(value) = scaled(original) else { return Ok(None) };
    model.size = Some(base.geometry.bytes());
    model.ways = Some(u64::from(base.geometry.ways()));
    match parameter {
        "associativity" => model.ways = Some(value),
        "size" => model.size = Some(value),
        "line" => model.line = value,
        // More than can be counted is as good as all.
        _ => model.mshrs = u32::try_from(value).unwrap_or(u32::MAX),
    }
    let config = model.config()?;
    let of_line;
    let requests = if parameter == "line" && model.line != arguments.model.line {
        of_line = model.requests(&arguments.trace, opened, config.rules)?;
        &of_line
    } else {
        requests
    };
    let (misses, full) = MissTypes::simulated(requests, opened.facts().block_threads(), &config);
    Ok(Some(TraceSweepPoint {
        parameter,
        factor: Ratio::new(factor),
        value,
        miss_rate_percent: full.miss_rate_percent,
        requests: requests.requests.len() as u64,
        misses,
    }))
}
