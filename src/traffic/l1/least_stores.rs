//! What warps store at least, before it is counted where each of them begins.

use super::counts::FieldCounts;
use super::warps::Arrangement;
use crate::expr::{Coord, Scale, Term};
use crate::kernel::{AccessKind, FieldId, Kernel};
use crate::launch::{Instruction, Launch, Program};
use crate::quantity::{Sectors, Times};
use crate::space::{Strides, Thread};

/// Kinds of warps of which it is looked at where their lanes lie; of more the least is taken that there can be.
pub(super) const MOST_CLASSES: usize = 4;

/// Addresses of lanes are sums of numbers no larger than this, so that they stay within 64 bits.
const FARTHEST: u64 = 1 << 40;

/// Stores to a field.
#[derive(Debug, Clone)]
pub(super) struct FieldStores {
    field: FieldId,
    /// Arrays of the field.
    copies: f64,
    /// Bytes of an element.
    size: i64,
    each: Vec<Store>,
}

/// A store.
#[derive(Debug, Clone)]
struct Store {
    /// Elements from thread to thread along x, y and z; `None` where that does not say where lanes lie.
    strides: Option<[Scale; 3]>,
    /// Elements to its first place.
    from: Scale,
    width: i64,
}

/// Bytes that a warp stores, one range after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    from: i64,
    to: i64,
    /// Which store it is of.
    store: usize,
}

/// What a warp does at least, whatever place it begins at.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct OfWarp {
    /// Sectors of all stores, each for itself.
    sectors: i64,
    /// Runs of adjacent sectors, beyond the first of each store.
    further_runs: i64,
    /// Whether no sector is certainly stored to twice.
    apart: bool,
}

impl FieldStores {
    /// The stores of a program, by field.
    pub fn all(kernel: &Kernel, program: &Program<Scale>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for instruction in program.instructions.iter().filter(|i| i.kind == AccessKind::Store) {
            let store = Store::new(instruction);
            if let Some(known) = all.iter_mut().find(|stores| stores.field == instruction.field) {
                known.each.push(store);
                continue;
            }
            let field = kernel.field(instruction.field);
            let (copies, size) = (field.multiplicity as f64, field.dtype.bytes);
            all.push(Self { field: instruction.field, copies, size, each: vec![store] });
        }
        all
    }

    /// Adds what the warps of a block store at least, all of whose lanes have work. Sectors that are stored to again by the
    /// same warp are no fewer than the result says.
    pub fn add_to(
        &self,
        fields: &mut [FieldCounts],
        launch: &Launch,
        kinds: &[(Arrangement, f64)],
        sector: i64,
    ) {
        let places = self.places(launch);
        let (mut sectors, mut further_runs, mut apart) = (0.0, 0.0, true);
        for (number, (arrangement, warps)) in kinds.iter().enumerate() {
            let places = places.as_ref().filter(|_| number < MOST_CLASSES);
            // A store of a warp is one to a sector at least.
            let unknown =
                || OfWarp { sectors: i64::try_from(self.each.len()).unwrap_or(1), ..OfWarp::default() };
            let of_warp = places.map_or_else(unknown, |places| self.of_warp(places, arrangement, sector));
            sectors += of_warp.sectors as f64 * warps;
            further_runs += of_warp.further_runs as f64 * warps;
            apart &= of_warp.apart;
        }
        let distinct = if apart { 1.0 } else { 1.0 / self.each.len() as f64 };
        let counts = &mut fields[usize::from(self.field.0)];
        counts.store_sectors = Sectors::new(sectors * self.copies);
        counts.warp_store_sectors = Sectors::new(sectors * distinct * self.copies);
        counts.further_store_runs = Times::new(further_runs * self.copies);
    }

    /// Bytes from thread to thread and from the first store to each; `None` where that is not known of all.
    fn places(&self, launch: &Launch) -> Option<Vec<(Strides, i64)>> {
        let bytes = |factor: &Scale| {
            let bytes = factor.at(&launch.sizes).ok()?.checked_mul(self.size)?;
            (bytes.unsigned_abs() < FARTHEST).then_some(bytes)
        };
        let of_store = |store: &Store| {
            let [x, y, z] = store.strides.as_ref()?;
            Some((Strides::from([bytes(x)?, bytes(y)?, bytes(z)?]), bytes(&store.from)?))
        };
        self.each.iter().map(of_store).collect()
    }

    fn of_warp(&self, places: &[(Strides, i64)], arrangement: &Arrangement, sector: i64) -> OfWarp {
        let (first, strides) = (&self.each[0], places[0].0);
        if arrangement.is_row() && self.each.len() == 1 && (1..=first.width).contains(&strides[0]) {
            // Lanes that continue each other.
            let bytes = (arrangement.count() - 1) * strides[0] + first.width;
            return OfWarp { sectors: sectors_of(bytes, sector), further_runs: 0, apart: true };
        }
        let lanes = arrangement.lanes();
        // Stores of a fold or of a list of arrays lie alike.
        if self.each.iter().zip(places).all(|(of, place)| of.width == first.width && place.0 == strides) {
            let ranges = first.ranges(0, &lanes, (strides, 0));
            let (sectors, runs) = sectors_and_runs(&ranges, sector);
            let (further_runs, apart) = (runs - 1, self.are_apart(places, &lanes, &ranges, sector));
            let number = i64::try_from(self.each.len()).unwrap_or(1);
            return OfWarp { sectors: sectors * number, further_runs: further_runs * number, apart };
        }
        let mut sum = OfWarp { apart: false, ..OfWarp::default() };
        for (store, &place) in self.each.iter().zip(places) {
            let (sectors, runs) = sectors_and_runs(&store.ranges(0, &lanes, place), sector);
            sum.sectors += sectors;
            sum.further_runs += runs - 1;
        }
        sum
    }

