//! The curve files that ship, and which one a device uses.

use std::sync::{Arc, OnceLock};

use super::document::{Fit, GoesWith};
use crate::device::{Architecture, Device, Vendor};
use crate::text::{
    Bounds, Diagnostic, Fault, Node, Sources, Span, Value, from_tree, of_another_kind, parse_stream, shorten,
};

/// The ids of the files in the binary, each with what it says together with what it inherits from an earlier one. That is
/// read in a small part of the time that the files of `fits/` take; a test below makes it of these.
const FILES: [(&str, &str); 6] = [
    (V100, include_str!("shipped/v100-pcie-32gb.json")),
    (H100, include_str!("shipped/h100-sxm.json")),
    ("h200", include_str!("shipped/h200.json")),
    (A100, include_str!("shipped/a100-40gb.json")),
    ("a100-80gb", include_str!("shipped/a100-80gb.json")),
    ("h100-pcie", include_str!("shipped/h100-pcie.json")),
];

/// Bytes of a curve file beyond which it is hardly one.
const MOST_BYTES: usize = 1 << 20;
/// The code of what is wrong with one.
const CODE: &str = "curves";

/// What to do about a curve file that cannot be read.
const HELP: &str = "`wavecast fit` writes such files: change one of those, and keep its keys";

/// The curve file of a text, with what it inherits from those that ship.
pub fn read(name: &str, text: &str) -> Result<Fit, Fault> {
    let mut sources = Sources::new();
    let below = |id: &str| shipped(id).cloned();
    match whole(name, text, FILES.len(), &below, &mut sources) {
        Ok(fit) => Ok(Fit { file: Some(name.to_owned()), ..fit }),
        Err(errors) => Err(Fault::new(errors, Arc::new(sources))),
    }
}

/// One of those in the binary, read when it is first asked for: most programs need one or two of them.
fn fit(number: usize) -> &'static Fit {
    static FITS: [OnceLock<Fit>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];
    once(&FITS[number], || {
        let mut fit: Fit = serde_json::from_str(FILES[number].1).expect("a test below reads every file");
        fit.time.goes_with = GoesWith::TheShippedOne;
        fit
    })
}

/// The curves of devices that have none: those of the nearest device that was measured well, without what holds for that
/// device alone. NVIDIA's stores since Turing are nearer to the H100's: published runs on an RTX 2060, 2080 Ti and 3060
/// agree better with what its measurements show, which the A100's curves inherit (docs/fits.md).
fn relative(device: &Device) -> &'static Fit {
    let nearest = match device.architecture {
        Architecture::Hopper | Architecture::Blackwell => H100,
        Architecture::Turing | Architecture::Ampere | Architecture::Ada | Architecture::BlackwellRtx => A100,
        _ => V100,
    };
    heir(FILES.iter().position(|f| f.0 == nearest).expect("the files that are named stand there"))
}

/// What another device takes from one of those in the binary.
fn heir(number: usize) -> &'static Fit {
    static HEIRS: [OnceLock<Fit>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];
    once(&HEIRS[number], || fit(number).inherited_by(""))
}

/// The devices that were measured best.
const V100: &str = "v100-pcie-32gb";
const H100: &str = "h100-sxm";
const A100: &str = "a100-40gb";

/// A value that is made where it is missing, before anybody is kept out: a process that is forked off while
/// another thread makes it would wait for that thread for ever.
pub(super) fn once<T>(place: &OnceLock<T>, make: impl Fn() -> T) -> &T {
    if let Some(value) = place.get() {
        return value;
    }
    let value = make();
    place.get_or_init(|| value)
}

/// The curve file of a text, with what it inherits from one of the first `among` in the binary, which `below` knows, or
/// what is wrong with it.
fn whole(
    name: &str,
    text: &str,
    among: usize,
    below: &dyn Fn(&str) -> Option<Fit>,
    sources: &mut Sources,
) -> Result<Fit, Vec<Diagnostic>> {
    let mut own = tree(name, text, sources)?;
    if let Some(other) = of_another_kind(&own, "wavecast-curves") {
        return Err(vec![other]);
    }
    if let Some(base) = own.get("inherit").filter(|n| !n.is_null()) {
        let id = &*word(&own, "inherit").to_owned();
        let found = below(id).ok_or_else(|| {
            let message = format!("there are no curves `{}` to inherit", shorten(id));
            let known = FILES[..among].iter().map(|f| f.0).collect::<Vec<_>>().join(", ");
            vec![Diagnostic::error(CODE, base.span, message).help(format!("these ship: {known}"))]
        })?;
        // What ships was read before: its text is what it says now, as JSON, which is YAML.
        let below = serde_json::to_string(&found.inherited_by(word(&own, "id")));
        let below = below.map_err(|e| vec![Diagnostic::global(CODE, e.to_string())])?;
        lay_under(&mut own, tree(id, &below, sources)?);
    }
    let fit: Fit = from_tree(&own, CODE).map_err(|e| vec![e.help(HELP)])?;
    match fit.version {
        1 => Ok(fit),
        other => {
            let span = own.get("wavecast-curves").map_or(own.span, |n| n.span);
            let message = format!("version {other} of curve files is not known");
            Err(vec![Diagnostic::error(CODE, span, message).help("this program knows version 1")])
        }
    }
}

