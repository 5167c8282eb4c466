//! Distinct sectors of a warp over all its loads of a field, or over all its stores.

use super::counts::L1Counts;
use super::pipe::{Pipe, quotient, remainder};
use super::plan::{Access, Iteration, Plan, Stream};
use super::shapes::{Shapes, Starts};
use crate::expr::{Coord, Dim, Form, LoopId};
use crate::footprint::{self, Piece, Query};
use crate::kernel::{AccessKind, FieldId};
use crate::launch::{Fault, blocks_of_wave};

/// Most sectors that are put into a set one by one for one warp.
const MOST_SECTORS: usize = 1 << 12;
/// Most sectors that are put into sets for all warps of a field.
const MOST_IN_ALL: usize = 1 << 15;

/// The loads or stores of one field in one stream.
struct Part<'p, 'a> {
    stream: usize,
    loads: Vec<&'p Access<'a>>,
}

/// Counts them for every field of global memory, as a mean over blocks.
pub fn count(
    plan: &Plan,
    pipe: &Pipe,
    shapes: &mut [(Shapes, Starts)],
    counts: &mut L1Counts,
) -> Result<(), Fault> {
    for number in 0..plan.kernel.fields.len() {
        let Ok(id) = u16::try_from(number) else { continue };
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
            let Some(field) = counts.fields.get_mut(number) else { continue };
            if kind == AccessKind::Load {
                field.warp_load_sectors = copies * sectors;
                field.iteration_load_sectors = copies * of_iterations;
            } else {
                field.warp_store_sectors = copies * sectors;
            }
        }
    }
    Ok(())
}

fn parts<'p, 'a>(plan: &'p Plan<'a>, field: FieldId, kind: AccessKind) -> Vec<Part<'p, 'a>> {
    let loads = |s: &'p Stream<'a>| -> Vec<&'p Access<'a>> {
        let wanted = |a: &&Access| a.instruction.field == field && a.instruction.kind == kind;
        if s.pattern.shared { Vec::new() } else { s.accesses.iter().filter(wanted).collect() }
    };
    let parts = plan.streams.iter().enumerate().map(|(stream, s)| Part { stream, loads: loads(s) });
    parts.filter(|p| !p.loads.is_empty()).collect()
}

/// Sectors of accesses that lie so far apart that no warp touches a sector through two of them: known
/// already, as a mean over blocks.
fn apart(parts: &[Part], pipe: &Pipe, shapes: &[(Shapes, Starts)], counts: &L1Counts) -> Option<f64> {
    let [part] = parts else { return None };
    let far = shapes.get(part.stream)?.0.span().checked_add(pipe.sector)?;
    let mut addresses = Vec::with_capacity(part.loads.len());
    let mut sum = 0.0;
    for access in &part.loads {
        let weight = access.iterations.first()?.weight;
        let like = |i: &Iteration| (i.weight - weight).abs() < 1e-9;
        if access.cut || !access.iterations.iter().all(like) {
            return None;
        }
        addresses.extend(access.iterations.iter().map(|i| i.address));
        sum += counts.instructions.get(access.position)?.sectors / weight;
    }
    addresses.sort_unstable();
    addresses.windows(2).all(|pair| pair[1].abs_diff(pair[0]) >= far.unsigned_abs()).then_some(sum)
}

/// Distinct sectors of the loads of one iteration, added up over iterations, as a mean over blocks. The
/// middle iteration stands for all. `None` without loops.
fn by_iteration(
    plan: &Plan,
    pipe: &Pipe,
    parts: &[Part],
    shapes: &mut [(Shapes, Starts)],
    counts: &L1Counts,
) -> Result<Option<f64>, Fault> {
    let all = || parts.iter().flat_map(|p| p.loads.iter().map(|l| (p.stream, *l)));
    if all().all(|(_, load)| load.loops.is_empty()) {
        return Ok(None);
    }
    let nest = |load: &Access| -> Vec<LoopId> { load.loops.iter().map(|l| l.0).collect() };
    let mut nests: Vec<Vec<LoopId>> = Vec::new();
    for (_, load) in all() {
        let of_load = nest(load);
        if !nests.contains(&of_load) {
            nests.push(of_load);
        }
    }
    let mut sum = 0.0;
    for of_nest in nests {
        let loads: Vec<(usize, &Access)> = all().filter(|(_, load)| nest(load) == of_nest).collect();
        if let [(_, load)] = loads.as_slice() {
            // Each iteration has been counted.
            sum += counts.instructions.get(load.position).map_or(0.0, |i| i.sectors);
            continue;
        }
        let times: f64 = loads.first().map_or(1.0, |(_, l)| l.loops.iter().map(|l| l.1 as f64).product());
        let middles: Vec<(usize, Access)> = loads.iter().map(|(s, l)| (*s, middle(l))).collect();
        let mut streams: Vec<usize> = middles.iter().map(|m| m.0).collect();
        streams.dedup();
        let of_stream = |&stream: &usize| Part {
            stream,
            loads: middles.iter().filter(|m| m.0 == stream).map(|m| &m.1).collect(),
        };
        let parts: Vec<Part> = streams.iter().map(of_stream).collect();
        let (sectors, _) = Union { plan, pipe, parts: &parts }.mean(shapes)?;
        sum += times * sectors / counts.blocks.len().max(1) as f64;
    }
    Ok(Some(sum))
}

