//! What may be changed about a kernel without changing its prediction.

use super::compare::reach;
use super::document::{Access, Cond, Document, Expr, Order, Place, Statement, Verb};
use super::random::{Case, Random, block};

/// How a prediction is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    Predict,
    /// With other launches beside it, on so many threads.
    Rank {
        others: Vec<([i64; 3], [i64; 3])>,
        threads: usize,
    },
}

/// Two ways to say the same.
#[derive(Debug, Clone)]
pub struct Pair {
    pub left: Case,
    pub right: Case,
    pub method: Method,
    /// The field of the left kernel that each field of the right one is, if not the same.
    pub fields: Option<Vec<usize>>,
    /// The whole time may differ; volumes and all other terms of the time may not.
    pub may_wait: bool,
}

impl Pair {
    fn of(left: Case, right: Case) -> Option<Self> {
        (left != right).then_some(Self {
            left,
            right,
            method: Method::Predict,
            fields: None,
            may_wait: false,
        })
    }
}

/// A relation: a case becomes a pair, or nothing where the relation says nothing.
pub type Relation = fn(&Case, &mut Random) -> Option<Pair>;

pub const RELATIONS: [(&str, Relation); 23] = [
    ("rename", rename),
    ("permute-fields", permute_fields),
    ("permute-accesses", permute_accesses),
    ("permute-in-loops", permute_in_loops),
    ("translate-far", translate_far),
    ("translate-near", translate_near),
    ("thread-for-item", thread_for_item),
    ("some-thread-for-item", some_thread_for_item),
    ("algebra", algebra),
    ("conditions", conditions),
    ("parameters", parameters),
    ("split-guard", split_guard),
    ("true-guard", true_guard),
    ("hidden-true-guard", hidden_true_guard),
    ("true-when", true_when),
    ("body-form", body_form),
    ("order", order),
    ("one-iteration", one_iteration),
    ("unrolled", unrolled),
    ("spelt-out", spelt_out),
    ("keys", keys),
    ("copies", copies),
    ("rank", rank),
];

fn changed(case: &Case, change: impl FnOnce(&mut Document)) -> Option<Pair> {
    let mut right = case.clone();
    change(&mut right.document);
    Pair::of(case.clone(), right)
}

fn rename(case: &Case, random: &mut Random) -> Option<Pair> {
    changed(case, |d| {
        let prefix = random.pick(&["zz", "A", "_q"]);
        d.kernel = format!("{prefix}kernel");
        let others = d.axes.iter_mut().chain(&mut d.params).map(|p| &mut p.0);
        for name in d.fields.iter_mut().map(|f| &mut f.name).chain(others) {
            *name = format!("{prefix}_{name}");
        }
    })
}

fn permute_fields(case: &Case, random: &mut Random) -> Option<Pair> {
    // A field cannot be like one that... it can: names are known everywhere.
    changed(case, |d| random.shuffle(&mut d.written))
}

fn permute_accesses(case: &Case, random: &mut Random) -> Option<Pair> {
    changed(case, |d| swap_some(&mut d.body, random, Moves::Waits, false))
}

/// A store in a loop waits for what the iteration loaded before it (docs/model.md, section 6): which loads that are
/// changes for how long a thread waits and nothing else.
fn permute_in_loops(case: &Case, random: &mut Random) -> Option<Pair> {
    let pair = changed(case, |d| swap_some(&mut d.body, random, Moves::All, false))?;
    Some(Pair { may_wait: true, ..pair })
}

/// What may change places.
#[derive(Clone, Copy)]
enum Moves {
    /// Loads and stores of two fields.
    All,
    /// The same, but a load in a loop stays on its side of a store.
    Waits,
}

fn swap_some(body: &mut [Statement], random: &mut Random, moves: Moves, in_loop: bool) {
    let only_alike = in_loop && matches!(moves, Moves::Waits);
    for _ in 0..3 * body.len() {
        let i = random.below(body.len().saturating_sub(1));
        if let Some([a, b]) = body.get_mut(i..i + 2)
            && commute(a, b, only_alike)
        {
            std::mem::swap(a, b);
        }
    }
    for statement in body {
        if let Statement::Loop(_, _, _, _, inner) = statement {
            swap_some(inner, random, moves, true);
        }
    }
}

