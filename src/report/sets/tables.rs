//! The tables of sets: scores, errors of volumes, noise, and configurations.

use super::super::table::{Align, Table};
use super::super::units::{grouped, shape, significant};
use super::document::{SetReport, SetValidationDocument};
use super::worst::microseconds;
use crate::measure::measurements::MeasuredQuantity;
use crate::measure::sets::SetScore;
use crate::measure::{PercentShare, ValuePair};

pub(super) fn percent(share: PercentShare) -> String {
    format!("{:.1} %", share.percent())
}

fn maybe(share: Option<PercentShare>) -> String {
    share.map(percent).unwrap_or_default()
}

fn left(name: &str) -> (&str, Align) {
    (name, Align::Left)
}

fn right(name: &str) -> (&str, Align) {
    (name, Align::Right)
}

/// What a row of a table is about.
pub(super) fn scope(score: &SetScore) -> String {
    if score.kind == "all" { "all".to_owned() } else { score.name.clone() }
}

fn scores(document: &SetValidationDocument) -> impl Iterator<Item = (&SetReport, &SetScore)> {
    document.sets.iter().flat_map(|set| set.scores.iter().map(move |score| (set, score)))
}

/// How good choices and times are.
pub(super) fn choices(document: &SetValidationDocument) -> Table {
    let several = scores(document).any(|(_, s)| s.choice.as_ref().is_some_and(|c| c.problems > 1));
    let mut columns = vec![left("set"), left("of"), right("rows"), right("Spearman")];
    if several {
        columns.extend([right("problems"), right("in each")]);
    }
    columns.extend(
        [
            "first choice",
            "first 4 %",
            "",
            "best of 5",
            "random 5",
            "random",
            "usual",
            "pred/meas",
            "time error",
        ]
        .map(right),
    );
    let mut table = Table::new(columns);
    for (set, s) in scores(document) {
        let mut cells = vec![set.facts.id.clone(), scope(s), s.predicted.to_string()];
        cells.push(s.spearman.map(|v| format!("{v:.3}")).unwrap_or_default());
        let choice = s.choice.as_ref();
        if several {
            cells.push(choice.map(|c| c.problems.to_string()).unwrap_or_default());
            cells.push(choice.map(|c| format!("{:.3}", c.spearman)).unwrap_or_default());
        }
        match choice {
            Some(c) => cells.extend([
                percent(c.first),
                percent(c.first_group),
                format!("of {:.0}", c.first_group_size),
                percent(c.first_five),
                maybe(c.random_five),
                percent(c.random),
                maybe(c.usual),
            ]),
            None => cells.extend([const { String::new() }; 7]),
        }
        cells.push(s.time_ratio.map(|r| format!("{r:.2}")).unwrap_or_default());
        cells.push(s.time.map(|t| percent(t.errors.mean)).unwrap_or_default());
        table.row(cells);
    }
    table
}

/// Errors of what else was measured; empty if nothing was.
pub(super) fn volumes(document: &SetValidationDocument) -> Table {
    let measured =
        |q: &MeasuredQuantity| scores(document).any(|(_, s)| s.volumes.iter().any(|v| v.quantity == *q));
    let quantities: Vec<MeasuredQuantity> = MeasuredQuantity::ALL.into_iter().filter(measured).collect();
    let columns = [left("set"), left("of")].into_iter();
    let mut table =
        Table::new(columns.chain(quantities.iter().flat_map(|q| [right(q.title()), right("bias")])));
    for (set, score) in scores(document).filter(|(_, s)| !s.volumes.is_empty()) {
        let mut cells = vec![set.facts.id.clone(), scope(score)];
        for quantity in &quantities {
            let found = score.volumes.iter().find(|v| v.quantity == *quantity);
            cells.push(found.map(|v| percent(v.errors.mean)).unwrap_or_default());
            cells.push(found.map(|v| format!("{:+.1} %", v.errors.bias.percent())).unwrap_or_default());
        }
        table.row(cells);
    }
    table
}

