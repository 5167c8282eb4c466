//! Explanations for people, and their accesses as rows of a table.

use std::fmt::Write;

use super::document::{AccessDocument, ExplanationDocument, NeighbourDocument};
use crate::predict::{Alone, MemoryLevel};
use crate::quantity::{Bytes, Cycles, PerItem};
use crate::report::answer::{Answer, View};
use crate::report::ranking::{limiter_style, warnings};
use crate::report::table::{Align, Table};
use crate::report::units::{
    RateScale, any_number, grouped, number, percent, seconds, shape, size, two, wrapped,
};
use crate::sorting;

impl Answer for ExplanationDocument {
    const VIEW: &str = "explanation";
    const TITLE: &str = "Explanation";

    fn text(&self, view: View) -> String {
        explanation_text(self, view.all, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        explanation_table(answers)
    }
}

/// Columns of the paragraph where the terminal has more, or is none.
const PARAGRAPH: usize = 100;
/// Accesses that a person is shown without asking for all.
const ACCESSES: usize = 40;
/// Better neighbours that a person is shown.
const NEIGHBOURS: usize = 3;

/// What a person sees of an explanation; `all` shows every access and every neighbour.
fn explanation_text(document: &ExplanationDocument, all: bool, width: Option<usize>) -> String {
    let mut out = document.head.text();
    if let Some(why) = &document.choice.text {
        let _ = writeln!(out, "({why})");
    }
    out.push('\n');
    out.push_str(&paragraph(document, width));
    out.push('\n');
    out.push_str(&document.result.confidence.text("", usize::MAX, width));
    out.push('\n');
    accesses(&mut out, document, all, width);
    out.push('\n');
    out.push_str(&level_table(document).text(1, width));
    out.push('\n');
    out.push_str(&layer_table(document).text(1, width));
    let _ = writeln!(
        out,
        "\n bytes per {unit}; lost is what a cache had and lost: within blocks or waves, or touched by earlier\n blocks along x, y, z; load = unavoidable + lost + fill",
        unit = document.head.kernel.unit
    );
    neighbours(&mut out, document, all, width);
    warnings(&mut out, document.warnings.iter().chain(&document.result.warnings).collect());
    out
}

/// All sentences, broken into lines.
fn paragraph(document: &ExplanationDocument, width: Option<usize>) -> String {
    let width = width.unwrap_or(PARAGRAPH).clamp(20, PARAGRAPH);
    wrapped(document.sentences.iter().flat_map(|s| s.text.split(' ')), width)
}

fn accesses(out: &mut String, document: &ExplanationDocument, all: bool, width: Option<usize>) {
    let mut shown: Vec<&AccessDocument> = document.accesses.iter().collect();
    let more = if all { 0 } else { shown.len().saturating_sub(ACCESSES) };
    if more > 0 {
        sorting::sort_by(&mut shown, |a, b| b.cost.cycles.total_cmp(&a.cost.cycles));
        shown.truncate(ACCESSES);
    }
    out.push_str(&access_table(document, &shown).text(1, width));
    let _ = writeln!(
        out,
        "\n per {unit}; used is bytes asked for over bytes of sectors; only L2 and only DRAM are bytes that a block\n and a wave touch through this access alone; without is the rate if it were left out, over the rate",
        unit = document.head.kernel.unit
    );
    if more > 0 {
        let _ = writeln!(out, " {} cheaper ones: --all shows all", grouped(more));
    }
}

fn access_table(document: &ExplanationDocument, accesses: &[&AccessDocument]) -> Table {
    use Align::{Left, Right};
    let total = document.result.volumes.l1.wavefront_cycles.max(Cycles::new(1e-9));
    let or_dash = |n: Option<String>| n.unwrap_or_else(|| "-".to_owned());
    let alone = |a: &AccessDocument, text: &dyn Fn(Alone) -> String| or_dash(a.cost.alone.map(text));
    Table::filled(
        accesses,
        &[
            ("", Left, &|a| a.kind.to_owned()),
            ("access", Left, &|a| a.at.clone()),
            ("issues", Right, &|a| format!("{:.4}", a.cost.issues)),
            ("data", Right, &|a| format!("{:.3}", a.cost.data_wavefronts)),
            ("tag", Right, &|a| format!("{:.3}", a.cost.tag_wavefronts)),
            ("cycles", Right, &|a| format!("{:.3}", a.cost.cycles)),
            ("share", Right, &|a| format!("{:.1}%", a.cost.cycles / total * 100.0)),
            ("sectors", Right, &|a| or_dash(a.cost.sectors_per_request.map(|s| format!("{s:.2}")))),
            ("used", Right, &|a| or_dash(a.cost.efficiency.map(percent))),
            ("only L2", Right, &|a| alone(a, &|n| format!("{:.2}", n.block_load_bytes))),
            ("only DRAM", Right, &|a| {
                alone(a, &|n| format!("{:.2}", n.wave_load_bytes + n.wave_store_bytes))
            }),
            ("without", Right, &|a| {
                alone(a, &|n| format!("{:.3}", n.rate_per_s / document.result.rate_per_s))
            }),
        ],
    )
    .with_minor(&[
        "tag",
        "data",
        "issues",
        "sectors",
        "only DRAM",
        "only L2",
        "used",
        "cycles",
        "without",
    ])
}

fn level_table(document: &ExplanationDocument) -> Table {
    let left = ["level"].map(|n| (n, Align::Left));
    let right = [
        "alone",
        "rate",
        "store",
        "load",
        "unavoidable",
        "lost within",
        "x",
        "y",
        "z",
        "fill",
        "cache",
        "over",
        "misses",
    ];
    let table = Table::new(left.into_iter().chain(right.map(|n| (n, Align::Right))));
    let mut table = table.with_minor(&["over", "cache", "rate", "fill", "misses", "z", "y", "x"]);
    for level in &document.levels {
        table.row(level_cells(level, scale(document), document.levels.len() > 3));
    }
    table
}

fn level_cells(level: &MemoryLevel, scale: RateScale, llc: bool) -> Vec<String> {
    let name = match level.level {
        "l1" => "registers - L1",
        "l2" => "L1 - L2",
        "llc" => "L2 - LLC",
        _ if llc => "LLC - DRAM",
        _ => "L2 - DRAM",
    };
    let mut cells = vec![
        name.to_owned(),
        level.time_s.map(seconds).unwrap_or_default(),
        scale.number(level.limit_per_s),
        two(level.store_bytes),
        two(level.load_bytes),
    ];
    if let (Some(parts), Some(cache)) = (level.loads, level.cache) {
        let lost = [parts.lost_within, parts.lost_x, parts.lost_y, parts.lost_z, parts.fill];
        cells.push(two(parts.unavoidable));
        cells.extend(lost.map(two));
        cells.extend([size(cache.capacity_bytes), two(cache.oversubscription), percent(cache.miss)]);
    }
    cells
}

fn layer_table(document: &ExplanationDocument) -> Table {
    use Align::{Left, Right};
    Table::filled(
        &document.layers,
        &[
            ("reuse in L2", Left, &|layer| match layer.along {
                "wave" => "within a wave".to_owned(),
                along => format!("along {along}"),
            }),
            ("distance", Right, &|layer| size(layer.distance_bytes)),
            ("of L2", Right, &|layer| format!("{:.2}", layer.oversubscription)),
            ("misses", Right, &|layer| percent(layer.miss)),
            ("could hit", Right, &|layer| format!("{:.2}", layer.reusable_bytes)),
            ("lost", Right, &|layer| format!("{:.2}", layer.lost_bytes)),
        ],
    )
}

fn neighbours(out: &mut String, document: &ExplanationDocument, all: bool, width: Option<usize>) {
    let neighbours = &document.neighbours;
    let near: Vec<&NeighbourDocument> = neighbours
        .near
        .iter()
        .filter(|n| all || n.relative.get() > 1.0)
        .take(if all { usize::MAX } else { NEIGHBOURS })
        .collect();
    let best = neighbours.best.iter().filter(|b| !near.iter().any(|n| n.config == b.config));
    let variants = document.result.config.variant.is_some();
    let names: &[&str] = if variants { &["", "variant", "block", "fold"] } else { &["", "block", "fold"] };
    let mut table = Table::new(
        names
            .iter()
            .map(|n| (*n, Align::Left))
            .chain(["rate", "rel"].map(|n| (n, Align::Right)))
            .chain([("limiter", Align::Left)])
            .chain(
                ["L1 cycles", "L2 load", "L2 store", "DRAM load", "DRAM store"].map(|n| (n, Align::Right)),
            ),
    )
    .with_minor(&["DRAM store", "L2 store", "L1 cycles", "L2 load", "DRAM load"]);
    table.paint("limiter", limiter_style);
    table.row(this_cells(document));
    for (name, n) in near.iter().map(|n| ("one step", *n)).chain(best.map(|b| ("best", b))) {
        table.row(neighbour_cells(scale(document), name, n));
    }
    out.push('\n');
    out.push_str(&table.text(1, width));
    let more = neighbours.near.len();
    let _ = writeln!(
        out,
        "\n rates in {}; volumes are changes; {} compared, {more} of them one step away{}",
        scale(document).unit(&document.head.kernel.unit),
        match neighbours.compared - neighbours.rejected {
            1 => "1 launch".to_owned(),
            several => format!("{several} launches"),
        },
        if all { "" } else { ": --all shows all of these" }
    );
}

fn this_cells(document: &ExplanationDocument) -> Vec<String> {
    let (r, v) = (&document.result, &document.result.volumes);
    let mut cells = vec![
        "this".to_owned(),
        shape(r.config.candidate.block()),
        shape(r.config.candidate.fold()),
        scale(document).number(Some(r.rate_per_s)),
        "1.000".to_owned(),
        r.limiter.to_owned(),
    ];
    let volumes = [v.l2.load.total, v.l2.store.total, v.dram.load.total, v.dram.store.total];
    cells.push(two(v.l1.wavefront_cycles));
    cells.extend(volumes.map(two));
    with_variant(cells, r.config.variant.as_ref())
}

/// In which all rates are said.
fn scale(document: &ExplanationDocument) -> RateScale {
    RateScale::fitting([document.result.rate_per_s])
}

fn neighbour_cells(scale: RateScale, name: &str, n: &NeighbourDocument) -> Vec<String> {
    let mut cells = vec![
        name.to_owned(),
        shape(n.config.block()),
        shape(n.config.fold()),
        scale.number(Some(n.rate_per_s)),
        format!("{:.3}", n.relative),
        n.limiter.to_owned(),
    ];
    let c = &n.change;
    let changes = [c.l2_load_bytes, c.l2_store_bytes, c.dram_load_bytes, c.dram_store_bytes];
    // Nothing is neither more nor less.
    let signed = |n: f64| if n.abs() < 0.005 { "0".to_owned() } else { format!("{n:+.2}") };
    cells.push(signed(c.l1_cycles.get()));
    cells.extend(changes.map(|n| signed(n.get())));
    with_variant(cells, n.config.variant.as_ref())
}

/// The variant stands behind the name of a row.
fn with_variant(mut cells: Vec<String>, variant: Option<&String>) -> Vec<String> {
    if let Some(variant) = variant {
        cells.insert(1, variant.clone());
    }
    cells
}

/// The accesses of explanations, one row each; units stand in the names.
fn explanation_table(documents: &[&ExplanationDocument]) -> Table {
    use Align::{Left, Right};
    let alone =
        |a: &AccessDocument, of: fn(&Alone) -> Bytes<PerItem>| any_number(a.cost.alone.as_ref().map(of));
    Table::filled(
        documents.iter().flat_map(|d| d.accesses.iter().map(move |a| (d, &d.result.config, a))),
        &[
            ("kernel", Left, &|(d, _, _)| d.head.kernel.name.clone()),
            ("device", Left, &|(d, _, _)| d.head.device.id.clone()),
            ("variant", Left, &|(_, config, _)| config.variant.clone().unwrap_or_default()),
            ("block", Left, &|(_, config, _)| shape(config.candidate.block())),
            ("fold", Left, &|(_, config, _)| shape(config.candidate.fold())),
            ("kind", Left, &|(_, _, a)| a.kind.to_owned()),
            ("field", Left, &|(_, _, a)| a.field.clone()),
            ("access", Left, &|(_, _, a)| a.at.clone()),
            ("position", Right, &|(_, _, a)| a.position.to_string()),
            ("issues", Right, &|(_, _, a)| number(a.cost.issues)),
            ("data_wavefronts", Right, &|(_, _, a)| number(a.cost.data_wavefronts)),
            ("tag_wavefronts", Right, &|(_, _, a)| number(a.cost.tag_wavefronts)),
            ("cycles", Right, &|(_, _, a)| number(a.cost.cycles)),
            ("sectors_per_request", Right, &|(_, _, a)| any_number(a.cost.sectors_per_request)),
            ("efficiency", Right, &|(_, _, a)| any_number(a.cost.efficiency)),
            ("block_load_alone_B", Right, &|(_, _, a)| alone(a, |n| n.block_load_bytes)),
            ("wave_load_alone_B", Right, &|(_, _, a)| alone(a, |n| n.wave_load_bytes)),
            ("wave_store_alone_B", Right, &|(_, _, a)| alone(a, |n| n.wave_store_bytes)),
            ("l2_alone_B", Right, &|(_, _, a)| alone(a, |n| n.l2_bytes)),
            ("dram_alone_B", Right, &|(_, _, a)| alone(a, |n| n.dram_bytes)),
            ("rate_without_per_s", Right, &|(_, _, a)| any_number(a.cost.alone.map(|n| n.rate_per_s))),
        ],
    )
}
