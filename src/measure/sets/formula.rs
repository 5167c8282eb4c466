//! Formulas of the columns of a table, in the grammar of kernels, with numbers that need not be whole.

use super::document::CellFormula;
use crate::expr::{Expr, Func, Kind, Op, parse_expression};
use crate::text::{Diagnostic, Span, nearest, shorten};

/// The names of the columns of a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns(pub(super) Vec<String>);

impl Columns {
    /// The position of a column.
    pub(super) fn find(&self, name: &str, span: Span) -> Result<usize, Diagnostic> {
        self.0.iter().position(|c| c == name).ok_or_else(|| {
            let near = nearest(name, self.0.iter().map(String::as_str));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("these are there: {}", shorten(&self.0.join(", "))),
            };
            let message = format!("the data have no column `{}`", shorten(name));
            Diagnostic::error("unknown-column", span, message).help(help)
        })
    }
}

/// The cells of a row.
pub(super) trait Cells {
    /// The text of a column.
    fn text(&self, column: usize) -> &str;

    /// The number of a column; none of an empty cell.
    fn number(&self, column: usize) -> Result<Option<f64>, BadCell> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse().ok().filter(|n: &f64| n.is_finite());
        number.map(Some).ok_or_else(|| BadCell {
            column: Some(column),
            formula: None,
            message: format!("`{}` is no number", shorten(text)),
        })
    }
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadCell {
    /// The column, if it is one.
    pub(super) column: Option<usize>,
    /// Where the formula stands in the set file, if there is one that is more than a column.
    pub(super) formula: Option<Span>,
    pub(super) message: String,
}

/// Whether numbers are integers, of which `/` makes integers, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Whole,
    Real,
}

/// A formula whose columns were found.
#[derive(Debug, Clone)]
pub(super) struct Formula {
    parsed: Parsed,
    /// Where it stands in the set file.
    span: Span,
}

#[derive(Debug, Clone)]
enum Parsed {
    Constant(f64),
    Column(usize),
    Tree(Expr, Vec<(String, usize)>),
}

impl Formula {
    /// Reads a formula of these columns.
    pub(super) fn new(written: &CellFormula, columns: &Columns) -> Result<Self, Diagnostic> {
        Ok(Self { parsed: Parsed::new(written, columns)?, span: written.span })
    }

    /// What is wrong with its value in a row: the cell is to blame where it is a column alone, else the formula.
    pub(super) fn bad(&self, message: String) -> BadCell {
        let column = self.column();
        BadCell { column, formula: Some(self.span).filter(|_| column.is_none()), message }
    }

    /// The only column of it, if it is nothing else.
    pub(super) fn column(&self) -> Option<usize> {
        match self.parsed {
            Parsed::Column(column) => Some(column),
            _ => None,
        }
    }

    /// The columns in it.
    pub(super) fn columns(&self) -> Vec<usize> {
        match &self.parsed {
            Parsed::Constant(_) => Vec::new(),
            Parsed::Column(column) => vec![*column],
            Parsed::Tree(_, names) => names.iter().map(|n| n.1).collect(),
        }
    }

    /// Its number in a row; none where a cell is empty that it takes.
    pub(super) fn value(&self, cells: &dyn Cells, numbers: Numbers) -> Result<Option<f64>, BadCell> {
        let value = match &self.parsed {
            Parsed::Constant(number) => Some(*number),
            Parsed::Column(column) => cells.number(*column)?,
            Parsed::Tree(tree, names) => evaluate(tree, &Row { cells, names, numbers })?,
        };
        match value {
            Some(number) if !number.is_finite() => Err(self.bad(
                "this row makes no number of the formula: it divides by zero or is too large".to_owned(),
            )),
            value => Ok(value),
        }
    }

    /// Its number in a row, which has to be whole.
    pub(super) fn whole(&self, cells: &dyn Cells, what: &str) -> Result<Option<i64>, BadCell> {
        let Some(value) = self.value(cells, Numbers::Whole)? else { return Ok(None) };
        // Beyond 2^53 not every integer is a float.
        if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
            #[expect(clippy::cast_possible_truncation, reason = "integral and below 2^53")]
            return Ok(Some(value as i64));
        }
        Err(self.bad(format!("{what} is {value}, which is no integer")))
    }
}

impl Parsed {
    fn new(written: &CellFormula, columns: &Columns) -> Result<Self, Diagnostic> {
        let text = written.scalar.text.as_str();
        if let Some(number) = written.scalar.as_float() {
            return Ok(Self::Constant(number));
        }
        // A column may be called as no name of the grammar can be.
        if let Some(column) = columns.0.iter().position(|c| c == text.trim()) {
            return Ok(Self::Column(column));
        }
        let tree = parse_expression(text, written.scalar.origin)?;
        let mut names = Vec::new();
        collect(&tree, columns, &mut names)?;
        Ok(Self::Tree(tree, names))
    }
}

