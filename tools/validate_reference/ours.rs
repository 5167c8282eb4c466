//! The same volumes under Wavecast's own definitions: exact waves from the middle of the grid, linear
//! addresses, threads clipped to the domain, warps of consecutive thread ids. All per thread that works.

use wavecast::expr::{Coord, Dim, Form};
use wavecast::footprint::{Addressing, Piece, Query, Threads, count};
use wavecast::kernel::AccessKind;
use wavecast::launch::{BlockBox, Candidate, Launch, Program, blocks_of_wave};

use super::case::Case;
use super::document::{field_of, kernel};
use super::records::Record;

/// Blocks of the wave that stand for all in the means of a block, and in the dearer ones of warps.
const BLOCKS: i64 = 48;
const BLOCKS_BY_WARPS: i64 = 8;

/// Bytes per working thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Own {
    pub block_load: f64,
    pub block_alloc: f64,
    pub warp_load: f64,
    pub warp_store: f64,
    pub wave_load: f64,
    pub wave_store: f64,
    /// The exact wave in the paper's grid addressing.
    pub wave_load_grid: f64,
    pub wave_store_grid: f64,
}

struct Counter<'a> {
    record: &'a Record,
    case: &'a Case,
    threads: Threads<'a>,
}

/// All volumes of a record.
pub fn count_own(record: &Record, case: &Case) -> Result<Own, String> {
    let kernel = kernel(record, case)?;
    let candidate = Candidate::new(case.block, [1; 3]).unwrap();
    let launch = Launch::new(&kernel, candidate).map_err(|e| e.to_string())?;
    let program =
        Program::placed(&kernel, candidate).and_then(|p| p.at(&launch)).map_err(|e| e.to_string())?;
    let threads = Threads { kernel: &kernel, launch: &launch, program: &program };
    Counter { record, case, threads }.all()
}

