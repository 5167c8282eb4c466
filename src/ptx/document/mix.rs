//! Instructions and flops of a thread, on average over some threads.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::ptx::read::{Event, Reader};
use crate::ptx::syntax::{Instruction, Operand, Type};
use crate::ptx::value::Point;
use crate::random::Random;

/// Threads that are asked, and iterations of each loop.
const THREADS: usize = 24;
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
pub(super) const CLASSES: [&str; 10] =
    ["fp64", "fp32", "fp16", "tensor", "int", "special", "convert", "control", "shared", "global"];
/// Bits of the numbers that flops are counted for.
const BITS: [u32; 3] = [16, 32, 64];

/// Instructions by the position of their class, and behind them flops by that of their bits.
type Counts = [f64; CLASSES.len() + BITS.len()];

/// What the instructions of a function do, summed up from the first one: threads are asked often.
struct Sums(Vec<Counts>);

impl Sums {
    fn new(instructions: &[Instruction]) -> Self {
        let mut sum = Counts::default();
        let mut sums = vec![sum];
        for instruction in instructions {
            let (name, times) = class(instruction);
            for (at, known) in CLASSES.iter().enumerate() {
                sum[at] += if *known == name { times } else { 0.0 };
            }
            let (bits, flops) = flops(instruction).unwrap_or((0, 0.0));
            for (at, known) in BITS.iter().enumerate() {
                sum[CLASSES.len() + at] += if *known == bits { flops } else { 0.0 };
            }
            sums.push(sum);
        }
        Self(sums)
    }

    /// Adds what some instructions do, so often.
    fn add(&self, instructions: &Range<usize>, times: f64, to: &mut Counts) {
        let (before, after) = (&self.0[instructions.start], &self.0[instructions.end]);
        for (sum, (before, after)) in to.iter_mut().zip(before.iter().zip(after)) {
            *sum += times * (after - before);
        }
    }
}

/// Counts what threads do.
pub(super) fn mix(reader: &Reader<'_>, events: &[Event], domain: [Option<i64>; 3]) -> Mix {
    let launch = reader.algebra.launch;
    let sums = Sums::new(&reader.function.instructions);
    let mut random = Random::new(17);
    let mut counts = Counts::default();
    let share = 1.0 / THREADS as f64;
    for _ in 0..THREADS {
        let mut pick =
            |most: i64| i64::try_from(random.remainder(most.max(1).cast_unsigned().into())).unwrap_or(0);
        let mut at = Point::default();
        for (d, size) in domain.into_iter().enumerate() {
            // Threads outside of the domain do nothing.
            let thread = pick(size.unwrap_or(launch.block[d] * launch.grid[d]));
            (at.tid[d], at.ctaid[d]) = (thread % launch.block[d], thread / launch.block[d]);
        }
        count(reader, &sums, events, &mut at, share, &mut counts);
    }
    let (classes, flops) = counts.split_at(CLASSES.len());
    Mix {
        classes: CLASSES.into_iter().zip(classes.iter().copied()).filter(|(_, n)| *n > 0.0).collect(),
        flops: BITS.into_iter().zip(flops.iter().copied()).filter(|(_, n)| *n > 0.0).collect(),
    }
}

fn count(
    reader: &Reader<'_>,
    sums: &Sums,
    events: &[Event],
    at: &mut Point,
    weight: f64,
    counts: &mut Counts,
) {
    for event in events {
        match event {
            Event::Work(instructions, cond) if reader.algebra.holds(cond, at) => {
                sums.add(instructions, weight, counts);
            }
            Event::Loop { counter, last: Ok(last), body, .. } => {
                let last = reader.algebra.value(last, at);
                let asked = (last + 1).min(ITERATIONS);
                let number = reader.algebra.counter_number(*counter);
                if at.counters.len() <= number {
                    at.counters.resize(number + 1, 0);
                }
                for i in 0..asked {
                    // Evenly from the first to the last.
                    at.counters[number] = if asked > 1 { last * i / (asked - 1) } else { 0 };
                    count(reader, sums, body, at, weight * (last + 1) as f64 / asked as f64, counts);
                }
            }
            _ => {}
        }
    }
}

/// The class of an instruction, and how many the machine has for it.
fn class(instruction: &Instruction) -> (&'static str, f64) {
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
            } else {
                ("global", 1.0)
            }
        }
        "mma" | "wgmma" => ("tensor", 1.0),
        "wmma" if instruction.has("mma") => ("tensor", 1.0),
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
fn flops(instruction: &Instruction) -> Option<(u32, f64)> {
    let ty = instruction.ty().filter(|t| t.kind == 'f')?;
    let operations = match instruction.name.as_str() {
        "add" | "sub" | "mul" | "div" | "sqrt" | "rcp" | "rsqrt" | "min" | "max" => 1.0,
        "fma" | "mad" => 2.0,
        _ => return None,
    };
    let packed = instruction.modifiers.iter().any(|m| m.ends_with("x2"));
    Some(if packed { (ty.bits / 2, 2.0 * operations) } else { (ty.bits, operations) })
}
