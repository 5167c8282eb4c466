//! `wavecast trace synth`: `convert` of a kernel document or of PTX.

use super::super::Outcome;
use super::super::failure::Failure;
use super::convert;

pub(super) fn run(arguments: &convert::Arguments) -> Outcome {
    if !arguments.is_kernel() {
        let message =
            "`trace synth` makes the trace of a kernel document (.yaml) or of PTX (.ptx)".to_owned();
        return Err(Failure::message("usage", message, Some("for a trace use `trace convert`")));
    }
    convert::run(arguments)
}
