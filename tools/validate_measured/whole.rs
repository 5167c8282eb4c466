//! Whole sets on the page: scores of all, in sample and left out, bars, and what is still wrong.

use std::collections::BTreeMap;
use std::error::Error;

use wavecast::curve::fit::{FitOptions, Loss};
use wavecast::curve::{COEFFICIENTS, FittedOn, for_device};
use wavecast::measure::PercentShare;
use wavecast::measure::fit::{
    CurveForm, FitRequest, FittedSet, PredictedGroups, SetFitRequest, SetFitting, fit_sets,
};
use wavecast::measure::sets::{SetScore, summaries};
use wavecast::report::{Answer as _, SetValidationDocument, set_validation_document};

use super::sets::Shipped;
use super::targets::{BEFORE, REFERENCE_STAR, TARGETS, Target};

/// Problems with less configurations do not count in the means over choices if others have more.
const LEAST: usize = 20;
/// Launches of a set that coefficients are fitted to. All are scored.
const FITTED: usize = 200;

/// Prints what is said of sets; whether all bars are met.
pub fn print(
    sets: Vec<PredictedGroups>,
    library: &Shipped,
    sample: Option<usize>,
) -> Result<bool, Box<dyn Error>> {
    let all = sets.iter().map(|s| summaries(&s.set, &s.groups, &s.rejected)).collect();
    let document = set_validation_document(all, "default", [LEAST, 0]);
    println!("\n## Whole sets\n\n{}", include_str!("sets.md").trim_end());
    if let Some(sample) = sample {
        println!("\n**Only {sample} configurations of each group and part were looked at.**");
    }
    let markdown = SetValidationDocument::markdown(&[&document]).replace("\n## ", "\n### ");
    let markdown = markdown.replace("\n... --format json lists all\n", "");
    println!("\n{}", markdown.trim_end());
    reference(&document);
    let started = std::time::Instant::now();
    let fitting = fitted(sets, library)?;
    eprintln!("fits to sets in {:.0?}", started.elapsed());
    left_out(&fitting);
    volumes(&fitting);
    coefficients(&fitting);
    let met = bars(&fitting);
    print!("\n## What is still wrong\n\n{}", include_str!("wrong.md"));
    Ok(met)
}

fn fitted(sets: Vec<PredictedGroups>, library: &Shipped) -> Result<SetFitting, Box<dyn Error>> {
    let fit = FitRequest {
        form: CurveForm::Hill,
        options: FitOptions { loss: Loss::Cauchy, ..FitOptions::default() },
        ..FitRequest::default()
    };
    let request = SetFitRequest { fit: &fit, leave_one_out: true, least: LEAST, most: Some(FITTED) };
    let shared = for_device(&super::measured::V100).fit.inherited_by("");
    Ok(fit_sets(sets, library, Some(&shared), request)?)
}

/// What a score is of.
fn subject(score: &SetScore) -> &str {
    if score.kind == "all" { "all" } else { &score.name }
}

fn percent(share: PercentShare) -> String {
    format!("{:.1} %", share.percent())
}

/// What the program of the paper reaches on the star.
fn reference(document: &SetValidationDocument) {
    let Some(star) = document.sets.iter().find(|s| s.facts.id == "star3d25-v100") else { return };
    let Some(all) = star.scores.iter().find(|s| s.kind == "all") else { return };
    println!("\n### Beside the paper's own program\n");
    println!(
        "Its published version on the star, as far as it was written down; nobody did so for the other sets."
    );
    println!("Its first choice is (16,2,32).\n");
    println!("| star3d25-v100 | the paper's program | Wavecast |\n| --- | ---: | ---: |");
    for (what, value) in REFERENCE_STAR {
        let volume = all.volumes.iter().find(|v| v.quantity.name() == what);
        let (name, theirs, ours) = match what {
            "Spearman" => (what, format!("{value}"), all.spearman.map(|s| format!("{s:.3}"))),
            "first choice" => (what, format!("{value} %"), all.choice.as_ref().map(|c| percent(c.first))),
            "rate" => ("error of the rate", format!("{value} %"), all.time.map(|t| percent(t.errors.mean))),
            _ => {
                let name = volume.map_or(what, |v| v.quantity.title());
                (name, format!("{value} %"), volume.map(|v| percent(v.errors.mean)))
            }
        };
        println!("| {name} | {theirs} | {} |", ours.unwrap_or_default());
    }
}

