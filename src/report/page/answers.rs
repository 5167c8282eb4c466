//! Any answers as a page: the view that is made for them, or their table and their pictures.

use serde::Serialize;

use super::frame::page;
use crate::report::answer::Answer;

/// What the script finds in the page.
#[derive(Serialize)]
struct PageData<'a, A> {
    schema: &'static str,
    view: &'static str,
    title: &'a str,
    documents: &'a [&'a A],
    table: PageTable,
    /// As SVG, where the command line draws them.
    pictures: Vec<String>,
}

#[derive(Serialize)]
struct PageTable {
    /// Names, and whether they are flush on the right.
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<String>>,
}

/// The page of some answers; `what` says of what kind they are, such as `Explanations of star3d25`.
pub fn answers_page<A: Answer>(what: &str, answers: &[&A]) -> String {
    let table = A::table(answers);
    let table = PageTable {
        columns: table.heads().map(|(name, right)| (name.to_owned(), right)).collect(),
        rows: table.cells().map(<[String]>::to_vec).collect(),
    };
    // What has a view of its own is drawn by it.
    let pictures =
        if A::VIEW == "table" { answers.iter().filter_map(|a| a.picture()).collect() } else { Vec::new() };
    let data = PageData {
        schema: "wavecast/report/1",
        view: A::VIEW,
        title: what,
        documents: answers,
        table,
        pictures,
    };
    page(what, &data)
}
