//! An expression means the same however it is handled: printed and read again, lowered to a
//! quasi-affine form and put into a launch, or shown from that form; and where a number leaves 64 bits
//! there is an error, never a panic and never another number.

mod oracle;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use oracle::{E, Values, conditions, forms, wild};
use proptest::prelude::*;
use wavecast::expr::{
    Binding, Builtin, Cond, Coord, Dim, Environment, Expr, Form, LaunchSizes, LookupTable, LoopId, Names,
    Scale, Scope, evaluate, evaluate_condition, lower, lower_condition, parse_expression,
};
use wavecast::space::{Block, Fold, Grid};
use wavecast::text::{Diagnostic, FileId, Origin, Span};

const TABLE: [i64; 8] = [3, -1, 4, -1, 5, -9, 2, 6];

fn parse(text: &str) -> Result<Expr, Diagnostic> {
    parse_expression(text, Origin::verbatim(Span::new(FileId(0), 0..text.len())))
}

/// A result that must be good, or what is wrong with which text.
fn good<T>(result: Result<T, Diagnostic>, text: &str) -> Result<T, TestCaseError> {
    result.map_err(|d| TestCaseError::fail(format!("{text}: {}", d.message)))
}

/// A work item of a launch: where it stands and all sizes.
#[derive(Debug, Clone)]
struct Place {
    extents: [i64; 3],
    fold: [i64; 3],
    sizes: LaunchSizes,
    /// The work item.
    item: [i64; 3],
    /// A loop variable between -3 and 9.
    k: i64,
    /// Whether threads are known to lie inside the domain.
    follow: bool,
}

impl Place {
    fn thread(&self, d: usize) -> i64 {
        self.item[d] / self.fold[d]
    }

    fn offset(&self) -> [i64; 3] {
        [0, 1, 2].map(|d| self.item[d] % self.fold[d])
    }

    fn coord(&self, coord: Coord) -> i64 {
        match coord {
            Coord::Axis(d) => self.item[d.index()],
            Coord::Thread(d) => self.thread(d.index()),
            Coord::ThreadIdx(d) => self.thread(d.index()) % self.sizes.block[d.index()],
            Coord::BlockIdx(d) => self.thread(d.index()) / self.sizes.block[d.index()],
            Coord::Loop(_) => self.k,
        }
    }

    fn values(&self) -> Values {
        let mut names = HashMap::from([("N", 100), ("M", -7), ("k", i128::from(self.k))]);
        let spellings = [
            (["x", "y", "z"], 0),
            (["tidx", "get_global_id(1)", "tidz"], 1),
            (["threadIdx.x", "threadIdx.y", "get_local_id(2)"], 2),
            (["blockIdx.x", "get_group_id(1)", "blockIdx.z"], 3),
            (["blockDim.x", "get_local_size(1)", "blockDim.z"], 4),
            (["gridDim.x", "gridDim.y", "get_num_groups(2)"], 5),
        ];
        for (spelling, kind) in spellings {
            for (dim, name) in Dim::ALL.into_iter().zip(spelling) {
                let value = match kind {
                    0 => self.coord(Coord::Axis(dim)),
                    1 => self.coord(Coord::Thread(dim)),
                    2 => self.coord(Coord::ThreadIdx(dim)),
                    3 => self.coord(Coord::BlockIdx(dim)),
                    4 => self.sizes.block[dim.index()],
                    _ => self.sizes.grid[dim.index()],
                };
                names.insert(name, i128::from(value));
            }
        }
        Values { names, tables: Rc::new(HashMap::from([("t", (vec![4, 2], TABLE.to_vec()))])) }
    }

    /// The value of a form for this work item; nothing if it leaves 64 bits on the way.
    fn of_form(&self, form: &Form<Scale>) -> Option<i64> {
        let form =
            form.fold(Fold::new(self.fold).unwrap(), self.offset().into()).ok()?.at(&self.sizes).ok()?;
        form.evaluate(&|c| self.placed(c))
    }

    fn of_cond(&self, cond: &Cond<Scale>) -> Option<bool> {
        let cond =
            cond.fold(Fold::new(self.fold).unwrap(), self.offset().into()).ok()?.at(&self.sizes).ok()?;
        cond.evaluate(&|c| self.placed(c))
    }