/// The access in the middle iteration of its loops only.
fn middle<'a>(access: &Access<'a>) -> Access<'a> {
    let moved = access.loops.iter().map(|&(_, count, stride)| stride.wrapping_mul(count / 2));
    let first = moved.fold(access.first, i64::wrapping_add);
    Access {
        loops: Vec::new(),
        first,
        iterations: vec![Iteration { address: first, weight: 1.0 }],
        cut: false,
        ..*access
    }
}

/// Where a warp begins: its class, its alignment to sectors in the first part, and how far it begins
/// from there in the others. Warps that agree in this touch equally many sectors.
type Key = (usize, i64, Vec<i64>);

struct Union<'u, 'p, 'a> {
    plan: &'u Plan<'a>,
    pipe: &'u Pipe,
    parts: &'u [Part<'p, 'a>],
}

impl Union<'_, '_, '_> {
    /// The sum over all warps of all blocks, and whether some warps stand for others.
    fn mean(&self, shapes: &mut [(Shapes, Starts)]) -> Result<(f64, bool), Fault> {
        let groups = self.groups(shapes);
        let warps: usize = groups.iter().map(|g| g.1).sum();
        let long = self.parts.iter().any(|p| p.loads.iter().any(|a| a.cut));
        let (mut sectors, mut done, mut spent) = (0.0, 0_usize, 0);
        for (_, count, warp) in &groups {
            if spent > MOST_IN_ALL {
                break;
            }
            let (of_warp, cost) = match (long, self.by_set(*warp, shapes)) {
                (false, Some(found)) => found,
                _ => (self.by_engine(*warp, shapes)?, MOST_SECTORS),
            };
            spent += cost;
            done += count;
            sectors += of_warp * *count as f64;
        }
        let some = done < warps;
        Ok((if some { sectors * warps as f64 / done.max(1) as f64 } else { sectors }, some))
    }

    /// Groups of like warps: how many, and one of them as its place among the starts.
    fn groups(&self, shapes: &[(Shapes, Starts)]) -> Vec<(Key, usize, usize)> {
        let starts: Vec<&Starts> = self.parts.iter().filter_map(|p| Some(&shapes.get(p.stream)?.1)).collect();
        let Some((first, others)) = starts.split_first() else { return Vec::new() };
        let mut groups: Vec<(Key, usize, usize)> = Vec::new();
        for (i, &(class, address)) in first.all.iter().enumerate() {
            let alignment = remainder(address, self.pipe.sector);
            let away = |s: &&Starts| s.all.get(i).map_or(0, |o| o.1.wrapping_sub(address));
            let like = groups.iter_mut().find(|((c, a, rest), ..)| {
                *c == class && *a == alignment && rest.iter().copied().eq(others.iter().map(away))
            });
            match like {
                Some(group) => group.1 += 1,
                None => groups.push(((class, alignment, others.iter().map(away).collect()), 1, i)),
            }
        }
        groups
    }

    /// Puts all sectors of a warp into a set; `None` if they are too many. Also says how many were put.
    fn by_set(&self, warp: usize, shapes: &mut [(Shapes, Starts)]) -> Option<(f64, usize)> {
        let of_warp: usize = self.parts.iter().flat_map(|p| &p.loads).map(|l| l.iterations.len()).sum();
        let mut set = Set::new(of_warp.saturating_mul(8));
        let mut put = 0;
        for part in self.parts {
            let (of_stream, starts) = shapes.get_mut(part.stream)?;
            let &(class, start) = starts.all.get(warp)?;
            for iteration in part.loads.iter().flat_map(|l| &l.iterations) {
                let address = start.wrapping_add(iteration.address);
                let first = quotient(address, self.pipe.sector);
                let shape = of_stream.at(class, address);
                put += shape.sectors.len();
                if put > MOST_SECTORS {
                    return None;
                }
                for sector in &shape.sectors {
                    set.insert(first.wrapping_add(*sector));
                }
            }
        }
        Some((set.len as f64, put))
    }

    /// Counts with the footprint engines.
    fn by_engine(&self, warp: usize, shapes: &[(Shapes, Starts)]) -> Result<f64, Fault> {
        let mut pieces = Vec::new();
        for part in self.parts {
            let Some(&(_, start)) = shapes.get(part.stream).and_then(|s| s.1.all.get(warp)) else { continue };
            for load in &part.loads {
                self.pieces(part.stream, load, warp, start, &mut pieces).ok_or(Fault::Overflow)?;
            }
        }
        let query = Query { pieces, line: self.pipe.sector };
        footprint::count(&query).map(|(sectors, _)| sectors as f64).map_err(|_| Fault::Overflow)
    }

    /// One box per straight run of lanes, with the loops around the load.
    fn pieces(
        &self,
        stream: usize,
        load: &Access,
        warp: usize,
        start: i64,
        out: &mut Vec<Piece>,
    ) -> Option<()> {
        let pattern = self.plan.streams.get(stream)?.pattern;
        let (first, lanes) = self.warp(warp)?;
        let block = self.plan.launch.candidate.block;
        let id = first[0] + block[0] * (first[1] + block[1] * first[2]);
        let limit = self.plan.limits.get(pattern.limit)?;
        for run in blocks_of_wave(block, id, lanes) {
            if (0..3).any(|d| run.from[d] >= limit[d]) {
                continue;
            }
            let mut address = Form::int(start.checked_add(load.first)?);
            let mut ranges = Vec::with_capacity(3 + load.loops.len());
            for d in Dim::ALL {
                let i = d.index();
                let shift = pattern.thread[i].checked_mul(-first[i])?;
                let term = Form::coord(Coord::ThreadIdx(d)).times(&pattern.thread[i]).ok()?;
                address = address.plus(&term).ok()?.plus(&Form::int(shift)).ok()?;
                ranges.push((Coord::ThreadIdx(d), run.from[i], run.to[i].min(limit[i]) - 1));
            }
            for &(id, count, stride) in &load.loops {
                address = address.plus(&Form::coord(Coord::Loop(id)).times(&stride).ok()?).ok()?;
                ranges.push((Coord::Loop(id), 0, count - 1));
            }
            out.push(Piece {
                array: 0,
                ranges: ranges.into(),
                when: None,
                address: address.into(),
                width: pattern.width,
            });
        }
        Some(())
    }

    /// First lane and number of lanes of a warp by its place among the starts.
    fn warp(&self, mut warp: usize) -> Option<([i64; 3], i64)> {
        let blocks = self.plan.phases.blocks().len();
        for class in &self.plan.classes {
            let of_class = class.firsts.len() * blocks;
            if warp < of_class {
                let lanes = i64::try_from(class.lanes.len()).ok()?;
                return class.firsts.get(warp / blocks).map(|f| (*f, lanes));
            }
            warp -= of_class;
        }
        None
    }
}

