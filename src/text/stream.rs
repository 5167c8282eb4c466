//! Texts of one or more documents into trees: as JSON where they are JSON, which takes less memory, as everyday YAML
//! where they are no more than that, which takes less time, and as YAML.

use super::bounds::{Bounds, Budget};
use super::yaml::{parse_yaml, yaml_from};
use super::{Diagnostic, FileId, Node, Span, everyday, json};

/// Parses all documents of a stream. What was read before an error is returned beside it.
pub fn parse_stream(text: &str, file: FileId, bounds: Bounds) -> (Vec<Node>, Vec<Diagnostic>) {
    if text.len() > bounds.bytes || u32::try_from(text.len()).is_err() {
        let message = format!("the document has {} bytes; the limit is {}", text.len(), bounds.bytes);
        let error = Diagnostic::error("document-too-large", Span::new(file, 0..0), message);
        return (Vec::new(), vec![error]);
    }
    if !text.trim_start().starts_with(['{', '[']) {
        return match everyday::read(text, file, bounds) {
            Some(document) => (vec![document], Vec::new()),
            None => parse_yaml(text, file, bounds),
        };
    }
    let (mut budget, mut errors) = (Budget::new(bounds.nodes), Vec::new());
    match json::read(text, file, &mut budget, &mut errors) {
        // What one document goes on with may be `---`, which is for YAML, as is what is no JSON at all.
        Ok(read) if read.rest < text.len() && read.documents.len() < 2 => parse_yaml(text, file, bounds),
        Ok(read) => {
            let (more, wrong) = yaml_from(text, read.rest, file, budget);
            (read.documents.into_iter().chain(more).collect(), errors.into_iter().chain(wrong).collect())
        }
        Err(error) => {
            errors.push(error);
            (Vec::new(), errors)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::Value;
    use super::*;

    fn parse(text: &str) -> (Vec<Node>, Vec<Diagnostic>) {
        parse_stream(text, FileId(0), Bounds::of_bytes(1 << 20))
    }

    fn snippets(text: &str, node: &Node, out: &mut Vec<String>) {
        match &node.value {
            Value::Scalar(_) => out.push(text[node.span.start as usize..node.span.end as usize].to_owned()),
            Value::List(items) => items.iter().for_each(|n| snippets(text, n, out)),
            Value::Map(entries) => entries.iter().for_each(|e| {
                out.push(text[e.key_span.start as usize..e.key_span.end as usize].to_owned());
                snippets(text, &e.value, out);
            }),
        }
    }

    #[test]
    fn spans_point_at_the_characters_of_a_scalar() {
        let text = "ä: 1\nlist: [b, \"c d\", 'e']\nlast: f[x, y]  # comment\n";
        let (documents, errors) = parse(text);
        assert_eq!(errors, []);
        let mut found = Vec::new();
        snippets(text, &documents[0], &mut found);
        assert_eq!(found, ["ä", "1", "list", "b", "c d", "e", "last", "f[x, y]"]);
    }

    #[test]
    fn streams_have_several_documents() {
        let (documents, errors) = parse("a: 1\n---\nb: 2\n...\n---\nc: 3\n");
        assert_eq!((documents.len(), errors.len()), (3, 0));
        assert_eq!(parse("").0.len(), 0);
    }

    #[test]
    fn json_documents_need_no_separator() {
        let text = "{\"a\": \"ä\"}\n{\"a\": \"b\"} {\"a\": [1]}\n";
        let (documents, errors) = parse(text);
        assert_eq!((documents.len(), errors), (3, vec![]));
        let mut found = Vec::new();
        for document in &documents {
            snippets(text, document, &mut found);
        }
        assert_eq!(found, ["a", "ä", "a", "b", "a", "1"]);
        // A mistake in a later line is found at its place, and what stands before is kept.
        let (documents, errors) = parse("{\"a\": 1}\n{\"a\": 2}\n{\"a\": [\n");
        assert_eq!((documents.len(), errors[0].code), (2, "yaml"));
        assert!(errors[0].span.unwrap().start > 20);
        assert_eq!(parse("{a: 1}\n---\n{a: 2}\n").0.len(), 2, "flow style of YAML is no JSON");
    }

    #[test]
    fn values_and_keys_are_limited() {
        let parse = |text: &str, nodes| parse_stream(text, FileId(0), Bounds { bytes: 1 << 20, nodes }).1;
        assert_eq!(parse("{a: [1, 2], b: 3}", 7), []);
        for text in [
            "{a: [1, 2], b: 3}",
            "[1, 2, 3, 4, 5, 6]",
            "- 1\n- [2, 3]\n- [4]\n",
            "1\n---\n2\n--- \n[[[[]]]]\n",
        ] {
            assert_eq!(
                parse(text, 6).first().map(|e| e.code),
                Some("too-many-nodes").filter(|_| !text.contains("---")),
                "{text}"
            );
            assert_eq!(parse(text, 5).first().map(|e| e.code), Some("too-many-nodes"), "{text}");
        }
    }

    #[test]
    fn duplicate_keys_are_errors_and_reading_goes_on() {
        let (documents, errors) = parse("a: 1\na: {b: 2}\nc: 3\n");
        assert_eq!(errors[0].code, "duplicate-key");
        assert!(documents[0].get("c").is_some());
        assert_eq!(documents[0].get("a").unwrap().describe(), "an integer");
    }

    #[test]
    fn aliases_are_followed_but_not_without_end() {
        let (documents, errors) = parse("a: &n [1, 2]\nb: *n\n");
        assert_eq!(errors, []);
        assert_eq!(documents[0].get("a").unwrap().value, documents[0].get("b").unwrap().value);
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..9 {
            let previous = format!("*a{}", i - 1);
            let list = [previous.as_str(); 10].join(", ");
            let _ = writeln!(bomb, "a{i}: &a{i} [{list}]");
        }
        assert_eq!(parse(&bomb).1[0].code, "alias-expansion");
    }

    #[test]
    fn deep_nesting_and_complex_keys_are_refused() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(parse(&deep).1[0].code, "nested-too-deep");
        assert_eq!(parse(&"[".repeat(100_000)).1.len(), 1);
        assert_eq!(parse("? [a, b]\n: 1\n").1[0].code, "complex-key");
        assert_eq!(parse("a: [1").1[0].code, "yaml");
    }

    #[test]
    fn json_is_yaml() {
        let (documents, errors) = parse("{\"a\":[1,2.5,\"x\\u00e9\"],\n\t\"b\":{\"c\":null,\"d\":true}}");
        assert_eq!(errors, []);
        assert!(documents[0].get("b").unwrap().get("c").unwrap().is_null());
    }
}
