//! Accesses of a `for` whose addresses differ by constants: they are understood once, and moved.

use std::sync::Arc;

use super::address::{Address, Group, split};
use super::fields::linear;
use super::symbols::Symbols;
use crate::expr::{Binding, Coefficient, Cond, Coord, Excess, Expr, Form, LoopId, Scale, Scope, Term, lower};
use crate::kernel::model::{Access, Field};

/// A form in which the variables of the `for` are open.
struct Open {
    /// What it is where all of them are 0.
    rest: Form<Scale>,
    /// How much it grows with each variable.
    slopes: Vec<Scale>,
}

/// An access of a group, for any values of the variables.
pub(super) struct Template {
    /// Some access of it, for all that does not depend on them.
    access: Access,
    element: Open,
    indices: Option<Vec<Open>>,
    /// Parts of what is written, and of what is made of it.
    sizes: (usize, usize),
}

impl Template {
    /// The accesses of a group from those of one combination of its variables; `None` where they differ by more
    /// than constants.
    pub fn of_group(
        group: &Group<'_>,
        accesses: &[Access],
        symbols: &Symbols,
        fields: &[Field],
    ) -> Option<Vec<Self>> {
        let names: Vec<&str> = group.variables?.0.iter().map(|v| v.0.value.as_str()).collect();
        let open = |name: &str| names.contains(&name);
        let shared = [group.when, group.width].into_iter().flatten();
        // Names of loops and of variables that are open must differ.
        let may = accesses.len() == group.at.len() && !shared.into_iter().any(|f| f.0.mentions(&open));
        let scope = WithOpen { symbols, names: &names };
        let values: Vec<i64> = scope.values()?;
        let of = |(access, at): (&Access, &Expr)| {
            let template = Self::understood(access, at, &scope, &fields[usize::from(access.field.0)])?;
            let again = template.at(&values).ok()?;
            (again.element == access.element && again.indices == access.indices).then_some(template)
        };
        if may { accesses.iter().zip(group.at.iter().map(|at| at.1)).map(of).collect() } else { None }
    }

    fn understood(access: &Access, at: &Expr, scope: &WithOpen<'_>, field: &Field) -> Option<Self> {
        let lowered = |e: &Expr| lower(e, scope).ok();
        let open = |form: &Form<Scale>| scope.open(form);
        let (element, indices) = match split(at, scope.symbols)? {
            Address::Pointer { offset, .. } => (open(&lowered(&offset)?)?, None),
            Address::Array { indices, .. } => {
                let indices: Vec<Form<Scale>> = indices.iter().map(lowered).collect::<Option<_>>()?;
                let element = open(&linear(field, &indices).ok()?)?;
                (element, Some(indices.iter().map(open).collect::<Option<_>>()?))
            }
        };
        let forms = || std::iter::once(&element).chain(indices.iter().flatten());
        let when = access.when.as_ref().map_or(0, Cond::size);
        let sizes = (at.size(), when + forms().map(|open| open.rest.size()).sum::<usize>());
        Some(Self { access: access.clone(), element, indices, sizes })
    }

    /// What an access takes of the steps for unrolling: once for what is written, twice for what is made and kept.
    pub fn steps(&self) -> usize {
        self.sizes.0 + 2 * self.sizes.1
    }

    /// The access for some values of the variables.
    pub fn at(&self, values: &[i64]) -> Result<Access, Excess> {
        let indices = match &self.indices {
            Some(indices) => {
                Some(indices.iter().map(|i| i.at(values)).collect::<Result<Arc<[_]>, Excess>>()?)
            }
            None => None,
        };
        let Access { kind, field, width, ref when, by_item, per_item_address, span, .. } = self.access;
        let (element, when) = (self.element.at(values)?, when.clone());
        Ok(Access { kind, field, element, indices, width, when, by_item, per_item_address, span })
    }
}

impl Open {
    fn at(&self, values: &[i64]) -> Result<Form<Scale>, Excess> {
        let mut moved = self.rest.constant().clone();
        for (slope, &value) in self.slopes.iter().zip(values) {
            moved = moved.plus(&slope.times(&Scale::int(value))?)?;
        }
        self.rest.with_constant(moved)
    }
}

/// The names of a document, and the variables of a `for` as coordinates.
struct WithOpen<'s> {
    symbols: &'s Symbols,
    names: &'s [&'s str],
}

impl WithOpen<'_> {
    /// What stands for a variable: a loop that no document has.
    fn coord(number: usize) -> Option<Coord> {
        Some(Coord::Loop(LoopId(u16::MAX - u16::try_from(number).ok()?)))
    }

    /// The present values of the variables.
    fn values(&self) -> Option<Vec<i64>> {
        let of = |name: &&str| match self.symbols.resolve(name)? {
            Binding::Value(value) => Some(value),
            _ => None,
        };
        self.names.iter().map(of).collect()
    }

    /// A form with its variables taken out; `None` where one of them is part of a quotient or the like.
    fn open(&self, form: &Form<Scale>) -> Option<Open> {
        let numbers = 0..self.names.len();
        let coords: Vec<Coord> = numbers.map(Self::coord).collect::<Option<_>>()?;
        let mut slopes = vec![Scale::int(0); coords.len()];
        for (term, coefficient) in form.terms() {
            match term {
                Term::Coord(c) => {
                    if let Some(number) = coords.iter().position(|open| open == c) {
                        slopes[number] = coefficient.clone();
                    }
                }
                _ if term.mentions(&|c| coords.contains(&c)) => return None,
                _ => {}
            }
        }
        let zero = |c| coords.contains(&c).then(|| Form::int(0));
        Some(Open { rest: form.substitute(&zero).ok()?, slopes })
    }
}

impl Scope for WithOpen<'_> {
    fn resolve(&self, name: &str) -> Option<Binding> {
        match self.names.iter().position(|open| *open == name) {
            Some(number) => Self::coord(number).map(Binding::Coord),
            None => self.symbols.resolve(name),
        }
    }

    fn interval(&self, coord: Coord) -> Option<(i64, i64)> {
        self.symbols.interval(coord)
    }

    fn known(&self) -> Vec<&str> {
        Scope::known(self.symbols)
    }
}
