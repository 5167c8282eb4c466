//! Measured rates over the oversubscription with the curves that were fitted to them, points in the
//! colours of block shapes (figures 16 to 18 of the paper).

use super::axis::{Axis, label};
use super::canvas::{Anchor, Canvas, FAINT, GRID, INK, Style, picture};
use super::colour::{of_block, of_line};
use crate::measure::fit::RatePoint;
use crate::report::fit::{CurveDocument, FitDocument};

const COLUMNS: usize = 2;
const PANEL: (f64, f64) = (360.0, 240.0);
const LEFT: f64 = 84.0;
const TOP: f64 = 96.0;
const GAP: (f64, f64) = (84.0, 90.0);
/// Rates are shown up to here: single ones may be far off where little could hit.
const MOST: f64 = 1.25;
/// Points of a drawn curve.
const STEPS: u32 = 120;

/// The curves of a fit as SVG.
pub fn fit_picture(document: &FitDocument, rate: &dyn Fn(&str, f64) -> Option<f64>) -> String {
    let shown: Vec<&CurveDocument> = document.curves.iter().filter(|c| !c.points.is_empty()).collect();
    let (columns, rows) = (shown.len().clamp(1, COLUMNS), shown.len().div_ceil(COLUMNS).max(1));
    let size = (
        (LEFT + columns as f64 * (PANEL.0 + GAP.0)).max(560.0),
        TOP + rows as f64 * (PANEL.1 + GAP.1) + 10.0,
    );
    picture(size, |canvas| {
        let simulated = if document.simulated { ", simulated" } else { "" };
        let title = format!("{}{simulated}: share of misses", document.device.name);
        let bold = Style { size: 16.0, bold: true, ..Style::new(Anchor::Left) };
        canvas.text(&title, (20.0, 24.0), bold);
        let about = format!("{} launches; grey: little could hit", document.launches);
        canvas.text(&about, (20.0, 46.0), Style { colour: FAINT, ..Style::new(Anchor::Left) });
        if shown.is_empty() {
            canvas.text("no volumes were measured", (LEFT, TOP + 40.0), Style::new(Anchor::Left));
        }
        for (i, curve) in shown.iter().enumerate() {
            let place = (
                LEFT + (i % COLUMNS) as f64 * (PANEL.0 + GAP.0),
                TOP + (i / COLUMNS) as f64 * (PANEL.1 + GAP.1) + 20.0,
            );
            panel(canvas, curve, place, &|o| rate(curve.name, o));
        }
    })
}

fn panel(
    canvas: &mut Canvas<'_>,
    curve: &CurveDocument,
    (left, top): (f64, f64),
    rate: &dyn Fn(f64) -> Option<f64>,
) {
    let furthest = curve.points.iter().map(|p| p.oversubscription.get()).fold(0.0, f64::max);
    let across = Axis::from_zero(furthest, left, left + PANEL.0);
    let up = Axis { low: 0.0, high: MOST, start: top + PANEL.1, end: top, logarithmic: false };
    let bold = Style { bold: true, ..Style::new(Anchor::Left) };
    canvas.text(curve.title, (left, top - 28.0), bold);
    let faint = Style { colour: FAINT, ..Style::new(Anchor::Left) };
    canvas.text(&figures(curve), (left, top - 11.0), faint);
    for tick in across.ticks(5) {
        let x = across.at(tick);
        canvas.line(&[(x, top), (x, top + PANEL.1)], GRID, 1);
        canvas.text(&label(tick), (x, top + PANEL.1 + 13.0), Style::new(Anchor::Centre));
    }
    for tick in up.ticks(5) {
        let y = up.at(tick);
        canvas.line(&[(left, y), (left + PANEL.0, y)], GRID, 1);
        canvas.text(&label(tick), (left - 8.0, y), Style::new(Anchor::Right));
    }
    canvas.line(&[(left, top), (left, top + PANEL.1), (left + PANEL.0, top + PANEL.1)], INK, 1);
    for point in &curve.points {
        let at = (across.at(point.oversubscription.get()), up.at(point.measured_share.clamp(0.0, MOST)));
        canvas.marker(at, 0, if weak(point) { GRID } else { of_block(point.candidate.block()) });
    }
    let places: Vec<(f64, f64)> = (0..=STEPS)
        .map(|i| across.high * f64::from(i) / f64::from(STEPS))
        .filter_map(|o| Some((across.at(o), up.at(rate(o)?.clamp(0.0, MOST)))))
        .collect();
    canvas.line(&places, of_line(1), 2);
    let middle = Style { colour: FAINT, ..Style::new(Anchor::Centre) };
    canvas.text("oversubscription", (left + PANEL.0 / 2.0, top + PANEL.1 + 31.0), middle);
}

/// Whether so little could hit that the rate is mostly noise.
fn weak(point: &RatePoint) -> bool {
    point.open_share < 0.1
}

fn figures(curve: &CurveDocument) -> String {
    let parameters: Vec<String> = curve
        .parameters
        .iter()
        .filter(|p| p.name.len() < 4)
        .map(|p| format!("{} = {:.3}", p.name, p.value))
        .collect();
    match &curve.kept {
        Some(_) => "not fitted".to_owned(),
        None if parameters.is_empty() => "the same everywhere".to_owned(),
        None => parameters.join(", "),
    }
}
