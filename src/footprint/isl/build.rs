//! Forms and conditions as isl's piecewise quasi-affine expressions and sets.

use isl_rs::{Aff, DimType, LocalSpace, PwAff, Set, Space};

use super::session::{IslError, Session};
use crate::expr::{Cond, Coord, Form, Term};

type Built<T> = Result<T, IslError>;

/// A space whose dimensions are coordinates.
pub(super) struct Coordinates<'s> {
    pub(super) session: &'s Session<'s>,
    pub(super) space: Space,
    /// The coordinate of each dimension.
    pub(super) order: Vec<Coord>,
}

/// A dimension, or a number of them, as isl numbers them.
pub(super) fn dimension(n: usize) -> u32 {
    u32::try_from(n).expect("a program has at most some thousand loops and parts of addresses")
}

impl<'s> Coordinates<'s> {
    /// A space with these coordinates and their names.
    pub(super) fn new(session: &'s Session<'s>, named: &[(Coord, String)]) -> Built<Self> {
        Self::with_more(session, named, 0)
    }

    /// The same with some further dimensions behind them.
    pub(super) fn with_more(session: &'s Session<'s>, named: &[(Coord, String)], more: u32) -> Built<Self> {
        let count = dimension(named.len()) + more;
        let mut space = Space::set_alloc(session.context, 0, count)?;
        for (i, (_, name)) in named.iter().enumerate() {
            space = space.set_dim_name(DimType::Set, dimension(i), name)?;
        }
        Ok(Self { session, space, order: named.iter().map(|n| n.0).collect() })
    }

    fn position(&self, coord: Coord) -> Built<u32> {
        let at = self.order.iter().position(|&c| c == coord);
        at.and_then(|i| u32::try_from(i).ok()).ok_or(IslError::Unsupported("a coordinate outside the set"))
    }

    fn local(&self) -> Built<LocalSpace> {
        Ok(LocalSpace::from_space(self.space.copy()?)?)
    }

    /// The value along a dimension.
    pub(super) fn variable(&self, position: u32) -> Built<PwAff> {
        Ok(PwAff::from_aff(Aff::var_on_domain(self.local()?, DimType::Set, position)?)?)
    }

    fn constant(&self, value: i64) -> Built<PwAff> {
        let zero = Aff::zero_on_domain(self.local()?)?;
        Ok(PwAff::from_aff(zero.set_constant_val(self.session.value(value)?)?)?)
    }

    /// A form as a piecewise quasi-affine expression.
    pub(super) fn form(&self, form: &Form<i64>) -> Built<PwAff> {
        let mut total = self.constant(*form.constant())?;
        for (term, coefficient) in form.terms() {
            let scaled = self.term(term)?.scale_val(self.session.value(*coefficient)?)?;
            total = total.add(scaled)?;
        }
        Ok(total)
    }

    fn term(&self, term: &Term<i64>) -> Built<PwAff> {
        Ok(match term {
            Term::Coord(coord) => self.variable(self.position(*coord)?)?,
            Term::Floor(inner, divisor) => {
                self.form(inner)?.scale_down_val(self.session.value(*divisor)?)?.floor()?
            }
            Term::Min(a, b) => self.form(a)?.min(self.form(b)?)?,
            Term::Max(a, b) => self.form(a)?.max(self.form(b)?)?,
            Term::Lookup(..) => return Err(IslError::Unsupported("a table indexed by a coordinate")),
        })
    }

    /// Where a condition holds.
    pub(super) fn condition(&self, cond: &Cond<i64>) -> Built<Set> {
        let all = || Ok::<Set, IslError>(Set::universe(self.space.copy()?)?);
        Ok(match cond {
            Cond::Const(true) => all()?,
            Cond::Const(false) => Set::empty(self.space.copy()?)?,
            Cond::NonNegative(form) => self.form(form)?.nonneg_set()?,
            Cond::Zero(form) => self.form(form)?.zero_set()?,
            Cond::All(parts) => {
                let mut set = all()?;
                for part in parts {
                    set = set.intersect(self.condition(part)?)?;
                }
                set
            }
            Cond::Any(parts) => {
                let mut set = Set::empty(self.space.copy()?)?;
                for part in parts {
                    set = set.union(self.condition(part)?)?;
                }
                set
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use isl_rs::{DimType, Point};
    use proptest::prelude::*;

    use super::*;
    use crate::expr::Dim;
    use crate::footprint::isl::session::with_session;

    const X: Coord = Coord::ThreadIdx(Dim::X);
    const Y: Coord = Coord::BlockIdx(Dim::Y);

    fn forms() -> impl Strategy<Value = Form<i64>> {
        let leaf =
            prop_oneof![(-100_i64..100).prop_map(Form::int), Just(Form::coord(X)), Just(Form::coord(Y))];
        leaf.prop_recursive(4, 16, 2, |inner| {
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                pair.clone().prop_map(|(a, b)| a.plus(&b).unwrap()),
                (inner.clone(), -9_i64..9).prop_map(|(a, c)| a.times(&c).unwrap()),
                (inner.clone(), 1_i64..20).prop_map(|(a, m)| a.floor_div(&m).unwrap()),
                (inner, 1_i64..20).prop_map(|(a, m)| a.remainder(&m).unwrap()),
                pair.clone().prop_map(|(a, b)| a.smaller(&b).unwrap()),
                pair.prop_map(|(a, b)| a.larger(&b).unwrap()),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// isl evaluates what the form evaluates to: two independent implementations of floor,
        /// remainder, minimum and maximum.
        #[test]
        fn isl_and_forms_agree(form in forms(), x in -50_i64..50, y in -50_i64..50) {
            let ours = form.evaluate(&|c| Some(if c == X { x } else { y })).unwrap();
            let theirs = with_session(1_000_000, |session| {
                let names = [(X, "x".to_owned()), (Y, "y".to_owned())];
                let coordinates = Coordinates::new(session, &names)?;
                let mut point = Point::zero(coordinates.space.copy()?)?;
                for (i, value) in [x, y].into_iter().enumerate() {
                    let position = i32::try_from(i).unwrap();
                    point = point.set_coordinate_val(DimType::Set, position, session.value(value)?)?;
                }
                Ok(coordinates.form(&form)?.eval(point)?.get_num_si()?)
            });
            prop_assert_eq!(theirs, Ok(ours));
        }
    }

    #[test]
    fn a_quota_ends_what_takes_too_long() {
        let mut form = Form::coord(X);
        for m in 2..5 {
            form = form.times(&5).unwrap().remainder(&(m * 7)).unwrap().larger(&Form::coord(Y)).unwrap();
        }
        let result = with_session(10, |session| {
            let names = [(X, "x".to_owned()), (Y, "y".to_owned())];
            Coordinates::new(session, &names)?.form(&form).map(drop)
        });
        assert_eq!(result, Err(IslError::Quota));
        // The thread's context is usable afterwards.
        let again = with_session(1_000_000, |session| {
            let names = [(X, "x".to_owned()), (Y, "y".to_owned())];
            Coordinates::new(session, &names)?.form(&Form::coord(X)).map(drop)
        });
        assert_eq!(again, Ok(()));
    }
}
