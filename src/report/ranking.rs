//! Rankings for people, and as rows of a table.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::check::Warning;
use super::prediction::{DOMAINS_DIFFER, Head, RankedResult, RankingDocument, ResultDocument};
use super::table::{Align, Table};
use super::units::{RateScale, any_number, counted, grouped, number, seconds, shape, significant};
use crate::quantity::{Bytes, PerItem};
use crate::report::answer::{Answer, View, write_line};
use crate::traffic::MemoryVolumes;

impl Answer for RankingDocument {
    const LINES_ARE_RESULTS: bool = true;

    fn text(&self, view: View) -> String {
        ranking_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        ranking_table(answers)
    }

    fn beside_rows(&self) -> Vec<String> {
        let summary = &self.summary;
        let mut said = warning_lines(&self.warnings);
        let refused = summary.candidates - summary.feasible;
        if refused > 0 {
            let all = counted(summary.candidates, "candidate");
            said.push(format!(
                "note: {} of {all} cannot run or not be counted; --format json lists them",
                grouped(refused)
            ));
        }
        said
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        Some(crate::report::svg::ranking_picture(self))
    }

    fn write_lines(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        self.lines().try_for_each(|line| write_line(&line, out))
    }
}

/// Code of the warning that somebody ended the program before all launches were looked at.
pub(crate) const ENDED_EARLY: &str = "ended-early";
/// Reasons to doubt the best launch that a person is shown.
const REASONS: usize = 3;
/// Launches that cannot run which a person is shown.
pub(super) const REFUSALS: usize = 3;

/// What a person sees of a ranking, of which `shown` results are listed.
fn ranking_text(ranking: &RankingDocument, width: Option<usize>) -> String {
    let mut out = ranking.head.text();
    let summary = &ranking.summary;
    let _ = writeln!(
        out,
        "{}, {} can run; rates within {} % share a tie group",
        counted(summary.candidates, "candidate"),
        grouped(summary.feasible),
        significant(summary.tie_error.get() * 100.0)
    );
    if !ranking.results.is_empty() {
        out.push('\n');
        out.push_str(&compact(ranking).text(1, width));
        let unit = &ranking.head.kernel.unit;
        let _ = writeln!(
            out,
            "\n rates and limits in {}; volumes in bytes per {unit}: L2 load = compulsory + capacity,\n DRAM load = compulsory - reuse from earlier blocks + capacity + fill; occ. is the share of resident warps",
            scale(ranking).unit(unit)
        );
    }
    if let Some(best) = ranking.results.first() {
        out.push('\n');
        out.push_str(&best.result.confidence.text("rank 1: ", REASONS, width));
    }
    let more = summary.feasible.saturating_sub(ranking.results.len());
    if more > 0 {
        let _ = writeln!(out, "\n{} more: --top {} shows all", grouped(more), summary.feasible);
    }
    rejected(&mut out, ranking);
    let all = told_apart(ranking);
    warnings(&mut out, all.iter().collect());
    out
}

/// Warnings of the ranking and those of its results, each kind once: where only some of the results have it,
/// with how many of them do and the first.
fn told_apart(ranking: &RankingDocument) -> Vec<Warning> {
    let mut all: Vec<&Warning> = ranking.warnings.iter().collect();
    let of_ranking = all.len();
    join_warnings(&mut all, ranking.results.iter().flat_map(|r| &r.result.warnings));
    let of_results = |w: &Warning| {
        let has = |r: &&RankedResult| r.result.warnings.iter().any(|of| of.code == w.code);
        let (count, shown) = (ranking.results.iter().filter(has).count(), ranking.results.len());
        let first = ranking.results.iter().find(has).filter(|_| count < shown);
        let message = first.map_or_else(
            || w.message.clone(),
            |r| {
                let block = shape(r.result.config.candidate.block());
                format!(
                    "{count} of the {shown} launches shown, rank {} with block {block} first: {}",
                    r.rank, w.message
                )
            },
        );
        Warning { message, ..w.clone() }
    };
    let told = |(i, w): (usize, &Warning)| if i < of_ranking { w.clone() } else { of_results(w) };
    all.into_iter().enumerate().map(told).collect()
}

/// Adds warnings of results. What was said already, of the document or of another result, is enough.
pub(super) fn join_warnings<'w>(all: &mut Vec<&'w Warning>, of_results: impl Iterator<Item = &'w Warning>) {
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

/// Warnings for who is shown rows only. That somebody ended the program early is said anyway.
pub(super) fn warning_lines<'w>(warnings: impl IntoIterator<Item = &'w Warning>) -> Vec<String> {
    let told = warnings.into_iter().filter(|w| w.code != ENDED_EARLY);
    let place = |w: &Warning| w.place.as_ref().map(|p| format!(" ({p})")).unwrap_or_default();
    told.map(|w| format!("warning: {}{}", w.message, place(w))).collect()
}

