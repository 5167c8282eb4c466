//! Each operation on random formulas, against integers of the machine.

use super::arithmetic::{Outcome, arithmetic};
use crate::ptx::syntax::{PtxInstruction, parse};
use crate::ptx::value::{Algebra, BlockAndGrid, Point, Poly};
use crate::random::Random;
use crate::space::{Block, Grid};

fn instruction(text: &str) -> PtxInstruction {
    let text = format!(
        ".version 8.0 .target sm_80 .address_size 64 .entry k() {{ .reg .b64 %r<9>; {text} %r0, %r1, %r2, %r3, %r4; }}"
    );
    parse(&text, Default::default()).unwrap().functions.remove(0).instructions.remove(0)
}

fn bits(value: i128, width: u32, signed: bool) -> i128 {
    let half = if signed { 1_i128 << (width - 1) } else { 0 };
    (value + half).rem_euclid(1 << width) - half
}

/// What the machine makes of operands; none where that is not defined or not expected to be a formula.
fn machine(name: &str, ty: (char, u32), args: &[i128]) -> Option<i128> {
    let (signed, width) = (ty.0 == 's', ty.1);
    let [a, b, c, d] = [args[0], args[1], args[2], args[3]];
    let (x, y) = (bits(a, width, signed), bits(b, width, signed));
    let shift = bits(b, 32, false).min(127);
    Some(match name {
        "add" => x + y,
        "sub" => x - y,
        "mul.lo" => x.wrapping_mul(y),
        "mul.hi" => x.checked_mul(y)? >> width,
        "mul.wide" => x * y,
        "mad.lo" => x.wrapping_mul(y).wrapping_add(c),
        "shl" => {
            if shift >= width.into() {
                0
            } else {
                x << shift
            }
        }
        "shr" => x >> shift,
        "and" => x & y,
        "or" => x | y,
        "xor" => x ^ y,
        "not" => !x,
        "brev" => (bits(a, width, false) << (128 - width)).reverse_bits(),
        "neg" => -x,
        "abs" => bits(a, width, true).abs(),
        "min" => x.min(y),
        "max" => x.max(y),
        "div" if y != 0 => x / y,
        "rem" if y != 0 => x % y,
        "bfe" => {
            let (from, length) = (bits(b, 8, false), bits(c, 8, false));
            if length == 0 {
                return Some(0);
            }
            if from >= width.into() {
                return Some(if signed && x < 0 { -1 } else { 0 });
            }
            let length = length.min(i128::from(width) - from);
            bits(x >> from, u32::try_from(length).unwrap(), signed)
        }
        "bfi" => {
            let (from, length) = (bits(c, 8, false), bits(d, 8, false));
            if from >= width.into() {
                return Some(b);
            }
            let length = length.min((i128::from(width) - from).max(0));
            let mask = ((1_i128 << length) - 1) << from;
            (bits(b, width, false) & !mask) | ((a << from) & mask)
        }
        _ => return None,
    })
}

#[test]
fn formulas_are_what_machines_compute() {
    hold(400, 6, 300);
}

/// Ten million cases of each operation.
#[test]
#[ignore = "takes minutes in release; run it where formulas of instructions changed"]
fn formulas_are_what_machines_compute_in_millions_of_cases() {
    hold(44_000, 64, 200_000);
}

/// Of each operation and type so many formulas, in so many threads each; `least` are compared of each operation.
fn hold(formulas: usize, threads: usize, least: usize) {
    let launch = BlockAndGrid { block: Block::known([96, 3, 1]), grid: Grid::known([1000, 7, 1]) };
    let mut random = Random::new(71);
    let names = [
        "add", "sub", "mul.lo", "mul.hi", "mul.wide", "mad.lo", "shl", "shr", "and", "or", "xor", "not",
        "brev", "neg", "abs", "min", "max", "div", "rem", "bfe", "bfi",
    ];
    let mut said = std::collections::BTreeMap::new();
    for name in names {
        for ty in [('u', 32), ('s', 32), ('u', 64), ('s', 64), ('u', 16), ('s', 16)] {
            if name == "mul.wide" && ty.1 == 64 || matches!(name, "bfe" | "bfi" | "brev") && ty.1 == 16 {
                continue;
            }
            let written = if matches!(name, "and" | "or" | "xor" | "not" | "brev" | "shl" | "bfi") {
                'b'
            } else {
                ty.0
            };
            let ty = if written == 'b' { ('u', ty.1) } else { ty };
            let op = instruction(&format!("{name}.{written}{}", ty.1));
            let result_bits = if name == "mul.wide" { 2 * ty.1 } else { ty.1 };
            for _ in 0..formulas {
                let mut algebra = Algebra::new(launch);
                let args: Vec<Poly> = (0..4).map(|i| formula(&mut algebra, &mut random, name, i)).collect();
                let Outcome::Number(p) = arithmetic(&mut algebra, &op, &args, result_bits) else { continue };
                for _ in 0..threads {
                    let mut pick =
                        |most: i64| i64::try_from(random.position(usize::try_from(most).unwrap())).unwrap();
                    let at = Point {
                        tid: launch.block.map(&mut pick).into(),
                        ctaid: launch.grid.map(&mut pick).into(),
                        counters: Vec::new(),
                    };
                    let values: Vec<i128> = args.iter().map(|p| algebra.value(p, &at)).collect();
                    let Some(expected) = machine(name, ty, &values) else { continue };
                    let found = bits(algebra.value(&p, &at), result_bits, false);
                    let expected = bits(expected, result_bits, false);
                    assert_eq!(found, expected, "{name}.{ty:?} of {values:?} at {at:?}: {args:?} gave {p:?}");
                    *said.entry(name).or_insert(0) += 1;
                }
            }
        }
    }
    println!("{said:?}");
    // Each of them was a formula in a good part of the cases.
    for name in names {
        assert!(said.get(name).is_some_and(|n| *n > least), "{name}: {said:?}");
    }
}

/// A random operand: small numbers where only such are formulas.
fn formula(algebra: &mut Algebra, random: &mut Random, name: &str, position: usize) -> Poly {
    let numbers_only = match name {
        "shl" | "shr" | "div" | "rem" => position == 1,
        "bfe" => position == 1 || position == 2,
        "bfi" => position > 1,
        _ => random.below(3) == 0,
    };
    // Masks with many gaps, too.
    if numbers_only && name == "and" && random.below(2) == 0 {
        return Poly::constant(random.next().into());
    }
    let mut number = |small: bool| -> i128 {
        let raw = random.next();
        match raw % if small { 3 } else { 5 } {
            0 => i128::from(raw >> 60),
            1 => i128::from(raw >> 59) - 16,
            2 => i128::from(raw >> 56),
            3 => i128::from(raw >> 32),
            _ => 1_i128 << (raw >> 59),
        }
    };
    if numbers_only {
        return Poly::constant(number(matches!(name, "shl" | "shr" | "bfe" | "bfi")).abs());
    }
    let parts = [algebra.tid(0), algebra.ctaid(0), algebra.tid(1), algebra.ctaid(1)];
    let mut sum = Poly::constant(number(false));
    for part in parts {
        let times = number(true);
        if times % 3 != 0 {
            sum = sum.plus(&part, times).unwrap();
        }
    }
    sum
}
