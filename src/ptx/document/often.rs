//! How often something is done: on average over all threads, in all iterations of the loops around it.
//!
//! What a condition or the bound of a loop says of one dimension has mostly nothing to do with what others say of
//! another one. So conditions and loops that have threads or counters in common go together, and how often each of
//! these groups lets something be done is counted by itself. Ranges of threads and iterations are halved until all in
//! a range do the same. Where that takes too long, some are drawn at random.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::groups::{AroundLoop, Group, Variable};
use super::halving::{Halving, Places};
use crate::ptx::value::{Algebra, Atom, Cond, Point, Poly};
use crate::random::Random;

/// Steps that halving the ranges of a group may take, and of all groups of a kernel: some thousands of threads or
/// iterations that all differ, and a few milliseconds.
const HALVING: u64 = 1 << 16;
const ALL_HALVING: u64 = 1 << 17;
/// Threads and iterations that are drawn for a group at most, and at least.
const MOST_DRAWN: u64 = 2048;
const LEAST_DRAWN: u64 = 64;
/// Conditions and loops of those that are drawn, for all groups of a kernel.
const ALL_DRAWING: u64 = 1 << 14;

/// How often things are done, for one kernel and launch.
pub(super) struct Often<'r> {
    places: Places<'r>,
    /// What holds for all of these threads, and what for none.
    always: &'r [Cond],
    never: Vec<Cond>,
    /// Whether all that was asked was counted, and nothing drawn at random.
    pub exact: bool,
    halving: u64,
    drawing: u64,
    asked: FxHashMap<(Option<usize>, Cond), f64>,
    groups: FxHashMap<(Vec<Cond>, Vec<usize>), f64>,
    variables: FxHashMap<Cond, Rc<[Variable]>>,
}

impl<'r> Often<'r> {
    /// For threads of which it is known what holds for all of them; `domain` says how many there are.
    pub fn new(algebra: &'r Algebra, domain: [Option<i64>; 3], always: &'r [Cond]) -> Self {
        let launch = algebra.launch;
        let threads = |d: usize| domain[d].unwrap_or(launch.block[d] * launch.grid[d]).max(1).into();
        Self {
            places: Places {
                algebra,
                threads: [threads(0), threads(1), threads(2)],
                block: launch.block.map(i128::from),
            },
            always,
            never: always.iter().map(|cond| cond.clone().not()).collect(),
            exact: true,
            halving: ALL_HALVING,
            drawing: ALL_DRAWING,
            asked: FxHashMap::default(),
            groups: FxHashMap::default(),
            variables: FxHashMap::default(),
        }
    }

