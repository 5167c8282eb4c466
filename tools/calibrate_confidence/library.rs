//! Kernels and devices of set files: `kernels/NAME.yaml` of this folder, or a path from the set file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use wavecast::device::{Device, find};
use wavecast::kernel::{Kernel, Limits, Options, load};
use wavecast::measure::Library;
use wavecast::measure::measurements::MeasuredSubject;
use wavecast::predict::Estimator;
use wavecast::text::{Diagnostic, Fault};

/// What the sets name.
#[derive(Default)]
pub struct Files {
    folders: Mutex<Vec<PathBuf>>,
}

impl Files {
    /// Paths of kernels may begin in the folder of this set file.
    pub fn beside(&self, set: &Path) {
        let folder = set.parent().map(Path::to_owned).unwrap_or_default();
        let mut folders = self.folders.lock().expect("nobody panics with it");
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }

    fn text(&self, kernel: &str) -> Option<(String, String)> {
        let mut paths = vec![Path::new("kernels").join(format!("{kernel}.yaml"))];
        let folders = self.folders.lock().expect("nobody panics with it");
        paths.extend(folders.iter().map(|folder| folder.join(kernel)));
        let path = paths.into_iter().find(|path| path.is_file())?;
        Some((path.display().to_string(), std::fs::read_to_string(path).ok()?))
    }
}

impl Library for Files {
    fn kernel(&self, subject: &MeasuredSubject) -> Result<Kernel, Fault> {
        let missing =
            |what: String| Fault::new(vec![Diagnostic::global("unknown-kernel", what)], Arc::default());
        let (path, text) = self
            .text(&subject.kernel)
            .ok_or_else(|| missing(format!("there is no kernel {}", subject.kernel)))?;
        let set = subject.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // A few rows take more steps than one would wait for while ranking.
        let limits = Limits { steps: 4_000_000_000, ..Limits::default() };
        let kernels = load(&path, &text, &Options { set, limits })?.kernels;
        let meant = kernels.into_iter().find(|kernel| subject.means(kernel));
        meant.ok_or_else(|| missing(format!("{path} has no such variant")))
    }

    fn device(&self, subject: &MeasuredSubject) -> Result<Device, Fault> {
        find(subject.device.as_deref().unwrap_or_default(), &[])
    }

    fn estimator<'a>(&'a self, kernel: &'a Kernel, device: &'a Device) -> Estimator<'a> {
        Estimator::new(kernel, device)
    }
}
