//! A ranking: volumes per level and rate of the best and the notable, and all candidates as a scatter.

use plotters::style::RGBColor;

use super::axis::{Axis, label};
use super::canvas::{Anchor, Canvas, FAINT, GRID, INK, Style, TEXT, picture, width};
use super::colour::of_block;
use super::frame::{head, shortened};
use crate::quantity::{Bytes, PerItem};
use crate::report::prediction::{RankedResult, RankingDocument, ResultDocument};
use crate::report::units::extents;
use crate::report::units::{giga, shape};

/// Most bars.
const BARS: usize = 24;
/// Most points of the scatter; more would hide each other.
const POINTS: usize = 5_000;

const ROW: f64 = 22.0;
const BAR: f64 = 14.0;
const PANEL: f64 = 270.0;
const GAP: f64 = 34.0;
const TOP: f64 = 148.0;
const SCATTER: f64 = 300.0;
/// Beside the rate: its number and its limiter.
const BESIDE: f64 = 110.0;

/// Parts of a stacked bar: name and colour. Loads are blue, stores orange, what a cache lost is dark.
const L2_PARTS: [(&str, RGBColor); 3] = [
    ("load, compulsory", RGBColor(120, 180, 225)),
    ("load, capacity", RGBColor(0, 90, 150)),
    ("store", RGBColor(230, 159, 0)),
];
const DRAM_PARTS: [(&str, RGBColor); 3] = [
    ("load, compulsory - reuse", RGBColor(120, 180, 225)),
    ("load, capacity and fill", RGBColor(0, 90, 150)),
    ("store", RGBColor(230, 159, 0)),
];

/// A ranking as SVG. The document should hold all results: the worst one is notable too.
pub fn ranking_picture(ranking: &RankingDocument) -> String {
    let rows = notable(&ranking.results);
    let labels: Vec<String> = rows.iter().map(|r| name(r)).collect();
    let left = labels.iter().map(|l| width(l, TEXT)).fold(120.0, f64::max) + 40.0;
    let bottom = TOP + ROW * rows.len().max(1) as f64;
    let size = (left + 3.0 * (PANEL + GAP) + BESIDE, bottom + 70.0 + SCATTER + 90.0);
    picture(size, |canvas| {
        let domain = format!("domain {}", extents(&ranking.head.kernel.domain));
        head(canvas, &ranking.head, "launches, best first", &domain, size.0);
        if rows.is_empty() {
            canvas.text("no candidate can run", (left, TOP), Style::new(Anchor::Left));
            return;
        }
        for (i, (row, label)) in rows.iter().zip(&labels).enumerate() {
            let y = TOP + ROW * (i as f64 + 0.5);
            canvas.marker((24.0, y), 0, of_block(row.result.config.candidate.block()));
            canvas.text(label, (36.0, y), Style::new(Anchor::Left));
        }
        let unit = &ranking.head.kernel.unit;
        let at = |i: usize| left + (PANEL + GAP) * i as f64;
        let bytes = format!("bytes per {unit}");
        let panel = |i: usize, title| Panel { left: at(i), bottom, title };
        panel(0, "between L1 and L2").stacks(canvas, &rows, &L2_PARTS, l2_parts, &bytes);
        panel(1, "between L2 and DRAM").stacks(canvas, &rows, &DRAM_PARTS, dram_parts, &bytes);
        panel(2, "rate and what limits it").rates(canvas, &rows, &format!("10^9 {unit}/s"));
        scatter(canvas, ranking, (left, bottom + 90.0));
    })
}

