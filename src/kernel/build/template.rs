//! Accesses of a group whose addresses differ by constants from one combination of variables to the next: they are
//! understood once, and moved.

use std::rc::Rc;
use std::sync::Arc;

use super::address::{Address, Group, is_axis, split};
use super::fields::linear;
use super::symbols::Symbols;
use crate::expr::{Binding, Coefficient, Coord, Excess, Expr, Form, LoopId, Scale, Scope, Term, lower};
use crate::kernel::model::{Access, Field};

/// A form in which some variables are open.
struct Open {
    /// What it is where all of them are 0.
    rest: Form<Scale>,
    /// How much it grows with those variables that it grows with, by their places among the open ones.
    slopes: Vec<(usize, Scale)>,
    /// Its constant and the slopes, if all of them are integers.
    plain: Option<(i64, Vec<(usize, i64)>)>,
}

/// An access of a group, for any values of the variables that are open.
pub(super) struct Template {
    /// Some access of it, for all that does not depend on them.
    access: Access,
    element: Open,
    indices: Option<Vec<Open>>,
    /// Parts of what is written.
    written: usize,
    /// Parts of what is made of it, where these are as many for all values.
    made: Option<usize>,
}

/// Templates, and which variables are open in them.
pub(super) struct Opened {
    pub open: Vec<usize>,
    pub templates: Rc<[Template]>,
}

/// A group, and the values of the variables under which its accesses were written out. All other names mean what they meant
/// then: the group stands in the same loops.
pub(super) struct Trial<'t> {
    pub group: &'t Group<'t>,
    pub values: &'t [i64],
    pub symbols: &'t Symbols,
    pub fields: &'t [Field],
}

/// Why there are no templates.
enum Closed {
    /// Accesses differ by more than constants in these variables.
    In(Vec<usize>),
    /// They do in some, or what they are cannot be computed while variables are open.
    Somewhere,
}

impl Trial<'_> {
    /// The accesses of the group from those that were written out, with as many of some variables open as can be;
    /// `None` if that is none.
    pub fn opened(&self, accesses: &[Access], mut open: Vec<usize>) -> Option<Opened> {
        let shared = || [self.group.when, self.group.width].into_iter().flatten();
        let names = &self.symbols.unrolled;
        open.retain(|&number| !shared().any(|f| f.0.mentions(&|name| name == names[number].0)));
        let own = names.len() - self.group.variables.map_or(0, |v| v.0.len());
        while !open.is_empty() {
            match self.templates(accesses, &open) {
                Ok(templates) => return Some(Opened { open, templates: templates.into() }),
                Err(Closed::In(numbers)) => open.retain(|number| !numbers.contains(number)),
                // Those of the group itself change most.
                Err(Closed::Somewhere) if open[0] < own => open.retain(|&number| number >= own),
                Err(Closed::Somewhere) => return None,
            }
        }
        None
    }

    fn templates(&self, accesses: &[Access], open: &[usize]) -> Result<Vec<Template>, Closed> {
        let scope = WithOpen { symbols: self.symbols, values: self.values, open };
        let values: Vec<i64> = open.iter().map(|&number| self.values[number]).collect();
        let mut templates = Vec::with_capacity(accesses.len());
        let mut closed = Vec::new();
        for (access, &(_, at)) in accesses.iter().zip(&self.group.at) {
            let field = &self.fields[usize::from(access.field.0)];
            match Template::understood(access, at, &scope, field) {
                Ok(template) => {
                    let again = template.at(&values).map_err(|_| Closed::Somewhere)?;
                    if again.element != access.element || again.indices != access.indices {
                        return Err(Closed::Somewhere);
                    }
                    templates.push(template);
                }
                Err(Closed::In(numbers)) => closed.extend(numbers),
                Err(Closed::Somewhere) => return Err(Closed::Somewhere),
            }
        }
        if closed.is_empty() { Ok(templates) } else { Err(Closed::In(closed)) }
    }
}

