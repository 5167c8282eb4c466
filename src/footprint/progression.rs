//! Bytes at places that lie some strides apart.

use super::query::{Piece, Refusal};
use super::sum::Shape;
use crate::expr::Term;

type Counted<T> = Result<T, Refusal>;

/// Addresses base + sum of stride * (0..count), each touching `run` bytes.
#[derive(Debug, Clone)]
pub(super) struct Progression {
    pub(super) array: usize,
    pub(super) base: i64,
    /// Ascending strides, all positive, counts at least 2.
    steps: Steps,
    pub(super) run: i64,
    /// The last byte.
    pub(super) last: i64,
}

/// Most variables with a stride of their own.
const MAX_STEPS: usize = 12;

/// Strides and counts, without an allocation.
#[derive(Debug, Clone, Copy)]
struct Steps {
    length: usize,
    list: [(i64, i64); MAX_STEPS],
}

impl Steps {
    fn as_slice(&self) -> &[(i64, i64)] {
        &self.list[..self.length]
    }

    fn count_of(&self, stride: i64) -> i64 {
        self.as_slice().iter().find(|s| s.0 == stride).map_or(1, |s| s.1)
    }
}

impl Progression {
    pub(super) fn from_piece(piece: &Piece) -> Counted<Self> {
        if piece.when.is_some() {
            return Err(Refusal::Conditional);
        }
        let mut base = i128::from(*piece.address.constant());
        let mut steps = Steps { length: 0, list: [(0, 1); MAX_STEPS] };
        for (term, coefficient) in piece.address.terms() {
            let Term::Coord(coord) = term else { return Err(Refusal::NotAffine) };
            let Some(&(_, from, to)) = piece.ranges.iter().find(|r| r.0 == *coord) else {
                return Err(Refusal::NotAffine);
            };
            // A negative stride runs backwards from the other end.
            let start = if *coefficient < 0 { to } else { from };
            base = farther(base, start, *coefficient)?;
            let count = to.checked_sub(from).and_then(|n| n.checked_add(1)).ok_or(Refusal::Overflow)?;
            if count > 1 {
                let slot = steps.list.get_mut(steps.length).ok_or(Refusal::Strides)?;
                *slot = (coefficient.checked_abs().ok_or(Refusal::Overflow)?, count);
                steps.length += 1;
            }
        }
        let base = i64::try_from(base).map_err(|_| Refusal::Overflow)?;
        Self { array: piece.array, base, steps, run: piece.width, last: base }.checked()
    }

    /// Bytes of one array: `run` from `base` and from there on in steps, each a positive stride and how
    /// often it is taken; steps that are taken once do not matter.
    pub(super) fn new(base: i64, each: &[(i64, i64)], run: i64) -> Counted<Self> {
        let mut steps = Steps { length: 0, list: [(0, 1); MAX_STEPS] };
        for &step in each.iter().filter(|s| s.1 > 1) {
            *steps.list.get_mut(steps.length).ok_or(Refusal::Strides)? = step;
            steps.length += 1;
        }
        Self { array: 0, base, steps, run, last: base }.checked()
    }

    /// Of a box of points under an address without quotients.
    pub(super) fn from_shape(shape: &Shape, piece: &Piece) -> Counted<Self> {
        let mut base = i128::from(shape.address.constant);
        let mut steps = Steps { length: 0, list: [(0, 1); MAX_STEPS] };
        for (&factor, &(from, to)) in shape.address.factors.iter().zip(shape.ranges.as_slice()) {
            let start = if factor < 0 { to } else { from };
            base = farther(base, start, factor)?;
            let count = to.checked_sub(from).and_then(|n| n.checked_add(1)).ok_or(Refusal::Overflow)?;
            if count > 1 && factor != 0 {
                let slot = steps.list.get_mut(steps.length).ok_or(Refusal::Strides)?;
                *slot = (factor.checked_abs().ok_or(Refusal::Overflow)?, count);
                steps.length += 1;
            }
        }
        let base = i64::try_from(base).map_err(|_| Refusal::Overflow)?;
        Self { array: piece.array, base, steps, run: piece.width, last: base }.checked()
    }

    /// The same, some bytes further on.
    pub(super) fn moved(&self, by: i128) -> Counted<Self> {
        let base = i64::try_from(i128::from(self.base) + by).map_err(|_| Refusal::Overflow)?;
        let mut moved = Self { base, ..self.clone() };
        moved.last = moved.end()? - 1;
        Ok(moved)
    }

    /// The same without places that end up to a byte before which all is touched anyway from where it begins: the first
    /// ones of its longest step, and of the next one if but one is left. `None` if nothing is left.
    pub(super) fn behind(mut self, end: i64) -> Option<Self> {
        while let Some(&(stride, count)) = self.steps().last() {
            let reach = self.last - self.base - stride * (count - 1);
            let room = end - self.base - reach;
            if room < 0 {
                return Some(self);
            }
            let covered = room / stride + 1;
            if covered >= count {
                return None;
            }
            let longest = self.steps.length - 1;
            self = self.without_first(longest, covered);
            if covered < count - 1 {
                return Some(self);
            }
        }
        (self.last > end).then_some(self)
    }

