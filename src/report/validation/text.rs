//! Validations for people, as Markdown, and as rows of a table.

use std::fmt::Write;

use super::super::ranking::warnings;
use super::super::table::{Align, Table};
use super::super::units::{counted, seconds, shape, significant};
use super::document::{GroupDocument, ValidationDocument};
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::{OrderScore, PercentShare, ValuePair};
use crate::quantity::Seconds;
use crate::report::answer::{Answer, View};

impl Answer for ValidationDocument {
    const TITLE: &str = "Predicted beside measured";

    fn text(&self, view: View) -> String {
        validation_text(self, view.width)
    }

    fn table(answers: &[&Self]) -> Table {
        Table::join(answers.iter().map(|d| validation_table(d)))
    }

    fn markdown(answers: &[&Self]) -> String {
        answers.iter().map(|d| validation_markdown(d)).collect()
    }

    #[cfg(feature = "cli")]
    fn picture(&self) -> Option<String> {
        Some(crate::report::svg::validation_picture(self))
    }
}

/// What a person sees of a validation.
fn validation_text(document: &ValidationDocument, width: Option<usize>) -> String {
    let mut out = head(document);
    let _ = write!(out, "\n\n{}", quantities(document).text(1, width));
    if document.order.is_some() {
        let _ = write!(out, "\n{}", orders(document).text(1, width));
    }
    let worst = worst(document);
    if !worst.is_empty() {
        let _ = write!(out, "\nlargest errors\n{}", worst.text(1, width));
    }
    for line in rejected(document) {
        let _ = writeln!(out, "{line}");
    }
    warnings(&mut out, document.warnings.iter().collect());
    out
}

/// The same as Markdown.
fn validation_markdown(document: &ValidationDocument) -> String {
    let mut out = format!("{}\n\n## Errors\n\n{}", head(document), quantities(document).markdown());
    if document.order.is_some() {
        let _ = write!(out, "\n## Order of launches\n\n{}", orders(document).markdown());
    }
    let worst = worst(document);
    if !worst.is_empty() {
        let _ = write!(out, "\n## Largest errors\n\n{}", worst.markdown());
    }
    for line in rejected(document) {
        let _ = writeln!(out, "\n{}", line.trim());
    }
    for warning in &document.warnings {
        let _ = writeln!(out, "\nWarning: {}", warning.message);
    }
    out
}

fn head(document: &ValidationDocument) -> String {
    let s = &document.summary;
    format!(
        "{} of {}, {} predicted; {}",
        counted(s.rows, "row"),
        counted(s.launches, "launch").replace("launchs", "launches"),
        s.predicted,
        document.model_text()
    )
}

fn percent(share: PercentShare) -> String {
    format!("{:.2} %", share.percent())
}

fn signed(share: Option<PercentShare>) -> String {
    share.map_or_else(String::new, |v| format!("{:+.1} %", v.percent()))
}

fn quantities(document: &ValidationDocument) -> Table {
    let right = |name: &'static str| (name, Align::Right);
    let columns = ["launches", "mean error", "median", "bias", "worst"].map(right);
    let mut table = Table::new([("quantity", Align::Left)].into_iter().chain(columns));
    for q in &document.quantities {
        let mut cells = vec![q.quantity.title().to_owned(), q.launches.to_string()];
        if q.launches > 0 {
            cells.extend([percent(q.errors.mean), percent(q.errors.median)]);
            cells.push(signed(Some(q.errors.bias)));
            cells.push(signed(q.worst.first().and_then(|w| w.pair.error())));
        }
        table.row(cells);
    }
    table
}

fn orders(document: &ValidationDocument) -> Table {
    use Align::{Left, Right};
    let mut all: Vec<(String, OrderScore)> =
        document.groups.iter().filter_map(|group| Some((name(group), group.order?))).collect();
    if let Some(order) = document.order.filter(|_| all.len() > 1) {
        all.push((format!("mean of {} groups (best at: last)", document.ordered_groups), order));
    }
    Table::filled(
        all,
        &[
            ("group", Left, &|(name, _)| name.clone()),
            ("launches", Right, &|(_, o)| o.launches.to_string()),
            ("Spearman", Right, &|(_, o)| format!("{:.3}", o.spearman)),
            ("Kendall", Right, &|(_, o)| format!("{:.3}", o.kendall)),
            ("first choice", Right, &|(_, o)| format!("{:.1} %", o.first.percent())),
            ("best of 5", Right, &|(_, o)| format!("{:.1} %", o.first_five.percent())),
            ("best at", Right, &|(_, o)| o.best_at.to_string()),
        ],
    )
}

