//! Warps whose lanes lie alike and are active alike, and what is known of their accesses in one pattern.
//!
//! Launches of a ranking have few such layouts, which say most of what their warps cost. So each thread of the
//! program remembers those that it met. What is remembered follows from the key alone: whether something was
//! remembered or found out makes no difference but for the time, and takes as many steps.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::access_shape::{AccessShape, PatternPipe};
use super::lanes::Lanes;
use super::pipe::{Pipe, Touched, low_half};
use super::plan::AddressPattern;
use super::spans::{self, UnitRun};
use super::tags::TouchedLines;
use super::warps::{Arrangement, WarpClass};
use crate::device::Rules;
use crate::footprint::{quotient, remainder};
use crate::space::Strides;

/// Bytes that a thread remembers, about; beyond it forgets everything.
const MOST_BYTES: usize = 4 << 20;

/// Distinct sectors of several accesses of a warp.
#[derive(Debug, Clone, Copy)]
pub struct UnionSize {
    /// How many.
    pub(super) sectors: f64,
    /// Spans that were laid side by side.
    pub(super) spans: usize,
    /// Steps that finding out takes.
    pub(super) steps: u64,
}

/// What a layout follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    arrangement: Arrangement,
    active: u64,
    shared: bool,
    width: i64,
    thread: Strides,
    period: i64,
    rules: Rules,
    line: i64,
    sector: i64,
    cycles: [u64; 2],
}

/// What all accesses of a class of warps in one pattern have in common.
#[derive(Debug)]
pub struct Layout {
    /// Addresses of the lanes relative to the first lane.
    lanes: Vec<i64>,
    active: u64,
    /// Bytes of the active lanes, as far as whole sectors go; none of shared memory, which has no sectors.
    bytes: Vec<UnitRun>,
    /// Most bytes between the first and the last that a warp touches.
    span: i64,
    /// Data wavefronts by alignment to a bank, where they depend on no more than that.
    data: [Cell<Option<u32>>; 4],
    shapes: RefCell<KnownShapes>,
    /// By the number of a list of accesses and where the first of them begins in its sector.
    unions: RefCell<FxHashMap<(u32, i64), UnionSize>>,
}

/// Shapes by alignment, as far as they are known.
#[derive(Debug, Default)]
struct KnownShapes {
    /// The number of the shape of each alignment; `NONE` where there is none yet, and empty before the first.
    numbers: Vec<u16>,
    all: Vec<AccessShape>,
}

const NONE: u16 = u16::MAX;

impl KnownShapes {
    fn get(&self, alignment: usize) -> Option<&AccessShape> {
        // The number that stands for none is larger than that of any shape.
        self.numbers.get(alignment).and_then(|&number| self.all.get(usize::from(number)))
    }

    /// Notes the shape of one of so many alignments. Says how many bytes more that takes.
    fn insert(&mut self, alignment: usize, alignments: usize, shape: AccessShape) -> usize {
        let mut bytes = size_of::<AccessShape>();
        if self.numbers.is_empty() {
            self.numbers.resize(alignments, NONE);
            bytes += size_of_val(self.numbers.as_slice());
        }
        self.numbers[alignment] = u16::try_from(self.all.len()).expect("a period has few alignments");
        self.all.push(shape);
        bytes
    }
}

/// Accesses that lie so close together that each lane touches all sectors from the first to the last, relative
/// to the first of all.
pub type ChainList = Vec<(i64, i64)>;

#[derive(Default)]
struct Memory {
    layouts: FxHashMap<Key, Rc<Layout>>,
    chains: FxHashMap<ChainList, u32>,
    lines: FxHashMap<Vec<u32>, Rc<TouchedLines>>,
    /// Lists of chains that were numbered so far: no number is used again.
    numbered: u32,
    bytes: usize,
}

