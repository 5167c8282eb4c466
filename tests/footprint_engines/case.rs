//! Random cases in a notation of their own, and the naive count of their lines: neither forms nor
//! engines of the library take part in it.

use std::collections::HashSet;

use wavecast::expr::{Cond, Coord, Dim, Form};
use wavecast::footprint::{Piece, Query};

use super::random::Random;

const COORDS: [Coord; 3] = [Coord::ThreadIdx(Dim::X), Coord::Thread(Dim::Y), Coord::BlockIdx(Dim::Z)];

/// factors . point + constant
#[derive(Debug, Clone, Copy)]
struct Linear {
    factors: [i64; 3],
    constant: i64,
}

impl Linear {
    fn at(&self, point: [i64; 3]) -> i64 {
        self.constant + (0..3).map(|d| self.factors[d] * point[d]).sum::<i64>()
    }

    fn form(&self) -> Form<i64> {
        (0..3).fold(Form::int(self.constant), |sum, d| {
            sum.plus(&Form::coord(COORDS[d]).times(&self.factors[d]).unwrap()).unwrap()
        })
    }
}

/// scale * (inner / modulus) or scale * (inner % modulus), rounded down
#[derive(Debug, Clone, Copy)]
struct Quotient {
    scale: i64,
    inner: Linear,
    modulus: i64,
    remainder: bool,
}

impl Quotient {
    fn at(&self, point: [i64; 3]) -> i64 {
        let value = self.inner.at(point);
        self.scale
            * if self.remainder { value.rem_euclid(self.modulus) } else { value.div_euclid(self.modulus) }
    }

    fn form(&self) -> Form<i64> {
        let inner = self.inner.form();
        let term =
            if self.remainder { inner.remainder(&self.modulus) } else { inner.floor_div(&self.modulus) };
        term.unwrap().times(&self.scale).unwrap()
    }
}

#[derive(Debug, Clone, Copy)]
enum When {
    Always,
    /// linear >= 0
    AtLeast(Linear),
    /// One of two.
    Either(Linear, Linear),
    /// linear % modulus == 0
    Multiple(Linear, i64),
}

impl When {
    fn at(&self, point: [i64; 3]) -> bool {
        match self {
            When::Always => true,
            When::AtLeast(a) => a.at(point) >= 0,
            When::Either(a, b) => a.at(point) >= 0 || b.at(point) >= 0,
            When::Multiple(a, modulus) => a.at(point).rem_euclid(*modulus) == 0,
        }
    }

    fn cond(&self) -> Option<Cond<i64>> {
        match self {
            When::Always => None,
            When::AtLeast(a) => Some(Cond::non_negative(a.form())),
            When::Either(a, b) => {
                Some(Cond::any(vec![Cond::non_negative(a.form()), Cond::non_negative(b.form())]))
            }
            When::Multiple(a, modulus) => Some(Cond::zero(a.form().remainder(modulus).unwrap())),
        }
    }
}

type Ranges = [[i64; 2]; 3];

/// One access of all boxes.
#[derive(Debug, Clone)]
struct Access {
    array: usize,
    address: Linear,
    width: i64,
}

/// Boxes of points under accesses.
#[derive(Debug, Clone)]
pub struct Case {
    line: i64,
    boxes: Vec<Ranges>,
    accesses: Vec<Access>,
    /// Added to every address.
    quotients: Vec<Quotient>,
    when: When,
}

/// How large cases become.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Most points of a case, over all boxes and accesses.
    pub points: i64,
    /// Most boxes.
    pub boxes: i64,
    /// Most accesses.
    pub accesses: i64,
}

impl Case {
    /// Accesses as arrays have them: nested strides, with odd pitches, padding, folds.
    pub fn affine(random: &mut Random, size: Size) -> Self {
        let dimensions = usize::try_from(random.within(1, 3)).unwrap();
        let element = random.pick(&[1, 2, 4, 8, 8, 16, 3, 12]);
        let strides = strides(random, dimensions, element);
        let boxes: Vec<Ranges> = (0..random.within(1, size.boxes))
            .map(|_| random_box(random, dimensions, size.points / size.boxes))
            .collect();
        let cells: i64 = boxes.iter().map(|b| b.iter().map(|r| r[1] - r[0] + 1).product::<i64>()).sum();
        let many = if random.one_in(4) { size.accesses } else { size.accesses.min(6) };
        let count = random.within(1, many).min(size.points * 4 / cells).max(1);
        let width = if random.one_in(5) { random.within(1, 40) } else { element };
        let base = random.within(-200, 200);
        let arrays = if random.one_in(5) { 2 } else { 1 };
        // A thread does `fold` work items along one dimension.
        let (folded, fold) = (random.within(0, 2), if random.one_in(4) { random.within(2, 4) } else { 1 });
        let folded = usize::try_from(folded).unwrap();
        let mut accesses = Vec::new();
        for _ in 0..count {
            let array = usize::try_from(random.within(0, arrays - 1)).unwrap();
            let shift: i64 = (0..3).map(|d| strides[d] * random.within(-3, 3)).sum();
            let odd = if random.one_in(10) { random.within(-50, 50) } else { 0 };
            for item in 0..fold {
                let mut factors = strides;
                factors[folded] *= fold;
                let constant = base + shift + odd + item * strides[folded];
                accesses.push(Access { array, address: Linear { factors, constant }, width });
            }
        }
        accesses.truncate(usize::try_from(size.accesses).unwrap());
        let line = random.pick(&[32, 64, 128]);
        Self { line, boxes, accesses, quotients: Vec::new(), when: When::Always }
    }