    /// What it has in common with others that lie elsewhere.
    pub(super) fn shape(&self) -> (usize, i64, &[(i64, i64)]) {
        (self.array, self.run, self.steps())
    }

    /// Whether the same so many bytes further on leaves no more gaps than there are: it begins in the first run or where a
    /// step would lead.
    pub(super) fn continues_after(&self, bytes: i64) -> bool {
        let mut run = self.run;
        for &(stride, count) in self.steps() {
            if bytes % stride == 0 && bytes / stride <= count {
                return true;
            }
            if stride <= run {
                run += stride * (count - 1);
            }
        }
        bytes <= run
    }

    /// So many of the same, each so many bytes behind the one before.
    pub(super) fn repeated(&self, bytes: i64, times: usize) -> Counted<Self> {
        let mut steps = self.steps;
        let times = i64::try_from(times).map_err(|_| Refusal::Overflow)?;
        *steps.list.get_mut(steps.length).ok_or(Refusal::Strides)? = (bytes, times);
        steps.length += 1;
        Self { steps, ..self.clone() }.checked()
    }

    /// The same without the first `places` of a step, of which it has more.
    pub(super) fn without_first(mut self, step: usize, places: i64) -> Self {
        let (stride, count) = &mut self.steps.list[step];
        self.base += *stride * places;
        *count -= places;
        if *count == 1 {
            self.steps.list.copy_within(step + 1.., step);
            self.steps.length -= 1;
        }
        self
    }

    /// Its strides, ascending, and how often each is taken.
    pub(super) fn steps(&self) -> &[(i64, i64)] {
        self.steps.as_slice()
    }

    /// How often a stride is taken.
    pub(super) fn count_of(&self, stride: i64) -> i64 {
        self.steps.count_of(stride)
    }

    /// Adds a progression for each place along some strides, of which each has the others.
    pub(super) fn each_along(&self, is_apart: impl Fn(i64) -> bool, out: &mut Vec<Self>) {
        let (apart, others): (Vec<_>, Vec<_>) = self.steps().iter().partition(|step| is_apart(step.0));
        let mut steps = Steps { length: others.len(), list: [(0, 1); MAX_STEPS] };
        steps.list[..others.len()].copy_from_slice(&others);
        let reach = |(stride, count): &(i64, i64)| stride * (count - 1);
        let first = out.len();
        let last = self.last - apart.iter().map(reach).sum::<i64>();
        out.push(Self { steps, last, ..self.clone() });
        for (stride, count) in apart {
            let before = out.len();
            for place in 1..count {
                for i in first..before {
                    let moved = stride * place;
                    out.push(Self { base: out[i].base + moved, last: out[i].last + moved, ..out[i].clone() });
                }
            }
        }
    }

    fn checked(mut self) -> Counted<Self> {
        merge(&mut self.steps)?;
        self.last = self.end()? - 1;
        Ok(self)
    }

    /// One past the last byte; everything between it and the base fits into 62 bits.
    fn end(&self) -> Counted<i64> {
        let mut end = i128::from(self.base) + i128::from(self.run);
        for &(stride, count) in self.steps.as_slice() {
            end = farther(end, stride, count - 1)?;
        }
        let most = 1_i128 << 61;
        let inside = end.abs() < most && i128::from(self.base).abs() < most;
        if inside { i64::try_from(end).map_err(|_| Refusal::Overflow) } else { Err(Refusal::Overflow) }
    }
}

/// So many bytes further on, so many times.
fn farther(from: i128, bytes: i64, times: i64) -> Counted<i128> {
    from.checked_add(i128::from(bytes) * i128::from(times)).ok_or(Refusal::Overflow)
}

/// Sorts steps and joins those that continue each other: s*(0..n) + ks*(0..m) is s*(0..n+k(m-1)) if
/// k <= n leaves no gap.
fn merge(steps: &mut Steps) -> Counted<()> {
    let Steps { length, list } = steps;
    list[..*length].sort_unstable();
    let mut kept = 0;
    for i in 0..*length {
        let (stride, count) = list[i];
        if kept > 0 {
            let (smaller, n) = list[kept - 1];
            let k = stride / smaller;
            if stride % smaller == 0 && k <= n {
                let more = k.checked_mul(count - 1).and_then(|m| m.checked_add(n));
                list[kept - 1].1 = more.ok_or(Refusal::Overflow)?;
                continue;
            }
        }
        list[kept] = (stride, count);
        kept += 1;
    }
    *length = kept;
    Ok(())
}
