//! One iteration of a loop, or a function without its loops: inner loops count as single blocks, so that no way leads
//! back.

use super::blocks::{End, Graph};
use super::loops::Loops;

/// Where control leaves the region, or goes back to its header.
const OUTSIDE: usize = usize::MAX;

/// The blocks of a region, inner loops by their headers.
#[derive(Debug, Clone)]
pub(in crate::ptx) struct Region {
    /// In order.
    pub nodes: Vec<usize>,
    /// For each node, the last one that all ways to it pass; the first node has itself.
    dominator: Vec<usize>,
    /// For each node, the first one that all ways from it pass.
    post_dominator: Vec<usize>,
}

impl Region {
    /// The region of a loop, or of the whole function. No loop of the function may have two entries: the order of blocks
    /// would say nothing of which comes first.
    pub fn new(graph: &Graph, loops: &Loops, of: Option<usize>) -> Region {
        debug_assert!(loops.tangled.is_none(), "such functions are refused");
        let inside = |block: usize| of.is_none_or(|l| loops.all[l].blocks.binary_search(&block).is_ok());
        let header = of.map_or(0, |l| loops.all[l].header);
        // The loop directly inside of this region that a block is in.
        let inner = |block: usize| {
            let mut at = loops.innermost[block];
            while let Some(l) = at {
                if loops.all[l].outer == of {
                    return Some(l);
                }
                if Some(l) == of {
                    return None;
                }
                at = loops.all[l].outer;
            }
            None
        };
        let node = |block: usize| inner(block).map_or(block, |l| loops.all[l].header);
        let blocks = (0..graph.blocks.len()).filter(|b| inside(*b));
        let nodes: Vec<usize> = blocks.clone().filter(|b| node(*b) == *b).collect();
        let place = |block: usize| nodes.binary_search(&block).unwrap_or(OUTSIDE);
        let mut after = vec![Vec::new(); nodes.len()];
        let mut before = vec![Vec::new(); nodes.len()];
        for block in blocks {
            let from = place(node(block));
            for next in &graph.blocks[block].next {
                let back = of.is_some() && *next == header;
                let to = if back || !inside(*next) { OUTSIDE } else { place(node(*next)) };
                if to != from {
                    after[from].push(to);
                    if to != OUTSIDE {
                        before[to].push(from);
                    }
                }
            }
            if matches!(graph.blocks[block].end, End::Return | End::ReturnIf(..)) {
                after[from].push(OUTSIDE);
            }
        }
        let mut dominator = vec![0; nodes.len()];
        for at in 1..nodes.len() {
            let ways = before[at].iter().copied();
            dominator[at] = ways
                .reduce(|a, b| {
                    let (mut a, mut b) = (a, b);
                    while a != b {
                        if a > b { a = dominator[a] } else { b = dominator[b] }
                    }
                    a
                })
                .unwrap_or(0);
        }
        let mut post_dominator = vec![OUTSIDE; nodes.len()];
        for at in (0..nodes.len()).rev() {
            let ways = after[at].iter().copied();
            post_dominator[at] = ways
                .reduce(|a, b| {
                    let (mut a, mut b) = (a, b);
                    // `OUTSIDE` comes after all others.
                    while a != b {
                        if a < b { a = post_dominator[a] } else { b = post_dominator[b] }
                    }
                    a
                })
                .unwrap_or(OUTSIDE);
        }
        Region { nodes, dominator, post_dominator }
    }

    /// One without blocks, of a function that is not gone through.
    pub fn empty() -> Region {
        Region { nodes: Vec::new(), dominator: Vec::new(), post_dominator: Vec::new() }
    }

    /// A node that is done exactly when this one is, and comes earlier.
    pub fn done_with(&self, node: usize) -> Option<usize> {
        let at = self.nodes.binary_search(&node).ok()?;
        let above = self.dominator[at];
        let mut way = above;
        while way < at {
            way = self.post_dominator[way];
        }
        (at != above && way == at).then(|| self.nodes[above])
    }
}
