//! Writing a tree back as text that parses to the same meaning.

use std::fmt;

use super::ast::{Builtin, Dim, Expr, Func, Kind, Op, Range};

/// Strength of a sign.
const UNARY: u8 = 7;
/// Strength of what needs no parentheses anywhere.
const PRIMARY: u8 = 8;
/// Strength that nothing has.
const ALWAYS: u8 = 9;

impl Expr {
    fn precedence(&self) -> u8 {
        match &self.kind {
            Kind::Chain(_, links) => links.first().map_or(PRIMARY, |l| l.0.precedence()),
            Kind::Neg(_) | Kind::Not(_) => UNARY,
            Kind::Int(n) if *n < 0 => UNARY,
            _ => PRIMARY,
        }
    }

    /// Writes the expression, in parentheses if it binds weaker than `least`.
    fn write(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        if self.precedence() < least {
            return write!(f, "({self})");
        }
        match &self.kind {
            Kind::Int(n) => write!(f, "{n}"),
            Kind::Name(name) => f.write_str(name),
            Kind::Builtin(builtin) => write!(f, "{builtin}"),
            Kind::Index(base, indices) => {
                // a[i][j] would read as a[i, j].
                let nested = matches!(base.kind, Kind::Index(..));
                base.write(f, if nested { ALWAYS } else { PRIMARY })?;
                f.write_str("[")?;
                for (i, index) in indices.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    index.write(f, 0)?;
                }
                f.write_str("]")
            }
            Kind::Call(function, a, b) => {
                let name = match function {
                    Func::Min => "min",
                    Func::Max => "max",
                };
                write!(f, "{name}({a}, {b})")
            }
            Kind::Neg(inner) => {
                f.write_str("-")?;
                inner.write(f, PRIMARY)
            }
            Kind::Not(inner) => {
                f.write_str("!")?;
                inner.write(f, PRIMARY)
            }
            Kind::Chain(first, links) => {
                let level = self.precedence();
                // Comparisons do not chain.
                let alone = links.iter().all(|l| l.0.precedence() == Op::Lt.precedence());
                first.write(f, if alone { level + 1 } else { level })?;
                for (op, operand) in links {
                    // Products tight, everything else spaced, as one writes addresses.
                    let space = if level == 6 { "" } else { " " };
                    write!(f, "{space}{}{space}", op.symbol())?;
                    operand.write(f, level + 1)?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl fmt::Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let member = |f: &mut fmt::Formatter<'_>, name: &str, dim: Dim| write!(f, "{name}.{}", dim.letter());
        match *self {
            Builtin::ThreadIdx(d) => member(f, "threadIdx", d),
            Builtin::BlockIdx(d) => member(f, "blockIdx", d),
            Builtin::BlockDim(d) => member(f, "blockDim", d),
            Builtin::GridDim(d) => member(f, "gridDim", d),
            Builtin::GlobalThread(d) => write!(f, "tid{}", d.letter()),
            Builtin::GlobalSize(d) => write!(f, "get_global_size({})", d.index()),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Single(e) => write!(f, "{e}"),
            Range::Span { from, to, step: None } => write!(f, "{from}..{to}"),
            Range::Span { from, to, step: Some(step) } => write!(f, "{from}..{to} step {step}"),
            Range::Pow2 { from, to } => write!(f, "pow2({from}..{to})"),
        }
    }
}
