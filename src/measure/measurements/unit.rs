//! Units, as column heads name them in brackets.

use super::quantity::{Kind, MeasuredQuantity};
use super::row::Per;

/// A unit: how many of the base unit it is, and of what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// How many bytes, seconds, work items per second, or of a count.
    pub(crate) factor: f64,
    /// Of a launch or of a work item.
    pub(crate) per: Per,
}

/// Names of what one thread of a kernel works on: of lattices and stencils often LUP, lattice update.
const ITEMS: [&str; 2] = ["item", "LUP"];

const DECIMAL: [(&str, f64); 5] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
const BINARY: [(&str, f64); 4] =
    [("Ki", 1024.0), ("Mi", 1_048_576.0), ("Gi", 1_073_741_824.0), ("Ti", 1_099_511_627_776.0)];
const TIMES: [(&str, f64); 5] = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9)];

impl Unit {
    /// Reads a unit of a quantity.
    pub(crate) fn parse(text: &str, quantity: MeasuredQuantity) -> Option<Self> {
        let text = text.trim();
        let (base, of_item) = match text.split_once('/') {
            Some((base, per)) if ITEMS.contains(&per.trim()) => (base.trim(), true),
            Some(_) if quantity.kind() != Kind::Rate => return None,
            _ => (text, false),
        };
        let per = if of_item { Per::Item } else { Per::Launch };
        let unit = |factor: f64| Unit { factor, per };
        match quantity.kind() {
            Kind::Bytes => scaled(base, "B", DECIMAL.iter().chain(&BINARY)).map(unit),
            Kind::Count if quantity == MeasuredQuantity::Cycles && of_item => None,
            Kind::Count => scaled(base, "1", &DECIMAL[..1]).map(unit),
            Kind::Time if !of_item => TIMES.iter().find(|t| t.0 == base).map(|t| unit(t.1)),
            Kind::Rate => {
                let per_second = base.strip_suffix("/s")?;
                ITEMS.iter().find_map(|item| scaled(per_second, item, &DECIMAL)).map(unit)
            }
            Kind::Time => None,
        }
    }

    /// Units of a quantity as an error names them.
    pub(crate) fn known(quantity: MeasuredQuantity) -> &'static str {
        match quantity.kind() {
            Kind::Bytes => "B/item for bytes per work item; B, kB, MB, GB, KiB, MiB or GiB of the launch",
            Kind::Count if quantity == MeasuredQuantity::Cycles => "1",
            Kind::Count => "1/item, or 1 for the whole launch",
            Kind::Time => "s, ms, us or ns",
            Kind::Rate => "item/s, Mitem/s, Gitem/s or GLUP/s",
        }
    }
}

/// A unit with a prefix.
fn scaled<'a>(text: &str, unit: &str, prefixes: impl IntoIterator<Item = &'a (&'a str, f64)>) -> Option<f64> {
    let prefix = text.strip_suffix(unit)?;
    prefixes.into_iter().find(|p| p.0 == prefix).map(|p| p.1)
}

/// How a quantity is written: in base units.
pub(super) fn written(quantity: MeasuredQuantity, per: Per) -> &'static str {
    match (quantity.kind(), per) {
        (Kind::Bytes, Per::Item) => "B/item",
        (Kind::Bytes, Per::Launch) => "B",
        (Kind::Count, Per::Item) => "1/item",
        (Kind::Count, Per::Launch) => "1",
        (Kind::Time, _) => "s",
        (Kind::Rate, _) => "item/s",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::float_cmp)] // Powers of ten and of two, written the same way.
    fn units_have_factors() {
        let of = |text, quantity| Unit::parse(text, quantity).map(|u| (u.factor, u.per));
        assert_eq!(of("B/item", MeasuredQuantity::L2Load), Some((1.0, Per::Item)));
        assert_eq!(of("KiB / LUP", MeasuredQuantity::L2Load), Some((1024.0, Per::Item)));
        assert_eq!(of("GB", MeasuredQuantity::DramLoad), Some((1e9, Per::Launch)));
        assert_eq!(of("1", MeasuredQuantity::Cycles), Some((1.0, Per::Launch)));
        assert_eq!(of("1/item", MeasuredQuantity::L1Wavefronts), Some((1.0, Per::Item)));
        assert_eq!(of("us", MeasuredQuantity::Time), Some((1e-6, Per::Launch)));
        assert_eq!(of("GLUP/s", MeasuredQuantity::Rate), Some((1e9, Per::Launch)));
        for (text, quantity) in [
            ("GB/s", MeasuredQuantity::DramLoad),
            ("b", MeasuredQuantity::DramLoad),
            ("1/item", MeasuredQuantity::Cycles),
            ("us/item", MeasuredQuantity::Time),
            ("s", MeasuredQuantity::Rate),
            ("item", MeasuredQuantity::Rate),
            ("", MeasuredQuantity::Time),
        ] {
            assert_eq!(of(text, quantity), None, "{text}");
        }
        for quantity in MeasuredQuantity::ALL {
            for per in [Per::Item, Per::Launch] {
                let unit = Unit::parse(written(quantity, per), quantity).map(|u| u.factor);
                let none = per == Per::Item && quantity == MeasuredQuantity::Cycles;
                assert_eq!(unit, (!none).then_some(1.0), "{quantity:?} {per:?}");
            }
        }
    }
}
