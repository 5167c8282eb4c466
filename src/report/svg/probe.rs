//! Pictures of pointer chases: latency against size with its levels, and which places miss.

use plotters::style::RGBColor;

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, FAINT, INK, Style, picture};
use super::colour::of_line;
use super::trace::{HEIGHT, LEFT, TOP, WIDTH, axes, size, title};
use crate::probe::{Clusters, Logs, Run};
use crate::report::probe::ProbeDocument;
use crate::sorting;

/// Most runs and columns of a map of misses: more would be thinner than a pixel.
const ROWS: usize = 190;
const COLUMNS: usize = 380;

/// Latency against size where there are sizes, otherwise the misses of each place in each array.
pub fn probe_picture(document: &ProbeDocument, logs: &Logs) -> String {
    picture(size(), |canvas| {
        if logs.sizes.is_empty() { misses(canvas, document, logs) } else { latencies(canvas, document, logs) }
    })
}

fn latencies(canvas: &mut Canvas<'_>, document: &ProbeDocument, logs: &Logs) {
    let about = format!("{} levels; shaded: where a level ends", document.findings.levels.len());
    title(canvas, &format!("{}: latency over size", document.sources.join(", ")), &about);
    let mut points: Vec<(f64, f64)> =
        logs.sizes.iter().filter(|p| p.kib > 0.0).map(|p| (p.kib.log2(), p.cycles)).collect();
    sorting::sort_by(&mut points, |a, b| a.0.total_cmp(&b.0));
    let low = points.first().map_or(0.0, |p| p.0.floor());
    let high = points.last().map_or(1.0, |p| p.0.ceil());
    let across = Axis { low, high, start: LEFT, end: LEFT + WIDTH, logarithmic: false };
    let up = Axis::from_zero(points.iter().map(|p| p.1).fold(0.0, f64::max), TOP + HEIGHT, TOP);
    for edge in document.findings.levels.iter().filter_map(|l| l.edge.as_ref()) {
        let [on, off] = edge.bracket_kib.map(|kib| across.at(kib.log2()));
        canvas.bar((on, TOP), (off.max(on + 1.0), TOP + HEIGHT), RGBColor(250, 225, 205));
        let text = format!("{} to {} KiB", edge.bracket_kib[0], edge.bracket_kib[1]);
        let style = Style { upright: true, colour: FAINT, ..Style::new(Anchor::Right) };
        canvas.text(&text, (on - 8.0, TOP + 6.0), style);
    }
    axes(canvas, &across, &up, ("log2 of the size in KiB", "cycles per load"));
    let places: Vec<(f64, f64)> = points.iter().map(|p| (across.at(p.0), up.at(p.1))).collect();
    canvas.line(&places, of_line(0), 1);
    for &place in &places {
        canvas.marker(place, 0, of_line(0));
    }
    for (i, level) in document.findings.levels.iter().enumerate() {
        let y = TOP + 10.0 + 20.0 * i as f64;
        let text = format!("level {}: {:.0} cycles", i + 1, level.cycles);
        canvas.text(&text, (LEFT + WIDTH + 24.0, y), Style::new(Anchor::Left));
    }
}

/// A row for each array, a column for each place: the darker, the more of its loads missed.
fn misses(canvas: &mut Canvas<'_>, document: &ProbeDocument, logs: &Logs) {
    let clusters = Clusters::new(&logs.runs);
    let mut runs: Vec<&Run> = logs.runs.iter().filter(|r| r.is_warm_stride()).collect();
    sorting::sort_by_key(&mut runs, |r| r.n);
    let every = runs.len().div_ceil(ROWS).max(1);
    let shown: Vec<&Run> = runs.iter().copied().step_by(every).collect();
    let about = format!("{} of {} warm chases; the darker, the more loads miss", shown.len(), runs.len());
    title(canvas, &format!("{}: misses by place and array", document.sources.join(", ")), &about);
    let most = shown.iter().map(|r| r.n).max().unwrap_or(1);
    let across = Axis { low: 0.0, high: most as f64, start: LEFT, end: LEFT + WIDTH, logarithmic: false };
    let up = Axis { low: 0.0, high: shown.len() as f64, start: TOP + HEIGHT, end: TOP, logarithmic: false };
    axes(canvas, &across, &up, ("element of the array", "chases, that through the smallest array first"));
    let columns = COLUMNS as f64;
    for (row, run) in shown.iter().enumerate() {
        let mut counts = vec![(0_u32, 0_u32); COLUMNS];
        for load in &run.loads {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a column")]
            let column = (f64::from(load.index) / most as f64 * columns) as usize;
            if let (Some(count), Some(missed)) = (counts.get_mut(column), clusters.missed(load.latency)) {
                *count = (count.0 + 1, count.1 + u32::from(missed));
            }
        }
        let (top, bottom) = (up.at(row as f64 + 1.0), up.at(row as f64));
        for (column, (loads, missed)) in counts.into_iter().enumerate().filter(|c| c.1.1 > 0) {
            let share = f64::from(missed) / f64::from(loads);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 215")]
            let light = (230.0 - 215.0 * share.clamp(0.0, 1.0)) as u8;
            let left = LEFT + WIDTH * column as f64 / columns;
            let right = left + WIDTH / columns;
            canvas.bar((left, top), (right, bottom.max(top + 1.0)), RGBColor(light, light, light + 20));
        }
    }
    canvas.line(&[(LEFT, TOP + HEIGHT), (LEFT + WIDTH, TOP + HEIGHT)], INK, 1);
}
