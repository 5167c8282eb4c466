//! Whole sets of measurements: the files in `sets/`, their tables, and predictions of all that they take.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{File, read_dir, read_to_string};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use wavecast::device::{Device, find};
use wavecast::kernel::{Kernel, Limits, Options, load};
use wavecast::measure::Library;
use wavecast::measure::fit::PredictedGroups;
use wavecast::measure::measurements::MeasuredSubject;
use wavecast::measure::sets::{SampleOptions, SetFile, groups};
use wavecast::predict::Estimator;
use wavecast::text::{Diagnostic, Fault};
use wavecast::trace::format::unpack;

/// Kernels beside the sets and in `kernels/`, devices that ship.
pub struct Shipped {
    sets: PathBuf,
    kernels: PathBuf,
    texts: Mutex<BTreeMap<PathBuf, Arc<str>>>,
}

impl Shipped {
    /// Of a folder with set files; the folder `kernels` lies beside it.
    pub fn new(sets: &Path) -> Self {
        let kernels = sets.join("..").join("kernels");
        Self { sets: sets.to_owned(), kernels, texts: Mutex::default() }
    }

    /// The text of a file, read once.
    fn text(&self, path: &Path) -> Result<Arc<str>, Fault> {
        let mut texts = self.texts.lock().expect("nobody panics with it");
        if let Some(known) = texts.get(path) {
            return Ok(known.clone());
        }
        let text = read_to_string(path)
            .map_err(|why| fault("cannot-read", &format!("{}: {why}", path.display())))?;
        let text: Arc<str> = text.into();
        texts.insert(path.to_owned(), text.clone());
        Ok(text)
    }
}

fn fault(code: &'static str, message: &str) -> Fault {
    Fault::new(vec![Diagnostic::global(code, message.to_owned())], Arc::default())
}

impl Library for Shipped {
    fn kernel(&self, subject: &MeasuredSubject) -> Result<Kernel, Fault> {
        let name = &subject.kernel;
        let is_path = Path::new(name).extension().is_some();
        let path = if is_path { self.sets.join(name) } else { self.kernels.join(format!("{name}.yaml")) };
        let set = subject.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // A few rows take more steps than one would wait for while ranking.
        let limits = Limits { steps: 4_000_000_000, ..Limits::default() };
        let options = Options { set, limits };
        let all = load(&path.display().to_string(), &self.text(&path)?, &options)?.kernels;
        let meant = all.into_iter().find(|kernel| subject.means(kernel));
        meant.ok_or_else(|| fault("unknown-variant", &format!("{name}: no variant {:?}", subject.variant)))
    }

    fn device(&self, subject: &MeasuredSubject) -> Result<Device, Fault> {
        let name = subject.device.as_deref().ok_or_else(|| fault("no-device", "a set names its device"))?;
        find(name, &[])
    }

    fn estimator<'a>(&'a self, kernel: &'a Kernel, device: &'a Device) -> Estimator<'a> {
        Estimator::new(kernel, device)
    }
}

/// All sets of a folder with predictions, in the order of their names. `data` has their tables.
pub fn predicted(
    folder: &Path,
    data: &Path,
    sample: Option<usize>,
    library: &Shipped,
) -> Result<Vec<PredictedGroups>, Box<dyn Error>> {
    let mut files: Vec<PathBuf> = read_dir(folder)
        .map_err(|why| format!("{}: {why}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    files.sort();
    let options = SampleOptions { rows: sample, seed: None };
    let mut all = Vec::new();
    for path in files {
        let file = SetFile::read(&path.display().to_string(), &read_to_string(&path)?)?;
        let mut bytes = Vec::new();
        let table = file.table(&path, Some(data));
        File::open(&table)
            .and_then(unpack)
            .and_then(|mut table| table.read_to_end(&mut bytes))
            .map_err(|why| format!("{}: {why}", table.display()))?;
        // The page does not say where the tables lie.
        let set = file.launches(file.data(), &bytes, options)?;
        let launches = set.launches.len();
        let started = std::time::Instant::now();
        let (groups, rejected) =
            groups(&set, library, &AtomicUsize::new(0)).map_err(|mut faults| faults.remove(0))?;
        eprintln!("{}: {launches} launches in {:.0?}", set.facts.id, started.elapsed());
        all.push(PredictedGroups { set, groups, rejected });
    }
    Ok(all)
}