impl Memory {
    /// Forgets everything where it is too much. What is in use stays with whoever uses it.
    fn forget_if_full(&mut self) {
        if self.bytes > MOST_BYTES {
            *self = Self { numbered: self.numbered, ..Self::default() };
        }
    }
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Notes that so many bytes more are remembered.
fn remember(bytes: usize) {
    MEMORY.with_borrow_mut(|memory| memory.bytes += bytes);
}

/// A number for a list of chains: the same for the same list, as long as it is remembered.
pub fn number_of(chains: ChainList) -> u32 {
    MEMORY.with_borrow_mut(|memory| {
        memory.forget_if_full();
        if let Some(number) = memory.chains.get(&chains) {
            return *number;
        }
        memory.numbered += 1;
        memory.bytes += 64 + size_of_val(chains.as_slice());
        memory.chains.insert(chains, memory.numbered);
        memory.numbered
    })
}

/// What is known of lines.
fn shared(lines: &[u32]) -> Rc<TouchedLines> {
    MEMORY.with_borrow_mut(|memory| {
        if let Some(known) = memory.lines.get(lines) {
            return Rc::clone(known);
        }
        let new = TouchedLines::new(lines);
        memory.bytes += new.weight() + size_of_val(lines);
        let new = Rc::new(new);
        memory.lines.insert(lines.to_vec(), Rc::clone(&new));
        new
    })
}

impl Layout {
    /// The layout of a class of warps in a pattern.
    pub fn of_class(
        class: &WarpClass,
        pattern: AddressPattern,
        period: i64,
        of_pattern: PatternPipe,
    ) -> Rc<Self> {
        let active = class.active[pattern.limit];
        let pipe = of_pattern.pipe;
        let key = Key {
            arrangement: class.arrangement,
            active,
            shared: pattern.shared,
            width: pattern.width,
            thread: class.arrangement.moves(pattern.thread),
            period,
            rules: pipe.rules,
            line: pipe.line,
            sector: pipe.sector,
            cycles: of_pattern.key(),
        };
        MEMORY.with_borrow_mut(|memory| {
            memory.forget_if_full();
            if let Some(known) = memory.layouts.get(&key) {
                return Rc::clone(known);
            }
            let new = Rc::new(Self::new(class, active, pattern, pipe));
            memory.bytes += 512 + new.lanes.len() * 16;
            memory.layouts.insert(key, Rc::clone(&new));
            new
        })
    }

    fn new(class: &WarpClass, active: u64, pattern: AddressPattern, pipe: &Pipe) -> Self {
        let lanes: Vec<i64> =
            class.arrangement.lanes().iter().map(|lane| dot(lane, pattern.thread)).collect();
        let there = Lanes { addresses: &lanes, active: if pattern.shared { 0 } else { active } };
        let bytes = spans::of_lanes(there, pattern.width, pipe.sector.min(pipe.line)).as_slice().to_vec();
        let reach = |low: i64, high: i64| high.checked_sub(low)?.checked_add(pattern.width);
        let ends = lanes.iter().min().zip(lanes.iter().max());
        // Further apart than 64 bits say is as far as anything can be.
        let span = ends.and_then(|(low, high)| reach(*low, *high)).unwrap_or(i64::MAX);
        let (data, shapes, unions) = Default::default();
        Self { lanes, active, bytes, span, data, shapes, unions }
    }

    /// Most bytes between the first and the last that a warp touches.
    pub fn span(&self) -> i64 {
        self.span
    }

    /// The bytes that a warp touches, relative to its first lane, as far as whole sectors go.
    pub fn bytes(&self) -> &[UnitRun] {
        &self.bytes
    }

    /// The shape of an access whose first lane begins at `first`, a remainder of the period. Lines are put together in
    /// `room`.
    pub fn shape(
        &self,
        first: i64,
        pattern: AddressPattern,
        period: i64,
        pipe: PatternPipe,
        room: &mut Vec<u32>,
    ) -> AccessShape {
        let place = index(first, period);
        if let Some(known) = self.shapes.borrow().get(place) {
            return known.clone();
        }
        let new = self.new_shape(first, pattern, pipe, room);
        remember(self.shapes.borrow_mut().insert(place, index(-1, period) + 1, new.clone()));
        new
    }

