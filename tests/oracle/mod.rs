//! Expressions as a test knows them: trees that write themselves as text, are evaluated without any
//! code of the crate, in 128 bits, and are made at random.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use proptest::prelude::*;

/// How many cases are tried: few where the build is slow, or as many as `PROPTEST_CASES` says.
pub fn cases(release: u32) -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    let default = if cfg!(debug_assertions) { release / 4 } else { release };
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(given.unwrap_or(default)) }
}

/// An operator of two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Min,
    Max,
}

/// A number.
#[derive(Debug, Clone)]
pub enum E {
    Int(i64),
    Name(&'static str),
    Neg(Box<E>),
    Binary(Op, Box<E>, Box<E>),
    /// An entry of a table.
    Entry(&'static str, Vec<E>),
}

/// A comparison.
#[derive(Debug, Clone, Copy)]
pub enum Compare {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// A condition.
#[derive(Debug, Clone)]
pub enum P {
    Compare(Compare, E, E),
    Not(Box<P>),
    And(Box<P>, Box<P>),
    Or(Box<P>, Box<P>),
}

impl fmt::Display for E {
    /// With parentheses around everything, so that no precedence is needed to read it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            E::Int(n) if *n == i64::MIN => write!(f, "(-9223372036854775807 - 1)"),
            E::Int(n) if *n < 0 => write!(f, "(-{})", n.unsigned_abs()),
            E::Int(n) if n % 7 == 6 => write!(f, "{n:#x}"),
            E::Int(n) => write!(f, "{n}"),
            E::Name(name) => write!(f, "{name}"),
            E::Neg(e) => write!(f, "(-({e}))"),
            E::Binary(Op::Min, a, b) => write!(f, "min({a}, {b})"),
            E::Binary(Op::Max, a, b) => write!(f, "max({a}, {b})"),
            E::Binary(op, a, b) => {
                let symbol = match op {
                    Op::Add => "+",
                    Op::Sub => "-",
                    Op::Mul => "*",
                    Op::Div => "/",
                    Op::Rem => "%",
                    Op::Shl => "<<",
                    Op::Shr => ">>",
                    Op::Min | Op::Max => unreachable!(),
                };
                write!(f, "({a} {symbol} {b})")
            }
            E::Entry(table, indices) => {
                write!(f, "{table}")?;
                indices.iter().try_for_each(|i| write!(f, "[{i}]"))
            }
        }
    }
}

impl fmt::Display for P {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            P::Compare(op, a, b) => {
                let symbol = match op {
                    Compare::Lt => "<",
                    Compare::Le => "<=",
                    Compare::Gt => ">",
                    Compare::Ge => ">=",
                    Compare::Eq => "==",
                    Compare::Ne => "!=",
                };
                write!(f, "({a} {symbol} {b})")
            }
            P::Not(p) => write!(f, "!{p}"),
            P::And(a, b) => write!(f, "({a} && {b})"),
            P::Or(a, b) => write!(f, "({a} || {b})"),
        }
    }
}

/// A table: its extents and its entries, the last index fastest.
pub type Table = (Vec<i128>, Vec<i64>);

/// What names stand for.
#[derive(Debug, Clone, Default)]
pub struct Values {
    pub names: HashMap<&'static str, i128>,
    pub tables: Rc<HashMap<&'static str, Table>>,
}

impl E {
    /// The exact value; nothing where there is none (a divisor that is not positive, an entry that
    /// does not exist) or where 128 bits do not hold it.
    pub fn value(&self, of: &Values) -> Option<i128> {
        Some(match self {
            E::Int(n) => i128::from(*n),
            E::Name(name) => of.names[name],
            E::Neg(e) => e.value(of)?.checked_neg()?,
            E::Entry(table, indices) => {
                let (shape, entries) = &of.tables[table];
                let mut at = 0;
                for (index, extent) in indices.iter().zip(shape) {
                    let index = index.value(of).filter(|i| (0..*extent).contains(i))?;
                    at = at * extent + index;
                }
                i128::from(entries[usize::try_from(at).unwrap()])
            }
            E::Binary(op, a, b) => {
                let (a, b) = (a.value(of)?, b.value(of)?);
                let power = || u32::try_from(b).ok().filter(|b| *b <= 62).map(|b| 1_i128 << b);
                // The largest integer that is not larger, whatever the signs.
                let quotient = |b: i128| (b > 0).then(|| (a - ((a % b) + b) % b) / b);
                match op {
                    Op::Add => a.checked_add(b)?,
                    Op::Sub => a.checked_sub(b)?,
                    Op::Mul => a.checked_mul(b)?,
                    Op::Div => quotient(b)?,
                    Op::Rem => a - quotient(b)? * b,
                    Op::Shl => a.checked_mul(power()?)?,
                    Op::Shr => quotient(power()?)?,
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                }
            }
        })
    }

