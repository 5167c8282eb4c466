//! Quasi-affine forms: a constant plus integer multiples of coordinates and of quotients, minima,
//! maxima and table entries of such forms.
//!
//! `Form<Scale>` still holds block and grid sizes as symbols; `Form<i64>` is what remains for one
//! launch. Forms are canonical: terms are sorted, coefficients non-zero, quotients reduced.

mod alike;
mod clamped;
mod coefficient;
mod interval;
mod launch;
mod quotient;
mod table;
mod terms;
mod value;
mod within;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(crate) use alike::{Alike, SharedTerms};
pub(crate) use clamped::Clamped;
pub use coefficient::{Coefficient, Excess};
pub(crate) use interval::PartedForm;
pub use table::LookupTable;
use terms::Terms;

use super::ast::Dim;
use crate::space::{Fold, ItemOffset};

/// Most parts of one form; `x % m` writes `x` twice, so that nesting would double without end.
pub(super) const MAX_SIZE: usize = 2_000;
/// Deepest nesting of quotients, minima and table entries: whatever walks over a form recurses.
pub(super) const MAX_DEPTH: usize = 100;

/// A loop of a kernel, counted in the order of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u16);

/// A coordinate that differs between threads or iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Coord {
    /// Work item along an axis of the domain. Gone after folding.
    Axis(Dim),
    /// Thread in the grid. Gone after a launch is put in.
    Thread(Dim),
    /// Thread in its block.
    ThreadIdx(Dim),
    /// Block in the grid.
    BlockIdx(Dim),
    /// The variable of a loop.
    Loop(LoopId),
}

/// How a form over one kind of coefficient becomes one over another.
pub(super) type Change<'f, C, D> = &'f dyn Fn(&Form<C>) -> Result<Form<D>, Excess>;

/// What a form is a combination of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term<C: Coefficient> {
    /// A coordinate.
    Coord(Coord),
    /// The quotient rounded down; the divisor is positive.
    Floor(Box<Form<C>>, C),
    /// The smaller.
    Min(Box<Form<C>>, Box<Form<C>>),
    /// The larger.
    Max(Box<Form<C>>, Box<Form<C>>),
    /// A table entry.
    Lookup(Arc<LookupTable>, Vec<Form<C>>),
}

/// A quasi-affine form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form<C: Coefficient> {
    constant: C,
    terms: Terms<(Term<C>, C)>,
}

impl<C: Coefficient> Form<C> {
    /// An integer.
    pub fn int(value: i64) -> Self {
        Self::scale(C::int(value))
    }

    /// A constant.
    pub fn scale(constant: C) -> Self {
        Self { constant, terms: Terms::NONE }
    }

    /// A coordinate.
    pub fn coord(coord: Coord) -> Self {
        Self { constant: C::int(0), terms: vec![(Term::Coord(coord), C::int(1))].into() }
    }

    /// A term as a form: a constant if it has no coordinate.
    pub fn term(term: Term<C>) -> Self {
        match C::absorb(&term) {
            Some(constant) => Self::scale(constant),
            None => Self { constant: C::int(0), terms: vec![(term, C::int(1))].into() },
        }
    }

    /// The constant part.
    pub fn constant(&self) -> &C {
        &self.constant
    }

    /// The terms with their coefficients, sorted.
    pub fn terms(&self) -> &[(Term<C>, C)] {
        &self.terms
    }

    /// The value, if it does not depend on any coordinate.
    pub fn as_scale(&self) -> Option<&C> {
        self.terms.is_empty().then_some(&self.constant)
    }

