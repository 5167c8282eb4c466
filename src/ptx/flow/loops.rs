//! Natural loops.

use super::blocks::Graph;

/// A loop: one block through which it is entered, and all that leads back there.
#[derive(Debug, Clone)]
pub(in crate::ptx) struct Loop {
    pub header: usize,
    /// Its blocks, in order, those of inner loops among them.
    pub blocks: Vec<usize>,
    /// The loop around it.
    pub outer: Option<usize>,
}

/// All loops of a function.
#[derive(Debug, Clone)]
pub(in crate::ptx) struct Loops {
    pub all: Vec<Loop>,
    /// The innermost loop of each block.
    pub innermost: Vec<Option<usize>>,
    /// A block that is jumped back to from outside of what it dominates: such loops have two entries.
    pub tangled: Option<usize>,
}

fn dominates(dominators: &[usize], a: usize, mut b: usize) -> bool {
    // Dominators come earlier in the order.
    while b > a {
        b = dominators[b];
    }
    a == b
}

impl Loops {
    pub fn new(graph: &Graph, dominators: &[usize]) -> Loops {
        let mut all: Vec<Loop> = Vec::new();
        let mut tangled = None;
        for header in 0..graph.blocks.len() {
            let back = graph.blocks[header].before.iter().copied().filter(|b| *b >= header);
            let (back, wild): (Vec<usize>, Vec<usize>) =
                back.partition(|b| dominates(dominators, header, *b));
            if !wild.is_empty() {
                tangled = tangled.or(Some(header));
            }
            if back.is_empty() {
                continue;
            }
            let mut inside = vec![false; graph.blocks.len()];
            inside[header] = true;
            let mut todo = back;
            while let Some(block) = todo.pop() {
                if !inside[block] {
                    inside[block] = true;
                    todo.extend(&graph.blocks[block].before);
                }
            }
            let blocks = (0..inside.len()).filter(|b| inside[*b]).collect();
            // Headers come in order: loops around this one are there already, the innermost last.
            let outer = all.iter().rposition(|l| l.blocks.contains(&header));
            all.push(Loop { header, blocks, outer });
        }
        let mut innermost = vec![None; graph.blocks.len()];
        for (number, l) in all.iter().enumerate() {
            for block in &l.blocks {
                innermost[*block] = Some(number);
            }
        }
        Loops { all, innermost, tangled }
    }
}
