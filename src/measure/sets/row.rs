//! What a row of a table says of a launch.

use super::formula::{BadCell, Cells, Formula, Numbers};
use super::plan::{Chosen, Clock, Plan};
use super::set::{Count, SetLaunch};
use super::table::Row;
use crate::kernel::InstructionClass;
use crate::launch::{Candidate, extents};
use crate::measure::measurements::{MeasuredRow, MeasuredSubject, MeasuredValue};
use crate::sorting;
use crate::space::{Block, Fold, Grid, Shape};
use crate::text::shorten;

/// Extents that a block, a fold or a grid can have.
const MOST_EXTENT: i64 = 2_147_483_647;

/// A row that was understood.
pub(super) struct Understood {
    pub(super) launch: SetLaunch,
    pub(super) row: MeasuredRow,
    pub(super) per: f64,
}

fn bad<T>(column: Option<usize>, message: String) -> Result<T, BadCell> {
    Err(BadCell { column, formula: None, message })
}

/// The name that is chosen for a row.
pub(super) fn chosen_name(chosen: &Chosen, row: &Row<'_>) -> Result<String, BadCell> {
    let by = match chosen {
        Chosen::All(name) => return Ok(name.clone()),
        Chosen::Column(by) => by,
    };
    let cell = row.text(by.column);
    match by.name(cell) {
        Some(name) => Ok(name.to_owned()),
        None => {
            bad(Some(by.column), format!("the set file does not say what `{}` stands for", shorten(cell)))
        }
    }
}

/// The variant that a row names; none where its cell is empty and the set file does not say what that stands for.
fn variant(plan: &Plan, row: &Row<'_>) -> Result<Option<String>, BadCell> {
    match &plan.variant {
        None => Ok(None),
        Some(Chosen::Column(by))
            if row.text(by.column).is_empty() && by.name("").is_none_or(str::is_empty) =>
        {
            Ok(None)
        }
        Some(chosen) => chosen_name(chosen, row).map(Some),
    }
}

/// Understands a row.
pub(super) fn understood(plan: &Plan, row: &Row<'_>) -> Result<Understood, BadCell> {
    let mut subject = MeasuredSubject {
        kernel: chosen_name(&plan.kernel, row)?,
        variant: variant(plan, row)?,
        device: Some(chosen_name(&plan.device, row)?),
        caches: plan.caches,
        ..MeasuredSubject::default()
    };
    for (name, formula) in &plan.params {
        if let Some(value) = formula.whole(row, name)? {
            subject.params.insert(name.clone(), value);
        }
    }
    let Some(block) = shape::<Block>(&plan.block, row, "block")? else {
        return bad(plan.block.first().and_then(Formula::column), "this row has no block".to_owned());
    };
    let fold = shape::<Fold>(&plan.fold, row, "fold")?.unwrap_or(Fold::ONE);
    let grid = shape::<Grid>(&plan.grid, row, "grid")?;
    let launch = SetLaunch {
        candidate: Candidate::shaped(block, fold),
        registers: count(plan.registers.as_ref(), row, "the number of registers", 1)?,
        shared_bytes: count(plan.shared.as_ref(), row, "shared memory", 0)?,
        grid,
        clock_hz: clock(&plan.clock, row)?,
        instructions: instructions(plan, row)?,
        subject,
    };
    let per = match &plan.per {
        None => 1.0,
        Some(formula) => match formula.value(row, Numbers::Real)? {
            Some(per) if per > 0.0 => per,
            _ => return Err(formula.bad("`per` has to be a number above 0".to_owned())),
        },
    };
    let measured = MeasuredRow {
        line: row.line(),
        subject: 0,
        block,
        fold,
        values: values(plan, row)?.into_boxed_slice(),
    };
    Ok(Understood { launch, row: measured, per })
}

/// What was measured, in the order of quantities.
fn values(plan: &Plan, row: &Row<'_>) -> Result<Vec<MeasuredValue>, BadCell> {
    let mut values = Vec::new();
    for (quantity, unit, formula) in &plan.measured {
        let Some(number) = formula.value(row, Numbers::Real)? else { continue };
        let amount = number * unit.factor;
        if !amount.is_finite() || amount < 0.0 || (quantity.is_speed() && amount <= 0.0) {
            let message = format!("{number} is no possible value of `{}`", quantity.name());
            return Err(formula.bad(message));
        }
        values.push(MeasuredValue { quantity: *quantity, per: unit.per, amount });
    }
    sorting::sort_by_key(&mut values, |v| v.quantity);
    values.dedup_by_key(|v| v.quantity);
    Ok(values)
}

/// Up to three extents, or a column with texts such as 32x8; none if nothing is said.
fn shape<T: Shape>(formulas: &[Formula], row: &Row<'_>, what: &str) -> Result<Option<T>, BadCell> {
    if let [only] = formulas
        && let Some(column) = only.column()
        && row.text(column).parse::<f64>().is_err()
        && !row.text(column).is_empty()
    {
        let text = row.text(column);
        return match extents(text, MOST_EXTENT) {
            Some(shape) => Ok(Some(shape)),
            None => bad(Some(column), format!("`{}` is no {what}, as 32x8x1 is", shorten(text))),
        };
    }
    let mut found = [1; 3];
    let mut any = false;
    for (extent, formula) in found.iter_mut().zip(formulas) {
        if let Some(value) = formula.whole(row, what)? {
            if !(1..=MOST_EXTENT).contains(&value) {
                return Err(formula.bad(format!("a {what} cannot have an extent of {value}")));
            }
            (*extent, any) = (value, true);
        }
    }
    Ok(if any { T::shaped(found) } else { None })
}

/// A count of at least so many.
fn count(formula: Option<&Formula>, row: &Row<'_>, what: &str, least: i64) -> Result<Option<i64>, BadCell> {
    let Some(formula) = formula else { return Ok(None) };
    match formula.whole(row, what)? {
        Some(value) if !(least..=i64::from(u32::MAX)).contains(&value) => {
            Err(formula.bad(format!("{what} is {value}; at least {least} is possible")))
        }
        value => Ok(value),
    }
}

/// Counts of instructions per work item, as far as the row has them.
fn instructions(plan: &Plan, row: &Row<'_>) -> Result<Vec<(InstructionClass, Count)>, BadCell> {
    let mut found = Vec::new();
    for (class, formula) in &plan.instructions {
        let Some(number) = formula.value(row, Numbers::Real)? else { continue };
        match Count::new(number) {
            Some(count) => found.push((*class, count)),
            None => return Err(formula.bad(format!("a thread cannot issue {number} instructions"))),
        }
    }
    Ok(found)
}

fn clock(clock: &Clock, row: &Row<'_>) -> Result<Option<u64>, BadCell> {
    /// Clocks in Hz that a processor can have.
    const POSSIBLE: std::ops::RangeInclusive<f64> = 1e6..=1e11;
    let hertz = match clock {
        Clock::Device | Clock::Fitted => return Ok(None),
        Clock::Given(hertz) => *hertz,
        Clock::Formula(formula) => match formula.value(row, Numbers::Real)? {
            None => return Ok(None),
            Some(hertz) if POSSIBLE.contains(&hertz) => hertz,
            Some(other) => {
                let message = format!("a clock of {other} Hz is not possible; 1e9 Hz are 1 GHz");
                return Err(formula.bad(message));
            }
        },
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked above, or by its unit"
    )]
    Ok(Some(hertz.round() as u64))
}