/// The best, the first of each tie group and the worst; then further ones in order.
fn notable(results: &[RankedResult]) -> Vec<&RankedResult> {
    let firsts: Vec<usize> =
        (0..results.len()).filter(|&i| i == 0 || results[i].tie_group != results[i - 1].tie_group).collect();
    let mut chosen: Vec<usize> = results.len().checked_sub(1).into_iter().collect();
    // Of too many groups every n-th.
    let every = firsts.len().div_ceil(BARS / 2).max(1);
    chosen.extend(firsts.into_iter().step_by(every));
    for i in 0..results.len() {
        chosen.sort_unstable();
        chosen.dedup();
        if chosen.len() >= BARS {
            break;
        }
        chosen.push(i);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().filter_map(|i| results.get(i)).collect()
}

fn name(row: &RankedResult) -> String {
    let config = &row.result.config;
    let variant = config.variant.as_ref().map(|v| shortened(v, 24) + " ").unwrap_or_default();
    let fold = if config.candidate.fold() == [1; 3] {
        String::new()
    } else {
        format!(" fold {}", shape(config.candidate.fold()))
    };
    format!("{}. {variant}{}{fold}", row.rank, shape(config.candidate.block()))
}

fn l2_parts(r: &ResultDocument) -> [Bytes<PerItem>; 3] {
    let v = &r.volumes.l2;
    [v.load.compulsory, v.load.capacity, v.store.total]
}

fn dram_parts(r: &ResultDocument) -> [Bytes<PerItem>; 3] {
    let v = &r.volumes.dram;
    [v.load.compulsory - v.load.saved(), v.load.added(), v.store.total]
}

/// The rate in 10^9 work items per second, as axes show it.
pub(super) fn giga_per_second(r: &ResultDocument) -> f64 {
    r.rate_per_s.get() / 1e9
}

/// One column of bars.
struct Panel {
    left: f64,
    bottom: f64,
    title: &'static str,
}

impl Panel {
    /// Title, grid and numbers of the axis.
    fn axis(&self, canvas: &mut Canvas<'_>, most: f64, unit: &str) -> Axis {
        let axis = Axis::from_zero(most, self.left, self.left + PANEL);
        let middle = self.left + PANEL / 2.0;
        canvas.text(self.title, (self.left, TOP - 50.0), Style { bold: true, ..Style::new(Anchor::Left) });
        for tick in axis.ticks(5) {
            let x = axis.at(tick);
            canvas.line(&[(x, TOP), (x, self.bottom)], GRID, 1);
            canvas.text(&label(tick), (x, self.bottom + 12.0), Style::new(Anchor::Centre));
        }
        canvas.text(
            unit,
            (middle, self.bottom + 30.0),
            Style { colour: FAINT, ..Style::new(Anchor::Centre) },
        );
        axis
    }

    fn stacks(
        &self,
        canvas: &mut Canvas<'_>,
        rows: &[&RankedResult],
        parts: &[(&str, RGBColor); 3],
        of: fn(&ResultDocument) -> [Bytes<PerItem>; 3],
        unit: &str,
    ) {
        let most = rows.iter().map(|r| of(&r.result).iter().sum::<Bytes<_>>().get()).fold(0.0, f64::max);
        let axis = self.axis(canvas, most, unit);
        for (i, (name, colour)) in parts.iter().enumerate() {
            // Two entries in the first line, the third below.
            let (x, y) = (self.left + 125.0 * (i % 2) as f64, TOP - 30.0 + 16.0 * (i / 2) as f64);
            let x = if i == 1 { self.left + 150.0 } else { x };
            canvas.bar((x, y - 5.0), (x + 10.0, y + 5.0), *colour);
            canvas.text(name, (x + 14.0, y), Style { size: 10.0, ..Style::new(Anchor::Left) });
        }
        for (i, row) in rows.iter().enumerate() {
            let y = TOP + ROW * i as f64 + (ROW - BAR) / 2.0;
            let mut sum = 0.0;
            for (part, (_, colour)) in of(&row.result).into_iter().zip(parts) {
                let next = sum + part.or_none().get();
                canvas.bar((axis.at(sum), y), (axis.at(next), y + BAR), *colour);
                sum = next;
            }
        }
    }

    fn rates(&self, canvas: &mut Canvas<'_>, rows: &[&RankedResult], unit: &str) {
        let most = rows.iter().map(|r| giga_per_second(&r.result)).fold(0.0, f64::max);
        let axis = self.axis(canvas, most, unit);
        for (i, row) in rows.iter().enumerate() {
            let (r, y) = (&row.result, TOP + ROW * i as f64 + (ROW - BAR) / 2.0);
            canvas.bar((self.left, y), (axis.at(giga_per_second(r)), y + BAR), of_limiter(r.limiter));
            let beside = format!("{} {}", giga(Some(r.rate_per_s)), r.limiter);
            canvas.text(&beside, (self.left + PANEL + 10.0, y + BAR / 2.0), Style::new(Anchor::Left));
        }
    }
}

/// The colour of a limiter, as near as possible to the one that a table has.
fn of_limiter(limiter: &str) -> RGBColor {
    match limiter {
        "dram" => RGBColor(0, 114, 178),
        "l2" => RGBColor(86, 180, 233),
        "l1" => RGBColor(240, 200, 60),
        "fp" => RGBColor(0, 158, 115),
        _ => RGBColor(204, 121, 167),
    }
}

/// All results: rate over volume, coloured by the shape of the block.
fn scatter(canvas: &mut Canvas<'_>, ranking: &RankingDocument, (left, top): (f64, f64)) {
    let unit = &ranking.head.kernel.unit;
    let results = || ranking.results.iter().take(POINTS).map(|r| &r.result);
    let volume = |r: &ResultDocument| r.volumes.dram.total().get();
    let most = |of: &dyn Fn(&ResultDocument) -> f64| results().map(of).fold(0.0, f64::max);
    let across = Axis::from_zero(most(&volume), left, left + 2.0 * PANEL + GAP);
    let up = Axis::from_zero(most(&giga_per_second), top + SCATTER, top);
    canvas.text("all launches", (left, top - 16.0), Style { bold: true, ..Style::new(Anchor::Left) });
    for tick in across.ticks(8) {
        let x = across.at(tick);
        canvas.line(&[(x, top), (x, top + SCATTER)], GRID, 1);
        canvas.text(&label(tick), (x, top + SCATTER + 12.0), Style::new(Anchor::Centre));
    }
    for tick in up.ticks(5) {
        let y = up.at(tick);
        canvas.line(&[(left, y), (across.end, y)], GRID, 1);
        canvas.text(&label(tick), (left - 8.0, y), Style::new(Anchor::Right));
    }
    let faint = Style { colour: FAINT, ..Style::new(Anchor::Centre) };
    let title = format!("DRAM load and store, bytes per {unit}");
    canvas.text(&title, (f64::midpoint(left, across.end), top + SCATTER + 32.0), faint);
    let title = format!("rate, 10^9 {unit}/s");
    canvas.text(&title, (left - 56.0, top + SCATTER / 2.0), Style { upright: true, ..faint });
    let points: Vec<&ResultDocument> = results().collect();
    // The best last, so that nothing hides it.
    for r in points.into_iter().rev() {
        let place = (across.at(volume(r)), up.at(giga_per_second(r)));
        canvas.marker(place, 0, of_block(r.config.candidate.block()));
    }
    colours(canvas, (across.end + GAP, top));
}

/// What the colours of blocks mean.
fn colours(canvas: &mut Canvas<'_>, (x, y): (f64, f64)) {
    let rows = [
        ("wide", [1024, 1, 1]),
        ("tall", [1, 1024, 1]),
        ("deep", [1, 1, 64]),
        ("wide and tall", [256, 256, 1]),
        ("wide and deep", [256, 1, 64]),
        ("tall and deep", [1, 256, 64]),
        ("like a cube", [16, 16, 8]),
    ];
    canvas.text("thread block", (x, y + 8.0), Style { bold: true, ..Style::new(Anchor::Left) });
    for (i, (name, block)) in rows.into_iter().enumerate() {
        let y = y + 30.0 + 18.0 * i as f64;
        canvas.marker((x + 5.0, y), 0, of_block(crate::space::Block::known(block)));
        canvas.text(name, (x + 16.0, y), Style { colour: INK, ..Style::new(Anchor::Left) });
    }
}
