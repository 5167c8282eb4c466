//! The syntax tree.

use crate::text::Span;

/// A dimension of the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dim {
    /// The fastest.
    X,
    /// The middle one.
    Y,
    /// The slowest.
    Z,
}

impl Dim {
    /// All three, fastest first.
    pub const ALL: [Dim; 3] = [Dim::X, Dim::Y, Dim::Z];

    /// 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }

    /// `x`, `y` or `z`.
    pub fn letter(self) -> char {
        ['x', 'y', 'z'][self.index()]
    }
}

/// A name that the programming model defines, in CUDA's or `OpenCL`'s spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// `threadIdx.x`, `get_local_id(0)`.
    ThreadIdx(Dim),
    /// `blockIdx.x`, `get_group_id(0)`.
    BlockIdx(Dim),
    /// `blockDim.x`, `get_local_size(0)`.
    BlockDim(Dim),
    /// `gridDim.x`, `get_num_groups(0)`.
    GridDim(Dim),
    /// `tidx`, `get_global_id(0)`: the thread's coordinate in the whole grid.
    GlobalThread(Dim),
    /// `get_global_size(0)`: threads of the whole grid.
    GlobalSize(Dim),
}

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Op {
    Mul,
    /// Floor division.
    Div,
    /// Remainder of floor division.
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

impl Op {
    /// Binding strength; higher binds tighter, as in C.
    pub fn precedence(self) -> u8 {
        match self {
            Op::Or => 1,
            Op::And => 2,
            Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne => 3,
            Op::Shl | Op::Shr => 4,
            Op::Add | Op::Sub => 5,
            Op::Mul | Op::Div | Op::Rem => 6,
        }
    }

    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Op::Mul => "*",
            Op::Div => "/",
            Op::Rem => "%",
            Op::Add => "+",
            Op::Sub => "-",
            Op::Shl => "<<",
            Op::Shr => ">>",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            Op::Ge => ">=",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::And => "&&",
            Op::Or => "||",
        }
    }

    /// Whether its result is a truth value.
    pub fn is_condition(self) -> bool {
        self.precedence() <= 3
    }
}

/// A function of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Func {
    Min,
    Max,
}

/// An expression and its place. Equality looks at both.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

impl Expr {
    /// Whether a name for which `test` holds occurs.
    pub fn mentions(&self, test: &dyn Fn(&str) -> bool) -> bool {
        match &self.kind {
            Kind::Name(name) => test(name),
            Kind::Int(_) | Kind::Builtin(_) => false,
            Kind::Index(base, indices) => base.mentions(test) || indices.iter().any(|i| i.mentions(test)),
            Kind::Call(_, a, b) => a.mentions(test) || b.mentions(test),
            Kind::Neg(inner) | Kind::Not(inner) => inner.mentions(test),
            Kind::Chain(first, links) => first.mentions(test) || links.iter().any(|l| l.1.mentions(test)),
        }
    }

    /// Number of nodes, this one included.
    pub fn size(&self) -> usize {
        1 + match &self.kind {
            Kind::Int(_) | Kind::Name(_) | Kind::Builtin(_) => 0,
            Kind::Index(base, indices) => base.size() + indices.iter().map(Expr::size).sum::<usize>(),
            Kind::Call(_, a, b) => a.size() + b.size(),
            Kind::Neg(inner) | Kind::Not(inner) => inner.size(),
            Kind::Chain(first, links) => first.size() + links.iter().map(|l| l.1.size()).sum::<usize>(),
        }
    }
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// An integer.
    Int(i64),
    /// A name the document defines: an axis, parameter, field, table or loop variable.
    Name(String),
    /// A name that the programming model defines.
    Builtin(Builtin),
    /// `base[i, j]`.
    Index(Box<Expr>, Vec<Expr>),
    /// `min(a, b)`, `max(a, b)`.
    Call(Func, Box<Expr>, Box<Expr>),
    /// `-a`.
    Neg(Box<Expr>),
    /// `!a`.
    Not(Box<Expr>),
    /// Operators of one precedence, from left to right. One node for the whole chain: a sum of a
    /// thousand terms is not a thousand levels deep.
    Chain(Box<Expr>, Vec<(Op, Expr)>),
}

/// A set of integers as one writes it: `4`, `1..R`, `0..n-1 step 2`, `pow2(1..1024)`.
#[derive(Debug, Clone, PartialEq)]
pub enum Range {
    /// One value.
    Single(Expr),
    /// `from..to step step`, `to` inclusive.
    Span {
        /// First value.
        from: Expr,
        /// Last value that may occur.
        to: Expr,
        /// Distance; 1 if absent.
        step: Option<Expr>,
    },
    /// The powers of two in `from..to`.
    Pow2 {
        /// Smallest.
        from: Expr,
        /// Largest.
        to: Expr,
    },
}

impl Range {
    /// Number of nodes of its expressions.
    pub fn size(&self) -> usize {
        match self {
            Range::Single(e) => e.size(),
            Range::Span { from, to, step } => from.size() + to.size() + step.as_ref().map_or(0, Expr::size),
            Range::Pow2 { from, to } => from.size() + to.size(),
        }
    }
}
