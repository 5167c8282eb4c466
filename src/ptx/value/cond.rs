//! Conditions.

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
    And(Vec<Cond>),
    Or(Vec<Cond>),
}

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
            Cond::And(all) => all.into_iter().fold(Cond::False, |sum, c| Cond::or(sum, c.not())),
            Cond::Or(all) => all.into_iter().fold(Cond::True, |sum, c| Cond::and(sum, c.not())),
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

    #[expect(clippy::needless_pass_by_value, reason = "conditions are made on the spot")]
    pub fn and(a: Cond, b: Cond) -> Cond {
        if a == Cond::False || b == Cond::False {
            return Cond::False;
        }
        let mut all = a.parts().to_vec();
        for part in b.parts() {
            if all.contains(part) {
                continue;
            }
            if all.contains(&part.clone().not()) {
                return Cond::False;
            }
            all.push(part.clone());
        }
        match all.len() {
            0 => Cond::True,
            1 => all.remove(0),
            _ => Cond::And(all),
        }
    }

    pub fn or(a: Cond, b: Cond) -> Cond {
        match (&a, &b) {
            (Cond::True, _) | (_, Cond::True) => return Cond::True,
            (Cond::False, _) => return b,
            (_, Cond::False) => return a,
            _ => {}
        }
        // What both have stays outside; two rests of which one is the other's contrary are no condition.
        let common: Vec<Cond> = a.parts().iter().filter(|c| b.parts().contains(c)).cloned().collect();
        let rest = |of: &Cond| {
            let rest: Vec<Cond> = of.parts().iter().filter(|c| !common.contains(c)).cloned().collect();
            rest.into_iter().fold(Cond::True, Cond::and)
        };
        // Of `!a || a && b`, `!a || b` is left.
        let shorter = |of: Cond, other: &Cond| {
            let against = other.clone().not();
            let rest: Vec<Cond> = of.parts().iter().filter(|c| **c != against).cloned().collect();
            rest.into_iter().fold(Cond::True, Cond::and)
        };
        let (left, right) = (rest(&a), rest(&b));
        let right = if left.parts().len() == 1 { shorter(right, &left) } else { right };
        let left = if right.parts().len() == 1 { shorter(left, &right) } else { left };
        let outside = common.iter().cloned().fold(Cond::True, Cond::and);
        if left == Cond::True || right == Cond::True || left == right.clone().not() {
            return outside;
        }
        let mut any = match left {
            Cond::Or(any) => any,
            one => vec![one],
        };
        match right {
            Cond::Or(more) => any.extend(more),
            one => any.push(one),
        }
        let mut each = Vec::new();
        for one in any {
            if each.contains(&one.clone().not()) {
                return outside;
            }
            if !each.contains(&one) {
                each.push(one);
            }
        }
        Cond::and(outside, Cond::Or(each))
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