    /// The integer, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        self.as_scale().and_then(C::as_int)
    }

    /// Whether only coordinates occur, no quotient, minimum or table.
    pub fn is_affine(&self) -> bool {
        self.terms.iter().all(|t| matches!(t.0, Term::Coord(_)))
    }

    /// Number of parts.
    pub fn size(&self) -> usize {
        self.constant.size() + self.terms.iter().map(|(t, c)| t.size() + c.size()).sum::<usize>()
    }

    /// How deep quotients, minima and table entries nest.
    pub fn depth(&self) -> usize {
        let terms = self.terms.iter().map(|(t, c)| t.depth().max(c.depth()));
        terms.fold(self.constant.depth(), usize::max)
    }

    /// Whether all coefficients and divisors are integers.
    pub fn is_fixed(&self) -> bool {
        let fixed = |term: &Term<C>| {
            let divisor = !matches!(term, Term::Floor(_, divisor) if divisor.as_int().is_none());
            divisor && term.parts().all(Form::is_fixed)
        };
        self.constant.as_int().is_some() && self.terms.iter().all(|(t, c)| c.as_int().is_some() && fixed(t))
    }

    /// Whether a coordinate for which `test` holds occurs anywhere.
    pub fn mentions(&self, test: &dyn Fn(Coord) -> bool) -> bool {
        self.terms.iter().any(|(t, _)| t.mentions(test))
    }

    /// The sum of constant and terms in any order.
    fn collected(constant: C, mut terms: Vec<(Term<C>, C)>) -> Result<Self, Excess> {
        if terms.len() > 1 && !terms.is_sorted_by(|a, b| a.0 < b.0) {
            terms.sort_by(|a, b| a.0.cmp(&b.0));
            let mut merged: Vec<(Term<C>, C)> = Vec::with_capacity(terms.len());
            for (term, coefficient) in terms {
                match merged.last_mut() {
                    Some(last) if last.0 == term => last.1 = last.1.plus(&coefficient)?,
                    _ => merged.push((term, coefficient)),
                }
            }
            terms = merged;
        }
        terms.retain(|t| t.1.as_int() != Some(0));
        Ok(Self { constant, terms: terms.into() })
    }

    /// Sum.
    pub fn plus(&self, other: &Self) -> Result<Self, Excess> {
        let constant = self.constant.plus(&other.constant)?;
        let only = match (self.terms.is_empty(), other.terms.is_empty()) {
            (_, true) => &self.terms,
            (true, false) => &other.terms,
            (false, false) => {
                let terms = self.terms.iter().chain(&other.terms).cloned().collect();
                return Self::collected(constant, terms)?.bounded();
            }
        };
        Self { constant, terms: only.clone() }.bounded()
    }

    /// Sum of many, which is quicker than adding one after the other.
    pub fn total(parts: Vec<Self>) -> Result<Self, Excess> {
        let mut constant = C::int(0);
        let mut terms = Vec::new();
        for part in parts {
            constant = constant.plus(&part.constant)?;
            terms.extend_from_slice(&part.terms);
        }
        Self::collected(constant, terms)?.bounded()
    }

    /// Difference.
    pub fn minus(&self, other: &Self) -> Result<Self, Excess> {
        self.plus(&other.times(&C::int(-1))?)
    }

    /// Product with a constant.
    pub fn times(&self, factor: &C) -> Result<Self, Excess> {
        if factor.as_int() == Some(1) {
            return Ok(self.clone());
        }
        let terms = self
            .terms
            .iter()
            .map(|(t, c)| Ok((t.clone(), c.times(factor)?)))
            .collect::<Result<_, Excess>>()?;
        Self::collected(self.constant.times(factor)?, terms)?.bounded()
    }

    /// The smaller of two.
    pub fn smaller(&self, other: &Self) -> Result<Self, Excess> {
        Ok(match self.minus(other)?.as_constant() {
            Some(difference) if difference <= 0 => self.clone(),
            Some(_) => other.clone(),
            None => Self::term(Term::Min(Box::new(self.clone()), Box::new(other.clone()))).bounded()?,
        })
    }

    /// The larger of two.
    pub fn larger(&self, other: &Self) -> Result<Self, Excess> {
        Ok(match self.minus(other)?.as_constant() {
            Some(difference) if difference >= 0 => self.clone(),
            Some(_) => other.clone(),
            None => Self::term(Term::Max(Box::new(self.clone()), Box::new(other.clone()))).bounded()?,
        })
    }

    /// Puts a form in the place of each coordinate for which there is one.
    pub fn substitute(&self, with: &dyn Fn(Coord) -> Option<Form<C>>) -> Result<Self, Excess> {
        let mut total = Self::scale(self.constant.clone());
        for (term, coefficient) in &self.terms {
            total = total.plus(&term.substitute(with)?.times(coefficient)?)?;
        }
        Ok(total)
    }

    /// Other names for coordinates; one without a name counts as 0.
    pub fn rename(&self, to: &dyn Fn(Coord) -> Option<Coord>) -> Result<Self, Excess> {
        if !self.is_affine() {
            return self.substitute(&|c| Some(to(c).map_or_else(|| Form::int(0), Form::coord)));
        }
        let terms = self.terms.iter().filter_map(|(term, coefficient)| {
            let Term::Coord(coord) = term else { return None };
            Some((Term::Coord(to(*coord)?), coefficient.clone()))
        });
        Self::collected(self.constant.clone(), terms.collect())
    }

    /// Puts fold * thread + offset in the place of each work-item axis.
    pub fn fold(&self, fold: Fold, offset: ItemOffset) -> Result<Self, Excess> {
        if !self.is_affine() {
            return self.substitute(&|c| match c {
                Coord::Axis(d) => {
                    let terms = vec![(Term::Coord(Coord::Thread(d)), C::int(fold[d.index()]))];
                    Some(Self { constant: C::int(offset[d.index()]), terms: terms.into() })
                }
                _ => None,
            });
        }
        let mut terms = Vec::with_capacity(self.terms.len());
        for (term, coefficient) in &self.terms {
            let Term::Coord(Coord::Axis(d)) = term else {
                terms.push((term.clone(), coefficient.clone()));
                continue;
            };
            let width = fold[d.index()];
            let coefficient =
                if width == 1 { coefficient.clone() } else { coefficient.times(&C::int(width))? };
            terms.push((Term::Coord(Coord::Thread(*d)), coefficient));
        }
        let constant = self.constant.plus(&self.shift(offset)?)?;
        Self::collected(constant, terms)
    }

    /// By how much an affine form differs at a place in the fold from what it is at the first.
    pub fn shift(&self, offset: ItemOffset) -> Result<C, Excess> {
        let mut shift = C::int(0);
        for (term, coefficient) in &self.terms {
            if let Term::Coord(Coord::Axis(d)) = term
                && offset[d.index()] != 0
            {
                shift = shift.plus(&coefficient.times(&C::int(offset[d.index()]))?)?;
            }
        }
        Ok(shift)
    }

    /// The same terms with another constant.
    pub fn with_constant(&self, constant: C) -> Result<Self, Excess> {
        let plain = constant.as_int().is_some();
        let form = Self { constant, terms: self.terms.clone() };
        // With a plain constant it is no larger than it was.
        if plain { Ok(form) } else { form.bounded() }
    }

    /// Feeds the terms, without the constant, to a hasher.
    pub fn hash_terms(&self, state: &mut impl Hasher) {
        self.terms.hash(state);
    }

    /// Whether the terms of one were copied from the other, or both from a third.
    pub fn shares_terms(&self, other: &Self) -> bool {
        self.terms.is_copy_of(&other.terms)
    }

    pub(super) fn bounded(self) -> Result<Self, Excess> {
        // Affine forms over integers are small by nature; measuring them each time would cost more
        // than making them.
        let plain = |c: &C| c.as_int().is_some();
        let small = self.terms.len() <= 16
            && plain(&self.constant)
            && self.terms.iter().all(|(t, c)| matches!(t, Term::Coord(_)) && plain(c));
        if small {
            return Ok(self);
        }
        let size = self.size();
        if size > MAX_SIZE || (size > MAX_DEPTH && self.depth() > MAX_DEPTH) {
            return Err(Excess::TooComplex);
        }
        Ok(self)
    }
}

