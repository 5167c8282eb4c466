//! Runs the threads of a block, between what they wait for.

use super::code::{Gather, Kind};
use super::lane::{Lane, State};
use super::refusal::EntryNotRun;
use super::warp::{LANES, together};
use super::world::World;

/// Runs threads of a block, of which there are `all`, to their ends.
pub(super) fn run(world: &mut World<'_, '_>, lanes: &mut [Lane], all: u32) -> Result<(), EntryNotRun> {
    loop {
        for warp in lanes.chunk_by_mut(|a, b| a.thread / LANES == b.thread / LANES) {
            let first = warp[0].thread / LANES * LANES;
            loop {
                for lane in &mut *warp {
                    lane.run(world)?;
                }
                if !together(world.code, warp, LANES.min(all - first)) {
                    break;
                }
            }
        }
        let waiting = lanes.iter().find(|lane| lane.state != State::Done);
        let Some(waiting) = waiting.map(|lane| lane.step) else { return Ok(()) };
        if !released(world, lanes, all) {
            return Err(EntryNotRun::Deadlock(world.line(waiting)));
        }
    }
}

/// Lets threads go on that have come to a barrier that is full; false if there are none.
fn released(world: &mut World<'_, '_>, lanes: &mut [Lane], all: u32) -> bool {
    let whole = lanes.len() == all as usize;
    let alive = lanes.iter().filter(|lane| lane.state != State::Done).count() as u64;
    let mut any = false;
    for number in 0..16 {
        let here = |lane: &Lane| matches!(lane.state, State::Barrier { id, .. } if id == number);
        let come = lanes.iter().filter(|lane| here(lane)).count() as u64;
        let arrived = world.arrived.iter().filter(|&&id| id == number).count() as u64;
        let wanted = lanes.iter().filter(|lane| here(lane)).find_map(|lane| match lane.state {
            State::Barrier { threads, .. } => Some(threads.unwrap_or(alive)),
            _ => None,
        });
        // Where only some threads run, there is nobody else to wait for.
        let Some(wanted) = wanted else { continue };
        if come + arrived < wanted && whole {
            continue;
        }
        any = true;
        world.arrived.retain(|&id| id != number);
        release(world, lanes, number, whole);
    }
    any
}

fn release(world: &World<'_, '_>, lanes: &mut [Lane], number: u64, whole: bool) {
    let here = |lane: &Lane| matches!(lane.state, State::Barrier { id, .. } if id == number);
    let gathered = |lane: &Lane| match world.code.ops[lane.step as usize].kind {
        Kind::Barrier { gather: Some((kind, predicate, negated, to)), .. } => {
            let predicate = lane.get(predicate);
            Some((kind, (predicate.bits & 1 != 0) != negated, predicate.known, to))
        }
        _ => None,
    };
    let (mut yes, mut no, mut known) = (0, 0, whole);
    for (_, set, clear, _) in lanes.iter().filter(|lane| here(lane)).filter_map(gathered) {
        *(if set { &mut yes } else { &mut no }) += 1;
        known &= clear;
    }
    for lane in lanes.iter_mut().filter(|lane| here(lane)) {
        if let Some((kind, _, _, to)) = gathered(lane) {
            let bits = match kind {
                Gather::Count => yes,
                Gather::And => u64::from(no == 0),
                Gather::Or => u64::from(yes > 0),
            };
            lane.set(to, bits, known);
        }
        lane.state = State::Ready;
        lane.step += 1;
    }
}
