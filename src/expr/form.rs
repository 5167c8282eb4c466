//! Quasi-affine forms: a constant plus integer multiples of coordinates and of quotients, minima,
//! maxima and table entries of such forms.
//!
//! `Form<Scale>` still holds block and grid sizes as symbols; `Form<i64>` is what remains for one
//! launch. Forms are canonical: terms are sorted, coefficients non-zero, quotients reduced.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use num_rational::Ratio;
use num_traits::ToPrimitive;

use super::ast::Dim;
use super::remainder::{self, Remainder};
use super::scale::{LaunchSizes, Scale};

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

/// A constant integer table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Entries along each dimension.
    pub shape: Vec<usize>,
    /// The entries, last dimension fastest.
    pub values: Vec<i64>,
    /// The smallest and the largest entry.
    reach: Option<(i64, i64)>,
}

impl Table {
    /// A table with these entries, the last dimension fastest.
    pub fn new(name: String, shape: Vec<usize>, values: Vec<i64>) -> Self {
        let reach = values.iter().copied().min().zip(values.iter().copied().max());
        Self { name, shape, values, reach }
    }

    /// The entry at given indices, if they lie inside.
    pub fn get(&self, indices: &[i64]) -> Option<i64> {
        if indices.len() != self.shape.len() {
            return None;
        }
        let mut flat = 0;
        for (&index, &extent) in indices.iter().zip(&self.shape) {
            flat = flat * extent + usize::try_from(index).ok().filter(|&i| i < extent)?;
        }
        self.values.get(flat).copied()
    }
}

// Forms are compared, sorted and hashed all the time, and a table may be long: the same table is told
// by its place, and names are mostly enough to tell tables apart.
impl Ord for Table {
    fn cmp(&self, other: &Self) -> Ordering {
        if std::ptr::eq(self, other) {
            return Ordering::Equal;
        }
        (&self.name, &self.shape, &self.values).cmp(&(&other.name, &other.shape, &other.values))
    }
}

impl PartialOrd for Table {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Table {}

impl Hash for Table {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.shape).hash(state);
    }
}

/// How a form over one kind of coefficient becomes one over another.
pub(super) type Change<'f, C, D> = &'f dyn Fn(&Form<C>) -> Result<Form<D>, Excess>;

/// Why an exact form could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// A number left 64 bits.
    #[error("a number does not fit into 64 bits")]
    Overflow,
    /// The form outgrew the limit that protects the tool.
    #[error("the expression is too complex")]
    TooComplex,
    /// A divisor that depends on the launch is not positive for it.
    #[error("the divisor {0} is not positive")]
    Divisor(i64),
}

/// What may multiply a coordinate.
pub trait Coefficient: Clone + Debug + Eq + Ord + Hash {
    /// An integer.
    fn int(value: i64) -> Self;
    /// The value, if it is just an integer.
    fn as_int(&self) -> Option<i64>;
    /// Sum.
    fn plus(&self, other: &Self) -> Result<Self, Excess>;
    /// Product.
    fn times(&self, other: &Self) -> Result<Self, Excess>;
    /// A term without coordinates as a coefficient.
    fn absorb(term: &Term<Self>) -> Option<Self>;
    /// Number of parts.
    fn size(&self) -> usize;
    /// How deep terms nest in it.
    fn depth(&self) -> usize;
}

impl Coefficient for i64 {
    fn int(value: i64) -> Self {
        value
    }

    fn as_int(&self) -> Option<i64> {
        Some(*self)
    }

    fn plus(&self, other: &Self) -> Result<Self, Excess> {
        self.checked_add(*other).ok_or(Excess::Overflow)
    }

    fn times(&self, other: &Self) -> Result<Self, Excess> {
        self.checked_mul(*other).ok_or(Excess::Overflow)
    }

    fn absorb(_: &Term<Self>) -> Option<Self> {
        None
    }

    fn size(&self) -> usize {
        1
    }

    fn depth(&self) -> usize {
        0
    }
}

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
    Lookup(Arc<Table>, Vec<Form<C>>),
}

/// A quasi-affine form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form<C: Coefficient> {
    constant: C,
    terms: Vec<(Term<C>, C)>,
}

impl<C: Coefficient> Form<C> {
    /// An integer.
    pub fn int(value: i64) -> Self {
        Self::scale(C::int(value))
    }

