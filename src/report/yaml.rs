//! Values as YAML in blocks, as people write it: device files and curve files, that the program reads back.
//! The one reader of YAML here (saphyr-parser) writes none; what these files need of it is this page.

use std::fmt::Write;

use serde_json::Value as Json;

/// A value as YAML that reads as the same value.
pub fn yaml_text(value: &Json) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

/// A value from here on to the end of its last line; further lines of it are indented.
fn block(out: &mut String, value: &Json, indent: usize) {
    match value {
        Json::Object(entries) if !entries.is_empty() => {
            for (i, (key, value)) in entries.iter().enumerate() {
                lead(out, i, indent);
                let _ = write!(out, "{}:", scalar(key));
                match value {
                    Json::Object(inner) if !inner.is_empty() => below(out, value, indent + 2),
                    // The dashes of a list show well enough that it is one.
                    Json::Array(inner) if !inner.is_empty() => below(out, value, indent),
                    flat => {
                        out.push(' ');
                        block(out, flat, indent);
                    }
                }
            }
        }
        Json::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                lead(out, i, indent);
                out.push_str("- ");
                block(out, item, indent + 2);
            }
        }
        Json::String(text) => {
            let _ = writeln!(out, "{}", scalar(text));
        }
        // Empty lists and mappings, numbers, and words for nothing, yes and no are the same in JSON.
        flat => {
            let _ = writeln!(out, "{flat}");
        }
    }
}

fn below(out: &mut String, value: &Json, indent: usize) {
    let _ = write!(out, "\n{:indent$}", "");
    block(out, value, indent);
}

/// The first line stands already where it should.
fn lead(out: &mut String, i: usize, indent: usize) {
    if i > 0 {
        let _ = write!(out, "{:indent$}", "");
    }
}

/// A text as a scalar: as it is, or in quotes where it would be read as something else.
fn scalar(text: &str) -> String {
    let unprintable = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    if text.contains(unprintable) {
        let mut quoted = String::from("\"");
        for c in text.chars() {
            let _ = match c {
                '"' | '\\' => write!(quoted, "\\{c}"),
                '\n' => write!(quoted, "\\n"),
                c if unprintable(c) => write!(quoted, "\\u{:04x}", u32::from(c)),
                c => write!(quoted, "{c}"),
            };
        }
        return quoted + "\"";
    }
    if is_plain(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

/// Whether a text without quotes reads as itself, in a block (YAML 1.2, sections 6.2, 7.3.3 and 10.3.2).
fn is_plain(text: &str) -> bool {
    let first_alone = text.chars().nth(1).is_none_or(|c| c == ' ');
    let leads = |c: char| match c {
        '?' | ':' | '-' => first_alone,
        _ => "#,[]{}&*!|>'\"%@`".contains(c),
    };
    let is_mark = text.starts_with("---") || text.starts_with("...");
    let breaks = text.starts_with(leads) || text.contains(": ") || text.ends_with(':') || text.contains(" #");
    !(text.trim().len() < text.len() || is_mark || breaks || is_typed(text))
}

/// Whether a text is also a number, a truth value or nothing.
fn is_typed(text: &str) -> bool {
    let words = ["", "~", "null", "true", "false", ".inf", "+.inf", "-.inf", ".nan"];
    let hexadecimal = |digits: &str| digits.bytes().all(|b| b.is_ascii_hexdigit());
    words.contains(&text.to_ascii_lowercase().as_str())
        || (text.bytes().any(|b| b.is_ascii_digit()) && text.parse::<f64>().is_ok())
        || text.strip_prefix("0x").or_else(|| text.strip_prefix("0o")).is_some_and(hexadecimal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::{Bounds, Sources, from_tree, parse_stream};

    fn read(text: &str) -> Json {
        let (documents, errors) =
            parse_stream(text, Sources::new().add("t", text), Bounds::of_bytes(1 << 20));
        assert_eq!((documents.len(), errors), (1, vec![]), "{text}");
        from_tree(&documents[0], "t").unwrap()
    }

    #[test]
    fn blocks_look_as_people_write_them() {
        let value = json!({
            "id": "a", "numbers": {"n": 1.5, "all": [1, 2], "none": null, "no": [], "nothing": {}},
            "list": [{"a": true, "b": ["x", [1, "2"]]}, "c: d", "it's"],
        });
        let text = "id: a\nnumbers:\n  n: 1.5\n  all:\n  - 1\n  - 2\n  none: null\n  no: []\n  nothing: {}\n\
                    list:\n- a: true\n  b:\n  - x\n  - - 1\n    - '2'\n- 'c: d'\n- it's\n";
        assert_eq!(yaml_text(&value), text);
        assert_eq!(read(text), value);
    }

    #[test]
    fn every_text_reads_as_itself() {
        let words = r#"- -a ? ?a : :a a: a:b # a#b [ ]x {} &a *a !t | > ' '' " % @ ` null Null ~ true FALSE yes 1 -1 0x1f 1e3
            1.5 .5 .inf .nan 007 +1 --- ... a\n 1_000 0o17 2026-11-22 << = é"#;
        let odd =
            "|\u{20}|a |- a|? a|a: b|a #b|--- a|a\nb|\n|\t|a\tb|a\"b\n|\u{85}|\u{2028}|\u{feff}|\u{0}|it's";
        for text in words.split_whitespace().chain(odd.split('|')) {
            for value in [json!({"k": text}), json!([text]), json!({text: 1}), json!([[text, {text: text}]])]
            {
                assert_eq!(read(&yaml_text(&value)), value, "{text:?}");
            }
        }
    }
}
