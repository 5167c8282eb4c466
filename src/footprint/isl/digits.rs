//! Line numbers as digits: (plane, row, line in the row) in the place of one number.
//!
//! For radices that are multiples of a line, l = plane * P + row * R + line is a one-to-one renaming of
//! lines, whatever the radices are. With those that occur as strides, each variable of a box becomes a
//! digit of its own, and isl has nothing to search for when it projects the variables out.

use super::image::Image;
use crate::expr::{Form, Term};

/// Most places that are tried as the beginning of rows.
const MOST_ORIGINS: usize = 32;

/// Radices in bytes, the largest first, each a multiple of the next and the last of a line.
#[derive(Debug, Default)]
pub(super) struct Digits {
    radices: Vec<i64>,
    /// Added to each address, a multiple of a line.
    origin: i64,
}

/// An interval of bytes in digits.
pub(super) struct InDigits {
    /// The digit of each radix.
    pub(super) leading: Vec<Form<i64>>,
    /// First and last byte behind them.
    pub(super) low: Form<i64>,
    pub(super) high: Form<i64>,
}

impl Digits {
    /// The most digits in which all intervals can be written.
    pub(super) fn new(images: &[Image<'_>], line: i64) -> Self {
        let all = radices(images, line);
        let whole_lines = |bytes: i64| bytes.div_euclid(line).checked_mul(-line);
        let starts = images.iter().filter_map(|i| interval(i, &i.low)).map(|i| i.0);
        let lowest = starts.clone().min().unwrap_or(0);
        for skip in 0..all.len() {
            // Rows may begin anywhere between two multiples of the radix: where an interval does.
            let begins = starts.clone().map(|start| start.rem_euclid(all[all.len() - 1]));
            let mut origins: Vec<i64> = begins.chain([0, lowest]).filter_map(whole_lines).collect();
            origins.sort_unstable();
            origins.dedup();
            for origin in origins.into_iter().rev().take(MOST_ORIGINS) {
                let digits = Self { radices: all[skip..].to_vec(), origin };
                if images.iter().all(|i| digits.write(i).is_some()) {
                    return digits;
                }
            }
        }
        Self::default()
    }

    /// An interval in digits; `None` if it lies across a multiple of a radix for some points.
    pub(super) fn write(&self, image: &Image<'_>) -> Option<InDigits> {
        let shifted = |form: &Form<i64>| form.plus(&Form::int(self.origin)).ok();
        let (mut low, mut high) = (shifted(&image.low)?, shifted(&image.high)?);
        let mut leading = Vec::with_capacity(self.radices.len());
        for &radix in &self.radices {
            let multiples = low.terms().iter().filter(|t| t.1 % radix == 0);
            let terms = multiples.map(|(term, c)| Form::term(term.clone()).times(&(c / radix)));
            let mut digit = Form::total(terms.collect::<Result<_, _>>().ok()?).ok()?;
            let without = |form: &Form<i64>| form.minus(&digit.times(&radix).ok()?).ok();
            let (first, last) = (interval(image, &without(&low)?)?.0, interval(image, &without(&high)?)?.1);
            if first.div_euclid(radix) != last.div_euclid(radix) {
                return None;
            }
            digit = digit.plus(&Form::int(first.div_euclid(radix))).ok()?;
            let behind = |form: &Form<i64>| form.minus(&digit.times(&radix).ok()?).ok();
            (low, high) = (behind(&low)?, behind(&high)?);
            leading.push(digit);
        }
        Some(InDigits { leading, low, high })
    }

    /// Number of digits before the line.
    pub(super) fn count(&self) -> usize {
        self.radices.len()
    }
}

fn interval(image: &Image<'_>, form: &Form<i64>) -> Option<(i64, i64)> {
    form.interval(&|c| image.ranges.iter().find(|r| r.0 == c).map(|r| (r.1, r.2)))
}

/// The strides that are multiples of a line and of each other, the largest first.
fn radices(images: &[Image<'_>], line: i64) -> Vec<i64> {
    let of = |image: &Image<'_>| {
        let coords = image.low.terms().iter().filter(|t| matches!(t.0, Term::Coord(_)));
        coords.filter_map(|t| t.1.checked_abs()).collect::<Vec<_>>()
    };
    let mut strides: Vec<i64> = images.iter().flat_map(of).collect();
    strides.sort_unstable();
    let mut kept = vec![line];
    for stride in strides {
        if kept.last().is_some_and(|&below| stride > below && stride % below == 0) {
            kept.push(stride);
        }
    }
    kept.remove(0);
    kept.reverse();
    kept
}