/// The one document of a text.
pub(super) fn tree(name: &str, text: &str, sources: &mut Sources) -> Result<Node, Vec<Diagnostic>> {
    let file = sources.add(name, text);
    let (documents, errors) = parse_stream(text, file, Bounds::of_bytes(MOST_BYTES));
    if !errors.is_empty() {
        return Err(errors);
    }
    <[Node; 1]>::try_from(documents).map(|[document]| document).map_err(|documents| {
        let message = format!("a curve file holds one document, this one {}", documents.len());
        vec![Diagnostic::error(CODE, Span::new(file, 0..0), message).help(HELP)]
    })
}

fn word<'n>(file: &'n Node, key: &str) -> &'n str {
    match file.get(key).map(|n| &n.value) {
        Some(Value::Scalar(scalar)) => &scalar.text,
        _ => "",
    }
}

/// Adds what only the file below says, mapping by mapping.
fn lay_under(own: &mut Node, below: Node) {
    // What names its source is one thing and stays whole.
    if own.get("source").is_some() {
        return;
    }
    let (Value::Map(above), Value::Map(below)) = (&mut own.value, below.value) else { return };
    for entry in below {
        match above.iter_mut().find(|e| e.key == entry.key) {
            Some(known) => lay_under(&mut known.value, entry.value),
            None => above.push(entry),
        }
    }
}

/// The ids of the curves that ship.
pub fn shipped_ids() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|file| file.0)
}

/// Curves that ship, by their id.
pub fn shipped(id: &str) -> Option<&'static Fit> {
    FILES.iter().position(|f| f.0 == id).map(fit)
}

/// The curves that a device uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curves<'a> {
    /// The coefficients.
    pub fit: &'a Fit,
    /// Whether they are those of the device, or of the one that its file inherits.
    pub own: bool,
    /// Whether they were measured on a device of another maker.
    pub foreign: bool,
    /// Whether somebody chose them and all of them hold, also those of one device alone.
    chosen: bool,
}

impl<'a> Curves<'a> {
    /// Those that somebody chose for a device: of what ships for another one, what that would inherit.
    pub fn chosen(fit: &'a Fit, device: &Device) -> Self {
        let own = fit.id == device.id || device.relative.as_deref() == Some(&*fit.id);
        let ships = (0..FILES.len()).find(|&number| std::ptr::eq(fit, self::fit(number)));
        match ships.filter(|_| !own) {
            Some(number) => {
                Self { fit: heir(number), own, foreign: device.vendor != Vendor::Nvidia, chosen: false }
            }
            None => Self { fit, own, foreign: false, chosen: true },
        }
    }

    /// Their name, as results show it.
    pub fn name(&self) -> String {
        let Fit { id, inherit, file, .. } = self.fit;
        if !self.own && !self.chosen {
            return format!("inherited from {id}");
        }
        let file = file.as_ref().map(|file| format!(" of the file {file}")).unwrap_or_default();
        let hits = inherit.as_ref().map(|base| format!(" (hit rates inherited from {base})"));
        format!("{id}{file}{}", hits.unwrap_or_default())
    }
}

