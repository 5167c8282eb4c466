//! The lines of a series: what a picture connects and a table shows together.

use super::document::{SweepDocument, SweepPoint};
use crate::report::units::counted;

/// Points that differ in the first thing that varies only.
#[derive(Debug, Clone)]
pub(in crate::report) struct SeriesLine<'a> {
    /// What sets it apart from the other lines, name and value.
    pub(in crate::report) labels: Vec<(String, String)>,
    /// Its points, in the order of the values.
    pub(in crate::report) points: &'a [SweepPoint],
}

impl SeriesLine<'_> {
    /// The labels as a text; empty if there is one line only.
    pub(in crate::report) fn label(&self) -> String {
        let one = |(name, value): &(String, String)| match name.as_str() {
            "block" | "variant" => value.clone(),
            "fold" => format!("fold {value}"),
            _ => format!("{name} = {value}"),
        };
        self.labels.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// The lines of a series, each with the labels in which lines differ.
pub(in crate::report) fn lines(document: &SweepDocument) -> Vec<SeriesLine<'_>> {
    let length = document.vary.first().map_or(1, |v| v.values.len().max(1));
    let mut all: Vec<SeriesLine<'_>> = document
        .points
        .chunks(length)
        .map(|points| SeriesLine {
            labels: points.first().map_or_else(Vec::new, |p| labels(document, p)),
            points,
        })
        .collect();
    // What all lines share is no label.
    let shared = |at: usize| all.iter().all(|l| l.labels.get(at) == all[0].labels.get(at));
    let most = all.iter().map(|l| l.labels.len()).max().unwrap_or(0);
    let keep: Vec<bool> = (0..most).map(|at| !shared(at)).collect();
    for line in &mut all {
        let mut at = keep.iter();
        line.labels.retain(|_| at.next().copied().unwrap_or(true));
    }
    all
}

fn labels(document: &SweepDocument, point: &SweepPoint) -> Vec<(String, String)> {
    let mut out = Vec::new();
    if let Some(second) = document.vary.get(1)
        && let Some(value) = point.values.get(&second.name)
    {
        out.push((second.name.clone(), value.to_string()));
    }
    if let (Some(config), false) = (&point.config, document.best) {
        out.push(("variant".to_owned(), config.variant.clone().unwrap_or_default()));
        out.push(("block".to_owned(), fixed(document, "block", *config.block())));
        out.push(("fold".to_owned(), fixed(document, "fold", *config.fold())));
    }
    out
}

/// A shape with a star for what varies.
fn fixed(document: &SweepDocument, group: &str, shape: impl IntoIterator<Item = i64>) -> String {
    let varies = |name: &str| document.vary.iter().any(|v| v.kind == group && v.name == name);
    if varies(group) {
        return "*".to_owned();
    }
    let extent = |(axis, extent): (char, i64)| {
        if varies(&format!("{group}.{axis}")) { "*".to_owned() } else { extent.to_string() }
    };
    ['x', 'y', 'z'].into_iter().zip(shape).map(extent).collect::<Vec<_>>().join("x")
}

/// Which launches the points have.
pub(in crate::report) fn launch_text(document: &SweepDocument) -> String {
    let lines = lines(document);
    match document.points.first().and_then(|p| p.config.as_ref()) {
        _ if document.best => "the best launch at each value".to_owned(),
        _ if lines.len() > 1 => counted(lines.len(), "line"),
        Some(c) => {
            let shapes = [
                ("block", fixed(document, "block", *c.block())),
                ("fold", fixed(document, "fold", *c.fold())),
            ];
            // What varies as a whole is said elsewhere.
            let shapes = shapes.into_iter().filter(|s| s.1 != "*").map(|(g, s)| format!("{g} {s}"));
            shapes.collect::<Vec<_>>().join(", ")
        }
        None => String::new(),
    }
}
