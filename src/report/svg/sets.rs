//! Scatter plots of whole sets: the time of each set, then everything else that was measured.

use super::canvas::{Anchor, FAINT, Style, picture};
use super::scatter::{COLUMNS, GAP, KEY, LEFT, PANEL, Point, TOP, fitting, key, scatter};
use crate::measure::ValuePair;
use crate::measure::measurements::MeasuredQuantity;
use crate::report::sets::{SetReport, SetValidationDocument};

/// Most panels: more would make a picture that nobody looks at.
const PANELS: usize = 40;

struct Panel {
    head: String,
    figures: String,
    quantity: MeasuredQuantity,
    points: Vec<Point>,
}

/// A picture of sets.
pub fn sets_picture(document: &SetValidationDocument) -> String {
    let times = document.sets.iter().filter_map(times);
    let mut panels: Vec<Panel> = times.chain(document.sets.iter().flat_map(volumes)).take(PANELS).collect();
    // The title names it if there is only one.
    if let [only] = document.sets.as_slice() {
        let name = format!("{}: ", only.facts.id);
        for panel in &mut panels {
            panel.head = panel.head.replacen(&name, "", 1);
        }
    }
    let (columns, rows) = (panels.len().clamp(1, COLUMNS), panels.len().div_ceil(COLUMNS).max(1));
    let size = (
        (LEFT + columns as f64 * (PANEL + GAP.0)).max(620.0),
        TOP + rows as f64 * (PANEL + GAP.1) + KEY - 20.0,
    );
    picture(size, |canvas| {
        let names: Vec<&str> = document.sets.iter().map(|s| s.facts.id.as_str()).collect();
        let title = format!("{}: predicted over measured", names.join(", "));
        let style = Style { size: 16.0, bold: true, ..Style::new(Anchor::Left) };
        canvas.text(&fitting(&title, size.0 - 40.0, 16.0), (20.0, 24.0), style);
        let count: usize = document.sets.iter().map(|s| s.configurations.len()).sum();
        let about = format!("{count} configurations, model {}", document.model);
        canvas.text(&about, (20.0, 46.0), Style { colour: FAINT, ..Style::new(Anchor::Left) });
        if panels.is_empty() {
            canvas.text("nothing to compare", (LEFT, TOP + 40.0), Style::new(Anchor::Left));
        }
        for (i, panel) in panels.into_iter().enumerate() {
            let place = (
                LEFT + (i % COLUMNS) as f64 * (PANEL + GAP.0),
                TOP + (i / COLUMNS) as f64 * (PANEL + GAP.1) + 20.0,
            );
            scatter(canvas, [&panel.head, &panel.figures], panel.quantity, panel.points, place);
        }
        key(canvas, (LEFT, size.1 - KEY + 24.0));
    })
}

fn points(set: &SetReport, of: impl Fn(usize) -> Option<ValuePair>) -> Vec<Point> {
    let one = |(i, block)| of(i).map(|pair| (block, pair.measured(), pair.predicted()));
    set.configurations.iter().map(|c| c.candidate.block()).enumerate().filter_map(one).collect()
}

/// The time of a set.
fn times(set: &SetReport) -> Option<Panel> {
    let all = set.scores.iter().find(|s| s.kind == "all")?;
    let figures = format!(
        "Spearman {:.3}, error {:.1} %",
        all.spearman.unwrap_or_default(),
        all.time?.errors.mean.percent()
    );
    let points = points(set, |i| set.configurations[i].time_s);
    Some(Panel {
        head: format!("{}: {}", set.facts.id, MeasuredQuantity::Time.title()),
        figures,
        quantity: MeasuredQuantity::Time,
        points,
    })
}

fn volumes(set: &SetReport) -> impl Iterator<Item = Panel> {
    let all = set.scores.iter().find(|s| s.kind == "all");
    all.into_iter().flat_map(|s| &s.volumes).map(|score| Panel {
        head: format!("{}: {}", set.facts.id, score.quantity.title()),
        figures: format!(
            "error {:.1} %, bias {:+.1} %",
            score.errors.mean.percent(),
            score.errors.bias.percent()
        ),
        quantity: score.quantity,
        points: points(set, |i| set.configurations[i].values.get(score.quantity.name()).copied()),
    })
}
