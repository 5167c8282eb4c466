//! Set files as they are written: which rows of a table are launches of which kernel, and what was measured.

#[cfg(test)]
use std::borrow::Cow;

#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::condition::Test;
use crate::text::{Decode, Decoder, Named, Node, Scalar, Span, Spanned, Value, record};

record! {
    /// A set of measured launches: a table, and what its columns mean.
    pub struct SetDocument, "the set file" {
        /// A short name.
        id: Spanned<String> [required: "a short name, for example `id: blur`"],
        /// What was measured, in a line.
        about: String,
        /// Where the data come from.
        source: String,
        /// Their licence.
        licence: String,
        /// The table: comma-separated values with a head, also packed; as seen from --data, or from this file.
        data: Spanned<String> [required: "the table, for example `data: blur.csv`"],
        /// One launch for each of several columns, where a row has several.
        each: EachDocument,
        /// Further columns, each of those before: a formula, the first of several that is not empty, or what stands for
        /// the cells of another column.
        columns: Named<FurtherColumn>,
        /// The rows to take: what the cells of some columns are.
        r#where: Named<Test>,
        /// The rows to take: a condition on columns.
        when: CellFormula,
        /// Columns whose empty cells are filled from other rows of the table.
        borrow: Named<BorrowDocument>,
        /// The device: an id or a file, or a column.
        device: NameOrColumn [required: "for example `device: v100`, or by a column: \
            `device: {column: gpu, names: {V100: v100}}`"],
        /// The clock of the measurements: `1.87 GHz`, a formula in Hz, or {fitted: true}.
        clock: ClockDocument,
        /// The kernel: a name or a file, or a column.
        kernel: NameOrColumn [required: "a kernel document, for example `kernel: blur.kernel.yaml`"],
        /// Its variant, if it has several.
        variant: NameOrColumn,
        /// Parameters of the kernel, each as a column or a formula.
        params: Named<CellFormula>,
        /// How it was launched.
        launch: LaunchColumns [required: "columns or formulas, for example \
            `launch: {block: [block_x, block_y], registers: registers}`"],
        /// What was measured: a quantity with its unit, as the heads of measurement files, and a column or formula.
        measured: Named<CellFormula> [required: "quantities with their unit, and columns or formulas: \
            `measured: {\"time [ms]\": time_ms}`"],
        /// Times are compared per so many of these, for example time steps of a launch.
        per: CellFormula,
        /// Instructions that a thread issues for a work item, by class, as columns or formulas.
        instructions: Named<CellFormula>,
        /// What the caches held when launches began: `warm`, `cold` or `empty`.
        caches: Spanned<String>,
        /// Only some of the rows, drawn by chance.
        sample: SampleDocument,
        /// The columns that make a configuration: rows that agree in them are repetitions.
        config: Many<Spanned<String>>,
        /// Columns by which scores are kept apart.
        group: Many<Spanned<String>>,
        /// Columns that tell problems apart: only configurations of one problem are alternatives to each other.
        problem: Many<Spanned<String>>,
        /// Further scores, of the rows for which a condition holds.
        parts: Named<Named<Test>>,
        /// The usual choice, which the first choice is compared with.
        fixed: Named<Test>,
    }
}

record! {
    /// One launch for each of several columns of a row.
    pub struct EachDocument, "`each`" {
        /// The columns, each with the cells of new columns that stand for it.
        columns: Named<Named<Spanned<String>>> [required: "for example `columns: {read_GBps: {what: read, bytes: 8}}`"],
        /// The new column with the cells themselves.
        value: Spanned<String> [required: "the new column that holds the cell, for example `value: rate`"],
    }
}

record! {
    /// Where cells come from that are empty.
    pub struct BorrowDocument, "`borrow`" {
        /// The rows that have them.
        r#where: Named<Test>,
        /// Lists of columns in which the rows have to agree, the best first. Of several rows the median counts.
        same: Vec<Many<Spanned<String>>> [required: "for example `same: [[bx, by, tile], [tile]]`, the best first"],
        /// What holds where no row agrees.
        otherwise: f64,
    }
}

record! {
    /// How a row was launched.
    pub struct LaunchColumns, "`launch`" {
        /// Threads of a block along x, y, z, or a column with texts such as 32x8.
        block: Many<CellFormula> [required: "columns or formulas along x, y, z, for example \
            `block: [block_x, block_y]`"],
        /// Work items of a thread along x, y, z.
        fold: Many<CellFormula>,
        /// Blocks of the grid along x, y, z, instead of those of the kernel.
        grid: Many<CellFormula>,
        /// Registers of a thread, instead of those of the kernel.
        registers: CellFormula,
        /// Bytes of shared memory of a block, instead of those of the kernel.
        shared: CellFormula,
    }
}

