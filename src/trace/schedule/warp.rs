//! Threads to warps, and the instructions that a warp does together.

use std::borrow::Cow;
use std::num::NonZeroU16;

use super::order::ProgramOrder;
use crate::trace::model::{Tables, Trace, TraceAccess, TraceKind};
use crate::trace::numbering::number;

/// How threads form warps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarpShape {
    lanes: NonZeroU16,
    strided: bool,
}

impl Default for WarpShape {
    fn default() -> Self {
        const LANES: NonZeroU16 = NonZeroU16::new(32).unwrap();
        Self { lanes: LANES, strided: false }
    }
}

impl WarpShape {
    /// Warps of so many threads that lie side by side; there are none of 0 threads, or more than 65535.
    pub fn new(size: u32) -> Option<Self> {
        let lanes = NonZeroU16::new(u16::try_from(size).ok()?)?;
        Some(Self { lanes, strided: false })
    }

    /// Whether threads of a warp lie as far apart as there are warps in the block (N 4.6), not side by side.
    #[must_use]
    pub fn strided(self, strided: bool) -> Self {
        Self { strided, ..self }
    }

    /// Threads of a warp.
    pub fn size(self) -> u32 {
        u32::from(self.lanes())
    }

    /// The same, as lanes are numbered.
    pub fn lanes(self) -> u16 {
        self.lanes.get()
    }

    /// Warps of a block of so many threads.
    pub fn warps(self, block: usize) -> usize {
        block.div_ceil(usize::from(self.lanes())).max(1)
    }

    /// The threads of a warp, by their numbers in the whole trace, in the order of lanes.
    pub fn threads(self, block: usize, group: usize, warp: usize) -> impl Iterator<Item = usize> {
        let (warps, size) = (self.warps(block), usize::from(self.lanes()));
        let strided = self.strided;
        (0..size)
            .map(move |lane| if strided { lane * warps + warp } else { warp * size + lane })
            .take_while(move |&t| t < block)
            .map(move |t| group * block + t)
    }
}

/// Which accesses of lanes belong to one instruction of their warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// The n-th of each lane: for traces that know no instructions (N).
    Position,
    /// Those of one instruction in one iteration of its loops (C 5.3.2).
    Instruction,
}

/// A lane's part in an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Position of its access in [`Trace::accesses`].
    pub access: u32,
    /// Number of the lane.
    pub lane: u16,
}

/// Finds the instructions of warps one after another; keeps its memory from warp to warp.
#[derive(Debug)]
pub struct WarpSteps<'t> {
    tables: &'t Tables,
    grouping: Grouping,
    order: Option<Cow<'t, ProgramOrder>>,
    /// Next and last access of each lane.
    lanes: Vec<(u32, u32)>,
    group: Vec<Lane>,
}

impl<'t> WarpSteps<'t> {
    /// For the warps of a trace.
    pub fn new(trace: &'t Trace, grouping: Grouping) -> Self {
        let order = (grouping == Grouping::Instruction).then(|| Cow::Owned(ProgramOrder::new(trace)));
        Self { tables: &trace.tables, grouping, order, lanes: Vec::new(), group: Vec::new() }
    }

    /// For warps of a launch whose order is known, whatever holds their accesses.
    pub fn ordered(tables: &'t Tables, grouping: Grouping, order: &'t ProgramOrder) -> Self {
        let order = (grouping == Grouping::Instruction).then_some(Cow::Borrowed(order));
        Self { tables, grouping, order, lanes: Vec::new(), group: Vec::new() }
    }

    /// Calls `visit` for every instruction of the warp with these threads of a trace, with the lanes that do it.
    /// All accesses of an instruction are barriers, or none.
    pub fn visit(
        &mut self,
        trace: &Trace,
        threads: impl Iterator<Item = usize>,
        mut visit: impl FnMut(&[Lane]),
    ) {
        let accesses = trace.accesses();
        self.lanes.clear();
        for thread in threads {
            let own = trace.range(thread);
            self.lanes.push((number(own.start), number(own.end)));
        }
        loop {
            self.group.clear();
            self.candidates(accesses);
            if self.group.is_empty() && !self.barrier(accesses) {
                return;
            }
            for lane in &self.group {
                self.lanes[usize::from(lane.lane)].0 += 1;
            }
            visit(&self.group);
        }
    }

    /// The lanes that do the next instruction; none if all wait at a barrier or are done.
    fn candidates(&mut self, accesses: &[TraceAccess]) {
        let mut first: Option<&TraceAccess> = None;
        for (lane, &(next, end)) in (0..=u16::MAX).zip(&self.lanes) {
            if next == end {
                continue;
            }
            let access = &accesses[next as usize];
            if access.kind == TraceKind::Barrier {
                continue;
            }
            let lane = Lane { access: next, lane };
            let Some(order) = &self.order else {
                self.group.push(lane);
                continue;
            };
            let by_time = first.map(|f| order.compare(self.tables, access, f));
            match by_time {
                None | Some(std::cmp::Ordering::Less) => {
                    self.group.clear();
                    first = Some(access);
                    self.group.push(lane);
                }
                Some(std::cmp::Ordering::Equal) => self.group.push(lane),
                Some(std::cmp::Ordering::Greater) => {}
            }
        }
        debug_assert!(self.grouping == Grouping::Instruction || first.is_none());
    }

    /// Puts all lanes that wait at a barrier into the group; whether there are any.
    fn barrier(&mut self, accesses: &[TraceAccess]) -> bool {
        for (lane, &(next, end)) in (0..=u16::MAX).zip(&self.lanes) {
            if next < end && accesses[next as usize].kind == TraceKind::Barrier {
                self.group.push(Lane { access: next, lane });
            }
        }
        !self.group.is_empty()
    }
}
