//! `wavecast cache-probe --apply`: findings in a device file, shown as a difference first.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use super::super::Outcome;
use super::super::failure::Failure;
use super::super::files;
use super::super::input::read_text;
use super::super::progress;
use super::Arguments;
use crate::device;
use crate::kernel::Limits;
use crate::report::probe::ProbeDocument;
use crate::text::{Fault, Sources};

/// Key of the source that findings get.
const SOURCE: &str = "probe";

pub(super) fn run(arguments: &Arguments, path: &Path, document: &ProbeDocument) -> Outcome {
    let name = path.display().to_string();
    let (_, old) = read_text(&name, Limits::default(), false)?;
    if document.device_keys.is_empty() {
        let message = "nothing that was found belongs in a device file".to_owned();
        let help = "say what the chases went through with --level; open findings are not written";
        return Err(Failure::message("probe-no-keys", message, Some(help)));
    }
    let about = format!("wavecast cache-probe, {}", document.sources.join(", "));
    let new = device::edit(&old, &document.device_keys, SOURCE, &about).map_err(|diagnostic| {
        let mut sources = Sources::new();
        sources.add(name.clone(), old.clone());
        Failure::faults(vec![Fault::new(vec![diagnostic], std::sync::Arc::new(sources))], false)
    })?;
    // What cannot be read again is not written.
    device::read(&name, &new, &[]).map_err(|fault| Failure::faults(vec![fault], false))?;
    arguments.output.write(&difference(&name, &old, &new))?;
    if arguments.write && new != old {
        files::change(path, &new)?;
    } else if new != old {
        progress::say(&format!("{name} is not changed; --write changes it"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Lines that go and that come, with their numbers.
fn difference(name: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut out = String::new();
    if old == new {
        let _ = writeln!(out, "{name}: says this already");
        return out;
    }
    let _ = write!(out, "--- {name}\n+++ {name}, with what was found\n");
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        // The nearest lines that are the same again.
        let same =
            |&(a, b): &(usize, usize)| i + a < old.len() && j + b < new.len() && old[i + a] == new[j + b];
        let gaps = (1..=16).flat_map(|sum| (0..=sum).map(move |a| (a, sum - a)));
        let (gone, come) = gaps.into_iter().find(same).unwrap_or((old.len() - i, new.len() - j));
        let _ = writeln!(out, "@@ -{},{gone} +{},{come} @@", i + 1, j + 1);
        old[i..i + gone].iter().for_each(|l| out.extend(["-", l, "\n"]));
        new[j..j + come].iter().for_each(|l| out.extend(["+", l, "\n"]));
        (i, j) = (i + gone, j + come);
    }
    out
}
