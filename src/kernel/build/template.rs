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

#[cfg(test)]
mod tests {
    use crate::kernel::{Access, Statement, load};
    use crate::random::Random;

    fn accesses(body: &str) -> Option<Vec<Access>> {
        let text = format!(
            "wavecast: 1\nkernel: k\nparams: {{N: 40}}\ndomain: {{x: N, y: 9}}\n\
             fields:\n  a: {{dtype: f64, shape: [N + 20, 30], halo: 9}}\n  b: {{dtype: f32, size: 9000}}\n\
             body: [{body}]\n"
        );
        let kernel = load("k", &text, &Default::default()).ok()?.kernels.remove(0);
        let of = |statement: Statement| match statement {
            Statement::Access(access) => access,
            other => panic!("{other:?}"),
        };
        Some(kernel.body.into_iter().map(of).collect())
    }

    /// Addresses of all kinds, in groups of some, as they are and written out one by one.
    #[test]
    fn what_is_moved_is_what_is_written() {
        let addresses = [
            "a[x + R, y]",
            "a[x - 2*S + R, y + S]",
            "a[x + 3, y - R]",
            "a[R + 5, S + 5]",
            "b + x + 60*(y + R)",
            "b + 7*R - S + tidx",
            "b[x + R*S]",
            "b[x + (x + R)/4]",
            "b[(x + S) % 5 + R]",
            "b[max(x + R, S)]",
            "b[threadIdx.x*(R + 3) + S]",
            "b + 100*(S + 3) + blockIdx.x*R",
            "b[x/2 + 3*R]",
            "b[min(R, S) + x + 9]",
        ];
        let conditions = ["", ", when: x > 3", ", when: x + R < 20", ", when: S > 0 && x > R"];
        let named = |text: &str, r: &str, s: &str| text.replace('R', r).replace('S', s);
        let mut random = Random::new(23);
        let mut compared = 0;
        for _ in 0..400 {
            let range = |random: &mut Random| -> Vec<i64> {
                (0..=random.below(4)).map(|_| i64::try_from(random.below(7)).unwrap() - 3).collect()
            };
            let (rs, ss) = (range(&mut random), range(&mut random));
            let some: Vec<&str> =
                (0..=random.below(3)).map(|_| addresses[random.below(addresses.len())]).collect();
            let when = conditions[random.below(conditions.len())];
            let group = |more: &str, with: &dyn Fn(&str) -> String| {
                let at: Vec<String> = some.iter().map(|at| format!("'load {}'", with(at))).collect();
                format!("{{{more}at: [{}]{}}}", at.join(", "), with(when))
            };
            let whole = group(&format!("for: {{r: {rs:?}, s: {ss:?}}}, "), &|text| named(text, "r", "s"));
            let pairs = rs.iter().flat_map(|r| ss.iter().map(move |s| (format!("({r})"), format!("({s})"))));
            let each: Vec<String> = pairs.map(|(r, s)| group("", &|text| named(text, &r, &s))).collect();
            let (found, expected) = (accesses(&whole), accesses(&each.join(", ")));
            assert_eq!(found.is_some(), expected.is_some(), "{whole}");
            let (Some(found), Some(expected)) = (found, expected) else { continue };
            compared += 1;
            let of = |all: &[Access]| -> Vec<_> {
                let one = |a: &Access| {
                    let forms = (a.element.clone(), a.indices.clone(), a.when.clone());
                    (a.kind, a.field, forms, a.width, a.by_item, a.per_item_address)
                };
                all.iter().map(one).collect()
            };
            assert_eq!(of(&found), of(&expected), "{whole}");
        }
        assert!(compared > 300, "{compared}");
    }
}
