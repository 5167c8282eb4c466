//! Forms and conditions as C. Block and grid sizes are variables, so that one kernel serves every block.

use super::language::{Language, Place};
use super::words::Words;
use crate::expr::{Coefficient, Cond, Coord, Dim, Form, LaunchAtom, LoopId, Scale, Term, split_remainders};
use crate::kernel::{FieldId, Kernel};

/// Writes expressions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer<'w> {
    pub(super) words: &'w Words,
    /// Where what is written runs.
    pub(super) place: Place,
    /// Before the names of small functions and tables: those of the host have names of their own where device
    /// functions stand beside them.
    pub(super) prefix: &'static str,
}

/// What a number could be that is divided.
fn is_never_negative(form: &Form<Scale>) -> bool {
    let scale = |s: &Scale| {
        s.constant() >= 0
            && s.products()
                .iter()
                .all(|(atoms, c)| *c >= 0 && atoms.iter().all(|a| !matches!(a, LaunchAtom::Term(_))))
    };
    // Coordinates are never negative; loop variables may be.
    let term = |t: &Term<Scale>| match t {
        Term::Coord(Coord::Loop(_)) | Term::Lookup(..) => false,
        Term::Coord(_) => true,
        Term::Floor(inner, _) => is_never_negative(inner),
        Term::Min(a, b) => is_never_negative(a) && is_never_negative(b),
        Term::Max(a, b) => is_never_negative(a) || is_never_negative(b),
    };
    scale(form.constant()) && form.terms().iter().all(|(t, c)| scale(c) && term(t))
}