    /// The coordinates that are left when folding and launch are put in.
    fn placed(&self, coord: Coord) -> Option<i64> {
        (!matches!(coord, Coord::Axis(_) | Coord::Thread(_))).then(|| self.coord(coord))
    }
}

impl Environment for Place {
    fn name(&self, name: &str) -> Option<i64> {
        match self.resolve(name)? {
            Binding::Value(n) => Some(n),
            Binding::Coord(c) => Some(self.coord(c)),
            Binding::Table(_) | Binding::Field => None,
        }
    }

    fn builtin(&self, builtin: Builtin) -> Option<i64> {
        Some(match builtin {
            Builtin::ThreadIdx(d) => self.coord(Coord::ThreadIdx(d)),
            Builtin::BlockIdx(d) => self.coord(Coord::BlockIdx(d)),
            Builtin::GlobalThread(d) => self.coord(Coord::Thread(d)),
            Builtin::BlockDim(d) => self.sizes.block[d.index()],
            Builtin::GridDim(d) => self.sizes.grid[d.index()],
            Builtin::GlobalSize(d) => self.sizes.block[d.index()] * self.sizes.grid[d.index()],
        })
    }

    fn table(&self, name: &str, indices: &[i64]) -> Option<i64> {
        let table = LookupTable::new("t".into(), vec![4, 2], TABLE.to_vec());
        (name == "t").then(|| table.get(indices))?
    }
}

impl Scope for Place {
    fn resolve(&self, name: &str) -> Option<Binding> {
        Some(match name {
            "x" => Binding::Coord(Coord::Axis(Dim::X)),
            "y" => Binding::Coord(Coord::Axis(Dim::Y)),
            "z" => Binding::Coord(Coord::Axis(Dim::Z)),
            "k" => Binding::Coord(Coord::Loop(LoopId(0))),
            "N" => Binding::Value(100),
            "M" => Binding::Value(-7),
            "t" => Binding::Table(Arc::new(LookupTable::new("t".into(), vec![4, 2], TABLE.to_vec()))),
            _ => return None,
        })
    }

    fn interval(&self, coord: Coord) -> Option<(i64, i64)> {
        match coord {
            Coord::Axis(d) => Some((0, self.extents[d.index()] - 1)),
            Coord::Thread(d) | Coord::BlockIdx(d) => self.follow.then(|| (0, self.extents[d.index()] - 1)),
            Coord::ThreadIdx(_) => Some((0, 65_535)),
            Coord::Loop(_) => Some((-3, 9)),
        }
    }

    fn known(&self) -> Vec<&str> {
        Vec::new()
    }
}

fn places() -> impl Strategy<Value = Place> {
    let extents = || [1_i64..40, 1_i64..12, 1_i64..5];
    let fold = [1_i64..5, 1_i64..4, 1_i64..3];
    let block = [1_i64..9, 1_i64..5, 1_i64..4];
    (extents(), fold, block, [any::<u16>(), any::<u16>(), any::<u16>()], -3_i64..10, any::<bool>()).prop_map(
        |(extents, fold, block, at, k, follow)| {
            let item = [0, 1, 2].map(|d| i64::from(at[d]) % extents[d]);
            let grid = [0, 1, 2].map(|d| 1 + (extents[d] - 1) / (block[d] * fold[d]));
            Place {
                extents,
                fold,
                sizes: LaunchSizes { block: Block::new(block).unwrap(), grid: Grid::new(grid).unwrap() },
                item,
                k,
                follow,
            }
        },
    )
}

fn names() -> oracle::Names {
    oracle::Names {
        coordinates: vec![
            "x",
            "y",
            "z",
            "x",
            "y",
            "tidx",
            "get_global_id(1)",
            "threadIdx.x",
            "threadIdx.y",
            "get_local_id(2)",
            "blockIdx.x",
            "get_group_id(1)",
            "blockIdx.z",
            "k",
        ],
        sizes: vec!["blockDim.x", "get_local_size(1)", "gridDim.x", "get_num_groups(2)"],
        numbers: vec!["N", "M"],
        tables: vec![("t", vec![4, 2])],
    }
}

