//! How counters of loops are called, and by how much they go up.

use rustc_hash::FxHashMap;

use super::fields::Field;
use super::statement::{Listed, Statement};
use crate::ptx::read::Reader;
use crate::ptx::value::{Atom, AtomId, Cond, Poly};

/// Counters are called by how deep their loop lies: `i0` around `i1`. Where the last value is a quotient, and only
/// multiples of the divisor are asked for, they go up by the divisor: no quotient is needed then.
pub(super) fn name_counters(
    reader: &Reader<'_>,
    statements: &[Statement],
    listed: &[Listed],
    fields: &[Field],
    depth: usize,
    names: &mut FxHashMap<AtomId, (String, i128)>,
) {
    for statement in statements {
        if let Statement::Loop(counter, last, body) = statement {
            let is = reader.algebra.atom(*counter).clone();
            let fits = |step: &i128| {
                let mut formulas = Vec::new();
                formulas_in(body, listed, fields, &mut formulas);
                formulas.iter().all(|p| {
                    let times = p.coefficient(*counter);
                    let rest = p.plus(&Poly::atom(*counter), -times);
                    times % step == 0 && rest.is_some_and(|p| !reader.algebra.mentions(&p, &|a| *a == is))
                })
            };
            let step = quotient(reader, last).map(|(_, n)| n).filter(fits).unwrap_or(1);
            names.insert(*counter, (format!("i{depth}"), step));
            name_counters(reader, body, listed, fields, depth + 1, names);
        }
    }
}

/// `p / n + c` as `p + c*n` and n.
pub(super) fn quotient(reader: &Reader<'_>, last: &Poly) -> Option<(Poly, i128)> {
    let [(id, 1)] = last.terms[..] else { return None };
    let Atom::Div(p, n) = reader.algebra.atom(id) else { return None };
    Some((p.add_number(last.constant * n)?, *n))
}

/// All formulas that are written in these statements: addresses in elements.
fn formulas_in(statements: &[Statement], listed: &[Listed], fields: &[Field], out: &mut Vec<Poly>) {
    for statement in statements {
        match statement {
            Statement::Sync => {}
            Statement::Access(at) => {
                let access = &listed[*at];
                let element = fields.iter().find(|f| Some(f.base) == access.base).map_or(1, |f| f.element);
                out.extend(access.offset.as_ref().and_then(|p| p.exact_quotient(element.into())));
                formulas_of(&access.cond, out);
            }
            Statement::Loop(_, last, body) => {
                out.push(last.clone());
                formulas_in(body, listed, fields, out);
            }
        }
    }
}

fn formulas_of(cond: &Cond, out: &mut Vec<Poly>) {
    match cond {
        Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p) => out.push(p.clone()),
        Cond::And(all) | Cond::Or(all) => all.iter().for_each(|c| formulas_of(c, out)),
        Cond::True | Cond::False | Cond::Raw(_) | Cond::Data(..) => {}
    }
}
