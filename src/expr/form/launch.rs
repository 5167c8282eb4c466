//! Forms for given block and grid sizes.

use super::{Coefficient, Coord, Excess, Form, Term};
use crate::expr::ast::Dim;
use crate::expr::scale::{LaunchAtom, LaunchSizes, Scale};

impl Term<Scale> {
    /// Whether the size of the grid occurs.
    pub(in crate::expr) fn mentions_grid(&self) -> bool {
        let divisor = if let Term::Floor(_, divisor) = self { divisor.mentions_grid() } else { false };
        divisor
            || self.parts().any(|f| f.constant.mentions_grid() || f.terms.iter().any(|t| t.0.mentions_grid()))
    }

    /// The term for given launch sizes.
    pub(in crate::expr) fn at(&self, sizes: &LaunchSizes) -> Result<Form<i64>, Excess> {
        self.rebuild(&|f| f.at(sizes), &|c| c.at(sizes), &|c| Ok(placed(c, sizes, 1)))
    }
}

/// A coordinate in terms of thread, block and loop.
fn placed(coord: Coord, sizes: &LaunchSizes, factor: i64) -> Form<i64> {
    let terms = match coord {
        Coord::Thread(d) => vec![
            (Term::Coord(Coord::ThreadIdx(d)), factor),
            (Term::Coord(Coord::BlockIdx(d)), factor * sizes.block[d.index()]),
        ],
        other => vec![(Term::Coord(other), factor)],
    };
    Form { constant: 0, terms: terms.into() }
}

impl Form<Scale> {
    /// The same form, with the place of a thread in the grid where it was put together as
    /// threadIdx + blockIdx*blockDim.
    pub fn with_threads(&self) -> Result<Self, Excess> {
        let raw = |c: Coord| matches!(c, Coord::BlockIdx(_));
        if !self.mentions(&raw) {
            return Ok(self.clone());
        }
        let mut form = Self::scale(self.constant.clone());
        for (term, factor) in &self.terms {
            let same = |c: &Scale| Ok(c.clone());
            let term = term.rebuild(&|f| f.with_threads(), &same, &|c| Ok(Form::coord(c)))?;
            form = form.plus(&term.times(factor)?)?;
        }
        for d in Dim::ALL {
            let parts = [Coord::ThreadIdx(d), Coord::BlockIdx(d)].map(Term::Coord);
            let factor = |part: &Term<Scale>| form.terms.iter().find(|t| t.0 == *part).map(|t| t.1.clone());
            let (Some(of_thread), Some(of_block)) = (factor(&parts[0]), factor(&parts[1])) else { continue };
            if of_thread.times(&Scale::atom(LaunchAtom::BlockDim(d))) == Ok(of_block) {
                let others = form.terms.iter().filter(|t| !parts.contains(&t.0)).cloned();
                form.terms = others.collect::<Vec<_>>().into();
                form = form.plus(&Form::coord(Coord::Thread(d)).times(&of_thread)?)?;
            }
        }
        Ok(form)
    }

    /// As [`Self::at`], where it is known what comes of a form for the same sizes: accesses of a stencil differ in
    /// their constants only.
    pub fn at_as(
        &self,
        sizes: &LaunchSizes,
        known: Option<(&Self, &Form<i64>)>,
    ) -> Result<Form<i64>, Excess> {
        match known {
            // Other terms than coordinates add to the constant.
            Some((of, placed)) if self.is_affine() && self.terms == of.terms => {
                Ok(Form { constant: self.constant.at(sizes)?, terms: placed.terms.clone() })
            }
            _ => self.at(sizes),
        }
    }

    /// The form for given launch sizes, over threads in their block, blocks, and loop variables.
    pub fn at(&self, sizes: &LaunchSizes) -> Result<Form<i64>, Excess> {
        let mut terms = Vec::with_capacity(self.terms.len() + 3);
        let mut constant = self.constant.at(sizes)?;
        for (term, coefficient) in &self.terms {
            let coefficient = coefficient.at(sizes)?;
            match term {
                Term::Coord(Coord::Thread(d)) => {
                    let of_block = coefficient.checked_mul(sizes.block[d.index()]).ok_or(Excess::Overflow)?;
                    terms.push((Term::Coord(Coord::ThreadIdx(*d)), coefficient));
                    terms.push((Term::Coord(Coord::BlockIdx(*d)), of_block));
                }
                Term::Coord(c) => terms.push((Term::Coord(*c), coefficient)),
                other => {
                    let form = other.at(sizes)?.times(&coefficient)?;
                    constant = constant.plus(&form.constant)?;
                    terms.extend_from_slice(&form.terms);
                }
            }
        }
        Form::collected(constant, terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Block, Grid};

    /// What is taken over from another form is what the form itself comes to.
    #[test]
    fn forms_that_are_alike_come_to_the_same() {
        let sizes = LaunchSizes { block: Block::known([32, 4, 2]), grid: Grid::known([10, 20, 30]) };
        let thread = |d| Form::<Scale>::coord(Coord::Thread(d));
        let sum = |parts: Vec<Form<Scale>>| Form::total(parts).unwrap();
        let row = |n: i64| thread(Dim::Y).times(&Scale::int(n)).unwrap();
        let quotient = || thread(Dim::X).floor_div(&Scale::int(3)).unwrap();
        let forms = [
            sum(vec![thread(Dim::X), row(640), Form::int(7)]),
            sum(vec![thread(Dim::X), row(640), Form::int(-3)]),
            sum(vec![thread(Dim::X), row(641), Form::int(7)]),
            sum(vec![thread(Dim::X), row(640), Form::scale(Scale::atom(LaunchAtom::GridDim(Dim::X)))]),
            sum(vec![quotient(), Form::int(5)]),
            sum(vec![quotient(), Form::int(6)]),
            Form::int(2),
        ];
        for of in &forms {
            let placed = of.at(&sizes).unwrap();
            for form in &forms {
                assert_eq!(form.at_as(&sizes, Some((of, &placed))), form.at(&sizes), "{form:?} after {of:?}");
            }
            assert_eq!(of.at_as(&sizes, None).unwrap(), placed);
        }
    }
}
