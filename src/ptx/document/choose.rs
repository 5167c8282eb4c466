//! What is done where a choice is made in one way.

use rustc_hash::FxHashMap;

use crate::ptx::read::{Access, Cause, Event, Reader};
use crate::ptx::value::{AtomId, Cond, Poly, WhyId};

/// What is done where the choice `id` comes to `value`, which is `when` a condition holds; none where nothing is.
pub(super) fn chosen(
    reader: &mut Reader<'_>,
    event: &Event,
    id: AtomId,
    value: &Poly,
    when: &Cond,
) -> Option<Event> {
    match event {
        Event::Sync | Event::Work(..) => Some(event.clone()),
        Event::Access(access) => {
            let cond = Cond::and(access.cond.clone(), when.clone());
            // Formulas become simpler where the choice is known, but only there.
            reader.know_within(&cond, &[]);
            let made = replaced(reader, access, id, value, cond);
            if made.cond == Cond::False { None } else { Some(Event::Access(made)) }
        }
        Event::Loop { instruction, counter, last, early, body } => {
            reader.know_within(when, &[]);
            let last = bound(reader, last, id, value, *instruction);
            // Counters have names and steps of their own.
            let own = reader.algebra.counter(reader.algebra.range(*counter));
            let body: Vec<Event> = body.iter().filter_map(|e| chosen(reader, e, id, value, when)).collect();
            reader.know_within(&Cond::True, &[]);
            let body = body.iter().map(|e| renamed(reader, e, *counter, &Poly::atom(own))).collect();
            Some(Event::Loop { instruction: *instruction, counter: own, last, early: *early, body })
        }
    }
}

/// The same with a formula in the place of a loop counter.
pub(super) fn renamed(reader: &mut Reader<'_>, event: &Event, from: AtomId, to: &Poly) -> Event {
    match event {
        Event::Sync | Event::Work(..) => event.clone(),
        Event::Access(access) => {
            let mut with = FxHashMap::from_iter([(from, to.clone())]);
            let cond = reader.algebra.replace_in_cond(&access.cond, &mut with);
            let cond = cond
                .unwrap_or_else(|| Cond::Data(reader.note(access.instruction, Cause::Formula, None), true));
            Event::Access(replaced(reader, access, from, to, cond))
        }
        Event::Loop { instruction, counter, last, early, body } => Event::Loop {
            instruction: *instruction,
            counter: *counter,
            last: bound(reader, last, from, to, *instruction),
            early: *early,
            body: body.iter().map(|e| renamed(reader, e, from, to)).collect(),
        },
    }
}

/// An access with a formula in the place of an atom.
fn replaced(reader: &mut Reader<'_>, access: &Access, id: AtomId, value: &Poly, cond: Cond) -> Access {
    let mut with = FxHashMap::from_iter([(id, value.clone())]);
    let place = match &access.place {
        Ok((base, offset)) => match reader.algebra.replace(offset, &mut with) {
            Some(offset) => Ok((*base, offset)),
            None => Err(reader.note(access.instruction, Cause::Formula, None)),
        },
        Err(why) => Err(*why),
    };
    Access { place, cond, ..access.clone() }
}

/// The last value of a counter, likewise.
fn bound(
    reader: &mut Reader<'_>,
    last: &Result<Poly, WhyId>,
    id: AtomId,
    value: &Poly,
    instruction: usize,
) -> Result<Poly, WhyId> {
    let mut with = FxHashMap::from_iter([(id, value.clone())]);
    match last {
        Ok(last) => match reader.algebra.replace(last, &mut with) {
            Some(last) => Ok(last),
            None => Err(reader.note(instruction, Cause::Trips, None)),
        },
        Err(why) => Err(*why),
    }
}