    /// The same with quotients and remainders in the addresses, and sometimes a condition.
    pub fn quasi_affine(random: &mut Random, size: Size) -> Self {
        let mut case = Self::affine(random, size);
        for _ in 0..random.within(1, 2) {
            let inner = random_linear(random, 3);
            let (scale, modulus) = (random.within(-80, 80), random.within(2, 20));
            case.quotients.push(Quotient { scale, inner, modulus, remainder: random.one_in(2) });
        }
        case.when = match random.within(0, 8) {
            0 | 1 => When::AtLeast(random_linear(random, 2)),
            2 => When::Either(random_linear(random, 2), random_linear(random, 2)),
            3 => When::Multiple(random_linear(random, 1), random.within(2, 5)),
            _ => When::Always,
        };
        case
    }

    /// What the library is asked.
    pub fn query(&self) -> Query {
        let extra = self.quotients.iter().fold(Form::int(0), |sum, q| sum.plus(&q.form()).unwrap());
        let mut pieces = Vec::new();
        for access in &self.accesses {
            let address = access.address.form().plus(&extra).unwrap();
            for ranges in &self.boxes {
                let ranges = (0..3).map(|d| (COORDS[d], ranges[d][0], ranges[d][1])).collect();
                let (array, when, width) = (access.array, self.when.cond(), access.width);
                pieces.push(Piece { array, ranges, when, address: address.clone().into(), width });
            }
        }
        Query { pieces, line: self.line }
    }

    /// Every byte of every point put into a set of lines.
    pub fn naive(&self) -> u128 {
        let mut lines = HashSet::new();
        for [xs, ys, zs] in &self.boxes {
            for z in zs[0]..=zs[1] {
                for y in ys[0]..=ys[1] {
                    for x in xs[0]..=xs[1] {
                        if self.when.at([x, y, z]) {
                            self.touch([x, y, z], &mut lines);
                        }
                    }
                }
            }
        }
        lines.len() as u128
    }

    fn touch(&self, point: [i64; 3], lines: &mut HashSet<(usize, i64)>) {
        let extra: i64 = self.quotients.iter().map(|q| q.at(point)).sum();
        for access in &self.accesses {
            let first = access.address.at(point) + extra;
            let (from, to) = (first.div_euclid(self.line), (first + access.width - 1).div_euclid(self.line));
            lines.extend((from..=to).map(|l| (access.array, l)));
        }
    }
}

fn strides(random: &mut Random, dimensions: usize, element: i64) -> [i64; 3] {
    let step = if random.one_in(3) { random.within(1, 64) } else { 1 };
    let (pitch, height) = (random.within(1, 70), random.within(1, 20));
    let mut strides = [element * step, element * pitch, element * pitch * height];
    if random.one_in(10) {
        // Strides that do not nest, as no array has them.
        strides = [0; 3].map(|_| random.within(0, 300));
    }
    for stride in &mut strides {
        if random.one_in(8) {
            *stride = -*stride;
        }
    }
    strides[dimensions..].fill(0);
    strides
}

fn random_box(random: &mut Random, dimensions: usize, points: i64) -> Ranges {
    let mut left = random.within(1, points);
    let mut ranges = [[0, 0]; 3];
    for range in &mut ranges[..dimensions] {
        let extent = random.within(1, left.clamp(1, 64));
        left /= extent;
        let from = random.within(-20, 40);
        *range = [from, from + extent - 1];
    }
    ranges
}

/// One or two coordinates and a constant.
fn random_linear(random: &mut Random, most: i64) -> Linear {
    let mut factors = [0; 3];
    factors[usize::try_from(random.within(0, 2)).unwrap()] = random.within(1, most);
    if random.one_in(3) {
        factors[usize::try_from(random.within(0, 2)).unwrap()] += random.within(-2, 1);
    }
    Linear { factors, constant: random.within(-20, 40) }
}