impl Template {
    fn understood(access: &Access, at: &Expr, scope: &WithOpen<'_>, field: &Field) -> Result<Self, Closed> {
        let axis = |name: &str| scope.symbols.axes.iter().any(|a| a.name == name);
        if at.mentions(&axis) && !access.element.mentions(&is_axis) {
            // Whether its work items cancel may depend on the variables.
            return Err(Closed::Somewhere);
        }
        let lowered = |e: &Expr| lower(e, scope).map_err(|_| Closed::Somewhere);
        let open = |form: &Form<Scale>| scope.open(form);
        let (element, indices) = match split(at, scope.symbols).ok_or(Closed::Somewhere)? {
            Address::Pointer { offset, .. } => (open(&lowered(&offset)?)?, None),
            Address::Array { indices, .. } => {
                let indices: Vec<Form<Scale>> = indices.iter().map(lowered).collect::<Result<_, _>>()?;
                let element = open(&linear(field, &indices).map_err(|_| Closed::Somewhere)?)?;
                (element, Some(indices.iter().map(open).collect::<Result<_, _>>()?))
            }
        };
        let forms = || std::iter::once(&element).chain(indices.iter().flatten());
        let plain = forms().all(|open| open.plain.is_some());
        Ok(Self {
            access: access.clone(),
            written: at.size(),
            made: plain.then(|| access.size()),
            element,
            indices,
        })
    }

    /// What an access takes of the steps for unrolling: once for what is written, twice for what is made and kept.
    pub fn steps(&self, access: &Access) -> usize {
        self.written + 2 * self.made.unwrap_or_else(|| access.size())
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
    fn new(rest: Form<Scale>, slopes: Vec<(usize, Scale)>) -> Self {
        let plain = || {
            let slopes = slopes.iter().map(|(place, slope)| Some((*place, slope.as_int()?)));
            Some((rest.constant().as_int()?, slopes.collect::<Option<_>>()?))
        };
        Self { plain: plain(), rest, slopes }
    }

    fn at(&self, values: &[i64]) -> Result<Form<Scale>, Excess> {
        if let Some((constant, slopes)) = &self.plain {
            let mut moved = *constant;
            for (place, slope) in slopes {
                let by = slope.checked_mul(values[*place]).ok_or(Excess::Overflow)?;
                moved = moved.checked_add(by).ok_or(Excess::Overflow)?;
            }
            return self.rest.with_constant(Scale::int(moved));
        }
        let mut moved = self.rest.constant().clone();
        for (place, slope) in &self.slopes {
            moved = moved.plus(&slope.times(&Scale::int(values[*place]))?)?;
        }
        self.rest.with_constant(moved)
    }
}

/// The names of a document, with some variables as coordinates and the others as they were at a visit.
struct WithOpen<'s> {
    symbols: &'s Symbols,
    values: &'s [i64],
    open: &'s [usize],
}

/// What stands for a variable that is open: a loop that no document has.
fn coord(number: usize) -> Result<Coord, Closed> {
    let number = u16::try_from(number).map_err(|_| Closed::Somewhere)?;
    Ok(Coord::Loop(LoopId(u16::MAX - number)))
}

impl WithOpen<'_> {
    /// A form with its variables taken out, unless some of them are part of a quotient or the like.
    fn open(&self, form: &Form<Scale>) -> Result<Open, Closed> {
        let coords: Vec<Coord> = self.open.iter().map(|&number| coord(number)).collect::<Result<_, _>>()?;
        if !form.is_affine() && !form.is_fixed() {
            // What stays inside of a quotient by a size of the launch depends on the constant.
            return Err(Closed::Somewhere);
        }
        let mut slopes = Vec::new();
        let mut inside = Vec::new();
        for (term, coefficient) in form.terms() {
            if let Term::Coord(c) = term {
                if let Some(place) = coords.iter().position(|open| open == c) {
                    slopes.push((place, coefficient.clone()));
                }
                continue;
            }
            let of_term = self.open.iter().zip(&coords).filter(|(_, open)| term.mentions(&|c| c == **open));
            inside.extend(of_term.map(|(number, _)| *number));
        }
        if !inside.is_empty() {
            return Err(Closed::In(inside));
        }
        let zero = |c| coords.contains(&c).then(|| Form::int(0));
        Ok(Open::new(form.substitute(&zero).map_err(|_| Closed::Somewhere)?, slopes))
    }
}