fn shown() -> Names {
    Names { axes: ["x", "y", "z"].map(str::to_owned).to_vec(), loops: vec!["k".into()] }
}

#[test]
fn operators_bind_as_in_c_and_divide_downwards() {
    let place = Place {
        extents: [10; 3],
        fold: [1; 3],
        sizes: LaunchSizes { block: Block::ONE, grid: Grid::new([10; 3]).unwrap() },
        item: [5, 3, 2],
        k: 0,
        follow: true,
    };
    for (text, value) in [
        ("7 - 2 - 1", 4),
        ("100/7/2", 7),
        ("100/(7/2)", 33),
        ("2 + 3*4", 14),
        ("2 + 3 << 1", 10),
        ("1 << 2 + 1", 8),
        ("100 >> 2 >> 1", 12),
        ("-7/2", -4),
        ("-7%2", 1),
        ("-(7/2)", -3),
        ("- -3", 3),
        ("N*k%7", 0),
        ("N%7*x", 10),
        ("min(x, y - z) - max(0x10, 2UL)", -15),
        ("t[1][0] + t[3, 1]", 10),
    ] {
        assert_eq!(evaluate(&parse(text).unwrap(), &place).unwrap(), value, "{text}");
        assert_eq!(place.of_form(&lower(&parse(text).unwrap(), &place).unwrap()), Some(value), "{text}");
    }
    for (text, value) in [
        ("1 < 2 || 3 < 2 && 5 < 4", true),
        ("(1 < 2 || 3 < 2) && 5 < 4", false),
        ("x + 1 < y << 1", false),
        ("!(x == 5) || y != 3", false),
        ("!!(x == 5)", true),
    ] {
        assert_eq!(evaluate_condition(&parse(text).unwrap(), &place).unwrap(), value, "{text}");
        assert_eq!(
            place.of_cond(&lower_condition(&parse(text).unwrap(), &place).unwrap()),
            Some(value),
            "{text}"
        );
    }
}

