//! Random kernels and launches: small, ragged, and of all kinds.

use super::document::{Access, Cond, Document, Expr, Field, Order, Place, Statement, Verb};

/// Splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Another sequence for each number of each seed.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut random = Self(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both included.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next() % (high - low + 1).unsigned_abs()).unwrap()
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: i64) -> bool {
        self.within(1, n) == 1
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap()
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i + 1));
        }
    }
}

/// A kernel with a launch on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub document: Document,
    pub device: &'static str,
    /// A few SMs and a small cache show what large kernels do.
    pub small: bool,
    pub block: [i64; 3],
    pub fold: [i64; 3],
}

pub const DEVICES: [&str; 8] =
    ["a100-40gb", "v100-pcie-32gb", "h200", "mi210", "mi300x", "rx-6900-xt", "gtx-480", "a40"];
const TYPES: [(&str, i64); 7] =
    [("f64", 8), ("f32", 4), ("f64", 8), ("f16", 2), ("u8", 1), ("i32", 4), ("c128", 16)];

pub fn case(random: &mut Random) -> Case {
    let axes = random.pick(&[1, 1, 2, 2, 2, 3, 3]);
    let extents = extents(random, axes);
    let device = random.pick(&DEVICES);
    let block = block(random, axes);
    let mut fold = [1; 3];
    if random.one_in(3) {
        fold[random.below(axes)] = random.within(1, 3);
        fold[random.below(axes)] = random.within(1, 2);
    }
    let small = random.one_in(2);
    let document = Maker { random, extents, variables: Vec::new() }.document();
    Case { document, device, small, block, fold }
}

fn extents(random: &mut Random, axes: usize) -> Vec<i64> {
    let large = random.one_in(40);
    let most: &[i64] = match (axes, large) {
        (1, false) => &[1200],
        (1, true) => &[9000],
        (2, false) => &[60, 20],
        (2, true) => &[200, 60],
        (_, false) => &[36, 8, 5],
        (_, true) => &[70, 20, 12],
    };
    let one = |&most: &i64| {
        let n = random.within(1, most);
        if random.one_in(3) { (n + 15) / 16 * 16 } else { n }
    };
    most.iter().map(one).collect()
}

pub fn block(random: &mut Random, axes: usize) -> [i64; 3] {
    let mut block = [1; 3];
    let mut left = random.pick(&[32, 64, 128, 256, 256, 512]);
    for (d, along) in block.iter_mut().enumerate().take(axes) {
        let most = if d + 1 == axes { left } else { random.pick(&[1, 2, 4, 8, 16, 32, 64, 128]).min(left) };
        *along = if random.one_in(4) { random.within(1, most) } else { most };
        *along = if d == 2 { (*along).min(64) } else { *along };
        left = (left / *along).max(1);
    }
    block
}

struct Maker<'r> {
    random: &'r mut Random,
    extents: Vec<i64>,
    /// Variables in scope by number, with the values they take.
    variables: Vec<(usize, i64)>,
}

