//! What the command prints: Markdown tables.

use std::collections::BTreeMap;

use super::verdict::{Compared, Verdict};

/// Most differences shown.
const SHOWN: usize = 40;

/// A record.
pub struct Outcome {
    pub what: String,
    pub fields: Vec<Compared>,
}

/// All records of a file.
pub struct FileResult {
    pub name: String,
    pub outcomes: Vec<Outcome>,
}

#[derive(Default, Clone, Copy)]
struct Tally {
    equal: usize,
    one_of: usize,
    differs: usize,
    listed: usize,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Equal => self.equal += 1,
            Verdict::OneOf => self.one_of += 1,
            Verdict::Differs { .. } => self.differs += 1,
            Verdict::Listed(_) => self.listed += 1,
        }
    }

    fn row(&self, name: &str, records: usize) -> String {
        let Self { equal, one_of, differs, listed } = self;
        let compared = equal + one_of + differs;
        format!("| {name} | {records} | {compared} | {equal} | {one_of} | {differs} | {listed} |")
    }
}

impl FileResult {
    fn fields(&self) -> impl Iterator<Item = &Compared> {
        self.outcomes.iter().flat_map(|o| &o.fields)
    }

    /// Whether a comparable value differs.
    pub fn differs(&self) -> bool {
        self.fields().any(|f| matches!(f.verdict, Verdict::Differs { .. }))
    }
}

/// Equal, different and listed values per file and per field, the reasons, and the differences.
pub fn print_equality(results: &[FileResult], list: bool) {
    const HEAD: &str = "records | compared | equal | equal to one order of fusing | different | listed |";
    const RULE: &str = "| --- | ---: | ---: | ---: | ---: | ---: | ---: |";
    println!("| file | {HEAD}\n{RULE}");
    let mut by_field: BTreeMap<&str, (usize, Tally)> = BTreeMap::new();
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut records, mut all) = (0, Tally::default());
    for file in results {
        let mut tally = Tally::default();
        for outcome in &file.outcomes {
            let mut named: Vec<&str> = Vec::new();
            for Compared { field, verdict } in &outcome.fields {
                tally.add(verdict);
                all.add(verdict);
                let row = by_field.entry(field).or_default();
                row.1.add(verdict);
                if !named.contains(&field.as_str()) {
                    named.push(field);
                    row.0 += 1;
                }
                if let Verdict::Listed(why) = verdict {
                    *reasons.entry((field, why)).or_default() += 1;
                }
            }
        }
        records += file.outcomes.len();
        println!("{}", tally.row(&file.name, file.outcomes.len()));
    }
    println!("{}", all.row("all", records));
    println!("\n| value | {HEAD}\n{RULE}");
    for (field, (records, tally)) in by_field {
        println!("{}", tally.row(field, records));
    }
    if !reasons.is_empty() {
        println!("\n| listed value | reason | times |\n| --- | --- | ---: |");
        for ((field, why), times) in reasons {
            println!("| {field} | {why} | {times} |");
        }
    }
    print_differences(results, list);
}

fn print_differences(results: &[FileResult], list: bool) {
    let mut lines = Vec::new();
    for file in results {
        for outcome in &file.outcomes {
            for Compared { field, verdict } in &outcome.fields {
                if let Verdict::Differs { ours, theirs } = verdict {
                    let ratio = ours / theirs;
                    lines.push(format!("| {} | {field} | {ours} | {theirs} | {ratio:.6} |", outcome.what));
                }
            }
        }
    }
    if lines.is_empty() {
        return;
    }
    println!("\n| record | value | ours | theirs | ratio |\n| --- | --- | ---: | ---: | ---: |");
    for line in lines.iter().take(if list { usize::MAX } else { SHOWN }) {
        println!("{line}");
    }
    if !list && lines.len() > SHOWN {
        println!("\n{} more: --list shows all", lines.len() - SHOWN);
    }
}
