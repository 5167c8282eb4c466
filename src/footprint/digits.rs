//! Quotients taken apart by plain numbers: along v = m*q + r every quotient of v by a divisor of m is affine in q. Where
//! it is the same for all r of a whole period, r is a variable like others; otherwise each r is a box of its own.

use super::continued::join;
use super::division::gcd;
use super::query::{CoordRange, Piece};
use super::sum::{Bound, Ranges, Shape, Sum};
use crate::expr::{Cond, Form, Term};

/// Something times the quotient of a sum by a number.
#[derive(Debug, Clone, Copy)]
struct Quotient {
    /// What it is a part of.
    part_of: Whole,
    factor: i64,
    divisor: i64,
    of: Sum,
}

/// The address, or one of the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    Address,
    Bound(usize),
}

/// A box whose address or bounds have quotients, too.
#[derive(Debug, Clone)]
struct Quasi {
    shape: Shape,
    quotients: Vec<Quotient>,
}

impl Quasi {
    /// Of a piece whose quotients are of affine forms, and whose conditions hold all together.
    fn new(piece: &Piece) -> Option<Self> {
        let mut quotients = Vec::new();
        let address = sum_of(&piece.address, &piece.ranges, Whole::Address, &mut quotients)?;
        let mut bounds = Vec::new();
        if let Some(when) = &piece.when {
            add_bounds(when, &piece.ranges, &mut bounds, &mut quotients)?;
        }
        let shape = Shape { ranges: Ranges::new(&piece.ranges)?, address, bounds };
        let mut all = Self { shape, quotients };
        all.join();
        all.settle()?;
        Some(all)
    }

    /// Makes one variable of those that continue each other wherever they occur.
    fn join(&mut self) {
        let Self { shape: Shape { ranges, address, bounds }, quotients } = self;
        if bounds.is_empty() && quotients.is_empty() {
            // What has neither quotients nor conditions is joined elsewhere.
            return;
        }
        let mut sums: Vec<&mut Sum> = Vec::with_capacity(1 + bounds.len() + quotients.len());
        sums.push(address);
        sums.extend(quotients.iter_mut().map(|quotient| &mut quotient.of));
        sums.extend(bounds.iter_mut().map(Bound::sum_mut));
        join(ranges, &mut sums);
    }

    /// Makes quotients that are affine here a part of the address or of a bound. It is nothing where one is too large.
    fn settle(&mut self) -> Option<()> {
        let Self { shape: Shape { ranges, address, bounds }, quotients } = self;
        let mut fit = Some(());
        quotients.retain_mut(|quotient| {
            let whole = match quotient.part_of {
                Whole::Address => &mut *address,
                Whole::Bound(number) => bounds[number].sum_mut(),
            };
            let settled = fit.and_then(|()| quotient.settle(ranges, whole));
            if settled.is_none() {
                fit = None;
            }
            settled == Some(false)
        });
        fit
    }

    fn quotients_along(&self, variable: usize) -> impl Iterator<Item = &Quotient> {
        self.quotients.iter().filter(move |q| q.of.factors[variable] != 0)
    }

    /// After how many values of a variable all quotients move evenly.
    fn period(&self, variable: usize, most: i64) -> Option<i64> {
        self.quotients_along(variable).try_fold(1_i64, |period, q| {
            let needed = q.divisor / gcd(q.of.factors[variable], q.divisor);
            (period / gcd(period, needed)).checked_mul(needed).filter(|&period| period <= most)
        })
    }

    /// The same with `step * v + more + first` in the place of a variable.
    fn put(
        &self,
        variable: usize,
        [step, first]: [i64; 2],
        more: Option<usize>,
        ranges: &Ranges,
    ) -> Option<Self> {
        let put = |sum: Sum| sum.put(variable, step, first, more);
        let mut quotients = Vec::with_capacity(self.quotients.len());
        for quotient in &self.quotients {
            quotients.push(Quotient { of: put(quotient.of)?, ..*quotient });
        }
        let mut bounds = Vec::with_capacity(self.shape.bounds.len());
        for bound in &self.shape.bounds {
            bounds.push(bound.with(put)?);
        }
        let address = put(self.shape.address)?;
        let mut all = Self { shape: Shape { ranges: *ranges, address, bounds }, quotients };
        all.settle()?;
        Some(all)
    }

    /// Boxes in which a variable is parted at multiples of a period, if no quotient then depends on it.
    fn by_digits(&self, variable: usize, period: i64) -> Option<Vec<Self>> {
        if self.shape.bounds.iter().any(|bound| bound.sum().factors[variable] != 0) {
            return None;
        }
        let (found, place) = self.parted(variable, period)?;
        let is_free = |part: &Self, variable| part.quotients_along(variable).next().is_none();
        let all = !found.is_empty()
            && found.iter().all(|part| is_free(part, variable))
            && place.is_none_or(|place| is_free(&found[0], place));
        all.then_some(found)
    }