impl Scope for WithOpen<'_> {
    fn resolve(&self, name: &str) -> Option<Binding> {
        match self.symbols.unrolled.iter().position(|variable| variable.0 == name) {
            Some(number) if self.open.contains(&number) => coord(number).ok().map(Binding::Coord),
            Some(number) => Some(Binding::Value(self.values[number])),
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

    fn body(body: &str) -> Option<Vec<Statement>> {
        let text = format!(
            "wavecast: 1\nkernel: k\nparams: {{N: 40}}\ndomain: {{x: N, y: 9}}\n\
             fields:\n  a: {{dtype: f64, shape: [N + 20, 30], halo: 9}}\n  b: {{dtype: f32, size: 9000}}\n\
             body: [{body}]\n"
        );
        Some(load("k", &text, &Default::default()).ok()?.kernels.remove(0).body)
    }

    fn accesses(text: &str) -> Option<Vec<Access>> {
        let of = |statement: Statement| match statement {
            Statement::Access(access) => access,
            other => panic!("{other:?}"),
        };
        Some(body(text)?.into_iter().map(of).collect())
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
            "b + (threadIdx.x + blockIdx.x*blockDim.x + 4*R)/4 + S",
            "b + tidx + blockDim.x*R + S",
            "b[threadIdx.x + (x/60)*(R + 3) + S + 9]",
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

    /// The same in parts with variables, some around a loop, which is another one each time.
    #[test]
    fn what_parts_move_is_what_is_written() {
        let addresses = [
            "a[x + R, y + Q]",
            "a[x + Q/2, y - R]",
            "b + x + 60*(y + R) + Q",
            "b[x + R*Q]",
            "b[(x + Q) % 5 + R]",
            "b[x + 3*(Q % 3) + R]",
            "b[threadIdx.x*(R + 3) + Q]",
            "b + 100*(Q + 3) + blockIdx.x*R",
            "b[max(x, 7) + Q - R]",
            "b + LOOP*(Q + 1) + R",
            "b + (threadIdx.x + blockIdx.x*blockDim.x + 4*Q)/4 + R",
            "b + tidx + blockDim.x*(Q + 1) + R",
            "b[threadIdx.x + (x/60)*(Q + 3) + R + 9]",
            "b + 4*LOOP + Q + tidx",
        ];
        let conditions =
            ["", ", when: x + R < 20", ", when: Q > 0", ", when: x > LOOP", ", width: 8*(Q + 4)"];
        let mut random = Random::new(29);
        let mut compared = 0;
        for round in 0..400 {
            let range = |random: &mut Random| -> Vec<i64> {
                (0..=random.below(4)).map(|_| i64::try_from(random.below(7)).unwrap() - 3).collect()
            };
            let (qs, rs) = (range(&mut random), range(&mut random));
            let some: Vec<&str> =
                (0..=random.below(2)).map(|_| addresses[random.below(addresses.len())]).collect();
            let when = conditions[random.below(conditions.len())];
            let looped = round % 2 == 0;
            let group = |more: &str, named: &dyn Fn(&str) -> String, number: usize| {
                let of_loop = if looped { format!("t{number}") } else { "2".to_owned() };
                let named = |text: &str| named(text).replace("LOOP", &of_loop);
                let at: Vec<String> = some.iter().map(|at| format!("'load {}'", named(at))).collect();
                let group = format!("{{{more}at: [{}]{}}}", at.join(", "), named(when));
                if looped { format!("{{loop: {{{of_loop}: 0..3}}, body: [{group}]}}") } else { group }
            };
            let open = group(&format!("for: {{r: {rs:?}}}, "), &|t| t.replace('R', "r").replace('Q', "q"), 0);
            let whole = format!("{{for: {{q: {qs:?}}}, body: [{open}]}}");
            let each = qs.iter().enumerate().map(|(number, q)| {
                let q = format!("({q})");
                group(&format!("for: {{r: {rs:?}}}, "), &|t| t.replace('R', "r").replace('Q', &q), number)
            });
            let each: Vec<String> = each.collect();
            let (found, expected) = (body(&whole), body(&each.join(", ")));
            assert_eq!(found.is_some(), expected.is_some(), "{whole}");
            let (Some(found), Some(expected)) = (found, expected) else { continue };
            compared += 1;
            let of = |body: &[Statement]| format!("{:?}", without_places(body));
            assert_eq!(of(&found), of(&expected), "{whole}");
        }
        assert!(compared > 200, "{compared}");
    }

    /// Statements without where they were written.
    fn without_places(body: &[Statement]) -> Vec<Statement> {
        let one = |statement: &Statement| match statement {
            Statement::Access(access) => {
                Statement::Access(Access { span: Default::default(), ..access.clone() })
            }
            Statement::Loop(id, inner) => Statement::Loop(*id, without_places(inner)),
            Statement::Sync => Statement::Sync,
        };
        body.iter().map(one).collect()
    }
}
