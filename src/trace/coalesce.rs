//! Coalescing (N 4.1, CUDA programming guide G.4.2): the accesses of a warp instruction become one request
//! for each cache line. Full, half and quarter warps are served at once for 4, 8 and 16 bytes of a lane, or whole
//! warps always. Where the lanes of one access have several widths, as traces without instructions may have them,
//! a lane's own width says with which of the lanes before it it may share: the published program's rule.

use super::bytes::bytes_of_line;
use super::intern::Interner;
use super::model::{Trace, TraceAccess, TraceKind};
use super::numbering::number;
use super::schedule::{Grouping, Lane, WarpShape, WarpSteps};

#[expect(clippy::struct_excessive_bools, reason = "switches that are independent of each other")]
/// How requests are formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coalescing {
    /// Threads of a warp.
    pub warp: WarpShape,
    /// Bytes of a line; a power of two.
    pub line: u64,
    /// Which accesses belong together.
    pub grouping: Grouping,
    /// An access that lies in two lines makes two requests; the published program drops the second one.
    pub split: bool,
    /// Lanes of 8 or 16 bytes are served in half or quarter warps; otherwise always the whole warp.
    pub partial_warps: bool,
    /// Only loads: Fermi's L1 cache does not see stores (N 3).
    pub loads_only: bool,
    /// Also which bytes of their lines requests are for.
    pub bytes: bool,
}

impl Default for Coalescing {
    fn default() -> Self {
        Self {
            warp: WarpShape::default(),
            line: 128,
            grouping: Grouping::Instruction,
            split: true,
            partial_warps: true,
            loads_only: true,
            bytes: false,
        }
    }
}

/// A request of a warp for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRequest {
    /// Number of the line: a position in [`Requests::lines`].
    pub line: u32,
    /// The first lane that needs it.
    pub lane: u16,
    /// What it does.
    pub kind: TraceKind,
    /// Which of the line's sectors it needs, from the lowest on; at most eight, of at least 32 bytes.
    pub sectors: u8,
}

/// One instruction of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarpStep {
    /// End of its requests; they begin where those before end.
    pub end: u32,
    /// Its instruction, as accesses know it.
    pub instruction: u32,
    /// In how many portions the published program serves it: the bytes of lane 0 over 4.
    pub portions: u16,
    /// Whether it is a barrier.
    pub barrier: bool,
}

/// One warp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warp {
    /// Number of its block.
    pub block: u32,
    /// Its steps.
    pub steps: std::ops::Range<usize>,
    /// Where its first request lies.
    pub first: u32,
    /// Its first lane in [`Requests::lengths`].
    pub lanes: std::ops::Range<usize>,
}

/// The requests of all warps.
#[derive(Debug)]
pub struct Requests {
    /// Addresses of the lines over their size.
    pub lines: Vec<u64>,
    /// All requests.
    pub requests: Vec<LineRequest>,
    /// All steps.
    pub steps: Vec<WarpStep>,
    /// All warps, by block.
    pub warps: Vec<Warp>,
    /// In how many steps each lane of each warp takes part.
    pub lengths: Vec<u32>,
    /// Threads of a warp.
    pub warp_size: u32,
    /// Warps of a block.
    pub warps_per_block: usize,
    /// Accesses of single lanes that went into the requests.
    pub accesses: u64,
    /// Of each request the bytes of its line that lanes access, the first in the lowest bit; in steps of a 128th of
    /// lines that are longer. Empty unless they were asked for.
    pub bytes: Vec<u128>,
}

impl Requests {
    /// The requests of some blocks of a trace.
    pub fn coalesced(trace: &Trace, how: Coalescing, blocks: std::ops::Range<usize>) -> Self {
        let mut builder = RequestsBuilder::new(how, trace.block_threads());
        let mut steps = WarpSteps::new(trace, how.grouping);
        for block in blocks {
            builder.block(block, trace, block, &mut steps);
        }
        builder.finish()
    }

    /// About the bytes that they take.
    pub fn bytes(&self) -> u64 {
        let of = |count: usize, size: usize| count as u64 * size as u64;
        of(self.lines.len(), 8)
            + of(self.requests.len(), size_of::<LineRequest>())
            + of(self.steps.len(), size_of::<WarpStep>())
            + of(self.warps.len(), size_of::<Warp>())
            + of(self.lengths.len(), 4)
            + of(self.bytes.len(), size_of::<u128>())
    }

    /// The requests of a step of a warp.
    pub fn of_step(&self, warp: &Warp, step: usize) -> &[LineRequest] {
        &self.requests[self.places_of_step(warp, step)]
    }

    /// Where they lie among all requests.
    pub fn places_of_step(&self, warp: &Warp, step: usize) -> std::ops::Range<usize> {
        let from = if step == warp.steps.start { warp.first } else { self.steps[step - 1].end };
        from as usize..self.steps[step].end as usize
    }
}