/// The first reasons why candidates are missing.
fn rejected(out: &mut String, ranking: &RankingDocument) {
    let all = &ranking.infeasible;
    // A long list may have been cut.
    let number = (ranking.summary.candidates - ranking.summary.feasible).max(all.len());
    if number == 0 {
        return;
    }
    let _ = writeln!(out, "\n{} cannot run or not be counted:", grouped(number));
    for r in all.iter().take(REFUSALS) {
        let variant = r.config.variant.as_ref().map(|v| format!("{v} ")).unwrap_or_default();
        let _ = writeln!(
            out,
            "  {variant}block {}, fold {}: {}",
            shape(r.config.block()),
            shape(r.config.fold()),
            r.reason
        );
    }
    if number > REFUSALS {
        let _ = writeln!(out, "  ... --format json lists all");
    }
}

/// Columns that narrow terminals have no room for, in the order in which they go.
const MINOR: [&str; 12] = [
    "(comp - reuse + cap)",
    "(comp + cap)",
    "fp",
    "l1",
    "l2",
    "dram",
    "occ.",
    "store",
    "tie",
    "L2 load",
    "LLC load",
    "DRAM load",
];

/// The columns that a person compares.
fn compact(ranking: &RankingDocument) -> Table {
    let variants = ranking.results.iter().any(|r| r.result.config.variant.is_some());
    let folds = ranking.results.iter().any(|r| r.result.config.candidate.fold() != [1; 3]);
    // Where jobs differ in their number of work items, rates say nothing of which is done first.
    let timed = ranking.warnings.iter().any(|w| w.code == DOMAINS_DIFFER);
    let mut columns = vec![("rank", Align::Right), ("tie", Align::Right)];
    if variants {
        columns.push(("variant", Align::Left));
    }
    columns.push(("block", Align::Left));
    if folds {
        columns.push(("fold", Align::Left));
    }
    if timed {
        columns.push(("time", Align::Right));
    }
    columns.push(("rate", Align::Right));
    columns.push(("rel", Align::Right));
    columns.push(("limiter", Align::Left));
    let last_level = ranking.results.iter().any(|r| r.result.volumes.llc.is_some());
    let right = |name: &'static str| (name, Align::Right);
    columns.extend(["fp", "l1", "l2", "dram", "L2 load", "(comp + cap)"].map(right));
    columns.extend(last_level.then_some(right("LLC load")));
    columns.extend(["DRAM load", "(comp - reuse + cap)", "store", "occ."].map(right));
    let mut table = Table::new(columns).with_minor(&MINOR);
    table.paint("limiter", limiter_style);
    for (i, r) in ranking.results.iter().enumerate() {
        let first_of_group = i == 0 || ranking.results[i - 1].tie_group != r.tie_group;
        let mut row =
            vec![r.rank.to_string(), if first_of_group { r.tie_group.to_string() } else { "=".to_owned() }];
        if variants {
            row.push(r.result.config.variant.clone().unwrap_or_default());
        }
        row.push(shape(r.result.config.candidate.block()));
        if folds {
            row.push(shape(r.result.config.candidate.fold()));
        }
        if timed {
            row.push(seconds(r.result.time_s));
        }
        row.extend(compact_cells(&r.result, scale(ranking)));
        table.row(row);
    }
    table
}

/// In which all rates are said.
fn scale(ranking: &RankingDocument) -> RateScale {
    RateScale::fitting(ranking.results.iter().map(|r| r.result.rate_per_s))
}