/// Whether two statements may change places: a store ends what loads of its field left in registers.
fn commute(a: &Statement, b: &Statement, only_alike: bool) -> bool {
    let plain = |s: &Statement| match s {
        Statement::Access(a) | Statement::For(_, _, a) => Some((a.field, a.verb == Verb::Load)),
        _ => None,
    };
    match (plain(a), plain(b)) {
        (Some((f, load)), Some((g, other))) => load == other || (f != g && !only_alike),
        _ => false,
    }
}

/// Tags look at the lower 32 bits of a line's number only.
fn translate_far(case: &Case, random: &mut Random) -> Option<Pair> {
    changed(case, |d| {
        let i = random.below(d.fields.len());
        let field = &mut d.fields[i];
        field.offset += if field.shared { 0 } else { (1 << 39) / field.bytes };
    })
}

/// By pages of 2 MiB, where what is touched lies in one: the sets of the first-level cache follow from the
/// whole address, so that lines of two pages may share one in one place and not in another.
fn translate_near(case: &Case, random: &mut Random) -> Option<Pair> {
    let pages = random.within(1, 9);
    let i = random.below(case.document.fields.len());
    let (first, last) = reach(case)?[i]?;
    if first < 0 || last >= PAGE {
        return None;
    }
    changed(case, |d| {
        let field = &mut d.fields[i];
        field.offset += if field.shared { 0 } else { pages * PAGE / field.bytes };
    })
}

const PAGE: i64 = 2 << 20;

fn thread_for_item(case: &Case, random: &mut Random) -> Option<Pair> {
    let spelling = random.below(4);
    if case.fold != [1; 3] {
        return None;
    }
    changed(case, |d| {
        d.map(&mut |e| {
            if let Expr::Item(d) = e {
                *e = Expr::Thread(*d, spelling);
            }
        });
    })
}

fn some_thread_for_item(case: &Case, random: &mut Random) -> Option<Pair> {
    if case.fold != [1; 3] {
        return None;
    }
    changed(case, |d| {
        d.map(&mut |e| {
            if let Expr::Item(d) = e
                && random.one_in(2)
            {
                *e = Expr::Thread(*d, random.below(4));
            }
        });
    })
}

fn algebra(case: &Case, random: &mut Random) -> Option<Pair> {
    let extents: Vec<i64> = case.document.axes.iter().map(|a| a.1).collect();
    changed(case, |d| {
        d.map(&mut |e| {
            if random.one_in(3) {
                *e = same(e.clone(), &extents, random);
            }
        });
    })
}

/// Another way to write an expression.
fn same(e: Expr, extents: &[i64], random: &mut Random) -> Expr {
    let n = random.within(1, 9);
    match (e, random.below(7)) {
        (Expr::Item(d), 0) => Expr::Min(Box::new(Expr::Item(d)), Box::new(Expr::Int(extents[d] - 2 + n))),
        (Expr::Item(d), 1) => Expr::Max(Box::new(Expr::Int(1 - n)), Box::new(Expr::Item(d))),
        (Expr::Item(d), 2) => Expr::Item(d).remainder(extents[d] - 1 + n),
        (Expr::Sum(a, b), 0..=2) => Expr::Sum(b, a),
        (Expr::Times(f, a), 0 | 1) => a.clone().times(f - n).plus(a.times(n)),
        (Expr::Minus(a, b), 0 | 1) => a.plus(b.times(-1)),
        (e, 3) => e.plus(Expr::Int(n)).minus(Expr::Int(n)),
        (e, 4) => e.clone().quotient(n).times(n).plus(e.remainder(n)),
        (e, 5) => e.times(n).quotient(n),
        (e, 6) => Expr::Int(n).minus(Expr::Int(n).minus(e)),
        (e, _) => e,
    }
}

fn conditions(case: &Case, random: &mut Random) -> Option<Pair> {
    changed(case, |d| {
        if let Some(guard) = &mut d.guard {
            *guard = same_cond(guard, random);
        }
        d.accesses(&mut |a| {
            if let Some(when) = &mut a.when {
                *when = same_cond(when, random);
            }
        });
    })
}

