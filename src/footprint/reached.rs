//! Whether a thread reaches an iteration of a loop, said as simply as the number of iterations allows: compilers count them by
//! a quotient, `(max(t, 176) - t + 255)/256` for `t + 256*i < 432`.

use crate::expr::{Cond, Coord, Excess, Form, Term};

/// Where a coordinate lies.
type Within<'w> = &'w dyn Fn(Coord) -> Option<(i64, i64)>;

/// Holds where a form is not negative, of which some intervals are known.
pub(super) fn reached(left: &Form<i64>, within: Within<'_>) -> Result<Cond<i64>, Excess> {
    let without_quotient = multiplied(left)?.unwrap_or_else(|| left.clone());
    let Some([one, other]) = alternatives(&without_quotient)? else {
        return Ok(Cond::non_negative(without_quotient));
    };
    Ok(if implies(&one, &other, within)? {
        Cond::non_negative(other)
    } else if implies(&other, &one, within)? {
        Cond::non_negative(one)
    } else {
        Cond::any(vec![Cond::non_negative(one), Cond::non_negative(other)])
    })
}

/// `floor(e/m) + rest >= 0` is `e + m*rest >= 0`, as `rest` is whole.
fn multiplied(form: &Form<i64>) -> Result<Option<Form<i64>>, Excess> {
    let mut quotients = form.terms().iter().filter(|(term, _)| matches!(term, Term::Floor(..)));
    let (Some((term @ Term::Floor(of, divisor), 1)), None) = (quotients.next(), quotients.next()) else {
        return Ok(None);
    };
    let rest = form.minus(&Form::term(term.clone()))?;
    Ok(Some(of.plus(&rest.times(divisor)?)?))
}

/// The larger of two is not negative where one of them is not.
fn alternatives(form: &Form<i64>) -> Result<Option<[Form<i64>; 2]>, Excess> {
    let mut larger =
        form.terms().iter().filter(|(term, factor)| matches!(term, Term::Max(..)) && *factor > 0);
    let (Some((term @ Term::Max(a, b), factor)), None) = (larger.next(), larger.next()) else {
        return Ok(None);
    };
    let rest = form.minus(&Form::term(term.clone()).times(factor)?)?;
    Ok(Some([rest.plus(&a.times(factor)?)?, rest.plus(&b.times(factor)?)?]))
}

/// Whether one form is not negative wherever another one of a single coordinate is not.
fn implies(of_one: &Form<i64>, other: &Form<i64>, within: Within<'_>) -> Result<bool, Excess> {
    let [(Term::Coord(coord), factor)] = of_one.terms() else { return Ok(false) };
    let Some((from, to)) = within(*coord) else { return Ok(false) };
    // factor * c + constant >= 0
    let end = of_one.constant().div_euclid(factor.checked_abs().ok_or(Excess::Overflow)?);
    let range = if *factor > 0 {
        (from.max(end.checked_neg().ok_or(Excess::Overflow)?), to)
    } else {
        (from, to.min(end))
    };
    let there = |c: Coord| if c == *coord { Some(range) } else { within(c) };
    Ok(range.0 > range.1 || other.interval(&there).is_some_and(|(low, _)| low >= 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Dim, LoopId};

    const T: Coord = Coord::ThreadIdx(Dim::X);
    const I: Coord = Coord::Loop(LoopId(0));

    fn within(coord: Coord) -> Option<(i64, i64)> {
        match coord {
            Coord::ThreadIdx(_) => Some((0, 255)),
            Coord::Loop(_) => Some((0, 3)),
            _ => None,
        }
    }

    /// Where a condition holds, of all values.
    fn held(cond: &Cond<i64>) -> Vec<(i64, i64)> {
        let all = (0..256).flat_map(|t| (0..4).map(move |i| (t, i)));
        let holds = |&(t, i): &(i64, i64)| {
            cond.evaluate(&|c| if c == T { Some(t) } else { Some(i) }).expect("there is a value for each")
        };
        all.filter(holds).collect()
    }

    #[test]
    fn iterations_counted_by_a_quotient_are_those_below_an_end() {
        let t = Form::<i64>::coord(T);
        for (end, step) in [(432, 256), (300, 100), (1000, 256), (90, 30)] {
            // As many as compilers count: once, and then as long as t + step*i < end.
            let first = Form::int(end - step).larger(&t).unwrap().minus(&t).unwrap();
            let count = first.plus(&Form::int(step - 1)).unwrap().floor_div(&step).unwrap();
            let left = count.minus(&Form::coord(I)).unwrap();
            let found = reached(&left, &within).unwrap();
            assert_eq!(held(&found), held(&Cond::non_negative(left)), "{end} {step}");
            let simple = t.plus(&Form::coord(I).times(&step).unwrap()).unwrap();
            let simple = Cond::non_negative(Form::int(end - 1).minus(&simple).unwrap());
            // Where threads may begin beyond the end, the first iteration is another matter.
            assert_eq!(found == simple, end > 255, "{found:?}");
        }
    }

    #[test]
    fn implied_forms_are_those_of_a_single_coordinate() {
        let (t, i) = (Form::<i64>::coord(T), Form::coord(I));
        let of = |a: &Form<i64>, b: &Form<i64>| implies(a, b, &within).unwrap();
        let below = |n: i64, form: &Form<i64>| Form::int(n).minus(form).unwrap();
        assert!(of(&below(7, &t.times(&2).unwrap()), &below(3, &t)));
        assert!(!of(&below(7, &t.times(&2).unwrap()), &below(2, &t)));
        assert!(of(&t.times(&3).unwrap().plus(&Form::int(-4)).unwrap(), &t.plus(&Form::int(-2)).unwrap()));
        assert!(!of(&t.plus(&i).unwrap().plus(&Form::int(-400)).unwrap(), &Form::int(-1)));
    }
}
