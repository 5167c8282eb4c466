//! The launches that a kernel is read for: its blocks, and their grids.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::given::Given;
use super::read::Arguments;
use super::syntax::{Function, Module, Operand, Param, Special, StateSpace, Variable};
use super::value::BlockAndGrid;
use crate::space::{Block, Grid};
use crate::text::Diagnostic;

/// The dimensions along which a kernel asks for blocks.
pub(super) fn blocks_asked_for(function: &Function) -> [bool; 3] {
    let mut used = [false; 3];
    for operand in function.instructions.iter().flat_map(|i| &i.operands) {
        if let Operand::Special(Special::Ctaid(dim)) = operand {
            used[dim.index()] = true;
        }
    }
    used
}

/// The largest grid that bounds of threads are looked for in.
pub(super) fn largest(block: Block, used: [bool; 3]) -> BlockAndGrid {
    let most = block.map(|b| ((1_i64 << 30) / b).max(1));
    let grid = [most[0], most[1].min(65535), most[2].min(65535)];
    BlockAndGrid { block, grid: Grid::known([0, 1, 2].map(|d| if used[d] { grid[d] } else { 1 })) }
}

/// Each block with the grid that somebody has computed for it.
pub(super) fn computed(
    blocks: &[Block],
    grids: &[Grid],
    function: &Function,
) -> Result<Vec<BlockAndGrid>, Diagnostic> {
    if blocks.len() != grids.len() {
        let message = format!("there are {} grids for {} blocks", grids.len(), blocks.len());
        return Err(
            Diagnostic::error("ptx-grid", function.span, message).help("give one grid for each block")
        );
    }
    let pairs = blocks.iter().zip(grids);
    Ok(pairs.map(|(block, grid)| BlockAndGrid { block: *block, grid: *grid }).collect())
}

/// Why the grid does not follow: a number that is missing, one that lets no thread do anything, or there is no bound.
pub(super) fn no_grid(
    function: &Function,
    axis: char,
    values: &Arguments,
    missing: &BTreeSet<usize>,
) -> Diagnostic {
    let mut message =
        format!("how many blocks there are along {axis} does not follow from entry `{}`", function.name);
    let number = |(at, param): (usize, &Param)| {
        (param.count.is_none() && param.element.kind != 'f' && param.element.bits <= 32).then_some(at)
    };
    let size = missing.first().copied().or_else(|| values.numbers.keys().next().map(|key| key.0));
    let size = size.or_else(|| function.params.iter().enumerate().find_map(number));
    let example = size.map_or("--grid 64".to_owned(), |at| {
        format!("--grid 'ceil(arg{at} / blockDim.{axis})' for the parameter {at}")
    });
    let mut help = format!(
        "give the grid, as in {example}, with all its --arg values; a document says it with `launch.grid`, or with \
         `domain`"
    );
    if !missing.is_empty() {
        let names = missing.iter().map(|at| format!("the parameter {at}, `{}`", function.params[*at].name));
        let names = names.collect::<Vec<_>>().join(", and ");
        let which = if missing.len() == 1 { "which has no value" } else { "which have no values" };
        let _ = write!(message, ": its conditions ask for {names}, {which}");
        let given = missing.iter().map(|at| format!("--arg {at}=VALUE")).collect::<Vec<_>>().join(" ");
        return Diagnostic::error("ptx-grid", function.span, message)
            .help(format!("give {given}; or {help}"));
    }
    // A number of 32 bits from 2^31 on is negative where it is compared as a signed one.
    let nobody =
        |number: usize, n: i128| n <= 0 || (function.params[number].element.bits == 32 && n >= 1 << 31);
    if let Some(((number, _), n)) = values.numbers.iter().find(|((number, _), n)| nobody(*number, **n)) {
        let _ =
            write!(message, ": the parameter {number} is {n}; if it is a bound, there is no thread below it");
        help = format!("is {n} right? give the parameter {number} the number of its work items; {help}");
    }
    Diagnostic::error("ptx-grid", function.span, message).help(help)
}

/// The only block that an entry runs with, if it says so.
pub(super) fn required_block(function: &Function) -> Result<Option<Block>, Diagnostic> {
    let block = function.required_block.map(|b| Block::new(b.map(i64::from))).transpose();
    block.map_err(|why| Diagnostic::error("ptx-block", function.span, format!("`.reqntid`: {why}")))
}

/// The blocks to read a kernel for.
pub(super) fn blocks(function: &Function, module: &Module, given: &Given) -> Result<Vec<Block>, Diagnostic> {
    if let Some(required) = required_block(function)? {
        if let Some(other) = given.blocks.iter().find(|b| **b != required) {
            let message =
                format!("entry `{}` runs with blocks of {required:?} only, not {other:?}", function.name);
            return Err(Diagnostic::error("ptx-block", function.span, message)
                .help("`.reqntid` says so; leave --block out, or compile for another block"));
        }
        return Ok(vec![required]);
    }
    let most = most_threads(function);
    if !given.blocks.is_empty() {
        if let Some(large) = given.blocks.iter().find(|b| b.volume() > most) {
            let message = format!("blocks of {large:?} have more than {most} threads");
            return Err(Diagnostic::error("ptx-block", function.span, message)
                .help("`.maxntid` of the entry, or the machine, allows no more"));
        }
        return Ok(given.blocks.clone());
    }
    if has_fixed_arrays(function, module) {
        return Err(fixed_arrays(function, None));
    }
    Ok(usual(function))
}

/// Whether there are shared arrays of fixed size.
pub(super) fn has_fixed_arrays(function: &Function, module: &Module) -> bool {
    let fixed = |v: &Variable| v.space == StateSpace::Shared && v.count.is_some();
    function.variables.iter().chain(&module.variables).any(fixed)
}

/// That somebody has to say which blocks fit the shared arrays, and why that is not seen.
pub(super) fn fixed_arrays(function: &Function, why: Option<String>) -> Diagnostic {
    let mut message =
        format!("entry `{}` has shared arrays of fixed size, which fit some blocks only", function.name);
    if let Some(why) = why {
        let _ = write!(message, ": {why}");
    }
    Diagnostic::error("ptx-block", function.span, message)
        .help("say which: --block X,Y,Z (repeatable), --read-block of commands that have no such option, or `launch.block` of a document")
}

/// The blocks that kernels are usually launched with: powers of two.
pub(super) fn usual(function: &Function) -> Vec<Block> {
    let most = most_threads(function);
    let dims = dimensions(function);
    let powers = |most: i64| (0..11).map(|e| 1_i64 << e).filter(move |n| *n <= most);
    let mut all = Vec::new();
    for z in powers(if dims[2] { 64 } else { 1 }) {
        for y in powers(if dims[1] { 1024 } else { 1 }) {
            for x in powers(1024) {
                let threads = x * y * z;
                if (64..=most.min(1024)).contains(&threads) {
                    all.push(Block::known([x, y, z]));
                }
            }
        }
    }
    if all.is_empty() {
        all.push(Block::known([most, 1, 1]));
    }
    all
}

/// The most threads that a block may have.
fn most_threads(function: &Function) -> i64 {
    function.largest_block.map_or(1024, |b| b.iter().map(|n| i64::from(*n)).product())
}

/// The dimensions along which the kernel asks for threads.
pub(super) fn dimensions(function: &Function) -> [bool; 3] {
    let mut used = [true, false, false];
    for operand in function.instructions.iter().flat_map(|i| &i.operands) {
        if let Operand::Special(Special::Tid(dim)) = operand {
            used[dim.index()] = true;
        }
    }
    used
}
