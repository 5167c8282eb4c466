//! A series: volumes at DRAM and L2 and the rate over what varies, a line for each launch.

use plotters::style::RGBColor;

use super::axis::{Axis, label};
use super::canvas::{Anchor, Canvas, FAINT, GRID, INK, Style, TEXT, picture, width};
use super::colour::of_line;
use super::frame::{head, head_of_devices, shortened};
use super::ranking::giga_per_second;
use crate::report::prediction::ResultDocument;
use crate::report::sweep::{SeriesLine, SweepDocument, VaryDocument, launch_text, lines};
use crate::report::units::extents;
use crate::report::units::shape;
use crate::sorting;

/// Most lines: more cannot be told apart.
const LINES: usize = 14;

const LEFT: f64 = 84.0;
const PLOT: f64 = 680.0;
const TOP: f64 = 96.0;
const PANEL: f64 = 200.0;
const GAP: f64 = 40.0;
/// From the axes to the first and the last value: half a block shape fits there.
const INSET: f64 = 30.0;

/// One panel: its title, and the lines of each series, solid and dashed.
struct Panel {
    title: String,
    solid: fn(&ResultDocument) -> f64,
    dashed: Option<fn(&ResultDocument) -> f64>,
}

fn panels(unit: &str) -> [Panel; 3] {
    [
        Panel {
            title: format!("DRAM, bytes per {unit}"),
            solid: |r| r.volumes.dram.load.total.get(),
            dashed: Some(|r| r.volumes.dram.store.total.get()),
        },
        Panel {
            title: format!("L2, bytes per {unit}"),
            solid: |r| r.volumes.l2.load.total.get(),
            dashed: Some(|r| r.volumes.l2.store.total.get()),
        },
        Panel { title: format!("rate, 10^9 {unit}/s"), solid: giga_per_second, dashed: None },
    ]
}

/// A series as SVG.
pub fn sweep_picture(document: &SweepDocument) -> String {
    let all = lines(document);
    let drawn = &all[..all.len().min(LINES)];
    let names: Vec<String> = drawn.iter().map(|l| shortened(&l.label(), 40)).collect();
    let legend = names.iter().map(|n| width(n, TEXT)).fold(140.0, f64::max) + 70.0;
    let right = LEFT + PLOT;
    let size = (right + legend, TOP + 3.0 * (PANEL + GAP) + 30.0);
    picture(size, |canvas| {
        let Some(vary) = document.vary.first() else { return };
        let head = if document.device_varies() { head_of_devices } else { head };
        head(canvas, &document.head, &format!("over {}", vary.name), &about(document), size.0);
        let axis = Across::new(vary);
        for (i, panel) in panels(&document.head.kernel.unit).iter().enumerate() {
            let top = TOP + (PANEL + GAP) * i as f64;
            panel.draw(canvas, drawn, &axis, top);
        }
        let last = TOP + 3.0 * (PANEL + GAP) - GAP;
        let crossed = crosses(canvas, drawn, &axis, last);
        if document.best {
            blocks(canvas, document, &axis, last);
        }
        let unit = vary.unit.as_ref().map(|u| format!(", {u}")).unwrap_or_default();
        let style = Style { colour: FAINT, ..Style::new(Anchor::Centre) };
        let title = format!("{}{unit}", vary.name);
        canvas.text(&title, (LEFT + PLOT / 2.0, TOP + 3.0 * (PANEL + GAP) - 4.0), style);
        legends(canvas, &names, all.len(), crossed, (right + 20.0, TOP + 8.0));
    })
}

/// Domain and launch.
fn about(document: &SweepDocument) -> String {
    let known = || document.points.iter().map(|p| &p.domain).filter(|d| !d.is_empty());
    let domain = match (known().next(), known().next_back()) {
        (Some(first), Some(last)) if first == last => format!("domain {}", extents(first)),
        (Some(first), Some(last)) => format!("domain {} to {}", extents(first), extents(last)),
        _ => "no domain".to_owned(),
    };
    format!("{domain}; {}", launch_text(document))
}

