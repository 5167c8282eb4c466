//! Expressions and ranges: what is printed reads back as the same, and lowering keeps the value.

use std::sync::Arc;

use wavecast::expr::{
    Binding, Builtin, Coord, Dim, Environment, Expr, Form, LaunchSizes, LookupTable, LoopId, Names, Scale,
    Scope, evaluate, evaluate_condition, expand_range, lower, lower_condition, lower_fraction,
    parse_expression, parse_range,
};
use wavecast::text::{FileId, Origin, Span};

use super::random::Rng;
use wavecast::space::{Block, Fold, Grid, ItemOffset};

/// Expressions with all that the grammar has.
pub const EXPRESSIONS: &[&str] = &[
    "x",
    "-x + 1",
    "x + y*640 + z*640*512",
    "src[x + r, y, z]",
    "src + (threadIdx.x + blockIdx.x*blockDim.x + 1) + (threadIdx.y + blockIdx.y*blockDim.y)*w",
    "t[x % 4][1]",
    "t[(x + 1) % 4, y % 2]",
    "x/16*256 + x%16",
    "(x + y) / 3 % 5",
    "((x + y) / 3 - 7) / 4",
    "min(max(x - 1, 0), N - 1)",
    "max(x, min(y, z)) % 32",
    "tidx + tidy*blockDim.x*gridDim.x",
    "get_global_id(0) + get_local_id(1)*get_local_size(0) - get_group_id(2)",
    "get_num_groups(1)*get_global_size(2)",
    "x << 3 >> 1",
    "1 << 62",
    "0x1F + 0XffUL + 12ull",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "x % (blockDim.x + 1)",
    "x / (2*blockDim.x)",
    "tidx % blockDim.x / 2",
    "x / blockDim.x / blockDim.y",
    "tidx % (blockDim.x % 7 + 1)",
    "(blockDim.x + blockDim.y)*(gridDim.x + 2)*x",
    "min(blockDim.x, 64)*y",
    "x - (y - (z - 1))",
    "-(-x)",
    "- - -x",
    "+x",
    "!(x < 3)",
    "!!(x == y)",
    "x < 3 && y >= 2 || z != 1",
    "(x < 3 || y < 2) && !(z > 1 && x != y)",
    "(x < 1) < 2",
    "x/3%7 == 2",
    "k*8 + N",
    "(x + 5)/4*4 - x",
    "(a[0])[1]",
    "1..N",
    "0..N-1 step 2",
    "10..0 step -3",
    "pow2(1..1024)",
    "pow2(N..2*N)",
    "-9223372036854775807..9223372036854775807 step 4611686018427387904",
    "(N)..(N)",
    "4",
];

/// An expression made rule by rule from the grammar.
pub fn grown(rng: &mut Rng, depth: usize) -> String {
    const LEAVES: [&str; 26] = [
        "x",
        "y",
        "z",
        "tidx",
        "tidy",
        "N",
        "M",
        "k",
        "r",
        "threadIdx.x",
        "threadIdx.y",
        "blockIdx.x",
        "blockIdx.z",
        "blockDim.x",
        "blockDim.y",
        "gridDim.x",
        "0",
        "1",
        "2",
        "3",
        "7",
        "16",
        "255",
        "9223372036854775807",
        "a",
        "t[1, 0]",
    ];
    if depth == 0 || rng.chance(4) {
        return rng.pick(&LEAVES).to_owned();
    }
    let a = grown(rng, depth - 1);
    let b = if rng.chance(2) { grown(rng, depth - 1) } else { format!("{}", 1 + rng.below(20)) };
    match rng.below(16) {
        0 => format!("({a})"),
        1 => format!("-({a})"),
        2 => format!("min({a}, {b})"),
        3 => format!("max({a}, {b})"),
        4 => format!("t[({a}) % 4, ({b}) % 2]"),
        5 => format!("({a}) % ({b})"),
        6 => format!("({a})/({b})"),
        7 => format!("({a} {} {b})", rng.pick(&["<", "<=", ">", ">=", "==", "!=", "&&", "||"])),
        8 => format!("!({a})"),
        n => format!("{a} {} {b}", ["+", "-", "*", "/", "%", "<<", ">>"][n - 9]),
    }
}
/// A place for names: three axes, numbers, a table, a field, a loop.
struct World {
    table: Arc<LookupTable>,
    at: [i64; 3],
    thread: [i64; 3],
    block: [i64; 3],
    sizes: LaunchSizes,
    k: i64,
}

const EXTENTS: [i64; 3] = [640, 512, 16];

impl World {
    fn new(rng: &mut Rng) -> Self {
        let table = LookupTable::new("t".into(), vec![4, 2], vec![3, -1, 4, -1, 5, -9, 2, 6]);
        let mut below = |n: i64| i64::try_from(rng.next() % n.unsigned_abs()).unwrap();
        let at = EXTENTS.map(&mut below);
        let shape = [32_i64, 8, 4].map(|n| 1 + below(n));
        let thread = [0, 1, 2].map(|d| at[d] % shape[d]);
        let block = [0, 1, 2].map(|d| at[d] / shape[d]);
        let grid = [0, 1, 2].map(|d| EXTENTS[d].div_euclid(shape[d]) + 1);
        let sizes = LaunchSizes { block: Block::new(shape).unwrap(), grid: Grid::new(grid).unwrap() };
        World { table: Arc::new(table), at, thread, block, sizes, k: below(10) }
    }

    /// Coordinates as they are with folding 1.
    fn coord(&self, coord: Coord) -> i64 {
        match coord {
            Coord::Axis(d) | Coord::Thread(d) => self.at[d.index()],
            Coord::ThreadIdx(d) => self.thread[d.index()],
            Coord::BlockIdx(d) => self.block[d.index()],
            Coord::Loop(_) => self.k,
        }
    }
}

