//! Smaller cases that still fail.

use super::compare::{difference, predicted};
use super::document::{Document, Statement};
use super::random::Case;
use super::relations::Relation;

/// A failing case, made smaller, as text.
pub fn report(name: &str, relation: Relation, case: &Case, seed: u64, number: u64) -> String {
    let failure = |case: &Case| {
        let pair = super::pair(relation, case, seed, number)?;
        difference(&predicted(&pair.left), &pair).map(|what| (pair, what))
    };
    let smallest = smallest(case, |c| failure(c).is_some());
    let Some((pair, what)) = failure(&smallest) else { return format!("{name}: case {number} panics") };
    let Case { device, block, fold, small, .. } = pair.right;
    let device = if small { format!("{device} made small") } else { device.to_owned() };
    format!(
        "\n{name} does not hold: WAVECAST_SEED={seed} WAVECAST_FIRST={number} WAVECAST_CASES=1\n\
         device {device}, block {block:?}, fold {fold:?}, {:?}\n{what}\n--- left\n{}--- right\n{}",
        pair.method,
        pair.left.document.yaml(),
        pair.right.document.yaml()
    )
}

/// The case with as much taken out of it as leaves it failing.
pub fn smallest(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut smallest = case.clone();
    while let Some(smaller) = smaller(&smallest).into_iter().find(|c| fails(c)) {
        smallest = smaller;
    }
    smallest
}

/// Cases with a little less in them, those with much less first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Case)| {
        let mut new = case.clone();
        change(&mut new);
        if new != *case {
            all.push(new);
        }
    };
    for i in 0..case.document.body.len() {
        if case.document.body.len() > 1 {
            with(&|c| drop(c.document.body.remove(i)));
        }
        with(&|c| inside(&mut c.document, i));
    }
    with(&|c| c.document.guard = None);
    with(&|c| c.document.accesses(&mut |a| a.when = None));
    with(&|c| c.fold = [1; 3]);
    for d in 0..3 {
        with(&|c| c.block[d] = 1);
        with(&|c| c.block[d] = (c.block[d] / 2).max(1));
        with(&|c| c.fold[d] = (c.fold[d] - 1).max(1));
    }
    with(&|c| c.small = false);
    with(&|c| c.document.fields.iter_mut().for_each(|f| f.like = None));
    for i in 0..case.document.fields.len() {
        if case.document.fields.iter().any(|f| f.like.is_some()) {
            break;
        }
        with(&|c| c.document.fields[i].multiplicity = 1);
        with(&|c| c.document.fields[i].offset = 0);
        with(&|c| c.document.fields[i].halo.iter_mut().for_each(|h| *h = 0));
    }
    for d in 0..case.document.axes.len() {
        with(&|c| c.document.axes[d].1 = (c.document.axes[d].1 / 2).max(1));
        with(&|c| c.document.axes[d].1 = (c.document.axes[d].1 - 1).max(1));
    }
    all
}

/// Takes something out of a loop, or a part of an address.
fn inside(document: &mut Document, i: usize) {
    if let Statement::Loop(_, _, _, _, body) = &mut document.body[i]
        && body.len() > 1
    {
        body.pop();
    }
}
