//! Formulas as text of the kernel documents' grammar.

use rustc_hash::FxHashMap;

use crate::ptx::value::{Algebra, Atom, AtomId, Cond, Poly};

const DIMENSIONS: [char; 3] = ['x', 'y', 'z'];

/// Without factors of 1.
pub(super) fn tidy(text: &str) -> String {
    if !text.contains("1*") {
        return text.to_owned();
    }
    let mut out = String::new();
    for part in text.split_inclusive("1*") {
        let inside = part.strip_suffix("1*");
        let alone = inside.is_some_and(|p| !p.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        out += if alone { inside.unwrap_or(part) } else { part };
    }
    out
}

/// Threads of a block along a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ptx) enum Size {
    Number(i64),
    /// `blockDim`, whatever it is.
    Word,
}

/// Writes formulas. Loop counters have names, and go up by a number: `i` in steps of 4 is 4 times the counter.
pub(super) struct Printer<'a> {
    pub algebra: &'a Algebra,
    pub counters: &'a FxHashMap<AtomId, (String, i128)>,
    /// The sizes of the block that formulas are for, as a multiple of the one that they were read for.
    pub sizes: [Size; 3],
}

impl Printer<'_> {
    /// A formula; none where the grammar has no words for it.
    pub fn poly(&self, p: &Poly) -> Option<String> {
        let mut text = String::new();
        // Positive terms first: a text that begins with a minus is harder to read.
        let ordered = p.terms.iter().filter(|t| t.1 > 0).chain(p.terms.iter().filter(|t| t.1 < 0));
        let numbered = [0, 1, 2].map(|d| self.numbers_threads(p, d));
        let constant = i64::try_from(p.constant).ok()?;
        let first = constant > 0 && p.terms.iter().all(|t| t.1 < 0);
        if first {
            text = constant.to_string();
        }
        for (atom, times) in ordered {
            match self.algebra.atom(*atom) {
                Atom::Tid(d) if numbered[*d] => {
                    Self::term(&mut text, &format!("tid{}", DIMENSIONS[*d]), *times, false)?;
                    continue;
                }
                Atom::Ctaid(d) if numbered[*d] => continue,
                _ => {}
            }
            let step = self.counters.get(atom).map_or(1, |c| c.1);
            if times % step != 0 {
                return None;
            }
            // Blocks' sizes stand here, also those of one thread: texts for several blocks are put together.
            let times = times / step;
            let name = self.atom(*atom)?;
            match self.algebra.atom(*atom) {
                Atom::Ctaid(d) => match self.sizes[*d] {
                    Size::Number(size) => Self::term(&mut text, &name, times.checked_mul(size.into())?, true),
                    Size::Word => {
                        let name = format!("blockDim.{}*{name}", DIMENSIONS[*d]);
                        Self::term(&mut text, &name, times, false)
                    }
                },
                _ => Self::term(&mut text, &name, times, false),
            }?;
        }
        if constant != 0 && !first || text.is_empty() {
            match (text.is_empty(), constant < 0) {
                (true, _) => text = constant.to_string(),
                (false, true) => text.push_str(&[" - ", &constant.unsigned_abs().to_string()].concat()),
                (false, false) => text.push_str(&[" + ", &constant.to_string()].concat()),
            }
        }
        Some(text)
    }

    /// Whether a thread's place in its block and that of its block make up its place in the grid: `tidx`.
    fn numbers_threads(&self, p: &Poly, d: usize) -> bool {
        let (mut tid, mut ctaid) = (0, 0);
        for (atom, times) in &p.terms {
            match self.algebra.atom(*atom) {
                Atom::Tid(of) if *of == d => tid = *times,
                Atom::Ctaid(of) if *of == d => ctaid = *times,
                _ => {}
            }
        }
        tid != 0 && tid.checked_mul(self.algebra.launch.block[d].into()) == Some(ctaid)
    }

    fn term(text: &mut String, atom: &str, times: i128, always: bool) -> Option<()> {
        let times = i64::try_from(times).ok()?;
        let size = times.unsigned_abs();
        *text += match (text.is_empty(), times < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        if size != 1 || always {
            *text += &size.to_string();
            text.push('*');
        }
        *text += atom;
        Some(())
    }

    fn atom(&self, id: AtomId) -> Option<String> {
        Some(match self.algebra.atom(id) {
            Atom::Tid(d) => format!("threadIdx.{}", DIMENSIONS[*d]),
            Atom::Ctaid(d) => format!("blockIdx.{}", DIMENSIONS[*d]),
            Atom::Counter(_) => self.counters.get(&id)?.0.clone(),
            Atom::Div(p, n) => {
                let inner = self.poly(p)?;
                let n = i64::try_from(*n).ok()?;
                let single = p.constant == 0 && matches!(p.terms[..], [(_, 1)])
                    || inner.starts_with("tid") && !inner.contains(' ');
                if single { format!("({inner}/{n})") } else { format!("(({inner})/{n})") }
            }
            Atom::Odd(p) => format!("(({})%2)", self.poly(p)?),
            Atom::Min(a, b) => format!("min({}, {})", self.poly(a)?, self.poly(b)?),
            Atom::Max(a, b) => format!("max({}, {})", self.poly(a)?, self.poly(b)?),
            Atom::Product(_) | Atom::Select(..) | Atom::Phi(..) | Atom::Base(..) | Atom::Bits(..) => {
                return None;
            }
        })
    }

    /// A condition.
    pub fn cond(&self, cond: &Cond) -> Option<String> {
        Some(match cond {
            Cond::Ge(p) => self.compared(p, "<=")?,
            Cond::Eq(p) => self.compared(p, "==")?,
            Cond::Ne(p) => self.compared(p, "!=")?,
            Cond::And(all) => self.joined(all, " && ")?,
            Cond::Or(all) => self.joined(all, " || ")?,
            Cond::True => "0 == 0".to_owned(),
            Cond::False => "0 == 1".to_owned(),
            Cond::Raw(_) | Cond::Data(..) => return None,
        })
    }

    fn joined(&self, all: &[Cond], word: &str) -> Option<String> {
        let parts: Option<Vec<String>> = all
            .iter()
            .map(|c| {
                let text = self.cond(c)?;
                Some(if matches!(c, Cond::Or(_) | Cond::And(_)) { format!("({text})") } else { text })
            })
            .collect();
        Some(parts?.join(word))
    }

    /// A formula compared with zero, what is taken away on the other side: `x - 5 >= 0` is `5 <= x`.
    fn compared(&self, p: &Poly, word: &str) -> Option<String> {
        let side = |sign: i128| Poly {
            constant: (p.constant * sign).max(0),
            terms: p.terms.iter().filter(|t| t.1 * sign > 0).map(|t| (t.0, t.1 * sign)).collect(),
        };
        let (mut left, mut right, mut word) = (side(-1), side(1), word);
        // `x <= 9` is `x < 10`, as people write bounds.
        if word == "<=" && right.terms.is_empty() && !left.terms.is_empty() {
            right.constant += 1;
            word = "<";
        } else if word == "<=" && left.number().is_some_and(|n| n > 0) {
            left.constant -= 1;
            word = "<";
        }
        // Numbers stand on the right.
        if left.terms.is_empty() {
            std::mem::swap(&mut left, &mut right);
            word = match word {
                "<" => ">",
                "<=" => ">=",
                other => other,
            };
        }
        Some(format!("{} {word} {}", self.poly(&left)?, self.poly(&right)?))
    }
}
