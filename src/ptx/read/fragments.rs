//! Matrices that a warp loads and stores together (`wmma.load`, `wmma.store`).
//!
//! NVIDIA says which bytes a warp touches, and not which of its lanes touches which of them. The lanes are taken to share
//! out the rows of the matrix one after the other, each with up to 16 bytes at a time: so the warp touches what it
//! touches, in as many requests as there can be at least.

use super::event::Event;
use super::memory::moved;
use super::reader::Reader;
use super::state::State;
use super::why::Cause;
use crate::ptx::syntax::{PtxInstruction, StateSpace};
use crate::ptx::value::{Cond, Poly};

/// Lanes of a warp.
const LANES: u64 = 32;

/// Bytes that a lane has in one access at most.
const WIDEST: u64 = 16;

const UNKNOWN: &str = "its shape, layout or type is none of those that are read: load what each thread needs, or use `ldmatrix` with \
                       `mma.sync`";

/// What is said of a document with such accesses in it.
const NOTE: &str = "matrices of `wmma` are loaded and stored by whole warps: which bytes is exact, but the lanes are taken to share \
                    them out row by row, as nobody documents which lane touches what";

/// A matrix in memory: rows that lie apart, or columns where it is stored by columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ptx) struct Fragment {
    /// How many rows, and bytes of each.
    pub rows: u64,
    pub row: u64,
    /// Bits and number of the elements of a row.
    pub bits: u64,
    pub elements: u64,
}

impl Fragment {
    /// The matrix of a `wmma.load` or `wmma.store`.
    pub fn touched_by(instruction: &PtxInstruction) -> Option<Self> {
        let has = |word| instruction.has(word);
        let [m, n, k] = instruction.modifiers.iter().find_map(|word| shape(word))?;
        let (rows, columns) = match (has("a"), has("b")) {
            (true, _) => (m, k),
            (_, true) => (k, n),
            _ => (m, n),
        };
        let (rows, elements) = match (has("row"), has("col")) {
            (true, false) => (rows, columns),
            (false, true) => (columns, rows),
            _ => return None,
        };
        let bits = match instruction.modifiers.last()?.as_str() {
            "b1" => 1,
            "u4" | "s4" => 4,
            "u8" | "s8" => 8,
            "f16" | "bf16" => 16,
            "f32" | "tf32" | "s32" => 32,
            "f64" => 64,
            _ => return None,
        };
        let row = elements.checked_mul(bits).filter(|bits| bits % 8 == 0)? / 8;
        let found = Self { rows, row, bits, elements };
        // Whole accesses of all lanes, of which whole ones make up a row and whole rows one of all lanes, or the other way.
        let (width, all) = (found.width(), rows.checked_mul(row)?);
        let fits = width > 0 && all.is_multiple_of(LANES * width) && row.is_multiple_of(width);
        let across = row.checked_div(width).filter(|parts| LANES.is_multiple_of(*parts));
        (fits && across.is_some()).then_some(found)
    }

    /// Bytes of an access of a lane.
    pub fn width(&self) -> u64 {
        (self.rows.saturating_mul(self.row) / LANES).min(WIDEST)
    }

    /// Accesses of a lane.
    pub fn accesses(&self) -> u64 {
        self.rows * self.row / (LANES * self.width())
    }

    /// Accesses that make up a row.
    fn across(&self) -> u64 {
        self.row / self.width()
    }
}

/// `m16n16k16`.
fn shape(word: &str) -> Option<[u64; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    let number = |text: &str| text.parse().ok().filter(|n| (1..=256).contains(n));
    Some([number(m)?, number(n)?, number(k)?])
}

