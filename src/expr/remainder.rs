//! Finding remainders again: canonical forms hold `e % m` as `e - m*floor(e/m)`.

use super::form::{Coefficient, Form, Term};

use crate::sorting;

/// `factor * (dividend % modulus)`.
pub(crate) struct Remainder<C: Coefficient> {
    pub(crate) factor: i64,
    pub(crate) dividend: Form<C>,
    pub(crate) modulus: i64,
}

/// Longest form in which remainders are looked for: each quotient is held against each term.
const MAX_TERMS: usize = 64;

/// Takes factor*e - factor*m*floor(e/m) out of a form and returns it as remainders.
pub(crate) fn split<C: Coefficient>(form: &Form<C>) -> (Form<C>, Vec<Remainder<C>>) {
    let mut rest = form.clone();
    let mut found = Vec::new();
    if form.terms().len() > MAX_TERMS {
        return (rest, found);
    }
    // The outermost first: (v%5)%4 holds v%5 too, which would take its parts away.
    let mut quotients: Vec<_> = form.terms().iter().filter(|t| matches!(t.0, Term::Floor(..))).collect();
    sorting::sort_by_key(&mut quotients, |t| std::cmp::Reverse(t.0.size()));
    for (term, coefficient) in quotients {
        let Some(remainder) = remainder_of(term, coefficient, &rest) else { continue };
        // factor*e + c*floor(e/m) = factor*(e%m) + (c + factor*m)*floor(e/m)
        let Some(product) = remainder.factor.checked_mul(remainder.modulus) else { continue };
        let whole = Form::term(term.clone()).times(&C::int(product));
        let (Ok(whole), Ok(parts)) = (whole, remainder.dividend.times(&C::int(remainder.factor))) else {
            continue;
        };
        if let Ok(less) = rest.plus(&whole).and_then(|f| f.minus(&parts)) {
            rest = less;
            found.push(remainder);
        }
    }
    (rest, found)
}

/// The remainder that a quotient makes with other terms of its form.
fn remainder_of<C: Coefficient>(quotient: &Term<C>, coefficient: &C, form: &Form<C>) -> Option<Remainder<C>> {
    let Term::Floor(dividend, divisor) = quotient else { return None };
    let (c, divisor) = (coefficient.as_int()?, divisor.as_int()?);
    if c % divisor == 0
        && let Some(factor) = common_factor(dividend, form)
    {
        return Some(Remainder { factor, dividend: (**dividend).clone(), modulus: divisor });
    }
    // (floor(e/a) + b) % m stands as floor(e/a) + b - m*floor((e + ab)/(am)): quotients of quotients are
    // joined.
    form.terms().iter().find_map(|(term, factor)| {
        let factor = factor.as_int()?;
        let modulus = c.checked_div(factor)?.checked_neg().filter(|&m| m > 1 && c % factor == 0)?;
        let Term::Floor(within, a) = term else { return None };
        let apart = dividend.constant().as_int()?.checked_sub(within.constant().as_int()?)?;
        let shift = Form::int(apart.div_euclid(a.as_int()?));
        let inner = Form::term(term.clone()).plus(&shift).ok()?;
        let joined = inner.floor_div(&C::int(modulus)).ok()?;
        (joined == Form::term(quotient.clone())).then_some(Remainder { factor, dividend: inner, modulus })
    })
}

/// The integer factor with which all terms of `part` occur in `whole`.
fn common_factor<C: Coefficient>(part: &Form<C>, whole: &Form<C>) -> Option<i64> {
    let mut factors = part.terms().iter().map(|(term, of_part)| {
        let (_, of_whole) = whole.terms().iter().find(|t| t.0 == *term)?;
        // Equal, also where it is not a number.
        if of_whole == of_part {
            return Some(1);
        }
        let (a, b) = (of_whole.as_int()?, of_part.as_int()?);
        (a.checked_rem(b)? == 0).then(|| a / b)
    });
    let first = factors.next()??;
    factors.all(|f| f == Some(first)).then_some(first)
}