    /// Whether a name for which `test` holds occurs.
    pub fn mentions(&self, test: &dyn Fn(&str) -> bool) -> bool {
        match self {
            E::Int(_) => false,
            E::Name(name) => test(name),
            E::Neg(e) => e.mentions(test),
            E::Binary(_, a, b) => a.mentions(test) || b.mentions(test),
            E::Entry(_, indices) => indices.iter().any(|i| i.mentions(test)),
        }
    }
}

impl P {
    /// The truth, where all numbers in it have a value.
    pub fn value(&self, of: &Values) -> Option<bool> {
        Some(match self {
            P::Compare(op, a, b) => {
                let (a, b) = (a.value(of)?, b.value(of)?);
                match op {
                    Compare::Lt => a < b,
                    Compare::Le => a <= b,
                    Compare::Gt => a > b,
                    Compare::Ge => a >= b,
                    Compare::Eq => a == b,
                    Compare::Ne => a != b,
                }
            }
            P::Not(p) => !p.value(of)?,
            P::And(a, b) => a.value(of)? & b.value(of)?,
            P::Or(a, b) => a.value(of)? | b.value(of)?,
        })
    }

    /// Whether a name for which `test` holds occurs.
    pub fn mentions(&self, test: &dyn Fn(&str) -> bool) -> bool {
        match self {
            P::Compare(_, a, b) => a.mentions(test) || b.mentions(test),
            P::Not(p) => p.mentions(test),
            P::And(a, b) | P::Or(a, b) => a.mentions(test) || b.mentions(test),
        }
    }
}

fn binary(op: Op, a: E, b: E) -> E {
    E::Binary(op, Box::new(a), Box::new(b))
}

