//! Numbers with units: parsing, and writing in the largest unit that stays exact.

use std::fmt;

/// A kind of number with its own units.
pub trait Quantity: Sized + fmt::Display {
    /// An example for messages.
    const EXAMPLE: &'static str;

    /// Reads a number with its unit; `None` if it is none of this kind.
    fn parse(text: &str) -> Option<Self>;

    /// Its units; none of a plain number.
    const UNITS: &'static [&'static str] = &[];

    /// What a number of this kind must be, where 0 is none.
    const LEAST: Option<&'static str> = None;

    /// The number, if it has no unit.
    fn plain(&self) -> Option<u64> {
        None
    }

    /// Whether it is so, if that is all it says.
    fn flag(&self) -> Option<bool> {
        None
    }
}

/// Splits `40 MiB` or `40MiB` into number and unit.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !(c.is_ascii_digit() || "+-._".contains(c) || is_exponent(text, c)));
    let (number, unit) = text.split_at(unit_at.unwrap_or(text.len()));
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some((number, unit.trim()))
}

/// Whether a text is the number 0, of whatever unit.
pub(super) fn is_zero(text: &str) -> bool {
    split(text).is_some_and(|(number, _)| number <= 0.0)
}

/// Whether `c` is the `e` of a number such as 1e9 (and not of a unit).
fn is_exponent(text: &str, c: char) -> bool {
    (c == 'e' || c == 'E')
        && text.split_once(c).is_some_and(|(before, after)| {
            before.ends_with(|d: char| d.is_ascii_digit())
                && after.trim_start_matches(['+', '-']).starts_with(|d: char| d.is_ascii_digit())
        })
}

/// A count or bytes of a device as a number that others can be taken from.
pub(crate) fn signed(n: u64) -> i64 {
    i64::try_from(n).expect("numbers of devices are below 2^63 where they are read")
}

/// The factor of a unit in a table.
fn factor(unit: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find(|u| u.0 == unit).map(|u| u.1)
}

/// The largest unit in which a value is a short decimal.
fn write_in(f: &mut fmt::Formatter<'_>, value: f64, units: &[(&str, f64)]) -> fmt::Result {
    let short = |v: f64| v >= 1.0 && ((v * 1000.0).round() - v * 1000.0).abs() < 1e-6 * v.max(1.0);
    let best = units.iter().rev().find(|u| short(value / u.1)).or(units.first());
    match best {
        Some(&(unit, factor)) => write!(f, "{} {unit}", value / factor),
        None => write!(f, "{value}"),
    }
}

const BYTE_UNITS: [(&str, f64); 7] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("KiB", 1024.0),
    ("MB", 1e6),
    ("MiB", 1_048_576.0),
    ("GB", 1e9),
    ("GiB", 1_073_741_824.0),
];

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(pub u64);

impl Quantity for ByteCount {
    const EXAMPLE: &'static str = "40 MiB";
    const UNITS: &'static [&'static str] = &["B", "kB", "KiB", "MB", "MiB", "GB", "GiB"];

    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let bytes = number * factor(unit, &BYTE_UNITS)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "integral, positive, below 2^63"
        )]
        (bytes.fract() == 0.0 && bytes < 9.2e18).then_some(ByteCount(bytes as u64))
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = [BYTE_UNITS[0], BYTE_UNITS[2], BYTE_UNITS[4], BYTE_UNITS[6]];
        let decimal = [BYTE_UNITS[1], BYTE_UNITS[3], BYTE_UNITS[5]];
        let value = self.0 as f64;
        // 141 GB is no short number of GiB: each value in the family in which it was made.
        let whole = |units: &[(&str, f64)]| {
            units.iter().rev().any(|u| u.1 > 1.0 && value >= u.1 && value % u.1 == 0.0)
        };
        if whole(&binary) || !whole(&decimal) {
            write_in(f, value, &binary)
        } else {
            write_in(f, value, &decimal)
        }
    }
}

/// A number of bytes of something that is there: a line without bytes cannot be loaded, a cache without
/// bytes has no hit rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

impl Quantity for Size {
    const EXAMPLE: &'static str = ByteCount::EXAMPLE;
    const UNITS: &'static [&'static str] = ByteCount::UNITS;
    const LEAST: Option<&'static str> = Some("at least 1 B");

    fn parse(text: &str) -> Option<Self> {
        ByteCount::parse(text).filter(|b| b.0 > 0).map(|b| Self(b.0))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ByteCount(self.0).fmt(f)
    }
}

