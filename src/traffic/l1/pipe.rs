//! The rules for one warp-wide instruction.

use super::lanes::{Lanes, MOST_LANES};
use super::sets::{self, LineChunks};
use super::spans;
use crate::device::{Device, Rules, signed};
use crate::footprint::gcd;
use crate::quantity::{Bytes, Cycle};

/// Bytes of a bank.
const BANK: i64 = 4;
/// Banks of the data stage; all rules have 32 banks of 4 bytes.
const BANKS: i64 = 32;
/// Bytes that one lane can move in one instruction; wider accesses become several.
const WIDEST: i64 = 16;
/// Bytes that the vector memory path of a CDNA compute unit moves per cycle (CDNA whitepapers).
const CDNA_ROW: i64 = 64;

/// Passes that a warp-wide instruction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StageWavefronts {
    /// Through the data stage: bank conflicts.
    pub data: u32,
    /// Through the tag stage: distinct lines.
    pub tag: u32,
    /// Bytes that all lanes get, if no more than half of a line is touched in each pass through the data stage.
    pub light: Option<u32>,
}

/// What the lanes of one instruction touch: of shared memory no sectors and lines.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Touched {
    pub(super) lanes: u32,
    pub(super) sectors: u32,
    pub(super) lines: u32,
}

/// What of a device decides about the first-level cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pipe {
    /// Which rules.
    pub rules: Rules,
    /// Bytes under a tag.
    pub line: i64,
    /// Bytes that are fetched at least.
    pub sector: i64,
    /// Lanes of a warp; at most 64.
    pub warp: usize,
    /// Bytes per cycle.
    pub bandwidth: Bytes<Cycle>,
    /// Cycles that a wavefront of the data stage takes.
    pub(super) wavefront: f64,
    /// Lanes whose accesses are taken in per cycle.
    pub(super) lanes: f64,
}

impl Pipe {
    /// The pipe of a device.
    pub fn new(device: &Device) -> Self {
        // What is longer holds all that a warp touches, as this does.
        let bytes = |n: u64| signed(n).clamp(1, 1 << 20);
        let warp = usize::try_from(device.sm.warp_size.value.0).unwrap_or(MOST_LANES);
        Self {
            rules: device.l1.rules,
            line: bytes(device.l1.line.value.0),
            sector: bytes(device.l1.sector.value.0),
            warp: warp.clamp(1, MOST_LANES),
            bandwidth: Bytes::new(device.l1.bandwidth.value.0),
            wavefront: device.l1.wavefront_cycles.value.0,
            lanes: (device.l1.lanes.value.0 as f64).max(1.0),
        }
    }

    /// After so many bytes lines, sectors and banks lie the same way again; `None` where that is too far.
    pub(super) fn period(&self) -> Option<i64> {
        let mut period = 128_i64;
        for unit in [self.line, self.sector] {
            period = (period / gcd(period, unit)).checked_mul(unit)?;
        }
        (period <= 1 << 12).then_some(period)
    }

    /// Wavefronts of a load or store of global memory, `width` bytes per lane.
    pub fn global(&self, lanes: Lanes, width: i64) -> StageWavefronts {
        let stages = pieces(lanes, width, |lanes, width| [self.data(lanes, width), self.tag(lanes, width)]);
        let units = |unit| spans::units(spans::of_lanes(lanes, width, unit).iter(), unit, |_| {}).0;
        let (sectors, lines) = (units(self.sector), units(self.line));
        self.wavefronts(stages, Touched { lanes: lanes.count(), sectors, lines }, width)
    }

    /// Wavefronts of a load or store of shared memory: bank conflicts alone.
    pub fn shared(lanes: Lanes, width: i64) -> StageWavefronts {
        let [data, tag] = pieces(lanes, width, |lanes, width| {
            [conflicts_by_group(lanes, width, shared_together(lanes, width)), 0]
        });
        StageWavefronts { data, tag, light: None }
    }

    /// Cycles of the pipe for one instruction of global memory: the larger of both stages, and at
    /// least the time that a full warp takes.
    pub fn cycles(&self, wavefronts: StageWavefronts, width: i64) -> f64 {
        self.slower(wavefronts).max(self.floor(width))
    }

