//! Changes to forms that often differ in their constants only.

use super::terms::Terms;
use super::{Coefficient, Excess, Form, Term};
use crate::recent::Recent;

/// What came of the forms that were changed last. A change adds something to what it finds, or puts other things
/// in the place of coordinates, quotients and so on; it does nothing else with the constant of a form.
pub struct Alike<C: Coefficient>(Recent<Terms<(Term<C>, C)>, Form<C>>);

impl<C: Coefficient> Alike<C> {
    /// No changes yet.
    pub fn new() -> Self {
        Self(Recent::default())
    }

    /// The form, changed. Always ask for the same change.
    pub fn change(
        &self,
        form: &Form<C>,
        change: impl Fn(&Form<C>) -> Result<Form<C>, Excess>,
    ) -> Result<Form<C>, Excess> {
        let moved = |of: &Form<C>| of.with_constant(of.constant.plus(&form.constant)?);
        if let Some(known) = self.0.find(|terms| terms.is_copy_of(&form.terms)) {
            return moved(&known).or_else(|_| change(form));
        }
        let Ok(made) = change(&Form { constant: C::int(0), terms: form.terms.clone() }) else {
            return change(form);
        };
        self.0.keep(form.terms.clone(), made.clone());
        moved(&made).or_else(|_| change(form))
    }
}

/// Forms with the same terms as a recent one share them with it, so that [`Alike`] sees it.
pub struct SharedTerms<C: Coefficient>(Recent<Form<C>, Form<C>>);

impl<C: Coefficient> SharedTerms<C> {
    /// No forms yet.
    pub fn new() -> Self {
        Self(Recent::default())
    }

    /// The form, with the terms of a recent one if they are the same.
    pub fn share(&self, form: Form<C>) -> Form<C> {
        if let Some(Form { terms, .. }) = self.0.find(|known| known.terms == form.terms) {
            return Form { terms, ..form };
        }
        self.0.keep(form.clone(), form.clone());
        form
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Coord, Dim, LaunchAtom, Scale};

    /// Forms in any order, with constants of every kind, come to what each of them comes to alone.
    #[test]
    fn what_is_remembered_is_what_is_found() {
        let coord = |c| Form::<Scale>::coord(c);
        let threads = coord(Coord::ThreadIdx(Dim::X))
            .plus(&coord(Coord::BlockIdx(Dim::X)).times(&Scale::atom(LaunchAtom::BlockDim(Dim::X))).unwrap())
            .unwrap();
        let quotient = threads.plus(&Form::int(3)).unwrap().floor_div(&Scale::int(4)).unwrap();
        let terms = [threads, coord(Coord::Axis(Dim::Y)), quotient, Form::int(0)];
        let constants = [
            Form::int(0),
            Form::int(7),
            Form::int(i64::MAX),
            Form::int(i64::MIN),
            Form::scale(Scale::atom(LaunchAtom::GridDim(Dim::Y))),
        ];
        let more = coord(Coord::Axis(Dim::Z)).plus(&Form::int(11)).unwrap();
        let change = |form: &Form<Scale>| {
            let put_in = |c| (c == Coord::Axis(Dim::Y)).then(|| more.clone());
            form.substitute(&put_in)?.with_threads()?.plus(&Form::int(1))
        };
        let (alike, shared) = (Alike::new(), SharedTerms::new());
        for round in 0..3 {
            for constant in &constants {
                for form in &terms {
                    let Ok(form) = form.plus(constant) else { continue };
                    let form = if round == 0 { form } else { shared.share(form) };
                    assert_eq!(alike.change(&form, change), change(&form), "{form:?}");
                }
            }
        }
    }
}