proptest! {
    #![proptest_config(oracle::cases(4_000))]

    #[test]
    fn printing_keeps_the_meaning(e in forms(&names(), 4), place in places()) {
        let text = e.to_string();
        let tree = good(parse(&text), &text)?;
        let printed = tree.to_string();
        let again = good(parse(&printed), &printed)?;
        prop_assert_eq!(again.to_string(), printed);
        let value = e.value(&place.values());
        prop_assert_eq!(evaluate(&tree, &place).ok().map(i128::from), value);
        prop_assert_eq!(evaluate(&again, &place).ok().map(i128::from), value);
    }

    #[test]
    fn printing_keeps_the_truth(p in conditions(&names(), 3), place in places()) {
        let text = p.to_string();
        let tree = good(parse(&text), &text)?;
        let printed = tree.to_string();
        let again = good(parse(&printed), &printed)?;
        prop_assert_eq!(again.to_string(), printed);
        let truth = p.value(&place.values());
        prop_assert_eq!(evaluate_condition(&tree, &place).ok(), truth);
        prop_assert_eq!(evaluate_condition(&again, &place).ok(), truth);
    }

    #[test]
    fn lowering_keeps_the_value(e in forms(&names(), 4), place in places()) {
        let text = e.to_string();
        let form = good(lower(&parse(&text).unwrap(), &place), &text)?;
        prop_assert_eq!(place.of_form(&form).map(i128::from), e.value(&place.values()), "{} is {:?}", text, form);
    }

    #[test]
    fn lowering_keeps_the_truth(p in conditions(&names(), 3), place in places()) {
        let text = p.to_string();
        let cond = good(lower_condition(&parse(&text).unwrap(), &place), &text)?;
        prop_assert_eq!(place.of_cond(&cond), p.value(&place.values()), "{} is {:?}", text, cond);
    }

    /// An interval holds every value that occurs.
    #[test]
    fn intervals_hold_the_values(e in forms(&names(), 3), place in places()) {
        let Ok(form) = lower(&parse(&e.to_string()).unwrap(), &place) else { return Ok(()) };
        if let (Some((low, high)), Some(value)) = (form.interval(&|c| place.interval(c)), place.of_form(&form)) {
            prop_assert!(low <= value && value <= high, "{} is {} in {}..{}", e, value, low, high);
        }
    }

    #[test]
    fn a_shown_form_reads_back(e in forms(&names(), 4), place in places()) {
        let text = e.to_string();
        let form = good(lower(&parse(&text).unwrap(), &place), &text)?;
        let value = e.value(&place.values());
        let general = shown().form(&form);
        let tree = good(parse(&general), &general)?;
        prop_assert_eq!(evaluate(&tree, &place).ok().map(i128::from), value, "{} shown as {}", text, general);
        // A remainder of launch sizes is shown as a difference, which as an index says nothing of its bounds.
        match lower(&tree, &place) {
            Ok(again) => {
                prop_assert_eq!(place.of_form(&again).map(i128::from), value, "{} shown as {}", text, general);
            }
            Err(refusal) => prop_assert_eq!(refusal.code, "table-index", "{} shown as {}", text, general),
        }
        // With folding and launch put in.
        let placed = form.fold(Fold::new(place.fold).unwrap(), place.offset().into()).unwrap().at(&place.sizes).unwrap();
        let special = shown().form(&placed);
        let tree = good(parse(&special), &special)?;
        prop_assert_eq!(evaluate(&tree, &place).ok().map(i128::from), value, "{} shown as {}", text, special);
    }

    #[test]
    fn a_shown_condition_reads_back(p in conditions(&names(), 2), place in places()) {
        let text = p.to_string();
        let cond = good(lower_condition(&parse(&text).unwrap(), &place), &text)?;
        let general = shown().cond(&cond);
        let tree = good(parse(&general), &general)?;
        let truth = p.value(&place.values());
        prop_assert_eq!(evaluate_condition(&tree, &place).ok(), truth, "{} shown as {}", text, general);
    }

    /// Numbers of any size: a value is the exact one or there is none.
    #[test]
    fn overflow_is_no_value(e in wild(&names()), place in places()) {
        never_wrong(&e, &place)?;
    }

    /// The same with numbers just at the limits in expressions that the lowering takes.
    #[test]
    fn overflow_in_forms_is_no_value(e in forms(&names(), 3), factor in any::<i64>(), shift in any::<i64>(), place in places()) {
        let scaled = |e: &E| E::Binary(oracle::Op::Mul, Box::new(e.clone()), Box::new(E::Int(factor)));
        let shifted = |e: &E| E::Binary(oracle::Op::Add, Box::new(e.clone()), Box::new(E::Int(shift)));
        let divided = |e: &E| E::Binary(oracle::Op::Div, Box::new(e.clone()), Box::new(E::Int(shift.max(1))));
        let rest = |e: &E| E::Binary(oracle::Op::Rem, Box::new(e.clone()), Box::new(E::Int(factor.max(1))));
        for e in [scaled(&e), shifted(&e), shifted(&scaled(&e)), divided(&scaled(&e)), rest(&shifted(&e)), divided(&rest(&e))] {
            never_wrong(&e, &place)?;
        }
    }
}

fn never_wrong(e: &E, place: &Place) -> Result<(), TestCaseError> {
    let text = e.to_string();
    let tree = good(parse(&text), &text)?;
    let exact = e.value(&place.values());
    if let Ok(value) = evaluate(&tree, place) {
        prop_assert_eq!(Some(i128::from(value)), exact, "{}", text);
    }
    let Ok(form) = lower(&tree, place) else { return Ok(()) };
    let value = place.of_form(&form);
    // Where the expression itself has no value, dividing by what is not positive, a form may have one.
    if let (Some(value), Some(exact)) = (value, exact) {
        prop_assert_eq!(i128::from(value), exact, "{} is {:?}", text, form);
    }
    let general = shown().form(&form);
    let tree = good(parse(&general), &general)?;
    if let (Ok(again), Some(value)) = (evaluate(&tree, place), value) {
        prop_assert_eq!(again, value, "{} shown as {}", text, general);
    }
    Ok(())
}