    /// A constant.
    pub fn scale(constant: C) -> Self {
        Self { constant, terms: Vec::new() }
    }

    /// A coordinate.
    pub fn coord(coord: Coord) -> Self {
        Self { constant: C::int(0), terms: vec![(Term::Coord(coord), C::int(1))] }
    }

    /// A term as a form: a constant if it has no coordinate.
    pub fn term(term: Term<C>) -> Self {
        match C::absorb(&term) {
            Some(constant) => Self::scale(constant),
            None => Self { constant: C::int(0), terms: vec![(term, C::int(1))] },
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
            divisor && term.parts().iter().all(|f| f.is_fixed())
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
        Ok(Self { constant, terms })
    }

    /// Sum.
    pub fn plus(&self, other: &Self) -> Result<Self, Excess> {
        let terms = self.terms.iter().chain(&other.terms).cloned().collect();
        Self::collected(self.constant.plus(&other.constant)?, terms)?.bounded()
    }

    /// Sum of many, which is quicker than adding one after the other.
    pub fn total(parts: Vec<Self>) -> Result<Self, Excess> {
        let mut constant = C::int(0);
        let mut terms = Vec::new();
        for part in parts {
            constant = constant.plus(&part.constant)?;
            terms.extend(part.terms);
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

    /// Quotient rounded down; whatever divides evenly comes out of it.
    pub fn floor_div(&self, divisor: &C) -> Result<Self, Excess> {
        let Some(m) = divisor.as_int() else {
            return Self::term(Term::Floor(Box::new(self.clone()), divisor.clone())).bounded();
        };
        if m <= 0 {
            return Err(Excess::Divisor(m));
        }
        match self.as_constant() {
            Some(constant) => Ok(Self::int(constant.div_euclid(m))),
            None if m == 1 => Ok(self.clone()),
            None => self.reduced_floor(m)?.bounded(),
        }
    }

    /// floor(self / m) with integral parts taken out and the fraction reduced.
    fn reduced_floor(&self, m: i64) -> Result<Self, Excess> {
        if let Some(joined) = self.joined_floor(m)? {
            return Ok(joined);
        }
        let quotient = |c: &C| c.as_int().map(|c| Ratio::new(c, m));
        let (mut whole, mut rest) = (Vec::new(), Vec::new());
        for (term, coefficient) in &self.terms {
            match quotient(coefficient) {
                Some(r) if r.is_integer() => whole.push((term.clone(), C::int(r.to_integer()))),
                _ => rest.push((term.clone(), coefficient.clone())),
            }
        }
        let fractions: Option<Vec<Ratio<i64>>> = rest.iter().map(|(_, c)| quotient(c)).collect();
        let (Some(fractions), Some(constant)) = (fractions, self.constant.as_int()) else {
            // Something depends on the launch: the quotient is reduced when that is known.
            let inner = Self { constant: self.constant.clone(), terms: rest };
            let whole = Self { constant: C::int(0), terms: whole };
            return whole.plus(&Self::term(Term::Floor(Box::new(inner), C::int(m))));
        };
        let whole = Self { constant: C::int(constant.div_euclid(m)), terms: whole };
        if rest.is_empty() {
            return Ok(whole);
        }
        // Over the least common denominator of the others, the constant may lose its own fraction.
        let denominator = fractions.iter().try_fold(1, |l, r| lcm(l, *r.denom()))?;
        let constant = (Ratio::new(constant.rem_euclid(m), m) * denominator).floor().to_integer();
        for ((_, coefficient), r) in rest.iter_mut().zip(fractions) {
            *coefficient = C::int((denominator / r.denom()).checked_mul(*r.numer()).ok_or(Excess::Overflow)?);
        }
        let inner = Self { constant: C::int(constant), terms: rest };
        match inner.joined_floor(denominator)? {
            Some(joined) => whole.plus(&joined),
            None => whole.plus(&Self::term(Term::Floor(Box::new(inner), C::int(denominator)))),
        }
    }

    /// A quotient of a quotient as one: floor((floor(e/a) + c)/m) = floor((e + ac)/(am)).
    fn joined_floor(&self, m: i64) -> Result<Option<Self>, Excess> {
        let [(Term::Floor(inner, a), one)] = self.terms.as_slice() else { return Ok(None) };
        let (Some(1), Some(a), Some(c)) = (one.as_int(), a.as_int(), self.constant.as_int()) else {
            return Ok(None);
        };
        let (Some(shift), Some(product)) = (c.checked_mul(a), a.checked_mul(m)) else { return Ok(None) };
        inner.plus(&Self::int(shift))?.floor_div(&C::int(product)).map(Some)
    }

    /// Remainder of the quotient rounded down.
    pub fn remainder(&self, divisor: &C) -> Result<Self, Excess> {
        self.minus(&self.floor_div(divisor)?.times(divisor)?)
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
    pub fn fold(&self, fold: [i64; 3], offset: [i64; 3]) -> Result<Self, Excess> {
        if !self.is_affine() {
            return self.substitute(&|c| match c {
                Coord::Axis(d) => {
                    let terms = vec![(Term::Coord(Coord::Thread(d)), C::int(fold[d.index()]))];
                    Some(Self { constant: C::int(offset[d.index()]), terms })
                }
                _ => None,
            });
        }
        let mut constant = self.constant.clone();
        let mut terms = Vec::with_capacity(self.terms.len());
        for (term, coefficient) in &self.terms {
            let Term::Coord(Coord::Axis(d)) = term else {
                terms.push((term.clone(), coefficient.clone()));
                continue;
            };
            let (width, shift) = (fold[d.index()], offset[d.index()]);
            if shift != 0 {
                constant = constant.plus(&coefficient.times(&C::int(shift))?)?;
            }
            let coefficient =
                if width == 1 { coefficient.clone() } else { coefficient.times(&C::int(width))? };
            terms.push((Term::Coord(Coord::Thread(*d)), coefficient));
        }
        Self::collected(constant, terms)
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

    /// The interval in which the form lies while each coordinate lies in its own; `None` if unknown.
    pub fn interval(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        if self.is_affine() {
            return self.interval_of_terms(of);
        }
        // e - m*floor(e/m) taken term by term would forget that both contain the same e.
        let (rest, remainders) = remainder::split(self);
        let (mut low, mut high) = rest.interval_of_terms(of)?;
        for Remainder { factor, dividend, modulus } in remainders {
            let (from, to) = match dividend.interval(of) {
                Some((a, b)) if a.div_euclid(modulus) == b.div_euclid(modulus) => {
                    (a.rem_euclid(modulus), b.rem_euclid(modulus))
                }
                _ => (0, modulus - 1),
            };
            let (p, q) = (from.checked_mul(factor)?, to.checked_mul(factor)?);
            low = low.checked_add(p.min(q))?;
            high = high.checked_add(p.max(q))?;
        }
        Some((low, high))
    }

    fn interval_of_terms(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        let constant = self.constant.as_int()?;
        let (mut low, mut high) = (constant, constant);
        for (term, coefficient) in &self.terms {
            let (a, b) = term.interval(of)?;
            let c = coefficient.as_int()?;
            let (p, q) = (a.checked_mul(c)?, b.checked_mul(c)?);
            low = low.checked_add(p.min(q))?;
            high = high.checked_add(p.max(q))?;
        }
        Some((low, high))
    }
}

/// Least common multiple of two positive numbers.
fn lcm(a: i64, b: i64) -> Result<i64, Excess> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b).ok_or(Excess::Overflow)
}

impl<C: Coefficient> Term<C> {
    /// The forms inside.
    pub fn parts(&self) -> Vec<&Form<C>> {
        match self {
            Term::Coord(_) => Vec::new(),
            Term::Floor(inner, _) => vec![inner],
            Term::Min(a, b) | Term::Max(a, b) => vec![a, b],
            Term::Lookup(_, indices) => indices.iter().collect(),
        }
    }

    /// Number of parts.
    pub fn size(&self) -> usize {
        let divisor = if let Term::Floor(_, divisor) = self { divisor.size() } else { 0 };
        1 + divisor + self.parts().iter().map(|f| f.size()).sum::<usize>()
    }

    /// How deep terms nest, this one included.
    pub fn depth(&self) -> usize {
        let divisor = if let Term::Floor(_, divisor) = self { divisor.depth() } else { 0 };
        1 + self.parts().iter().map(|f| f.depth()).fold(divisor, usize::max)
    }

    /// Whether a coordinate for which `test` holds occurs anywhere.
    pub fn mentions(&self, test: &dyn Fn(Coord) -> bool) -> bool {
        match self {
            Term::Coord(c) => test(*c),
            _ => self.parts().iter().any(|f| f.mentions(test)),
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

    fn interval(&self, of: &dyn Fn(Coord) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        match self {
            Term::Coord(c) => of(*c),
            Term::Floor(inner, divisor) => {
                let (m, (low, high)) = (divisor.as_int()?, inner.interval(of)?);
                Some((low.div_euclid(m), high.div_euclid(m)))
            }
            Term::Min(a, b) => {
                let (a, b) = (a.interval(of)?, b.interval(of)?);
                Some((a.0.min(b.0), a.1.min(b.1)))
            }
            Term::Max(a, b) => {
                let (a, b) = (a.interval(of)?, b.interval(of)?);
                Some((a.0.max(b.0), a.1.max(b.1)))
            }
            Term::Lookup(table, _) => table.reach,
        }
    }
}

impl Term<Scale> {
    /// Whether the size of the grid occurs.
    pub(super) fn mentions_grid(&self) -> bool {
        let divisor = if let Term::Floor(_, divisor) = self { divisor.mentions_grid() } else { false };
        divisor
            || self
                .parts()
                .iter()
                .any(|f| f.constant.mentions_grid() || f.terms.iter().any(|t| t.0.mentions_grid()))
    }

    /// The term for given launch sizes.
    pub(super) fn at(&self, sizes: &LaunchSizes) -> Result<Form<i64>, Excess> {
        self.rebuild(&|f| f.at(sizes), &|c| c.at(sizes), &|c| Ok(placed(c, sizes, 1)))
    }
}

/// A coordinate in terms of thread, block and loop.
fn placed(coord: Coord, sizes: &LaunchSizes, factor: i64) -> Form<i64> {
    let mut form = Form::int(0);
    match coord {
        Coord::Thread(d) => {
            form.terms.push((Term::Coord(Coord::ThreadIdx(d)), factor));
            form.terms.push((Term::Coord(Coord::BlockIdx(d)), factor * sizes.block[d.index()]));
        }
        other => form.terms.push((Term::Coord(other), factor)),
    }
    form
}

impl Form<Scale> {
    /// The form for given launch sizes, over threads in their block, blocks, and loop variables.
    pub fn at(&self, sizes: &LaunchSizes) -> Result<Form<i64>, Excess> {
        let mut terms = Vec::with_capacity(self.terms.len() + 3);
        let mut constant = self.constant.at(sizes)?;
        for (term, coefficient) in &self.terms {
            let coefficient = coefficient.at(sizes)?;
            match term {
                Term::Coord(Coord::Thread(d)) => {
                    let of_block = coefficient.checked_mul(sizes.block[d.index()]).ok_or(Excess::Overflow)?;
                    terms.push((Term::Coord(Coord::ThreadIdx(*d)), coefficient));
                    terms.push((Term::Coord(Coord::BlockIdx(*d)), of_block));
                }
                Term::Coord(c) => terms.push((Term::Coord(*c), coefficient)),
                other => {
                    let form = other.at(sizes)?.times(&coefficient)?;
                    constant = constant.plus(&form.constant)?;
                    terms.extend(form.terms);
                }
            }
        }
        Form::collected(constant, terms)
    }
}

impl Form<i64> {
    /// The value where the coordinates have given values; `None` if it leaves 64 bits, a table, or
    /// mentions a coordinate without a value.
    pub fn evaluate(&self, value: &dyn Fn(Coord) -> Option<i64>) -> Option<i64> {
        let mut total = i128::from(self.constant);
        for (term, coefficient) in &self.terms {
            total += i128::from(term.evaluate(value)?) * i128::from(*coefficient);
        }
        total.to_i64()
    }
}

impl Term<i64> {
    fn evaluate(&self, value: &dyn Fn(Coord) -> Option<i64>) -> Option<i64> {
        match self {
            Term::Coord(c) => value(*c),
            Term::Floor(inner, divisor) => Some(inner.evaluate(value)?.div_euclid(*divisor)),
            Term::Min(a, b) => Some(a.evaluate(value)?.min(b.evaluate(value)?)),
            Term::Max(a, b) => Some(a.evaluate(value)?.max(b.evaluate(value)?)),
            Term::Lookup(table, indices) => {
                let indices: Vec<i64> = indices.iter().map(|i| i.evaluate(value)).collect::<Option<_>>()?;
                table.get(&indices)
            }
        }
    }
}