impl Writer<'_> {
    /// For the processor, in a program of this language.
    pub(super) fn on_host(self, language: Language) -> Self {
        let prefix = if language == Language::OpenCl { "" } else { "host_" };
        Self { place: Place::Host, prefix, ..self }
    }

    /// The arrays of a field. Those of global memory stand outside of functions on the host, where libraries have
    /// names of their own.
    pub(super) fn arrays(self, kernel: &Kernel, id: FieldId) -> Vec<String> {
        let names = &self.words.fields[usize::from(id.0)];
        let outside = self.place == Place::Host && kernel.field(id).space.in_memory();
        names.iter().map(|n| if outside { format!("host_{n}") } else { n.clone() }).collect()
    }

    /// A form.
    pub(super) fn form(self, form: &Form<Scale>) -> String {
        let (rest, remainders) = split_remainders(form);
        let mut parts: Vec<String> =
            rest.terms().iter().map(|(term, factor)| self.product(factor, &self.term(term))).collect();
        for r in &remainders {
            let modulus = r.modulus.to_string();
            let text = self.division("%", "floor_mod", &r.dividend, &modulus);
            parts.push(self.product(&Scale::int(r.factor), &text));
        }
        if rest.constant().as_int() != Some(0) || parts.is_empty() {
            parts.push(self.sum(rest.constant()));
        }
        parts.join(" + ").replace("+ -", "- ")
    }

    /// A form that something follows.
    fn operand(self, form: &Form<Scale>) -> String {
        let text = self.form(form);
        if text.contains(' ') || text.starts_with('-') { format!("({text})") } else { text }
    }

    fn product(self, factor: &Scale, term: &str) -> String {
        match factor.as_int() {
            Some(1) => term.to_owned(),
            Some(-1) => format!("-{term}"),
            _ => {
                let factor = self.sum(factor);
                let factor = if factor.contains(' ') { format!("({factor})") } else { factor };
                format!("{factor}*{term}")
            }
        }
    }

    /// A constant of the launch.
    pub(super) fn sum(self, scale: &Scale) -> String {
        let one = |(atoms, c): &(Vec<LaunchAtom>, i64)| {
            let atoms: Vec<String> = atoms.iter().map(|a| self.atom(a)).collect();
            match c {
                1 => atoms.join("*"),
                -1 => format!("-{}", atoms.join("*")),
                c => format!("{c}*{}", atoms.join("*")),
            }
        };
        let mut parts: Vec<String> = scale.products().iter().map(one).collect();
        if scale.constant() != 0 || parts.is_empty() {
            parts.push(scale.constant().to_string());
        }
        parts.join(" + ").replace("+ -", "- ")
    }

    fn atom(self, atom: &LaunchAtom) -> String {
        match atom {
            LaunchAtom::BlockDim(d) => format!("bdim{}", d.letter()),
            LaunchAtom::GridDim(d) => format!("gdim{}", d.letter()),
            LaunchAtom::Term(term) => self.term(term),
        }
    }

    /// The variable of a coordinate.
    pub(super) fn coord(self, coord: Coord) -> String {
        let named = |prefix: &str, d: Dim| format!("{prefix}{}", d.letter());
        match coord {
            Coord::Axis(d) => self.words.axes.get(d.index()).cloned().unwrap_or_else(|| named("w", d)),
            Coord::Thread(d) => named("tid", d),
            Coord::ThreadIdx(d) => named("lid", d),
            Coord::BlockIdx(d) => named("bid", d),
            Coord::Loop(LoopId(i)) => self.words.loops[usize::from(i)].clone(),
        }
    }

    fn term(self, term: &Term<Scale>) -> String {
        match term {
            Term::Coord(coord) => self.coord(*coord),
            Term::Floor(inner, divisor) => {
                let text = self.sum(divisor);
                let text = if divisor.as_int().is_some() { text } else { format!("({text})") };
                self.division("/", "floor_div", inner, &text)
            }
            Term::Min(a, b) => format!("{}lesser({}, {})", self.prefix, self.form(a), self.form(b)),
            Term::Max(a, b) => format!("{}greater({}, {})", self.prefix, self.form(a), self.form(b)),
            Term::Lookup(table, indices) => {
                let mut flat = String::from("0");
                for (index, extent) in indices.iter().zip(&table.shape) {
                    let index = self.operand(index);
                    flat = if flat == "0" { index } else { format!("({flat})*{extent} + {index}") };
                }
                format!("{}table_{}[{flat}]", self.prefix, table.name)
            }
        }
    }

    /// C cuts towards zero, documents round down.
    fn division(self, operator: &str, function: &str, dividend: &Form<Scale>, divisor: &str) -> String {
        if is_never_negative(dividend) {
            format!("({}{operator}{divisor})", self.operand(dividend))
        } else {
            format!("{}{function}({}, {divisor})", self.prefix, self.form(dividend))
        }
    }

    /// A condition, in parentheses where it has several parts.
    pub(super) fn cond(self, cond: &Cond<Scale>) -> String {
        let joined = |parts: &[Cond<Scale>], with: &str| {
            let parts: Vec<String> = parts.iter().map(|p| self.cond(p)).collect();
            format!("({})", parts.join(with))
        };
        match cond {
            Cond::Const(true) => "1".to_owned(),
            Cond::Const(false) => "0".to_owned(),
            Cond::NonNegative(form) => format!("{} >= 0", self.form(form)),
            Cond::Zero(form) => format!("{} == 0", self.form(form)),
            Cond::All(parts) => joined(parts, " && "),
            Cond::Any(parts) => joined(parts, " || "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_negative_is_not_cut_towards_zero() {
        let words = Words { loops: vec!["k".to_owned()], ..Words::default() };
        let writer = Writer { words: &words, place: Place::Gpu, prefix: "" };
        let x = Form::<Scale>::coord(Coord::Thread(Dim::X));
        let k = Form::coord(Coord::Loop(LoopId(0)));
        let block = Scale::atom(LaunchAtom::BlockDim(Dim::Y));
        let shifted = x.minus(&Form::int(3)).unwrap();
        let show = |form: &Form<Scale>| writer.form(form);
        assert_eq!(show(&x.floor_div(&Scale::int(4)).unwrap()), "(tidx/4)");
        assert_eq!(show(&shifted.times(&Scale::int(2)).unwrap()), "2*tidx - 6");
        // Whole parts of the quotient come out of it, so that the rest is not negative.
        assert_eq!(show(&shifted.floor_div(&Scale::int(4)).unwrap()), "((tidx + 1)/4) - 1");
        assert_eq!(show(&k.floor_div(&Scale::int(4)).unwrap()), "floor_div(k, 4)");
        assert_eq!(show(&k.remainder(&Scale::int(4)).unwrap()), "floor_mod(k, 4)");
        assert_eq!(show(&x.times(&block).unwrap().plus(&k).unwrap()), "bdimy*tidx + k");
        assert_eq!(show(&x.smaller(&k).unwrap()), "lesser(tidx, k)");
        let cond = Cond::all(vec![Cond::non_negative(shifted), Cond::zero(k)]);
        assert_eq!(writer.cond(&cond), "(tidx - 3 >= 0 && k == 0)");
    }
}
