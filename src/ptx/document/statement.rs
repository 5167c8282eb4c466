//! Statements of a document, and the list of accesses.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::choose::{chosen, renamed};
use super::words::because;
use crate::ptx::read::{Access, Cause, Event, Operation, Reader};
use crate::ptx::syntax::StateSpace;
use crate::ptx::value::{Atom, AtomId, Cond, Poly, WhyId};

/// How well an access is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ptx) enum Status {
    /// The formula says it exactly.
    Exact,
    /// It is counted as if data always had it done.
    Data,
    /// It is not known.
    Refused,
}

/// An access as it is listed.
#[derive(Debug, Clone)]
pub(in crate::ptx) struct Listed {
    pub instruction: usize,
    pub operation: Operation,
    pub space: StateSpace,
    /// Number of the array.
    pub base: Option<u32>,
    /// Bytes from the array's beginning.
    pub offset: Option<Poly>,
    pub width: u64,
    /// When it is done, data left out.
    pub cond: Cond,
    /// Counters of the loops around it, outermost first, with their last values. Accesses in the same loops share them.
    pub loops: Rc<Vec<(AtomId, Poly)>>,
    pub status: Status,
    /// Whether it may be anywhere in its array: what is said is its beginning.
    pub anywhere: bool,
    pub why: Option<String>,
}

/// A statement.
#[derive(Debug, Clone)]
pub(in crate::ptx) enum Statement {
    /// The access of this number in the list.
    Access(usize),
    Sync,
    /// A loop from 0 to the last value.
    Loop(AtomId, Poly, Vec<Statement>),
}

/// What is around an access.
#[derive(Clone, Default)]
struct Around {
    loops: Rc<Vec<(AtomId, Poly)>>,
    lost: Option<WhyId>,
    early: Option<WhyId>,
    /// Choices that were made for bounds of loops.
    chosen: usize,
}

/// Statements of what was read, and all accesses in them.
pub(super) fn statements(reader: &mut Reader<'_>, events: &[Event]) -> (Vec<Statement>, Vec<Listed>) {
    // What was known where reading ended holds there alone.
    reader.know_within(&Cond::True, &[]);
    let mut out = List { listed: Vec::new(), before: None, comparisons: COMPARISONS };
    let statements = translate(reader, events, &Around::default(), &mut out);
    (statements, out.listed)
}

/// The list that accesses are put into.
struct List {
    listed: Vec<Listed>,
    before: Option<Before>,
    /// How many parts of conditions may still be held against the others.
    comparisons: usize,
}

/// The condition of the access before and the loops around it, and what the grammar has words for of that condition.
struct Before {
    cond: Cond,
    loops: Rc<Vec<(AtomId, Poly)>>,
    known: Cond,
}

fn translate(reader: &mut Reader<'_>, events: &[Event], around: &Around, list: &mut List) -> Vec<Statement> {
    let mut out = Vec::new();
    for event in events {
        match event {
            Event::Work(..) => {}
            Event::Sync => out.push(Statement::Sync),
            Event::Access(access) => {
                let access = listed(reader, access, around, list);
                if access.cond == Cond::False && access.status != Status::Refused {
                    continue;
                }
                list.listed.push(access);
                out.push(Statement::Access(list.listed.len() - 1));
            }
            Event::Loop { counter, last, early, body, instruction } => {
                let mut inner = around.clone();
                inner.early = inner.early.or(*early);
                match last {
                    Err(why) => {
                        inner.lost = inner.lost.or(Some(*why));
                        out.extend(translate(reader, body, &inner, list));
                    }
                    Ok(last) => {
                        if last.number().is_some_and(|n| n < 0) {
                            continue;
                        }
                        if let Some((id, which, a, b)) =
                            reader.choice(last).filter(|c| around.chosen < CHOICES && c.1.data().is_none())
                        {
                            // A loop for each of the choices.
                            inner.chosen += 1;
                            inner.early = around.early;
                            for (value, when) in [(a, which.clone()), (b, which.not())] {
                                if let Some(event) = chosen(reader, event, id, &value, &when) {
                                    out.extend(translate(reader, &[event], &inner, list));
                                }
                            }
                            continue;
                        }
                        if last.number() == Some(0) {
                            // A single iteration is no loop.
                            let zero = Poly::default();
                            inner.early = around.early.or(*early);
                            let body: Vec<Event> =
                                body.iter().map(|e| renamed(reader, e, *counter, &zero)).collect();
                            out.extend(translate(reader, &body, &inner, list));
                            continue;
                        }
                        if !sayable(reader, last) {
                            let why = reader.note(*instruction, Cause::Trips, None);
                            inner.lost = inner.lost.or(Some(why));
                        }
                        Rc::make_mut(&mut inner.loops).push((*counter, last.clone()));
                        let body = translate(reader, body, &inner, list);
                        if !body.is_empty() {
                            out.push(Statement::Loop(*counter, last.clone(), body));
                        }
                    }
                }
            }
        }
    }
    out
}

