//! Basic blocks.

use std::ops::Range;

use crate::ptx::syntax::{Function, Guard, Operand, PtxInstruction};

/// How a block ends.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ptx) enum End {
    /// It goes on with this block.
    Goto(usize),
    /// It goes on with the first where the guard holds, otherwise with the second.
    Branch(Guard, usize, usize),
    /// It goes on with one of these, by a number.
    Table(Vec<usize>),
    /// The thread is done.
    Return,
    /// The thread is done where the guard holds; otherwise it goes on with this block.
    ReturnIf(Guard, usize),
}

/// Instructions that are done one after the other.
#[derive(Debug, Clone)]
pub(in crate::ptx) struct Block {
    /// Numbers of instructions; the jump at the end is one of them.
    pub instructions: Range<usize>,
    pub end: End,
    /// Blocks that may come next, each once.
    pub next: Vec<usize>,
    /// Blocks that this one may come after.
    pub before: Vec<usize>,
}

/// The blocks of a function that can be reached, in an order in which all ways but those back go forward: reverse
/// post-order.
#[derive(Debug, Clone)]
pub(in crate::ptx) struct Graph {
    pub blocks: Vec<Block>,
}

fn ends(instruction: &PtxInstruction) -> bool {
    matches!(instruction.name.as_str(), "bra" | "brx" | "ret" | "exit" | "trap")
}

fn targets(instruction: &PtxInstruction) -> Vec<usize> {
    let mut targets = Vec::new();
    for operand in &instruction.operands {
        match operand {
            Operand::Label(at) => targets.push(*at),
            Operand::List(all) => targets.extend(all.iter().filter_map(|o| match o {
                Operand::Label(at) => Some(*at),
                _ => None,
            })),
            _ => {}
        }
    }
    targets
}

impl Graph {
    pub fn new(function: &Function) -> Graph {
        let code = &function.instructions;
        let mut starts = vec![0, code.len()];
        for (i, instruction) in code.iter().enumerate() {
            if ends(instruction) {
                starts.push(i + 1);
                starts.extend(targets(instruction));
            }
        }
        starts.sort_unstable();
        starts.dedup();
        // The last block is empty: it stands for the end of the text, which returns too.
        let block_at = |instruction: usize| starts.partition_point(|s| *s < instruction);
        let blocks: Vec<Block> = (0..starts.len())
            .map(|b| {
                let range = starts[b]..starts.get(b + 1).copied().unwrap_or(code.len());
                let last = range.clone().last().map(|i| &code[i]).filter(|i| ends(i));
                let end = match last {
                    None if b + 1 == starts.len() => End::Return,
                    None => End::Goto(b + 1),
                    Some(jump) => {
                        let to: Vec<usize> = targets(jump).into_iter().map(block_at).collect();
                        match (jump.name.as_str(), jump.guard, &to[..]) {
                            ("bra", None, [to]) => End::Goto(*to),
                            ("bra", Some(guard), [to]) => End::Branch(guard, *to, b + 1),
                            ("brx", None, [_, ..]) => End::Table(to),
                            ("brx", Some(_), [_, ..]) => End::Table([to, vec![b + 1]].concat()),
                            (_, Some(guard), _) => End::ReturnIf(guard, b + 1),
                            (_, None, _) => End::Return,
                        }
                    }
                };
                let mut next = match &end {
                    End::Goto(a) | End::ReturnIf(_, a) => vec![*a],
                    End::Branch(_, a, b) => vec![*a, *b],
                    End::Table(all) => all.clone(),
                    End::Return => Vec::new(),
                };
                next.sort_unstable();
                next.dedup();
                Block { instructions: range, end, next, before: Vec::new() }
            })
            .collect();
        ordered(&blocks)
    }
}

/// The blocks that can be reached, in reverse post-order.
fn ordered(blocks: &[Block]) -> Graph {
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, tried)) = stack.last_mut() {
        // The way through, that is the later block, is gone first, so that it stands last.
        let next = blocks[*block].next.iter().rev().nth(*tried).copied();
        *tried += 1;
        match next {
            Some(next) if !seen[next] => {
                seen[next] = true;
                stack.push((next, 0));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    let mut place = vec![usize::MAX; blocks.len()];
    for (at, block) in order.iter().enumerate() {
        place[*block] = at;
    }
    let mut ordered: Vec<Block> = order.iter().map(|b| blocks[*b].clone()).collect();
    for at in 0..ordered.len() {
        let block = &mut ordered[at];
        block.next.iter_mut().for_each(|n| *n = place[*n]);
        match &mut block.end {
            End::Goto(a) | End::ReturnIf(_, a) => *a = place[*a],
            End::Branch(_, a, b) => (*a, *b) = (place[*a], place[*b]),
            End::Table(all) => all.iter_mut().for_each(|n| *n = place[*n]),
            End::Return => {}
        }
        for next in block.next.clone() {
            ordered[next].before.push(at);
        }
    }
    Graph { blocks: ordered }
}
