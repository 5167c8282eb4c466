//! Writing forms and conditions as text that the grammar reads back.

use super::ast::Dim;
use super::cond::Cond;
use super::form::{Coefficient, Coord, Form, LoopId, Term};
use super::remainder;
use super::scale::{LaunchAtom, Scale};

/// What the coordinates are called.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Axis names in launch order.
    pub axes: Vec<String>,
    /// Loop variables by id.
    pub loops: Vec<String>,
}

/// How a coefficient is written.
pub trait Show: Coefficient {
    /// As a summand.
    fn sum(&self, names: &Names) -> String;

    /// As a factor, in parentheses if it is a sum.
    fn show(&self, names: &Names) -> String {
        let sum = self.sum(names);
        if sum.contains(' ') { format!("({sum})") } else { sum }
    }

    /// As a divisor, in parentheses if it is a sum or a product.
    fn divisor(&self, names: &Names) -> String;
}

/// An integer as the grammar reads it: the smallest one is no number of it.
fn number(n: i64) -> String {
    if n == i64::MIN { format!("({} - 1)", n + 1) } else { n.to_string() }
}

impl Show for i64 {
    fn sum(&self, _: &Names) -> String {
        number(*self)
    }

    fn divisor(&self, _: &Names) -> String {
        number(*self)
    }
}

impl Show for Scale {
    fn sum(&self, names: &Names) -> String {
        let mut parts: Vec<String> = self
            .products()
            .iter()
            .map(|(factors, coefficient)| {
                let factors: Vec<String> = factors.iter().map(|a| names.atom(a)).collect();
                match coefficient {
                    1 => factors.join("*"),
                    -1 => format!("-{}", factors.join("*")),
                    c => format!("{}*{}", number(*c), factors.join("*")),
                }
            })
            .collect();
        if self.constant() != 0 || parts.is_empty() {
            parts.push(number(self.constant()));
        }
        parts.join(" + ").replace("+ -", "- ")
    }

    fn divisor(&self, names: &Names) -> String {
        match self.products() {
            [] => self.sum(names),
            [(factors, 1)] if factors.len() == 1 && self.constant() == 0 => names.atom(&factors[0]),
            _ => format!("({})", self.sum(names)),
        }
    }
}

impl Names {
    fn coord(&self, coord: Coord) -> String {
        let raw = |name: &str, d: Dim| format!("{name}.{}", d.letter());
        match coord {
            Coord::Axis(d) => {
                self.axes.get(d.index()).cloned().unwrap_or_else(|| format!("axis{}", d.index()))
            }
            Coord::Thread(d) => format!("tid{}", d.letter()),
            Coord::ThreadIdx(d) => raw("threadIdx", d),
            Coord::BlockIdx(d) => raw("blockIdx", d),
            Coord::Loop(LoopId(i)) => {
                self.loops.get(usize::from(i)).cloned().unwrap_or_else(|| format!("loop{i}"))
            }
        }
    }

    fn atom(&self, atom: &LaunchAtom) -> String {
        match atom {
            LaunchAtom::BlockDim(d) => format!("blockDim.{}", d.letter()),
            LaunchAtom::GridDim(d) => format!("gridDim.{}", d.letter()),
            LaunchAtom::Term(term) => self.term(term),
        }
    }

    fn term<C: Show>(&self, term: &Term<C>) -> String {
        match term {
            Term::Coord(c) => self.coord(*c),
            // In parentheses as a factor: a quotient binds no tighter than the product around it.
            Term::Floor(inner, divisor) => format!("({}/{})", self.operand(inner), divisor.divisor(self)),
            Term::Min(a, b) => format!("min({}, {})", self.form(a), self.form(b)),
            Term::Max(a, b) => format!("max({}, {})", self.form(a), self.form(b)),
            Term::Lookup(table, indices) => {
                let indices: Vec<String> = indices.iter().map(|i| self.form(i)).collect();
                format!("{}[{}]", table.name, indices.join(", "))
            }
        }
    }

    /// A form that `/` or `%` follows.
    fn operand<C: Show>(&self, form: &Form<C>) -> String {
        let text = self.form(form);
        let single = form.terms().len() == 1
            && form.constant().as_int() == Some(0)
            && form.terms()[0].1.as_int() == Some(1);
        let number = form.as_constant().is_some_and(|n| n >= 0);
        if single || number { text } else { format!("({text})") }
    }