    /// Whether stores that lie alike, the first of them at `ranges`, certainly have no sector in common.
    fn are_apart(&self, places: &[(Strides, i64)], lanes: &[Thread], ranges: &[Range], sector: i64) -> bool {
        let mut offsets: Vec<i64> = places.iter().map(|place| place.1).collect();
        offsets.sort_unstable();
        let (from, to) = (ranges[0].from, ranges.iter().map(|range| range.to).max().unwrap_or(0));
        if offsets.windows(2).all(|pair| are_apart(pair[0] + to, pair[1] + from, sector)) {
            return true;
        }
        let all = self.each.iter().zip(places).enumerate();
        let mut ranges: Vec<Range> =
            all.flat_map(|(number, (store, &place))| store.ranges(number, lanes, place)).collect();
        ranges.sort_unstable();
        let mut before = ranges[0];
        ranges[1..].iter().all(|range| {
            let apart = range.store == before.store || are_apart(before.to, range.from, sector);
            if range.to >= before.to {
                before = *range;
            }
            apart
        })
    }
}

impl Store {
    fn new(instruction: &Instruction<Scale>) -> Self {
        let from = instruction.element.constant().clone();
        Self { strides: lane_strides(instruction), from, width: instruction.width.max(1) }
    }

    /// Where its lanes store, in ascending order.
    fn ranges(&self, store: usize, lanes: &[Thread], (strides, offset): (Strides, i64)) -> Vec<Range> {
        let of_lane = |lane: &Thread| {
            let from = offset + (0..3).map(|d| lane[d] * strides[d]).sum::<i64>();
            Range { from, to: from + self.width, store }
        };
        let mut ranges: Vec<Range> = lanes.iter().map(of_lane).collect();
        ranges.sort_unstable();
        ranges
    }
}

/// Elements from thread to thread along x, y and z; `None` where that does not say where lanes lie.
pub(super) fn lane_strides(instruction: &Instruction<Scale>) -> Option<[Scale; 3]> {
    let mut strides: [Scale; 3] = Default::default();
    for (term, factor) in instruction.element.terms() {
        match term {
            // Threads are counted within their block, or within the grid; not both at once.
            Term::Coord(Coord::ThreadIdx(d) | Coord::Thread(d)) if strides[d.index()] == Scale::default() => {
                strides[d.index()].clone_from(factor);
            }
            Term::Coord(Coord::BlockIdx(_)) => {}
            _ => return None,
        }
    }
    Some(strides)
}

/// Whether bytes that end before `to` and bytes from `from` on have a sector between them, wherever sectors begin.
fn are_apart(to: i64, from: i64, sector: i64) -> bool {
    from - (to - 1) >= 2 * sector
}

/// The fewest sectors that hold so many bytes.
fn sectors_of(bytes: i64, sector: i64) -> i64 {
    (bytes + sector - 1).div_euclid(sector)
}

/// Distinct sectors and runs of adjacent ones that ascending ranges have at least, wherever sectors begin.
fn sectors_and_runs(ranges: &[Range], sector: i64) -> (i64, i64) {
    let (mut sectors, mut runs) = (0, 1);
    // Bytes of the run so far, and where it ends.
    let (mut bytes, mut end) = (0, ranges[0].from);
    for range in ranges {
        if are_apart(end, range.from, sector) {
            sectors += sectors_of(bytes, sector);
            runs += 1;
            bytes = 0;
        }
        bytes += (range.to - range.from.max(end)).max(0);
        end = end.max(range.to);
    }
    (sectors + sectors_of(bytes, sector), runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Sectors and runs at every place at which sectors can begin, one by one.
    #[test]
    fn no_place_has_fewer_sectors_or_runs() {
        let mut random = Random::new(3);
        let mut one_of = |all: &[i64]| all[random.below(all.len())];
        let (near, far): (Vec<i64>, Vec<i64>) = ((0..40).collect(), (0..400).collect());
        let mut reached = 0;
        for _ in 0..2000 {
            let (sector, width) = (one_of(&[32, 64, 128]), one_of(&[1, 2, 4, 8, 16]));
            let mut from = 0;
            let mut ranges = Vec::new();
            for _ in 0..one_of(&near[1..12]) {
                ranges.push(Range { from, to: from + width, store: 0 });
                let (some, many) = (one_of(&near), one_of(&far));
                from += one_of(&[width, width, some, many]);
            }
            let (sectors, runs) = sectors_and_runs(&ranges, sector);
            let counted = |shift: i64| {
                let units = ranges.iter().flat_map(|r| {
                    (r.from + shift).div_euclid(sector)..=(r.to - 1 + shift).div_euclid(sector)
                });
                let units: std::collections::BTreeSet<i64> = units.collect();
                let runs = units.iter().filter(|unit| !units.contains(&(*unit - 1))).count();
                (i64::try_from(units.len()).unwrap(), i64::try_from(runs).unwrap())
            };
            let all: Vec<(i64, i64)> = (0..sector).map(counted).collect();
            assert!(all.iter().all(|(s, r)| sectors <= *s && runs <= *r), "{ranges:?} {sector}");
            reached += usize::from(all.iter().any(|a| a.1 == runs));
        }
        assert!(reached > 1500, "{reached}");
    }
}
