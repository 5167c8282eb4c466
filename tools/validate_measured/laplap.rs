//! The Laplacian of a Laplacian on the V100: times and the order of shapes, size by size.

use super::bars::Bars;
use super::measured::{Case, Group};
use super::score::{Order, Pair, error, mean, order};

/// Sizes with fewer shapes say little about an order.
pub const SHAPES: usize = 20;

/// What the sizes come to.
#[derive(Debug, Clone, Copy)]
pub struct Means {
    /// Mean error of the time, in percent.
    pub error: f64,
    /// Rank correlation.
    pub spearman: f64,
    /// First choice, in percent of the best.
    pub first: f64,
    /// Best of five, in percent of the best.
    pub five: f64,
}

/// Means over sizes.
pub fn means(sizes: &[Vec<Pair>]) -> Means {
    let orders: Vec<Order> = sizes.iter().map(|s| order(s)).collect();
    Means {
        error: mean(sizes.iter().map(|s| time_error(s))),
        spearman: mean(orders.iter().map(|o| o.spearman)),
        first: 100.0 * mean(orders.iter().map(|o| o.first)),
        five: 100.0 * mean(orders.iter().map(|o| o.five)),
    }
}

fn time_error(pairs: &[Pair]) -> f64 {
    error(pairs.iter().map(|p| (p.predicted, p.measured)))
}

/// Prints the table.
pub fn print(sizes: &[Group], bars: &mut Bars) {
    println!("\n## The Laplacian of a Laplacian on the V100\n");
    println!("| array | shapes | time error | Spearman | first choice | best of 5 |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let mut all = Vec::new();
    for size in sizes {
        let pairs: Vec<Pair> = size.cases.iter().map(Case::pair).collect();
        let o = order(&pairs);
        println!(
            "| {} | {} | {:.1} % | {:.3} | {:.1} % | {:.1} % |",
            size.name,
            pairs.len(),
            time_error(&pairs),
            o.spearman,
            100.0 * o.first,
            100.0 * o.five
        );
        all.push(pairs);
    }
    let rows = error(all.iter().flatten().map(|p| (p.predicted, p.measured)));
    all.retain(|pairs| pairs.len() >= SHAPES);
    let m = means(&all);
    println!(
        "| mean of {} sizes with at least {SHAPES} shapes | | {:.1} % | {:.3} | {:.1} % | {:.1} % |",
        all.len(),
        m.error,
        m.spearman,
        m.first,
        m.five
    );
    println!("\nTime error over all rows: {rows:.1} %.");
    bars.at_least("laplap: Spearman", m.spearman, 0.80);
    bars.at_least("laplap: first choice, % of the best", m.first, 97.0);
    bars.at_least("laplap: best of 5, % of the best", m.five, 99.0);
    bars.at_most("laplap: time, mean error, %", rows.max(m.error), 20.0);
}