impl Environment for World {
    fn name(&self, name: &str) -> Option<i64> {
        match self.resolve(name)? {
            Binding::Value(n) => Some(n),
            Binding::Coord(c) => Some(self.coord(c)),
            Binding::Table(_) | Binding::Field => None,
        }
    }

    fn builtin(&self, builtin: Builtin) -> Option<i64> {
        let LaunchSizes { block, grid } = &self.sizes;
        Some(match builtin {
            Builtin::ThreadIdx(d) => self.coord(Coord::ThreadIdx(d)),
            Builtin::BlockIdx(d) => self.coord(Coord::BlockIdx(d)),
            Builtin::GlobalThread(d) => self.coord(Coord::Thread(d)),
            Builtin::BlockDim(d) => block[d.index()],
            Builtin::GridDim(d) => grid[d.index()],
            Builtin::GlobalSize(d) => block[d.index()] * grid[d.index()],
        })
    }

    fn table(&self, name: &str, indices: &[i64]) -> Option<i64> {
        (name == "t").then(|| self.table.get(indices))?
    }
}

impl Scope for World {
    fn resolve(&self, name: &str) -> Option<Binding> {
        Some(match name {
            "x" => Binding::Coord(Coord::Axis(Dim::X)),
            "y" => Binding::Coord(Coord::Axis(Dim::Y)),
            "z" => Binding::Coord(Coord::Axis(Dim::Z)),
            "k" => Binding::Coord(Coord::Loop(LoopId(0))),
            "N" => Binding::Value(100),
            "M" => Binding::Value(-7),
            "w" => Binding::Value(1 << 40),
            "r" => Binding::Value(1),
            "t" => Binding::Table(self.table.clone()),
            "src" | "a" => Binding::Field,
            _ => return None,
        })
    }

    fn interval(&self, coord: Coord) -> Option<(i64, i64)> {
        match coord {
            Coord::Axis(d) => Some((0, EXTENTS[d.index()] - 1)),
            Coord::Loop(_) => Some((0, 9)),
            Coord::ThreadIdx(_) => Some((0, 31)),
            Coord::Thread(_) | Coord::BlockIdx(_) => None,
        }
    }

    fn known(&self) -> Vec<&str> {
        vec!["x", "y", "z", "N", "t"]
    }
}

fn origin(text: &str) -> Origin {
    Origin::verbatim(Span::new(FileId(0), 0..text.len()))
}

/// Reads an expression or a range.
pub fn run(text: &str, rng: &mut Rng) -> bool {
    let world = World::new(rng);
    if let Ok(range) = parse_range(text, origin(text)) {
        let printed = range.to_string();
        let again = parse_range(&printed, origin(&printed));
        assert_eq!(again.as_ref().map(ToString::to_string), Ok(printed), "printed range of {text:?}");
        let values = expand_range(&range, &world, 1000);
        assert!(values.as_ref().is_ok_and(|v| v.len() <= 1000) || values.is_err());
        assert_eq!(values.ok(), expand_range(&again.unwrap(), &world, 1000).ok());
    }
    let Ok(tree) = parse_expression(text, origin(text)) else { return false };
    let printed = tree.to_string();
    let again = parse_expression(&printed, origin(&printed));
    assert_eq!(again.as_ref().map(ToString::to_string), Ok(printed.clone()), "printed form of {text:?}");
    let again = again.unwrap();
    let direct = evaluate(&tree, &world).ok();
    assert_eq!(direct, evaluate(&again, &world).ok(), "{text:?} printed as {printed:?}");
    let truth = evaluate_condition(&tree, &world).ok();
    assert_eq!(truth, evaluate_condition(&again, &world).ok(), "{text:?} printed as {printed:?}");
    let _ = lower_fraction(&tree, &world).map(|fraction| fraction.at(&world.sizes));
    let names = Names { axes: ["x", "y", "z"].map(str::to_owned).to_vec(), loops: vec!["k".into()] };
    if let Ok(form) = lower(&tree, &world) {
        let value = at_world(&form, &world);
        if let (Some(direct), Some(value)) = (direct, value) {
            assert_eq!(direct, value, "{text:?} lowered to {form:?} at {:?} {:?}", world.at, world.sizes);
        }
        let shown = names.form(&form);
        let reread = reread(&shown, &world).map(|f| at_world(&f, &world));
        if let (Some(value), Some(Some(reread))) = (value, reread) {
            assert_eq!(value, reread, "{text:?} shown as {shown:?}");
        }
    }
    if let Ok(cond) = lower_condition(&tree, &world) {
        let value = cond.fold(Fold::ONE, ItemOffset::ZERO).and_then(|c| c.at(&world.sizes)).ok();
        let value = value.and_then(|c| c.evaluate(&|c| Some(world.coord(c))));
        if let (Some(truth), Some(value)) = (truth, value) {
            assert_eq!(truth, value, "{text:?} lowered to {cond:?} at {:?} {:?}", world.at, world.sizes);
        }
        let _ = names.cond(&cond);
    }
    true
}

fn reread(shown: &str, world: &World) -> Option<Form<Scale>> {
    let tree: Expr = parse_expression(shown, origin(shown)).ok()?;
    lower(&tree, world).ok()
}

fn at_world(form: &Form<Scale>, world: &World) -> Option<i64> {
    let form = form.fold(Fold::ONE, ItemOffset::ZERO).ok()?.at(&world.sizes).ok()?;
    form.evaluate(&|c| Some(world.coord(c)))
}
