//! Arguments of everything that predicts.

use clap::{Args, ValueEnum};

use super::failure::Failure;
use super::input::{DeviceText, load_device, read_text};
use crate::curve::{Curves, Fit};
use crate::device::{self, Device};
use crate::footprint::{Addressing, Counter, Engine};
use crate::kernel::{Kernel, Limits, Loaded};
use crate::predict::{Estimator, Model};
use crate::report::{Warning, kernels_warnings};
use crate::traffic::{Caches, Counting};

/// How time follows from volumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ModelName {
    /// Limiters with latency, tail, launch, translation and a smooth combination
    Default,
    /// The paper's: the slowest of four limiters
    Roofline,
}

/// What counts as the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AddressingName {
    /// Exact bytes
    Linear,
    /// Index tuples, as in the paper's section 4.4.1
    Grid,
}

/// What the caches hold when a launch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CachesName {
    /// What an earlier launch of the same kernel left, as far as it fits
    Warm,
    /// Nothing that the launch touches
    Cold,
}

impl CachesName {
    pub(super) fn caches(self) -> Caches {
        match self {
            CachesName::Warm => Caches::Warm,
            CachesName::Cold => Caches::Cold,
        }
    }
}

/// Arguments of everything that predicts.
#[derive(Debug, Clone, Args)]
pub(super) struct ModelArguments {
    /// A device id or alias (see `wavecast devices`), or a path ending in .yaml; a100-40gb by default
    #[arg(short, long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Change a number of the device, for example l2.capacity=80MiB (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    pub device_set: Vec<String>,
    /// Take hit rates and coefficients from this curve file, as `wavecast fit` writes it
    #[arg(long, value_name = "FILE", value_parser = read_curves)]
    pub curves: Option<CurveFile>,
    /// How time follows from volumes
    #[arg(long, value_enum, value_name = "MODEL", default_value = "default")]
    pub model: ModelName,
    /// What counts as the same address
    #[arg(long, value_enum, value_name = "ADDRESSING", default_value = "linear")]
    pub addressing: AddressingName,
    /// What the caches hold when a launch begins
    #[arg(long, value_enum, value_name = "CACHES", default_value = "warm")]
    pub caches: CachesName,
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

/// A curve file that was read.
#[derive(Debug, Clone)]
pub(super) struct CurveFile(std::sync::Arc<Fit>);

fn read_curves(path: &str) -> Result<CurveFile, String> {
    let (_, text) = read_text(path, Limits::default(), false).map_err(|f| f.to_text())?;
    let fit = crate::curve::read(path, &text).map_err(|fault| fault.to_string())?;
    Ok(CurveFile(std::sync::Arc::new(fit)))
}

impl ModelArguments {
    /// The device.
    pub(super) fn device(&self, json: bool) -> Result<Device, Failure> {
        load_device(self.device.as_deref().unwrap_or(device::DEFAULT), &self.device_set, json)
    }

    /// Refuses an engine that this program was built without: it could not count anything.
    pub(super) fn check_engine(&self, json: bool) -> Result<(), Failure> {
        match self.engine {
            Some(engine) if !engine.is_built() => {
                let message = format!("this program was built without isl, which `--engine {engine}` needs");
                let help =
                    "build it with the feature `isl`, which is one of the defaults, or choose another engine";
                Err(Failure::message("no-isl", message, Some(help)).for_json(json))
            }
            _ => Ok(()),
        }
    }

    /// The device, of which further numbers can be changed.
    pub(super) fn device_text(&self, json: bool) -> Result<DeviceText, Failure> {
        DeviceText::open(self.device.as_deref().unwrap_or(device::DEFAULT), json)
    }

    /// An estimator of a kernel.
    pub(super) fn estimator<'a>(&'a self, kernel: &'a Kernel, device: &'a Device) -> Estimator<'a> {
        let model = match self.model {
            ModelName::Default => Model::Default,
            ModelName::Roofline => Model::Roofline,
        };
        let addressing = match self.addressing {
            AddressingName::Linear => Addressing::Linear,
            AddressingName::Grid => Addressing::Grid,
        };
        let counter = self.engine.map_or_else(Counter::cheapest, Counter::forced);
        let counter = if self.verify { counter.verified() } else { counter };
        let mut estimator = Estimator::new(kernel, device);
        if let Some(fit) = self.curves() {
            estimator.curves = Curves::of_file(fit, device);
        }
        let caches = self.caches.caches();
        Estimator { model, counting: Counting { counter, addressing }, caches, ..estimator }
    }

    /// The curve file that was given.
    pub(super) fn curves(&self) -> Option<&Fit> {
        self.curves.as_ref().map(|CurveFile(fit)| &**fit)
    }

    /// What deserves a look before any candidate is considered.
    pub(super) fn warnings(&self, kernels: &[Kernel], loaded: &Loaded) -> Vec<Warning> {
        let mut all = kernels_warnings(kernels, &loaded.sources);
        if self.device.is_none() {
            let message = format!("no device given; {} assumed (choose with -d)", device::DEFAULT);
            all.push(Warning { code: "device-assumed", message, place: None });
        }
        all
    }

    /// Runs work on as many threads as were asked for.
    pub(super) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        let Some(jobs) = self.jobs else { return Ok(work()) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs)).build();
        let pool =
            pool.map_err(|e| Failure::message("threads", format!("cannot start threads: {e}"), None))?;
        Ok(pool.install(work))
    }
}
