//! From cells to a row.

use super::columns::{Bad, Column};
use super::row::{MeasuredSubject, MeasuredValue, Measurements, Per};
use crate::device::NotAClock;
use crate::launch::{extents, whole};
use crate::space::{Block, Fold, Shape};
use crate::traffic::Caches;

/// Extents that a block or a fold can have.
const MOST_EXTENT: i64 = 1_048_576;

/// A row that is being read.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    subject: MeasuredSubject,
    block: Given<Block>,
    fold: Given<Fold>,
    values: Vec<MeasuredValue>,
}

/// A block or a fold as the cells of a row give it: whole or by extents.
#[derive(Debug)]
struct Given<T> {
    whole: Option<T>,
    each: [Option<i64>; 3],
    default: Option<T>,
}

impl<T> Default for Given<T> {
    fn default() -> Self {
        Self { whole: None, each: [None; 3], default: None }
    }
}

fn bad(code: &'static str, message: String, help: &str) -> Bad {
    Bad { code, message, help: Some(help.to_owned()) }
}

impl Builder {
    /// Forgets the last row.
    pub(crate) fn clear(&mut self) {
        self.subject.kernel.clear();
        self.subject.variant = None;
        self.subject.device = None;
        self.subject.params.clear();
        self.subject.caches = None;
        self.subject.clock = None;
        self.block = Given::default();
        self.fold = Given::default();
        self.values.clear();
    }

    /// Puts in what a cell says; an empty one says nothing.
    pub(crate) fn set(&mut self, column: &Column, text: &str) -> Result<(), Bad> {
        if text.is_empty() {
            return Ok(());
        }
        match column {
            Column::Kernel => text.clone_into(&mut self.subject.kernel),
            Column::Variant => self.subject.variant = Some(text.to_owned()),
            Column::Device => self.subject.device = Some(text.to_owned()),
            Column::Param(name) => return self.param(name, text),
            Column::Params => {
                return Err(bad("params", "`params` is for JSON lines".to_owned(), "write `param.NAME`"));
            }
            Column::Block(None) => self.block.whole = Some(shape(text)?),
            Column::Fold(None) => self.fold.whole = Some(shape(text)?),
            Column::Block(Some(axis)) => return self.block.set(*axis, text),
            Column::Fold(Some(axis)) => return self.fold.set(*axis, text),
            Column::Measured(..) => {
                let number = text.parse().map_err(|_| {
                    let message = format!("`{text}` is no number");
                    bad("number", message, "write numbers as in 1234.5 or 1.2e-3")
                })?;
                return self.measured(column, number);
            }
            Column::Caches => {
                let caches = Caches::of_word(text);
                self.subject.caches = Some(caches.ok_or_else(|| {
                    let message = format!("caches cannot be `{text}`");
                    bad(
                        "caches",
                        message,
                        "warm: the launch was repeated; cold: the caches were emptied before it",
                    )
                })?);
            }
            Column::Clock(unit) => {
                let text = unit.as_ref().map_or_else(|| text.to_owned(), |unit| format!("{text} {unit}"));
                let clock = text
                    .parse()
                    .map_err(|e: NotAClock| bad("clock", e.message().to_owned(), NotAClock::HELP));
                self.subject.clock = Some(clock?);
            }
            Column::Note => {}
        }
        Ok(())
    }

    /// Puts in a block and a fold that hold where nothing else is said.
    pub(crate) fn defaults(&mut self, block: Option<&str>, fold: Option<&str>) -> Result<(), Bad> {
        self.block.default = block.map(shape).transpose()?;
        self.fold.default = fold.map(shape).transpose()?;
        Ok(())
    }

    /// Puts in the value of a parameter.
    pub(crate) fn param(&mut self, name: &str, text: &str) -> Result<(), Bad> {
        let value = whole(text).ok_or_else(|| {
            let message = format!("`{text}` is no value of the parameter `{name}`");
            bad("number", message, "parameters are integers")
        })?;
        self.subject.params.insert(name.to_owned(), value);
        Ok(())
    }

    /// Puts in a measured number.
    pub(crate) fn measured(&mut self, column: &Column, number: f64) -> Result<(), Bad> {
        let Column::Measured(quantity, unit) = column else { return Ok(()) };
        let amount = number * unit.factor;
        if !amount.is_finite() || amount < 0.0 || (quantity.is_speed() && amount <= 0.0) {
            let message = format!("{number} is no possible value of `{}`", quantity.name());
            return Err(bad("number", message, "leave the cell empty if it was not measured"));
        }
        self.values.push(MeasuredValue { quantity: *quantity, per: unit.per, amount });
        Ok(())
    }

    /// Adds the row.
    pub(crate) fn finish(&mut self, line: usize, to: &mut Measurements) -> Result<(), Bad> {
        if self.subject.kernel.is_empty() {
            return Err(bad("no-kernel", "this row names no kernel".to_owned(), "give a column `kernel`"));
        }
        let help = "give a column `block` with values such as 256x1x1, or block.x, block.y, block.z";
        let block = self.block.get("block")?;
        let block = block.ok_or_else(|| bad("no-block", "this row has no block".to_owned(), help))?;
        let fold = self.fold.get("fold")?.unwrap_or(Fold::ONE);
        if self.values.is_empty() {
            let message = "nothing was measured in this row".to_owned();
            return Err(bad("no-value", message, "leave the row out"));
        }
        let subject = to.subject(&self.subject);
        to.push(line, subject, block, fold, std::mem::take(&mut self.values));
        Ok(())
    }
}

impl<T: Shape> Given<T> {
    fn set(&mut self, axis: usize, text: &str) -> Result<(), Bad> {
        let extent = extent(text).ok_or_else(|| no_shape(text))?;
        self.each[axis] = Some(extent);
        Ok(())
    }

    fn get(&self, name: &str) -> Result<Option<T>, Bad> {
        let some = self.each.iter().any(Option::is_some);
        if some && self.whole.is_some() {
            let message = format!("`{name}` is given whole and by extents");
            return Err(bad("twice", message, "give one of them"));
        }
        Ok(if some { T::shaped(self.each.map(|e| e.unwrap_or(1))) } else { self.whole.or(self.default) })
    }
}

/// Reads a block or a fold.
pub(crate) fn shape<T: Shape>(text: &str) -> Result<T, Bad> {
    extents(text, MOST_EXTENT).ok_or_else(|| no_shape(text))
}

fn no_shape(text: &str) -> Bad {
    bad("shape", format!("`{text}` is no block or fold"), "write up to three numbers from 1, as in 256x1x2")
}

fn extent(text: &str) -> Option<i64> {
    whole(text).filter(|n| (1..=MOST_EXTENT).contains(n))
}

/// Whether a value is of the launch although the quantity is about work items.
pub(super) fn written_per(value: &MeasuredValue) -> Per {
    if value.quantity.is_speed() { Per::Launch } else { value.per }
}