/// Choices that bounds of loops inside each other may make.
const CHOICES: usize = 4;

/// Whether the grammar can say a formula: it has no products of coordinates, and nothing that is not known.
fn sayable(reader: &Reader<'_>, p: &Poly) -> bool {
    let unsaid = |atom: &Atom| {
        matches!(atom, Atom::Product(_) | Atom::Select(..) | Atom::Phi(..) | Atom::Base(..) | Atom::Bits(..))
    };
    !reader.algebra.mentions(p, &unsaid) && small(p)
}

/// Numbers of documents have 64 bits.
fn small(p: &Poly) -> bool {
    let fits = |n: i128| n.abs() < 1 << 62;
    fits(p.constant) && p.terms.iter().all(|t| fits(t.1))
}

/// An access in the list.
fn listed(reader: &mut Reader<'_>, access: &Access, around: &Around, list: &mut List) -> Listed {
    let mut why = around.lost.map(|w| because(reader, w));
    let mut status = match &mut why {
        // A thread's own memory is small: how often it is touched matters less than that it is.
        Some(why) if access.space == StateSpace::Local && access.place.is_ok() => {
            *why = format!("counted once: {why}");
            Status::Data
        }
        Some(_) => Status::Refused,
        None => Status::Exact,
    };
    let (mut base, mut offset) = (None, None);
    match &access.place {
        Ok((array, bytes)) => {
            base = Some(*array);
            if sayable(reader, bytes) {
                offset = Some(bytes.clone());
            } else if status != Status::Refused {
                status = Status::Refused;
                let bits = reader.algebra.mentions(bytes, &|atom| matches!(atom, Atom::Bits(..)));
                let text = if bits {
                    "the address has the bits of two numbers in it, put together by `and` or `or`"
                } else {
                    "the address is a product of coordinates, or needs numbers of more than 64 bits"
                };
                why = Some(text.to_owned());
            }
        }
        Err(reason) => {
            status = Status::Refused;
            why = why.or_else(|| Some(because(reader, *reason)));
        }
    }
    let anywhere = somewhere(reader, &access.cond);
    let mut data = access.cond.data().or(around.early);
    let cond = match &list.before {
        // Most accesses are where the one before is.
        Some(Before { cond, loops, known }) if *cond == access.cond && *loops == around.loops => {
            known.clone()
        }
        _ => {
            let unsaid = data;
            let cond = known(reader, &access.cond, access.instruction, &mut data);
            let cond = consistent(reader, cond, &around.loops, &mut list.comparisons);
            let loops = Rc::clone(&around.loops);
            list.before =
                (data == unsaid).then(|| Before { cond: access.cond.clone(), loops, known: cond.clone() });
            cond
        }
    };
    if status == Status::Exact
        && let Some(reason) = data
    {
        status = Status::Data;
        let place = anywhere == Some(reason);
        let reason = because(reader, reason);
        why = Some(if place {
            reason
        } else {
            format!("counted as always done, although data decide: {reason}")
        });
    }
    Listed {
        instruction: access.instruction,
        operation: access.operation,
        space: access.space,
        base,
        offset,
        width: access.width,
        cond,
        loops: around.loops.clone(),
        status,
        anywhere: anywhere.is_some(),
        why,
    }
}

