//! Instructions and flops of a thread, on average over some threads.

use std::collections::BTreeMap;

use crate::ptx::read::{Event, Fragment, Reader};
use crate::ptx::syntax::{Operand, PtxInstruction, Type};
use crate::ptx::value::{Cond, Point, Poly};
use crate::random::Random;

/// Threads that are asked, those where shares of threads do something, and iterations of each loop.
const THREADS: usize = 24;
const MORE_THREADS: usize = 300;
const ITERATIONS: i128 = 4;

/// What a thread does on average.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::ptx) struct Mix {
    /// Instructions by the words of `work.instructions`.
    pub(super) classes: BTreeMap<&'static str, f64>,
    /// Flops by bits: 16, 32 and 64.
    pub(super) flops: BTreeMap<u32, f64>,
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

/// What threads do, as far as instructions are counted: neighbours under the same condition together.
enum Part<'e> {
    Work(Counts, &'e Cond),
    Loop { counter: usize, last: &'e Poly, body: Vec<Part<'e>> },
}

fn summed<'e>(reader: &Reader<'_>, each: &[Counted], events: &'e [Event]) -> Vec<Part<'e>> {
    let mut parts: Vec<Part<'e>> = Vec::new();
    for event in events {
        match event {
            Event::Work(instructions, cond) => {
                let mut sum = Counts::default();
                for (class, times, bits, flops) in &each[instructions.clone()] {
                    sum[*class] += times;
                    sum[*bits] += flops;
                }
                match parts.last_mut() {
                    Some(Part::Work(before, same)) if *same == cond => add(before, &sum, 1.0),
                    _ => parts.push(Part::Work(sum, cond)),
                }
            }
            Event::Loop { counter, last: Ok(last), body, .. } => {
                let counter = reader.algebra.counter_number(*counter);
                parts.push(Part::Loop { counter, last, body: summed(reader, each, body) });
            }
            Event::Loop { last: Err(_), .. } | Event::Access(_) | Event::Sync => {}
        }
    }
    parts
}

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

/// Counts what threads do.
pub(super) fn mix(reader: &Reader<'_>, events: &[Event], domain: [Option<i64>; 3]) -> Mix {
    let launch = reader.algebra.launch;
    let each: Vec<Counted> = reader.function.instructions.iter().map(counted).collect();
    let parts = summed(reader, &each, events);
    let mut random = Random::new(17);
    let mut sum = Counts::default();
    let threads = if reader.heeded.lines.is_empty() { THREADS } else { MORE_THREADS };
    for _ in 0..threads {
        let mut pick = |most: i64| {
            let one = random.remainder(most.max(1).cast_unsigned().into());
            i64::try_from(one).expect("a remainder is below what it is one of")
        };
        let mut at = Point::default();
        for (d, size) in domain.into_iter().enumerate() {
            // Threads outside of the domain do nothing.
            let thread = pick(size.unwrap_or(launch.block[d] * launch.grid[d]));
            (at.tid[d], at.ctaid[d]) = (thread % launch.block[d], thread / launch.block[d]);
        }
        count(reader, &parts, &mut at, 1.0, &mut sum);
    }
    // Divided once: the mean of equal numbers is that number.
    for n in &mut sum {
        *n /= threads as f64;
    }
    let (classes, flops) = sum.split_at(CLASSES.len());
    Mix {
        classes: CLASSES.into_iter().zip(classes.iter().copied()).filter(|(_, n)| *n > 0.0).collect(),
        flops: BITS.into_iter().zip(flops.iter().copied()).filter(|(_, n)| *n > 0.0).collect(),
    }
}

fn count(reader: &Reader<'_>, parts: &[Part<'_>], at: &mut Point, weight: f64, sum: &mut Counts) {
    for part in parts {
        match part {
            Part::Work(counts, cond) => {
                if reader.algebra.holds(cond, at) {
                    add(sum, counts, weight);
                }
            }
            Part::Loop { counter, last, body } => {
                let last = reader.algebra.value(last, at);
                let asked = (last + 1).min(ITERATIONS);
                if at.counters.len() <= *counter {
                    at.counters.resize(counter + 1, 0);
                }
                for i in 0..asked {
                    // Evenly from the first to the last.
                    at.counters[*counter] = if asked > 1 { last * i / (asked - 1) } else { 0 };
                    count(reader, body, at, weight * (last + 1) as f64 / asked as f64, sum);
                }
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
        "mma" | "wgmma" => ("tensor", 1.0),
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
