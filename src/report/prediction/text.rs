//! A prediction for people.

use std::fmt::Write;

use super::document::RankingDocument;
use super::{PredictionDocument, ResultDocument};
use crate::predict::HowCounted;
use crate::quantity::{Bytes, Pages, Ratio, Seconds};
use crate::report::answer::{Answer, View};
use crate::report::check::Warning;
use crate::report::compared::OnDevice;
use crate::report::ranking::{join_warnings, limiter_style, warning_lines, warnings};
use crate::report::table::{Align, Table};
use crate::report::units::{RateScale, seconds, shape, two};
use crate::traffic::{L2Load, MemoryLoad};

impl Answer for PredictionDocument {
    const VIEW: &str = "prediction";
    const TITLE: &str = "Prediction";

    fn text(&self, view: View) -> String {
        prediction_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        let rankings: Vec<RankingDocument> = answers.iter().copied().map(RankingDocument::of_one).collect();
        RankingDocument::table(&rankings.iter().collect::<Vec<_>>())
    }

    fn beside_rows(&self) -> Vec<String> {
        let mut all: Vec<&Warning> = self.warnings.iter().collect();
        join_warnings(&mut all, self.result.warnings.iter());
        warning_lines(all)
    }
}

impl OnDevice for PredictionDocument {
    fn launches(&self) -> RankingDocument {
        RankingDocument::of_one(self)
    }

    fn best_time(&self) -> Option<Seconds> {
        Some(self.result.time_s)
    }

    fn set_device_relative(&mut self, share: Option<Ratio>) {
        self.head.device_relative = share;
    }
}

/// What a person sees of a single prediction.
fn prediction_text(document: &PredictionDocument, width: Option<usize>) -> String {
    let r = &document.result;
    let (unit, c, o) = (&document.head.kernel.unit, &r.config, &r.occupancy);
    let mut out = document.head.text();
    let _ = writeln!(
        out,
        "\n{}block {}, fold {}, grid {}, {} registers, {} B shared",
        c.variant.as_ref().map(|v| format!("variant {v}, ")).unwrap_or_default(),
        shape(c.candidate.block()),
        shape(c.candidate.fold()),
        shape(c.sizes.grid),
        c.registers,
        c.shared_bytes
    );
    if let Some(why) = &document.choice.text {
        let _ = writeln!(out, "({why})");
    }
    let _ = writeln!(
        out,
        "{}{} blocks and {} warps per SM ({:.0} %, limited by {}), {} blocks per wave, {:.1} waves\n",
        // Fewer blocks than the GPU could hold are on their own.
        if o.waves.get() < 1.0 { "up to " } else { "" },
        o.blocks_per_sm,
        o.warps_per_sm,
        o.fraction.get() * 100.0,
        o.limited_by.word(),
        o.wave_blocks,
        o.waves
    );
    let style = limiter_style(r.limiter);
    let _ = writeln!(
        out,
        "{}, {} per launch, limited by {style}{}{style:#}{}",
        RateScale::fitting([r.rate_per_s]).with_unit(r.rate_per_s, unit),
        seconds(r.time_s),
        r.limiter,
        // The limiter has the name of the one of two rows that is longer.
        if r.limiter == "latency" && r.time_terms_s.waits > r.time_terms_s.latency { " (waits)" } else { "" }
    );
    out.push_str(&r.confidence.text("", usize::MAX, width));
    out.push('\n');
    out.push_str(&time_table(r).text(1, width));
    out.push('\n');
    out.push_str(&volume_table(r, unit).text(1, width));
    out.push('\n');
    out.push_str(&field_table(r).text(1, width));
    let _ = writeln!(out, "\n {}", counted(&r.counting));
    let mut all: Vec<&Warning> = document.warnings.iter().collect();
    join_warnings(&mut all, r.warnings.iter());
    warnings(&mut out, all);
    out
}

