//! A device file to start from.

use std::fmt::Write;

use super::document::Device;

/// What is most likely to be another number on a relative.
const WORTH_GIVING: [&str; 16] = [
    "clock",
    "sm.count",
    "l2.capacity",
    "l2.effective",
    "l2.bandwidth",
    "l2.latency",
    "llc.capacity",
    "llc.bandwidth",
    "llc.latency",
    "dram.capacity",
    "dram.bandwidth",
    "dram.theoretical",
    "dram.latency",
    "dram.fill",
    "dispatch.block_cycles",
    "launch_overhead",
];

/// A device file that inherits everything from a relative, with its numbers in comments to be replaced.
pub fn template(id: &str, relative: &Device) -> String {
    let like = &relative.id;
    let mut out = format!(
        "# Like {}: what is not given here is as there. Take the `# ` from the lines whose numbers you\n\
         # know, with the head of their group, put yours in, and say in `sources` where they come from.\n\
         # `wavecast help --page devices` explains every key.\n\
         wavecast-device: 1\n\
         id: {id}\n\
         name: {id}\n\
         inherit: {like}\n\
         aliases: []\n\
         about: \"like {like}\"\n\
         sources:\n  \
           own: {{kind: assumed, text: \"taken over from {like}: say here where your numbers come from\"}}\n",
        relative.name
    );
    let numbers = relative.numbers();
    let mut group = "";
    for path in WORTH_GIVING {
        let Some(number) = numbers.iter().find(|n| n.path == path) else { continue };
        let (of, key) = path.split_once('.').unwrap_or(("", path));
        if of != group && !of.is_empty() {
            let _ = writeln!(out, "# {of}:");
        }
        group = of;
        let indent = if of.is_empty() { "" } else { "  " };
        let _ = writeln!(out, "# {indent}{key}: {{value: {}, source: own}}", number.value);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{find, ids, read};

    /// The template is a device as it is, and with all its comments taken away one with the same numbers.
    #[test]
    fn templates_read_back() {
        for id in ids() {
            let relative = find(id, &[]).unwrap();
            let text = template("mine", &relative);
            let as_it_is = read("mine.yaml", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
            let lines = text.lines().skip(3).map(|line| line.strip_prefix("# ").unwrap_or(line));
            let given = lines.collect::<Vec<_>>().join("\n");
            let given = read("mine.yaml", &given, &[]).unwrap_or_else(|e| panic!("{id}: {e}\n{given}"));
            let values = |of: &Device| of.numbers().iter().map(|n| n.value.clone()).collect::<Vec<_>>();
            assert_eq!(values(&as_it_is), values(&relative), "{id}");
            assert_eq!(values(&given), values(&relative), "{id}");
            assert!(given.numbers().iter().filter(|n| n.source == "own").count() >= 12, "{id}");
            assert_eq!(given.pci, None);
        }
    }
}