/// In sample and left out, side by side.
fn left_out(fitting: &SetFitting) {
    println!("\n### In sample and left out\n\n{}\n", include_str!("left_out.md").trim_end());
    println!(
        "| set | of | rows | Spearman: ships | fitted | left out | first choice: ships | fitted | left out \
         | time error: ships | fitted | left out | before |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for set in &fitting.sets {
        for (i, ships) in set.before.iter().enumerate() {
            let three = [Some(ships), set.fitted.get(i), set.left_out.as_ref().and_then(|l| l.get(i))];
            let cells = |figure: &dyn Fn(&SetScore) -> Option<String>| {
                three.map(|s| s.and_then(figure).unwrap_or_default()).join(" | ")
            };
            let before = BEFORE.iter().find(|b| b.0 == set.id && b.1 == subject(ships)).map_or("", |b| b.2);
            println!(
                "| {} | {} | {} | {} | {} | {} | {before} |",
                set.id,
                subject(ships),
                ships.predicted,
                cells(&|s| s.spearman.map(|v| format!("{v:.3}"))),
                cells(&|s| s.choice.as_ref().map(|c| percent(c.first))),
                cells(&|s| s.time.map(|t| percent(t.errors.mean))),
            );
        }
    }
}

/// Errors of volumes, in sample and left out.
fn volumes(fitting: &SetFitting) {
    println!("\n| set | of | volume | error: ships | fitted | left out |");
    println!("| --- | --- | --- | ---: | ---: | ---: |");
    for set in &fitting.sets {
        for (i, ships) in set.before.iter().enumerate() {
            for (j, volume) in ships.volumes.iter().enumerate() {
                let error = |scores: &[SetScore]| {
                    let found = scores.get(i).and_then(|s| s.volumes.get(j));
                    found.map(|v| percent(v.errors.mean)).unwrap_or_default()
                };
                println!(
                    "| {} | {} | {} | {} | {} | {} |",
                    set.id,
                    subject(ships),
                    volume.quantity.title(),
                    percent(volume.errors.mean),
                    error(&set.fitted),
                    set.left_out.as_deref().map(error).unwrap_or_default()
                );
            }
        }
    }
}

/// How far coefficients move from fit to fit, and what no fit could move.
fn coefficients(fitting: &SetFitting) {
    let (ships, all) = (for_device(&super::measured::V100).fit, &fitting.fits[0]);
    println!("\n### Coefficients of these fits\n");
    println!(
        "Lowest and highest are of the fits that leave one set out and move the coefficient. In as many fits as"
    );
    println!("\"kept in\" says it stays as it ships, as too little tells of it.\n");
    println!("| coefficient | ships | fitted to all | lowest without | | highest without | | kept in |");
    println!("| --- | ---: | ---: | ---: | --- | ---: | --- | ---: |");
    let mut always = Vec::new();
    let shared = COEFFICIENTS.iter().filter(|k| !k.is_optional() && k.fitted_on != FittedOn::Nothing);
    for known in shared {
        let moved = |set: &&FittedSet| set.left_out.is_some() && !set.kept.contains(&known.name);
        let mut values: Vec<(f64, &str)> = fitting
            .sets
            .iter()
            .filter(moved)
            .filter_map(|set| Some((set.coefficients.get(known.name)?.get(), set.id.as_str())))
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [Some(low), Some(high)] = [values.first(), values.last()] else {
            always.push(known.name);
            continue;
        };
        let [one, other] = [ships, all].map(|fit| known.value(fit).map(short).unwrap_or_default());
        println!(
            "| {} | {one} | {other} | {} | {} | {} | {} | {} of {} |",
            known.name,
            short(low.0),
            low.1,
            short(high.0),
            high.1,
            fitting.sets.len() - values.len(),
            fitting.sets.len()
        );
    }
    println!("\nNo fit moves {}: too little tells of them.", always.join(", "));
    println!(
        "\nLeft out, these sets are not blind for what only they tell of, which stays as it ships; and what"
    );
    println!("holds for a device alone follows from its file, as for a device that nobody measured:\n");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in fitting.sets.iter().flat_map(|s| &s.kept) {
        *counts.entry(name).or_default() += 1;
    }
    println!("| set | as it ships | from the device file |\n| --- | --- | --- |");
    for set in fitting.sets.iter().filter(|s| s.left_out.is_some()) {
        let own: Vec<&str> = set.kept.iter().copied().filter(|n| counts[n] < fitting.sets.len()).collect();
        println!("| {} | {} | {} |", set.id, own.join(", "), by_device(&set.of_device));
    }
}

