//! Commands of the whole program that this one was built without: named in its help, so that nobody looks for them in
//! vain, and refused with what to do.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use super::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum LeftOut {
    /// Not in this program: reuse distances, simulated caches and traces of kernels
    Trace(Ignored),
    /// Not in this program: the structure of a cache from latencies
    CacheProbe(Ignored),
    /// Not in this program: the analytic model beside a simulation of both caches
    Compare(Ignored),
    /// Not in this program: predictions beside measurements
    Validate(Ignored),
    /// Not in this program: what profilers and tuners write into the measurement format
    Import(Ignored),
    /// Not in this program: fitting hit rates, bandwidths and latencies to measurements
    Fit(Ignored),
}

/// Whatever stands behind the command.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Ignored {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

impl LeftOut {
    /// Why it cannot be run, and what to do.
    pub fn failure(&self) -> Failure {
        let (name, given) = match self {
            Self::Trace(given) => ("trace", given),
            Self::CacheProbe(given) => ("cache-probe", given),
            Self::Compare(given) => ("compare", given),
            Self::Validate(given) => ("validate", given),
            Self::Import(given) => ("import", given),
            Self::Fit(given) => ("fit", given),
        };
        let json = super::asks_for_json(&given.rest);
        let message =
            format!("this program was built without `{name}`, which the feature `fit` of Wavecast brings");
        let help = "`cargo install --path .` in the folder of Wavecast builds the whole program; \
                    `cargo build --release --no-default-features --features cli,fit` does it in pure Rust";
        Failure::message("usage", message, Some(help)).for_json(json)
    }
}
