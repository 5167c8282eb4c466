//! Putting formulas in the place of atoms, and looking for atoms.

use rustc_hash::{FxHashMap, FxHashSet};

use super::algebra::{Algebra, Atom, Bits};
use super::cond::{Cond, Raw};
use super::poly::{AtomId, Poly};

impl Algebra {
    /// The formula with other formulas in the place of atoms; everything is made simple again with what is known here.
    pub fn replace(&mut self, p: &Poly, with: &mut FxHashMap<AtomId, Poly>) -> Option<Poly> {
        let mut sum = Poly::constant(p.constant);
        for (atom, coefficient) in &p.terms {
            let part = self.replaced(*atom, with)?;
            sum = sum.plus(&part, *coefficient)?;
        }
        Some(sum)
    }

    fn replaced(&mut self, id: AtomId, with: &mut FxHashMap<AtomId, Poly>) -> Option<Poly> {
        if let Some(known) = with.get(&id) {
            return Some(known.clone());
        }
        let made = match self.atom(id).clone() {
            Atom::Div(p, n) => {
                let p = self.replace(&p, with)?;
                self.div(&p, n)?
            }
            Atom::Odd(p) => {
                let p = self.replace(&p, with)?;
                self.odd(&p)?
            }
            Atom::Min(a, b) => {
                let (a, b) = (self.replace(&a, with)?, self.replace(&b, with)?);
                self.min(a, b)
            }
            Atom::Max(a, b) => {
                let (a, b) = (self.replace(&a, with)?, self.replace(&b, with)?);
                self.max(a, b)
            }
            Atom::Select(cond, a, b) => {
                let (a, b) = (self.replace(&a, with)?, self.replace(&b, with)?);
                let cond = self.replace_in_cond(&cond, with)?;
                self.select(cond, a, b)?
            }
            Atom::Product(factors) => {
                let mut product = Poly::constant(1);
                for factor in factors {
                    let factor = self.replaced(factor, with)?;
                    product = self.multiply(&product, &factor)?;
                }
                product
            }
            Atom::Bits(Bits::And, a, b, width) => {
                let (a, b) = (self.replace(&a, with)?, self.replace(&b, with)?);
                self.bit_and(&a, &b, width)?
            }
            Atom::Bits(Bits::Or, a, b, width) => {
                let (a, b) = (self.replace(&a, with)?, self.replace(&b, with)?);
                self.bit_or(&a, &b, width)?
            }
            _ => Poly::atom(id),
        };
        with.insert(id, made.clone());
        Some(made)
    }

    /// The same in a condition.
    pub fn replace_in_cond(&mut self, cond: &Cond, with: &mut FxHashMap<AtomId, Poly>) -> Option<Cond> {
        let made = match cond {
            Cond::Ge(p) => Cond::Ge(self.replace(p, with)?),
            Cond::Eq(p) => Cond::Eq(self.replace(p, with)?),
            Cond::Ne(p) => Cond::Ne(self.replace(p, with)?),
            Cond::Raw(raw) => {
                let (a, b) = (self.replace(&raw.a, with)?, self.replace(&raw.b, with)?);
                return self.compare(Raw { a, b, ..(**raw).clone() }, true);
            }
            Cond::And(all) => {
                let mut sum = Cond::True;
                for one in all.iter() {
                    sum = Cond::and(sum, self.replace_in_cond(one, with)?);
                }
                return Some(sum);
            }
            Cond::Or(all) => {
                let mut sum = Cond::False;
                for one in all.iter() {
                    sum = Cond::or(sum, self.replace_in_cond(one, with)?);
                }
                return Some(sum);
            }
            Cond::True | Cond::False | Cond::Data(..) => return Some(cond.clone()),
        };
        Some(self.decided(made))
    }

    /// Whether an atom for which `test` holds stands anywhere in the formula.
    pub fn mentions(&self, p: &Poly, test: &dyn Fn(&Atom) -> bool) -> bool {
        self.mentions_new(p, test, &mut FxHashSet::default())
    }

    /// The same in a condition.
    pub fn cond_mentions(&self, cond: &Cond, test: &dyn Fn(&Atom) -> bool) -> bool {
        self.cond_mentions_new(cond, test, &mut FxHashSet::default())
    }

    /// The same in what was not seen before: choices inside choices have the same atoms over and over.
    fn mentions_new(&self, p: &Poly, test: &dyn Fn(&Atom) -> bool, seen: &mut FxHashSet<AtomId>) -> bool {
        p.terms.iter().any(|t| self.atom_mentions_new(t.0, test, seen))
    }

    fn atom_mentions_new(
        &self,
        id: AtomId,
        test: &dyn Fn(&Atom) -> bool,
        seen: &mut FxHashSet<AtomId>,
    ) -> bool {
        let atom = self.atom(id);
        if test(atom) {
            return true;
        }
        match atom {
            Atom::Tid(_) | Atom::Ctaid(_) | Atom::Counter(_) | Atom::Phi(..) | Atom::Base(..) => {
                return false;
            }
            _ if !seen.insert(id) => return false,
            _ => {}
        }
        match atom {
            Atom::Div(p, _) | Atom::Odd(p) => self.mentions_new(p, test, seen),
            Atom::Min(a, b) | Atom::Max(a, b) | Atom::Bits(_, a, b, _) => {
                self.mentions_new(a, test, seen) || self.mentions_new(b, test, seen)
            }
            Atom::Select(c, a, b) => {
                self.mentions_new(a, test, seen)
                    || self.mentions_new(b, test, seen)
                    || self.cond_mentions_new(c, test, seen)
            }
            Atom::Product(factors) => factors.iter().any(|f| self.atom_mentions_new(*f, test, seen)),
            _ => false,
        }
    }

    fn cond_mentions_new(
        &self,
        cond: &Cond,
        test: &dyn Fn(&Atom) -> bool,
        seen: &mut FxHashSet<AtomId>,
    ) -> bool {
        match cond {
            Cond::Ge(p) | Cond::Eq(p) | Cond::Ne(p) => self.mentions_new(p, test, seen),
            Cond::Raw(raw) => self.mentions_new(&raw.a, test, seen) || self.mentions_new(&raw.b, test, seen),
            Cond::And(all) | Cond::Or(all) => all.iter().any(|c| self.cond_mentions_new(c, test, seen)),
            Cond::True | Cond::False | Cond::Data(..) => false,
        }
    }
}
