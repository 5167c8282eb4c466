//! The devices that come with Wavecast, and reading others.

use std::sync::Arc;

use super::document::{Device, SourceKind, SourceText};
use super::embedded::EMBEDDED;
use super::names::{self, Meant};
use super::overrides;
use super::sense;
use super::sourced::{BELOW, Visit};
use crate::text::{
    Bounds, Decode, Decoder, Diagnostic, Fault, Node, Sources, Span, Value, nearest, of_another_kind,
    parse_stream, shorten,
};

/// The device of the performance-estimation paper, meant where none is named.
pub const DEFAULT: &str = "a100-40gb";
/// Largest device file in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Longest chain of inheritance.
const MAX_INHERITANCE: usize = 8;

/// The ids of the devices that come with Wavecast.
pub fn ids() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|e| e.0)
}

/// Whether this names a file rather than one of these devices.
pub fn is_path(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|e| name.ends_with(e)) || name.contains('/')
}

/// A device by id or alias, with numbers changed by `PATH=VALUE` texts.
#[expect(clippy::missing_panics_doc, reason = "the id was found")]
pub fn find(name: &str, set: &[String]) -> Result<Device, Fault> {
    let id = match names::meant(name) {
        Meant::One(id) => id,
        Meant::Several(ids) => return Err(ambiguous(name, &ids)),
        Meant::None(near) => return Err(unknown(name, &near)),
    };
    let text = embedded_text(id).expect("`resolve` gives the id of a device that is in the program");
    read_as(Whose::Shipped, &format!("devices/{id}.yaml"), text, set)
}

/// A name that several devices have.
fn ambiguous(name: &str, ids: &[&str]) -> Fault {
    let message = format!("`{}` is the name of {} devices", shorten(name), ids.len());
    let named: Vec<String> = ids.iter().map(|id| format!("{id} ({})", names::full_name(id))).collect();
    let help = format!("choose one of {}", named.join(", "));
    Fault::new(vec![Diagnostic::global("ambiguous-device", message).help(help)], Arc::default())
}

/// A name that no device has.
fn unknown(name: &str, near: &[&str]) -> Fault {
    let near: Vec<String> = near.iter().map(|id| format!("`{id}`")).collect();
    let near = match near.as_slice() {
        [] => String::new(),
        [one] => format!("did you mean {one}? "),
        [most @ .., last] => format!("did you mean {} or {last}? ", most.join(", ")),
    };
    let help = format!("{near}`wavecast devices` lists all; a path ending in .yaml reads a file");
    let message = format!("there is no device `{}`", shorten(name));
    Fault::new(vec![Diagnostic::global("unknown-device", message).help(help)], Arc::default())
}

/// A device from the text of a file called `name`, with numbers changed by `PATH=VALUE` texts.
pub fn read(name: &str, text: &str, set: &[String]) -> Result<Device, Fault> {
    read_as(Whose::Somebodys, name, text, set)
}

/// Whose file it is that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// One that comes with Wavecast: it is another GPU than those it inherits from.
    Shipped,
    /// Somebody's own: it is the GPU that it inherits from, as far as it says nothing else.
    Somebodys,
}

fn read_as(whose: Whose, name: &str, text: &str, set: &[String]) -> Result<Device, Fault> {
    let mut reader =
        Reader { whose, sources: Sources::new(), errors: Vec::new(), owners: Vec::new(), relative: None };
    let device = reader.device(name, text, set);
    match device {
        Some(device) if reader.errors.is_empty() => Ok(device),
        _ => Err(Fault::new(reader.errors, Arc::new(reader.sources))),
    }
}

fn embedded_text(id: &str) -> Option<&'static str> {
    EMBEDDED.iter().find(|e| e.0 == id).map(|e| e.1)
}

struct Reader {
    whose: Whose,
    sources: Sources,
    errors: Vec<Diagnostic>,
    /// The device id of each text, by file number.
    owners: Vec<String>,
    /// The device that comes with Wavecast from which somebody's own file inherits.
    relative: Option<&'static str>,
}