/// The columns that an expression names.
fn collect(e: &Expr, columns: &Columns, names: &mut Vec<(String, usize)>) -> Result<(), Diagnostic> {
    match &e.kind {
        Kind::Int(_) => Ok(()),
        Kind::Name(name) => {
            if !names.iter().any(|n| n.0 == *name) {
                names.push((name.clone(), columns.find(name, e.span)?));
            }
            Ok(())
        }
        Kind::Builtin(_) | Kind::Index(..) => {
            let message = format!("`{e}` is nothing that a table has");
            Err(Diagnostic::error("formula", e.span, message).help("write columns, numbers and operators"))
        }
        Kind::Call(_, a, b) => collect(a, columns, names).and_then(|()| collect(b, columns, names)),
        Kind::Neg(inner) | Kind::Not(inner) => collect(inner, columns, names),
        Kind::Chain(first, links) => {
            collect(first, columns, names)?;
            links.iter().try_for_each(|link| collect(&link.1, columns, names))
        }
    }
}

struct Row<'a> {
    cells: &'a dyn Cells,
    names: &'a [(String, usize)],
    numbers: Numbers,
}

fn evaluate(e: &Expr, row: &Row<'_>) -> Result<Option<f64>, BadCell> {
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    Ok(match &e.kind {
        Kind::Int(n) => Some(*n as f64),
        Kind::Name(name) => {
            let known =
                row.names.iter().find(|n| n.0 == *name).expect("all names were found when it was read");
            row.cells.number(known.1)?
        }
        Kind::Builtin(_) | Kind::Index(..) => unreachable!("refused when the formula was read"),
        Kind::Call(function, a, b) => match (evaluate(a, row)?, evaluate(b, row)?) {
            (Some(a), Some(b)) => Some(match function {
                Func::Min => a.min(b),
                Func::Max => a.max(b),
            }),
            _ => None,
        },
        Kind::Neg(inner) => evaluate(inner, row)?.map(|v| -v),
        Kind::Not(inner) => evaluate(inner, row)?.map(|v| truth(v == 0.0)),
        Kind::Chain(first, links) => {
            let mut value = evaluate(first, row)?;
            for (op, operand) in links {
                let operand = evaluate(operand, row)?;
                value = value.zip(operand).map(|(a, b)| apply(*op, a, b, row.numbers));
            }
            value
        }
    })
}

#[expect(clippy::float_cmp, reason = "who compares numbers of a table for equality means it")]
fn apply(op: Op, a: f64, b: f64, numbers: Numbers) -> f64 {
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    match op {
        Op::Mul => a * b,
        Op::Div if numbers == Numbers::Whole => (a / b).floor(),
        Op::Div => a / b,
        Op::Rem => a - b * (a / b).floor(),
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Shl => a * b.exp2(),
        Op::Shr => (a / b.exp2()).floor(),
        Op::Lt => truth(a < b),
        Op::Le => truth(a <= b),
        Op::Gt => truth(a > b),
        Op::Ge => truth(a >= b),
        Op::Eq => truth(a == b),
        Op::Ne => truth(a != b),
        Op::And => truth(a != 0.0 && b != 0.0),
        Op::Or => truth(a != 0.0 || b != 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Bounds, Decode, Decoder, FileId, parse_stream};

    struct Texts(Vec<&'static str>);

    impl Cells for Texts {
        fn text(&self, column: usize) -> &str {
            self.0[column]
        }
    }

    fn formula(text: &str) -> Result<Formula, Diagnostic> {
        let (documents, _) = parse_stream(text, FileId(0), Bounds::of_bytes(1000));
        let written = CellFormula::decode(&documents[0], &mut Decoder::default()).unwrap();
        Formula::new(&written, &Columns(["bx", "by", "cuda-1", "none", "word"].map(str::to_owned).to_vec()))
    }

    fn value(text: &str, numbers: Numbers) -> Result<Option<f64>, BadCell> {
        formula(text).unwrap().value(&Texts(vec!["32", "8.0", "1.5", "", "x"]), numbers)
    }

    #[test]
    fn formulas_are_of_columns() {
        let near = |text: &str, expected: f64| {
            let found = value(text, Numbers::Real).unwrap().unwrap();
            assert!((found - expected).abs() < 1e-12, "{text}: {found}");
        };
        near("32 * bx", 1024.0);
        near("cuda-1", 1.5);
        near("0.25", 0.25);
        near("bx / 3 - -by % 3", 32.0 / 3.0 - 1.0);
        near("max(bx, by) == 32 && !(by > 8)", 1.0);
        assert_eq!(value("bx / 3", Numbers::Whole), Ok(Some(10.0)));
        assert_eq!(value("none + bx", Numbers::Real), Ok(None));
        assert_eq!(value("word", Numbers::Real).unwrap_err().column, Some(4));
        assert!(value("1 / (by - 8)", Numbers::Real).unwrap_err().message.contains("zero"));
        let whole =
            |text: &str| formula(text).unwrap().whole(&Texts(vec!["32", "8.0", "1.5", "", "x"]), "it");
        assert_eq!(whole("bx * by / 3"), Ok(Some(85)));
        assert!(whole("cuda-1").unwrap_err().message.contains("it is 1.5"));
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        assert!(formula("bx + bz").unwrap_err().help.unwrap().contains("`bx`"));
        assert_eq!(formula("threadIdx.x").unwrap_err().code, "formula");
        assert_eq!(formula("bx[1]").unwrap_err().code, "formula");
        assert!(formula("bx +").is_err());
    }
}
