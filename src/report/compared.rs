//! Answers about a kernel on several devices as one table: the best launches of each, beside those of the fastest.

use std::fmt::Write;

use super::answer::View;
use super::check::Warning;
use super::error::ErrorDocument;
use super::prediction::{ConfidenceDocument, RankedResult, RankingDocument};
use super::ranking::{join_warnings, limiter_style, warnings};
use super::table::{Align, Table, within};
use super::units::{RateScale, extents, grouped, seconds, shape};
use crate::device::Device;
use crate::quantity::{Ratio, Seconds};

/// An answer that can stand beside those about the same kernel on other devices.
pub trait OnDevice {
    /// Its launches, the fastest first, as a person is shown them.
    fn launches(&self) -> RankingDocument;

    /// The time of the fastest, if any can run.
    fn best_time(&self) -> Option<Seconds>;

    /// Notes the share of the speed of the fastest device that this one reaches.
    fn set_device_relative(&mut self, share: Option<Ratio>);
}

/// Answers about a kernel, device by device.
pub struct Compared<'a> {
    /// What was asked about.
    pub devices: &'a [&'a Device],
    /// What is known of each, or why nothing is.
    pub answers: Vec<Result<RankingDocument, ErrorDocument>>,
}

impl Compared<'_> {
    /// What a person sees.
    pub fn text(&self, view: View) -> String {
        let Some(first) = self.answers.iter().find_map(|a| a.as_ref().ok()) else {
            return self.missing();
        };
        let unit = &first.head.kernel.unit;
        let mut out = self.head(first);
        if self.found().next().is_some() {
            out.push_str(&self.table().text(1, view.width));
            let _ = writeln!(
                out,
                "\n rates in {}; rel is the share of the fastest device's speed; volumes in bytes per {unit};\n `-d` with one of the devices shows all about it",
                self.scale().unit(unit)
            );
        }
        out.push_str(&self.missing());
        warnings(&mut out, self.warnings());
        within(&out, view.width)
    }

    fn head(&self, first: &RankingDocument) -> String {
        let kernel = &first.head.kernel;
        let items = kernel.domain.iter().fold(1_i64, |all, &n| all.saturating_mul(n));
        let domain =
            if kernel.domain.len() > 1 { format!("{} = ", extents(&kernel.domain)) } else { String::new() };
        let model = first.head.how();
        let (items, devices) = (grouped(items), self.devices.len());
        format!("{}: {domain}{items} {} on {devices} devices\n{model}\n\n", kernel.name, kernel.unit)
    }

    /// The launches to be shown.
    fn found(&self) -> impl Iterator<Item = (&RankingDocument, &RankedResult)> {
        let answers = self.answers.iter().filter_map(|a| a.as_ref().ok());
        answers.flat_map(|a| a.results.iter().map(move |r| (a, r)))
    }

    /// In which all rates are said.
    fn scale(&self) -> RateScale {
        RateScale::fitting(self.found().map(|(_, r)| r.result.rate_per_s))
    }

    fn table(&self) -> Table {
        use Align::{Left, Right};
        let several = self.found().any(|(_, r)| r.rank > 1);
        let variants = self.found().any(|(_, r)| r.result.config.variant.is_some());
        let folds = self.found().any(|(_, r)| r.result.config.candidate.fold() != [1; 3]);
        let best = self.found().map(|(_, r)| r.result.time_s.get()).fold(f64::INFINITY, f64::min);
        let mut columns: Vec<super::table::Column<'_, &(&RankingDocument, &RankedResult)>> = Vec::new();
        columns.push(("device", Left, &|(answer, _)| answer.head.device.id.clone()));
        if several {
            columns.push(("rank", Right, &|(_, r)| r.rank.to_string()));
        }
        if variants {
            columns.push(("variant", Left, &|(_, r)| r.result.config.variant.clone().unwrap_or_default()));
        }
        columns.push(("block", Left, &|(_, r)| shape(r.result.config.candidate.block())));
        if folds {
            columns.push(("fold", Left, &|(_, r)| shape(r.result.config.candidate.fold())));
        }
        let scale = self.scale();
        let rate = move |(_, r): &&(&RankingDocument, &RankedResult)| scale.number(Some(r.result.rate_per_s));
        let relative = |r: &RankedResult| format!("{:.3}", best / r.result.time_s.get());
        let relative = move |(_, r): &&(&RankingDocument, &RankedResult)| relative(r);
        columns.push(("rate", Right, &rate));
        columns.push(("rel", Right, &relative));
        columns.push(("time", Right, &|(_, r)| seconds(r.result.time_s)));
        columns.push(("interval", Left, &|(_, r)| interval(&r.result.confidence)));
        columns.push(("limiter", Left, &|(_, r)| r.result.limiter.to_owned()));
        columns.push(("L2 load", Right, &|(_, r)| format!("{:.1}", r.result.volumes.l2.load.total)));
        columns.push(("DRAM load", Right, &|(_, r)| format!("{:.1}", r.result.volumes.dram.load.total)));
        columns.push(("store", Right, &|(_, r)| format!("{:.1}", r.result.volumes.dram.store.total)));
        columns.push(("occ.", Right, &|(_, r)| format!("{:.0}%", r.result.occupancy.fraction.get() * 100.0)));
        let rows: Vec<_> = self.found().collect();
        let mut table = Table::filled(&rows, &columns)
            .with_minor(&["interval", "occ.", "store", "fold", "L2 load", "rank"]);
        table.paint("limiter", limiter_style);
        table
    }

    /// The devices on which nothing runs, and why.
    fn missing(&self) -> String {
        let mut out = String::new();
        for (device, answer) in self.devices.iter().zip(&self.answers) {
            let why = match answer {
                Ok(ranking) if !ranking.results.is_empty() => continue,
                Ok(ranking) => ranking.infeasible.first().map(|r| r.reason.to_string()),
                Err(document) => document.errors.first().map(|e| e.message.clone()),
            };
            let why = why.unwrap_or_else(|| "no launch can run".to_owned());
            let _ = writeln!(out, " {}: {why}", device.id);
        }
        out
    }

    /// Each kind of warning once, unless it is about the choice of a device.
    fn warnings(&self) -> Vec<&Warning> {
        let mut all = Vec::new();
        for answer in self.answers.iter().filter_map(|a| a.as_ref().ok()) {
            join_warnings(&mut all, answer.warnings.iter());
            join_warnings(&mut all, answer.results.iter().flat_map(|r| &r.result.warnings));
        }
        all
    }
}

/// Between which times a measured one would lie, in few characters.
fn interval(confidence: &ConfidenceDocument) -> String {
    confidence.range().unwrap_or_else(|| "-".to_owned())
}

/// The share of the fastest device's speed that each device reaches, where a launch can run.
pub fn device_shares(times: &[Option<Seconds>]) -> Vec<Option<Ratio>> {
    let best = times.iter().flatten().map(|t| t.get()).fold(f64::INFINITY, f64::min);
    times.iter().map(|time| time.map(|time| Ratio::new(best / time.get()))).collect()
}
