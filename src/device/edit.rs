//! Changes a device file as a person would: the numbers that change, and nothing else of its text.

use crate::sorting;
use crate::text::{Bounds, Diagnostic, Node, Sources, Span, Value, parse_stream};

/// A number to be written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    /// Its path, such as `l1.line`.
    pub path: String,
    /// The number with its unit.
    pub value: String,
    /// What it rests on.
    pub note: String,
}

/// Bytes of a device file beyond which it is hardly one.
const MOST_BYTES: usize = 1 << 20;

/// The text with the numbers written into it under the source `key`, which is described as `about`. Numbers
/// that are there already with the same value stay.
pub fn edit(text: &str, changes: &[Change], key: &str, about: &str) -> Result<String, Diagnostic> {
    let mut sources = Sources::new();
    let file = sources.add("device", text);
    let (documents, errors) = parse_stream(text, file, Bounds::of_bytes(MOST_BYTES));
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    let [tree] = documents.as_slice() else {
        return Err(Diagnostic::global("device-file", "a device file holds one document"));
    };
    if text.trim_start().starts_with('{') {
        let message = "the device is JSON, which is not edited";
        return Err(Diagnostic::global("device-file", message).help("write it as YAML"));
    }
    let sections = changes.iter().filter_map(|c| c.path.split_once('.')).map(|c| c.0).chain(["sources"]);
    if let Some(flow) = sections.into_iter().find_map(|s| tree.get(s).filter(|n| on_one_line(text, n.span))) {
        let message = "a group in braces is not edited";
        let error = Diagnostic::error("device-file", flow.span, message);
        return Err(error.help("write it with a line for each of its keys"));
    }
    // Places in the text, and what comes there; from the end on, so that places stay.
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    // Sections that are not there come at the end, each once.
    let mut more: Vec<(String, String)> = Vec::new();
    let mut add = |edits: &mut Vec<_>, section: &str, line: String| match under(text, tree, section) {
        Some(at) => edits.push((at..at, format!("  {line}\n"))),
        None => match more.iter_mut().find(|m| m.0 == section) {
            Some(known) => known.1.extend(["  ", &line, "\n"]),
            None => more.push((section.to_owned(), format!("  {line}\n"))),
        },
    };
    for change in changes {
        let Some((section, name)) = change.path.split_once('.') else { continue };
        let new = format!("{{value: {}, source: {key}, note: {}}}", change.value, quoted(&change.note));
        match tree.get(section).and_then(|s| s.get(name)) {
            None => add(&mut edits, section, format!("{name}: {new}")),
            Some(old) if says(old, &change.value) => {}
            Some(old) => edits.push((flow(text, old.span), new)),
        }
    }
    if edits.is_empty() && more.is_empty() {
        return Ok(text.to_owned());
    }
    // Where the source is known already, what it is stays as it was written.
    Ok(finish(text, tree, edits, more, key, about))
}

type Edits = Vec<(std::ops::Range<usize>, String)>;

fn finish(
    text: &str,
    tree: &Node,
    mut edits: Edits,
    mut more: Vec<(String, String)>,
    key: &str,
    about: &str,
) -> String {
    if tree.get("sources").and_then(|s| s.get(key)).is_none() {
        let line = format!("  {key}: {{kind: measured, text: {}}}\n", quoted(about));
        match under(text, tree, "sources") {
            Some(at) => edits.push((at..at, line)),
            None => more.insert(0, ("sources".to_owned(), line)),
        }
    }
    sorting::sort_by_key(&mut edits, |e| std::cmp::Reverse(e.0.start));
    let mut out = text.to_owned();
    for (range, new) in edits {
        out.replace_range(range, &new);
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.extend(more.into_iter().map(|(section, lines)| format!("{section}:\n{lines}")));
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether a number has this value already.
fn says(old: &Node, value: &str) -> bool {
    match old.get("value").map(|v| &v.value) {
        Some(Value::Scalar(s)) => s.text.replace(' ', "") == value.replace(' ', ""),
        _ => false,
    }
}

/// Whether a group is written in braces.
fn on_one_line(text: &str, span: Span) -> bool {
    text.get(span.start as usize..).is_some_and(|rest| rest.starts_with('{'))
}

/// The text of a value at a span, which may reach over the remark behind it.
fn flow(text: &str, span: Span) -> std::ops::Range<usize> {
    let start = (span.start as usize).min(text.len());
    let end = (span.end as usize).clamp(start, text.len());
    let shown = text.get(start..end).unwrap_or_default();
    let length = if shown.starts_with('{') { braces(shown) } else { shown.find(" #") };
    let shown = shown.get(..length.unwrap_or(shown.len())).unwrap_or_default();
    start..start + shown.trim_end().len()
}

/// Bytes from a brace to the one that closes it.
fn braces(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 1 => return Some(at + 1),
            (None, '}') => depth -= 1,
            // The rest of a quotation, or of the group.
            _ => {}
        }
    }
    None
}

/// Right under the head of a section, if it is there.
fn under(text: &str, tree: &Node, section: &str) -> Option<usize> {
    let Value::Map(entries) = &tree.value else { return None };
    let head = entries.iter().find(|e| e.key == section)?;
    let from = (head.key_span.end as usize).min(text.len());
    let rest = text.get(from..).unwrap_or_default();
    Some(rest.find('\n').map_or(text.len(), |n| from + n + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# A device.
wavecast-device: 1
inherit: v100
sources:
  x: {kind: measured, text: \"mine\"}
l1:
  latency: {value: 30 cycles, source: x,
    note: \"over two lines\"} # kept
";

    #[test]
    fn only_what_changes_is_written() {
        let change = |path: &str, value: &str| Change {
            path: path.to_owned(),
            value: value.to_owned(),
            note: "a \"note\"".to_owned(),
        };
        let same = edit(FILE, &[change("l1.latency", "30cycles")], "probe", "run").unwrap();
        assert_eq!(same, FILE);
        let changes = [
            change("l1.latency", "28 cycles"),
            change("l1.ways", "4"),
            change("tlb.page", "2 MiB"),
            change("tlb.l1_reach", "32 MiB"),
        ];
        let new = edit(FILE, &changes, "probe", "run").unwrap();
        assert_eq!(
            new,
            "# A device.
wavecast-device: 1
inherit: v100
sources:
  probe: {kind: measured, text: \"run\"}
  x: {kind: measured, text: \"mine\"}
l1:
  ways: {value: 4, source: probe, note: \"a \\\"note\\\"\"}
  latency: {value: 28 cycles, source: probe, note: \"a \\\"note\\\"\"} # kept
tlb:
  page: {value: 2 MiB, source: probe, note: \"a \\\"note\\\"\"}
  l1_reach: {value: 32 MiB, source: probe, note: \"a \\\"note\\\"\"}
"
        );
        assert!(edit("l1: {}\n", &changes, "probe", "run").is_err());
        assert!(edit("a: [", &changes, "probe", "run").is_err());
    }
}
