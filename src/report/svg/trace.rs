//! Pictures of the trace-based models: distances, places over time, series of miss rates.

use plotters::style::RGBColor;

use super::axis::{Axis, label};
use super::canvas::{Anchor, Canvas, FAINT, GRID, INK, Place as Point, Style, picture};
use super::colour::of_line;
use crate::report::trace::{ExperimentDocument, ReuseDocument, RunDocument, TraceSweepDocument};

pub(super) const LEFT: f64 = 90.0;
pub(super) const TOP: f64 = 70.0;
pub(super) const WIDTH: f64 = 760.0;
pub(super) const HEIGHT: f64 = 380.0;
/// Most points of a picture: more would hide each other.
const POINTS: usize = 40_000;

pub(super) fn title(canvas: &mut Canvas<'_>, text: &str, about: &str) {
    canvas.text(text, (20.0, 24.0), Style { size: 16.0, bold: true, ..Style::new(Anchor::Left) });
    canvas.text(about, (20.0, 46.0), Style { colour: FAINT, ..Style::new(Anchor::Left) });
}

/// Axes with numbers and names.
pub(super) fn axes(canvas: &mut Canvas<'_>, across: &Axis, up: &Axis, names: (&str, &str)) {
    let bottom = TOP + HEIGHT;
    for tick in up.ticks(6) {
        let y = up.at(tick);
        canvas.line(&[(LEFT, y), (LEFT + WIDTH, y)], GRID, 1);
        canvas.text(&label(tick), (LEFT - 8.0, y), Style::new(Anchor::Right));
    }
    for tick in across.ticks(8) {
        canvas.text(&label(tick), (across.at(tick), bottom + 14.0), Style::new(Anchor::Centre));
    }
    canvas.line(&[(LEFT, TOP), (LEFT, bottom), (LEFT + WIDTH, bottom)], INK, 1);
    let style = Style { colour: FAINT, ..Style::new(Anchor::Centre) };
    canvas.text(names.0, (LEFT + WIDTH / 2.0, bottom + 36.0), style);
    canvas.text(names.1, (20.0, TOP + HEIGHT / 2.0), Style { upright: true, ..style });
}

pub(super) fn size() -> Point {
    (LEFT + WIDTH + 240.0, TOP + HEIGHT + 60.0)
}

/// The histogram of distances of the full model, with the number of lines up to which they hit.
pub fn reuse_picture(document: &ReuseDocument) -> String {
    picture(size(), |canvas| {
        let name = document.head.name();
        let Some(full) = document.runs.first().map(|run| &run.result) else { return };
        let about = format!(
            "miss rate {:.2} %; infinite distances: {} of {} requests",
            full.miss_rate_percent, full.infinite, document.requests
        );
        title(canvas, &format!("{name}: reuse distances within a set"), &about);
        // Beyond some distance, all are alike: they miss.
        let ways = u64::from(document.settings.geometry.ways());
        let shown = (ways * 8).max(16);
        let most = full.histogram.iter().filter(|h| h[0] < shown).map(|h| h[1]).max().unwrap_or(1);
        let beyond: u64 = full.histogram.iter().filter(|h| h[0] >= shown).map(|h| h[1]).sum();
        let up = Axis::from_zero(most.max(beyond) as f64, TOP + HEIGHT, TOP);
        let end = shown as f64 + 1.0;
        let across = Axis { low: 0.0, high: end, start: LEFT, end: LEFT + WIDTH, logarithmic: false };
        axes(canvas, &across, &up, ("distance, lines (the last bar: all longer ones)", "requests"));
        let bar = |canvas: &mut Canvas<'_>, distance: u64, times: u64| {
            let colour = if distance < ways { RGBColor(120, 180, 225) } else { RGBColor(213, 94, 0) };
            let (from, to) = (across.at(distance as f64), across.at(distance as f64 + 0.9));
            canvas.bar((from, up.at(times as f64)), (to, up.at(0.0)), colour);
        };
        for &[distance, times] in full.histogram.iter().filter(|h| h[0] < shown) {
            bar(canvas, distance, times);
        }
        if beyond > 0 {
            bar(canvas, shown, beyond);
        }
        let cut = across.at(ways as f64);
        canvas.dashed(&[(cut, TOP), (cut, TOP + HEIGHT)], INK, 1);
        canvas.text(&format!("{ways} ways"), (cut + 6.0, TOP + 8.0), Style::new(Anchor::Left));
    })
}