/// Kernel, variant, parameters and device.
fn name(group: &GroupDocument) -> String {
    let variant = group.variant.as_ref().map(|v| format!("/{v}")).unwrap_or_default();
    let params: Vec<String> = group.params.iter().map(|(n, v)| format!(" {n}={v}")).collect();
    let caches = group.caches.map(|c| format!(", {c} caches")).unwrap_or_default();
    let clock = group.clock.as_ref().map(|c| format!(" at {c}")).unwrap_or_default();
    let changes = group.device.changes();
    let changes = if changes.is_empty() { changes } else { format!(" with {changes}") };
    format!("{}{variant}{} on {}{changes}{clock}{caches}", group.kernel, params.concat(), group.device.id)
}

fn worst(document: &ValidationDocument) -> Table {
    use Align::{Left, Right};
    Table::filled(
        document.quantities.iter().flat_map(|score| score.worst.iter().map(move |w| (score.quantity, w))),
        &[
            ("quantity", Left, &|(quantity, _)| quantity.title().to_owned()),
            ("group", Left, &|(_, w)| name(&document.groups[w.group])),
            ("block", Left, &|(_, w)| shape(w.candidate.block())),
            ("fold", Left, &|(_, w)| shape(w.candidate.fold())),
            ("predicted", Right, &|(quantity, w)| amount(*quantity, w.pair.predicted())),
            ("measured", Right, &|(quantity, w)| amount(*quantity, w.pair.measured())),
            ("error", Right, &|(_, w)| signed(w.pair.error())),
            ("line", Right, &|(_, w)| w.lines.first().map(ToString::to_string).unwrap_or_default()),
        ],
    )
    .with_minor(&["line", "fold", "group"])
}

/// So much of a quantity, with its unit.
fn amount(of: MeasuredQuantity, value: f64) -> String {
    use MeasuredQuantity::{Cycles, L1TagWavefronts, L1Wavefronts, Rate, Time};
    match of {
        Time => seconds(Seconds::new(value)),
        Rate => format!("{} G/s", short(value / 1e9)),
        L1Wavefronts | L1TagWavefronts => format!("{}/item", short(value)),
        Cycles => short(value),
        _ => format!("{} B/item", short(value)),
    }
}

/// Four significant digits.
fn short(value: f64) -> String {
    significant(format!("{value:.3e}").parse().unwrap_or(value))
}

/// The first reasons why launches are missing.
fn rejected(document: &ValidationDocument) -> Vec<String> {
    const SHOWN: usize = 3;
    let all = || document.groups.iter().flat_map(|g| g.rejected.iter().map(move |r| (g, r)));
    let count = all().count();
    if count == 0 {
        return Vec::new();
    }
    let mut lines = vec![format!("\n{count} measured launches cannot be predicted:")];
    lines.extend(all().take(SHOWN).map(|(group, r)| {
        let line = r.lines.first().map(|line| format!("line {line}: ")).unwrap_or_default();
        let (block, fold) = (shape(r.candidate.block()), shape(r.candidate.fold()));
        format!("  {line}{}, block {block}, fold {fold}: {}", name(group), r.reason)
    }));
    if count > SHOWN {
        lines.push("  ... --format json lists all".to_owned());
    }
    lines
}

/// Every launch with what was measured and predicted of it; units stand in the names.
fn validation_table(document: &ValidationDocument) -> Table {
    let known: Vec<MeasuredQuantity> = MeasuredQuantity::ALL
        .into_iter()
        .filter(|q| document.quantities.iter().any(|s| s.quantity == *q))
        .collect();
    let names: Vec<String> = known
        .iter()
        .flat_map(|q| ["measured", "predicted"].map(|which| format!("{}_{which}", q.name())))
        .collect();
    let left = |name: &'static str| (name, Align::Left);
    let columns = ["kernel", "variant", "params", "device", "block", "fold", "limiter"].map(left).into_iter();
    let mut table = Table::new(columns.chain(names.iter().map(|n| (n.as_str(), Align::Right))));
    for group in &document.groups {
        let params: Vec<String> = group.params.iter().map(|(n, v)| format!("{n}={v}")).collect();
        for launch in &group.launches {
            let mut cells = vec![
                group.kernel.clone(),
                group.variant.clone().unwrap_or_default(),
                params.join(" "),
                group.device.id.clone(),
                shape(launch.candidate.block()),
                shape(launch.candidate.fold()),
                launch.limiter.to_owned(),
            ];
            for q in &known {
                let pair = launch.values.get(q.name());
                cells.extend(
                    [pair.map(ValuePair::measured), pair.map(ValuePair::predicted)]
                        .map(|v| v.map(significant).unwrap_or_default()),
                );
            }
            table.row(cells);
        }
    }
    table
}
