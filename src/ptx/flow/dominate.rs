//! Dominators of all blocks, by the method of Cooper, Harvey and Kennedy.

use super::blocks::Graph;

/// The block that all ways to each block pass last; the first block has itself.
pub(in crate::ptx) fn dominators(graph: &Graph) -> Vec<usize> {
    let before: Vec<&[usize]> = graph.blocks.iter().map(|b| &b.before[..]).collect();
    let order: Vec<usize> = (0..before.len()).collect();
    immediate(&before, &order)
}

/// Nodes are numbered in reverse post-order; node 0 is the start.
fn immediate(before: &[&[usize]], order: &[usize]) -> Vec<usize> {
    let mut found = vec![usize::MAX; before.len()];
    if let Some(first) = found.first_mut() {
        *first = 0;
    }
    let meet = |found: &[usize], mut a: usize, mut b: usize| {
        while a != b {
            while a > b {
                a = found[a];
            }
            while b > a {
                b = found[b];
            }
        }
        a
    };
    loop {
        let mut changed = false;
        for &node in &order[1.min(order.len())..] {
            let mut best = usize::MAX;
            for &other in before[node] {
                if found[other] != usize::MAX {
                    best = if best == usize::MAX { other } else { meet(&found, best, other) };
                }
            }
            if found[node] != best {
                found[node] = best;
                changed = true;
            }
        }
        if !changed {
            return found;
        }
    }
}
