//! What somebody who wants a kernel read says about it: values of parameters, blocks, the grid.

use std::collections::BTreeMap;

use super::argument::{self, Argument, Given as Value};
use super::assembled::Assembled;
use super::read::Arguments;
use super::syntax::Function;
use super::value::BlockAndGrid;
use crate::expr::{Builtin, Environment, Expr, Kind, evaluate, parse_expression};
use crate::space::{Block, Grid};
use crate::text::{Diagnostic, Origin, Sources, Span};

/// Arguments of `read`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given {
    /// `NAME=VALUE`, where NAME is a parameter's name or its number from 0; `3+8=VALUE` is the value at byte 8 of a
    /// struct.
    pub args: Vec<String>,
    /// Blocks along x, y, z: `ceil(arg0 / blockDim.x), 1, 1`.
    pub grid: Option<String>,
    /// Thread blocks to read it for.
    pub blocks: Vec<Block>,
    /// The grid of each of `blocks`, where somebody has computed them; then `grid` is left out.
    pub grids: Vec<Grid>,
    /// `LINE=N`: how often the loop runs that has this line of PTX in it.
    pub trips: Vec<String>,
    /// `LINE=P`: how probable it is that the branch in this line of PTX is taken, where data decide.
    pub branch: Vec<String>,
    /// `LINE: ADDRESS`: where the access in this line of PTX goes, where data decide.
    pub assume: Vec<String>,
    /// Registers of a thread, if they are known.
    pub registers: Option<u32>,
    /// What an assembler made of the kernel; its registers count where `registers` says none.
    pub assembled: Option<Assembled>,
    /// What is known of fields.
    pub fields: Vec<KnownField>,
}

/// What somebody knows of the registers of an entry, as in [`Given`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RegistersTold {
    /// How many a thread has.
    pub registers: Option<u32>,
    /// What an assembler made of the entry.
    pub assembled: Option<Assembled>,
}

/// What is known of a field before a kernel is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownField {
    /// Its name.
    pub name: String,
    /// Bytes of an element.
    pub element: u64,
    /// Bytes of all of it.
    pub bytes: u64,
}

/// The values of a function's parameters.
pub(super) fn arguments(function: &Function, given: &Given) -> Result<Arguments, Diagnostic> {
    let mut values = Arguments::default();
    let all = argument::arguments(function, &given.args);
    for Argument { parameter, byte, value } in all.map_err(|e| wrong(e.message, &e.help))? {
        let place = (parameter, byte.map_or(0, i64::from));
        match value {
            // Fractions matter for no address.
            Value::Nothing | Value::Fraction(_) => {}
            Value::Whole(number) => drop(values.numbers.insert(place, number)),
            Value::Pointer(pointer) => drop(values.pointers.insert(place, pointer)),
        }
    }
    values.fields = given.fields.iter().map(|f| (f.name.clone(), (f.element, f.bytes))).collect();
    Ok(values)
}

pub(super) fn wrong(message: String, help: &str) -> Diagnostic {
    Diagnostic::global("ptx-argument", message).help(help)
}

/// How often loops run.
pub(super) fn trips(given: &[String]) -> Result<BTreeMap<u32, i64>, Diagnostic> {
    let mut trips = BTreeMap::new();
    for text in given {
        let parts = text.split_once('=');
        let parts = parts.and_then(|(line, n)| Some((line.trim().parse().ok()?, n.trim().parse().ok()?)));
        match parts {
            Some((line, n)) if n > 0 => trips.insert(line, n),
            _ => {
                let help = "write LINE=N, a line of the loop in the PTX and the number of its iterations";
                return Err(wrong(format!("`{text}` does not say how often a loop runs"), help));
            }
        };
    }
    Ok(trips)
}

/// A grid as somebody wrote it.
#[derive(Debug, Clone)]
pub(super) struct GridText {
    each: Vec<(Expr, String)>,
}

impl GridText {
    /// `ceil(n / blockDim.x), 1`: one expression for each dimension. The texts are kept in `sources`.
    pub fn parse(text: &str, sources: &mut Sources) -> Result<Self, Diagnostic> {
        let mut each = Vec::new();
        for part in split(text) {
            let plain = without_ceil(&part);
            let file = sources.add("--grid", plain.clone());
            let origin = Origin::verbatim(Span::new(file, 0..plain.len()));
            each.push((parse_expression(&plain, origin)?, plain));
        }
        if each.len() > 3 {
            let help = "give one expression for each of x, y, z";
            return Err(wrong(format!("the grid has {} numbers", each.len()), help));
        }
        Ok(Self { each })
    }

