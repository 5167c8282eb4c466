//! Numbers as a person reads them.

use std::fmt::Display;

use crate::quantity::{Amount, Bytes, ItemsPerSecond, Seconds, Share};

/// An integer with its digits in groups of three.
pub(super) fn grouped(n: impl ToString + Copy) -> String {
    let text = n.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let mut out = sign.to_owned();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in a binary unit with four significant digits.
pub(super) fn bytes(n: i64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let exact = value.fract() == 0.0;
    if exact { format!("{value} {}", UNITS[unit]) } else { format!("{} {}", four_digits(value), UNITS[unit]) }
}

/// Four significant digits of less than a thousand.
fn four_digits(value: f64) -> String {
    let digits = if value >= 100.0 {
        1
    } else if value >= 10.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

/// Extents as `640 x 512`.
pub(super) fn extents<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(" x ")
}

/// `1 load`, `2 loads`.
pub(super) fn counted(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// The power of ten in which rates are said.
#[derive(Debug, Clone, Copy)]
pub(super) struct RateScale {
    power: f64,
    prefix: &'static str,
    in_words: &'static str,
}

impl RateScale {
    const ALL: [Self; 4] = [
        Self { power: 1e9, prefix: "G", in_words: "10^9 " },
        Self { power: 1e6, prefix: "M", in_words: "10^6 " },
        Self { power: 1e3, prefix: "k", in_words: "10^3 " },
        Self { power: 1.0, prefix: "", in_words: "" },
    ];

    /// The one in which the fastest of some is no less than 1.
    pub(super) fn fitting(rates: impl IntoIterator<Item = ItemsPerSecond>) -> Self {
        let most = rates.into_iter().map(ItemsPerSecond::get).fold(0.0, f64::max);
        let last = Self::ALL[Self::ALL.len() - 1];
        Self::ALL.into_iter().find(|scale| most >= scale.power).unwrap_or(last)
    }

    /// A rate with four significant digits.
    pub(super) fn number(self, rate: Option<ItemsPerSecond>) -> String {
        digits_of(rate.map(|rate| rate.get() / self.power))
    }

    /// With its unit, as `15.63 Gword/s`.
    pub(super) fn with_unit(self, rate: ItemsPerSecond, unit: &str) -> String {
        format!("{} {}{unit}/s", self.number(Some(rate)), self.prefix)
    }

    /// The unit, as `10^9 word/s`.
    pub(super) fn unit(self, unit: &str) -> String {
        format!("{}{unit}/s", self.in_words)
    }
}

/// A rate in 10^9 per second with four significant digits.
pub(super) fn giga(rate: Option<ItemsPerSecond>) -> String {
    digits_of(rate.map(|rate| rate.get() / 1e9))
}

fn digits_of(rate: Option<f64>) -> String {
    let Some(rate) = rate else { return "-".to_owned() };
    let digits = if rate >= 1000.0 {
        0
    } else if rate >= 100.0 {
        1
    } else if rate >= 10.0 {
        2
    } else {
        3
    };
    format!("{rate:.digits$}")
}

/// Two digits after the point.
pub(super) fn two(n: impl Display) -> String {
    format!("{n:.2}")
}

/// A share in whole percent.
pub(super) fn percent(share: Share) -> String {
    format!("{:.0}%", share.get() * 100.0)
}

/// Bytes in a binary unit, rounded to whole ones.
#[allow(clippy::cast_possible_truncation)] // Rounded; what is too large for the type stays its largest.
pub(super) fn size<Per>(n: Bytes<Per>) -> String {
    bytes(n.get().round() as i64)
}

/// An amount in a cell of a table for programs.
pub(super) fn number<Unit, Per>(n: Amount<Unit, Per>) -> String {
    significant(n.get())
}

/// The same, empty where there is none.
pub(super) fn any_number<Unit, Per>(n: Option<Amount<Unit, Per>>) -> String {
    n.map_or_else(String::new, number)
}

/// Extents along x, y, z.
pub(super) fn shape(extents: impl std::fmt::Display) -> String {
    extents.to_string()
}

/// Six significant digits, without an exponent where that is short.
pub(super) fn significant(n: f64) -> String {
    let rounded: f64 = format!("{n:.5e}").parse().unwrap_or(n);
    if rounded != 0.0 && !(1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

/// A time in a unit that suits it.
pub(super) fn seconds(time: Seconds) -> String {
    let s = time.get();
    if s >= 1.0 {
        format!("{s:.3} s")
    } else if s >= 1e-3 {
        format!("{:.3} ms", s * 1e3)
    } else {
        format!("{:.2} us", s * 1e6)
    }
}

/// Words, broken into lines of a width.
pub(super) fn wrapped<'w>(words: impl Iterator<Item = &'w str>, width: usize) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for word in words {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            out.push('\n');
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(-1_234_567), "-1,234,567");
        assert_eq!(bytes(1_342_177_280), "1.250 GiB");
        assert_eq!(bytes(4096), "4 KiB");
        assert_eq!(bytes(i64::MAX), "8 EiB");
        assert_eq!(counted(1, "load"), "1 load");
        assert_eq!(counted(1200, "load"), "1,200 loads");
    }
}
