//! Accesses of warps that were met already: what lanes cost depends on how they lie to each other and how the first
//! of them is aligned, and little of that differs from warp to warp and from iteration to iteration.

use rustc_hash::FxHashMap;

use super::lanes::{Lanes, MOST_LANES};
use super::pipe::{Pipe, low_half};
use super::spans::UnitRun;
use super::tags::TouchedLines;
use crate::footprint::{quotient, remainder};

/// Accesses that are remembered; where there are more, all are forgotten.
const MOST_KNOWN: usize = 1 << 11;
/// Addresses beyond which nothing is remembered.
const LARGEST: i64 = 1 << 60;

/// What an access costs, wherever in memory it is.
#[derive(Debug)]
pub(super) struct Met {
    /// Where active lanes begin, from the multiple of the period before the first of them.
    lanes: Vec<i64>,
    active: u64,
    width: i64,
    shared: bool,
    pub(super) data: u32,
    /// Tag wavefronts where they depend on nothing else.
    tag: Option<u32>,
    /// The lines, from that multiple on, where they do.
    touched: TouchedLines,
    /// Distinct sectors, as runs of adjacent ones, and distinct lines.
    pub(super) sectors: u32,
    pub(super) runs: Vec<UnitRun>,
    pub(super) lines: u32,
}

/// What was met.
#[derive(Debug, Default)]
pub(super) struct AccessesMet {
    /// By a hash of what they are known by.
    known: FxHashMap<u64, Vec<u32>>,
    all: Vec<Met>,
    /// How often all were forgotten.
    forgotten: u32,
}

/// An access that was met; no longer known once all were forgotten.
#[derive(Debug, Clone, Copy)]
pub(super) struct MetNumber {
    number: u32,
    forgotten: u32,
}

impl Met {
    fn new(lanes: &[i64], active: u64, width: i64, shared: bool, pipe: &Pipe) -> Self {
        let there = Lanes { addresses: lanes, active };
        if shared {
            let data = Pipe::shared(there, width).data;
            let (touched, runs) = Default::default();
            return Self {
                lanes: lanes.to_vec(),
                active,
                width,
                shared,
                data,
                tag: Some(0),
                touched,
                sectors: 0,
                runs,
                lines: 0,
            };
        }
        let wavefronts = pipe.global(there, width);
        let sectors = there.touched(width, pipe.sector);
        let lines = there.touched(width, pipe.line);
        let number = |units: &[i64]| u32::try_from(units.len()).expect("a warp touches few units");
        let by_set = pipe.tags_by_set(width);
        let low: Vec<u32> =
            if by_set { lines.iter().map(|&line| low_half(line)).collect() } else { Vec::new() };
        Self {
            lanes: lanes.to_vec(),
            active,
            width,
            shared,
            data: wavefronts.data,
            tag: (!by_set).then_some(wavefronts.tag),
            touched: TouchedLines::new(&low),
            sectors: number(&sectors),
            runs: runs(&sectors),
            lines: number(&lines),
        }
    }

    /// Tag wavefronts where the multiple of the period is this one.
    pub(super) fn tag(&self, base: i64, pipe: &Pipe) -> u32 {
        self.tag.unwrap_or_else(|| self.touched.tags(low_half(quotient(base, pipe.line))))
    }
}

impl AccessesMet {
    /// What was met, if it is still known.
    pub(super) fn get(&mut self, met: MetNumber) -> Option<&mut Met> {
        (met.forgotten == self.forgotten).then(|| &mut self.all[met.number as usize])
    }

    /// As what an access is known, and the multiple of the period before its first lane; `None` where what it costs
    /// depends on more than is remembered.
    pub(super) fn find(
        &mut self,
        lanes: Lanes,
        width: i64,
        shared: bool,
        (pipe, period): (&Pipe, i64),
    ) -> Option<(MetNumber, i64)> {
        let there = lanes.addresses.len().min(MOST_LANES);
        let anchor = lanes.active.trailing_zeros() as usize;
        let first = *lanes.addresses[..there].get(anchor)?;
        let base = first.checked_sub(remainder(first, period))?;
        let mut relative = [0_i64; MOST_LANES];
        let mut hash = lanes.active ^ (u64::from(shared) << 63) ^ (width.unsigned_abs() << 32);
        for (lane, (relative, address)) in relative.iter_mut().zip(&lanes.addresses[..there]).enumerate() {
            let is_active = lanes.active >> lane & 1 == 1;
            if is_active && !(-LARGEST..LARGEST).contains(address) {
                return None;
            }
            *relative = if is_active { address.wrapping_sub(base) } else { 0 };
            hash = (hash.rotate_left(5) ^ relative.cast_unsigned()).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        let relative = &relative[..there];
        if self.all.len() >= MOST_KNOWN {
            let forgotten = self.forgotten.wrapping_add(1);
            *self = Self { forgotten, ..Self::default() };
        }
        let alike = self.known.entry(hash).or_default();
        let is_like = |met: &Met| {
            met.active == lanes.active && met.width == width && met.shared == shared && met.lanes == relative
        };
        let forgotten = self.forgotten;
        if let Some(&number) = alike.iter().find(|&&number| is_like(&self.all[number as usize])) {
            return Some((MetNumber { number, forgotten }, base));
        }
        let number = u32::try_from(self.all.len()).expect("no more are known than may be");
        alike.push(number);
        self.all.push(Met::new(relative, lanes.active, width, shared, pipe));
        Some((MetNumber { number, forgotten }, base))
    }
}

/// Ascending sectors as runs.
pub(super) fn runs(sectors: &[i64]) -> Vec<UnitRun> {
    let adjacent = sectors.chunk_by(|a, b| *b == a + 1);
    adjacent.map(|run| UnitRun { first: run[0], last: run[run.len() - 1] }).collect()
}
