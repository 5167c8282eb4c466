//! JSON that a program was still writing: a Kernel Tuner cache has no end while tuning goes on, or after it
//! was broken off.

/// The text up to the last value that is whole, with what was open closed; none if nothing is open.
pub(super) fn closed(text: &str) -> Option<String> {
    let mut open: Vec<u8> = Vec::new();
    // The place behind the last whole value in an object or array, and what is open there.
    let mut safe: Option<(usize, Vec<u8>)> = None;
    let (mut in_text, mut escaped) = (false, false);
    for (i, byte) in text.bytes().enumerate() {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                if open.pop() != Some(byte) {
                    return None;
                }
                safe = Some((i + 1, open.clone()));
            }
            _ => {}
        }
    }
    if open.is_empty() && !in_text {
        return None;
    }
    let (end, open) = safe?;
    let mut repaired = text.get(..end)?.to_owned();
    repaired.extend(open.iter().rev().map(|&b| char::from(b)));
    Some(repaired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_documents_are_closed() {
        for (text, expected) in [
            (r#"{"a": {"1": {"t": 1}, "2": {"t": 2},"#, Some(r#"{"a": {"1": {"t": 1}, "2": {"t": 2}}}"#)),
            (r#"{"a": {"1": {"t": [1]}, "2": {"t": "}{"#, Some(r#"{"a": {"1": {"t": [1]}}}"#)),
            (r#"{"a": {"1": {"t": [1], "u"#, Some(r#"{"a": {"1": {"t": [1]}}}"#)),
            (r#"{"a": "b\"}"}"#, None),
            ("{", None),
            ("}", None),
            ("", None),
        ] {
            assert_eq!(closed(text).as_deref(), expected, "{text}");
        }
    }
}