fn time_table(r: &ResultDocument) -> Table {
    let mut table = Table::new([("time", Align::Left), ("", Align::Right), ("alone", Align::Right)]);
    let (t, limits) = (&r.time_terms_s, &r.limits_per_s);
    let scale = RateScale::fitting([r.rate_per_s]);
    let rows = [
        ("fp", t.fp, limits.fp),
        ("l1", t.l1, limits.l1),
        ("l2", t.l2, limits.l2),
        ("dram", t.dram, limits.dram),
        ("latency", t.latency, None),
        ("waits", t.waits, None),
        ("issue", t.issue, None),
        ("fetch", t.fetch, None),
        ("tlb", t.tlb, None),
        ("dispatch", t.dispatch, None),
        ("+ tail", t.tail, None),
        ("  first wave", t.first_wave, None),
        ("+ launch", t.launch, None),
        ("+ combination", t.combination, None),
        ("  blocks", t.blocks, None),
    ];
    // Less than what two digits of a microsecond show is left out.
    for (name, time, limit) in rows.into_iter().filter(|row| row.1.abs().get() >= 5e-9) {
        let rate = limit.map_or_else(String::new, |l| scale.with_unit(l, ""));
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
    table.row([
        "registers - L1".to_owned(),
        two(v.l1.load_bytes),
        two(v.l1.store_bytes),
        format!(
            "{:.2} cycles ({:.2} data, {:.2} tag wavefronts)",
            v.l1.wavefront_cycles, v.l1.data_wavefronts, v.l1.tag_wavefronts
        ),
    ]);
    table.row(["L1 - L2".to_owned(), two(v.l2.load.total), two(v.l2.store.total), of_blocks(&v.l2.load)]);
    if v.l2.code > Bytes::ZERO {
        let what = "of the code, beyond the instruction cache".to_owned();
        table.row(["code - L2".to_owned(), two(v.l2.code), String::new(), what]);
    }
    let levels = v.llc.iter().map(|m| ("L2 - LLC", m)).chain([("L2 - DRAM", &v.dram)]);
    for (i, (name, m)) in levels.enumerate() {
        let name = if i == 1 { "LLC - DRAM" } else { name };
        table.row([name.to_owned(), two(m.load.total), two(m.store.total), made_of(&m.load)]);
    }
    let pages = format!("{} of a wave, {} of a block", few(v.tlb.pages_per_wave), few(v.tlb.pages_per_block));
    table.row(["pages".to_owned(), String::new(), String::new(), pages]);
    table
}

/// So many pages; where they are a mean, to a tenth.
fn few<P>(pages: Pages<P>) -> String {
    let pages = (pages.get() * 10.0).round() / 10.0;
    pages.to_string()
}

/// What loads from the L2 are made of.
fn of_blocks(load: &L2Load) -> String {
    let mut text = format!("{:.2} compulsory + {:.2} capacity", load.compulsory, load.capacity);
    if load.shared >= Bytes::new(0.005) {
        let _ = write!(text, " ({:.2} more, which blocks of an SM have in common, come once)", load.shared);
    }
    text
}

/// How distinct lines were counted, in words.
fn counted(of: &HowCounted) -> String {
    let how = if of.exact { "exactly" } else { "in part from samples" };
    let confirmed = match of.verified {
        0 => String::new(),
        n => format!("; a second engine confirmed {n} of {} counts", of.counts),
    };
    let engines: Vec<&str> = of.engines.iter().map(|e| e.word()).collect();
    format!("lines counted {how} by {}{confirmed}", engines.join(", "))
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
    for (sign, bytes, what) in parts.into_iter().filter(|p| p.1.abs() >= Bytes::new(0.005)) {
        let _ = write!(text, "{sign}{bytes:.2} {what}");
    }
    text
}

fn field_table(r: &ResultDocument) -> Table {
    let names = ["field", "L2 load", "L2 store", "DRAM load", "DRAM store"];
    let align = |name| if name == "field" { Align::Left } else { Align::Right };
    let mut table = Table::new(names.map(|n| (n, align(n))));
    for (name, f) in &r.fields {
        table.row([name.clone(), two(f.l2_load), two(f.l2_store), two(f.dram_load), two(f.dram_store)]);
    }
    table
}
