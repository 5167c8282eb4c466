//! Cells of comma-separated values.

use std::borrow::Cow;

/// A text as a cell, in quotes where it would be read as something else: several cells, a comment, or a text
/// without the blanks around it. The crate `csv` would leave those blanks bare, and there is no more to it than this.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r', '#']) || text.trim().len() < text.len() {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::csv_cell;

    #[test]
    fn only_what_would_be_misread_is_quoted() {
        for text in ["", "a b", "a'b", "ä", "a|b;c"] {
            assert_eq!(csv_cell(text), text);
        }
        for text in ["a,b", "a\nb", "a\rb", " a", "a ", "#a", "\u{a0}"] {
            assert_eq!(csv_cell(text), format!("\"{text}\""));
        }
        assert_eq!(csv_cell("a \"b\""), "\"a \"\"b\"\"\"");
    }
}