/// Makes requests block by block.
#[derive(Debug)]
pub struct RequestsBuilder {
    how: Coalescing,
    threads: usize,
    shift: u32,
    sector_shift: u32,
    interner: Interner,
    /// Of each line the request that serves it, and the last lane that needed it.
    latest: Vec<(u32, u16)>,
    lengths: Vec<u32>,
    first_step: usize,
    first_request: u32,
    all: Requests,
}

impl RequestsBuilder {
    /// For blocks of so many threads.
    pub fn new(how: Coalescing, threads: usize) -> Self {
        let shift = how.line.max(1).ilog2();
        let all = Requests {
            lines: Vec::new(),
            requests: Vec::new(),
            steps: Vec::new(),
            warps: Vec::new(),
            lengths: Vec::new(),
            warp_size: how.warp.size(),
            warps_per_block: how.warp.warps(threads),
            accesses: 0,
            bytes: Vec::new(),
        };
        Self {
            how,
            threads,
            shift,
            sector_shift: shift.saturating_sub(3).max(5).min(shift),
            interner: Interner::default(),
            latest: Vec::new(),
            lengths: Vec::new(),
            first_step: 0,
            first_request: 0,
            all,
        }
    }

    /// Adds a block of the launch, which is a block of a trace.
    pub fn block(&mut self, number: usize, trace: &Trace, place: usize, steps: &mut WarpSteps<'_>) {
        for warp in 0..self.all.warps_per_block {
            self.begin();
            let threads = || self.how.warp.threads(self.threads, place, warp);
            let count = threads().count();
            let all = threads();
            steps.visit(trace, all, |lanes| self.step(trace.accesses(), lanes));
            self.end(number, count);
        }
    }

    /// About the bytes that are held.
    pub fn bytes(&self) -> u64 {
        // Vectors that grow have room for up to twice what they hold.
        2 * self.all.bytes() + self.interner.bytes() + self.latest.len() as u64 * 8
    }

    fn begin(&mut self) {
        self.lengths.clear();
        self.lengths.resize(self.how.warp.size() as usize, 0);
        self.first_step = self.all.steps.len();
        self.first_request = number(self.all.requests.len());
    }

    fn step(&mut self, accesses: &[TraceAccess], lanes: &[Lane]) {
        let from = number(self.all.requests.len());
        let mut barrier = false;
        let mut kept = None;
        let mut portions = 1;
        for &Lane { access: position, lane } in lanes {
            let access = accesses[position as usize];
            if access.kind == TraceKind::Barrier {
                barrier = true;
                kept.get_or_insert(access.instruction);
                continue;
            }
            if self.how.loads_only && access.kind != TraceKind::Load {
                continue;
            }
            kept.get_or_insert(access.instruction);
            self.lengths[usize::from(lane)] += 1;
            self.all.accesses += 1;
            if lane == 0 {
                portions = (access.bytes / 4).max(1);
            }
            let last = access.address.saturating_add(u64::from(access.bytes.max(1)) - 1);
            self.request(from, access.address, last, lane, access.kind, access.bytes);
        }
        let Some(instruction) = kept else { return };
        self.all.steps.push(WarpStep {
            end: number(self.all.requests.len()),
            instruction,
            portions,
            barrier,
        });
    }

    /// Requests for the bytes from `first` to `last`.
    fn request(&mut self, from: u32, first: u64, last: u64, lane: u16, kind: TraceKind, bytes: u16) {
        let size = self.how.warp.lanes();
        let served = match bytes {
            8 if self.how.partial_warps => size / 2,
            16 if self.how.partial_warps => size / 4,
            _ => size,
        };
        let group = lane / served.max(1) * served.max(1);
        let (line, end) = (first >> self.shift, last >> self.shift);
        let end = if self.how.split { end } else { line };
        for line in line..=end {
            let number_of = self.interner.number(line);
            let sectors = self.sectors(line, first, last);
            if self.latest.len() <= number_of as usize {
                self.latest.resize(number_of as usize + 1, (u32::MAX, 0));
            }
            let known = &mut self.latest[number_of as usize];
            if known.0 != u32::MAX && known.0 >= from && known.1 >= group {
                let request = &mut self.all.requests[known.0 as usize];
                if request.kind == kind {
                    request.sectors |= sectors;
                    known.1 = lane;
                    if let Some(bytes) = self.all.bytes.get_mut(known.0 as usize) {
                        *bytes |= bytes_of_line(self.shift, line, first, last);
                    }
                    continue;
                }
            }
            *known = (number(self.all.requests.len()), lane);
            self.all.requests.push(LineRequest { line: number_of, lane, kind, sectors });
            if self.how.bytes {
                self.all.bytes.push(bytes_of_line(self.shift, line, first, last));
            }
        }
    }

    /// Which sectors of a line the bytes from `first` to `last` lie in.
    fn sectors(&self, line: u64, first: u64, last: u64) -> u8 {
        let begin = line << self.shift;
        let most = (1_u64 << (self.shift - self.sector_shift)) - 1;
        let from = first.saturating_sub(begin) >> self.sector_shift;
        let to = (last.saturating_sub(begin) >> self.sector_shift).min(most);
        let up_to = |n: u64| (2_u64 << n.min(7)) - 1;
        let below = if from == 0 { 0 } else { up_to(from - 1) };
        #[expect(clippy::cast_possible_truncation, reason = "a line has at most eight sectors")]
        let sectors = (up_to(to) & !below) as u8;
        sectors
    }