/// The curves of a device: its own, which are also those of a file of somebody's that inherits it, or those of its nearest
/// relative that was measured well.
pub fn for_device(device: &Device) -> Curves<'static> {
    let own = shipped(device.relative.as_ref().unwrap_or(&device.id));
    let fit = own.unwrap_or_else(|| relative(device));
    Curves { fit, own: own.is_some(), foreign: device.vendor != Vendor::Nvidia, chosen: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits() -> Vec<&'static Fit> {
        (0..FILES.len()).map(fit).collect()
    }

    /// What the program reads when it starts is what the files of `fits/` say.
    #[test]
    fn what_ships_is_what_the_files_say() {
        let root = env!("CARGO_MANIFEST_DIR");
        let mut read: Vec<Fit> = Vec::new();
        for (number, (id, _)) in FILES.iter().enumerate() {
            let text = std::fs::read_to_string(format!("{root}/fits/{id}.yaml")).unwrap();
            let below = |id: &str| read.iter().find(|fit| fit.id == id).cloned();
            let fit = whole(id, &text, number, &below, &mut Sources::new()).unwrap();
            let shipped = serde_json::to_string(&fit).unwrap() + "\n";
            assert_eq!(serde_json::from_str::<Fit>(&shipped).unwrap(), fit);
            crate::curve::held(&format!("src/curve/shipped/{id}.json"), &shipped);
            read.push(fit);
        }
    }

    #[test]
    fn of_curves_that_ship_another_gpu_has_no_bandwidth() {
        let [v100, a100] = [V100, A100].map(|id| shipped(id).unwrap());
        let device = crate::device::find("a100-40gb", &[]).unwrap();
        let of_another = Curves::chosen(v100, &device);
        assert_eq!(of_another.fit.volumes, v100.volumes);
        assert_eq!((&of_another.fit.time.dram_one_way, of_another.own), (&None, false));
        assert_eq!(of_another.name(), format!("inherited from {V100}"));
        assert_eq!(Curves::chosen(a100, &device).fit, a100);
        // What somebody made of them holds.
        let made = v100.clone();
        assert_eq!(Curves::chosen(&made, &device).fit.time, v100.time);
    }

    #[test]
    fn files_inherit_from_those_that_ship() {
        let text = "{wavecast-curves: 1, id: mine, inherit: v100-pcie-32gb, about: x, \
                    time: {dispatch_cycles: {value: 3, source: star}}}";
        let fit = read("mine.yaml", text).unwrap();
        assert!((fit.time.dispatch_cycles.as_ref().unwrap().value - 3.0).abs() < 1e-12);
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
    fn mistakes_have_places_and_deep_files_are_refused() {
        let text = "wavecast-curves: 1\nid: mine\ninherit: v100-pcie-32gb\nabout: x\ntime:\n  dispatch_cycles: {value: a, source: star}\n";
        let fault = read("mine.yaml", text).unwrap_err().to_string();
        assert!(fault.starts_with("mine.yaml:6:28: invalid type: string \"a\", expected f64"), "{fault}");
        let fault = read("mine.yaml", &text.replace("dispatch", "dipsatch")).unwrap_err().to_string();
        assert!(fault.starts_with("mine.yaml:6:3: unknown field `dipsatch_cycles`"), "{fault}");
        for (hurtful, said) in [
            ("[".repeat(100_000), "nested deeper than 64 levels"),
            ("{a: ".repeat(100_000), "recursion limit exceeded"),
            ("x".repeat(2 << 20), "the limit is 1048576"),
            ("- ".repeat(400_000), "nested deeper"),
        ] {
            let fault = read("mine.yaml", &hurtful).unwrap_err().to_string();
            assert!(fault.contains(said), "{fault}");
        }
    }

    #[test]
    fn devices_without_curves_keep_their_own_bandwidth_and_latency() {
        for (id, nearest) in
            [("gh200", H100), ("rtx-3090", A100), ("titan-rtx", A100), ("mi210", V100), ("gtx-480", V100)]
        {
            let curves = for_device(&crate::device::find(id, &[]).unwrap());
            let (time, base) = (&curves.fit.time, shipped(nearest).unwrap());
            assert!(!curves.own && curves.fit.id == nearest, "{id}");
            assert!(
                time.dram_one_way.is_none() && time.thread_cycles.is_none() && time.launch_seconds.is_none()
            );
            assert_eq!((&time.turnaround, &curves.fit.volumes), (&base.time.turnaround, &base.volumes));
        }
        let v100 = for_device(&crate::device::find("v100", &[]).unwrap());
        assert!(v100.own && v100.fit.time.dram_one_way.is_some());
    }

    #[test]
    fn every_file_reads_and_names_its_sources() {
        for (fit, (id, _)) in fits().into_iter().zip(FILES) {
            assert_eq!(fit.id, id);
            let value = serde_json::to_value(fit).unwrap();
            for part in ["volumes", "time"] {
                for (name, coefficient) in value[part].as_object().unwrap() {
                    let source = coefficient.get("source").and_then(serde_json::Value::as_str);
                    assert!(source.is_some_and(|s| fit.sources.contains_key(s)), "{} {name:?}", fit.id);
                }
            }
        }
    }
}