    /// A form, with quotients that make a remainder written as `%`.
    pub fn form<C: Show>(&self, form: &Form<C>) -> String {
        let (rest, remainders) = remainder::split(form);
        let mut summands: Vec<String> =
            rest.terms().iter().map(|(term, factor)| scaled(&factor.show(self), &self.term(term))).collect();
        for remainder in &remainders {
            let text = format!("({}%{})", self.operand(&remainder.dividend), remainder.modulus);
            summands.push(scaled(&number(remainder.factor), &text));
        }
        if rest.constant().as_int() != Some(0) || summands.is_empty() {
            summands.push(rest.constant().sum(self));
        }
        summands.join(" + ").replace(" + -", " - ")
    }

    /// A condition.
    pub fn cond<C: Show>(&self, cond: &Cond<C>) -> String {
        self.condition(cond, false)
    }

    fn condition<C: Show>(&self, cond: &Cond<C>, inner: bool) -> String {
        let joined = |parts: &[Cond<C>], with: &str| {
            let parts: Vec<String> = parts.iter().map(|p| self.condition(p, true)).collect();
            let text = parts.join(with);
            if inner { format!("({text})") } else { text }
        };
        match cond {
            Cond::Const(true) => "0 == 0".to_owned(),
            Cond::Const(false) => "0 != 0".to_owned(),
            Cond::NonNegative(form) => format!("{} >= 0", self.form(form)),
            Cond::Zero(form) => format!("{} == 0", self.form(form)),
            Cond::All(parts) => joined(parts, " && "),
            Cond::Any(parts) => joined(parts, " || "),
        }
    }
}

/// A term with its factor; a quotient alone needs no parentheses.
fn scaled(factor: &str, term: &str) -> String {
    let bare = || term.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(term).to_owned();
    match factor {
        "1" => bare(),
        "-1" => format!("-{term}"),
        _ => format!("{factor}*{term}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_and_quotients_read_as_written() {
        let names = Names { axes: vec!["x".into(), "y".into()], loops: vec!["k".into()] };
        let x = Form::<i64>::coord(Coord::Axis(Dim::X));
        let y = Form::coord(Coord::Axis(Dim::Y));
        let k = Form::coord(Coord::Loop(LoopId(0)));
        let show = |f: &Form<i64>| names.form(f);
        assert_eq!(show(&x.remainder(&16).unwrap()), "x%16");
        assert_eq!(show(&x.floor_div(&16).unwrap()), "x/16");
        assert_eq!(show(&x.times(&2).unwrap().remainder(&4).unwrap()), "2*(x%2)");
        let tile = x.floor_div(&16).unwrap().times(&256).unwrap().plus(&x.remainder(&16).unwrap()).unwrap();
        assert_eq!(show(&tile.plus(&y).unwrap()), "y + 256*(x/16) + x%16");
        assert_eq!(show(&y.minus(&x).unwrap().plus(&Form::int(-3)).unwrap()), "-x + y - 3");
        assert_eq!(show(&x.plus(&k).unwrap().floor_div(&3).unwrap()), "(x + k)/3");
        let linear = x.floor_div(&640).unwrap().remainder(&512).unwrap();
        assert_eq!(show(&linear), "x/640%512");
        assert_eq!(show(&Form::int(0)), "0");
    }

    #[test]
    fn divisors_hold_together() {
        let names = Names { axes: vec!["x".into()], loops: Vec::new() };
        let x = Form::<Scale>::coord(Coord::Axis(Dim::X));
        let b = Scale::atom(LaunchAtom::BlockDim(Dim::X));
        let show = |divisor: &Scale| names.form(&x.floor_div(divisor).unwrap());
        assert_eq!(show(&b), "x/blockDim.x");
        assert_eq!(show(&b.times(&Scale::int(2)).unwrap()), "x/(2*blockDim.x)");
        assert_eq!(show(&b.times(&b).unwrap()), "x/(blockDim.x*blockDim.x)");
        assert_eq!(show(&b.plus(&Scale::int(2)).unwrap()), "x/(blockDim.x + 2)");
        assert_eq!(names.form(&Form::<i64>::int(i64::MIN)), "(-9223372036854775807 - 1)");
    }
}