fn compact_cells(r: &ResultDocument, scale: RateScale) -> Vec<String> {
    let (l2, dram) = (&r.volumes.l2.load, &r.volumes.dram);
    let relative = r.relative.map_or_else(String::new, |x| format!("{x:.3}"));
    let mut cells = vec![scale.number(Some(r.rate_per_s)), relative, r.limiter.to_owned()];
    let limits = &r.limits_per_s;
    cells.extend([limits.fp, limits.l1, limits.l2, limits.dram].map(|limit| scale.number(limit)));
    cells.push(format!("{:.1}", l2.total));
    cells.push(format!("({:.1} + {:.1})", l2.compulsory, l2.capacity));
    cells.extend(r.volumes.llc.as_ref().map(|llc| format!("{:.1}", llc.load.total)));
    cells.push(format!("{:.1}", dram.load.total));
    cells.push(format!(
        "({:.1} - {:.1} + {:.1})",
        dram.load.compulsory,
        dram.load.saved(),
        dram.load.added()
    ));
    cells.push(format!("{:.1}", dram.store.total));
    cells.push(format!("{:.0}%", r.occupancy.fraction.get() * 100.0));
    cells
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

/// A column of numbers of results.
type NumberColumn = (&'static str, fn(&ResultDocument) -> String);

/// The numbers of a result as columns of a table; units stand in the names.
pub(super) const NUMBERS: [NumberColumn; 31] = [
    ("rate_per_s", |r| number(r.rate_per_s)),
    ("time_s", |r| number(r.time_s)),
    ("relative", |r| any_number(r.relative)),
    ("limit_fp_per_s", |r| any_number(r.limits_per_s.fp)),
    ("limit_l1_per_s", |r| any_number(r.limits_per_s.l1)),
    ("limit_l2_per_s", |r| any_number(r.limits_per_s.l2)),
    ("limit_dram_per_s", |r| any_number(r.limits_per_s.dram)),
    ("l1_cycles", |r| number(r.volumes.l1.wavefront_cycles)),
    ("l1_data_wavefronts", |r| number(r.volumes.l1.data_wavefronts)),
    ("l1_tag_wavefronts", |r| number(r.volumes.l1.tag_wavefronts)),
    ("l1_load_B", |r| number(r.volumes.l1.load_bytes)),
    ("l1_store_B", |r| number(r.volumes.l1.store_bytes)),
    ("l2_load_compulsory_B", |r| number(r.volumes.l2.load.compulsory)),
    ("l2_load_capacity_B", |r| number(r.volumes.l2.load.capacity)),
    ("l2_load_B", |r| number(r.volumes.l2.load.total)),
    ("l2_store_B", |r| number(r.volumes.l2.store.total)),
    ("dram_load_compulsory_B", |r| number(r.volumes.dram.load.compulsory)),
    ("dram_reuse_x_B", |r| number(r.volumes.dram.load.reuse_x)),
    ("dram_reuse_y_B", |r| number(r.volumes.dram.load.reuse_y)),
    ("dram_reuse_z_B", |r| number(r.volumes.dram.load.reuse_z)),
    ("dram_reuse_launch_B", |r| number(r.volumes.dram.load.reuse_launch)),
    ("dram_load_capacity_B", |r| number(r.volumes.dram.load.capacity)),
    ("dram_fill_B", |r| number(r.volumes.dram.load.partial_store_fill)),
    ("dram_load_B", |r| number(r.volumes.dram.load.total)),
    ("dram_store_B", |r| number(r.volumes.dram.store.total)),
    ("llc_load_B", |r| of_last_level(r, |llc| llc.load.total)),
    ("llc_store_B", |r| of_last_level(r, |llc| llc.store.total)),
    ("pages_per_wave", |r| number(r.volumes.tlb.pages_per_wave)),
    ("blocks_per_sm", |r| significant(r.occupancy.blocks_per_sm as f64)),
    ("occupancy", |r| significant(r.occupancy.fraction.get())),
    ("waves", |r| significant(r.occupancy.waves.get())),
];

/// A number of the last-level cache; nothing on devices without one.
fn of_last_level(r: &ResultDocument, of: impl Fn(&MemoryVolumes) -> Bytes<PerItem>) -> String {
    r.volumes.llc.as_ref().map_or_else(String::new, |llc| number(of(llc)))
}

/// The cells of [`NUMBERS`].
pub(super) fn numbers(r: &ResultDocument) -> Vec<String> {
    NUMBERS.iter().map(|(_, cell)| cell(r)).collect()
}

/// All numbers of rankings, one row per result.
fn ranking_table(rankings: &[&RankingDocument]) -> Table {
    let mut table = empty_table(rankings.iter().any(|r| r.head.device_relative.is_some()));
    for ranking in rankings {
        ranking.results.iter().for_each(|r| table.row(row(&ranking.head, r)));
    }
    table
}

/// The columns of [`ranking_table`], where it may be about several devices.
pub(crate) fn empty_table(several_devices: bool) -> Table {
    let left = |name: &'static str| (name, Align::Left);
    let right = |name: &'static str| (name, Align::Right);
    let mut columns = ["kernel", "device", "variant", "block", "fold", "grid", "limiter"].map(left).to_vec();
    columns.extend(["rank", "tie_group"].map(right));
    columns.extend(NUMBERS.map(|n| right(n.0)));
    columns.extend(["time_low_s", "time_high_s"].map(right));
    if several_devices {
        columns.push(right("device_relative"));
    }
    Table::new(columns)
}

/// A row of [`ranking_table`]; what has no column is left out.
pub(super) fn row(head: &Head, r: &RankedResult) -> impl Iterator<Item = String> {
    let text = [
        head.kernel.name.clone(),
        head.device.id.clone(),
        r.result.config.variant.clone().unwrap_or_default(),
        shape(r.result.config.candidate.block()),
        shape(r.result.config.candidate.fold()),
        shape(r.result.config.sizes.grid),
        r.result.limiter.to_owned(),
        r.rank.to_string(),
        r.tie_group.to_string(),
    ];
    let interval = r.result.confidence.time_interval_s;
    let ends = [0, 1].map(|end| any_number(interval.map(|ends| ends[end])));
    let device_relative = any_number(head.device_relative);
    text.into_iter().chain(numbers(&r.result)).chain(ends).chain([device_relative])
}