    /// Passes through both stages, of which it matters as well what they touch.
    pub(super) fn wavefronts(&self, [data, tag]: [u32; 2], of: Touched, width: i64) -> StageWavefronts {
        let halves = 2 * i64::from(of.sectors) * self.sector <= i64::from(of.lines) * self.line;
        let bytes = i64::from(of.lanes).saturating_mul(width);
        let light = (halves && of.lines >= data).then(|| u32::try_from(bytes).unwrap_or(u32::MAX));
        StageWavefronts { data, tag, light }
    }

    /// Cycles of the slower stage. Where it takes the data stage two cycles for a row of banks (Turing), it takes one for
    /// half a line: 32 lanes load from 32 lines in 32 cycles (products of a matrix and a vector, RTX 2060). But registers
    /// get no more than half a row per cycle, and conflicts in shared memory cost two cycles each (docs/fits.md, section 22).
    pub(super) fn slower(&self, wavefronts: StageWavefronts) -> f64 {
        let data = f64::from(wavefronts.data);
        let data = match wavefronts.light {
            Some(bytes) => {
                let home = f64::from(bytes) / (BANK * BANKS) as f64 * self.wavefront;
                (data * self.wavefront.min(1.0)).max(home)
            }
            None => data * self.wavefront,
        };
        data.max(f64::from(wavefronts.tag))
    }

    /// Cycles that so many lanes take at least whose passes through the data stage are known, whatever lines they are in.
    pub(super) fn least(&self, data: u32, lanes: u32, width: i64) -> f64 {
        self.slower(self.wavefronts([data, 0], Touched { lanes, sectors: 0, lines: data }, width))
    }

    /// Cycles in which a full warp passes, whatever it accesses. On Volta and later lanes limit that, elsewhere
    /// bytes do: the A40 takes two cycles even where all lanes read one word, and no more for two words of a lane.
    pub fn floor(&self, width: i64) -> f64 {
        match self.rules {
            Rules::Volta => self.warp as f64 / self.lanes * instructions(width) as f64,
            Rules::Cdna | Rules::Fermi | Rules::Rdna => {
                let bytes = self.warp as f64 * width as f64;
                if self.bandwidth > Bytes::ZERO { bytes / self.bandwidth.get() } else { 0.0 }
            }
        }
    }

    /// The same of shared memory, whose rate in bytes is that of its wavefronts.
    pub fn shared_floor(&self, width: i64) -> f64 {
        match self.rules {
            Rules::Volta => self.floor(width),
            Rules::Cdna | Rules::Fermi | Rules::Rdna => 0.0,
        }
    }

    /// Whether the tag stage looks at nothing but which lines an instruction touches.
    pub(super) fn tags_by_set(&self, width: i64) -> bool {
        self.rules == Rules::Volta && width <= WIDEST
    }

    /// Whether an access of memory takes several instructions, each of which looks up sets of its own: then not even the
    /// sets of all its lines say what it costs.
    pub(super) fn parts_by_set(&self, width: i64) -> bool {
        self.rules == Rules::Volta && width > WIDEST
    }

    /// Whether the data stage looks at nothing but banks.
    pub(super) fn conflicts_by_bank(&self, width: i64) -> bool {
        self.rules == Rules::Volta && width <= WIDEST
    }

    /// Whether elements of so many bytes begin with a bank.
    pub(super) fn whole_banks(size: i64) -> bool {
        size % BANK == 0
    }

    /// Passes through the data stage.
    pub(super) fn data(&self, lanes: Lanes, width: i64) -> u32 {
        match self.rules {
            // Ernst et al., section 4.2, as the measurements refine it.
            Rules::Volta => bank_conflicts(lanes, width),
            // Lanes of 4 bytes are served by 16, wider ones by 4: so a published bandwidth run on the
            // MI210 gets 60 B/cycle with 4 and 16 bytes per lane, but 32 with 8.
            Rules::Cdna => {
                let together = if width <= BANK { 16 } else { 4 };
                lines_by_group(lanes, width, together, CDNA_ROW)
            }
            // As many lanes as fill a line together, one line per pass, whose words all lie in different
            // banks. Fermi: CUDA C Programming Guide, compute capability 2.x; RDNA: assumed.
            Rules::Fermi | Rules::Rdna => lines_by_group(lanes, width, lanes_together(width), self.line),
        }
    }

