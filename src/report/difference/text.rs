//! What a person sees of two predictions beside each other.

use std::fmt::Write;

use super::document::{DifferenceDocument, NumberDifference, SideSummary, TermDifference};
use super::verdict::reasons;
use crate::quantity::Seconds;
use crate::report::answer::{Answer, View};
use crate::report::table::{Align, Column, Table};
use crate::report::units::{grouped, seconds, significant, wrapped};

/// Characters of a line where the terminal has more, or is none.
const COLUMNS: usize = 100;

impl Answer for DifferenceDocument {
    const VIEW: &str = "difference";
    const TITLE: &str = "Difference";

    fn text(&self, view: View) -> String {
        let mut out = sides(self);
        out.push_str(&wrapped(self.verdict.split(' '), view.width.unwrap_or(COLUMNS).clamp(20, COLUMNS)));
        let shown = |terms: &TermDifference| view.all || terms.effect_s.abs() > 0.0 || is_changed(terms);
        out.push('\n');
        out.push_str(&term_table(self.terms.iter().filter(|t| shown(t))).text(1, view.width));
        let unit = &self.a.unit;
        for (title, numbers) in [
            (format!("volumes per {unit}"), &self.volumes),
            (format!("bytes per {unit}"), &self.fields),
            ("of an SM".to_owned(), &self.occupancy),
        ] {
            let shown: Vec<&NumberDifference> = numbers.iter().filter(|d| view.all || is_seen(d)).collect();
            if !shown.is_empty() {
                out.push('\n');
                out.push_str(&number_table(&title, shown).text(1, view.width));
            }
        }
        out
    }

    fn table(answers: &[&Self]) -> Table {
        let left = |name: &'static str| (name, Align::Left);
        let right = |name: &'static str| (name, Align::Right);
        let heads = [left("part"), left("name"), right("a"), right("b"), right("effect_s"), right("share")];
        let mut table = Table::new(heads);
        let cell = |n: Option<f64>| n.map_or_else(String::new, significant);
        for document in answers {
            for t in &document.terms {
                let numbers = [Some(t.a_s), Some(t.b_s), Some(t.effect_s), t.share].map(cell);
                table.row(["time".to_owned(), t.term.clone()].into_iter().chain(numbers));
            }
            let parts = [
                ("volumes", &document.volumes),
                ("fields", &document.fields),
                ("limits", &document.limits),
                ("occupancy", &document.occupancy),
            ];
            for (part, numbers) in parts {
                for n in numbers {
                    table.row([part.to_owned(), n.name.clone(), cell(n.a), cell(n.b)]);
                }
            }
        }
        table
    }
}

/// Both launches, the parts that they share once.
fn sides(document: &DifferenceDocument) -> String {
    let DifferenceDocument { a, b, .. } = document;
    let side = |s: &SideSummary| {
        let [x, y, z] = s.block;
        let fold = match s.fold {
            [1, 1, 1] => String::new(),
            [x, y, z] => format!(", fold {x}x{y}x{z}"),
        };
        let variant = s.variant.as_ref().map(|v| format!(" ({v})")).unwrap_or_default();
        let time = seconds(Seconds::new(s.time_s));
        let rate = significant((s.rate_per_s / 1e7).round() / 100.0);
        format!(
            "{}{variant}, block {x}x{y}x{z}{fold}, on {}: {time}, {rate} G{}/s, limited by {}",
            s.kernel, s.device, s.unit, s.limiter
        )
    };
    let mut out = format!("A  {}\nB  {}\n", side(a), side(b));
    if (document.scale.get() - 1.0).abs() > 0.0 {
        let items = (a.rate_per_s * a.time_s).round();
        let _ = writeln!(
            out,
            "they do different numbers of work items: times of B are below for the {} of A",
            grouped(format!("{items:.0}").as_str())
        );
    }
    out.push('\n');
    out
}

fn is_changed(t: &TermDifference) -> bool {
    (t.a_s - t.b_s).abs() > 0.005 * t.a_s.max(t.b_s)
}

fn term_table<'t>(terms: impl Iterator<Item = &'t TermDifference>) -> Table {
    use Align::{Left, Right};
    let time =
        |s: f64| if s < 0.0 { format!("-{}", seconds(Seconds::new(-s))) } else { seconds(Seconds::new(s)) };
    let share = |t: &TermDifference| match t.share {
        Some(share) if share.abs() >= 0.0005 => format!("{:.1} %", share * 100.0),
        _ => "-".to_owned(),
    };
    let columns: [Column<'_, &TermDifference>; 5] = [
        ("time", Left, &|t| t.term.clone()),
        ("A", Right, &|t| time(t.a_s)),
        ("B", Right, &|t| time(t.b_s)),
        ("of the difference", Right, &|t| share(t)),
        ("B has", Left, &|t| reasons(t)),
    ];
    Table::filled(terms, &columns)
}

/// Whether a person sees a difference in the digits that are shown.
fn is_seen(d: &NumberDifference) -> bool {
    match (d.a, d.b) {
        (Some(a), Some(b)) => (a - b).abs() >= 0.01_f64.max(0.001 * a.abs()),
        _ => true,
    }
}

fn number_table(title: &str, numbers: Vec<&NumberDifference>) -> Table {
    use Align::{Left, Right};
    let cell = |n: Option<f64>| n.map_or_else(|| "-".to_owned(), |n| format!("{n:.2}"));
    let ratio = |d: &NumberDifference| match (d.a, d.b) {
        (Some(a), Some(b)) if a.abs() > 0.0 => format!("{:.2}", b / a),
        _ => "-".to_owned(),
    };
    let columns: [Column<'_, &NumberDifference>; 4] = [
        (title, Left, &|d| d.name.clone()),
        ("A", Right, &|d| cell(d.a)),
        ("B", Right, &|d| cell(d.b)),
        ("B/A", Right, &|d| ratio(d)),
    ];
    Table::filled(numbers, &columns)
}