/// Misses by type, of all requests that are in the miss rate, with each extension off in turn, beside what was
/// measured (N figures 10 and 11). Latency misses are left out: profilers do not count them.
pub fn ablation_picture(document: &ReuseDocument) -> String {
    picture(size(), |canvas| {
        let name = document.head.name();
        let measured = document.measured.map(|m| m.miss_rate());
        let about = measured.map_or("nothing measured".to_owned(), |m| format!("measured: {m:.2} %"));
        title(canvas, &format!("{name}: types of misses, each extension off in turn"), &about);
        let rates = document.runs.iter().map(|r| r.result.miss_rate_percent).chain(measured);
        let up = Axis::from_zero(rates.fold(0.0, f64::max), TOP + HEIGHT, TOP);
        let slots = document.runs.len() as f64;
        let across = Axis { low: 0.0, high: slots, start: LEFT, end: LEFT + WIDTH, logarithmic: false };
        let without_ticks = Axis { low: 1.0, high: 0.0, ..across };
        axes(canvas, &without_ticks, &up, ("extension that is off", "miss rate, %"));
        for (i, run) in (0_u32..).zip(&document.runs) {
            let at = |share: f64| across.at(f64::from(i) + share);
            let mut below = 0.0;
            for (kind, part) in (0..).zip(shares(run)) {
                let above = below + part;
                canvas.bar((at(0.2), up.at(above)), (at(0.8), up.at(below)), of_line(kind));
                below = above;
            }
            let under = TOP + HEIGHT + 14.0;
            canvas.text(run.run.word(), (at(0.5), under), Style::new(Anchor::Centre));
            if let Some(error) = run.error_points {
                let over = up.at(run.result.miss_rate_percent) - 10.0;
                canvas.text(&format!("{error:.1} off"), (at(0.5), over), Style::new(Anchor::Centre));
            }
        }
        if let Some(measured) = measured {
            let y = up.at(measured);
            canvas.dashed(&[(LEFT, y), (LEFT + WIDTH, y)], INK, 1);
            canvas.text("measured", (LEFT + WIDTH + 6.0, y), Style::new(Anchor::Left));
        }
        for (kind, what) in ["compulsory", "capacity", "associativity", "mshr"].into_iter().enumerate() {
            let y = TOP + 10.0 + 20.0 * kind as f64;
            canvas.marker((LEFT + WIDTH + 90.0, y), 1, of_line(kind));
            canvas.text(what, (LEFT + WIDTH + 102.0, y), Style::new(Anchor::Left));
        }
    })
}

/// Percent of the requests that each type of miss takes; together the miss rate.
fn shares(run: &RunDocument) -> [f64; 4] {
    let Some(types) = run.types else { return [run.result.miss_rate_percent, 0.0, 0.0, 0.0] };
    let parts = [
        types.compulsory as f64,
        types.capacity as f64,
        types.associativity.max(0) as f64,
        types.mshr.max(0) as f64,
    ];
    let all: f64 = parts.iter().sum();
    parts.map(|part| if all > 0.0 { run.result.miss_rate_percent * part / all } else { 0.0 })
}

/// An access of a picture of places.
#[derive(Debug, Clone, Copy)]
pub struct PlottedAccess {
    /// First byte.
    pub address: u64,
    /// Its thread.
    pub thread: u32,
    /// Whether it writes.
    pub store: bool,
}

