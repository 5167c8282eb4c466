//! Distinct sectors of several accesses of a warp, over all warps.

use super::layouts::{self, Layout, UnionSize};
use super::pipe::Pipe;
use super::plan::{AffinePlan, PlannedAccess};
use super::sectors::{SectorBits, SectorSet};
use super::shapes::AccessShapes;
use super::spans::UnitRun;
use super::starts::{Starts, WarpGroups};
use crate::effort::{Spent, is_limited, left, spend, spend_on};
use crate::expr::{Coord, Dim, Form};
use crate::footprint::{Counter, Piece, Query, quotient, remainder};
use crate::launch::{NotRun, blocks_of_wave};
use crate::space::{Grid, Thread};

/// Most spans of sectors that are laid side by side for one warp.
pub const MOST_SPANS: usize = 1 << 12;
/// Most spans that are looked at for all warps of a field.
const MOST_IN_ALL: usize = 1 << 16;

/// Sectors that a short span has at most, without those at its ends.
const LONGEST_OF_SHORT: i64 = 62;

/// Steps for a span of sectors that is laid beside others, and for the pieces of an access of a warp.
const STEPS_OF_SPAN: u64 = 8;
const STEPS_OF_PIECES: u64 = 200;

/// What is known of a stream.
pub struct StreamShapes<'a> {
    /// Its shapes.
    pub shapes: AccessShapes<'a>,
    /// Where its warps begin.
    pub starts: Starts,
    /// The same by class and alignment.
    pub groups: WarpGroups,
}

/// The loads or stores of one field in one stream.
pub struct StreamPart<'p, 'a> {
    /// The stream.
    pub stream: usize,
    /// Its accesses.
    pub loads: Vec<&'p PlannedAccess<'a>>,
}

/// Where a warp begins: its class, its alignment to sectors in the first part, and how far it begins
/// from there in the others. Warps that agree in this touch equally many sectors.
type Key = (usize, i64, Vec<i64>);

/// Accesses that lie so close together that each lane touches all sectors from the first to the last.
struct Chain {
    first: i64,
    last: i64,
}

/// The accesses of a part, as chains.
struct Chains {
    all: Vec<Chain>,
    /// Most bytes from the first to the last address of a chain.
    longest: i64,
    /// The number by which the list is known, relative to its first address.
    number: u32,
}

/// Where sectors of a warp are counted, for one warp after the other.
#[derive(Default)]
struct Buffers {
    bits: SectorBits,
    set: SectorSet,
}

/// A warp whose sectors are counted.
#[derive(Clone, Copy)]
struct Counted<'c, 'a> {
    /// Its place among the starts of each part.
    warp: usize,
    /// What each part touches, relative to where the warp begins there.
    chains: &'c [Chains],
    /// What is known of all streams.
    shapes: &'c [StreamShapes<'a>],
}

impl<'c> Counted<'c, '_> {
    /// How its lanes lie in a part, and where it begins there.
    fn begins(&self, part: &StreamPart) -> (&'c Layout, i64) {
        let StreamShapes { shapes, starts, .. } = &self.shapes[part.stream];
        let (class, start) = starts.all[self.warp];
        (shapes.layout(class), start)
    }
}

/// The accesses whose sectors are counted.
pub struct Union<'u, 'p, 'a> {
    /// What they are part of.
    pub plan: &'u AffinePlan<'a>,
    /// The rules.
    pub pipe: &'u Pipe,
    /// The accesses.
    pub parts: &'u [StreamPart<'p, 'a>],
}