    fn end(&mut self, block: usize, lanes: usize) {
        let first_lane = self.all.lengths.len();
        self.all.lengths.extend_from_slice(&self.lengths[..lanes.min(self.lengths.len())]);
        self.all.warps.push(Warp {
            block: number(block),
            steps: self.first_step..self.all.steps.len(),
            first: self.first_request,
            lanes: first_lane..self.all.lengths.len(),
        });
    }

    /// All requests.
    pub fn finish(self) -> Requests {
        Requests { lines: self.interner.lines().to_vec(), ..self.all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Dim3, Header, Tables, TraceAccess, TraceBuilder};

    fn requests(bytes: u16, stride: u64, offset: u64, how: Coalescing) -> Vec<(u64, u16, u8)> {
        let header = Header { kernel: None, block: Dim3([32, 1, 1]), grid: None };
        let mut builder = TraceBuilder::new(header, false);
        for t in 0..32 {
            builder.push(TraceAccess::plain(t, TraceKind::Load, offset + u64::from(t) * stride, bytes));
        }
        let trace = builder.finish(Tables::default());
        let all = Requests::coalesced(&trace, how, 0..1);
        assert_eq!(all.steps.len(), 1);
        all.requests.iter().map(|r| (all.lines[r.line as usize], r.lane, r.sectors)).collect()
    }

    #[test]
    fn whole_half_and_quarter_warps() {
        let how = Coalescing::default();
        assert_eq!(requests(4, 4, 0, how), [(0, 0, 0b1111)]);
        assert_eq!(requests(4, 0, 64, how), [(0, 0, 0b0100)]);
        // Broadcasts of 8 bytes are served for each half, of 16 for each quarter.
        assert_eq!(requests(8, 0, 0, how), [(0, 0, 1), (0, 16, 1)]);
        assert_eq!(requests(16, 0, 0, how).len(), 4);
        assert_eq!(requests(8, 0, 0, Coalescing { partial_warps: false, ..how }).len(), 1);
    }

    /// The published program's rule: a lane's own width says with which of the lanes before it it may share.
    #[test]
    fn mixed_widths_follow_the_published_program() {
        let mut random = crate::random::Random::new(3);
        for _ in 0..500 {
            let lanes: Vec<(u64, u16)> =
                (0..32).map(|_| (random.next() % 48 * 16, [1, 2, 4, 8, 16][random.below(5)])).collect();
            let active: Vec<u16> = (0..32_u16)
                .filter(|&lane| {
                    let (address, bytes) = lanes[usize::from(lane)];
                    let size = match bytes {
                        8 => 16,
                        16 => 8,
                        _ => 32,
                    };
                    let group = lane / size * size;
                    !(group..lane).any(|l| lanes[usize::from(l)].0 / 128 == address / 128)
                })
                .collect();
            let header = Header { kernel: None, block: Dim3([32, 1, 1]), grid: None };
            let mut builder = TraceBuilder::new(header, false);
            for (t, &(address, bytes)) in (0..).zip(&lanes) {
                builder.push(TraceAccess::plain(t, TraceKind::Load, address, bytes));
            }
            let trace = builder.finish(Tables::default());
            let how = Coalescing { grouping: Grouping::Position, split: false, ..Coalescing::default() };
            let all = Requests::coalesced(&trace, how, 0..1);
            assert_eq!(all.requests.iter().map(|r| r.lane).collect::<Vec<_>>(), active);
        }
    }

    #[test]
    fn a_load_over_the_end_of_a_line_makes_two_requests() {
        let how = Coalescing::default();
        assert_eq!(requests(8, 0, 124, how), [(0, 0, 0b1000), (1, 0, 1), (0, 16, 0b1000), (1, 16, 1)]);
        assert_eq!(requests(8, 0, 124, Coalescing { split: false, ..how }).len(), 2);
    }

    #[test]
    fn requests_know_the_bytes_that_their_lanes_access() {
        let header = Header { kernel: None, block: Dim3([32, 1, 1]), grid: None };
        let mut builder = TraceBuilder::new(header, false);
        for t in 0..32 {
            builder.push(TraceAccess::plain(t, TraceKind::Store, u64::from(t) * 16, 8));
        }
        let trace = builder.finish(Tables::default());
        let how =
            Coalescing { bytes: true, loads_only: false, partial_warps: false, ..Coalescing::default() };
        let all = Requests::coalesced(&trace, how, 0..1);
        assert_eq!(all.bytes, vec![u128::from_le_bytes([0xFF, 0].repeat(8).try_into().unwrap()); 4]);
        assert_eq!((all.requests.len(), all.requests[0].sectors), (4, 0b1111));
    }

    #[test]
    fn strided_accesses_need_a_line_each() {
        let all = requests(4, 128, 0, Coalescing::default());
        assert_eq!(all.len(), 32);
        assert_eq!(all[31], (31, 31, 1));
    }
}