const FREQUENCY_UNITS: [(&str, f64); 4] = [("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];

const RATE_UNITS: [(&str, f64); 5] =
    [("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)];

const TIME_UNITS: [(&str, f64); 4] = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// Declares a positive real number with units.
macro_rules! real {
    ($(#[$attribute:meta])* $name:ident, $example:literal, $names:expr, $units:expr, $write:expr) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl Quantity for $name {
            const EXAMPLE: &'static str = $example;
            const UNITS: &'static [&'static str] = &$names;
            const LEAST: Option<&'static str> = Some("more than 0");

            fn parse(text: &str) -> Option<Self> {
                let (number, unit) = split(text)?;
                let value = number * factor(unit, &$units)?;
                (value > 0.0 && value.is_finite()).then_some(Self(value))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_in(f, self.0, &$write)
            }
        }
    };
}

real! {
    /// Cycles per second.
    Frequency, "1.41 GHz", ["Hz", "kHz", "MHz", "GHz"], FREQUENCY_UNITS, FREQUENCY_UNITS
}

real! {
    /// Bytes per second.
    Rate, "1400 GB/s", ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"], RATE_UNITS, [("GB/s", 1e9)]
}

real! {
    /// Seconds.
    Duration, "2.5 us", ["ns", "us", "ms", "s"], TIME_UNITS, [("ns", 1e-9), ("us", 1e-6), ("s", 1.0)]
}

real! {
    /// Bytes per clock cycle.
    PerCycle, "128 B/cycle", ["B/cycle"], [("B/cycle", 1.0)], [("B/cycle", 1.0)]
}

real! {
    /// Clock cycles.
    CycleCount, "200 cycles", ["cycles"], [("cycles", 1.0), ("cycle", 1.0)], [("cycles", 1.0)]
}

/// A plain positive count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count(pub u64);

impl Quantity for Count {
    const EXAMPLE: &'static str = "108";
    const LEAST: Option<&'static str> = Some("at least 1");

    fn parse(text: &str) -> Option<Self> {
        text.trim().parse().ok().filter(|&n: &u64| (1..=1 << 40).contains(&n)).map(Count)
    }

    fn plain(&self) -> Option<u64> {
        Some(self.0)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Whether something is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flag(pub bool);

impl Quantity for Flag {
    const EXAMPLE: &'static str = "true";

    fn parse(text: &str) -> Option<Self> {
        text.trim().parse().ok().map(Self)
    }

    fn flag(&self) -> Option<bool> {
        Some(self.0)
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Three extents along x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MostExtents(pub [u64; 3]);

impl Quantity for MostExtents {
    const EXAMPLE: &'static str = "[1024, 1024, 64]";

    fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<u64> = list(text).map(|t| Count::parse(t).map(|c| c.0)).collect::<Option<_>>()?;
        numbers.try_into().ok().map(MostExtents)
    }
}

impl fmt::Display for MostExtents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}, {}]", self.0[0], self.0[1], self.0[2])
    }
}

/// Several sizes in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Steps(pub Vec<ByteCount>);

impl Quantity for Steps {
    const EXAMPLE: &'static str = "[0 KiB, 8 KiB, 16 KiB]";

    fn parse(text: &str) -> Option<Self> {
        let steps: Vec<ByteCount> = list(text).map(ByteCount::parse).collect::<Option<_>>()?;
        (!steps.is_empty() && steps.is_sorted()).then_some(Steps(steps))
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.0.iter().map(ByteCount::to_string).collect();
        write!(f, "[{}]", steps.join(", "))
    }
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.trim().trim_start_matches('[').trim_end_matches(']').split(',').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_required_and_understood() {
        assert_eq!(ByteCount::parse("40 MiB"), Some(ByteCount(40 << 20)));
        assert_eq!(ByteCount::parse("80MiB"), Some(ByteCount(80 << 20)));
        assert_eq!(ByteCount::parse("141 GB"), Some(ByteCount(141_000_000_000)));
        assert_eq!(ByteCount::parse("40"), None, "bytes of what unit?");
        assert_eq!(ByteCount::parse("0.3 B"), None);
        assert_eq!(ByteCount::parse("-1 B"), None);
        assert_eq!(Frequency::parse("1.41 GHz"), Some(Frequency(1.41e9)));
        assert_eq!(Rate::parse("1e3 GB/s"), Some(Rate(1e12)));
        assert_eq!(Rate::parse("0 GB/s"), None);
        assert_eq!(CycleCount::parse("200"), None);
        assert_eq!(Count::parse("0"), None);
        assert_eq!((Flag::parse("true"), Flag::parse("yes")), (Some(Flag(true)), None));
        assert_eq!((Size::parse("0 B"), Size::parse("1 B")), (None, Some(Size(1))));
        assert!(is_zero("0 B") && is_zero("0") && !is_zero("1 B") && !is_zero("B"));
        assert_eq!(MostExtents::parse("[1, 2]"), None);
        assert_eq!(Steps::parse("[8 KiB, 0 KiB]"), None, "not ascending");
    }

    #[test]
    fn values_are_written_as_they_are_read() {
        for text in ["40 MiB", "141 GB", "192 KiB", "0 B", "163 KiB", "1 GiB", "100 B"] {
            assert_eq!(ByteCount::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Frequency::parse("1410 MHz").unwrap().to_string(), "1.41 GHz");
        assert_eq!(Rate::parse("1555 GB/s").unwrap().to_string(), "1555 GB/s");
        assert_eq!(Duration::parse("2.6 us").unwrap().to_string(), "2.6 us");
        assert_eq!(Steps::parse("[0 B, 8 KiB]").unwrap().to_string(), "[0 B, 8 KiB]");
    }
}