    /// The same where bounds have quotients by numbers that divide each other, as those of a place in a row of an array
    /// have that is written as one number: by the largest of them. The others are then of the place in a period.
    fn by_places(&self, variable: usize) -> Option<Vec<Self>> {
        if self.quotients_along(variable).all(|q| q.part_of == Whole::Address) {
            return None;
        }
        let period = self.quotients_along(variable).map(|q| q.divisor).max()?;
        let ranges = &self.shape.ranges;
        let others =
            || (0..ranges.as_slice().len()).filter(|&other| other != variable && ranges.varies(other));
        let nests = |q: &Quotient| {
            period % q.divisor == 0
                && matches!(q.of.factors[variable], 1 | -1)
                && others().all(|other| q.of.factors[other] == 0)
        };
        if !self.quotients_along(variable).all(nests) {
            return None;
        }
        // Each quotient changes somewhere in the range, so that each part is less than all.
        let (found, _) = self.parted(variable, period)?;
        (!found.is_empty()).then_some(found)
    }

    /// Boxes in which a variable is parted at multiples of a period: what lies before and behind whole periods, and these,
    /// with a variable for the place in a period. Where there are whole periods, they come first, and that is the number of
    /// their new variable.
    fn parted(&self, variable: usize, period: i64) -> Option<(Vec<Self>, Option<usize>)> {
        let (from, to) = self.shape.ranges.as_slice()[variable];
        let begin = self.begin(variable, period)?;
        let first = from.checked_add(begin.checked_sub(from)?.rem_euclid(period))?;
        let periods = to.checked_add(1)?.checked_sub(first)?.div_euclid(period).max(0);
        let last = first.checked_add(periods.checked_mul(period)?)?;
        let (mut found, mut digit) = (Vec::with_capacity(3), None);
        if periods > 0 {
            let ranges = self.shape.ranges.with(variable, (0, periods - 1));
            let (ranges, place) = ranges.and((0, period - 1))?;
            found.push(self.put(variable, [period, first], Some(place), &ranges)?);
            digit = Some(place);
        }
        for rest in [(from, to.min(first.checked_sub(1)?)), (last.max(from), to)] {
            if rest.0 <= rest.1 && (periods > 0 || rest != (from, to)) {
                let mut part = self.clone();
                part.shape.ranges.as_mut_slice()[variable] = rest;
                part.settle()?;
                found.push(part);
            }
        }
        Some((found, digit))
    }

    /// A value of a variable at which a period begins, by the quotient with the largest divisor.
    fn begin(&self, variable: usize, period: i64) -> Option<i64> {
        let widest = self.quotients_along(variable).max_by_key(|q| q.divisor)?;
        // With what other variables contribute that have one value.
        let (low, high) = widest.of.interval_without(Some(variable), &self.shape.ranges)?;
        let constant = (if low == high { low } else { widest.of.constant }).rem_euclid(period);
        Some(match widest.of.factors[variable] {
            1 => -constant,
            -1 => constant + 1,
            _ => 0,
        })
    }

    /// A box for each place in a period.
    fn by_residues(&self, variable: usize, period: i64) -> Option<Vec<Self>> {
        let (from, to) = self.shape.ranges.as_slice()[variable];
        let one = |place: i64| {
            let first = from.checked_add(place)?;
            let ranges = self.shape.ranges.with(variable, (0, (to.checked_sub(first)?) / period));
            self.put(variable, [period, first], None, &ranges)
        };
        let places = period.min(to.checked_sub(from)?.checked_add(1)?);
        (0..places).map(one).collect()
    }

    /// Adds boxes without quotients that touch the same bytes, at most `most` in all.
    fn take_apart(self, most: usize, out: &mut Vec<Shape>) -> Option<()> {
        if self.quotients.is_empty() {
            out.push(self.shape);
            return (out.len() <= most).then_some(());
        }
        let longest = i64::try_from(most).ok()?;
        let along = (0..self.shape.ranges.as_slice().len()).filter_map(|variable| {
            let period = self.period(variable, longest);
            (period != Some(1)).then_some((variable, period))
        });
        let along: Vec<(usize, Option<i64>)> = along.collect();
        // What leaves few boxes comes first, along whichever variable that is.
        let by_places = || along.iter().find_map(|&(variable, _)| self.by_places(variable));
        let by_digits = || along.iter().find_map(|&(variable, period)| self.by_digits(variable, period?));
        let by_residues = || {
            let &(variable, period) = along.first()?;
            self.by_residues(variable, period?)
        };
        by_digits()
            .or_else(by_places)
            .or_else(by_residues)?
            .into_iter()
            .try_for_each(|part| part.take_apart(most, out))
    }
}

