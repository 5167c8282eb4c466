//! Sets as a page for a browser: the tables, a scatter plot of each set, and nothing to be loaded from elsewhere.

use std::fmt::Write;

use super::document::SetValidationDocument;
use super::tables::about;
use super::text::{rejected, tables};
use crate::report::answer::Answer as _;
use crate::report::table::Table;

const STYLE: &str = "body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#282828}\
table{border-collapse:collapse;margin:1em 0}th,td{padding:.2em .6em;border-bottom:1px solid #e1e1e1;text-align:left;\
vertical-align:top}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
svg{max-width:100%;height:auto}.scroll{overflow-x:auto}.faint{color:#6e6e6e}";

/// The page.
pub fn set_page(document: &SetValidationDocument) -> String {
    let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let names: Vec<&str> = document.sets.iter().map(|s| s.facts.id.as_str()).collect();
    let title = format!("Predicted over measured: {}", names.join(", "));
    let _ = write!(
        out,
        "<title>{0}</title><style>{STYLE}</style></head>\n<body><h1>{0}</h1>\n<ul>\n",
        escaped(&title)
    );
    for set in &document.sets {
        let from = [set.facts.source.as_deref(), set.facts.licence.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; ");
        let _ = writeln!(
            out,
            "<li>{} <span class=\"faint\">{}</span></li>",
            escaped(&about(set)),
            escaped(&from)
        );
    }
    out.push_str("</ul>\n");
    for (title, table) in tables(document) {
        let (first, rest) = title.split_at(1);
        let _ = writeln!(out, "<h2>{}{}</h2>\n<div class=\"scroll\">", first.to_uppercase(), escaped(rest));
        html(&mut out, &table);
        out.push_str("</div>\n");
    }
    if let Some(picture) = document.picture() {
        let _ = writeln!(out, "<h2>Every configuration</h2>\n<div class=\"scroll\">{picture}</div>");
    }
    for line in document.sets.iter().flat_map(rejected) {
        let _ = writeln!(out, "<p>{}</p>", escaped(line.trim()));
    }
    for warning in &document.warnings {
        let _ = writeln!(out, "<p>Warning: {}</p>", escaped(&warning.message));
    }
    let _ = writeln!(
        out,
        "<p class=\"faint\">{} {}</p>\n</body></html>",
        document.tool.name, document.tool.version
    );
    out
}

fn html(out: &mut String, table: &Table) {
    let class = |right: bool| if right { " class=\"r\"" } else { "" };
    let columns: Vec<(&str, bool)> = table.heads().collect();
    out.push_str("<table><tr>");
    for (name, right) in &columns {
        let _ = write!(out, "<th{}>{}</th>", class(*right), escaped(name));
    }
    out.push_str("</tr>\n");
    for row in table.cells() {
        out.push_str("<tr>");
        for (cell, (_, right)) in row.iter().zip(&columns) {
            let _ = write!(out, "<td{}>{}</td>", class(*right), escaped(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