record! {
    /// How many rows are looked at.
    pub struct SampleDocument, "`sample`" {
        /// At most so many configurations of each group and part.
        rows: i64 [required: "for example `sample: {rows: 500, seed: 1}`"],
        /// Another seed draws others.
        seed: i64,
    }
}

/// A column, a number, or a formula of columns.
#[derive(Debug, Clone)]
pub struct CellFormula {
    /// What is written.
    pub scalar: Scalar,
    /// Where it stands.
    pub span: Span,
}

impl Decode for CellFormula {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        let scalar = decoder.scalar(node, "a column, a number or a formula of columns")?.clone();
        Some(Self { scalar, span: node.span })
    }
}

#[cfg(test)]
impl JsonSchema for CellFormula {
    fn schema_name() -> Cow<'static, str> {
        "ColumnFormula".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A column, a number, or a formula of columns in grammar/expression.ebnf.",
            "type": ["number", "string"]
        })
    }
}

/// One value or a list of them.
#[derive(Debug, Clone, Default)]
pub struct Many<T>(pub Vec<T>);

impl<T: Decode> Decode for Many<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match &node.value {
            Value::List(_) => Vec::decode(node, decoder).map(Many),
            _ => T::decode(node, decoder).map(|one| Many(vec![one])),
        }
    }
}

#[cfg(test)]
impl<T: JsonSchema> JsonSchema for Many<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrSeveral_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({"anyOf": [one, {"type": "array", "items": one}]})
    }

    fn inline_schema() -> bool {
        true
    }
}

/// A name for all rows, or a column with what its cells mean.
#[derive(Debug, Clone)]
pub enum NameOrColumn {
    /// The same for all rows.
    All(Spanned<String>),
    /// What a cell says.
    Column(ColumnChoice),
}

record! {
    /// A column and what its cells stand for.
    pub struct ColumnChoice, "a choice by a column" {
        /// The column.
        column: Spanned<String> [required: "the column, for example `{column: gpu, names: {V100: v100}}`"],
        /// What stands for each cell; a cell stands for itself where nothing is named.
        names: Named<Spanned<String>>,
        /// What stands for all others.
        otherwise: Spanned<String>,
    }
}

/// A further column.
#[derive(Debug, Clone)]
pub enum FurtherColumn {
    /// The first of these that is not empty.
    First(Vec<CellFormula>),
    /// What stands for the cells of another column; nothing for those that are not named.
    Column(ColumnChoice),
}

impl Decode for FurtherColumn {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match &node.value {
            Value::Map(_) => ColumnChoice::decode(node, decoder).map(FurtherColumn::Column),
            _ => Many::decode(node, decoder).map(|Many(formulas)| FurtherColumn::First(formulas)),
        }
    }
}

#[cfg(test)]
impl JsonSchema for FurtherColumn {
    fn schema_name() -> Cow<'static, str> {
        "FurtherColumn".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let first = generator.subschema_for::<Many<CellFormula>>();
        let by = generator.subschema_for::<ColumnChoice>();
        json_schema!({"anyOf": [first, by]})
    }
}

impl Decode for NameOrColumn {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        if let Value::Map(_) = &node.value {
            return ColumnChoice::decode(node, decoder).map(NameOrColumn::Column);
        }
        Spanned::decode(node, decoder).map(NameOrColumn::All)
    }
}

#[cfg(test)]
impl JsonSchema for NameOrColumn {
    fn schema_name() -> Cow<'static, str> {
        "Choice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let by = generator.subschema_for::<ColumnChoice>();
        json_schema!({"anyOf": [{"type": "string"}, by]})
    }
}

/// The clock of the measurements.
#[derive(Debug, Clone)]
pub enum ClockDocument {
    /// `1.87 GHz`, or a formula in Hz.
    Given(CellFormula),
    /// Not known.
    Unknown(UnknownClock),
}

record! {
    /// A clock that nobody wrote down.
    pub struct UnknownClock, "`clock`" {
        /// Whether one factor on all predicted times is fitted.
        fitted: bool [required: "for example `clock: {fitted: true}`"],
    }
}

impl Decode for ClockDocument {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        if let Value::Map(_) = &node.value {
            return UnknownClock::decode(node, decoder).map(ClockDocument::Unknown);
        }
        CellFormula::decode(node, decoder).map(ClockDocument::Given)
    }
}

#[cfg(test)]
impl JsonSchema for ClockDocument {
    fn schema_name() -> Cow<'static, str> {
        "Clock".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let fitted = generator.subschema_for::<UnknownClock>();
        json_schema!({"anyOf": [{"type": "string"}, fitted]})
    }
}