    fn new_shape(
        &self,
        first: i64,
        pattern: AddressPattern,
        of_pattern: PatternPipe,
        room: &mut Vec<u32>,
    ) -> AccessShape {
        let pipe = of_pattern.pipe;
        let data = self.data(first, pattern, pipe);
        let lanes = Lanes { addresses: &self.lanes, active: self.active }.count();
        if pattern.shared {
            let touched = Touched { lanes, sectors: 0, lines: 0 };
            return AccessShape::new((data, Some(0)), touched, 0, Rc::default(), of_pattern);
        }
        let by_set = pipe.tags_by_set(pattern.width);
        let tag = (!by_set).then(|| {
            let addresses = self.addresses(first);
            pipe.global(Lanes { addresses: &addresses, active: self.active }, pattern.width).tag
        });
        let bytes = || self.bytes.iter().map(|span| span.moved(first));
        let (sectors, runs) = spans::units(bytes(), pipe.sector, |_| {});
        let base = quotient(first, pipe.line);
        room.clear();
        let (lines, _) = spans::units(bytes(), pipe.line, |line| {
            if by_set {
                room.push(low_half(line - base));
            }
        });
        let touched = Touched { lanes, sectors, lines };
        AccessShape::new((data, tag), touched, runs, shared(room), of_pattern)
    }

    fn addresses(&self, first: i64) -> Vec<i64> {
        self.lanes.iter().map(|lane| lane.wrapping_add(first)).collect()
    }

    /// Data wavefronts of an access whose first lane begins at `first`.
    fn data(&self, first: i64, pattern: AddressPattern, pipe: &Pipe) -> u32 {
        let by_bank = pattern.shared || pipe.tags_by_set(pattern.width);
        // Banks go round: whole words more or less for all lanes make no difference.
        let known = &self.data[index(first, 4)];
        if let (Some(data), true) = (known.get(), by_bank) {
            return data;
        }
        let addresses = self.addresses(first);
        let lanes = Lanes { addresses: &addresses, active: self.active };
        let data = if pattern.shared {
            Pipe::shared(lanes, pattern.width).data
        } else if by_bank {
            // A single instruction.
            pipe.data(lanes, pattern.width)
        } else {
            pipe.global(lanes, pattern.width).data
        };
        known.set(Some(data));
        data
    }

    /// Distinct sectors of accesses, by the number of their list and where the first begins in its sector.
    pub fn union(&self, chains: u32, begin: i64) -> Option<UnionSize> {
        self.unions.borrow().get(&(chains, begin)).copied()
    }

    /// Remembers them.
    pub fn remember_union(&self, chains: u32, begin: i64, size: UnionSize) {
        remember(64);
        self.unions.borrow_mut().insert((chains, begin), size);
    }
}

/// The remainder as an index.
pub fn index(address: i64, period: i64) -> usize {
    usize::try_from(remainder(address, period)).expect("a remainder is not negative")
}

/// The scalar product; addresses fit, so that its parts may wrap.
pub fn dot(a: &[i64; 3], b: Strides) -> i64 {
    (0..3).fold(0_i64, |sum, d| sum.wrapping_add(a[d].wrapping_mul(b[d])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded() {
        let list = |i: i64| vec![(0, i), (1 << 20, (1 << 20) + i)];
        let first = number_of(list(0));
        assert_eq!(number_of(list(0)), first);
        let mut forgotten = 0;
        for i in 1..100_000 {
            let before = MEMORY.with_borrow(|memory| memory.bytes);
            assert!(number_of(list(i)) > first);
            let after = MEMORY.with_borrow(|memory| memory.bytes);
            assert!(after <= MOST_BYTES + 1024, "{after}");
            forgotten += usize::from(after < before);
        }
        assert!(forgotten > 0);
        // No number stands for two lists.
        assert!(number_of(list(0)) > first);
    }
}