impl Reader {
    fn device(&mut self, name: &str, text: &str, set: &[String]) -> Option<Device> {
        let mut tree = self.tree(name, text, MAX_INHERITANCE)?;
        for change in set {
            let file = self.sources.add("--device-set", change.as_str());
            self.owners.push(String::new());
            let span = Span::new(file, 0..change.len());
            if let Err(error) = overrides::apply(&mut tree, change, span) {
                self.errors.push(error);
            }
        }
        let mut decoder = Decoder::default();
        let device = Device::decode(&tree, &mut decoder);
        self.errors.extend(decoder.diagnostics);
        let mut device = device?;
        device.relative = self.relative.map(str::to_owned);
        device.changed = set.iter().filter_map(|change| overrides::parts(change)).collect();
        if !set.is_empty() {
            let given =
                SourceText { kind: SourceKind::Assumed, text: "given on the command line".to_owned() };
            device.sources.insert(overrides::SOURCE.to_owned(), given);
        }
        self.complete(&mut device);
        self.make_sense(&mut device);
        Some(device)
    }

    /// Refuses what no GPU is like.
    fn make_sense(&mut self, device: &mut Device) {
        let owners = &self.owners;
        // The first text is the file, and those of changes have no owner.
        let own =
            |span: Span| span.file.0 == 0 || owners.get(span.file.0 as usize).is_none_or(String::is_empty);
        let found = sense::of_device(device, &own);
        self.errors.extend(found.errors);
        device.doubts = found.doubts;
    }

    /// The tree of a file laid over those it inherits from.
    fn tree(&mut self, name: &str, text: &str, depth: usize) -> Option<Node> {
        let file = self.sources.add(name, text);
        self.owners.push(String::new());
        let (documents, errors) = parse_stream(text, file, Bounds::of_bytes(MAX_BYTES));
        self.errors.extend(errors);
        if let Some(other) = documents.first().and_then(|d| of_another_kind(d, "wavecast-device")) {
            self.errors = vec![other];
            return None;
        }
        let start = Span::new(file, 0..0);
        let [document] =
            <[Node; 1]>::try_from(documents).map_err(|d| self.one_document(d.len(), start)).ok()?;
        if let Some(Value::Scalar(id)) = document.get("id").map(|n| &n.value) {
            id.text.as_str().clone_into(&mut self.owners[file.0 as usize]);
        }
        let mut own = document;
        self.check_version(&mut own);
        let Some(parent) = take(&mut own, "inherit") else { return Some(own) };
        let whose = self.whose;
        self.whose = Whose::Shipped;
        let (id, mut tree) = self.parent(&parent, depth)?;
        // They tell a relative from this device.
        take(&mut tree, "pci");
        self.check_sources(&own, &tree);
        if whose == Whose::Somebodys {
            self.relative = Some(id);
        }
        drop_replaced(&mut tree, &own, whose);
        tree.merge(&own);
        tree.span = own.span;
        Some(tree)
    }

    fn one_document(&mut self, count: usize, span: Span) {
        if self.errors.is_empty() {
            let message = format!("a device file holds one document, this one {count}");
            self.errors.push(Diagnostic::error("device-file", span, message));
        }
    }

    fn check_version(&mut self, tree: &mut Node) {
        let version = take(tree, "wavecast-device");
        let good = matches!(&version, Some(Node { value: Value::Scalar(s), .. }) if s.as_int() == Some(1));
        if !good {
            let span = version.map_or(tree.span, |n| n.span);
            let error = Diagnostic::error("version", span, "a device file begins with `wavecast-device: 1`");
            self.errors.push(error.help("other versions are not known to this program"));
        }
    }