fn same_cond(cond: &Cond, random: &mut Random) -> Cond {
    let not = |c: Cond| Cond::Not(Box::new(c));
    let whole = match cond {
        Cond::And(a, b) => {
            let (a, b) = (same_cond(a, random), same_cond(b, random));
            match random.below(3) {
                0 => Cond::And(Box::new(b), Box::new(a)),
                1 => not(Cond::Or(Box::new(not(a)), Box::new(not(b)))),
                _ => Cond::And(Box::new(a), Box::new(b)),
            }
        }
        Cond::Or(a, b) => {
            let (a, b) = (same_cond(a, random), same_cond(b, random));
            match random.below(3) {
                0 => Cond::Or(Box::new(b), Box::new(a)),
                1 => not(Cond::And(Box::new(not(a)), Box::new(not(b)))),
                _ => Cond::Or(Box::new(a), Box::new(b)),
            }
        }
        Cond::Not(a) => not(same_cond(a, random)),
        Cond::Compare(a, op, b) => {
            let (a, b) = (a.clone(), b.clone());
            let one = Expr::Int(1);
            match (*op, random.below(3)) {
                ("<", 0) => Cond::Compare(b, ">", a),
                ("<", 1) => Cond::Compare(a.plus(one), "<=", b),
                ("<", _) => not(Cond::Compare(a, ">=", b)),
                (">", 0) => Cond::Compare(b, "<", a),
                (">", _) => Cond::Compare(a.minus(one), ">=", b),
                (">=", 0 | 1) => not(Cond::Compare(a, "<", b)),
                ("<=", 0 | 1) => Cond::Compare(a.minus(b), "<", one),
                ("==", 0) => Cond::Compare(b, "==", a),
                ("!=", 0) => not(Cond::Compare(a, "==", b)),
                (op, _) => Cond::Compare(a, op, b),
            }
        }
    };
    if random.one_in(6) { not(not(whole)) } else { whole }
}

fn parameters(case: &Case, random: &mut Random) -> Option<Pair> {
    changed(case, |d| {
        let mut params = std::mem::take(&mut d.params);
        d.map(&mut |e| match e {
            Expr::Int(n) if random.one_in(2) => {
                params.push((format!("N{}", params.len()), *n));
                *e = Expr::Param(params.len() - 1);
            }
            Expr::Param(i) if random.one_in(2) => *e = Expr::Int(params[*i].1),
            _ => {}
        });
        d.params = params;
    })
}

/// A part of the guard, or all of it, on each access instead. Accesses of folded work items are merged
/// if their conditions are the same, those of guards are not looked at.
fn split_guard(case: &Case, random: &mut Random) -> Option<Pair> {
    if case.fold != [1; 3] {
        return None;
    }
    changed(case, |d| {
        let Some(guard) = d.guard.take() else { return };
        let moved = match guard {
            Cond::And(a, b) if random.one_in(2) => {
                d.guard = Some(*a);
                *b
            }
            all => all,
        };
        d.accesses(&mut |a| a.when = Some(with(a.when.take(), moved.clone())));
    })
}

fn with(old: Option<Cond>, new: Cond) -> Cond {
    match old {
        Some(old) => Cond::And(Box::new(old), Box::new(new)),
        None => new,
    }
}

/// What every work item fulfils, as intervals show.
fn always(case: &Case, random: &mut Random) -> Cond {
    let d = random.below(case.document.axes.len());
    let item = Expr::Item(d);
    let n = random.within(1, 9);
    match random.below(6) {
        0 => Cond::Compare(item, ">=", Expr::Int(0)),
        1 => Cond::Compare(item, "<", Expr::Int(case.document.axes[d].1)),
        2 => Cond::Compare(item.remainder(n), "<", Expr::Int(n)),
        3 => Cond::Compare(item.clone().plus(item), ">", Expr::Int(-n)),
        4 => Cond::Compare(item, "!=", Expr::Int(-n)),
        _ => Cond::Compare(item.clone().quotient(n).times(n), "<=", item),
    }
}

