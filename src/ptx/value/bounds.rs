//! How large and how small formulas can be, and proofs that they are not negative.

use super::algebra::{Algebra, Atom};
use super::poly::{Interval, Poly, multiplied};

/// Beyond it, nothing is known.
pub(super) const FAR: i128 = 1 << 120;

/// Facts that one proof may add up.
const DEEP: u32 = 3;

/// Formulas that one proof may try.
const TRIES: u32 = 40;

fn times(value: i128, by: i128) -> i128 {
    multiplied(value, by).unwrap_or(if (value < 0) == (by < 0) { FAR } else { -FAR }).clamp(-FAR, FAR)
}

/// A range times a number.
pub(super) fn scaled((low, high): Interval, by: i128) -> Interval {
    let (a, b) = (times(low, by), times(high, by));
    if by < 0 { (b, a) } else { (a, b) }
}

pub(super) fn product(a: Interval, b: Interval) -> Interval {
    let all = [times(a.0, b.0), times(a.0, b.1), times(a.1, b.0), times(a.1, b.1)];
    (all.into_iter().min().unwrap_or(-FAR), all.into_iter().max().unwrap_or(FAR))
}

/// Facts that a proof has added up already, by their numbers: they are not added again.
#[derive(Clone, Copy)]
struct Used<'u>(Option<(usize, &'u Used<'u>)>);

impl Used<'_> {
    fn has(&self, fact: usize) -> bool {
        self.0.is_some_and(|(last, before)| last == fact || before.has(fact))
    }
}

impl Algebra {
    /// The range of an atom.
    pub(super) fn range_of(&self, atom: &Atom) -> Interval {
        let union = |a: Interval, b: Interval| (a.0.min(b.0), a.1.max(b.1));
        match atom {
            Atom::Tid(d) => (0, i128::from(self.launch.block[*d]) - 1),
            Atom::Ctaid(d) => (0, i128::from(self.launch.grid[*d]) - 1),
            Atom::Counter(n) => (0, self.last(*n).1.max(0)),
            Atom::Base(_, true) => (0, 1 << 24),
            Atom::Phi(..) | Atom::Base(_, false) => (-FAR, FAR),
            Atom::Div(p, n) => {
                let (low, high) = self.interval(p);
                (low.div_euclid(*n), high.div_euclid(*n))
            }
            Atom::Min(a, b) => {
                let (a, b) = (self.interval(a), self.interval(b));
                (a.0.min(b.0), a.1.min(b.1))
            }
            Atom::Max(a, b) => {
                let (a, b) = (self.interval(a), self.interval(b));
                (a.0.max(b.0), a.1.max(b.1))
            }
            Atom::Select(_, a, b) => union(self.interval(a), self.interval(b)),
            Atom::Bits(.., width) => (0, (1 << width) - 1),
            Atom::Odd(_) => (0, 1),
            Atom::Product(factors) => factors.iter().fold((1, 1), |r, f| product(r, self.range(*f))),
        }
    }

    /// The range of a formula, whatever else is known.
    pub fn interval(&self, p: &Poly) -> Interval {
        self.interval_to(p, DEEP)
    }

    fn interval_to(&self, p: &Poly, depth: u32) -> Interval {
        if !self.bits.is_empty()
            && let Some(known) = self.interval_of_bits(p)
        {
            return known;
        }
        let (mut low, mut high) = (p.constant, p.constant);
        for (atom, coefficient) in &p.terms {
            let part = scaled(self.range(*atom), *coefficient);
            (low, high) = ((low + part.0).clamp(-FAR, FAR), (high + part.1).clamp(-FAR, FAR));
        }
        if depth == 0 {
            return (low, high);
        }
        // `q - n*(q/n)` is a remainder, which lies between 0 and n - 1; so is `q/m - n/m*(q/n)`.
        for (atom, coefficient) in &p.terms {
            let Atom::Div(q, n) = self.atom(*atom) else { continue };
            let finer = p.terms.iter().filter_map(|(other, _)| match self.atom(*other) {
                Atom::Div(r, m) if r == q && m < n && n % m == 0 => Some((Poly::atom(*other), n / m)),
                _ => None,
            });
            for (q, n) in finer.chain([(q.clone(), *n)]) {
                if coefficient % n != 0 {
                    continue;
                }
                let count = -coefficient / n;
                let rest = p.plus(&Poly::atom(*atom), -coefficient).and_then(|rest| rest.plus(&q, -count));
                let Some(rest) = rest else { continue };
                if rest.terms.len() >= p.terms.len() + q.terms.len() {
                    continue;
                }
                let (rest, remainder) = (self.interval_to(&rest, depth - 1), scaled((0, n - 1), count));
                low = low.max(rest.0 + remainder.0);
                high = high.min(rest.1 + remainder.1);
            }
        }
        (low, high)
    }