impl Union<'_, '_, '_> {
    /// The sum over all warps of all blocks, and whether some warps stand for others.
    pub fn mean(&self, shapes: &[StreamShapes]) -> Result<(f64, bool), NotRun> {
        let groups = self.groups(shapes)?;
        let chains: Vec<Chains> = self.parts.iter().map(|part| self.chains(part, shapes)).collect();
        let mut buffers = Buffers::default();
        let warps: usize = groups.iter().map(|g| g.1).sum();
        let long = self.parts.iter().any(|p| p.loads.iter().any(|a| a.cut));
        let mut count = |warp: usize| {
            let counted = Counted { warp, chains: &chains, shapes };
            let known: Result<_, NotRun> =
                if long { Ok(None) } else { Ok(self.by_known_spans(counted, &mut buffers)?) };
            match known? {
                Some((sectors, spans)) => Ok((sectors, spans, false)),
                None => self.by_engine(warp, shapes).map(|(n, estimated)| (n, MOST_SPANS, estimated)),
            }
        };
        let (mut sectors, mut done, mut any_estimated) = (0.0, 0_usize, false);
        // Where all cost too much, groups from first to last stand for the others.
        let mut share = 1;
        let mut i = 0;
        while let Some((_, of_group, warp)) = groups.get(i) {
            let (of_warp, cost, estimated) = count(*warp)?;
            any_estimated |= estimated;
            if i == 0 {
                share = (cost * groups.len()).div_ceil(MOST_IN_ALL) | 1;
            }
            done += of_group;
            sectors += of_warp * *of_group as f64;
            i += share;
        }
        let some = done < warps;
        Ok((if some { sectors * warps as f64 / done.max(1) as f64 } else { sectors }, some || any_estimated))
    }

    /// The accesses of a part, where those that lie close together are one.
    fn chains(&self, part: &StreamPart, shapes: &[StreamShapes]) -> Chains {
        let mut addresses = Vec::with_capacity(part.loads.iter().map(|l| l.iterations().len()).sum());
        addresses.extend(part.loads.iter().flat_map(|l| l.iterations().iter().map(|i| i.address)));
        addresses.sort_unstable();
        // What lies further apart may leave out a sector between what a lane touches.
        let width = shapes[part.stream].shapes.pattern.width;
        let mut chains: Vec<Chain> = Vec::with_capacity(addresses.len());
        for address in addresses {
            match chains.last_mut() {
                Some(chain) if address.saturating_sub(chain.last) < width + self.pipe.sector => {
                    chain.last = address;
                }
                _ => chains.push(Chain { first: address, last: address }),
            }
        }
        let base = chains.first().map_or(0, |chain| chain.first);
        let relative = |chain: &Chain| (chain.first.wrapping_sub(base), chain.last.wrapping_sub(base));
        let number = layouts::number_of(chains.iter().map(relative).collect());
        let longest = chains.iter().map(|chain| chain.last.saturating_sub(chain.first)).max().unwrap_or(0);
        Chains { all: chains, longest, number }
    }

    /// Groups of like warps: how many, and one of them as its place among the starts.
    fn groups(&self, shapes: &[StreamShapes]) -> Result<Vec<(Key, usize, usize)>, Spent> {
        if let [part] = self.parts {
            return self.groups_of_one(&shapes[part.stream].groups);
        }
        let starts: Vec<&Starts> = self.parts.iter().map(|p| &shapes[p.stream].starts).collect();
        let Some((first, others)) = starts.split_first() else { return Ok(Vec::new()) };
        let mut groups: Vec<(Key, usize, usize)> = Vec::new();
        for (i, &(class, address)) in first.all.iter().enumerate() {
            let alignment = remainder(address, self.pipe.sector);
            let away = |s: &&Starts| s.all[i].1.wrapping_sub(address);
            // Starts of a class follow each other; most are like one of the last.
            let mut seen = 0;
            let like = groups.iter_mut().rev().find(|((c, a, rest), ..)| {
                seen += 1;
                *c == class && *a == alignment && rest.iter().copied().eq(others.iter().map(away))
            });
            spend_on(seen, 1 + others.len() as u64)?;
            match like {
                Some(group) => group.1 += 1,
                None => groups.push(((class, alignment, others.iter().map(away).collect()), 1, i)),
            }
        }
        Ok(groups)
    }

    /// The same of a single part, whose warps are known by class and alignment.
    fn groups_of_one(&self, known: &WarpGroups) -> Result<Vec<(Key, usize, usize)>, Spent> {
        let mut groups: Vec<(Key, usize, usize)> = Vec::with_capacity(known.all.len());
        for group in &known.all {
            spend_on(1 + groups.len(), 1)?;
            let alignment = remainder(group.alignment, self.pipe.sector);
            // Groups of a class follow each other.
            let like =
                groups.iter_mut().rev().find(|((class, a, _), ..)| *class == group.class && *a == alignment);
            match like {
                Some(like) => like.1 += group.warps,
                None => groups.push(((group.class, alignment, Vec::new()), group.warps, group.first)),
            }
        }
        Ok(groups)
    }

    /// The sectors of a warp by spans, if they are not too many: those of a single part may be known.
    fn by_known_spans(
        &self,
        counted: Counted<'_, '_>,
        buffers: &mut Buffers,
    ) -> Result<Option<(f64, usize)>, Spent> {
        let ([part], [of_part]) = (self.parts, counted.chains) else {
            return self.by_spans(counted, buffers);
        };
        let (layout, start) = counted.begins(part);
        let base = of_part.all.first().map_or(0, |chain| chain.first);
        let begin = remainder(start.wrapping_add(base), self.pipe.sector);
        if let Some(known) = layout.union(of_part.number, begin) {
            // As many as it took to find out.
            spend(known.steps)?;
            return Ok(Some((known.sectors, known.spans)));
        }
        let before = left();
        let Some((sectors, spans)) = self.by_spans(counted, buffers)? else { return Ok(None) };
        if is_limited() {
            layout.remember_union(
                of_part.number,
                begin,
                UnionSize { sectors, spans, steps: before - left() },
            );
        }
        Ok(Some((sectors, spans)))
    }

    /// Counts the distinct sectors in the spans of a warp; `None` if they are too many. Also says how many they were.
    fn by_spans(
        &self,
        counted: Counted<'_, '_>,
        buffers: &mut Buffers,
    ) -> Result<Option<(f64, usize)>, Spent> {
        let sector = self.pipe.sector;
        let (mut put, mut all_short) = (0_usize, true);
        for (part, chains) in self.parts.iter().zip(counted.chains) {
            let bytes = counted.begins(part).0.bytes();
            put = bytes.len().saturating_mul(chains.all.len()).saturating_add(put);
            let longest = bytes.iter().map(|span| span.last - span.first).max().unwrap_or(0);
            all_short &= longest.saturating_add(chains.longest) < LONGEST_OF_SHORT * sector;
        }
        if put > MOST_SPANS {
            return Ok(None);
        }
        spend_on(put, STEPS_OF_SPAN)?;
        let Buffers { bits, set } = buffers;
        bits.begin(if all_short { put } else { 0 });
        set.clear();
        for (part, chains) in self.parts.iter().zip(counted.chains) {
            let (layout, start) = counted.begins(part);
            let bytes = layout.bytes();
            for chain in &chains.all {
                let (first, last) = (start.wrapping_add(chain.first), start.wrapping_add(chain.last));
                let sectors = bytes.iter().map(|span| UnitRun {
                    first: quotient(span.first.wrapping_add(first), sector),
                    last: quotient(span.last.wrapping_add(last), sector),
                });
                if all_short {
                    sectors.for_each(|run| bits.add(run));
                } else {
                    set.extend(sectors);
                }
            }
        }
        let sectors = if all_short { bits.count() as f64 } else { set.count() };
        Ok(Some((sectors, put)))
    }

    /// Counts with the footprint engines. Also says whether the number is an estimate.
    fn by_engine(&self, warp: usize, shapes: &[StreamShapes]) -> Result<(f64, bool), NotRun> {
        let mut pieces = Vec::new();
        for part in self.parts {
            let (_, start) = shapes[part.stream].starts.all[warp];
            for load in &part.loads {
                spend(STEPS_OF_PIECES)?;
                self.pieces(part.stream, load, warp, start, &mut pieces).ok_or(NotRun::Overflow)?;
            }
        }
        let query = Query { pieces, line: self.pipe.sector };
        match Counter::cheapest().count(&query) {
            Ok(count) => Ok((count.lines as f64, count.interval_lines.is_some())),
            Err(why) if why.is_spent() => Err(NotRun::Spent(Spent)),
            Err(_) => Err(NotRun::Overflow),
        }
    }

    /// One box per straight run of lanes, with the loops around the load.
    fn pieces(
        &self,
        stream: usize,
        load: &PlannedAccess,
        warp: usize,
        start: i64,
        out: &mut Vec<Piece>,
    ) -> Option<()> {
        let pattern = self.plan.streams[stream].pattern;
        let (first, lanes) = self.warp(warp)?;
        let block = self.plan.launch.candidate.block();
        let id = first[0] + block[0] * (first[1] + block[1] * first[2]);
        let limit = self.plan.limits[pattern.limit];
        // Threads in rows and planes of the block are what blocks are in those of a grid.
        for run in blocks_of_wave(Grid::known(block.into()), id, lanes) {
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
    fn warp(&self, mut warp: usize) -> Option<(Thread, i64)> {
        let blocks = self.plan.phases.blocks().len();
        for class in &self.plan.classes {
            let of_class = class.firsts.len() * blocks;
            if warp < of_class {
                return Some((class.firsts[warp / blocks], class.arrangement.count()));
            }
            warp -= of_class;
        }
        None
    }
}