/// A set of numbers with open addressing.
struct Set {
    slots: Vec<i64>,
    len: usize,
}

/// No sector: addresses have 62 bits.
const EMPTY: i64 = i64::MIN;

impl Set {
    /// A set for about so many numbers.
    fn new(numbers: usize) -> Self {
        let slots = numbers.saturating_mul(2).clamp(64, MOST_SECTORS).next_power_of_two();
        Self { slots: vec![EMPTY; slots], len: 0 }
    }

    fn insert(&mut self, value: i64) {
        if 2 * self.len >= self.slots.len() {
            let larger = vec![EMPTY; 4 * self.slots.len()];
            let old = std::mem::replace(&mut self.slots, larger);
            self.len = 0;
            old.into_iter().filter(|&v| v != EMPTY).for_each(|v| self.insert(v));
        }
        // Neighbouring sectors go to neighbouring slots, rows of a field to places far apart.
        let mixed =
            value.cast_unsigned() ^ (value.cast_unsigned() >> 5).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let mut slot = usize::try_from(mixed).unwrap_or(0) & (self.slots.len() - 1);
        loop {
            let Some(there) = self.slots.get_mut(slot) else { return };
            if *there == value {
                return;
            }
            if *there == EMPTY {
                *there = value;
                self.len += 1;
                return;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_counts_distinct_numbers() {
        let mut set = Set::new(0);
        for i in 0..3000_i64 {
            set.insert(i * 640 % 7000 - 100);
            set.insert(i % 5);
        }
        let expected: std::collections::BTreeSet<i64> =
            (0..3000).flat_map(|i: i64| [i * 640 % 7000 - 100, i % 5]).collect();
        assert_eq!(set.len, expected.len());
    }
}
