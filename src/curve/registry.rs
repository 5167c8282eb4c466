//! The curve files that ship, and which one a device uses.

use std::sync::{Arc, OnceLock};

use serde_yaml::Value;

use super::document::Fit;
use crate::device::{Device, Vendor};
use crate::source::{Diagnostic, Fault};

/// The files in the binary; one may inherit from an earlier one.
const FILES: [&str; 4] = [
    include_str!("../../fits/v100-pcie-32gb.yaml"),
    include_str!("../../fits/a100-40gb.yaml"),
    include_str!("../../fits/a100-80gb.yaml"),
    include_str!("../../fits/h100-pcie.yaml"),
];

/// The curve file of a text, with what it inherits from those that ship.
pub fn read(name: &str, text: &str) -> Result<Fit, Fault> {
    whole(text, fits()).map_err(|message| {
        let diagnostic = Diagnostic::global("curves", format!("{name}: {message}"));
        Fault::new(vec![diagnostic.help("see docs/fits.md")], Arc::default())
    })
}

/// Those of the binary.
fn fits() -> &'static [Fit] {
    static FITS: OnceLock<Vec<Fit>> = OnceLock::new();
    let all: &Vec<Fit> = once(&FITS, || {
        let mut fits = Vec::new();
        for text in FILES {
            // That every file reads is a test below.
            fits.extend(whole(text, &fits));
        }
        fits
    });
    all
}

/// The curves of devices that have none: those of the device that was measured best, without what
/// holds for that device alone.
fn relative() -> Option<&'static Fit> {
    static RELATIVE: OnceLock<Option<Fit>> = OnceLock::new();
    once(&RELATIVE, || fits().first().map(|fit| fit.inherited_by(""))).as_ref()
}

/// A value that is made where it is missing, before anybody is kept out: a process that is forked off while
/// another thread makes it would wait for that thread for ever.
fn once<T>(place: &OnceLock<T>, make: impl Fn() -> T) -> &T {
    if let Some(value) = place.get() {
        return value;
    }
    let value = make();
    place.get_or_init(|| value)
}

/// The curve file of a text, with what it inherits from one of `fits`, or what is wrong with it.
fn whole(text: &str, fits: &[Fit]) -> Result<Fit, String> {
    let mut own: Value = serde_yaml::from_str(text).map_err(|e| e.to_string())?;
    if let Some(base) = own.get("inherit").and_then(Value::as_str) {
        let base = fits.iter().find(|f| f.id == base);
        let base =
            base.ok_or_else(|| format!("there are no curves `{}` to inherit", word(&own, "inherit")))?;
        let base = serde_yaml::to_value(base.inherited_by(word(&own, "id"))).map_err(|e| e.to_string())?;
        own = merged(&base, &own);
    }
    let fit: Fit = serde_yaml::from_value(own).map_err(|e| e.to_string())?;
    match fit.version {
        1 => Ok(fit),
        other => Err(format!("version {other} of curve files is not known")),
    }
}

fn word<'v>(file: &'v Value, key: &str) -> &'v str {
    file.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// `over` on top of `base`, mapping by mapping.
fn merged(base: &Value, over: &Value) -> Value {
    // What names its form or its source is one thing and is replaced whole.
    let whole = |v: &Value| v.get("source").is_some();
    match (base, over) {
        (Value::Mapping(below), Value::Mapping(above)) if !whole(over) => {
            let mut out = below.clone();
            for (key, value) in above {
                let joined = below.get(key).map_or_else(|| value.clone(), |b| merged(b, value));
                out.insert(key.clone(), joined);
            }
            Value::Mapping(out)
        }
        _ => over.clone(),
    }
}

/// Curves that ship, by their id.
pub fn shipped(id: &str) -> Option<&'static Fit> {
    fits().iter().find(|f| f.id == id)
}

/// The curves that a device uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curves<'a> {
    /// The coefficients.
    pub fit: &'a Fit,
    /// Whether the file is the device's own.
    pub own: bool,
    /// Whether they were measured on a device of another maker.
    pub foreign: bool,
}

impl<'a> Curves<'a> {
    /// Those of a file that was read, for a device.
    pub fn of_file(fit: &'a Fit, device: &Device) -> Self {
        Self { fit, own: fit.id == device.id, foreign: false }
    }

    /// Their name, as results show it.
    pub fn name(&self) -> String {
        let id = &self.fit.id;
        match (&self.fit.inherit, self.own) {
            (None, true) => id.clone(),
            (Some(base), true) => format!("{id} (hit rates inherited from {base})"),
            (_, false) => format!("inherited from {id}"),
        }
    }
}

/// The curves of a device: its own, or those of the device that was measured best, without what holds
/// for that device alone.
pub fn for_device(device: &Device) -> Curves<'static> {
    let own = shipped(&device.id);
    // A test below shows that the first file reads, and without its own keys too.
    let relative = || relative().unwrap_or(&fits()[0]);
    Curves { fit: own.unwrap_or_else(relative), own: own.is_some(), foreign: device.vendor != Vendor::Nvidia }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_inherit_from_those_that_ship() {
        let text = "{wavecast-curves: 1, id: mine, inherit: v100-pcie-32gb, about: x, \
                    time: {dispatch_cycles: {value: 3, source: star}}}";
        let fit = read("mine.yaml", text).unwrap();
        assert!((fit.time.dispatch_cycles.value - 3.0).abs() < 1e-12);
        assert_eq!(fit.volumes, fits()[0].volumes);
        assert!(fit.time.dram_one_way.is_none(), "the V100's bandwidth is not that of another GPU");
        let again = read("again.yaml", &text.replace("id: mine", "id: v100-pcie-32gb")).unwrap();
        assert_eq!(again.time.dram_one_way, fits()[0].time.dram_one_way);
        for (wrong, said) in [
            ("{", "mine.yaml"),
            ("{wavecast-curves: 1, id: a, inherit: nothing}", "`nothing`"),
            (&text.replace("curves: 1", "curves: 2"), "version 2"),
            (&text.replace("about", "abuot"), "abuot"),
        ] {
            let fault = read("mine.yaml", wrong).unwrap_err().to_string();
            assert!(fault.contains(said), "{fault}");
        }
    }

    #[test]
    fn devices_without_curves_keep_their_own_bandwidth_and_latency() {
        let h200 = for_device(&crate::device::find("h200", &[]).unwrap());
        let time = &h200.fit.time;
        assert!(!h200.own && h200.fit.id == fits()[0].id);
        assert!(time.dram_one_way.is_none() && time.thread_cycles.is_none() && time.launch_seconds.is_none());
        assert_eq!(time.turnaround, fits()[0].time.turnaround);
        let v100 = for_device(&crate::device::find("v100", &[]).unwrap());
        assert!(v100.own && v100.fit.time.dram_one_way.is_some());
    }

    #[test]
    fn every_file_reads_and_names_its_sources() {
        assert_eq!(fits().len(), FILES.len());
        for fit in fits() {
            let value = serde_yaml::to_value(fit).unwrap();
            for part in ["volumes", "time"] {
                for (name, coefficient) in value.get(part).unwrap().as_mapping().unwrap() {
                    let source = coefficient.get("source").and_then(Value::as_str);
                    assert!(source.is_some_and(|s| fit.sources.contains_key(s)), "{} {name:?}", fit.id);
                }
            }
        }
    }
}