    fn parent(&mut self, parent: &Node, depth: usize) -> Option<(&'static str, Node)> {
        let name = if let Value::Scalar(s) = &parent.value { s.text.as_str() } else { "" };
        let Some(id) = names::exact(name) else {
            let near = nearest(name, ids()).map(|n| format!("did you mean `{n}`?"));
            let message = format!("there is no device `{}` to inherit from", shorten(name));
            self.errors.push(Diagnostic::error("inherit", parent.span, message).maybe_help(near));
            return None;
        };
        if depth == 0 {
            self.errors.push(Diagnostic::error(
                "inherit",
                parent.span,
                "inheritance goes in a circle or too deep",
            ));
            return None;
        }
        Some((id, self.tree(&format!("devices/{id}.yaml"), embedded_text(id)?, depth - 1)?))
    }

    /// A source key must mean one thing in the merged device.
    fn check_sources(&mut self, own: &Node, parent: &Node) {
        let (Some(Value::Map(mine)), Some(theirs)) =
            (own.get("sources").map(|n| &n.value), parent.get("sources"))
        else {
            return;
        };
        for entry in mine.iter().filter(|e| theirs.get(&e.key).is_some()) {
            let message = format!("the inherited device has a source `{}` already", entry.key);
            self.errors
                .push(Diagnostic::error("source-key", entry.key_span, message).help("choose another key"));
        }
    }

    /// Says which numbers came from another device, and that every source exists.
    fn complete(&mut self, device: &mut Device) {
        let id = device.id.clone();
        let sources = std::mem::take(&mut device.sources);
        let (owners, errors) = (&self.owners, &mut self.errors);
        device.origins(&mut |span, source, inherited| {
            let owner = owners.get(span.file.0 as usize).map_or("", String::as_str);
            if !owner.is_empty() && owner != id && inherited.is_none() {
                *inherited = Some(owner.to_owned());
            }
            if !sources.contains_key(source) {
                let near = nearest(source, sources.keys().map(String::as_str));
                let message = format!("`sources` has no `{}`", shorten(source));
                let help = near.map(|n| format!("did you mean `{n}`?"));
                errors.push(Diagnostic::error("unknown-source", span, message).maybe_help(help));
            }
        });
        device.sources = sources;
    }
}

/// Removes the numbers that `over` gives anew, so that nothing of them (a note, say) is left but, where `over` is
/// somebody's own file, the value.
fn drop_replaced(tree: &mut Node, over: &Node, whose: Whose) {
    let (Value::Map(entries), Value::Map(changes)) = (&mut tree.value, &over.value) else { return };
    entries.retain_mut(|entry| {
        let Some(change) = changes.iter().find(|c| c.key == entry.key) else { return true };
        if change.value.get("value").is_none() {
            drop_replaced(&mut entry.value, &change.value, whose);
            return true;
        }
        entry.value.span = change.value.span;
        whose == Whose::Somebodys && keep_the_value(&mut entry.value)
    });
}

/// Leaves the value of a number, as that of the device below; false if it has none.
fn keep_the_value(number: &mut Node) -> bool {
    let Value::Map(entries) = &mut number.value else { return false };
    entries.retain_mut(|entry| {
        let is_value = entry.key == "value";
        entry.key = if is_value { BELOW.into() } else { entry.key.clone() };
        is_value
    });
    !entries.is_empty()
}