/// Memory location over the order of accesses, coloured by thread (C figure 8.1). Of many accesses, every
/// n-th is drawn.
pub fn places_picture(what: &str, places: &[PlottedAccess], threads: usize) -> String {
    picture(size(), |canvas| {
        let every = places.len().div_ceil(POINTS).max(1);
        let about = format!("{} accesses of {threads} threads; one of {every} is drawn", places.len());
        title(canvas, what, &about);
        let low = places.iter().map(|p| p.address).min().unwrap_or(0);
        let high = places.iter().map(|p| p.address).max().unwrap_or(0);
        let across = Axis::from_zero(places.len() as f64, LEFT, LEFT + WIDTH);
        let up = Axis::from_zero((high - low) as f64, TOP + HEIGHT, TOP);
        axes(canvas, &across, &up, ("access", "bytes from the lowest address"));
        for (i, place) in places.iter().enumerate().step_by(every) {
            let (x, y) = (across.at(i as f64), up.at((place.address - low) as f64));
            let colour = spectrum(f64::from(place.thread) / threads.max(1) as f64);
            canvas.bar((x - 1.0, y - 1.0), (x + 1.0, y + 1.0), colour);
        }
    })
}

/// From blue over green to red.
fn spectrum(share: f64) -> RGBColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 255")]
    let channel = |centre: f64| ((1.0 - (share - centre).abs() * 2.0).clamp(0.0, 1.0) * 255.0) as u8;
    RGBColor(channel(1.0), channel(0.5), channel(0.0))
}

/// A line of a series: its name and its points.
type Series = (String, Vec<(f64, f64)>);

fn series(canvas: &mut Canvas<'_>, all: &[Series], across: &Axis, names: (&str, &str)) {
    let most = all.iter().flat_map(|s| &s.1).map(|p| p.1).fold(0.0, f64::max);
    let up = Axis::from_zero(most, TOP + HEIGHT, TOP);
    axes(canvas, across, &up, names);
    for (i, (name, points)) in all.iter().enumerate() {
        let places: Vec<Point> = points.iter().map(|p| (across.at(p.0), up.at(p.1))).collect();
        canvas.line(&places, of_line(i), 2);
        for &place in &places {
            canvas.marker(place, i, of_line(i));
        }
        let y = TOP + 10.0 + 20.0 * i as f64;
        canvas.marker((LEFT + WIDTH + 20.0, y), i, of_line(i));
        canvas.text(name, (LEFT + WIDTH + 32.0, y), Style::new(Anchor::Left));
    }
}

/// Miss rates over the parameters of the cache, by factors (N figure 12).
pub fn trace_sweep_picture(document: &TraceSweepDocument) -> String {
    picture(size(), |canvas| {
        let name = document.head.name();
        title(canvas, &format!("{name}: miss rate over parameters of the cache"), "each alone, by factors");
        let mut all: Vec<Series> = Vec::new();
        for point in &document.points {
            let at = (point.factor.get().log2(), point.miss_rate_percent);
            match all.last_mut().filter(|s| s.0 == point.parameter) {
                Some(last) => last.1.push(at),
                None => all.push((point.parameter.to_owned(), vec![at])),
            }
        }
        let across = Axis { low: -2.0, high: 2.0, start: LEFT, end: LEFT + WIDTH, logarithmic: false };
        series(canvas, &all, &across, ("log2 of the factor", "miss rate, %"));
    })
}

/// Miss rates over the number of groups.
pub fn experiment_picture(document: &ExperimentDocument) -> String {
    picture(size(), |canvas| {
        title(canvas, "Crawford's kernels: miss rate over groups", &document.about);
        let mut all: Vec<Series> = Vec::new();
        for row in document.rows.iter().filter(|r| r.kernel != "stencil") {
            let most = row.max_groups.map_or("all".to_owned(), |m| m.to_string());
            let name = format!("{} {}x{}, {most}", row.kernel, row.group[0], row.group[1]);
            let at = ((row.groups as f64).sqrt(), row.miss_rate_percent);
            match all.iter_mut().find(|s| s.0 == name) {
                Some(known) => known.1.push(at),
                None => all.push((name, vec![at])),
            }
        }
        let most = all.iter().flat_map(|s| &s.1).map(|p| p.0).fold(1.0, f64::max);
        let across = Axis::from_zero(most, LEFT, LEFT + WIDTH);
        series(canvas, &all, &across, ("groups along one dimension", "miss rate, %"));
    })
}