    /// The grid for a block.
    pub fn at(&self, block: Block, function: &Function, values: &Arguments) -> Result<Grid, Diagnostic> {
        let names = Names { block, function, values };
        let mut grid = [1; 3];
        for (size, (expr, text)) in grid.iter_mut().zip(&self.each) {
            *size = evaluate(expr, &names)?;
            if !(1..=1 << 31).contains(size) {
                let [x, y, z] = *block;
                let message = format!("`{text}` is {size} blocks for blocks of {x} x {y} x {z}");
                return Err(
                    Diagnostic::error("ptx-grid", expr.span, message).help("a grid has 1 to 2^31 blocks")
                );
            }
        }
        Ok(Grid::known(grid))
    }

    /// The expressions with numbers in the place of parameters, as documents have them.
    pub fn texts(&self, function: &Function, values: &Arguments) -> Vec<String> {
        let names = Names { block: Block::ONE, function, values };
        self.each.iter().map(|(expr, _)| numbers(expr, &names).to_string()).collect()
    }
}

/// The expression with numbers in the place of names.
fn numbers(expr: &Expr, names: &Names<'_>) -> Expr {
    let again = |e: &Expr| numbers(e, names);
    let kind = match &expr.kind {
        Kind::Name(name) => names.name(name).map_or_else(|| expr.kind.clone(), Kind::Int),
        Kind::Call(f, a, b) => Kind::Call(*f, Box::new(again(a)), Box::new(again(b))),
        Kind::Neg(a) => Kind::Neg(Box::new(again(a))),
        Kind::Not(a) => Kind::Not(Box::new(again(a))),
        Kind::Chain(first, links) => {
            let links = links.iter().map(|(op, e)| (*op, again(e))).collect();
            Kind::Chain(Box::new(again(first)), links)
        }
        other => other.clone(),
    };
    Expr { kind, span: expr.span }
}

struct Names<'a> {
    block: Block,
    function: &'a Function,
    values: &'a Arguments,
}

impl Environment for Names<'_> {
    fn name(&self, name: &str) -> Option<i64> {
        let by_number = name.strip_prefix("arg").and_then(|n| n.parse().ok());
        let number = self.function.params.iter().position(|p| p.name == name).or(by_number)?;
        i64::try_from(*self.values.numbers.get(&(number, 0))?).ok()
    }

    fn builtin(&self, builtin: Builtin) -> Option<i64> {
        match builtin {
            Builtin::BlockDim(dim) => Some(self.block[dim.index()]),
            _ => None,
        }
    }

    fn table(&self, _: &str, _: &[i64]) -> Option<i64> {
        None
    }

    fn known(&self) -> Vec<&str> {
        self.function.params.iter().map(|p| p.name.as_str()).collect()
    }
}

/// Parts between commas that stand in no brackets.
fn split(text: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0_i32, vec![String::new()]);
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts
}

/// `ceil(a / b)` as `((a) + (b) - 1) / (b)`, which the grammar knows.
fn without_ceil(text: &str) -> String {
    let Some(at) = text.find("ceil(") else { return text.to_owned() };
    let start = at + "ceil(".len();
    let (mut depth, mut slash, mut end) = (1, None, None);
    for (i, c) in text[start..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '/' if depth == 1 => slash = Some(start + i),
            _ => {}
        }
        if depth == 0 {
            end = Some(start + i);
            break;
        }
    }
    let (Some(slash), Some(end)) = (slash, end) else { return text.to_owned() };
    let (a, b) = (text[start..slash].trim(), text[slash + 1..end].trim());
    let rest = without_ceil(&text[end + 1..]);
    without_ceil(&format!("{}((({a}) + ({b}) - 1) / ({b}))", &text[..at])) + &rest
}

/// The launches to read a kernel for: each block with its grid.
pub(super) fn launches(
    blocks: &[Block],
    grid: impl Fn(Block) -> Result<Grid, Diagnostic>,
) -> Result<Vec<BlockAndGrid>, Diagnostic> {
    blocks.iter().map(|block| Ok(BlockAndGrid { block: *block, grid: grid(*block)? })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_are_written_out() {
        assert_eq!(without_ceil("ceil(n / blockDim.x)"), "(((n) + (blockDim.x) - 1) / (blockDim.x))");
        assert_eq!(without_ceil("2*ceil((a/b) / c) + 1"), "2*((((a/b)) + (c) - 1) / (c)) + 1");
        assert_eq!(split("ceil(n, 2), 1"), ["ceil(n, 2)", " 1"]);
    }
}