/// What every work item fulfils, but no interval shows it.
fn hidden(case: &Case, random: &mut Random) -> Cond {
    let d = random.below(case.document.axes.len());
    let item = Expr::Item(d);
    let other = Expr::Item(random.below(case.document.axes.len()));
    let n = random.within(2, 9);
    match random.below(3) {
        0 => {
            let smaller = Expr::Min(Box::new(item.clone()), Box::new(other.clone()));
            Cond::Compare(item.plus(other), ">=", smaller)
        }
        1 => Cond::Or(
            Box::new(Cond::Compare(item.clone(), "<", Expr::Int(n))),
            Box::new(Cond::Compare(item, ">", Expr::Int(n - 2))),
        ),
        _ => Cond::Compare(item.clone().quotient(n).plus(other.clone().remainder(n)), "<=", item.plus(other)),
    }
}

fn true_guard(case: &Case, random: &mut Random) -> Option<Pair> {
    let always = always(case, random);
    changed(case, |d| d.guard = Some(with(d.guard.take(), always)))
}

/// A guard keeps loads of folded work items apart that no guard would.
fn hidden_true_guard(case: &Case, random: &mut Random) -> Option<Pair> {
    if case.fold != [1; 3] {
        return None;
    }
    let hidden = hidden(case, random);
    let on_accesses = random.one_in(2);
    changed(case, |d| {
        if on_accesses {
            d.accesses(&mut |a| a.when = Some(with(a.when.take(), hidden.clone())));
        } else {
            d.guard = Some(with(d.guard.take(), hidden));
        }
    })
}

fn true_when(case: &Case, random: &mut Random) -> Option<Pair> {
    changed(case, |d| {
        d.accesses(&mut |a| {
            if random.one_in(2) {
                a.when = Some(with(a.when.take(), always(case, random)));
            }
        });
    })
}

fn body_form(case: &Case, _: &mut Random) -> Option<Pair> {
    changed(case, |d| d.lists = false)
}

fn order(case: &Case, random: &mut Random) -> Option<Pair> {
    changed(case, |d| {
        spell_out(d);
        let mut turned = Vec::new();
        for field in &mut d.fields {
            turned.push(!field.shared && field.shape.len() > 1 && random.one_in(2));
            if turned.last() == Some(&true) {
                field.order = if field.order == Order::C { Order::F } else { Order::C };
                field.shape.reverse();
                field.halo.reverse();
            }
        }
        d.accesses(&mut |a| {
            if let Place::Array(indices) = &mut a.place
                && turned[a.field]
            {
                indices.reverse();
            }
        });
    })
}

fn spell_out(d: &mut Document) {
    d.fields.iter_mut().for_each(|f| f.like = None);
}

fn one_iteration(case: &Case, random: &mut Random) -> Option<Pair> {
    let mut right = case.clone();
    right.document.lists = false;
    wrap(&mut right.document.body, random);
    Pair::of(case.clone(), right)
}

/// Puts neighbouring statements into a loop of one iteration.
fn wrap(body: &mut Vec<Statement>, random: &mut Random) {
    if let Some(Statement::Loop(_, _, _, _, inner)) = body.first_mut()
        && random.one_in(2)
    {
        return wrap(inner, random);
    }
    let from = random.below(body.len());
    let to = from + random.below(body.len() - from) + 1;
    let rest = body.split_off(to);
    let mut inner = body.split_off(from);
    let (value, variable) = (random.within(-3, 9), 900 + random.below(99));
    let only = if random.one_in(2) { Expr::Int(value) } else { Expr::Thread(0, 1) };
    // Bounds of the loops inside may name the variable.
    for statement in &mut inner {
        if let Statement::Loop(_, from, to, _, _) = statement
            && random.one_in(2)
        {
            let nothing = Expr::Minus(Box::new(Expr::Variable(variable)), Box::new(only.clone()));
            for bound in [from, to] {
                *bound = Expr::Sum(Box::new(bound.clone()), Box::new(nothing.clone()));
            }
        }
    }
    body.push(Statement::Loop(variable, only.clone(), only, random.within(1, 3), inner));
    body.extend(rest);
}

