//! Conditions and loops that have threads or counters in common: how often they let something be done is counted together.

use std::rc::Rc;

use crate::ptx::value::{Cond, Poly};

/// What formulas are made of: a thread along a dimension of its block, a block along one of the grid, the counter of a
/// loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Variable {
    Tid(usize),
    Ctaid(usize),
    Counter(usize),
}

/// A loop around something: its counter goes from 0 to this.
pub(super) struct AroundLoop<'e> {
    pub(super) counter: usize,
    pub(super) last: &'e Poly,
    /// What the last value has in it.
    pub(super) of: Rc<[Variable]>,
}

/// Conditions and loops that have to do with the same threads and counters.
#[derive(Default)]
pub(super) struct Group<'g, 'e> {
    pub(super) variables: Vec<Variable>,
    pub(super) conds: Vec<(&'g Cond, Rc<[Variable]>)>,
    /// Outermost first.
    pub(super) loops: Vec<&'g AroundLoop<'e>>,
}

impl Group<'_, '_> {
    /// All groups that have one of these variables, as one, taken out of the others.
    pub(super) fn of_all_with(variables: &[Variable], groups: &mut Vec<Self>) -> Self {
        let mut all = Self::default();
        all.variables.extend(variables);
        let mut at = 0;
        while at < groups.len() {
            if groups[at].variables.iter().any(|v| variables.contains(v)) {
                let one = groups.swap_remove(at);
                all.variables.extend(one.variables);
                all.conds.extend(one.conds);
                all.loops.extend(one.loops);
            } else {
                at += 1;
            }
        }
        all.variables.sort_unstable();
        all.variables.dedup();
        all
    }

    /// Whether it has to do with threads or blocks along a dimension.
    pub(super) fn has_dimension(&self, d: usize) -> bool {
        self.variables.contains(&Variable::Tid(d)) || self.variables.contains(&Variable::Ctaid(d))
    }
}
