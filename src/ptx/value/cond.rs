//! Conditions.

use std::rc::Rc;

use super::comparing;
use super::poly::Poly;

/// Number of a reason why something is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::ptx) struct WhyId(pub u32);

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::ptx) enum Rel {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Rel {
    fn not(self) -> Rel {
        match self {
            Rel::Lt => Rel::Ge,
            Rel::Le => Rel::Gt,
            Rel::Gt => Rel::Le,
            Rel::Ge => Rel::Lt,
            Rel::Eq => Rel::Ne,
            Rel::Ne => Rel::Eq,
        }
    }
}

/// A comparison of the bits of registers, of which it is not known yet what numbers they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::ptx) struct Raw {
    pub rel: Rel,
    pub signed: bool,
    pub width: u32,
    pub a: Poly,
    pub b: Poly,
}

/// A condition on formulas.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::ptx) enum Cond {
    True,
    False,
    /// The formula is not negative.
    Ge(Poly),
    /// The formula is zero.
    Eq(Poly),
    /// The formula is not zero.
    Ne(Poly),
    Raw(Box<Raw>),
    /// Data tell.
    Data(WhyId, bool),
    And(Conds),
    Or(Conds),
}

/// Several conditions. They are shared, as they go from block to block and into registers, and may be long.
pub(in crate::ptx) type Conds = Rc<[Cond]>;

impl Cond {
    pub fn not(self) -> Cond {
        match self {
            Cond::True => Cond::False,
            Cond::False => Cond::True,
            // Formulas are far from the limit of numbers: `Poly` sees to it.
            Cond::Ge(p) => Cond::Ge(Poly {
                constant: -p.constant - 1,
                terms: p.terms.into_iter().map(|t| (t.0, -t.1)).collect(),
            }),
            Cond::Eq(p) => Cond::Ne(p),
            Cond::Ne(p) => Cond::Eq(p),
            Cond::Raw(raw) => Cond::Raw(Box::new(Raw { rel: raw.rel.not(), ..*raw })),
            Cond::Data(why, is) => Cond::Data(why, !is),
            Cond::And(all) => all.iter().fold(Cond::False, |sum, c| Cond::or(sum, c.clone().not())),
            Cond::Or(all) => all.iter().fold(Cond::True, |sum, c| Cond::and(sum, c.clone().not())),
        }
    }

    /// Whether it is the contrary of another, as `not` writes it. Nothing is written: conditions in conditions would be
    /// over and over again.
    fn is_not(&self, other: &Cond) -> bool {
        match (self, other) {
            (Cond::Ge(a), Cond::Ge(b)) => {
                a.constant == -b.constant - 1
                    && a.terms.len() == b.terms.len()
                    && a.terms.iter().zip(&b.terms).all(|(a, b)| a.0 == b.0 && a.1 == -b.1)
            }
            (Cond::Eq(a), Cond::Ne(b)) | (Cond::Ne(a), Cond::Eq(b)) => a == b,
            (Cond::Data(a, yes), Cond::Data(b, no)) => a == b && yes != no,
            (Cond::True, Cond::False) | (Cond::False, Cond::True) => true,
            (Cond::Raw(a), Cond::Raw(b)) => {
                a.rel == b.rel.not() && (a.signed, a.width) == (b.signed, b.width) && a.a == b.a && a.b == b.b
            }
            (Cond::And(a), Cond::Or(b)) | (Cond::Or(a), Cond::And(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.is_not(b))
            }
            _ => false,
        }
    }

