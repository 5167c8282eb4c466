//! Unseen halves: the coefficients are fitted to one half of the rows, the errors are those of the other.

use std::cell::RefCell;

use rayon::prelude::*;

use super::bars::Bars;
use super::coefficients::{Coefficient, TIME, VOLUME_GROUPS, fitted};
use super::laplap::means;
use super::measured::{Case, Group, VOLUMES};
use super::random::Random;
use super::score::{Pair, error, mean, order, quantile};
use wavecast::curve::{Fit, for_device};
use wavecast::predict::Estimator;

/// Splits in halves.
const SPLITS: u64 = 20;
/// Losses that a fit of the time may take.
const TIME_TRIES: usize = 1500;
/// Losses that a fit of a volume may take.
const VOLUME_TRIES: usize = 240;
/// A size of which fewer shapes are left says little about an order.
const SHAPES: usize = 10;

/// The figures of one split, with their bars and whether more is better.
const FIGURES: [(&str, f64, bool); 11] = [
    ("star: L2 loads, mean error, %", VOLUMES[0].1, false),
    ("star: L2 stores, mean error, %", VOLUMES[1].1, false),
    ("star: DRAM loads, mean error, %", VOLUMES[2].1, false),
    ("star: DRAM stores, mean error, %", VOLUMES[3].1, false),
    ("star: performance, mean error, %", 15.0, false),
    ("star: Spearman", 0.95, true),
    ("star: first choice, % of the best", 95.9, true),
    ("laplap: Spearman", 0.80, true),
    ("laplap: first choice, % of the best", 97.0, true),
    ("laplap: best of 5, % of the best", 99.0, true),
    ("laplap: time, mean error, %", 20.0, false),
];

/// What came of one split.
struct Split {
    fit: Fit,
    figures: [f64; FIGURES.len()],
    best_at: usize,
}

/// Prints the table.
pub fn print(groups: &[Group], bars: &mut Bars) {
    println!("\n## Unseen halves\n");
    let fit = for_device(&super::measured::V100).fit;
    let splits: Vec<Split> = (1..=SPLITS).into_par_iter().map(|seed| split(groups, fit, seed)).collect();
    let (whole, on_all) = whole(groups, fit);
    println!(
        "Rows are split in two halves, {SPLITS} times, within each size. The coefficients of the second table are"
    );
    println!(
        "fitted to one half from far starts, all others stay as they ship, the half point of `l2_reuse` among"
    );
    println!("them; these are the errors of the other half.\n");
    println!(
        "| {SPLITS} splits | bar | median | worst | fitted to all rows |\n| --- | ---: | ---: | ---: | ---: |"
    );
    for (i, (name, bar, more)) in FIGURES.into_iter().enumerate() {
        let values: Vec<f64> = splits.iter().map(|s| s.figures[i]).collect();
        let (median, worst) = (quantile(&values, 0.5), quantile(&values, if more { 0.0 } else { 1.0 }));
        println!("| {name} | {bar} | {median:.3} | {worst:.3} | {:.3} |", on_all[i]);
        let what = format!("unseen {name}, median");
        if more {
            bars.at_least(&what, median, bar);
        } else {
            bars.at_most(&what, median, bar);
        }
    }
    let last = splits.iter().map(|s| s.best_at).max().unwrap_or(0);
    let ahead = splits.iter().filter(|s| s.best_at == 1).count();
    println!("\nThe best of the star's half is the first choice in {ahead} splits, at worst choice {last}.");
    coefficients(fit, &whole, &splits);
}

/// A fit to all rows, and what it comes to on them.
fn whole(groups: &[Group], fit: &Fit) -> (Fit, [f64; FIGURES.len()]) {
    let all = |group| Half::new(group, &(0..group.cases.len()).collect::<Vec<_>>());
    let all: Vec<Half<'_>> = groups.iter().map(all).collect();
    let fit = fit_both(fit, &all);
    let figures = figures(&fit, &all).0;
    (fit, figures)
}

