//! `wavecast licences`.

use std::process::ExitCode;

use super::Outcome;
use super::files::print;

const OWN: &str = "Wavecast is licensed under MIT or Apache 2.0, as you like.\n\
    Copyright (c) The Wavecast developers\n\n";
/// What `tests/third_party.rs` keeps true.
const OTHERS: &str = include_str!("../../THIRD-PARTY.txt");

pub(super) fn run() -> Outcome {
    print(OWN)?;
    print(OTHERS)?;
    Ok(ExitCode::SUCCESS)
}
