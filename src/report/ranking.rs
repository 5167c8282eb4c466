//! Rankings and predictions for people, and as rows of a table.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::check::Warning;
use super::prediction::{Head, MemoryLoad, PredictionDocument, RankingDocument, ResultDocument};
use super::table::{Align, Table};
use super::units::{counted, extents, grouped};

/// The first lines of a result: kernel, domain, device, model.
pub(super) fn head_text(head: &Head) -> String {
    let kernel = &head.kernel;
    let items = kernel.domain.iter().fold(1_i64, |all, &n| all.saturating_mul(n));
    let shape =
        if kernel.domain.len() > 1 { format!("{} = ", extents(&kernel.domain)) } else { String::new() };
    let model = &head.model;
    format!(
        "{}: {shape}{} {} on {} ({})\nmodel {}, {} addressing, curves {}\n",
        kernel.name,
        grouped(items),
        kernel.unit,
        head.device.name,
        head.device.id,
        model.id,
        model.addressing,
        model.curves
    )
}

/// What a person sees of a ranking, of which `shown` results are listed.
pub fn ranking_text(ranking: &RankingDocument, width: Option<usize>) -> String {
    let mut out = head_text(&ranking.head);
    let summary = &ranking.summary;
    let _ = writeln!(
        out,
        "{}, {} can run; rates within {} % share a tie group",
        counted(summary.candidates, "candidate"),
        grouped(whole(summary.feasible)),
        significant(summary.tie_error * 100.0)
    );
    if !ranking.results.is_empty() {
        out.push('\n');
        out.push_str(&compact(ranking).text(1, width));
        let unit = &ranking.head.kernel.unit;
        let _ = writeln!(
            out,
            "\n rates and limits in 10^9 {unit}/s; volumes in bytes per {unit}: L2 load = compulsory + capacity,\n DRAM load = compulsory - reuse from earlier blocks + capacity + fill; occ. is the share of resident warps"
        );
    }
    let more = summary.feasible.saturating_sub(ranking.results.len());
    if more > 0 {
        let _ = writeln!(out, "\n{} more: --top {} shows all", grouped(whole(more)), summary.feasible);
    }
    rejected(&mut out, ranking);
    warnings(&mut out, common_warnings(ranking));
    out
}

fn whole(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Warnings of the ranking and those that all its results share.
fn common_warnings(ranking: &RankingDocument) -> Vec<&Warning> {
    let mut all: Vec<&Warning> = ranking.warnings.iter().collect();
    let of_results = ranking.results.iter().flat_map(|r| &r.result.warnings);
    join_warnings(&mut all, of_results);
    all
}

/// Adds warnings of results. What was said already, of the document or of another result, is enough.
fn join_warnings<'w>(all: &mut Vec<&'w Warning>, of_results: impl Iterator<Item = &'w Warning>) {
    for warning in of_results {
        if !all.iter().any(|w| w.code == warning.code) {
            all.push(warning);
        }
    }
}

