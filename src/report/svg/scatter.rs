//! Measured beside predicted values, a panel for each quantity, points in the colours of block shapes
//! (section 5.1 of the paper).

use super::axis::{Axis, label};
use super::canvas::{Anchor, Canvas, FAINT, GRID, INK, Style, picture, width};
use super::colour::of_block;
use super::frame::shortened;
use crate::measure::Score;
use crate::measure::measurements::MeasuredQuantity;
use crate::report::validation::ValidationDocument;
use crate::space::Block;

pub(super) const COLUMNS: usize = 2;
pub(super) const PANEL: f64 = 320.0;
pub(super) const LEFT: f64 = 84.0;
pub(super) const TOP: f64 = 96.0;
pub(super) const GAP: (f64, f64) = (96.0, 84.0);
pub(super) const KEY: f64 = 70.0;
/// Most quantities: as many as are usually measured together.
const PANELS: usize = 8;

/// A scatter plot as SVG.
pub fn validation_picture(document: &ValidationDocument) -> String {
    let shown: Vec<&Score> = document.quantities.iter().filter(|q| q.launches > 0).take(PANELS).collect();
    let (columns, rows) = (shown.len().clamp(1, COLUMNS), shown.len().div_ceil(COLUMNS).max(1));
    let size = (
        (LEFT + columns as f64 * (PANEL + GAP.0)).max(620.0),
        TOP + rows as f64 * (PANEL + GAP.1) + KEY - 20.0,
    );
    picture(size, |canvas| {
        heads(canvas, document, size.0);
        if shown.is_empty() {
            canvas.text("nothing to compare", (LEFT, TOP + 40.0), Style::new(Anchor::Left));
        }
        for (i, score) in shown.iter().enumerate() {
            let place = (
                LEFT + (i % COLUMNS) as f64 * (PANEL + GAP.0),
                TOP + (i / COLUMNS) as f64 * (PANEL + GAP.1) + 20.0,
            );
            panel(canvas, document, score, place);
        }
        key(canvas, (LEFT, size.1 - KEY + 24.0));
    })
}

fn heads(canvas: &mut Canvas<'_>, document: &ValidationDocument, across: f64) {
    let mut names: Vec<&str> = document.groups.iter().map(|g| g.kernel.as_str()).collect();
    names.dedup();
    let mut devices: Vec<&str> = document.groups.iter().map(|g| g.device.name.as_str()).collect();
    devices.dedup();
    let title = format!("{} on {}: predicted over measured", names.join(", "), devices.join(", "));
    let style = Style { size: 16.0, bold: true, ..Style::new(Anchor::Left) };
    canvas.text(&fitting(&title, across - 40.0, 16.0), (20.0, 24.0), style);
    let s = &document.summary;
    let about = format!("{} launches, {} predicted", s.launches, s.predicted);
    for (line, y) in [(about, 46.0), (document.model_text(), 64.0)] {
        let style = Style { colour: FAINT, ..Style::new(Anchor::Left) };
        canvas.text(&fitting(&line, across - 40.0, style.size), (20.0, y), style);
    }
}

/// A text cut to a width.
pub(super) fn fitting(text: &str, across: f64, size: f64) -> String {
    let mut most = text.chars().count();
    while most > 1 && width(&shortened(text, most), size) > across {
        most -= 1;
    }
    shortened(text, most)
}

/// The points of one quantity.
fn panel(canvas: &mut Canvas<'_>, document: &ValidationDocument, score: &Score, place: (f64, f64)) {
    let points: Vec<Point> = document
        .groups
        .iter()
        .flat_map(|g| &g.launches)
        .filter_map(|l| Some((l, l.values.get(score.quantity.name())?)))
        .map(|(l, pair)| (l.candidate.block(), pair.measured(), pair.predicted()))
        .collect();
    let figures =
        format!("error {:.1} %, bias {:+.1} %", score.errors.mean.percent(), score.errors.bias.percent());
    scatter(canvas, [score.quantity.title(), &figures], score.quantity, points, place);
}

/// The block of a launch, what was measured, and what is predicted.
pub(super) type Point = (Block, f64, f64);