    /// Whether the formula is known not to be negative here.
    pub fn proves(&self, p: &Poly) -> bool {
        self.tries.set(TRIES);
        self.interval(p).0 >= 0 || self.facts_prove(p, &Used(None), DEEP)
    }

    fn facts_prove(&self, p: &Poly, used: &Used<'_>, depth: u32) -> bool {
        let left = self.tries.get();
        if depth < DEEP && self.interval_to(p, 1).0 >= 0 {
            return true;
        }
        if depth == 0 || left == 0 {
            return false;
        }
        self.tries.set(left - 1);
        // Each fact is tried, which is what takes long where a text branches often.
        self.work.set(self.work.get() + 1 + (p.terms.len() + self.facts.len()) as u64);
        // A maximum is no less than each of its sides, and no more than both.
        for (atom, times) in &p.terms {
            let (a, b, either) = match self.atom(*atom) {
                Atom::Max(a, b) => (a, b, *times > 0),
                Atom::Min(a, b) => (a, b, *times < 0),
                _ => continue,
            };
            let holds = |side: &Poly| {
                let rest = p.plus(&Poly::atom(*atom), -times).and_then(|rest| rest.plus(side, *times));
                rest.is_some_and(|rest| self.facts_prove(&rest, used, depth - 1))
            };
            if if either { holds(a) || holds(b) } else { holds(a) && holds(b) } {
                return true;
            }
        }
        // `n*(q/n)` lies between `q - n + 1` and `q`.
        for (atom, times) in &p.terms {
            let Atom::Div(q, n) = self.atom(*atom) else { continue };
            let least = if *times > 0 { q.add_number(1 - n) } else { Some(q.clone()) };
            let less = least.and_then(|least| {
                let rest = p.plus(&Poly::atom(*atom), -times)?.scale(*n)?;
                rest.plus(&least, *times)?.add_number(n - 1)
            });
            if less.is_some_and(|less| self.facts_prove(&less, used, depth - 1)) {
                return true;
            }
        }
        for (at, fact) in self.facts.iter().enumerate().filter(|fact| !used.has(fact.0)) {
            for (atom, of_fact) in &fact.terms {
                // Taking the fact away so often that this atom goes leaves something smaller.
                let of_p = p.coefficient(*atom);
                if of_p == 0 || (of_p > 0) != (*of_fact > 0) {
                    continue;
                }
                let (scale, count) = match (of_p % of_fact, of_fact % of_p) {
                    (0, _) => (1, of_p / of_fact),
                    (_, 0) => (of_fact / of_p, 1),
                    _ => continue,
                };
                let less = match scale {
                    1 => p.plus(fact, -count),
                    _ => p.scale(scale).and_then(|p| p.plus(fact, -count)),
                };
                let Some(less) = less else { continue };
                if self.facts_prove(&less, &Used(Some((at, used))), depth - 1) {
                    return true;
                }
            }
        }
        false
    }
}

impl Algebra {
    /// A number that the formula does not exceed here.
    pub fn upper(&self, p: &Poly) -> i128 {
        self.upper_with(p, &Used(None), DEEP)
    }

    fn upper_with(&self, p: &Poly, used: &Used<'_>, depth: u32) -> i128 {
        let mut best = self.interval(p).1;
        if depth == 0 {
            return best;
        }
        self.work.set(self.work.get() + self.facts.len() as u64);
        for (at, fact) in self.facts.iter().enumerate().filter(|fact| !used.has(fact.0)) {
            for (atom, of_fact) in &fact.terms {
                let of_p = p.coefficient(*atom);
                if of_p == 0 || (of_p > 0) == (*of_fact > 0) || of_p % of_fact != 0 {
                    continue;
                }
                // With the fact added so often that this atom goes, it is larger still.
                let Some(more) = p.plus(fact, -(of_p / of_fact)) else { continue };
                best = best.min(self.upper_with(&more, &Used(Some((at, used))), depth - 1));
            }
        }
        best
    }
}
