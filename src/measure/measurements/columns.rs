//! What the columns of a file mean.

use super::quantity::MeasuredQuantity;
use super::unit::Unit;
use crate::device::{Frequency, Quantity};
use crate::text::nearest;

/// A column, or a key of a JSON line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Column {
    Kernel,
    Variant,
    Device,
    /// A parameter of the kernel.
    Param(String),
    /// All parameters of a JSON line.
    Params,
    /// The whole block, or one extent of it.
    Block(Option<usize>),
    /// The whole fold, or one extent of it.
    Fold(Option<usize>),
    Measured(MeasuredQuantity, Unit),
    /// What the caches held when the launch began.
    Caches,
    /// The clock that the run had; its unit, if that does not stand in the cells.
    Clock(Option<String>),
    /// For people.
    Note,
}

/// What is wrong with the head of a column, a cell or a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bad {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// Columns without a unit; parameters are `param.NAME`.
const PLAIN: [&str; 15] = [
    "kernel", "variant", "device", "params", "block", "block.x", "block.y", "block.z", "fold", "fold.x",
    "fold.y", "fold.z", "caches", "clock", "note",
];

impl Column {
    /// Reads the head of a column: a name, with a unit in brackets if it is of something measured.
    pub(crate) fn parse(text: &str) -> Result<Self, Bad> {
        let (name, unit) = match text.split_once('[') {
            Some((name, rest)) => (name.trim(), rest.trim().strip_suffix(']').map(str::trim)),
            None => (text.trim(), None),
        };
        if let Some(quantity) = MeasuredQuantity::named(name) {
            return measured(quantity, unit);
        }
        if name == "clock" {
            return clock(unit);
        }
        plain(name).ok_or_else(|| unknown(text, name))
    }

    /// What may stand once only.
    pub(crate) fn name(&self) -> String {
        let of = |name: &str, axis: &Option<usize>| match axis {
            Some(axis) => format!("{name}.{}", ["x", "y", "z"][*axis]),
            None => name.to_owned(),
        };
        match self {
            Column::Kernel => "kernel".to_owned(),
            Column::Variant => "variant".to_owned(),
            Column::Device => "device".to_owned(),
            Column::Param(name) => format!("param.{name}"),
            Column::Params => "params".to_owned(),
            Column::Block(axis) => of("block", axis),
            Column::Fold(axis) => of("fold", axis),
            // The same quantity may be known of the launch in some rows and per work item in others.
            Column::Measured(quantity, unit) => format!("{} {:?}", quantity.name(), unit.per),
            Column::Caches => "caches".to_owned(),
            Column::Clock(_) => "clock".to_owned(),
            Column::Note => "note".to_owned(),
        }
    }
}

fn measured(quantity: MeasuredQuantity, unit: Option<&str>) -> Result<Column, Bad> {
    let name = quantity.name();
    let Some(text) = unit else {
        return Err(Bad {
            code: "missing-unit",
            message: format!("`{name}` has no unit"),
            help: Some(format!("write `{name} [UNIT]`: {}", Unit::known(quantity))),
        });
    };
    let unit = Unit::parse(text, quantity).ok_or_else(|| Bad {
        code: "unknown-unit",
        message: format!("`{text}` is no unit of `{name}`"),
        help: Some(Unit::known(quantity).to_owned()),
    })?;
    Ok(Column::Measured(quantity, unit))
}

fn clock(unit: Option<&str>) -> Result<Column, Bad> {
    let known = |unit: &str| Frequency::parse(&format!("1 {unit}")).is_some();
    match unit.filter(|unit| !known(unit)) {
        Some(unit) => Err(Bad {
            code: "unknown-unit",
            message: format!("`{unit}` is no unit of `clock`"),
            help: Some("Hz, kHz, MHz or GHz".to_owned()),
        }),
        None => Ok(Column::Clock(unit.map(str::to_owned))),
    }
}

fn plain(name: &str) -> Option<Column> {
    let axis = |text: &str| ["x", "y", "z"].into_iter().position(|a| a == text);
    Some(match name {
        "kernel" => Column::Kernel,
        "variant" => Column::Variant,
        "device" => Column::Device,
        "params" => Column::Params,
        "block" => Column::Block(None),
        "fold" => Column::Fold(None),
        "caches" => Column::Caches,
        "note" => Column::Note,
        _ => match name.split_once('.')? {
            ("param", of) if !of.is_empty() => Column::Param(of.to_owned()),
            ("block", of) => Column::Block(Some(axis(of)?)),
            ("fold", of) => Column::Fold(Some(axis(of)?)),
            ("note", _) => Column::Note,
            _ => return None,
        },
    })
}

fn unknown(text: &str, name: &str) -> Bad {
    let names = PLAIN.into_iter().chain(MeasuredQuantity::ALL.map(MeasuredQuantity::name));
    let help = match (unit_in_name(name), nearest(name, names)) {
        (Some(help), _) => help,
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => {
            "a parameter of the kernel is `param.NAME`; a column for people is `note.NAME`".to_owned()
        }
    };
    Bad { code: "unknown-column", message: format!("unknown column `{text}`"), help: Some(help) }
}

/// What to write where a name ends as many tools end theirs, `time_us` or `time(ms)`.
fn unit_in_name(name: &str) -> Option<String> {
    let of = |q: &MeasuredQuantity| {
        name.strip_prefix(q.name()).filter(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let (quantity, rest) = MeasuredQuantity::ALL.iter().find_map(|q| Some((*q, of(q)?)))?;
    let name = quantity.name();
    let unit = rest.trim_matches(|c: char| !c.is_alphanumeric());
    let unit = if unit == "bytes" { "B" } else { unit };
    Some(match Unit::parse(unit, quantity) {
        Some(_) => format!("write `{name} [{unit}]`"),
        None => format!("write `{name} [UNIT]`: {}", Unit::known(quantity)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_mean_columns() {
        assert_eq!(Column::parse(" kernel "), Ok(Column::Kernel));
        assert_eq!(Column::parse("param.NX"), Ok(Column::Param("NX".to_owned())));
        assert_eq!(Column::parse("block.y"), Ok(Column::Block(Some(1))));
        assert_eq!(Column::parse("note.who"), Ok(Column::Note));
        let time = Column::parse("time [ms]").unwrap();
        assert!(
            matches!(time, Column::Measured(MeasuredQuantity::Time, unit) if (unit.factor - 1e-3).abs() < 1e-12)
        );
    }

    #[test]
    fn wrong_heads_are_named() {
        let code = |text: &str| Column::parse(text).map_err(|r| (r.code, r.help.unwrap_or_default()));
        for (text, expected, help) in [
            ("time", "missing-unit", "time [UNIT]"),
            ("time [us", "missing-unit", "ns"),
            ("dram_load [GB/s]", "unknown-unit", "B/item"),
            ("dram_laod [B]", "unknown-column", "did you mean `dram_load`?"),
            ("NX", "unknown-column", "param.NAME"),
            ("block.w", "unknown-column", "did you mean `block.x`?"),
            ("time_us", "unknown-column", "write `time [us]`"),
            ("time (ms)", "unknown-column", "write `time [ms]`"),
            ("time_mean", "unknown-column", "write `time [UNIT]`"),
            ("dram_load_bytes", "unknown-column", "write `dram_load [B]`"),
            ("l2_load_sectors", "unknown-column", "write `l2_load [UNIT]`"),
        ] {
            let (found, said) = code(text).unwrap_err();
            assert!(found == expected && said.contains(help), "{text}: {found}, {said}");
        }
    }
}