/// Why it is not known where in its array an access is, if its beginning stands for that place.
fn somewhere(reader: &Reader<'_>, cond: &Cond) -> Option<WhyId> {
    cond.parts().iter().find_map(|part| match part {
        Cond::Data(why, _) => {
            let cause = &reader.whys[why.0 as usize].cause;
            matches!(cause, Cause::LocalPlace | Cause::TablePlace).then_some(*why)
        }
        _ => None,
    })
}

/// The condition without what data say; the other parts such that the grammar has words for them.
fn known(reader: &mut Reader<'_>, cond: &Cond, instruction: usize, data: &mut Option<WhyId>) -> Cond {
    let mut sum = Cond::True;
    for part in cond.parts() {
        if part.data().is_some() {
            continue;
        }
        let part = spelled(reader, part, 0, &mut { SPELLED });
        if let Some(part) = part {
            sum = Cond::and(sum, part);
        } else {
            let why = reader.note(instruction, Cause::Formula, None);
            *data = data.or(Some(why));
        }
    }
    sum
}

/// Parts of conditions that parts may be held against while a kernel is read.
const COMPARISONS: usize = 20_000;

/// A condition with choices in it, where nothing stands that its other parts decide: choices that nested loops make are
/// the same, one after the other.
fn consistent(reader: &mut Reader<'_>, cond: Cond, loops: &[(AtomId, Poly)], left: &mut usize) -> Cond {
    let choice = |cond: &Cond| cond.parts().iter().any(|part| matches!(part, Cond::Or(_)));
    let mut cond = cond.united();
    let mut at = 0;
    while at < cond.parts().len() && *left > 0 && choice(&cond) {
        let parts = cond.parts();
        *left = left.saturating_sub(parts.len());
        let others = || parts.iter().enumerate().filter(|other| other.0 != at).map(|other| other.1.clone());
        let given = others().fold(Cond::True, Cond::and);
        reader.know_within(&given, loops);
        let part = reader.algebra.decided(parts[at].clone());
        if part == parts[at] {
            at += 1;
        } else {
            // With less to look at, what was looked at may be decided now.
            cond = cond.with_part(at, part).united();
            at = 0;
        }
    }
    reader.know_within(&Cond::True, &[]);
    cond
}

/// Parts that a condition may come to where choices are written out in it, and how deep they may lie in each other.
const SPELLED: usize = 1000;
const DEEPEST: usize = 40;

/// A condition without choices and without registers that may wrap unseen; `left` counts parts that there may still be.
fn spelled(reader: &mut Reader<'_>, cond: &Cond, depth: usize, left: &mut usize) -> Option<Cond> {
    *left = left.checked_sub(1)?;
    if depth > DEEPEST {
        return None;
    }
    match cond {
        Cond::True | Cond::False => Some(cond.clone()),
        Cond::Data(..) => None,
        Cond::And(all) => {
            let mut sum = Cond::True;
            for one in all.iter() {
                sum = Cond::and(sum, spelled(reader, one, depth + 1, left)?);
            }
            Some(sum)
        }
        Cond::Or(all) => {
            let mut sum = Cond::False;
            for one in all.iter() {
                sum = Cond::or(sum, spelled(reader, one, depth + 1, left)?);
            }
            Some(sum)
        }
        Cond::Raw(raw) => {
            let exact = reader.algebra.compare((**raw).clone(), false)?;
            spelled(reader, &exact, depth + 1, left)
        }
        Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p) => {
            if let Some((id, which, a, b)) = reader.choice(p) {
                let mut with = |value: Poly| {
                    let mut with = FxHashMap::from_iter([(id, value)]);
                    reader.algebra.replace_in_cond(cond, &mut with)
                };
                let (a, b) = (with(a)?, with(b)?);
                let (a, b) = (Cond::and(which.clone(), a), Cond::and(which.not(), b));
                return spelled(reader, &Cond::or(a, b), depth + 1, left);
            }
            sayable(reader, p).then(|| cond.clone())
        }
    }
}