impl Reader<'_> {
    /// `wmma.load`, `wmma.store`.
    pub(super) fn fragment(&mut self, i: usize, state: &State, cond: &Cond, events: &mut Vec<Event>) {
        let instruction = self.instruction(i);
        let (operation, operand) = moved(instruction, instruction.has("load"));
        let space = instruction.modifiers.iter().find_map(|m| StateSpace::named(m));
        let places = Fragment::touched_by(instruction).and_then(|fragment| {
            let start = self.address(i, operand?, state);
            let stride = match instruction.operands.get(2) {
                Some(stride) => self.number(i, stride, state),
                None => Ok(Poly::constant(fragment.elements.into())),
            };
            let (start, stride) = match start.and_then(|start| Ok((start, stride?))) {
                Ok(known) => known,
                Err(why) => return Some((fragment, vec![Err(why)])),
            };
            let places: Option<Vec<Poly>> =
                (0..fragment.accesses()).map(|part| self.part(fragment, &start, &stride, part)).collect();
            match places {
                Some(places) => Some((fragment, places.into_iter().map(Ok).collect())),
                None => Some((fragment, vec![Err(self.why(i, Cause::Formula, None))])),
            }
        });
        let Some((fragment, places)) = places else {
            return self.lost(i, operation, space, Cause::NotRead(UNKNOWN), cond, events);
        };
        self.heeded.notes.insert(NOTE.to_owned());
        for place in places {
            self.reached(i, operation, space, place, fragment.width(), cond, events);
        }
    }

    /// Where a lane does access number `part`: rows lie `stride` elements apart.
    fn part(&mut self, fragment: Fragment, start: &Poly, stride: &Poly, part: u64) -> Option<Poly> {
        let linear = self.linear_thread()?;
        let lane = self.algebra.rem(&linear, LANES.into())?;
        let across = i128::from(fragment.across());
        let first = self.algebra.div(&lane, across)?;
        let row = first.add_number(i128::from(part * LANES / fragment.across()))?;
        // The stride is a number of 32 bits.
        let stride = self.algebra.integer(stride, 32, false)?;
        let bytes = stride.scale(fragment.bits.into())?.exact_quotient(8)?;
        let along = lane.plus(&first, -across)?.scale(fragment.width().into())?;
        self.algebra.multiply(&bytes, &row)?.add(&along)?.add(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::syntax::parse;

    /// Rows and bytes of each, bytes of an access of a lane, and accesses of a lane.
    fn sizes(name: &str) -> Option<(u64, u64, u64, u64)> {
        let text = format!(".version 8.0 .target sm_90 .address_size 64 .visible .entry k() {{ {name} 1; }}");
        let module = parse(&text, Default::default()).unwrap();
        let instruction = &module.entries().next().unwrap().instructions[0];
        let found = Fragment::touched_by(instruction)?;
        Some((found.rows, found.row, found.width(), found.accesses()))
    }

    #[test]
    fn matrices_are_rows_of_bytes() {
        for (name, wanted) in [
            ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16", (16, 32, 16, 1)),
            ("wmma.load.a.sync.aligned.col.m16n16k16.shared.u8", (16, 16, 8, 1)),
            ("wmma.load.b.sync.aligned.col.m8n32k16.f16", (32, 32, 16, 2)),
            ("wmma.load.a.sync.aligned.row.m8n32k16.f16", (8, 32, 8, 1)),
            ("wmma.load.c.sync.aligned.row.m16n16k16.f32", (16, 64, 16, 2)),
            ("wmma.store.d.sync.aligned.col.m32n8k16.global.f32", (8, 128, 16, 2)),
            ("wmma.load.a.sync.aligned.row.m16n16k8.tf32", (16, 32, 16, 1)),
            ("wmma.load.a.sync.aligned.row.m8n8k4.shared.f64", (8, 32, 8, 1)),
            ("wmma.load.a.sync.aligned.row.m8n8k32.s4", (8, 16, 4, 1)),
            ("wmma.load.b.sync.aligned.col.m8n8k128.b1", (8, 16, 4, 1)),
        ] {
            assert_eq!(sizes(name), Some(wanted), "{name}");
        }
    }

    #[test]
    fn what_is_no_matrix_is_none() {
        for name in [
            "wmma.load.a.sync.aligned.m16n16k16.f16",
            "wmma.load.a.sync.aligned.row.col.m16n16k16.f16",
            "wmma.load.a.sync.aligned.row.m16n16.f16",
            "wmma.load.a.sync.aligned.row.m16n16k16.v4",
            "wmma.load.a.sync.aligned.row.m0n16k16.f16",
            "wmma.load.a.sync.aligned.row.m1n16k1.f16",
            "wmma.load.a.sync.aligned.row.m99999999999999999999n16k16.f16",
            "wmma.load.a.sync.aligned.row.m3n16k16.b1",
        ] {
            assert_eq!(sizes(name), None, "{name}");
        }
    }
}
