//! Groups of accesses that are visited again: those of a `for`, once for each combination of its variables, and those in
//! a part, once for each of the part's. What differs by constants from one visit to the next is understood once.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::address::Group;
use super::symbols::Symbols;
use super::template::{Opened, Template, Trial};
use crate::expr::LoopId;
use crate::kernel::model::{Access, Field};

/// Most variables around a group that is looked at: all of them are compared at each visit.
const MOST_VARIABLES: usize = 64;

/// The groups of a document that were visited.
#[derive(Default)]
pub(super) struct Visits {
    /// By where the first address of a group stands in memory: a document does not move while it is unrolled.
    all: FxHashMap<usize, Visit>,
}

/// A visit whose accesses were written out, and what is known from it about others.
struct Visit {
    place: Place,
    /// Kept until somebody comes back.
    accesses: Vec<Access>,
    known: Known,
}

/// What a visit differs in from others.
struct Place {
    /// Values of the variables, outermost first. At one place of a document they have the same names.
    values: Vec<i64>,
    /// The loop around it.
    innermost: Option<LoopId>,
}

enum Known {
    /// Nobody has come back yet.
    Nothing,
    /// The variables that only move its accesses, ascending, as an earlier visit found out.
    Open(Vec<usize>),
    /// What it is for any values of these variables.
    Opened(Opened),
    /// Visits have nothing in common.
    Never,
}

impl Place {
    fn here(symbols: &Symbols) -> Self {
        let values = symbols.unrolled.iter().map(|variable| variable.1).collect();
        Self { values, innermost: symbols.loops.last().map(|l| l.id) }
    }

    /// Whether all but some variables have the same values here, in the same loops.
    fn differs_only_in(&self, open: &[usize], symbols: &Symbols) -> bool {
        let values = || self.values.iter().zip(&symbols.unrolled).enumerate();
        self.values.len() == symbols.unrolled.len()
            && self.innermost == symbols.loops.last().map(|l| l.id)
            && values().all(|(number, (before, now))| *before == now.1 || open.binary_search(&number).is_ok())
    }
}

/// Where the first address of a group stands.
fn key(group: &Group<'_>) -> Option<usize> {
    group.at.first().map(|(_, at)| std::ptr::from_ref(*at).addr())
}

impl Visits {
    /// What the accesses of a group are here, if that follows from an earlier visit. The values to put into the templates
    /// are left in `values`.
    pub fn known(
        &mut self,
        group: &Group<'_>,
        symbols: &Symbols,
        fields: &[Field],
        values: &mut Vec<i64>,
    ) -> Option<Rc<[Template]>> {
        let visit = self.all.get_mut(&key(group)?)?;
        visit.ask(group, symbols, fields);
        let Known::Opened(Opened { open, templates }) = &visit.known else { return None };
        if !visit.place.differs_only_in(open, symbols) {
            return None;
        }
        values.clear();
        values.extend(open.iter().map(|&number| symbols.unrolled[number].1));
        Some(Rc::clone(templates))
    }

    /// Remembers what was written out.
    pub fn remember(&mut self, group: &Group<'_>, accesses: &[Access], symbols: &Symbols) {
        let Some(key) = key(group) else { return };
        let variables = symbols.unrolled.len();
        if variables == 0 || variables > MOST_VARIABLES || accesses.len() != group.at.len() {
            return;
        }
        let known = match self.all.remove(&key) {
            Some(Visit { known: Known::Opened(Opened { open, .. }) | Known::Open(open), .. }) => {
                Known::Open(open)
            }
            // Nothing more is asked of it.
            Some(visit @ Visit { known: Known::Never, .. }) => {
                self.all.insert(key, visit);
                return;
            }
            Some(Visit { known: Known::Nothing, .. }) | None => Known::Nothing,
        };
        self.all.insert(key, Visit { place: Place::here(symbols), accesses: accesses.to_vec(), known });
    }
}

impl Visit {
    /// Finds out what this visit says about the present one, if that is not known yet.
    fn ask(&mut self, group: &Group<'_>, symbols: &Symbols, fields: &[Field]) {
        let open: Vec<usize> = match &self.known {
            Known::Nothing => (0..self.place.values.len()).collect(),
            Known::Open(open) => open.clone(),
            Known::Opened(_) | Known::Never => return,
        };
        if !self.place.differs_only_in(&open, symbols) {
            return;
        }
        let trial = Trial { group, values: &self.place.values, symbols, fields };
        let accesses = std::mem::take(&mut self.accesses);
        self.known = trial.opened(&accesses, open).map_or(Known::Never, Known::Opened);
    }
}
