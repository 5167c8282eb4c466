//! One half of each group's launches, chosen by a seed: to fit to one and validate on the other.

use std::collections::HashMap;

use super::measurements::{MeasuredRow, Measurements};
use crate::random::Random;
use crate::space::{Block, Fold};

/// Which half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// The first; of an odd number of launches the smaller one.
    First,
    /// The other.
    Second,
}

/// Keeps one half of the launches of each subject. Rows of one configuration stay together; the same
/// seed makes the same halves.
pub fn halve(measurements: &mut Measurements, half: Half, seed: u64) {
    let mut launches: Vec<Vec<Launch>> = vec![Vec::new(); measurements.subjects.len()];
    for row in &measurements.rows {
        launches[row.subject].push((row.block, row.fold));
    }
    let mut random = Random::new(seed);
    let mut kept: HashMap<(usize, Launch), bool> = HashMap::new();
    for (subject, of) in launches.iter_mut().enumerate() {
        of.sort_unstable();
        of.dedup();
        random.shuffle(of);
        let first = of.len() / 2;
        for (i, launch) in of.iter().enumerate() {
            kept.insert((subject, *launch), (i < first) == (half == Half::First));
        }
    }
    let keep = |row: &MeasuredRow| kept[&(row.subject, (row.block, row.fold))];
    measurements.rows.retain(keep);
}

type Launch = (Block, Fold);

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::measure::measurements::read;

    #[test]
    fn halves_share_nothing_and_miss_nothing() {
        let mut text = "kernel,block,time [s]\n".to_owned();
        for block in 1..=7 {
            let _ = writeln!(text, "a,{block},1\nb,{block},1\na,{block},2");
        }
        let all = read("t", text.as_bytes()).unwrap();
        let lines = |half| {
            let mut some = all.clone();
            halve(&mut some, half, 3);
            some.rows.iter().map(|r| r.line).collect::<Vec<_>>()
        };
        let (first, second) = (lines(Half::First), lines(Half::Second));
        assert_eq!((first.len(), second.len()), (3 * 3, 4 * 3));
        assert!(first.iter().all(|line| !second.contains(line)));
        assert_eq!(first, lines(Half::First));
    }
}