/// Measured beside predicted values of a quantity, under two lines.
pub(super) fn scatter(
    canvas: &mut Canvas<'_>,
    [head, figures]: [&str; 2],
    quantity: MeasuredQuantity,
    mut points: Vec<Point>,
    place: (f64, f64),
) {
    points.retain(|p| p.1 > 0.0 && p.2 > 0.0);
    let all = || points.iter().flat_map(|p| [p.1, p.2]);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let scale = Scale::new(quantity, least, most);
    let (left, top) = place;
    let across = scale.axis(left, left + PANEL);
    let up = scale.axis(top + PANEL, top);
    // Bold letters are a little wider, and the next panel's title begins where its axis does.
    let head = fitting(&format!("{head}, {}", scale.unit), (PANEL + GAP.0) / 1.15 - 8.0, 12.0);
    canvas.text(&head, (left, top - 26.0), Style { bold: true, ..Style::new(Anchor::Left) });
    let faint = Style { colour: FAINT, ..Style::new(Anchor::Left) };
    canvas.text(figures, (left, top - 10.0), faint);
    for tick in scale.ticks() {
        let (x, y) = (across.at(tick), up.at(tick));
        canvas.line(&[(x, top), (x, top + PANEL)], GRID, 1);
        canvas.line(&[(left, y), (left + PANEL, y)], GRID, 1);
        canvas.text(&label(tick), (x, top + PANEL + 13.0), Style::new(Anchor::Centre));
        canvas.text(&label(tick), (left - 8.0, y), Style::new(Anchor::Right));
    }
    canvas.line(&[(left, top + PANEL), (left + PANEL, top)], FAINT, 1);
    canvas.line(&[(left, top), (left, top + PANEL), (left + PANEL, top + PANEL)], INK, 1);
    for (block, measured, predicted) in points {
        let at = (across.at(measured * scale.factor), up.at(predicted * scale.factor));
        canvas.marker(at, 0, of_block(block));
    }
    let middle = Style { colour: FAINT, ..Style::new(Anchor::Centre) };
    canvas.text("measured", (left + PANEL / 2.0, top + PANEL + 32.0), middle);
    let upright = Style { upright: true, ..middle };
    canvas.text("predicted", (left - 62.0, top + PANEL / 2.0), upright);
}

/// A range of values with a unit in which their numbers are short.
struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    factor: f64,
    unit: &'static str,
}

impl Scale {
    /// For values between two that are above zero, if there are any.
    fn new(quantity: MeasuredQuantity, least: f64, most: f64) -> Self {
        let (factor, unit) = match quantity {
            MeasuredQuantity::Time => (1e6, "us"),
            MeasuredQuantity::Rate => (1e-9, "10^9 items/s"),
            MeasuredQuantity::Cycles => (1e-3, "10^3"),
            MeasuredQuantity::L1Wavefronts | MeasuredQuantity::L1TagWavefronts => (1.0, "per work item"),
            _ => (1.0, "bytes per work item"),
        };
        let (least, most) = if least <= most { (least * factor, most * factor) } else { (0.0, 1.0) };
        // Over more than an order of magnitude small values would lie on each other.
        let logarithmic = least > 0.0 && most / least > 10.0;
        if logarithmic {
            let power = |n: f64| 10_f64.powf(n);
            let (low, high) = (power(least.log10().floor()), power(most.log10().ceil()));
            return Self { low, high, logarithmic, factor, unit };
        }
        let axis = Axis::from_zero(most, 0.0, 1.0);
        Self { low: 0.0, high: axis.high, logarithmic, factor, unit }
    }

    fn axis(&self, start: f64, end: f64) -> Axis {
        Axis { low: self.low, high: self.high, start, end, logarithmic: self.logarithmic }
    }

    fn ticks(&self) -> Vec<f64> {
        if !self.logarithmic {
            return self.axis(0.0, 1.0).ticks(5);
        }
        let powers = (self.high / self.low).log10().round();
        (0..=40_i32).take_while(|&i| f64::from(i) <= powers).map(|i| self.low * 10_f64.powi(i)).collect()
    }
}

/// What the colours mean.
pub(super) fn key(canvas: &mut Canvas<'_>, (left, y): (f64, f64)) {
    let shapes = [
        ("wide", [256, 1, 1]),
        ("tall", [1, 256, 1]),
        ("deep", [1, 1, 64]),
        ("wide, tall", [256, 256, 1]),
        ("wide, deep", [256, 1, 64]),
        ("tall, deep", [1, 256, 64]),
        ("cube", [16, 16, 8]),
    ];
    let mut x = left;
    for (name, block) in shapes {
        canvas.marker((x, y), 0, of_block(Block::known(block)));
        let style = Style { size: 11.0, ..Style::new(Anchor::Left) };
        canvas.text(name, (x + 9.0, y), style);
        x += 9.0 + width(name, 11.0) + 14.0;
    }
}
