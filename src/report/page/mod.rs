//! Rankings as a page for a browser: one file with its data, its script and its style, which loads nothing from
//! anywhere. The script and the style are built from `web/`, and what was built is kept beside this file, so that the
//! program is built without Node; `.ci/page` holds the two together.

use std::fmt::Write;
use std::io;

use serde::Serialize;

use super::answer::{Answer, View, json_line};
use super::explanation::Sentence;
use super::prediction::RankingDocument;
use super::table::Table;

const SCRIPT: &str = include_str!("report.js");
const STYLE: &str = include_str!("report.css");

/// A ranking, and in words why the best of its launches are as fast as they are.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainedRanking {
    /// The ranking.
    pub ranking: RankingDocument,
    /// What is said of each of the first results, in their order.
    pub sentences: Vec<Vec<Sentence>>,
    /// Why engines that were counted with disagree, also about launches that a page leaves out: for whoever asked.
    #[serde(skip)]
    pub disagreements: Vec<String>,
}

impl ExplainedRanking {
    /// A ranking of which a page has so many of the launches that cannot run.
    pub fn new(mut ranking: RankingDocument, sentences: Vec<Vec<Sentence>>, refused: usize) -> Self {
        let disagree = ranking.infeasible.iter().filter(|r| r.code == "engines-disagree");
        let disagreements = disagree.map(|r| r.reason.to_string()).collect();
        ranking.infeasible.truncate(refused);
        Self { ranking, sentences, disagreements }
    }
}

impl Answer for ExplainedRanking {
    fn text(&self, view: View) -> String {
        self.ranking.text(view)
    }

    fn table(answers: &[&Self]) -> Table {
        let rankings: Vec<&RankingDocument> = answers.iter().map(|a| &a.ranking).collect();
        RankingDocument::table(&rankings)
    }

    fn picture(&self) -> Option<String> {
        self.ranking.picture()
    }

    fn write_lines(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.ranking.write_lines(out)
    }
}

/// What the script finds in the page.
#[derive(Serialize)]
struct PageData<'a> {
    schema: &'static str,
    rankings: &'a [&'a ExplainedRanking],
}

/// The page of some rankings.
pub fn ranking_page(rankings: &[&ExplainedRanking]) -> io::Result<String> {
    let names: Vec<&str> = rankings.iter().map(|r| r.ranking.head.kernel.name.as_str()).collect();
    let devices: Vec<&str> =
        rankings.first().map(|r| r.ranking.head.device.name.as_str()).into_iter().collect();
    let title = escaped(&format!("Launches of {} on {}", names.join(", "), devices.join(", ")));
    let data = json_line(&PageData { schema: "wavecast/report/1", rankings });
    let mut out = String::with_capacity(data.len() + SCRIPT.len() + STYLE.len() + 2000);
    out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    // The page loads nothing: a browser that knows so refuses it even if data were to say otherwise.
    out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    out.push_str("script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n");
    let _ = writeln!(out, "<title>{title}</title>\n<style>{}</style>\n</head>\n<body>", STYLE.trim_end());
    let _ = writeln!(out, "<noscript><p>{title}: this page draws its data with a script.</p></noscript>");
    // No text of the data can end the element that it stands in.
    let data = data.replace('<', "\\u003c");
    let _ = writeln!(out, "<script type=\"application/json\" id=\"data\">{data}</script>");
    let _ = writeln!(out, "<script>{}</script>\n</body>\n</html>", SCRIPT.trim_end());
    Ok(out)
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
