//! Where misses come from: instructions, lines, sets.

use std::fmt::Write;

use serde::Serialize;

use super::{TraceHead, percent};
use crate::cache::HotSpots;
use crate::report::answer::{Answer, View};
use crate::report::{Align, Table};
use crate::trace::sets::SetIndex;

impl Answer for HotDocument {
    fn text(&self, view: View) -> String {
        hot_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| hot_instructions(d)))
    }
}

/// Misses by instruction, line and set: `wavecast/hot/1`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HotDocument {
    /// `wavecast/hot/1`.
    pub schema: &'static str,
    /// The launch.
    #[serde(flatten)]
    pub head: TraceHead,
    /// Which set a line lies in.
    #[cfg_attr(test, schemars(with = "String"))]
    pub index: SetIndex,
    /// Read misses.
    pub misses: u64,
    /// Where they happen.
    #[serde(flatten)]
    pub spots: HotSpots,
}

/// Instructions as a table.
fn hot_instructions(document: &HotDocument) -> Table {
    use Align::{Left, Right};
    Table::filled(
        &document.spots.instructions,
        &[
            ("instruction", Left, &|i| i.instruction.name.clone()),
            ("line", Right, &|i| i.instruction.line.to_string()),
            ("column", Right, &|i| i.instruction.column.to_string()),
            ("requests", Right, &|i| i.requests.to_string()),
            ("misses", Right, &|i| i.misses.to_string()),
            ("share %", Right, &|i| percent(100.0 * i.misses as f64 / document.misses.max(1) as f64)),
        ],
    )
}

/// Steps of a heat map, from no misses on.
const HEAT: [char; 5] = ['.', ':', '+', '*', '#'];

/// For a terminal.
fn hot_text(document: &HotDocument, width: Option<usize>) -> String {
    let mut out = document.head.text();
    let _ = write!(out, "{} read misses; lines to sets by {}\n\n", document.misses, document.index.word());
    out += &hot_instructions(document).text(1, width);
    let lines = Table::filled(
        &document.spots.lines,
        &[
            ("address", Align::Left, &|line| format!("{:#x}", line.address)),
            ("set", Align::Right, &|line| line.set.to_string()),
            ("misses", Align::Right, &|line| line.misses.to_string()),
        ],
    );
    out += "\n";
    out += &lines.text(1, width);
    let most = document.spots.sets.iter().copied().max().unwrap_or(0).max(1);
    let _ = write!(out, "\nmisses of sets, 32 in a row; # is {most}\n");
    for row in document.spots.sets.chunks(32) {
        #[expect(clippy::cast_possible_truncation, reason = "less than the number of steps")]
        let heat = |&n: &u64| HEAT[(n * (HEAT.len() as u64 - 1)).div_ceil(most) as usize];
        let _ = writeln!(out, " {}", row.iter().map(heat).collect::<String>());
    }
    out
}
