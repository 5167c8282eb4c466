//! The frame of all pages: data, script and style in one file, which loads nothing from anywhere. The script and the style
//! are built from `web/`, and what was built is kept beside this file, so that the program is built without Node;
//! `.ci/page` holds the two together.

use std::fmt::Write;

use serde::Serialize;

use crate::report::json_line;

const SCRIPT: &str = include_str!("report.js");
const STYLE: &str = include_str!("report.css");

/// A page that shows some data.
pub(super) fn page<T: Serialize>(title: &str, data: &T) -> String {
    let title = escaped(title);
    let data = json_line(data);
    let mut out = String::with_capacity(data.len() + SCRIPT.len() + STYLE.len() + 2000);
    out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    // The page loads nothing: a browser that knows so refuses it even if data were to say otherwise.
    out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    out.push_str("script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob: data:\">\n");
    let _ = writeln!(out, "<title>{title}</title>\n<style>{}</style>\n</head>\n<body>", STYLE.trim_end());
    let _ = writeln!(out, "<noscript><p>{title}: this page draws its data with a script.</p></noscript>");
    // No text of the data can end the element that it stands in.
    let data = data.replace('<', "\\u003c");
    let _ = writeln!(out, "<script type=\"application/json\" id=\"data\">{data}</script>");
    let _ = writeln!(out, "<script>{}</script>\n</body>\n</html>", SCRIPT.trim_end());
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_into_the_page_cannot_end_its_element() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn script_and_style_load_nothing() {
        for word in ["fetch(", "XMLHttpRequest", "import(", "url(", "@import"] {
            assert!(!SCRIPT.contains(word) && !STYLE.contains(word), "{word}");
        }
    }
}