/// The names of which expressions are made.
#[derive(Debug, Clone)]
pub struct Names {
    /// Differ between threads.
    pub coordinates: Vec<&'static str>,
    /// Are the same for all threads of a launch, and positive.
    pub sizes: Vec<&'static str>,
    /// Are numbers.
    pub numbers: Vec<&'static str>,
    /// A table and its extents.
    pub tables: Vec<(&'static str, Vec<i64>)>,
}

fn name(of: &[&'static str]) -> BoxedStrategy<E> {
    proptest::sample::select(of.to_vec()).prop_map(E::Name).boxed()
}

fn integer(range: std::ops::Range<i64>) -> BoxedStrategy<E> {
    range.prop_map(E::Int).boxed()
}

/// The same in every thread.
fn constants(names: &Names, depth: u32) -> BoxedStrategy<E> {
    let mut leaves = vec![(3, integer(-9..20))];
    if !names.numbers.is_empty() {
        leaves.push((1, name(&names.numbers)));
    }
    if !names.sizes.is_empty() {
        leaves.push((2, name(&names.sizes)));
    }
    let leaf = proptest::strategy::Union::new_weighted(leaves).boxed();
    if depth == 0 {
        return leaf;
    }
    let below = constants(names, depth - 1);
    let below = || below.clone();
    let operator = proptest::sample::select(vec![Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max]);
    let divided = proptest::sample::select(vec![Op::Div, Op::Rem]);
    prop_oneof![
        4 => leaf,
        2 => (operator, below(), below()).prop_map(|(op, a, b)| binary(op, a, b)),
        1 => (divided, below(), positives(names, depth - 1)).prop_map(|(op, a, b)| binary(op, a, b)),
        1 => below().prop_map(|e| E::Neg(Box::new(e))),
    ]
    .boxed()
}

/// The same in every thread, and positive in every launch.
fn positives(names: &Names, depth: u32) -> BoxedStrategy<E> {
    let number = integer(1..20);
    let leaf = if names.sizes.is_empty() {
        number
    } else {
        prop_oneof![4 => number, 1 => name(&names.sizes)].boxed()
    };
    if depth == 0 {
        return leaf;
    }
    let below = positives(names, depth - 1);
    let below = || below.clone();
    let operator = proptest::sample::select(vec![Op::Add, Op::Mul, Op::Min, Op::Max]);
    prop_oneof![
        5 => leaf,
        1 => (operator, below(), below()).prop_map(|(op, a, b)| binary(op, a, b)),
        1 => (below(), constants(names, depth - 1)).prop_map(|(a, b)| binary(Op::Max, a, b)),
    ]
    .boxed()
}

/// What the crate takes: sums of coordinates times constants, and quotients, remainders, shifts,
/// minima, maxima and table entries of such. `depth` bounds the nesting.
pub fn forms(names: &Names, depth: u32) -> BoxedStrategy<E> {
    let leaf = prop_oneof![4 => name(&names.coordinates), 1 => constants(names, 1)].boxed();
    if depth == 0 {
        return leaf;
    }
    let below = forms(names, depth - 1);
    let below = || below.clone();
    let constant = constants(names, depth.min(2) - 1);
    let constant = || constant.clone();
    let positive = || positives(names, depth.min(2) - 1);
    let sum = proptest::sample::select(vec![Op::Add, Op::Sub]);
    let choice = proptest::sample::select(vec![Op::Min, Op::Max]);
    let divided = proptest::sample::select(vec![Op::Div, Op::Rem]);
    let shift = proptest::sample::select(vec![Op::Shl, Op::Shr]);
    let mut kinds = vec![
        (2, leaf),
        (4, (sum, below(), below()).prop_map(|(op, a, b)| binary(op, a, b)).boxed()),
        (2, (below(), constant()).prop_map(|(a, b)| binary(Op::Mul, a, b)).boxed()),
        (1, (constant(), below()).prop_map(|(a, b)| binary(Op::Mul, a, b)).boxed()),
        (4, (divided, below(), positive()).prop_map(|(op, a, b)| binary(op, a, b)).boxed()),
        (1, (shift, below(), integer(0..5)).prop_map(|(op, a, b)| binary(op, a, b)).boxed()),
        (1, (choice, below(), below()).prop_map(|(op, a, b)| binary(op, a, b)).boxed()),
        (1, below().prop_map(|e| E::Neg(Box::new(e))).boxed()),
    ];
    for (table, extents) in &names.tables {
        let table = *table;
        let inside = |extent: &i64| {
            let extent = E::Int(*extent);
            below().prop_map(move |e| binary(Op::Rem, e, extent.clone())).boxed()
        };
        let indices: Vec<BoxedStrategy<E>> = extents.iter().map(inside).collect();
        kinds.push((1, indices.prop_map(move |indices| E::Entry(table, indices)).boxed()));
    }
    proptest::strategy::Union::new_weighted(kinds).boxed()
}

/// Conditions over such expressions.
pub fn conditions(names: &Names, depth: u32) -> BoxedStrategy<P> {
    let compare = proptest::sample::select(vec![
        Compare::Lt,
        Compare::Le,
        Compare::Gt,
        Compare::Ge,
        Compare::Eq,
        Compare::Ne,
    ]);
    let number = forms(names, 2);
    let number = || number.clone();
    let leaf = (compare, number(), number()).prop_map(|(op, a, b)| P::Compare(op, a, b)).boxed();
    if depth == 0 {
        return leaf;
    }
    let below = conditions(names, depth - 1);
    let below = || below.clone();
    prop_oneof![
        3 => leaf,
        1 => below().prop_map(|p| P::Not(Box::new(p))),
        1 => (below(), below()).prop_map(|(a, b)| P::And(Box::new(a), Box::new(b))),
        1 => (below(), below()).prop_map(|(a, b)| P::Or(Box::new(a), Box::new(b))),
    ]
    .boxed()
}

/// Anything that can be written, with numbers as large as they come.
pub fn wild(names: &Names) -> BoxedStrategy<E> {
    let large = prop_oneof![
        -3_i64..4,
        Just(i64::MAX),
        Just(i64::MIN),
        Just(i64::MAX - 1),
        (0_u32..63).prop_map(|b| 1_i64 << b),
        (0_u32..63).prop_map(|b| -(1_i64 << b)),
        any::<i64>(),
    ];
    let all: Vec<&'static str> =
        names.coordinates.iter().chain(&names.sizes).chain(&names.numbers).copied().collect();
    let leaf = prop_oneof![large.prop_map(E::Int), name(&all)].boxed();
    let tables = names.tables.clone();
    leaf.prop_recursive(5, 24, 2, move |below| {
        let operator = proptest::sample::select(vec![
            Op::Add,
            Op::Sub,
            Op::Mul,
            Op::Div,
            Op::Rem,
            Op::Shl,
            Op::Shr,
            Op::Min,
            Op::Max,
        ]);
        let mut kinds = vec![
            (8, (operator, below.clone(), below.clone()).prop_map(|(op, a, b)| binary(op, a, b)).boxed()),
            (1, below.clone().prop_map(|e| E::Neg(Box::new(e))).boxed()),
        ];
        for (table, extents) in &tables {
            let table = *table;
            let indices = proptest::collection::vec(below.clone(), extents.len());
            kinds.push((1, indices.prop_map(move |indices| E::Entry(table, indices)).boxed()));
        }
        proptest::strategy::Union::new_weighted(kinds).boxed()
    })
    .boxed()
}