impl Counter<'_> {
    fn all(&self) -> Result<Own, String> {
        let device = &self.record.device_params;
        let grid = self.threads.launch.sizes().grid;
        let resident = self.record.lc.blocks_per_sm.0.saturating_mul(device.sm_count.0).max(1);
        // The wave in the middle of the grid (MODEL section 1); a smaller grid is one wave.
        let blocks: i64 = grid.iter().product();
        let resident = resident.min(blocks);
        let start = (blocks / 2).min(blocks - resident);
        let wave = blocks_of_wave(grid, start, resident);
        let working = self.working(&wave);

        let sample = |many: i64| -> Vec<BlockBox> {
            spread(resident, many).into_iter().flat_map(|at| blocks_of_wave(grid, start + at, 1)).collect()
        };
        let (few, fewer) = (sample(BLOCKS), sample(BLOCKS_BY_WARPS));
        let per_thread = |bytes: u128, threads: i64| bytes as f64 / threads.max(1) as f64;
        let blockwise = |line: i64, copies: bool| -> Result<f64, String> {
            let one =
                |b: &BlockBox| self.lines(std::slice::from_ref(b), false, line, Addressing::Linear, copies);
            let total: u128 = few.iter().map(one).sum::<Result<u128, String>>()?;
            Ok(per_thread(total * u128::from(line.unsigned_abs()), self.working(&few)))
        };
        let warpwise = |kind: AccessKind, line: i64| -> Result<f64, String> {
            let total: u128 =
                fewer.iter().map(|b| self.warps(b, kind, line)).sum::<Result<u128, String>>()?;
            Ok(per_thread(total * u128::from(line.unsigned_abs()), self.working(&fewer)))
        };
        let dram = device.dram_fetch.0;
        let wavewise = |store: bool, addressing: Addressing| -> Result<f64, String> {
            let lines = self.lines(&wave, store, dram, addressing, true)?;
            Ok(per_thread(lines * u128::from(dram.unsigned_abs()), working))
        };
        Ok(Own {
            block_load: blockwise(device.fetch.0, true)?,
            block_alloc: blockwise(device.allocation.0, false)?,
            warp_load: warpwise(AccessKind::Load, device.fetch.0)?,
            warp_store: warpwise(AccessKind::Store, device.write.0)?,
            wave_load: wavewise(false, Addressing::Linear)?,
            wave_store: wavewise(true, Addressing::Linear)?,
            wave_load_grid: wavewise(false, Addressing::Grid)?,
            wave_store_grid: wavewise(true, Addressing::Grid)?,
        })
    }

    /// Threads of the blocks inside the domain.
    fn working(&self, blocks: &[BlockBox]) -> i64 {
        let extents = self.threads.kernel.extents();
        let inside = |b: &BlockBox, d: usize| {
            let shape = self.case.block[d];
            ((b.to[d] * shape).min(extents[d]) - b.from[d] * shape).max(0)
        };
        blocks.iter().map(|b| (0..3).map(|d| inside(b, d)).product::<i64>()).sum()
    }

    /// Distinct lines of the loads or stores of blocks, over all fields.
    fn lines(
        &self,
        blocks: &[BlockBox],
        store: bool,
        line: i64,
        addressing: Addressing,
        copies: bool,
    ) -> Result<u128, String> {
        let fields = if store { &self.case.stores } else { &self.case.loads };
        let kind = if store { AccessKind::Store } else { AccessKind::Load };
        let mut total = 0;
        for (position, field) in fields.iter().enumerate() {
            let id = field_of(position, &self.case.loads, store).ok_or("too many fields")?;
            let query =
                self.threads.query(blocks, id, &[kind], line, addressing).map_err(|e| e.to_string())?;
            let lines = count(&query).map_err(|e| format!("our engines refuse: {e}"))?.0;
            total += lines * if copies { u128::from(field.multiplicity.unsigned_abs()) } else { 1 };
        }
        Ok(total)
    }

    /// Distinct lines of every access of every warp of a block.
    fn warps(&self, block: &BlockBox, kind: AccessKind, line: i64) -> Result<u128, String> {
        let warp = self.record.device_params.warp_size.0.max(1);
        let threads: i64 = self.case.threads();
        let mut total = 0;
        for instruction in self.threads.program.instructions.iter().filter(|i| i.kind == kind) {
            let field = self.threads.kernel.field(instruction.field);
            let address = (instruction.element.plus(&Form::int(*field.offset())))
                .and_then(|e| e.times(&field.dtype().bytes))
                .map_err(|e| e.to_string())?;
            let number = usize::from(instruction.field.0);
            let copies = self.case.loads.iter().chain(&self.case.stores).nth(number);
            let copies = copies.map_or(1, |f| u128::from(f.multiplicity.unsigned_abs()));
            for first in (0..threads).step_by(usize::try_from(warp).unwrap_or(32)) {
                // Consecutive thread ids of a block are boxes, as consecutive blocks of a grid are.
                let boxes = blocks_of_wave(
                    wavecast::space::Grid::new(self.case.block).map_err(|e| e.to_string())?,
                    first,
                    warp,
                );
                let pieces: Vec<Piece> = boxes
                    .iter()
                    .filter_map(|lanes| self.piece(block, lanes, &address, instruction.width))
                    .collect();
                if !pieces.is_empty() {
                    let query = Query { pieces, line };
                    total += copies * count(&query).map_err(|e| format!("our engines refuse: {e}"))?.0;
                }
            }
        }
        Ok(total)
    }

    /// A box of threads of a block, clipped to the domain.
    fn piece(&self, block: &BlockBox, lanes: &BlockBox, address: &Form<i64>, width: i64) -> Option<Piece> {
        let extents = self.threads.kernel.extents();
        let mut ranges = Vec::with_capacity(6);
        for d in Dim::ALL {
            let i = d.index();
            let room = extents[i] - block.from[i] * self.case.block[i];
            let last = lanes.to[i].min(room) - 1;
            if last < lanes.from[i] {
                return None;
            }
            ranges.push((Coord::ThreadIdx(d), lanes.from[i], last));
            ranges.push((Coord::BlockIdx(d), block.from[i], block.from[i]));
        }
        Some(Piece { array: 0, ranges: ranges.into(), when: None, address: address.clone().into(), width })
    }
}

/// `many` of 0..`all`, spread without a period: multiples of the golden section, each number once.
fn spread(all: i64, many: i64) -> Vec<i64> {
    /// 2^32 times the golden section.
    const GOLDEN: i64 = 2_654_435_769;
    let part = |i: i64| (i128::from(i * GOLDEN % (1 << 32)) * i128::from(all)) >> 32;
    let mut chosen: Vec<i64> = if all <= many {
        (0..all).collect()
    } else {
        (0..many).filter_map(|i| i64::try_from(part(i)).ok()).collect()
    };
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_spread_without_a_period() {
        assert_eq!(spread(3, 8), [0, 1, 2]);
        let chosen = spread(432, 48);
        assert_eq!(chosen.len(), 48);
        for period in [2, 4, 8, 16] {
            let met: std::collections::BTreeSet<i64> = chosen.iter().map(|n| n % period).collect();
            assert_eq!(met.len() as i64, period);
        }
        let gaps = chosen.windows(2).map(|w| w[1] - w[0]).max();
        assert!(gaps.is_some_and(|g| g < 20), "{gaps:?}");
    }
}