    /// Passes through the tag stage.
    fn tag(&self, lanes: Lanes, width: i64) -> u32 {
        match self.rules {
            Rules::Volta => {
                let mut chunks = Vec::new();
                let bytes = spans::of_lanes(lanes, width, self.line);
                let mut place = 0;
                let (number, _) = spans::units(bytes.iter(), self.line, |line| {
                    sets::put(low_half(line), place, &mut chunks);
                    place += 1;
                });
                sets::conflicts(0, LineChunks { chunks: &chunks, number })
            }
            Rules::Fermi | Rules::Rdna => lines_by_group(lanes, width, lanes_together(width), self.line),
            // Addresses are processed by quarter waves; one tag per cycle is assumed.
            Rules::Cdna => lines_by_group(lanes, width, 16, self.line),
        }
    }
}

/// The lower half of a line's number, all that [`sets`] looks at.
pub fn low_half(line: i64) -> u32 {
    u32::try_from(line & i64::from(u32::MAX)).expect("the mask leaves 32 bits")
}

/// Instructions that an access of so many bytes per lane takes.
fn instructions(width: i64) -> i64 {
    (width + WIDEST - 1).div_euclid(WIDEST).max(1)
}

/// An access wider than an instruction is several, one after the other.
fn pieces(lanes: Lanes, width: i64, one: impl Fn(Lanes, i64) -> [u32; 2]) -> [u32; 2] {
    if width <= WIDEST {
        return one(lanes, width.max(1));
    }
    let mut total = [0_u32; 2];
    let mut from = 0;
    while from < width {
        let addresses: Vec<i64> = lanes.addresses.iter().map(|a| a.saturating_add(from)).collect();
        let part = one(Lanes { addresses: &addresses, active: lanes.active }, WIDEST.min(width - from));
        total = [total[0].saturating_add(part[0]), total[1].saturating_add(part[1])];
        from += WIDEST;
    }
    total
}

/// Lanes that the data stage serves together: as many as fill 32 banks of 4 bytes.
fn lanes_together(width: i64) -> usize {
    match width {
        ..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

/// Whole warp, half warp or quarter warp at a time over 32 banks of 4 bytes: each group takes as many
/// passes as its fullest bank has distinct words.
fn bank_conflicts(lanes: Lanes, width: i64) -> u32 {
    conflicts_by_group(lanes, width, lanes_together(width))
}

/// Lanes of a load of shared memory that are served together. Where lanes pair on the same address, a group has half
/// as many words, and the next group goes with it: so bank conflicts of 8 and 16 bytes per lane are counted on
/// Volta and later (pairs of lanes that differ in the lowest or in the second bit of their number).
fn shared_together(lanes: Lanes, width: i64) -> usize {
    let alone = lanes_together(width);
    let merged = alone < 32 && (lanes.pair_up(1) || lanes.pair_up(2));
    if merged { 2 * alone } else { alone }
}

/// Passes where so many lanes at a time are served.
fn conflicts_by_group(lanes: Lanes, width: i64, size: usize) -> u32 {
    let one = |number| {
        let mut banks = [0_u32; 32];
        let bytes = spans::of_lanes(lanes.part(number, size), width, BANK);
        spans::units(bytes.iter(), BANK, |word| {
            if let Some(bank) = usize::try_from(word & (BANKS - 1)).ok().and_then(|b| banks.get_mut(b)) {
                *bank += 1;
            }
        });
        banks.into_iter().max().unwrap_or(0)
    };
    (0..lanes.groups(size)).map(one).sum()
}

/// Distinct lines of each group of `size` lanes, added up.
fn lines_by_group(lanes: Lanes, width: i64, size: usize, line: i64) -> u32 {
    let one = |number| {
        let bytes = spans::of_lanes(lanes.part(number, size), width, line);
        spans::units(bytes.iter(), line, |_| {}).0
    };
    (0..lanes.groups(size)).map(one).fold(0, u32::saturating_add)
}