/// The axis of what varies.
struct Across {
    /// Where each value stands, and what is written there.
    values: Vec<(f64, String)>,
    /// Numbers to write instead, where values are many.
    ticks: Vec<(f64, String)>,
}

impl Across {
    fn new(vary: &VaryDocument) -> Self {
        // Values without numbers stand at equal distances.
        let numbers =
            vary.numbers.clone().unwrap_or_else(|| (0..vary.values.len()).map(|i| i as f64).collect());
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let logarithmic = vary.numbers.is_some() && grows_by_factors(&numbers);
        let axis = Axis { low, high, start: LEFT + INSET, end: LEFT + PLOT - INSET, logarithmic };
        let name = |i: usize| match &vary.numbers {
            Some(numbers) => numbers.get(i).map(|&n| label(n)).unwrap_or_default(),
            None => vary.values.get(i).map(ToString::to_string).unwrap_or_default(),
        };
        let values: Vec<(f64, String)> =
            numbers.iter().enumerate().map(|(i, &n)| (axis.at(n), name(i))).collect();
        let exact = logarithmic || vary.numbers.is_none() || !overlap(&values);
        let ticks = if exact {
            values.clone()
        } else {
            axis.ticks(8).into_iter().map(|n| (axis.at(n), label(n))).collect()
        };
        Self { values, ticks: thinned(ticks) }
    }

    fn grid(&self, canvas: &mut Canvas<'_>, top: f64) {
        for (x, text) in &self.ticks {
            canvas.line(&[(*x, top), (*x, top + PANEL)], GRID, 1);
            canvas.text(text, (*x, top + PANEL + 13.0), Style::new(Anchor::Centre));
        }
    }
}

/// Whether values grow by about equal factors, over at least three of them.
fn grows_by_factors(numbers: &[f64]) -> bool {
    let factors: Vec<f64> = numbers.windows(2).map(|w| w[1] / w[0]).collect();
    let Some(&first) = factors.first() else { return false };
    numbers.len() > 3
        && numbers.iter().all(|&n| n > 0.0)
        && first > 1.2
        && factors.iter().all(|f| (f / first - 1.0).abs() < 0.05)
}

fn too_close((x0, a): &(f64, String), (x1, b): &(f64, String)) -> bool {
    (x1 - x0).abs() < f64::midpoint(width(a, TEXT), width(b, TEXT)) + 8.0
}

fn overlap(labels: &[(f64, String)]) -> bool {
    labels.windows(2).any(|w| too_close(&w[0], &w[1]))
}

/// Every n-th label, so that none lies on another.
fn thinned(mut labels: Vec<(f64, String)>) -> Vec<(f64, String)> {
    sorting::sort_by(&mut labels, |a, b| a.0.total_cmp(&b.0));
    for every in 1..=labels.len().max(1) {
        let some: Vec<(f64, String)> = labels.iter().step_by(every).cloned().collect();
        if !overlap(&some) {
            return some;
        }
    }
    labels
}

impl Panel {
    fn draw(&self, canvas: &mut Canvas<'_>, lines: &[SeriesLine<'_>], across: &Across, top: f64) {
        let results = || lines.iter().flat_map(|l| l.points).filter_map(|p| p.result.as_ref());
        let most = results().map(|r| (self.solid)(r).max(self.dashed.map_or(0.0, |of| of(r))));
        let up = Axis::from_zero(most.fold(0.0, f64::max), top + PANEL, top);
        across.grid(canvas, top);
        for tick in up.ticks(5) {
            let y = up.at(tick);
            canvas.line(&[(LEFT, y), (LEFT + PLOT, y)], GRID, 1);
            canvas.text(&label(tick), (LEFT - 8.0, y), Style::new(Anchor::Right));
        }
        canvas.line(&[(LEFT, top), (LEFT, top + PANEL), (LEFT + PLOT, top + PANEL)], INK, 1);
        let style = Style { colour: FAINT, upright: true, ..Style::new(Anchor::Centre) };
        canvas.text(&self.title, (20.0, top + PANEL / 2.0), style);
        for (i, line) in lines.iter().enumerate() {
            if let Some(of) = self.dashed {
                for piece in pieces(line, across, &up, of) {
                    canvas.dashed(&piece, of_line(i), 1);
                }
            }
        }
        for (i, line) in lines.iter().enumerate() {
            for piece in pieces(line, across, &up, self.solid) {
                canvas.line(&piece, of_line(i), 2);
                for place in piece {
                    canvas.marker(place, i, of_line(i));
                }
            }
        }
    }
}

