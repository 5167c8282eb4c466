//! Formulas as text of the kernel documents' grammar.

use std::borrow::Cow;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::ptx::value::{Algebra, Atom, AtomId, Cond, Poly};

const DIMENSIONS: [char; 3] = ['x', 'y', 'z'];
const NUMBERS: [&str; 3] = ["tidx", "tidy", "tidz"];
const THREADS: [&str; 3] = ["threadIdx.x", "threadIdx.y", "threadIdx.z"];
const BLOCKS: [&str; 3] = ["blockIdx.x", "blockIdx.y", "blockIdx.z"];

/// Without factors of 1.
pub(super) fn tidy(text: &str) -> Cow<'_, str> {
    if !memchr::memchr_iter(b'*', text.as_bytes()).any(|at| text[..at].ends_with('1')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for part in text.split_inclusive("1*") {
        let inside = part.strip_suffix("1*");
        let alone = inside.is_some_and(|p| !p.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        out += if alone { inside.unwrap_or(part) } else { part };
    }
    Cow::Owned(out)
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
        let mut text = String::with_capacity(48);
        self.write(p, &mut text)?;
        Some(text)
    }

    /// Writes a formula into a text that is empty.
    fn write(&self, p: &Poly, text: &mut String) -> Option<()> {
        // Positive terms first: a text that begins with a minus is harder to read.
        let ordered = p.terms.iter().filter(|t| t.1 > 0).chain(p.terms.iter().filter(|t| t.1 < 0));
        let numbered = self.numbers_threads(p);
        let constant = i64::try_from(p.constant).ok()?;
        let first = constant > 0 && p.terms.iter().all(|t| t.1 < 0);
        if first {
            let _ = write!(text, "{constant}");
        }
        for (atom, times) in ordered {
            match self.algebra.atom(*atom) {
                Atom::Tid(d) if numbered[*d] => {
                    Self::factor(text, *times, false)?;
                    text.push_str(NUMBERS[*d]);
                    continue;
                }
                Atom::Ctaid(d) if numbered[*d] => continue,
                _ => {}
            }
            let step = self.counters.get(atom).map_or(1, |c| c.1);
            if step != 1 && times % step != 0 {
                return None;
            }
            // Blocks' sizes stand here, also those of one thread: texts for several blocks are put together.
            let times = if step == 1 { *times } else { times / step };
            match self.algebra.atom(*atom) {
                Atom::Ctaid(d) => match self.sizes[*d] {
                    Size::Number(size) => Self::factor(text, times.checked_mul(size.into())?, true)?,
                    Size::Word => {
                        Self::factor(text, times, false)?;
                        let _ = write!(text, "blockDim.{}*", DIMENSIONS[*d]);
                    }
                },
                _ => Self::factor(text, times, false)?,
            }
            self.atom(*atom, text)?;
        }
        if constant != 0 && !first || text.is_empty() {
            let _ = match (text.is_empty(), constant < 0) {
                (true, _) => write!(text, "{constant}"),
                (false, true) => write!(text, " - {}", constant.unsigned_abs()),
                (false, false) => write!(text, " + {constant}"),
            };
        }
        Some(())
    }

    /// Along which dimensions a thread's place in its block and that of its block make up its place in the grid: `tidx`.
    fn numbers_threads(&self, p: &Poly) -> [bool; 3] {
        let (mut tid, mut ctaid) = ([0; 3], [0; 3]);
        for (atom, times) in &p.terms {
            match self.algebra.atom(*atom) {
                Atom::Tid(d) => tid[*d] = *times,
                Atom::Ctaid(d) => ctaid[*d] = *times,
                _ => {}
            }
        }
        let whole = |d: usize| tid[d].checked_mul(self.algebra.launch.block[d].into()) == Some(ctaid[d]);
        [0, 1, 2].map(|d| tid[d] != 0 && whole(d))
    }

    /// Writes the sign of a term and, if it is not 1 or always wanted, its factor.
    fn factor(text: &mut String, times: i128, always: bool) -> Option<()> {
        let times = i64::try_from(times).ok()?;
        let size = times.unsigned_abs();
        *text += match (text.is_empty(), times < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        if size != 1 || always {
            let _ = write!(text, "{size}*");
        }
        Some(())
    }

    fn atom(&self, id: AtomId, text: &mut String) -> Option<()> {
        let _ = match self.algebra.atom(id) {
            Atom::Tid(d) => {
                text.push_str(THREADS[*d]);
                Ok(())
            }
            Atom::Ctaid(d) => {
                text.push_str(BLOCKS[*d]);
                Ok(())
            }
            Atom::Counter(_) => {
                text.push_str(&self.counters.get(&id)?.0);
                Ok(())
            }
            Atom::Div(p, n) => {
                let inner = self.poly(p)?;
                let n = i64::try_from(*n).ok()?;
                let single = p.constant == 0 && matches!(p.terms[..], [(_, 1)])
                    || inner.starts_with("tid") && !inner.contains(' ');
                if single { write!(text, "({inner}/{n})") } else { write!(text, "(({inner})/{n})") }
            }
            Atom::Odd(p) => write!(text, "(({})%2)", self.poly(p)?),
            Atom::Min(a, b) => write!(text, "min({}, {})", self.poly(a)?, self.poly(b)?),
            Atom::Max(a, b) => write!(text, "max({}, {})", self.poly(a)?, self.poly(b)?),
            Atom::Product(_) | Atom::Select(..) | Atom::Phi(..) | Atom::Base(..) | Atom::Bits(..) => {
                return None;
            }
        };
        Some(())
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
