//! Distinct sectors of a warp over all its loads of a field, or over all its stores.

use super::counts::L1Counts;
use super::distinct::{StreamPart, StreamShapes, Union};
use super::pipe::Pipe;
use super::plan::{AffinePlan, Iteration, PlannedAccess, Stream};
use crate::effort::spend_on;
use crate::kernel::{AccessKind, FieldId};
use crate::launch::NotRun;
use crate::quantity::Sectors;

/// Steps for telling loops apart.
const STEPS_OF_NEST: u64 = 8;

/// Counts them for every field of global memory, as a mean over blocks.
pub fn count(
    plan: &AffinePlan,
    pipe: &Pipe,
    shapes: &[StreamShapes],
    counts: &mut L1Counts,
) -> Result<(), NotRun> {
    for (id, number) in (0..=u16::MAX).zip(0..plan.kernel.fields.len()) {
        for kind in [AccessKind::Load, AccessKind::Store] {
            let parts = parts(plan, FieldId(id), kind);
            if parts.is_empty() {
                continue;
            }
            let (sectors, sampled) = if let Some(sectors) = apart(&parts, pipe, shapes, counts) {
                (sectors, false)
            } else {
                let (sum, sampled) = Union { plan, pipe, parts: &parts }.mean(shapes)?;
                (sum / counts.blocks.len().max(1) as f64, sampled)
            };
            let of_iterations = match kind {
                AccessKind::Load => by_iteration(plan, pipe, &parts, shapes, counts)?.unwrap_or(sectors),
                _ => 0.0,
            };
            counts.sampled |= sampled;
            let copies = plan.kernel.field(FieldId(id)).multiplicity as f64;
            let field = &mut counts.fields[number];
            if kind == AccessKind::Load {
                field.warp_load_sectors = Sectors::new(copies * sectors);
                field.iteration_load_sectors = Sectors::new(copies * of_iterations);
            } else {
                field.warp_store_sectors = Sectors::new(copies * sectors);
            }
        }
    }
    Ok(())
}

fn parts<'p, 'a>(plan: &'p AffinePlan<'a>, field: FieldId, kind: AccessKind) -> Vec<StreamPart<'p, 'a>> {
    let loads = |s: &'p Stream<'a>| -> Vec<&'p PlannedAccess<'a>> {
        let wanted = |a: &&PlannedAccess| a.instruction.field == field && a.instruction.kind == kind;
        if s.pattern.shared || !s.accesses.iter().any(|a| wanted(&a)) {
            return Vec::new();
        }
        let mut loads = Vec::with_capacity(s.accesses.len());
        loads.extend(s.accesses.iter().filter(wanted));
        loads
    };
    let parts = plan.streams.iter().enumerate().map(|(stream, s)| StreamPart { stream, loads: loads(s) });
    parts.filter(|p| !p.loads.is_empty()).collect()
}

/// Sectors of accesses that lie so far apart that no warp touches a sector through two of them: known
/// already, as a mean over blocks.
fn apart(parts: &[StreamPart], pipe: &Pipe, shapes: &[StreamShapes], counts: &L1Counts) -> Option<f64> {
    let [part] = parts else { return None };
    let far = shapes[part.stream].shapes.span().checked_add(pipe.sector)?;
    let mut addresses = Vec::with_capacity(part.loads.len());
    let mut sum = 0.0;
    for access in &part.loads {
        let weight = access.iterations().first()?.weight;
        let like = |i: &Iteration| (i.weight - weight).abs() < 1e-9;
        if access.cut || !access.iterations().iter().all(like) {
            return None;
        }
        addresses.extend(access.iterations().iter().map(|i| i.address));
        sum += counts.instructions[access.position].sectors.get() / weight;
    }
    addresses.sort_unstable();
    addresses.windows(2).all(|pair| pair[1].abs_diff(pair[0]) >= far.unsigned_abs()).then_some(sum)
}

/// Distinct sectors of the loads of each stretch in one iteration, added up over stretches and iterations,
/// as a mean over blocks. The middle iteration stands for all. `None` if all loads are one stretch.
fn by_iteration(
    plan: &AffinePlan,
    pipe: &Pipe,
    parts: &[StreamPart],
    shapes: &[StreamShapes],
    counts: &L1Counts,
) -> Result<Option<f64>, NotRun> {
    let all = || parts.iter().flat_map(|p| p.loads.iter().map(|l| (p.stream, *l)));
    let stretch = |load: &PlannedAccess| plan.stretches[load.position];
    let mut stretches: Vec<u32> = Vec::new();
    for (_, load) in all() {
        spend_on(1 + stretches.len(), STEPS_OF_NEST)?;
        let of_load = stretch(load);
        if !stretches.contains(&of_load) {
            stretches.push(of_load);
        }
    }
    if stretches.len() == 1 && all().all(|(_, load)| load.loops.is_empty()) {
        return Ok(None);
    }
    let mut sum = 0.0;
    for of_stretch in stretches {
        spend_on(all().count(), STEPS_OF_NEST)?;
        let loads: Vec<(usize, &PlannedAccess)> =
            all().filter(|(_, load)| stretch(load) == of_stretch).collect();
        if let [(_, load)] = loads.as_slice() {
            // Each iteration has been counted.
            sum += counts.instructions[load.position].sectors.get();
            continue;
        }
        let times: f64 = loads.first().map_or(1.0, |(_, l)| l.loops.iter().map(|l| l.1 as f64).product());
        let middles: Vec<(usize, PlannedAccess)> = loads.iter().map(|(s, l)| (*s, l.middle())).collect();
        let mut streams: Vec<usize> = middles.iter().map(|m| m.0).collect();
        streams.dedup();
        let of_stream = |&stream: &usize| StreamPart {
            stream,
            loads: middles.iter().filter(|m| m.0 == stream).map(|m| &m.1).collect(),
        };
        let parts: Vec<StreamPart> = streams.iter().map(of_stream).collect();
        let (sectors, _) = Union { plan, pipe, parts: &parts }.mean(shapes)?;
        sum += times * sectors / counts.blocks.len().max(1) as f64;
    }
    Ok(Some(sum))
}
