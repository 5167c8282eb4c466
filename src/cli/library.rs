//! Kernels and devices as measurements name them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clap::Args;

use super::failure::Failure;
use super::foreign::bare_ptx;
use super::input::{device_source, is_ptx, read_text};
use super::model::ModelArguments;
use crate::ask::{Asker, KernelSource, KernelsRead, ModelOptions, limits};
use crate::device::{Device, is_path};
use crate::kernel::{Kernel, Limits, Options};
use crate::measure::Library;
use crate::measure::measurements::MeasuredSubject;
use crate::predict::Estimator;
use crate::text::{Diagnostic, Fault};

/// Where the kernels of measurements are.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct LibraryArguments {
    /// A file with kernels that the measurements name (repeatable)
    #[arg(long, value_name = "FILE")]
    kernel: Vec<String>,
    /// The folder with a file NAME.yaml for each kernel that is named otherwise
    #[arg(long, value_name = "FOLDER", default_value = "kernels")]
    kernels: PathBuf,
    /// Raise a limit that protects the tool, as for `rank`: steps, accesses and others (repeatable)
    #[arg(long, value_name = "NAME=N")]
    limit: Vec<String>,
}

/// Kernels and devices of measurements.
pub(super) struct Resolver<'a> {
    arguments: &'a LibraryArguments,
    /// The device of measurements that name none.
    device: &'a ModelArguments,
    options: ModelOptions<'a>,
    /// The folder of the measurements: paths of kernels start there.
    folder: PathBuf,
    json: bool,
    /// Texts that were read.
    texts: Mutex<BTreeMap<String, Result<Arc<str>, Fault>>>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        arguments: &'a LibraryArguments,
        device: &'a ModelArguments,
        options: ModelOptions<'a>,
        measurements: &str,
        json: bool,
    ) -> Self {
        let folder = Path::new(measurements).parent().map(Path::to_owned).unwrap_or_default();
        Self { arguments, device, options, folder, json, texts: Mutex::default() }
    }

    /// The text of a file, read once.
    fn text(&self, path: &str) -> Result<Arc<str>, Fault> {
        let mut texts = self.texts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = texts.get(path) {
            return known.clone();
        }
        let text = if is_ptx(path) {
            Err(bare_ptx(path))
        } else {
            read_text(path, Limits::default(), self.json).map(|(_, text)| Arc::from(text))
        };
        let text = text.map_err(|failure| first(failure, path));
        texts.insert(path.to_owned(), text.clone());
        text
    }

    /// The files in which a kernel may be.
    fn files(&self, name: &str) -> Vec<String> {
        let is_path =
            name.contains('/') || [".yaml", ".yml", ".json", ".ptx"].iter().any(|e| name.ends_with(e));
        if is_path {
            return vec![self.folder.join(name).to_string_lossy().into_owned()];
        }
        let mut files = self.arguments.kernel.clone();
        let shipped = self.arguments.kernels.join(format!("{name}.yaml"));
        if shipped.is_file() {
            files.push(shipped.to_string_lossy().into_owned());
        }
        files
    }
}

/// The fault of a failure.
fn first(failure: Failure, path: &str) -> Fault {
    let unknown = || Diagnostic::global("cannot-read", format!("cannot read {path}"));
    let fault = failure.into_faults().into_iter().next();
    fault.unwrap_or_else(|| Fault::new(vec![unknown()], Arc::default()))
}

impl Library for Resolver<'_> {
    fn kernel(&self, subject: &MeasuredSubject) -> Result<Kernel, Fault> {
        let name = &subject.kernel;
        let set = subject.params.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let limits = limits(&self.arguments.limit, Asker::CommandLine)?;
        let options = Options { set, limits };
        let files = self.files(name);
        for path in &files {
            let text = self.text(path)?;
            // A file with several documents need not know all parameters; only the one that is meant.
            let has = |kernel: &Kernel| kernel.name == *name || files.len() == 1;
            let read = |options: &Options| {
                let source = KernelSource {
                    options: options.clone(),
                    ..KernelSource::new(path.as_str(), Arc::clone(&text))
                };
                source.beside(Path::new(path)).read().map(KernelsRead::into_loaded)
            };
            if files.len() > 1 && !read(&Options::default())?.kernels.iter().any(has) {
                continue;
            }
            let kernels = read(&options)?.kernels;
            let found = kernels.into_iter().filter(has).find(|k| subject.means(k));
            return found.ok_or_else(|| {
                let variant = subject.variant.as_deref().unwrap_or_default();
                let message = format!("the kernel `{name}` has no variant `{variant}`");
                Fault::new(vec![Diagnostic::global("unknown-variant", message)], Arc::default())
            });
        }
        let message = format!("the measurements name a kernel `{name}`, which cannot be found");
        let help = format!(
            "give its file with --kernel FILE, or put {name}.yaml into {} (--kernels FOLDER)",
            self.arguments.kernels.display()
        );
        Err(Fault::new(vec![Diagnostic::global("unknown-kernel", message).help(help)], Arc::default()))
    }

    fn device(&self, subject: &MeasuredSubject) -> Result<Device, Fault> {
        let given = self.device.only_device()?;
        let Some(name) = subject.device.as_deref().or(given) else {
            let message = "the measurements name no device".to_owned();
            let help = "choose one with -d, or give a column `device`";
            return Err(Fault::new(
                vec![Diagnostic::global("no-device", message).help(help)],
                Arc::default(),
            ));
        };
        // A path is seen from the measurements, too.
        let beside = self.folder.join(name);
        let name = if is_path(name) && beside.is_file() { &*beside.to_string_lossy() } else { name };
        let source = device_source(Some(name), &self.device.device_set);
        let source = source.map_err(|failure| first(failure, name))?;
        source.at_clock(subject.clock.or(self.device.clock)).read(&[])
    }

    fn estimator<'a>(&'a self, kernel: &'a Kernel, device: &'a Device) -> Estimator<'a> {
        self.options.estimator(kernel, device)
    }
}
