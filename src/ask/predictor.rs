//! What every prediction takes: a device, and the options of the model.

use std::sync::Arc;

use super::asker::{Asker, fault};
use super::source::DeviceSource;
use crate::curve::{Curves, Fit};
use crate::device::{self, Device};
use crate::footprint::{Counter, Engine};
use crate::kernel::Kernel;
use crate::predict::{Estimator, Model};
use crate::report::{Warning, kernels_warnings};
use crate::text::{Fault, Sources};
use crate::traffic::{Caches, Counting};

/// How predictions are made.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ModelOptions<'c> {
    /// How time follows from volumes.
    pub model: Model,
    /// How lines are counted.
    pub counting: Counting,
    /// What the caches hold when a launch begins.
    pub caches: Caches,
    /// A curve file instead of the curves of the device.
    pub curves: Option<&'c Fit>,
}

impl<'c> ModelOptions<'c> {
    /// Without a curve file.
    pub fn new(model: Model, counting: Counting, caches: Caches) -> Self {
        Self { model, counting, caches, curves: None }
    }

    /// An estimator of a kernel on a device.
    pub fn estimator<'a>(&self, kernel: &'a Kernel, device: &'a Device) -> Estimator<'a>
    where
        'c: 'a,
    {
        let mut estimator = Estimator::new(kernel, device);
        if let Some(fit) = self.curves {
            estimator.curves = Curves::chosen(fit, device);
        }
        Estimator { model: self.model, counting: self.counting, caches: self.caches, ..estimator }
    }
}

/// Counts with the engine that was asked for, and with a second one if `verify` says so. An engine that this program
/// was built without could not count anything.
pub fn counter(engine: Option<Engine>, verify: bool, asker: Asker) -> Result<Counter, Fault> {
    if let Some(engine) = engine.filter(|e| !e.is_built()) {
        let given = asker.given("engine", engine);
        let message = format!("this program was built without {engine}, which `{given}` needs");
        let help = "build it with the feature `isl`, which is one of the defaults, or choose another engine";
        return Err(fault("no-isl", message, Some(help)));
    }
    let counter = engine.map_or_else(Counter::cheapest, Counter::forced);
    Ok(if verify { counter.verified() } else { counter })
}

/// A device that was read, and how predictions for it are made.
#[derive(Debug, Clone)]
pub struct Predictor<'c> {
    /// Who asks.
    pub(super) asker: Asker,
    /// Where the device comes from: a series reads it again with other numbers.
    pub(super) source: DeviceSource,
    pub(super) device: Arc<Device>,
    pub(super) model: ModelOptions<'c>,
}

impl Predictor<'_> {
    /// With the default model.
    pub fn new(source: DeviceSource) -> Result<Self, Fault> {
        let device = Arc::new(source.read(&[])?);
        Ok(Self::known(source, device))
    }

    /// With the default model, for a device that was read before.
    pub(super) fn known(source: DeviceSource, device: Arc<Device>) -> Self {
        Self { asker: Asker::default(), source, device, model: ModelOptions::default() }
    }

    /// The same with other options of the model.
    #[must_use]
    pub fn with(self, model: ModelOptions<'_>) -> Predictor<'_> {
        Predictor { model, asker: self.asker, source: self.source, device: self.device }
    }

    /// The same with messages for somebody else than a program.
    #[must_use]
    pub fn asked_by(self, asker: Asker) -> Self {
        Self { asker, ..self }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// An estimator of a kernel.
    pub fn estimator<'a>(&'a self, kernel: &'a Kernel) -> Estimator<'a> {
        self.model.estimator(kernel, &self.device)
    }

    /// What deserves a look before any launch is considered.
    pub(super) fn warnings(&self, kernels: &[Kernel], sources: &Sources) -> Vec<Warning> {
        let mut all = kernels_warnings(kernels, sources);
        if self.source.is_assumed() {
            let choose = self.asker.choosing_a_device();
            let message = format!("no device given; {} assumed ({choose})", device::DEFAULT);
            all.push(Warning { code: "device-assumed", message, place: None });
        }
        all.extend(self.set_in_vain());
        let unusual =
            |doubt: &String| Warning { code: "device-unusual", message: doubt.clone(), place: None };
        all.extend(self.device.doubts.iter().map(unusual));
        all
    }

    /// What is set of the device though no prediction reads it.
    fn set_in_vain(&self) -> impl Iterator<Item = Warning> {
        let option = self.asker.option("device-set");
        self.device.changed.keys().filter_map(move |path| {
            let instead = device::unread(path)?;
            let help =
                if instead.is_empty() { String::new() } else { format!("; the model counts with {instead}") };
            let message = format!("`{path}` changes nothing in predictions{help}");
            Some(Warning { code: "no-effect", message, place: Some(option.clone()) })
        })
    }
}