/// Marks points without a result above the lower end of a panel, each line in its own row; whether there
/// are any.
fn crosses(canvas: &mut Canvas<'_>, lines: &[SeriesLine<'_>], across: &Across, bottom: f64) -> bool {
    let mut any = false;
    for (i, line) in lines.iter().enumerate() {
        for (point, (x, _)) in line.points.iter().zip(&across.values) {
            if point.error.is_some() {
                canvas.cross((*x, bottom - 7.0 - 10.0 * i as f64), of_line(i));
                any = true;
            }
        }
    }
    any
}

/// Writes the best block where it becomes another one, with its fold if some of them have one.
fn blocks(canvas: &mut Canvas<'_>, document: &SweepDocument, across: &Across, bottom: f64) {
    const SIZE: f64 = 10.0;
    let configs = || document.points.iter().filter_map(|p| p.config.as_ref());
    let folded = configs().any(|config| config.fold() != [1; 3]);
    let (mut before, mut end) = (None, f64::NEG_INFINITY);
    // Lines for the values of a second thing would need a row each: only the first has one.
    for (point, (x, _)) in document.points.iter().zip(&across.values) {
        let Some(config) = &point.config else { continue };
        let this = Some((config.block(), config.fold()));
        if std::mem::replace(&mut before, this) == this {
            continue;
        }
        let fold = if folded { format!(" fold {}", shape(config.fold())) } else { String::new() };
        let text = shape(config.block()) + &fold;
        if x - width(&text, SIZE) / 2.0 > end + 4.0 {
            let style = Style { size: SIZE, colour: FAINT, ..Style::new(Anchor::Centre) };
            canvas.text(&text, (*x, bottom - 12.0), style);
            end = x + width(&text, SIZE) / 2.0;
        }
    }
}

/// A line, cut where there is no result.
fn pieces(
    line: &SeriesLine<'_>,
    across: &Across,
    up: &Axis,
    of: fn(&ResultDocument) -> f64,
) -> Vec<Vec<(f64, f64)>> {
    let mut all = vec![Vec::new()];
    for (point, (x, _)) in line.points.iter().zip(&across.values) {
        match (&point.result, all.last_mut()) {
            (Some(r), Some(piece)) => piece.push((*x, up.at(of(r)))),
            _ => all.push(Vec::new()),
        }
    }
    all
}

/// What the lines mean.
fn legends(canvas: &mut Canvas<'_>, names: &[String], all: usize, crossed: bool, (x, mut y): (f64, f64)) {
    let mut entry = |canvas: &mut Canvas<'_>, text: &str, draw: &dyn Fn(&mut Canvas<'_>, f64)| {
        draw(canvas, y);
        canvas.text(text, (x + 36.0, y), Style::new(Anchor::Left));
        y += 20.0;
    };
    let ends = |y: f64| [(x, y), (x + 28.0, y)];
    let grey = RGBColor(90, 90, 90);
    entry(canvas, "load, rate", &|c, y| c.line(&ends(y), grey, 2));
    entry(canvas, "store", &|c, y| c.dashed(&ends(y), grey, 1));
    if names.len() > 1 {
        for (i, name) in names.iter().enumerate() {
            entry(canvas, name, &|c, y| {
                c.line(&ends(y), of_line(i), 2);
                c.marker((x + 14.0, y), i, of_line(i));
            });
        }
    }
    if crossed {
        entry(canvas, "cannot run", &|c, y| c.cross((x + 14.0, y), grey));
    }
    if all > names.len() {
        entry(canvas, &format!("{} more not drawn", all - names.len()), &|_, _| {});
    }
}