    /// The conditions that all have to hold.
    pub fn parts(&self) -> &[Cond] {
        match self {
            Cond::True => &[],
            Cond::And(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    pub fn and(a: Cond, b: Cond) -> Cond {
        match (&a, &b) {
            (Cond::False, _) | (_, Cond::False) => return Cond::False,
            (Cond::True, _) => return b,
            (_, Cond::True) => return a,
            _ => {}
        }
        let mut all = a.parts().to_vec();
        if !comparing::allowed(all.len() * b.parts().len()) {
            all.extend_from_slice(b.parts());
            return Cond::And(all.into());
        }
        for part in b.parts() {
            if all.contains(part) {
                continue;
            }
            if all.iter().any(|other| other.is_not(part)) {
                return Cond::False;
            }
            all.push(part.clone());
        }
        Self::all_of(all)
    }

    /// Conditions that all have to hold, none of which is another one or its contrary.
    fn all_of(mut all: Vec<Cond>) -> Cond {
        match all.len() {
            0 => Cond::True,
            1 => all.remove(0),
            _ => Cond::And(all.into()),
        }
    }

    pub fn or(a: Cond, b: Cond) -> Cond {
        match (&a, &b) {
            (Cond::True, _) | (_, Cond::True) => return Cond::True,
            (Cond::False, _) => return b,
            (_, Cond::False) => return a,
            _ => {}
        }
        let (of_a, of_b) = (a.parts(), b.parts());
        if !comparing::allowed(of_a.len() * of_b.len()) {
            return Cond::Or([a, b].into());
        }
        // What both have stays outside; two rests of which one is the other's contrary are no condition.
        let common: Vec<Cond> = of_a.iter().filter(|c| of_b.contains(c)).cloned().collect();
        let rest = |of: &[Cond]| Self::all_of(of.iter().filter(|c| !common.contains(c)).cloned().collect());
        // Of `!a || a && b`, `!a || b` is left.
        let shorter = |of: Cond, other: &Cond| {
            Self::all_of(of.parts().iter().filter(|c| !c.is_not(other)).cloned().collect())
        };
        let (left, right) = (rest(of_a), rest(of_b));
        let right = if left.parts().len() == 1 { shorter(right, &left) } else { right };
        let left = if right.parts().len() == 1 { shorter(left, &right) } else { left };
        if left == Cond::True || right == Cond::True || left.is_not(&right) {
            return Self::all_of(common);
        }
        match Self::one_of(left, right) {
            Some(choice) => Cond::and(Self::all_of(common), choice),
            None => Self::all_of(common),
        }
    }

    /// A choice of which neither side is always taken; none if one of the alternatives always holds.
    fn one_of(a: Cond, b: Cond) -> Option<Cond> {
        let alternatives = |cond: Cond| match cond {
            Cond::Or(any) => any,
            one => [one].into(),
        };
        let (any, more) = (alternatives(a), alternatives(b));
        let mut each = any.to_vec();
        if !comparing::allowed(any.len() * more.len()) {
            each.extend_from_slice(&more);
            return Some(Cond::Or(each.into()));
        }
        for one in &*more {
            if each.iter().any(|other| other.is_not(one)) {
                return None;
            }
            if !each.contains(one) {
                each.push(one.clone());
            }
        }
        Some(Cond::Or(each.into()))
    }

    /// The parts that another condition does not have. Most conditions begin with what holds around them.
    pub fn beyond<'c>(&'c self, other: &'c Cond) -> impl Iterator<Item = &'c Cond> {
        let same = self.parts().iter().zip(other.parts()).take_while(|(a, b)| a == b).count();
        let rest = &self.parts()[same..];
        // A limit that is reached here stops the reading soon.
        let compared = comparing::allowed(rest.len() * other.parts().len());
        rest.iter().filter(move |part| !compared || !other.parts().contains(part))
    }

    /// How many formulas there are in it.
    pub fn size(&self) -> usize {
        match self {
            Cond::And(all) | Cond::Or(all) => all.iter().map(Cond::size).sum(),
            _ => 1,
        }
    }

    /// The same with another condition in the place of one of its parts.
    pub fn with_part(&self, at: usize, part: Cond) -> Cond {
        let (before, after) = self.parts().split_at(at);
        let parts = before.iter().cloned().chain([part]).chain(after.iter().skip(1).cloned());
        parts.fold(Cond::True, Cond::and)
    }

    /// The same without alternatives that other parts rule out, and without choices of which other parts fulfil one.
    pub fn united(self) -> Cond {
        let mut cond = self;
        while let Cond::And(all) = &cond
            && let Some((at, any)) = all.iter().enumerate().find_map(|(at, part)| match part {
                Cond::Or(any) => {
                    let others = || all.iter().enumerate().filter(|o| o.0 != at).map(|o| o.1);
                    let holds =
                        |one: &Cond| one.parts().iter().all(|part| others().any(|other| other == part));
                    let fails =
                        |one: &Cond| one.parts().iter().any(|part| others().any(|other| other.is_not(part)));
                    if any.iter().any(holds) {
                        return Some((at, Cond::True));
                    }
                    let left: Vec<Cond> = any.iter().filter(|one| !fails(one)).cloned().collect();
                    (left.len() < any.len()).then(|| (at, left.into_iter().fold(Cond::False, Cond::or)))
                }
                _ => None,
            })
        {
            cond = cond.with_part(at, any);
        }
        cond
    }

    /// The reason why it is not known, if data have a say in it.
    pub fn data(&self) -> Option<WhyId> {
        match self {
            Cond::Data(why, _) => Some(*why),
            Cond::And(all) | Cond::Or(all) => all.iter().find_map(Cond::data),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::value::{Algebra, BlockAndGrid};
    use crate::space::{Block, Grid};

    /// Conditions on the place of a thread, of all kinds.
    fn some() -> Vec<Cond> {
        let mut algebra =
            Algebra::new(BlockAndGrid { block: Block::known([8, 8, 1]), grid: Grid::known([1; 3]) });
        let (x, y) = (algebra.tid(0), algebra.tid(1));
        let at_least = |p: &Poly, n: i128| Cond::Ge(p.add_number(-n).unwrap());
        let (a, b, c) = (at_least(&x, 3), at_least(&y, 5), Cond::Eq(x.sub(&y).unwrap()));
        let raw = Raw { rel: Rel::Lt, signed: true, width: 32, a: x.clone(), b: y.clone() };
        let both = Cond::and(a.clone(), b.clone());
        let any = Cond::or(Cond::and(a.clone(), c.clone()), b.clone().not());
        vec![a, b, c, both, any, Cond::Raw(Box::new(raw)), Cond::Data(WhyId(3), true), Cond::True]
    }

    #[test]
    fn contraries_are_known_without_writing_them() {
        let all = some();
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            assert!(!one.is_not(other), "{one:?} {other:?}");
            let contrary = other.clone().not();
            assert_eq!(contrary.is_not(one), contrary == one.clone().not(), "{one:?} {other:?}");
            assert_eq!(one.is_not(&contrary), *one == contrary.clone().not(), "{one:?} {other:?}");
        }
    }

    #[test]
    fn parts_rule_out_alternatives_of_others() {
        let [a, b, c] = &some()[..3] else { unreachable!() };
        let or = |a: &Cond, b: &Cond| Cond::or(a.clone(), b.clone());
        let and = |a: &Cond, b: &Cond| Cond::and(a.clone(), b.clone());
        let (not_a, not_b) = (a.clone().not(), b.clone().not());
        assert_eq!(and(&or(a, b), &not_a).united(), and(b, &not_a));
        assert_eq!(and(&or(a, b), a).united(), *a);
        assert_eq!(and(&and(&or(a, b), &not_a), &not_b).united(), Cond::False);
        // What follows from one alternative decides another part.
        assert_eq!(and(&and(&or(a, b), &or(&not_b, c)), &not_a).united().parts().len(), 3);
        assert_eq!(and(&or(a, b), c).united(), and(&or(a, b), c));
    }
}