/// How far the coefficients move from half to half.
fn coefficients(fit: &Fit, whole: &Fit, splits: &[Split]) {
    println!(
        "\nThe last column counts halves without a row on which a coefficient acts, so that it stays at its far start."
    );
    println!("The worst figures above include those halves.");
    println!(
        "\n| coefficient | start | shipped | all rows | median | 10 to 90 % of the halves | at the start |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | --- | ---: |");
    let of_volumes = VOLUME_GROUPS.iter().flat_map(|(_, c)| c.iter());
    for coefficient in of_volumes.chain(TIME) {
        let Coefficient { name, start, .. } = coefficient;
        let values: Vec<f64> = splits.iter().map(|s| coefficient.value(&s.fit)).collect();
        let stayed = values.iter().filter(|v| (*v / start - 1.0).abs() < 1e-9).count();
        let [low, median, high] = [0.1, 0.5, 0.9].map(|share| three(quantile(&values, share)));
        let [shipped, whole] = [fit, whole].map(|fit| three(coefficient.value(fit)));
        println!(
            "| {name} | {} | {shipped} | {whole} | {median} | {low} to {high} | {stayed} |",
            three(*start)
        );
    }
}

/// Three digits.
fn three(value: f64) -> String {
    let text = format!("{value:.2e}");
    let number: f64 = text.parse().unwrap_or(value);
    if number.abs() < 1e-3 { text } else { number.to_string() }
}

/// The rows of a group that lie in one half, ready to be estimated anew.
struct Half<'a> {
    estimator: Estimator<'a>,
    cases: RefCell<Vec<Case>>,
}

impl<'a> Half<'a> {
    fn new(group: &'a Group, rows: &[usize]) -> Self {
        let cases = rows.iter().map(|&i| group.cases[i].clone()).collect();
        Self { estimator: group.estimator(), cases: RefCell::new(cases) }
    }

    /// A figure of the cases under other coefficients.
    fn under<T>(&self, fit: &Fit, figure: impl Fn(&[Case]) -> T) -> T {
        let mut cases = self.cases.borrow_mut();
        for case in cases.iter_mut() {
            self.estimator.refit(&mut case.prediction, fit);
        }
        figure(&cases)
    }
}

fn split(groups: &[Group], fit: &Fit, seed: u64) -> Split {
    let mut random = Random::new(seed);
    let (mut seen, mut unseen) = (Vec::new(), Vec::new());
    for group in groups {
        let (first, second) = random.halves(group.cases.len());
        seen.push(Half::new(group, &first));
        unseen.push(Half::new(group, &second));
    }
    let fit = fit_both(fit, &seen);
    let (figures, best_at) = figures(&fit, &unseen);
    Split { fit, figures, best_at }
}

fn fit_both(fit: &Fit, halves: &[Half<'_>]) -> Fit {
    fit_time(&fit_volumes(fit, &halves[0]), halves)
}

fn volume_error(cases: &[Case], volume: usize) -> f64 {
    error(cases.iter().map(|c| (c.predicted()[volume], c.volumes[volume])))
}

fn fit_volumes(fit: &Fit, star: &Half<'_>) -> Fit {
    VOLUME_GROUPS.iter().fold(fit.clone(), |fit, (volume, which)| {
        fitted(&fit, which, VOLUME_TRIES, |trial| star.under(trial, |cases| volume_error(cases, *volume)))
    })
}

/// The star counts as much as all sizes of laplap.
fn fit_time(fit: &Fit, halves: &[Half<'_>]) -> Fit {
    let of =
        |cases: &[Case]| mean(cases.iter().map(|c| (c.prediction.time.seconds.get() / c.seconds).ln().abs()));
    fitted(fit, TIME, TIME_TRIES, |trial| {
        let mut losses = halves.iter().map(|half| half.under(trial, of));
        losses.next().unwrap_or(0.0) + mean(losses)
    })
}

fn figures(fit: &Fit, halves: &[Half<'_>]) -> ([f64; FIGURES.len()], usize) {
    let pairs = |cases: &[Case]| cases.iter().map(Case::pair).collect::<Vec<Pair>>();
    let (volumes, star) =
        halves[0].under(fit, |cases| ([0, 1, 2, 3].map(|i| volume_error(cases, i)), pairs(cases)));
    let rate = error(star.iter().map(|p| (p.measured, p.predicted)));
    let order = order(&star);
    let mut sizes: Vec<Vec<Pair>> = halves[1..].iter().map(|half| half.under(fit, pairs)).collect();
    sizes.retain(|pairs| pairs.len() >= SHAPES);
    let laplap = means(&sizes);
    let [a, b, c, d] = volumes;
    let figures = [
        a,
        b,
        c,
        d,
        rate,
        order.spearman,
        100.0 * order.first,
        laplap.spearman,
        laplap.first,
        laplap.five,
        laplap.error,
    ];
    (figures, order.best_at)
}