fn unrolled(case: &Case, _: &mut Random) -> Option<Pair> {
    changed(case, |d| unroll(&mut d.body))
}

fn unroll(body: &mut Vec<Statement>) {
    let one = |statement: Statement| match statement {
        Statement::For(number, values, access) => {
            let at = |value: i64| {
                let mut access: Access = access.clone();
                access.map(&mut |e| {
                    if *e == Expr::Variable(number) {
                        *e = Expr::Int(value);
                    }
                });
                Statement::Access(access)
            };
            values.into_iter().map(at).collect()
        }
        Statement::Loop(v, from, to, step, mut inner) => {
            unroll(&mut inner);
            vec![Statement::Loop(v, from, to, step, inner)]
        }
        other => vec![other],
    };
    *body = std::mem::take(body).into_iter().flat_map(one).collect();
}

fn spelt_out(case: &Case, _: &mut Random) -> Option<Pair> {
    changed(case, spell_out)
}

fn keys(case: &Case, _: &mut Random) -> Option<Pair> {
    changed(case, |d| {
        spell_out(d);
        d.long = true;
    })
}

/// A field of several arrays as several fields.
fn copies(case: &Case, random: &mut Random) -> Option<Pair> {
    let several: Vec<usize> =
        (0..case.document.fields.len()).filter(|&i| case.document.fields[i].multiplicity > 1).collect();
    if several.is_empty() {
        return None;
    }
    let field = random.pick(&several);
    let mut right = case.clone();
    let d = &mut right.document;
    spell_out(d);
    let mut fields: Vec<usize> = (0..d.fields.len()).collect();
    let mut copies = Vec::new();
    for i in 1..d.fields[field].multiplicity {
        copies.push(d.fields.len());
        fields.push(field);
        d.written.push(d.fields.len());
        let name = format!("{}{i}", d.fields[field].name);
        let copy = super::document::Field { name, multiplicity: 1, ..d.fields[field].clone() };
        d.fields.push(copy);
    }
    d.fields[field].multiplicity = 1;
    duplicate(&mut d.body, field, &copies);
    let mut pair = Pair::of(case.clone(), right)?;
    pair.fields = Some(fields);
    Some(pair)
}

fn duplicate(body: &mut Vec<Statement>, field: usize, copies: &[usize]) {
    let of = |statement: &Statement, copy: usize| {
        let mut new = statement.clone();
        if let Statement::Access(a) | Statement::For(_, _, a) = &mut new {
            a.field = copy;
        }
        new
    };
    let mut all = Vec::new();
    for mut statement in std::mem::take(body) {
        if let Statement::Loop(_, _, _, _, inner) = &mut statement {
            duplicate(inner, field, copies);
        }
        let is = |a: &Access| a.field == field;
        let again = match &statement {
            Statement::Access(a) | Statement::For(_, _, a) if is(a) => {
                copies.iter().map(|&c| of(&statement, c)).collect()
            }
            _ => Vec::new(),
        };
        all.push(statement);
        all.extend(again);
    }
    *body = all;
}

#[expect(clippy::unnecessary_wraps, reason = "it stands among the other relations")]
fn rank(case: &Case, random: &mut Random) -> Option<Pair> {
    let axes = case.document.axes.len();
    let other = |random: &mut Random| {
        let mut fold = [1; 3];
        fold[random.below(axes)] = random.within(1, 3);
        let (mut block, [x, y, z]) = (block(random, axes), fold);
        if random.one_in(2) {
            // The same work items in other threads.
            let of = |d: usize| case.block[d] * case.fold[d];
            if of(0) % x == 0 && of(1) % y == 0 && of(2) % z == 0 {
                block = [of(0) / x, of(1) / y, of(2) / z];
            }
        }
        (block, fold)
    };
    let others = (0..random.below(4)).map(|_| other(random)).collect();
    let threads = random.pick(&[1, 3]);
    let method = Method::Rank { others, threads };
    Some(Pair { left: case.clone(), right: case.clone(), method, fields: None, may_wait: false })
}
