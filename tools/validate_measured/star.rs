//! The 25-point star on the V100: volumes, rates and the order of shapes.

use std::error::Error;
use std::sync::atomic::AtomicUsize;

use super::bars::Bars;
use super::measured::{Group, VOLUMES};
use super::score::{error, order};
use wavecast::launch::Candidate;
use wavecast::predict::{Choice, rank};

/// What `wavecast rank` takes as its error.
const TIE: f64 = 0.04;

/// Prints the table.
pub fn print(star: &Group, rows: bool, bars: &mut Bars) -> Result<(), Box<dyn Error>> {
    println!("## The 25-point star on the V100\n");
    if rows {
        shapes(star);
    }
    println!("| of {} shapes | mean error | worst | at |\n| --- | ---: | ---: | --- |", star.cases.len());
    for (i, (name, bar)) in VOLUMES.into_iter().enumerate() {
        let mean = line(star, name, |c| (c.predicted()[i], c.volumes[i]));
        bars.at_most(&format!("star: {name}, mean error, %"), mean, bar);
    }
    let rate = line(star, "rate", |c| (c.seconds, c.prediction.time.seconds.get()));
    bars.at_most("star: performance, mean error, %", rate, 15.0);
    let pairs: Vec<_> = star.cases.iter().map(super::measured::Case::pair).collect();
    let order = order(&pairs);
    println!("\nSpearman {:.3}; first choice at {:.1} % of the best.", order.spearman, 100.0 * order.first);
    bars.at_least("star: Spearman", order.spearman, 0.95);
    bars.at_least("star: first choice, % of the best", 100.0 * order.first, 95.9);
    tie_group(star, bars)
}

/// Prints mean and worst of one quantity (predicted, measured); the mean in percent.
fn line(star: &Group, name: &str, of: impl Fn(&super::measured::Case) -> (f64, f64)) -> f64 {
    let mean = error(star.cases.iter().map(&of));
    let one = |c: &super::measured::Case| of(c).0 / of(c).1 - 1.0;
    let worst = star.cases.iter().max_by(|a, b| one(a).abs().total_cmp(&one(b).abs()));
    if let Some(c) = worst {
        println!("| {name} | {mean:.2} % | {:+.1} % | {} |", 100.0 * one(c), shape(c.block));
    }
    mean
}

/// The shapes that `wavecast rank` would name first, all of them within the model's error.
fn tie_group(star: &Group, bars: &mut Bars) -> Result<(), Box<dyn Error>> {
    let of =
        |c: &super::measured::Case| Choice { kernel: 0, candidate: Candidate::new(c.block, [1; 3]).unwrap() };
    let choices: Vec<Choice> = star.cases.iter().map(of).collect();
    let ranking = rank(&[star.estimator()], &choices, TIE, usize::MAX, &AtomicUsize::new(0));
    let group: Vec<[i64; 3]> = ranking
        .results()
        .iter()
        .filter(|r| r.tie_group == 1)
        .map(|r| r.prediction.launch.candidate().block().into())
        .collect();
    let best = star.cases.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)).ok_or("no shapes")?;
    let names: Vec<String> = group.iter().map(|&b| shape(b)).collect();
    println!(
        "First tie group ({:.0} %): {}; the best is {}.",
        100.0 * TIE,
        names.join(", "),
        shape(best.block)
    );
    bars.at_most("star: members of the first tie group", group.len() as f64, 5.0);
    let held = f64::from(u8::from(group.contains(&best.block)));
    bars.at_least("star: the best is one of them (1: yes)", held, 1.0);
    Ok(())
}

/// Every shape.
fn shapes(star: &Group) {
    println!("Predicted, measured: bytes per cell, billions of cells per second.\n");
    println!("| block | L2 load | L2 store | DRAM load | DRAM store | rate | limiter |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | --- |");
    for c in &star.cases {
        let pairs = c.predicted().into_iter().zip(c.volumes).map(|(p, m)| format!("{p:.2}, {m:.2}"));
        let volumes = pairs.collect::<Vec<_>>().join(" | ");
        let rate = c.prediction.rate().get() / 1e9;
        let measured = c.prediction.items.get() / c.seconds / 1e9;
        let limiter = c.prediction.time.limiter.word();
        println!("| {} | {volumes} | {rate:.2}, {measured:.2} | {limiter} |", shape(c.block));
    }
    println!();
}

fn shape(block: [i64; 3]) -> String {
    let [x, y, z] = block;
    format!("({x},{y},{z})")
}