    /// A loop, to stand around something.
    pub fn around<'e>(&self, counter: usize, last: &'e Poly) -> AroundLoop<'e> {
        AroundLoop { counter, last, of: self.mentioned(&Cond::Ge(last.clone())) }
    }

    /// How often a thread does on average what stands in these loops, outermost first, under this condition.
    pub fn times(&mut self, cond: &Cond, loops: &[AroundLoop<'_>]) -> f64 {
        let key = (loops.last().map(|l| l.counter), cond.clone());
        if let Some(known) = self.asked.get(&key) {
            return *known;
        }
        let times = if cond.parts().iter().any(|part| self.never.contains(part)) {
            0.0
        } else {
            self.groups_of(cond, loops).into_iter().map(|group| self.times_of(&group)).product()
        };
        self.asked.insert(key, times);
        times
    }

    /// The variables in a condition, in order.
    fn mentioned(&self, cond: &Cond) -> Rc<[Variable]> {
        let found = RefCell::new(Vec::new());
        self.places.algebra.cond_mentions(cond, &|atom| {
            match atom {
                Atom::Tid(d) => found.borrow_mut().push(Variable::Tid(*d)),
                Atom::Ctaid(d) => found.borrow_mut().push(Variable::Ctaid(*d)),
                Atom::Counter(n) => found.borrow_mut().push(Variable::Counter(*n as usize)),
                _ => {}
            }
            false
        });
        let mut found = found.into_inner();
        // The threads of a last block that is not full are not those of others.
        for d in (0..3).filter(|d| self.places.threads[*d] % self.places.block[*d] != 0) {
            let both = [Variable::Tid(d), Variable::Ctaid(d)];
            if found.iter().any(|v| both.contains(v)) {
                found.extend(both);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into()
    }

    /// The parts of a condition, and loops, in groups that have nothing to do with each other.
    fn groups_of<'g, 'e>(&mut self, cond: &'g Cond, loops: &'g [AroundLoop<'e>]) -> Vec<Group<'g, 'e>> {
        let mut groups = Vec::new();
        for around in loops {
            let own = [&*around.of, &[Variable::Counter(around.counter)]].concat();
            let mut group = Group::of_all_with(&own, &mut groups);
            group.loops.push(around);
            groups.push(group);
        }
        for part in cond.parts().iter().filter(|part| !self.always.contains(part)) {
            let known = self.variables.get(part).cloned();
            let own = known.unwrap_or_else(|| {
                let own = self.mentioned(part);
                self.variables.insert(part.clone(), Rc::clone(&own));
                own
            });
            let mut group = Group::of_all_with(&own, &mut groups);
            group.conds.push((part, own));
            groups.push(group);
        }
        for group in &mut groups {
            // Counters are numbered as loops are come to: outer ones first.
            group.loops.sort_by_key(|around| around.counter);
        }
        groups
    }

    /// How often a group lets something be done, on average over threads.
    fn times_of(&mut self, group: &Group<'_, '_>) -> f64 {
        let conds = group.conds.iter().map(|(cond, _)| (*cond).clone()).collect();
        let key = (conds, group.loops.iter().map(|around| around.counter).collect());
        if let Some(known) = self.groups.get(&key) {
            return *known;
        }
        let mut halving = Halving::new(self.places, group, self.halving.min(HALVING));
        let counted = halving.count();
        self.halving -= self.halving.min(HALVING) - halving.left();
        let times = counted.unwrap_or_else(|| {
            self.exact = false;
            self.drawn(group)
        });
        self.groups.insert(key, times);
        times
    }

    /// The same of threads and iterations at random. Each dimension and each loop is cut into as many parts as are
    /// drawn, and somewhere in each part lies one of them: no loop is looked at in steps that conditions may have, too.
    fn drawn(&mut self, group: &Group<'_, '_>) -> f64 {
        let looked_at = (group.conds.len() + group.loops.len()).max(1) as u64;
        let drawn = (self.drawing / 4 / looked_at).clamp(LEAST_DRAWN, MOST_DRAWN);
        self.drawing = self.drawing.saturating_sub(drawn * looked_at);
        let mut random = Random::new(17);
        let mut places = || {
            let mut parts: Vec<u64> = (0..drawn).collect();
            random.shuffle(&mut parts);
            // Above 0, up to 1.
            parts.into_iter().map(|n| ((n as f64 + 1.0 - random.unit()) / drawn as f64).max(0.0)).collect()
        };
        let threads: [Vec<f64>; 3] =
            [0, 1, 2].map(|d| if group.has_dimension(d) { places() } else { vec![0.0; narrow(drawn)] });
        let iterations: Vec<Vec<f64>> = group.loops.iter().map(|_| places()).collect();
        #[expect(clippy::cast_possible_truncation, reason = "a place among so many is below that")]
        let one_of = |many: i128, place: f64| ((many as f64 * place) as i128).clamp(0, many - 1);
        let mut at = Point { counters: vec![0; self.places.algebra.counters()], ..Point::default() };
        let mut sum = 0.0;
        for n in 0..narrow(drawn) {
            for (d, places) in threads.iter().enumerate() {
                let thread = one_of(self.places.threads[d], places[n]);
                let small = |n: i128| i64::try_from(n).expect("a grid has fewer threads than that");
                (at.tid[d], at.ctaid[d]) =
                    (small(thread % self.places.block[d]), small(thread / self.places.block[d]));
            }
            let mut times = 1.0;
            for (around, places) in group.loops.iter().zip(&iterations) {
                let trips = self.places.algebra.value(around.last, &at) + 1;
                if trips <= 0 {
                    times = 0.0;
                    break;
                }
                times *= trips as f64;
                at.counters[around.counter] = one_of(trips, places[n]);
            }
            if times > 0.0 && group.conds.iter().all(|(cond, _)| self.places.algebra.holds(cond, &at)) {
                sum += times;
            }
        }
        sum / drawn as f64
    }
}

fn narrow(n: u64) -> usize {
    usize::try_from(n).expect("few are drawn")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::value::BlockAndGrid;
    use crate::space::{Block, Grid};

    /// The mean over threads of the domain and iterations of two loops, one by one.
    fn one_by_one(algebra: &Algebra, domain: i64, cond: &Cond, lasts: [&Poly; 2]) -> f64 {
        let mut count = 0;
        let threads: i64 = algebra.launch.block[0];
        let mut at = Point { counters: vec![0; algebra.counters()], ..Point::default() };
        for (thread, y) in
            (0..domain).flat_map(|thread| (0..algebra.launch.block[1]).map(move |y| (thread, y)))
        {
            (at.tid[0], at.ctaid[0], at.tid[1]) = (thread % threads, thread / threads, y);
            for i in 0..=algebra.value(lasts[0], &at) {
                at.counters[0] = i;
                for j in 0..=algebra.value(lasts[1], &at) {
                    at.counters[1] = j;
                    count += i64::from(algebra.holds(cond, &at));
                }
            }
        }
        count as f64 / (domain * algebra.launch.block[1]) as f64
    }

    /// Threads along x and y, the place along x in the grid, and counters of two loops of up to 40 and 200 iterations.
    struct Launched {
        algebra: Algebra,
        x: Poly,
        y: Poly,
        place: Poly,
        i: Poly,
        j: Poly,
    }

    fn launched(grid: i64) -> Launched {
        let mut algebra =
            Algebra::new(BlockAndGrid { block: Block::known([32, 4, 1]), grid: Grid::known([grid, 1, 1]) });
        let (x, y, block) = (algebra.tid(0), algebra.tid(1), algebra.ctaid(0));
        let place = x.plus(&block, 32).unwrap();
        let (i, j) = (Poly::atom(algebra.counter((0, 39))), Poly::atom(algebra.counter((0, 199))));
        Launched { algebra, x, y, place, i, j }
    }

    #[test]
    fn what_is_counted_is_what_threads_do_one_by_one() {
        let Launched { mut algebra, x, y, place, i, j } = launched(7);
        let at_least = |p: &Poly, n: i128| Cond::Ge(p.add_number(-n).unwrap());
        let third = algebra.rem(&i, 3).unwrap();
        let stride = algebra.div(&place.scale(-1).unwrap().add_number(700).unwrap(), 90).unwrap();
        let conds = [
            Cond::True,
            Cond::Eq(third),
            Cond::and(Cond::Eq(i.add_number(-9).unwrap()), at_least(&y, 2)),
            Cond::and(Cond::Eq(x.clone()), Cond::Ne(j.add_number(-1).unwrap())),
            Cond::or(Cond::Eq(x.sub(&y).unwrap()), at_least(&place, 150)),
            Cond::Ge(i.sub(&j).unwrap()),
            Cond::False,
        ];
        let lasts = [
            [Poly::constant(9), Poly::constant(4)],
            [Poly::constant(9), i.clone()],
            [stride, i.scale(2).unwrap()],
        ];
        for domain in [224, 201, 30] {
            for (cond, [outer, inner]) in conds.iter().flat_map(|c| lasts.iter().map(move |l| (c, l))) {
                let mut often = Often::new(&algebra, [Some(domain), None, None], &[]);
                let loops = [often.around(0, outer), often.around(1, inner)];
                let (counted, own) =
                    (often.times(cond, &loops), one_by_one(&algebra, domain, cond, [outer, inner]));
                assert!(often.exact);
                assert!((counted - own).abs() <= 1e-12 * own, "{domain} {cond:?}: {counted}, not {own}");
            }
        }
    }

    #[test]
    fn what_holds_in_the_whole_domain_is_not_counted() {
        let Launched { algebra, place, .. } = launched(1 << 20);
        let inside = Cond::Ge(place.scale(-1).unwrap().add_number(9_999_999).unwrap());
        let mut often = Often::new(&algebra, [Some(10_000_000), None, None], std::slice::from_ref(&inside));
        assert!((often.times(&inside, &[]) - 1.0).abs() < f64::EPSILON);
        assert!(often.times(&inside.clone().not(), &[]).abs() < f64::EPSILON && often.exact);
    }

    /// What has no pattern that ranges show is drawn at random, and said to be; a period of the iterations that equal
    /// steps would meet does not fool it.
    #[test]
    fn what_is_not_counted_is_estimated() {
        let Launched { mut algebra, place, .. } = launched(1 << 20);
        let rest = algebra.rem(&place.scale(5).unwrap(), 64).unwrap();
        let cond = Cond::Eq(rest);
        let mut often = Often::new(&algebra, [None; 3], &[]);
        let share = often.times(&cond, &[]);
        assert!(!often.exact);
        assert!((share - 1.0 / 64.0).abs() < 0.006, "{share}");
    }
}