/// What repetitions say of the noise; empty if nothing was repeated.
pub(super) fn noise(document: &SetValidationDocument) -> Table {
    let columns = ["repeated", "Spearman", "median difference"].map(right).into_iter();
    let mut table = Table::new([left("set"), left("of")].into_iter().chain(columns));
    for (set, score) in scores(document) {
        if let Some(noise) = &score.noise {
            table.row([
                set.facts.id.clone(),
                scope(score),
                noise.configurations.to_string(),
                format!("{:.4}", noise.spearman),
                format!("{:.2} %", noise.difference.percent()),
            ]);
        }
    }
    table
}

/// The largest errors with what the prediction is made of.
pub(super) fn worst(document: &SetValidationDocument) -> Table {
    let columns = [left("set"), left("configuration"), right("predicted"), right("measured"), right("error")];
    let mut table = Table::new(columns.into_iter().chain([right("line"), left("prediction")]));
    for set in &document.sets {
        let one = set.configurations.windows(2).all(|two| two[0].problem == two[1].problem);
        for w in &set.worst {
            let problem = if one { String::new() } else { format!("{}: ", w.problem) };
            table.row([
                set.facts.id.clone(),
                problem + &w.configuration,
                microseconds(w.time_s.predicted()),
                microseconds(w.time_s.measured()),
                w.time_s.error().map(|e| format!("{:+.0} %", e.percent())).unwrap_or_default(),
                w.lines.first().map(ToString::to_string).unwrap_or_default(),
                w.explanation.clone(),
            ]);
        }
    }
    table
}

/// A line on a set: where it comes from, and how much of it was looked at.
pub(super) fn about(set: &SetReport) -> String {
    let about = set.facts.about.as_ref().map(|a| format!(": {a}")).unwrap_or_default();
    let clock: Vec<String> = set
        .clock_factors
        .iter()
        .map(|(device, factor)| format!("; clock not known: times on {device} times {factor:.3}"))
        .collect();
    let rejected = match set.rejected.len() {
        0 => String::new(),
        n => format!(", {} not", grouped(n)),
    };
    format!(
        "{}{about}; {} launches of {} rows, {} configurations predicted{rejected}; {}; curves {}{}",
        set.facts.id,
        grouped(set.facts.rows_taken),
        grouped(set.facts.rows),
        grouped(set.configurations.len()),
        set.devices.join(", "),
        set.curves.join(", "),
        clock.concat()
    )
}

/// Every configuration with what was measured and predicted of it; units stand in the names.
pub(super) fn configurations(documents: &[&SetValidationDocument]) -> Table {
    let sets = || documents.iter().flat_map(|d| &d.sets);
    let measured = |q: &MeasuredQuantity| {
        sets().any(|s| s.configurations.iter().any(|c| c.values.contains_key(q.name())))
    };
    let quantities: Vec<MeasuredQuantity> = MeasuredQuantity::ALL.into_iter().filter(measured).collect();
    let names: Vec<String> = quantities
        .iter()
        .flat_map(|q| ["measured", "predicted"].map(|which| format!("{}_{which}", q.name())))
        .collect();
    let columns =
        ["set", "problem", "configuration", "kernel", "variant", "device", "block", "fold", "limiter"]
            .map(left)
            .into_iter()
            .chain(["registers", "occupancy_percent", "time_s_measured", "time_s_predicted"].map(right))
            .chain(names.iter().map(|n| right(n)))
            .chain([right("line")]);
    let mut table = Table::new(columns);
    let both = |pair: Option<&ValuePair>| {
        [pair.map(ValuePair::measured), pair.map(ValuePair::predicted)]
            .map(|v| v.map(significant).unwrap_or_default())
    };
    for set in sets() {
        for c in &set.configurations {
            let mut cells = vec![
                set.facts.id.clone(),
                c.problem.clone(),
                c.configuration.clone(),
                c.kernel.clone(),
                c.variant.clone().unwrap_or_default(),
                c.device.clone(),
                shape(c.candidate.block()),
                shape(c.candidate.fold()),
                c.limiter.to_owned(),
                c.registers.to_string(),
                significant(c.occupancy_percent),
            ];
            cells.extend(both(c.time_s.as_ref()));
            cells.extend(quantities.iter().flat_map(|q| both(c.values.get(q.name()))));
            cells.push(c.lines.first().map(ToString::to_string).unwrap_or_default());
            table.row(cells);
        }
    }
    table
}
