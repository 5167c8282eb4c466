//! Blocks to cores.

use crate::random::Random;

/// Which blocks a core may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignment {
    /// One after another, in turn (N 4.1).
    RoundRobin,
    /// A random choice without repetition, as many as a core gets at most (C 6.4).
    Random {
        /// Of the choice.
        seed: u64,
    },
}

/// The blocks of the core `core` of `cores`.
pub fn assign(blocks: usize, cores: usize, core: usize, how: Assignment) -> Vec<usize> {
    let cores = cores.max(1);
    match how {
        Assignment::RoundRobin => (core..blocks).step_by(cores).collect(),
        Assignment::Random { seed } => {
            let share = blocks.div_ceil(cores);
            let mut random = Random::new(seed);
            let mut all: Vec<usize> = (0..blocks).collect();
            for i in 0..share {
                let left = blocks - i;
                all.swap(i, i + random.below(left));
            }
            all.truncate(share);
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_go_round_or_are_chosen_once() {
        assert_eq!(assign(7, 3, 1, Assignment::RoundRobin), [1, 4]);
        let chosen = assign(100, 15, 0, Assignment::Random { seed: 1 });
        let mut sorted = chosen.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!((chosen.len(), sorted.len()), (7, 7));
        assert!(sorted.iter().all(|&b| b < 100));
        assert_ne!(chosen, assign(100, 15, 0, Assignment::Random { seed: 2 }));
    }
}