impl Quotient {
    /// Puts what of it is affine into what it is a part of. Whether that is all of it.
    fn settle(&mut self, ranges: &Ranges, whole: &mut Sum) -> Option<bool> {
        for (of, all) in self.of.factors.iter_mut().zip(&mut whole.factors) {
            if *of % self.divisor == 0 {
                *all = all.checked_add(self.factor.checked_mul(*of / self.divisor)?)?;
                *of = 0;
            }
        }
        let quotient = self.of.constant.div_euclid(self.divisor);
        self.of.constant = self.of.constant.rem_euclid(self.divisor);
        let (low, high) = self.of.interval(ranges)?;
        let (low, high) = (low.div_euclid(self.divisor), high.div_euclid(self.divisor));
        let constant = quotient.checked_add(if low == high { low } else { 0 })?;
        whole.constant = whole.constant.checked_add(self.factor.checked_mul(constant)?)?;
        Some(low == high)
    }
}

/// The affine part of a form, whose quotients are added to others.
fn sum_of(
    form: &Form<i64>,
    ranges: &[CoordRange],
    part_of: Whole,
    quotients: &mut Vec<Quotient>,
) -> Option<Sum> {
    let (sum, others) = Sum::of_coordinates(form, ranges)?;
    quotients.reserve(others);
    for (term, factor) in form.terms() {
        match term {
            Term::Coord(_) => {}
            Term::Floor(inner, divisor) if *divisor > 0 => {
                let of = Sum::affine(inner, ranges)?;
                quotients.push(Quotient { part_of, factor: *factor, divisor: *divisor, of });
            }
            _ => return None,
        }
    }
    Some(sum)
}

fn add_bounds(
    when: &Cond<i64>,
    ranges: &[CoordRange],
    out: &mut Vec<Bound>,
    quotients: &mut Vec<Quotient>,
) -> Option<()> {
    let part_of = Whole::Bound(out.len());
    match when {
        Cond::Const(true) => {}
        Cond::NonNegative(form) => {
            out.push(Bound::NonNegative(sum_of(form, ranges, part_of, quotients)?));
        }
        Cond::Zero(form) => out.push(Bound::Zero(sum_of(form, ranges, part_of, quotients)?)),
        Cond::All(parts) => parts.iter().try_for_each(|part| add_bounds(part, ranges, out, quotients))?,
        Cond::Const(false) | Cond::Any(_) => return None,
    }
    Some(())
}