impl Maker<'_> {
    fn document(mut self) -> Document {
        let axes = self.extents.len();
        let params =
            vec![("P".to_owned(), self.random.within(1, 5)), ("Q".to_owned(), self.random.within(2, 9))];
        let count = self.random.below(4) + 1;
        let mut fields: Vec<Field> = (0..count).map(|i| self.field(i, axes)).collect();
        for i in 1..fields.len() {
            if !fields[i].shared && self.random.one_in(3) {
                let like = self.random.below(i);
                if fields[like].like.is_none() && !fields[like].shared {
                    let (name, offset) = (fields[i].name.clone(), fields[i].offset);
                    fields[i] = Field { name, offset, like: Some(like), ..fields[like].clone() };
                }
            }
        }
        let lists = self.random.one_in(2);
        let statements = self.random.below(6) + 1;
        let mut next = 0;
        let mut body: Vec<Statement> =
            (0..statements).map(|_| self.statement(&fields, lists, 0, &mut next)).collect();
        if lists {
            body.sort_by_key(|s| match s {
                Statement::Access(a) | Statement::For(_, _, a) => a.verb as usize,
                _ => 3,
            });
        }
        let guard = if self.random.one_in(3) { Some(self.cond(0)) } else { None };
        let written = (0..fields.len()).collect();
        let names = ["x", "y", "z"];
        let axes = names.iter().zip(&self.extents).map(|(n, e)| ((*n).to_owned(), *e)).collect();
        let kernel = "k".to_owned();
        Document { kernel, params, fields, written, axes, guard, body, lists, long: false, flops: 3 }
    }

    fn field(&mut self, number: usize, axes: usize) -> Field {
        let name = ["a", "b", "c", "d"][number].to_owned();
        let (dtype, bytes) = self.random.pick(&TYPES);
        let shared = number > 0 && self.random.one_in(8);
        let order = if self.random.one_in(3) { Order::C } else { Order::F };
        let multiplicity = if self.random.one_in(6) { self.random.within(2, 4) } else { 1 };
        if shared {
            let (shape, halo) = (vec![self.random.within(64, 1200)], vec![0]);
            let offset = 0;
            return Field {
                name,
                dtype,
                bytes,
                shape,
                halo,
                order,
                offset,
                shared,
                multiplicity,
                like: None,
            };
        }
        let mut halo = vec![0; axes];
        if self.random.one_in(2) {
            for h in &mut halo {
                *h = self.random.within(0, 3);
            }
        }
        let padding = if self.random.one_in(3) { self.random.within(0, 20) } else { 0 };
        let mut shape: Vec<i64> = self.extents.iter().zip(&halo).map(|(e, h)| e + 2 * h).collect();
        shape[0] += padding;
        let offset = if self.random.one_in(4) { self.random.within(0, 40) } else { 0 };
        Field { name, dtype, bytes, shape, halo, order, offset, shared, multiplicity, like: None }
    }

    fn statement(&mut self, fields: &[Field], lists: bool, depth: usize, next: &mut usize) -> Statement {
        if !lists && self.random.one_in(12) {
            return Statement::Sync;
        }
        if !lists && depth < 2 && self.random.one_in(5) {
            let (number, from) = (*next, self.random.within(-1, 2));
            let count =
                if self.random.one_in(10) { self.random.within(10, 36) } else { self.random.within(1, 9) };
            let step = self.random.pick(&[1, 1, 1, 2, 3]);
            *next += 1;
            self.variables.push((number, 1));
            let inner = self.random.below(3) + 1;
            let body = (0..inner).map(|_| self.statement(fields, lists, depth + 1, next)).collect();
            self.variables.pop();
            let to = from + step * (count - 1);
            return Statement::Loop(number, Expr::Int(from), Expr::Int(to), step, body);
        }
        if self.random.one_in(5) {
            let number = *next;
            *next += 1;
            self.variables.push((number, 1));
            let access = self.access(fields);
            self.variables.pop();
            let values = self.random.pick(&[&[-1, 1][..], &[0, 1, 2], &[1], &[-2, -1, 1, 2], &[3, 0]]);
            return Statement::For(number, values.to_vec(), access);
        }
        Statement::Access(self.access(fields))
    }

    fn access(&mut self, fields: &[Field]) -> Access {
        let field = self.random.below(fields.len());
        let verb =
            self.random.pick(&[Verb::Load, Verb::Load, Verb::Load, Verb::Store, Verb::Store, Verb::Atomic]);
        let when = if self.random.one_in(7) { Some(self.cond(1)) } else { None };
        let place = self.place(&fields[field]);
        Access { verb, field, place, when }
    }

    fn place(&mut self, field: &Field) -> Place {
        if field.shared {
            let local = Expr::Local(self.random.below(self.extents.len()));
            let factor = self.random.pick(&[1, 1, 2, 3, 8, 32, 33]);
            return Place::Pointer(self.moved(local.times(factor)));
        }
        if !self.random.one_in(3) {
            let index = |maker: &mut Self, d: usize| maker.index(d);
            return Place::Array((0..self.extents.len()).map(|d| index(self, d)).collect());
        }
        let mut sum = Expr::Int(self.random.pick(&[0, 0, 0, 1, 5, 64]));
        let mut pitch = 1;
        for d in 0..self.extents.len() {
            let factor = pitch * self.random.pick(&[1, 1, 1, 1, 2, 3, 0, 7]);
            let index = self.index(d);
            sum = sum.plus(index.times(factor));
            pitch *= self.extents[d] + self.random.pick(&[0, 0, 1, 2, 13]);
        }
        Place::Pointer(sum)
    }

    fn index(&mut self, d: usize) -> Expr {
        let item = Expr::Item(d);
        let n = self.random.within(2, 9);
        let e = match self.random.below(24) {
            0 => item.quotient(n),
            1 => item.remainder(n),
            2 => item.plus(Expr::Int(n)).quotient(2).times(2),
            3 => Expr::Min(Box::new(item.plus(Expr::Int(1))), Box::new(Expr::Int(self.extents[d] - 1))),
            4 => Expr::Max(Box::new(item.minus(Expr::Int(n))), Box::new(Expr::Int(0))),
            5 => Expr::Thread(d, 1),
            6 => Expr::Local(d).plus(Expr::Block(d).times(n)),
            7 => item.times(2),
            8 => Expr::Int(self.extents[d] - 1).minus(item),
            9 => Expr::Item(self.random.below(self.extents.len())),
            10 => Expr::Int(0),
            12 => item.clone().plus(Expr::Entry(Box::new(item))),
            11 => item.plus(Expr::Param(self.random.below(2))),
            _ => item,
        };
        self.moved(e)
    }

    /// The expression, or a neighbour of it.
    fn moved(&mut self, e: Expr) -> Expr {
        match (self.variables.last().copied(), self.random.below(4)) {
            (Some((number, _)), 0 | 1) => {
                let factor = self.random.pick(&[1, 1, 1, 2, 16, 40]);
                e.plus(Expr::Variable(number).times(factor))
            }
            (_, 2) => e.plus(Expr::Int(self.random.within(-2, 3))),
            _ => e,
        }
    }

    pub fn cond(&mut self, depth: usize) -> Cond {
        let d = self.random.below(self.extents.len());
        let extent = self.extents[d];
        let item = Expr::Item(d);
        let some = |random: &mut Random| Expr::Int(random.within(0, extent));
        if depth < 2 && self.random.one_in(3) {
            let (a, b) = (Box::new(self.cond(depth + 1)), Box::new(self.cond(depth + 1)));
            return match self.random.below(4) {
                0 => Cond::Or(a, b),
                1 => Cond::Not(a),
                _ => Cond::And(a, b),
            };
        }
        let n = self.random.within(2, 5);
        match self.random.below(9) {
            0 => Cond::Compare(item, ">", Expr::Int(0)),
            1 => Cond::Compare(item, "<", Expr::Int(extent - 1)),
            2 => Cond::Compare(item.remainder(n), "==", Expr::Int(0)),
            3 => Cond::Compare(item.remainder(n), "!=", Expr::Int(1)),
            4 => {
                let other = self.random.below(self.extents.len());
                let bound = self.random.within(1, extent + self.extents[other]);
                Cond::Compare(item.plus(Expr::Item(other)), "<", Expr::Int(bound))
            }
            5 => Cond::Compare(item.quotient(8).remainder(2), "==", Expr::Int(0)),
            6 => Cond::Compare(Expr::Local(d), "<", Expr::Int(8)),
            7 => Cond::Compare(item, ">=", some(self.random)),
            _ => Cond::Compare(item, "<=", some(self.random)),
        }
    }
}
