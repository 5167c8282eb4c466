//! Arguments of everything that predicts.

use std::path::Path;
#[cfg(feature = "fit")]
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::failure::Failure;
use super::input::{device_source, read_text};
use crate::ask::{Asker, ModelOptions, Predictor, counter};
use crate::curve::Fit;
use crate::device::{RunClock, is_path};
use crate::effort;
use crate::footprint::{Addressing, Engine};
use crate::kernel::Limits;
use crate::predict::Model;
use crate::text::shorten;
#[cfg(feature = "fit")]
use crate::text::{Diagnostic, Fault};
use crate::traffic::{Caches, Counting};

/// Words that an argument can be, what each stands for, and what the help says of it.
type Words<T> = &'static [(&'static str, T, &'static str)];

const MODELS: Words<Model> = &[
    ("default", Model::Default, "Limiters with latency, tail, launch, translation and a smooth combination"),
    ("roofline", Model::Roofline, "The paper's: the slowest of four limiters"),
];
const ADDRESSINGS: Words<Addressing> = &[
    ("linear", Addressing::Linear, "Exact bytes"),
    ("grid", Addressing::Grid, "Index tuples, as in the paper's section 4.4.1"),
];
const CACHES: Words<Caches> = &[
    ("warm", Caches::Warm, "What an earlier launch of the same kernel left, as far as it fits"),
    ("cold", Caches::Cold, "Nothing that the launch touches, but stores of other kernels"),
    (
        "empty",
        Caches::Empty,
        "Nothing, as profilers have it: their counters lack stores that still wait when it ends",
    ),
];

fn one_of<T: Copy + Send + Sync>(words: Words<T>) -> impl TypedValueParser<Value = T> {
    let possible = words.iter().map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(possible)
        .try_map(|given| words.iter().find(|w| w.0 == given).map(|w| w.1).ok_or("an unknown word"))
}

/// Reads what the caches hold when a launch begins.
pub(super) fn parse_caches() -> impl TypedValueParser<Value = Caches> {
    one_of(CACHES)
}

/// Arguments of everything that predicts.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct ModelArguments {
    /// A device by its id (see `wavecast devices`), a name that tools report, or a path ending in .yaml; a100-40gb by
    /// default. Given several times, the devices are compared
    #[arg(short, long, value_name = "DEVICE")]
    pub device: Vec<String>,
    /// Change a number of the device, for example l2.effective=80MiB (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    pub device_set: Vec<String>,
    /// The clock that the GPU runs at, for example 1.41GHz, instead of that of its description
    #[arg(long, value_name = "CLOCK", allow_hyphen_values = true)]
    pub clock: Option<RunClock>,
    /// Take hit rates and coefficients from this curve file, as `wavecast fit` writes it, or from the curves that ship
    /// with this id: of another GPU all but its bandwidth, latency and launch
    #[arg(long, value_name = "FILE", value_parser = read_curves)]
    pub curves: Option<CurveFile>,
    /// How time follows from volumes
    #[arg(long, value_parser = one_of(MODELS), value_name = "MODEL", default_value = "default")]
    pub model: Model,
    /// What counts as the same address
    #[arg(long, value_parser = one_of(ADDRESSINGS), value_name = "ADDRESSING", default_value = "linear")]
    pub addressing: Addressing,
    /// What the caches hold when a launch begins
    #[arg(long, value_parser = parse_caches(), value_name = "CACHES", default_value = "warm")]
    pub caches: Caches,
    /// Count with this engine only: linear, runs, isl, enumeration or sampling
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<Engine>,
    /// Count with a second engine too, and fail if they differ
    #[arg(long)]
    pub verify: bool,
    /// How many threads work at a time; by default one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Say on standard error how long it took
    #[arg(short, long)]
    pub verbose: bool,
}

/// Curves that were chosen.
#[derive(Debug, Clone)]
pub(super) enum CurveFile {
    /// Of a file that was read.
    Read(std::sync::Arc<Fit>),
    Shipped(&'static Fit),
}

fn read_curves(path: &str) -> Result<CurveFile, String> {
    if !is_path(path) && path != "-" && !Path::new(path).exists() {
        return shipped_curves(path).map(CurveFile::Shipped);
    }
    let (_, text) = read_text(path, Limits::default(), false).map_err(|f| f.to_text())?;
    let fit = crate::curve::read(path, &text).map_err(|fault| fault.to_string())?;
    Ok(CurveFile::Read(std::sync::Arc::new(fit)))
}

/// The curves that ship with an id, or for a device of that name.
fn shipped_curves(name: &str) -> Result<&'static Fit, String> {
    let of_device = || crate::curve::shipped(crate::device::find(name, &[]).ok()?.id());
    crate::curve::shipped(name).or_else(of_device).ok_or_else(|| {
        let known: Vec<&str> = crate::curve::shipped_ids().collect();
        let known = known.join(", ");
        format!("there are neither curves nor a file `{}`; these curves ship: {known}", shorten(name))
    })
}

impl ModelArguments {
    /// What predicts, for each of the devices: the device, and the options of the model.
    pub(super) fn predictors(&self) -> Result<Vec<Predictor<'_>>, Failure> {
        let options = self.options()?;
        let one = |name: Option<&str>| {
            let source = device_source(name, &self.device_set)?.at_clock(self.clock);
            Ok(Predictor::new(source)?.asked_by(Asker::CommandLine).with(options))
        };
        match self.device.as_slice() {
            [] => Ok(vec![one(None)?]),
            several => several.iter().map(|name| one(Some(name))).collect(),
        }
    }

    /// The device, where more than one makes no sense.
    #[cfg(feature = "fit")]
    pub(super) fn only_device(&self) -> Result<Option<&str>, Fault> {
        match self.device.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            several => {
                let message = format!("{} devices are given, where measurements are of one", several.len());
                let error = Diagnostic::global("usage", message).help("give `-d` once");
                Err(Fault::new(vec![error], Arc::default()))
            }
        }
    }

    /// The options of the model. An engine that this program was built without is refused.
    pub(super) fn options(&self) -> Result<ModelOptions<'_>, Failure> {
        let counter = counter(self.engine, self.verify, Asker::CommandLine)?;
        let counting = Counting { counter, addressing: self.addressing };
        Ok(ModelOptions { curves: self.curves(), ..ModelOptions::new(self.model, counting, self.caches) })
    }

    /// The curves that were chosen.
    pub(super) fn curves(&self) -> Option<&Fit> {
        self.curves.as_ref().map(|curves| match curves {
            CurveFile::Read(fit) => &**fit,
            CurveFile::Shipped(fit) => fit,
        })
    }

    /// Runs work on as many threads as were asked for.
    pub(super) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        let Some(jobs) = self.jobs else { return Ok(work()) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs)).build();
        let pool =
            pool.map_err(|e| Failure::message("threads", format!("cannot start threads: {e}"), None))?;
        let stop = effort::stop();
        Ok(pool.install(|| effort::heeding(stop.as_ref(), work)))
    }
}