pub(super) fn warnings(out: &mut String, warnings: Vec<&Warning>) {
    const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
    for (i, warning) in warnings.into_iter().enumerate() {
        let place = warning.place.as_ref().map(|p| format!(" ({p})")).unwrap_or_default();
        let gap = if i == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{YELLOW}warning{YELLOW:#}: {}{place}", warning.message);
    }
}

/// The first reasons why candidates are missing.
fn rejected(out: &mut String, ranking: &RankingDocument) {
    const SHOWN: usize = 3;
    let all = &ranking.infeasible;
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{} cannot run or not be counted:", grouped(whole(all.len())));
    for r in all.iter().take(SHOWN) {
        let variant = r.config.variant.as_ref().map(|v| format!("{v} ")).unwrap_or_default();
        let _ = writeln!(
            out,
            "  {variant}block {}, fold {}: {}",
            shape(r.config.block),
            shape(r.config.fold),
            r.reason
        );
    }
    if all.len() > SHOWN {
        let _ = writeln!(out, "  ... --format json lists all");
    }
}

/// The columns that a person compares.
fn compact(ranking: &RankingDocument) -> Table {
    let variants = ranking.results.iter().any(|r| r.result.config.variant.is_some());
    let folds = ranking.results.iter().any(|r| r.result.config.fold != [1; 3]);
    let mut columns = vec![("rank", Align::Right), ("tie", Align::Right)];
    if variants {
        columns.push(("variant", Align::Left));
    }
    columns.push(("block", Align::Left));
    if folds {
        columns.push(("fold", Align::Left));
    }
    columns.push(("rate", Align::Right));
    columns.push(("rel", Align::Right));
    columns.push(("limiter", Align::Left));
    for name in [
        "fp",
        "l1",
        "l2",
        "dram",
        "L2 load",
        "(comp + cap)",
        "DRAM load",
        "(comp - reuse + cap)",
        "store",
        "occ.",
    ] {
        columns.push((name, Align::Right));
    }
    let mut table = Table::new(columns);
    table.paint("limiter", limiter_style);
    for (i, r) in ranking.results.iter().enumerate() {
        let first_of_group = i == 0 || ranking.results[i - 1].tie_group != r.tie_group;
        let mut row =
            vec![r.rank.to_string(), if first_of_group { r.tie_group.to_string() } else { "=".to_owned() }];
        if variants {
            row.push(r.result.config.variant.clone().unwrap_or_default());
        }
        row.push(shape(r.result.config.block));
        if folds {
            row.push(shape(r.result.config.fold));
        }
        row.extend(compact_cells(&r.result));
        table.row(row);
    }
    table
}

fn compact_cells(r: &ResultDocument) -> Vec<String> {
    let (l2, dram) = (&r.volumes.l2.load, &r.volumes.dram);
    let relative = r.relative.map_or_else(String::new, |x| format!("{x:.3}"));
    let mut cells = vec![giga(Some(r.rate_per_s)), relative, r.limiter.to_owned()];
    let limits = &r.limits_per_s;
    cells.extend([limits.fp, limits.l1, limits.l2, limits.dram].map(giga));
    cells.push(format!("{:.1}", l2.total));
    cells.push(format!("({:.1} + {:.1})", l2.compulsory, l2.capacity));
    cells.push(format!("{:.1}", dram.load.total));
    cells.push(format!(
        "({:.1} - {:.1} + {:.1})",
        dram.load.compulsory,
        reused(&dram.load),
        added(&dram.load)
    ));
    cells.push(format!("{:.1}", dram.store.total));
    cells.push(format!("{:.0}%", r.occupancy.fraction * 100.0));
    cells
}

pub(super) fn reused(load: &MemoryLoad) -> f64 {
    load.reuse_x + load.reuse_y + load.reuse_z + load.reuse_launch
}

pub(super) fn added(load: &MemoryLoad) -> f64 {
    load.capacity + load.partial_store_fill
}

/// A rate in 10^9 per second with four significant digits.
pub(super) fn giga(rate: Option<f64>) -> String {
    let Some(rate) = rate.map(|r| r / 1e9) else { return "-".to_owned() };
    let digits = if rate >= 1000.0 {
        0
    } else if rate >= 100.0 {
        1
    } else if rate >= 10.0 {
        2
    } else {
        3
    };
    format!("{rate:.digits$}")
}

pub(super) fn shape(extents: [i64; 3]) -> String {
    let [x, y, z] = extents;
    format!("{x}x{y}x{z}")
}

/// The colour of a limiter.
pub(super) fn limiter_style(limiter: &str) -> Style {
    let colour = match limiter {
        "dram" => AnsiColor::Blue,
        "l2" => AnsiColor::Cyan,
        "l1" => AnsiColor::Yellow,
        "fp" => AnsiColor::Green,
        _ => AnsiColor::Magenta,
    };
    colour.on_default()
}

/// The numbers of a result as columns of a table; units stand in the names.
pub(super) const NUMBERS: [&str; 29] = [
    "rate_per_s",
    "time_s",
    "relative",
    "limit_fp_per_s",
    "limit_l1_per_s",
    "limit_l2_per_s",
    "limit_dram_per_s",
    "l1_cycles",
    "l1_data_wavefronts",
    "l1_tag_wavefronts",
    "l1_load_B",
    "l1_store_B",
    "l2_load_compulsory_B",
    "l2_load_capacity_B",
    "l2_load_B",
    "l2_store_B",
    "dram_load_compulsory_B",
    "dram_reuse_x_B",
    "dram_reuse_y_B",
    "dram_reuse_z_B",
    "dram_reuse_launch_B",
    "dram_load_capacity_B",
    "dram_fill_B",
    "dram_load_B",
    "dram_store_B",
    "pages_per_wave",
    "blocks_per_sm",
    "occupancy",
    "waves",
];

/// All numbers of rankings, one row per result.
pub fn ranking_table(rankings: &[RankingDocument]) -> Table {
    let left = |name: &'static str| (name, Align::Left);
    let right = |name: &'static str| (name, Align::Right);
    let mut columns = ["kernel", "device", "variant", "block", "fold", "grid", "limiter"].map(left).to_vec();
    columns.extend(["rank", "tie_group"].map(right));
    columns.extend(NUMBERS.map(right));
    let mut table = Table::new(columns);
    for ranking in rankings {
        for r in &ranking.results {
            let text = [
                ranking.head.kernel.name.clone(),
                ranking.head.device.id.clone(),
                r.result.config.variant.clone().unwrap_or_default(),
                shape(r.result.config.block),
                shape(r.result.config.fold),
                shape(r.result.config.grid),
                r.result.limiter.to_owned(),
                r.rank.to_string(),
                r.tie_group.to_string(),
            ];
            table.row(text.into_iter().chain(numbers(&r.result)));
        }
    }
    table
}

/// The cells of [`NUMBERS`].
pub(super) fn numbers(r: &ResultDocument) -> Vec<String> {
    let (limits, v) = (&r.limits_per_s, &r.volumes);
    let (load, store) = (&v.dram.load, &v.dram.store);
    let all = [
        Some(r.rate_per_s),
        Some(r.time_s),
        r.relative,
        limits.fp,
        limits.l1,
        limits.l2,
        limits.dram,
        Some(v.l1.wavefront_cycles),
        Some(v.l1.data_wavefronts),
        Some(v.l1.tag_wavefronts),
        Some(v.l1.load_bytes),
        Some(v.l1.store_bytes),
        Some(v.l2.load.compulsory),
        Some(v.l2.load.capacity),
        Some(v.l2.load.total),
        Some(v.l2.store.total),
        Some(load.compulsory),
        Some(load.reuse_x),
        Some(load.reuse_y),
        Some(load.reuse_z),
        Some(load.reuse_launch),
        Some(load.capacity),
        Some(load.partial_store_fill),
        Some(load.total),
        Some(store.total),
        Some(v.tlb.pages_per_wave),
        Some(r.occupancy.blocks_per_sm as f64),
        Some(r.occupancy.fraction),
        Some(r.occupancy.waves),
    ];
    all.into_iter().map(|n| n.map_or_else(String::new, significant)).collect()
}

/// Six significant digits, without an exponent where that is short.
pub(super) fn significant(n: f64) -> String {
    let rounded: f64 = format!("{n:.5e}").parse().unwrap_or(n);
    if rounded != 0.0 && !(1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

/// What a person sees of a single prediction.
pub fn prediction_text(document: &PredictionDocument, width: Option<usize>) -> String {
    let r = &document.result;
    let (unit, c, o) = (&document.head.kernel.unit, &r.config, &r.occupancy);
    let mut out = head_text(&document.head);
    let _ = writeln!(
        out,
        "\nblock {}, fold {}, grid {}, {} registers, {} B shared",
        shape(c.block),
        shape(c.fold),
        shape(c.grid),
        c.registers,
        c.shared_bytes
    );
    let _ = writeln!(
        out,
        "{} blocks and {} warps per SM ({:.0} %, limited by {}), {} blocks per wave, {:.1} waves\n",
        o.blocks_per_sm,
        o.warps_per_sm,
        o.fraction * 100.0,
        o.limited_by,
        o.wave_blocks,
        o.waves
    );
    let style = limiter_style(r.limiter);
    let _ = writeln!(
        out,
        "{} G{unit}/s, {} per launch, limited by {style}{}{style:#}\n",
        giga(Some(r.rate_per_s)),
        seconds(r.time_s),
        r.limiter
    );
    out.push_str(&time_table(r).text(1, width));
    out.push('\n');
    out.push_str(&volume_table(r, unit).text(1, width));
    out.push('\n');
    out.push_str(&field_table(r).text(1, width));
    let _ = writeln!(out, "\n {}", r.counting.text());
    let mut all: Vec<&Warning> = document.warnings.iter().collect();
    join_warnings(&mut all, r.warnings.iter());
    warnings(&mut out, all);
    out
}

/// A time in a unit that suits it.
pub(super) fn seconds(s: f64) -> String {
    if s >= 1.0 {
        format!("{s:.3} s")
    } else if s >= 1e-3 {
        format!("{:.3} ms", s * 1e3)
    } else {
        format!("{:.2} us", s * 1e6)
    }
}

fn time_table(r: &ResultDocument) -> Table {
    let mut table = Table::new([("time", Align::Left), ("", Align::Right), ("alone", Align::Right)]);
    let (t, limits) = (&r.time_terms_s, &r.limits_per_s);
    let rows = [
        ("fp", t.fp, limits.fp),
        ("l1", t.l1, limits.l1),
        ("l2", t.l2, limits.l2),
        ("dram", t.dram, limits.dram),
        ("latency", t.latency, None),
        ("tlb", t.tlb, None),
        ("dispatch", t.dispatch, None),
        ("+ tail", t.tail, None),
        ("+ launch", t.launch, None),
        ("+ combination", t.combination, None),
    ];
    // Less than what two digits of a microsecond show is left out.
    for (name, time, limit) in rows.into_iter().filter(|row| row.1.abs() >= 5e-9) {
        let rate = limit.map_or_else(String::new, |l| format!("{} G/s", giga(Some(l))));
        table.row([name.to_owned(), seconds(time), rate]);
    }
    table
}

fn volume_table(r: &ResultDocument, unit: &str) -> Table {
    let title = format!("bytes per {unit}");
    let mut table = Table::new([
        (title.as_str(), Align::Left),
        ("load", Align::Right),
        ("store", Align::Right),
        ("made of", Align::Left),
    ]);
    let v = &r.volumes;
    let two = |n: f64| format!("{n:.2}");
    table.row([
        "registers - L1".to_owned(),
        two(v.l1.load_bytes),
        two(v.l1.store_bytes),
        format!(
            "{:.2} cycles ({:.2} data, {:.2} tag wavefronts)",
            v.l1.wavefront_cycles, v.l1.data_wavefronts, v.l1.tag_wavefronts
        ),
    ]);
    table.row([
        "L1 - L2".to_owned(),
        two(v.l2.load.total),
        two(v.l2.store.total),
        format!("{:.2} compulsory + {:.2} capacity", v.l2.load.compulsory, v.l2.load.capacity),
    ]);
    let levels = v.llc.iter().map(|m| ("L2 - LLC", m)).chain([("L2 - DRAM", &v.dram)]);
    for (i, (name, m)) in levels.enumerate() {
        let name = if i == 1 { "LLC - DRAM" } else { name };
        table.row([name.to_owned(), two(m.load.total), two(m.store.total), made_of(&m.load)]);
    }
    let pages = format!("{} of a wave, {} of a block", v.tlb.pages_per_wave, v.tlb.pages_per_block);
    table.row(["pages".to_owned(), String::new(), String::new(), pages]);
    table
}

fn made_of(load: &MemoryLoad) -> String {
    let mut text = format!("{:.2} compulsory", load.compulsory);
    let parts = [
        (" - ", load.reuse_x, "reuse x"),
        (" - ", load.reuse_y, "reuse y"),
        (" - ", load.reuse_z, "reuse z"),
        (" - ", load.reuse_launch, "from the launch before"),
        (" + ", load.capacity, "capacity"),
        (" + ", load.partial_store_fill, "fill"),
    ];
    for (sign, bytes, what) in parts.into_iter().filter(|p| p.1.abs() >= 0.005) {
        let _ = write!(text, "{sign}{bytes:.2} {what}");
    }
    text
}

fn field_table(r: &ResultDocument) -> Table {
    let names = ["field", "L2 load", "L2 store", "DRAM load", "DRAM store"];
    let align = |name| if name == "field" { Align::Left } else { Align::Right };
    let mut table = Table::new(names.map(|n| (n, align(n))));
    for (name, f) in &r.fields {
        let two = |n: f64| format!("{n:.2}");
        table.row([name.clone(), two(f.l2_load), two(f.l2_store), two(f.dram_load), two(f.dram_store)]);
    }
    table
}