/// Boxes without quotients that touch what a piece touches, at most `most`; `None` if it is not so simple or if there
/// would be more.
pub(super) fn shapes(piece: &Piece, most: usize) -> Option<Vec<Shape>> {
    let mut found = Vec::with_capacity(4);
    Quasi::new(piece)?.take_apart(most, &mut found)?;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Coord, Dim, LoopId};
    use crate::footprint::linear::count_progressions;
    use crate::footprint::progression::Progression;
    use crate::footprint::{Engine, Query, count_with};
    use crate::random::Random;

    const COORDS: [Coord; 3] = [Coord::ThreadIdx(Dim::X), Coord::ThreadIdx(Dim::Y), Coord::Loop(LoopId(0))];

    fn one_of(draw: &mut Random, some: &[i64]) -> i64 {
        some[draw.below(some.len())]
    }

    /// Threads numbered in some way, and their quotients and remainders by a number, each times something.
    fn quasi(draw: &mut Random) -> Form<i64> {
        let sum = |draw: &mut Random, factors: &[i64]| {
            COORDS.iter().fold(Form::int(one_of(draw, &[0, 0, 3, -5, 70])), |sum, &coord| {
                sum.plus(&Form::coord(coord).times(&one_of(draw, factors)).unwrap()).unwrap()
            })
        };
        let mut address = sum(draw, &[0, 0, 4, -8, 400]);
        for _ in 0..=draw.below(2) {
            let number = sum(draw, &[0, 1, 1, -1, 2, 8, 16, 33]);
            let divisor = one_of(draw, &[2, 3, 4, 8, 16]);
            let parts = [number.floor_div(&divisor).unwrap(), number.remainder(&divisor).unwrap()];
            for part in parts {
                let part = part.times(&one_of(draw, &[0, 4, 16, -64, 4096])).unwrap();
                address = address.plus(&part).unwrap();
            }
        }
        address
    }

    /// What shapes without conditions touch, counted in closed form if that can.
    fn lines(piece: &Piece, shapes: &[Shape], line: i64) -> Option<u128> {
        let mut all: Vec<_> =
            shapes.iter().map(|shape| Progression::from_shape(shape, piece).unwrap()).collect();
        count_progressions(&mut all, line).ok()
    }

    #[test]
    fn quotients_taken_apart_touch_the_same() {
        let mut draw = Random::new(11);
        let (mut found, mut few) = (0, 0);
        for round in 0..2000 {
            let ranges = COORDS.map(|coord| {
                let from = one_of(&mut draw, &[0, 0, 5, -3]);
                (coord, from, from + one_of(&mut draw, &[0, 1, 6, 15, 31, 40]))
            });
            let address = quasi(&mut draw).into();
            let piece = Piece { array: 0, ranges: ranges.into(), when: None, address, width: 4 };
            let Some(shapes) = shapes(&piece, 256) else { continue };
            let Some(lines) = lines(&piece, &shapes, 32) else { continue };
            found += 1;
            few += usize::from(shapes.len() <= 9 && !piece.address.is_affine());
            let query = Query { pieces: vec![piece.clone()], line: 32 };
            let expected = count_with(&query, Engine::Enumeration).unwrap();
            assert_eq!(lines, expected, "{round}: {piece:?} {shapes:?}");
        }
        assert!(found > 1000 && few > 500, "{found} {few}");
    }

    /// The number of a thread of 16 times 16 by 16, and what is left: one box and not sixteen.
    #[test]
    fn a_whole_period_is_one_box() {
        let number = Form::coord(COORDS[0]).plus(&Form::coord(COORDS[1]).times(&16).unwrap()).unwrap();
        let rows = number.floor_div(&16).unwrap().times(&4096).unwrap();
        let address = number.remainder(&16).unwrap().times(&16).unwrap().plus(&rows).unwrap();
        let ranges = |x| vec![(COORDS[0], 0, x), (COORDS[1], 0, 15)].into();
        let piece =
            |x| Piece { array: 0, ranges: ranges(x), when: None, address: address.clone().into(), width: 16 };
        let number = |x| shapes(&piece(x), 256).unwrap().len();
        assert_eq!([15, 31, 32, 20].map(number), [1, 1, 2, 2]);
    }

    /// A place in an array that is written as one number, and conditions on its rows and planes.
    #[test]
    fn conditions_on_rows_and_planes_of_one_number_touch_the_same() {
        let mut draw = Random::new(23);
        let (mut found, mut most) = (0, 0);
        for round in 0..1000 {
            let row = one_of(&mut draw, &[7, 10, 12, 300, 1000]);
            let plane = row * one_of(&mut draw, &[3, 10, 25]);
            let number = Form::coord(COORDS[0]).plus(&Form::int(one_of(&mut draw, &[0, 0, -3, 12]))).unwrap();
            let parts = [
                number.remainder(&row).unwrap(),
                number.floor_div(&row).unwrap().remainder(&(plane / row)).unwrap(),
                number.floor_div(&plane).unwrap(),
            ];
            let mut all = Vec::new();
            for part in &parts {
                let bound = Form::int(one_of(&mut draw, &[0, 1, 2]));
                match draw.below(4) {
                    0 => all.push(Cond::non_negative(part.minus(&bound).unwrap())),
                    1 => {
                        let above = bound.plus(&Form::int(4)).unwrap();
                        all.push(Cond::non_negative(above.minus(part).unwrap()));
                    }
                    2 => all.push(Cond::zero(part.minus(&bound).unwrap())),
                    _ => {}
                }
            }
            let from = one_of(&mut draw, &[0, 5, 250, 999]);
            let ranges = [(COORDS[0], from, from + one_of(&mut draw, &[0, 40, 255, 3000]))];
            let address = match draw.below(2) {
                0 => Form::coord(COORDS[0]).times(&8).unwrap(),
                _ => parts[0].times(&8).unwrap().plus(&parts[2].times(&40_000).unwrap()).unwrap(),
            };
            let piece = Piece {
                array: 0,
                ranges: ranges.into(),
                when: (!all.is_empty()).then(|| Cond::all(all)),
                address: address.into(),
                width: 8,
            };
            let query = Query { pieces: vec![piece.clone()], line: 32 };
            let expected = count_with(&query, Engine::Enumeration).unwrap();
            if let Ok(lines) = count_with(&query, Engine::Linear) {
                found += 1;
                assert_eq!(lines, expected, "{round}: {piece:?}");
            }
            most = most.max(shapes(&piece, 256).map_or(0, |shapes| shapes.len()));
        }
        assert!(found > 950 && most > 5, "{found} {most}");
    }
}
