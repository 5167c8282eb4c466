//! The curve files that ship, and which one a device uses.

use std::sync::{Arc, LazyLock};

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
    let wrong = |message: String| {
        let diagnostic = Diagnostic::global("curves", format!("{name}: {message}"));
        Fault::new(vec![diagnostic.help("see docs/fits.md")], Arc::default())
    };
    let mut own: Value = serde_yaml::from_str(text).map_err(|e| wrong(e.to_string()))?;
    if let Some(id) = own.get("inherit").and_then(Value::as_str) {
        let base = FITS.iter().find(|f| f.id == id);
        let base = base.ok_or_else(|| wrong(format!("there are no curves `{id}` to inherit")))?;
        let base = serde_yaml::to_value(base).map_err(|e| wrong(e.to_string()))?;
        own = merged(&base, &own);
    }
    let fit: Fit = serde_yaml::from_value(own).map_err(|e| wrong(e.to_string()))?;
    match fit.version {
        1 => Ok(fit),
        other => Err(wrong(format!("version {other} of curve files is not known"))),
    }
}

static FITS: LazyLock<Vec<Fit>> = LazyLock::new(|| {
    let mut values: Vec<Value> = Vec::new();
    for text in FILES {
        let Ok(own) = serde_yaml::from_str::<Value>(text) else { continue };
        let base = own.get("inherit").and_then(|id| values.iter().find(|v| v.get("id") == Some(id)));
        values.push(base.map_or_else(|| own.clone(), |base| merged(base, &own)));
    }
    // That every file reads is a test below.
    values.into_iter().filter_map(|value| serde_yaml::from_value(value).ok()).collect()
});

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
    let fits: &'static [Fit] = &FITS;
    fits.iter().find(|f| f.id == id)
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

/// The curves of a device: its own, or those of the device that was measured best.
pub fn for_device(device: &Device) -> Curves<'static> {
    let fits: &'static [Fit] = &FITS;
    let own = fits.iter().find(|f| f.id == device.id);
    Curves { fit: own.unwrap_or(&fits[0]), own: own.is_some(), foreign: device.vendor != Vendor::Nvidia }
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
        assert_eq!(fit.volumes, FITS[0].volumes);
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
    fn every_file_reads_and_names_its_sources() {
        assert_eq!(FITS.len(), FILES.len());
        for fit in FITS.iter() {
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
