//! Instructions and flops of a thread, on average over all of them.

use std::collections::BTreeMap;

use super::groups::AroundLoop;
use super::often::Often;
use crate::ptx::read::{Event, Fragment, Reader, copies_nothing};
use crate::ptx::syntax::{Operand, PtxInstruction, Type};
use crate::ptx::value::Cond;

/// What a thread does on average.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ptx) struct Mix {
    /// Instructions by the words of `work.instructions`.
    pub(super) classes: BTreeMap<&'static str, f64>,
    /// Flops by bits: 16, 32 and 64.
    pub(super) flops: BTreeMap<u32, f64>,
    /// Whether that is counted, and not only estimated from threads and iterations at random.
    pub exact: bool,
}

impl Mix {
    /// Instructions by class.
    pub fn by_class(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.classes.iter().map(|(name, n)| (*name, *n))
    }
}

/// Words of `work.instructions`.
pub(super) const CLASSES: [&str; 11] =
    ["fp64", "fp32", "fp16", "tensor", "int", "special", "convert", "control", "shared", "global", "local"];
/// Bits of the numbers that flops are counted for.
const BITS: [u32; 3] = [16, 32, 64];

/// Instructions by the position of their class, and behind them flops by that of their bits.
type Counts = [f64; CLASSES.len() + BITS.len()];

/// What one instruction is: its class and how many the machine has for it, bits of its numbers and flops.
type Counted = (usize, f64, usize, f64);

fn counted(instruction: &PtxInstruction) -> Counted {
    let (name, times) = class(instruction);
    let (bits, flops) = flops(instruction).unwrap_or((BITS[0], 0.0));
    let class = CLASSES.iter().position(|known| *known == name).expect("classes are those of the list");
    // Numbers of other sizes have no place.
    let (bits, flops) = BITS.iter().position(|known| *known == bits).map_or((0, 0.0), |at| (at, flops));
    (class, times, CLASSES.len() + bits, flops)
}

fn add(to: &mut Counts, counts: &Counts, times: f64) {
    for (sum, n) in to.iter_mut().zip(counts) {
        *sum += times * n;
    }
}

/// Counts what threads do. `always` holds for all threads of the domain.
pub(super) fn mix(reader: &Reader<'_>, events: &[Event], domain: [Option<i64>; 3], always: &[Cond]) -> Mix {
    let each: Vec<Counted> = reader.function.instructions.iter().map(counted).collect();
    let mut adding =
        Adding { reader, each, often: Often::new(&reader.algebra, domain, always), sum: Counts::default() };
    adding.all(events, &mut Vec::new());
    let (classes, flops) = adding.sum.split_at(CLASSES.len());
    Mix {
        classes: CLASSES.into_iter().zip(classes.iter().copied()).filter(|(_, n)| *n > 0.0).collect(),
        flops: BITS.into_iter().zip(flops.iter().copied()).filter(|(_, n)| *n > 0.0).collect(),
        exact: adding.often.exact,
    }
}

/// Adding up what a thread does on average.
struct Adding<'r, 'a> {
    reader: &'r Reader<'a>,
    each: Vec<Counted>,
    often: Often<'r>,
    sum: Counts,
}

impl Adding<'_, '_> {
    /// Adds what stands in these loops.
    fn all<'e>(&mut self, events: &'e [Event], loops: &mut Vec<AroundLoop<'e>>) {
        for event in events {
            match event {
                Event::Work(instructions, cond) => {
                    let mut counts = Counts::default();
                    for (class, times, bits, flops) in &self.each[instructions.clone()] {
                        counts[*class] += times;
                        counts[*bits] += flops;
                    }
                    add(&mut self.sum, &counts, self.often.times(cond, loops));
                }
                Event::Loop { counter, last: Ok(last), body, .. } => {
                    let counter = self.reader.algebra.counter_number(*counter);
                    loops.push(self.often.around(counter, last));
                    self.all(body, loops);
                    loops.pop();
                }
                Event::Loop { last: Err(_), .. } | Event::Access(_) | Event::Sync => {}
            }
        }
    }
}

/// The class of an instruction, and how many the machine has for it.
fn class(instruction: &PtxInstruction) -> (&'static str, f64) {
    let name = instruction.name.as_str();
    let ty = instruction.ty();
    let float = ty.filter(|t| t.kind == 'f');
    let any_float = instruction.modifiers.iter().filter_map(|m| Type::named(m)).any(|t| t.kind == 'f');
    match name {
        "cp" if copies_nothing(instruction) => ("control", 1.0),
        "ld" | "ldu" | "st" | "atom" | "red" | "cp" | "ldmatrix" | "stmatrix" => {
            if instruction.has("param") || instruction.has("const") {
                ("int", 0.0)
            } else if name.ends_with("matrix")
                || instruction.modifiers.first().is_some_and(|m| m.starts_with("shared"))
            {
                ("shared", 1.0)
            } else if instruction.has("local") {
                ("local", 1.0)
            } else {
                ("global", 1.0)
            }
        }
        "mma" => ("tensor", 1.0),
        "wgmma" => (if instruction.has("mma_async") { "tensor" } else { "control" }, 1.0),
        "wmma" if instruction.has("mma") => ("tensor", 1.0),
        "wmma" => {
            let accesses = Fragment::touched_by(instruction).map_or(1, |fragment| fragment.accesses());
            let shared = instruction.modifiers.iter().any(|m| m.starts_with("shared"));
            (if shared { "shared" } else { "global" }, accesses as f64)
        }
        "bra" | "brx" | "ret" | "exit" | "bar" | "barrier" | "vote" | "call" | "trap" => ("control", 1.0),
        "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => ("special", 1.0),
        "div" if float.is_some() => ("special", 1.0),
        "cvt" if any_float => ("convert", 1.0),
        // Names of values, which compilers make nothing of.
        "cvta" => ("int", 0.0),
        "mov" => {
            ("int", if matches!(instruction.operands.get(1), Some(Operand::Special(_))) { 1.0 } else { 0.0 })
        }
        _ => match float {
            Some(Type { bits: 64, .. }) if !instruction.has("f32x2") => ("fp64", 1.0),
            Some(Type { bits: 16, .. }) => ("fp16", 1.0),
            Some(_) if instruction.has("f16x2") || instruction.has("bf16x2") => ("fp16", 1.0),
            Some(_) => ("fp32", 1.0),
            // Sums of 64 bits are made of two.
            None if ty.is_some_and(|t| t.bits == 64) && matches!(name, "add" | "sub") => ("int", 2.0),
            None => ("int", 1.0),
        },
    }
}

/// Bits of the numbers, and the flops of an instruction.
fn flops(instruction: &PtxInstruction) -> Option<(u32, f64)> {
    let ty = instruction.ty().filter(|t| t.kind == 'f')?;
    let operations = match instruction.name.as_str() {
        "add" | "sub" | "mul" | "div" | "sqrt" | "rcp" | "rsqrt" | "min" | "max" => 1.0,
        "fma" | "mad" => 2.0,
        _ => return None,
    };
    let packed = instruction.modifiers.iter().any(|m| m.ends_with("x2"));
    Some(if packed { (ty.bits / 2, 2.0 * operations) } else { (ty.bits, operations) })
}
