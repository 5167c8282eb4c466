//! Set files and their tables.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;

use clap::Args;

use super::failure::Failure;
use super::files;
use super::input::read_text;
use super::library::Resolver;
use super::measured::MeasuredArguments;
use super::model::ModelArguments;
use super::output::extension;
use super::progress::Progress;
use crate::kernel::Limits;
use crate::measure::sets::{MeasuredSet, SampleOptions, SetFile};
use crate::text::Fault;
use crate::trace::format::unpack;

/// Most bytes of a table when it is unpacked: what is longer is hardly one.
const MOST_BYTES: u64 = 4 << 30;

/// Where the tables of set files are, and how much of them is looked at.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(super) struct SetArguments {
    /// The folder from which the tables of set files are named; by default that of the set file
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Look at no more than so many configurations of each group and part of a set
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
}

/// A set with the file that it was read from.
pub(super) struct NamedSet {
    pub(super) path: String,
    pub(super) set: MeasuredSet,
}

/// Whether set files are given; files of both kinds cannot be compared in one table.
pub(super) fn are_sets(paths: &[String]) -> Result<bool, Failure> {
    let is_set =
        |path: &&String| extension(Path::new(path)).is_some_and(|e| ["yaml", "yml"].contains(&e.as_str()));
    let sets = paths.iter().filter(is_set).count();
    if sets > 0 && sets < paths.len() {
        let message = "set files (.yaml) and measurement files are given together".to_owned();
        let help = "give one kind at a time; a set file can name any table of measurements";
        return Err(Failure::message("usage", message, Some(help)));
    }
    Ok(sets > 0)
}

impl SetArguments {
    /// The sets of all files, or all that is wrong with any of them.
    pub(super) fn read(&self, measured: &MeasuredArguments, json: bool) -> Result<Vec<NamedSet>, Failure> {
        if measured.half.is_some() {
            let message = "--half is for measurement files".to_owned();
            let help = "--sample N with different seeds draws parts of sets";
            return Err(Failure::message("usage", message, Some(help)).for_json(json));
        }
        let options = SampleOptions { rows: self.sample, seed: measured.seed };
        let (mut sets, mut faults) = (Vec::new(), Vec::new());
        for path in &measured.measurements {
            match self.one(path, options, json)? {
                Ok(set) => sets.push(NamedSet { path: path.clone(), set }),
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(sets) } else { Err(Failure::faults(faults, json)) }
    }

    fn one(
        &self,
        path: &str,
        options: SampleOptions,
        json: bool,
    ) -> Result<Result<MeasuredSet, Fault>, Failure> {
        let (name, text) = read_text(path, Limits::default(), json)?;
        let file = match SetFile::read(&name, &text) {
            Ok(file) => file,
            Err(fault) => return Ok(Err(fault)),
        };
        let table = file.table(Path::new(path), self.data.as_deref());
        let mut bytes = Vec::new();
        let read = std::fs::File::open(&table).and_then(unpack).and_then(|from| {
            let count = from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
            let most = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
            if count > most { Err(std::io::Error::other("it is longer than 4 GiB")) } else { Ok(()) }
        });
        if let Err(why) = read {
            return Ok(Err(file.without_data(format!("cannot read {}: {why}", table.display()))));
        }
        files::reads(&table).map_err(|f| f.for_json(json))?;
        Ok(file.launches(&table.display().to_string(), &bytes, options))
    }
}

/// Does something with every set that predicts its launches, with the progress of all of them.
pub(super) fn each<T: Send>(
    sets: &[NamedSet],
    measured: &MeasuredArguments,
    model: &ModelArguments,
    json: bool,
    work: impl Fn(&MeasuredSet, &Resolver<'_>, &AtomicUsize) -> Result<T, Vec<Fault>> + Sync + Send,
) -> Result<Vec<T>, Failure> {
    let options = model.options().map_err(|f| f.for_json(json))?;
    let all = AtomicUsize::new(sets.iter().map(|s| s.set.launches.len()).sum());
    let done = AtomicUsize::new(0);
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    Progress::start(&done, &all, model.quiet).counting("launches").during(|| {
        for NamedSet { path, set } in sets {
            let resolver = Resolver::new(&measured.library, model, options, path, json);
            match model.in_pool(|| work(set, &resolver, &done))? {
                Ok(one) => found.push(one),
                Err(some) => faults.extend(some),
            }
        }
        Ok::<(), Failure>(())
    })?;
    if faults.is_empty() { Ok(found) } else { Err(Failure::faults(faults, json)) }
}