/// `a of x`, `b of x` as `x: a, b`.
fn by_device(names: &[String]) -> String {
    let mut devices: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, device) in names.iter().filter_map(|n| n.split_once(" of ")) {
        devices.entry(device).or_default().push(name);
    }
    let one = |(device, names): (&str, Vec<&str>)| format!("{device}: {}", names.join(", "));
    devices.into_iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Three digits.
fn short(value: f64) -> String {
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

/// A figure of a part of a set beside what was asked for.
struct Row {
    name: String,
    /// At least, or at most.
    least: bool,
    bar: f64,
    ships: Option<f64>,
    left_out: Option<f64>,
    /// Whether the bar is for what was left out.
    blind: bool,
}

/// Prints all bars; whether they are met.
fn bars(fitting: &SetFitting) -> bool {
    println!("\n### Bars of whole sets\n");
    println!(
        "In percent, but for correlations. A bar holds for what ships, or, where it says so, for what was left out.\n"
    );
    println!("| set | of | | bar | ships | left out | |\n| --- | --- | --- | ---: | ---: | ---: | --- |");
    let (mut met, mut all) = (0, 0);
    for target in &TARGETS {
        let Some(set) = fitting.sets.iter().find(|s| s.id == target.set) else { continue };
        for row in rows(target, set) {
            let value = if row.blind { row.left_out } else { row.ships };
            let holds = value.map(|v| if row.least { v >= row.bar } else { v <= row.bar });
            all += usize::from(holds.is_some());
            met += usize::from(holds == Some(true));
            let number = |v: f64| {
                let text = format!("{v:.3}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            };
            let cell = |v: Option<f64>| v.map(number).unwrap_or_default();
            println!(
                "| {} | {} | {} | {} {} | {} | {} | {} |",
                target.set,
                target.of,
                row.name,
                if row.least { "≥" } else { "≤" },
                number(row.bar),
                cell(row.ships),
                cell(row.left_out),
                match holds {
                    Some(true) => "met",
                    Some(false) => "**missed**",
                    None => "not measured",
                }
            );
        }
    }
    println!("\n{met} of {all} bars of whole sets are met.");
    met == all
}

fn rows(target: &Target, set: &FittedSet) -> Vec<Row> {
    let place = set.before.iter().position(|s| subject(s) == target.of);
    let ships = place.map(|i| &set.before[i]);
    let blind = place.and_then(|i| set.left_out.as_ref()?.get(i));
    let both = |figure: &dyn Fn(&SetScore) -> Option<f64>| (ships.and_then(figure), blind.and_then(figure));
    let spearman = |s: &SetScore| match (&s.choice, target.in_each) {
        (Some(choice), true) => Some(choice.spearman.get()),
        _ => s.spearman.map(wavecast::quantity::Correlation::get),
    };
    let time = |s: &SetScore| match (&s.choice, target.in_each) {
        (Some(choice), true) => Some(choice.time_error.percent()),
        _ => s.time.map(|t| t.errors.mean.percent()),
    };
    let mut rows = Vec::new();
    let mut row = |name: String, bar: Option<f64>, least: bool, (ships, left_out), blind: bool| {
        rows.extend(bar.map(|bar| Row { name, least, bar, ships, left_out, blind }));
    };
    row("Spearman".to_owned(), target.spearman, true, both(&spearman), false);
    row("Spearman, left out".to_owned(), target.left_out, true, both(&spearman), true);
    let first = |s: &SetScore| s.choice.as_ref().map(|c| c.first.percent());
    row("first choice".to_owned(), target.first, true, both(&first), false);
    row("time error".to_owned(), target.time, false, both(&time), false);
    for &(name, bar) in target.volumes {
        let volume = |s: &SetScore| {
            let found = s.volumes.iter().find(|v| v.quantity.name() == name)?;
            Some(found.errors.mean.percent())
        };
        let title = ships
            .and_then(|s| s.volumes.iter().find(|v| v.quantity.name() == name))
            .map_or(name, |v| v.quantity.title());
        row(title.to_owned(), Some(bar), false, both(&volume), false);
    }
    rows
}