fn take(node: &mut Node, key: &str) -> Option<Node> {
    let Value::Map(entries) = &mut node.value else { return None };
    let at = entries.iter().position(|e| e.key == key)?;
    Some(entries.remove(at).value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Architecture;

    #[test]
    fn every_device_file_is_embedded_and_reads() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/devices");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap().replace(".yaml", ""))
            .collect();
        files.sort();
        let mut known: Vec<&str> = ids().collect();
        known.sort_unstable();
        assert_eq!(files, known);
        for id in ids() {
            let device = find(id, &[]).unwrap_or_else(|e| panic!("{id}: {e}"));
            assert_eq!(device.id, id);
        }
    }

    #[test]
    fn aliases_match_what_the_files_say() {
        for id in ids() {
            for alias in find(id, &[]).unwrap().aliases {
                assert_eq!(names::exact(&alias), Some(id));
            }
        }
        assert_eq!(names::exact("A100"), Some("a100-40gb"));
        assert_eq!(names::exact("v100"), Some("v100-pcie-32gb"));
    }

    #[test]
    fn numbers_are_consistent() {
        for id in ids() {
            let d = find(id, &[]).unwrap();
            assert_eq!(d.sm.max_threads.value.0, d.sm.max_warps.value.0 * d.sm.warp_size.value.0, "{id}");
            assert!(d.l2.effective.value <= d.l2.capacity.value, "{id}");
            assert!(d.dram.bandwidth.value <= d.dram.theoretical.value, "{id}");
            assert!(d.sm.shared_per_block.value <= d.sm.shared.value, "{id}");
            assert_eq!(d.l1.line.value.0 % d.l1.sector.value.0, 0, "{id}");
            assert_eq!(d.sm.warp_size.value.0 % d.l1.lanes.value.0, 0, "{id}");
            assert!(d.l1.shared_latency.value <= d.l1.latency.value || d.architecture == Architecture::Fermi);
            assert!(d.dispatch.dispatchers.value.0 <= d.l2.instances.value.0, "{id}");
            assert!(
                !d.l1.unified || d.l1.carveouts.value.0.iter().all(|c| c.0 < d.l1.capacity.value.0),
                "{id}"
            );
        }
    }

    #[test]
    fn inherited_numbers_say_so() {
        let d = find("a100-80gb", &[]).unwrap();
        assert_eq!(d.sm.count.inherited.as_deref(), Some("a100-40gb"));
        assert_eq!(d.dram.bandwidth.inherited, None);
        let text = "{wavecast-device: 1, id: mine, name: mine, inherit: a100-80gb, aliases: [], about: x,
            sources: {me: {kind: assumed, text: x}}, clock: {value: 1 GHz, source: me}}";
        let d = read("mine.yaml", text, &[]).unwrap();
        assert_eq!((d.clock.inherited.as_deref(), d.clock.note.as_deref()), (None, None));
        assert_eq!(d.sm.count.inherited.as_deref(), Some("a100-40gb"));
        assert_eq!(d.relative.as_deref(), Some("a100-80gb"));
    }

    #[test]
    fn numbers_can_be_changed() {
        let d = find("a100", &["l2.capacity=80MiB".to_owned(), "sm.count = 216".to_owned()]).unwrap();
        assert_eq!((d.l2.capacity.value.0, d.sm.count.value.0), (80 << 20, 216));
        assert_eq!(d.l2.capacity.source, "given");
        let d = find("a100", &["dram.fill=false".to_owned(), "l1.lanes=16".to_owned()]).unwrap();
        assert_eq!((d.dram.fill.value.0, d.l1.lanes.value.0), (false, 16));
        let message = |set: &str| find("a100", &[set.to_owned()]).unwrap_err().to_string();
        assert!(message("l2.capacty=80MiB").contains("did you mean `capacity`?"));
        assert!(message("l2.capacity=80").contains("for example 40 MiB"));
        assert!(message("l2=3").contains("it holds: capacity"));
        assert!(message("l2.capacity").contains("PATH=VALUE"));
    }

    #[test]
    fn other_documents_are_named_at_once() {
        let kernel = include_str!("../../kernels/star3d25.yaml");
        let fault = read("star3d25.yaml", kernel, &[]).unwrap_err();
        assert_eq!(fault.diagnostics.len(), 1, "{fault}");
        assert!(fault.to_string().contains("this is a kernel document, not a device file"), "{fault}");
        let device = embedded_text("a100-40gb").unwrap();
        let fault = crate::curve::read("a100.yaml", device).unwrap_err();
        assert!(fault.to_string().contains("this is a device file, not a curve file"), "{fault}");
    }

    #[test]
    fn wrong_values_learn_the_units() {
        let message = |set: &str| find("a100", &[set.to_owned()]).unwrap_err().to_string();
        assert!(message("dram.bandwidth=3").contains("its units are B/s, kB/s, MB/s, GB/s, TB/s"));
        assert!(message("l1.latency=3").contains("its unit is cycles"));
        assert!(message("sm.count=x").ends_with("(for example 108)"), "{}", message("sm.count=x"));
    }
}