impl<C: Coefficient> Term<C> {
    /// The forms inside.
    pub fn parts(&self) -> impl Iterator<Item = &Form<C>> {
        let two = match self {
            Term::Coord(_) | Term::Lookup(..) => [None, None],
            Term::Floor(inner, _) => [Some(&**inner), None],
            Term::Min(a, b) | Term::Max(a, b) => [Some(&**a), Some(&**b)],
        };
        let indices: &[_] = if let Term::Lookup(_, indices) = self { indices } else { &[] };
        two.into_iter().flatten().chain(indices)
    }

    /// Number of parts.
    pub fn size(&self) -> usize {
        1 + match self {
            Term::Coord(_) => 0,
            Term::Floor(inner, divisor) => divisor.size() + inner.size(),
            Term::Min(a, b) | Term::Max(a, b) => a.size() + b.size(),
            Term::Lookup(_, indices) => indices.iter().map(Form::size).sum(),
        }
    }

    /// How deep terms nest, this one included.
    pub fn depth(&self) -> usize {
        let divisor = if let Term::Floor(_, divisor) = self { divisor.depth() } else { 0 };
        1 + self.parts().map(Form::depth).fold(divisor, usize::max)
    }

    /// Whether a coordinate for which `test` holds occurs anywhere.
    pub fn mentions(&self, test: &dyn Fn(Coord) -> bool) -> bool {
        match self {
            Term::Coord(c) => test(*c),
            _ => self.parts().any(|f| f.mentions(test)),
        }
    }

    /// Whether any coordinate occurs.
    pub fn has_coordinate(&self) -> bool {
        self.mentions(&|_| true)
    }

    /// The same kind of term over changed parts.
    fn rebuild<D: Coefficient>(
        &self,
        part: Change<'_, C, D>,
        scale: &dyn Fn(&C) -> Result<D, Excess>,
        coord: &dyn Fn(Coord) -> Result<Form<D>, Excess>,
    ) -> Result<Form<D>, Excess> {
        match self {
            Term::Coord(c) => coord(*c),
            Term::Floor(inner, divisor) => part(inner)?.floor_div(&scale(divisor)?),
            Term::Min(a, b) => part(a)?.smaller(&part(b)?),
            Term::Max(a, b) => part(a)?.larger(&part(b)?),
            Term::Lookup(table, indices) => {
                let indices = indices.iter().map(part).collect::<Result<Vec<_>, _>>()?;
                let constants: Option<Vec<i64>> = indices.iter().map(Form::as_constant).collect();
                Ok(match constants.and_then(|c| table.get(&c)) {
                    Some(entry) => Form::int(entry),
                    None => Form::term(Term::Lookup(table.clone(), indices)),
                })
            }
        }
    }

    fn substitute(&self, with: &dyn Fn(Coord) -> Option<Form<C>>) -> Result<Form<C>, Excess> {
        let coord = |c| Ok(with(c).unwrap_or_else(|| Form::coord(c)));
        self.rebuild(&|f| f.substitute(with), &|c| Ok(c.clone()), &coord)
    }
}
