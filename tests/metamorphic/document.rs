//! Kernels that a generator and relations can take apart, written out as YAML.

use std::fmt::Write as _;

/// An integer expression over the coordinates of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Int(i64),
    /// A parameter by its number.
    Param(usize),
    /// A work item along an axis.
    Item(usize),
    /// A thread in the grid, in one of several spellings.
    Thread(usize, usize),
    Local(usize),
    Block(usize),
    /// The variable of a loop or of a `for` by its number.
    Variable(usize),
    Sum(Box<Expr>, Box<Expr>),
    Minus(Box<Expr>, Box<Expr>),
    Times(i64, Box<Expr>),
    Quotient(Box<Expr>, i64),
    Remainder(Box<Expr>, i64),
    Min(Box<Expr>, Box<Expr>),
    Max(Box<Expr>, Box<Expr>),
    /// The entry of the table at the remainder of an index.
    Entry(Box<Expr>),
}

/// The table that entries come from.
const TABLE: &str = "tables: {T: [0, 5, 2, 9, 7]}";

#[derive(Debug, Clone, PartialEq)]
pub enum Cond {
    /// `expression operator number`.
    Compare(Expr, &'static str, Expr),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
    Not(Box<Cond>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    F,
    C,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    pub dtype: &'static str,
    pub bytes: i64,
    pub shape: Vec<i64>,
    pub halo: Vec<i64>,
    pub order: Order,
    pub offset: i64,
    pub shared: bool,
    pub multiplicity: i64,
    /// Written as `like` an earlier field that has the same keys but for the offset.
    pub like: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Load,
    Store,
    Atomic,
}

impl Verb {
    fn word(self) -> &'static str {
        match self {
            Verb::Load => "load",
            Verb::Store => "store",
            Verb::Atomic => "atomic",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// One index per dimension of the field, in the order of its shape.
    Array(Vec<Expr>),
    Pointer(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    pub verb: Verb,
    pub field: usize,
    pub place: Place,
    pub when: Option<Cond>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    Access(Access),
    /// An access unrolled over a variable.
    For(usize, Vec<i64>, Access),
    Loop(usize, Expr, Expr, i64, Vec<Statement>),
    Sync,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub kernel: String,
    pub params: Vec<(String, i64)>,
    pub fields: Vec<Field>,
    /// In which order fields are written.
    pub written: Vec<usize>,
    pub axes: Vec<(String, i64)>,
    pub guard: Option<Cond>,
    pub body: Vec<Statement>,
    /// Written as `loads`, `stores` and `atomics`.
    pub lists: bool,
    /// Keys are written that could be left out, and in other forms.
    pub long: bool,
    pub flops: i64,
}

impl Document {
    /// The kernel as YAML.
    pub fn yaml(&self) -> String {
        let mut out = format!("wavecast: 1\nkernel: {}\n", self.kernel);
        if !self.params.is_empty() {
            let params: Vec<String> = self.params.iter().map(|(n, v)| format!("{n}: {v}")).collect();
            let _ = writeln!(out, "params: {{{}}}", params.join(", "));
        }
        let _ = writeln!(out, "{TABLE}\nfields:");
        for &number in &self.written {
            let _ = writeln!(out, "  {}", self.field(&self.fields[number]));
        }
        let axes: Vec<String> = self.axes.iter().map(|(n, v)| format!("{n}: {v}")).collect();
        if self.long {
            let _ = writeln!(out, "domain: [{{{}}}]", axes.join("}, {"));
        } else {
            let _ = writeln!(out, "domain: {{{}}}", axes.join(", "));
        }
        if let Some(guard) = &self.guard {
            let _ = writeln!(out, "guard: \"{}\"", self.cond(guard));
        }
        if self.lists {
            for (verb, key) in [(Verb::Load, "loads"), (Verb::Store, "stores"), (Verb::Atomic, "atomics")] {
                let of_verb: Vec<&Statement> =
                    self.body.iter().filter(|s| verb_of(s) == Some(verb)).collect();
                if !of_verb.is_empty() {
                    let _ = writeln!(out, "{key}:");
                    for s in of_verb {
                        self.statement(s, 2, &mut out);
                    }
                }
            }
        } else {
            out += "body:\n";
            self.body.iter().for_each(|s| self.statement(s, 2, &mut out));
        }
        let _ = writeln!(out, "work: {{flops: {}, precision: f64}}\nlaunch: {{registers: 32}}", self.flops);
        out
    }

    fn field(&self, field: &Field) -> String {
        let name = &field.name;
        if let Some(like) = field.like {
            return format!("{name}: {{like: {}, offset: {}}}", self.fields[like].name, field.offset);
        }
        let mut out = format!("{name}: {{dtype: {}, shape: {:?}", field.dtype, field.shape);
        if self.long {
            let mut strides = vec![1; field.shape.len()];
            let (mut along, mut stride): (Vec<usize>, i64) = ((0..strides.len()).collect(), 1);
            if field.order == Order::C {
                along.reverse();
            }
            for d in along {
                strides[d] = stride;
                stride *= field.shape[d];
            }
            let _ = write!(out, ", strides: {strides:?}, align: 256, multiplicity: {}", field.multiplicity);
        } else if field.order == Order::C {
            out += ", order: C";
        }
        if field.halo.iter().any(|&h| h != 0) {
            let _ = write!(out, ", halo: {:?}", field.halo);
        }
        if field.offset != 0 {
            let _ = write!(out, ", offset: {}", field.offset);
        }
        if field.multiplicity != 1 && !self.long {
            let _ = write!(out, ", multiplicity: {}", field.multiplicity);
        }
        if field.shared {
            out += ", space: shared";
        }
        out + "}"
    }

    fn statement(&self, statement: &Statement, indent: usize, out: &mut String) {
        let pad = " ".repeat(indent);
        match statement {
            Statement::Sync => {
                let _ = writeln!(out, "{pad}- sync");
            }
            Statement::Access(access) => {
                let _ = writeln!(out, "{pad}- {{at: \"{}\"{}}}", self.access(access), self.when(access));
            }
            Statement::For(variable, values, access) => {
                let _ = writeln!(
                    out,
                    "{pad}- {{for: {{v{variable}: {values:?}}}, at: \"{}\"{}}}",
                    self.access(access),
                    self.when(access)
                );
            }
            Statement::Loop(variable, from, to, step, body) => {
                let (from, to) = (self.expr(from), self.expr(to));
                let _ = writeln!(
                    out,
                    "{pad}- loop: {{v{variable}: {{from: \"{from}\", to: \"{to}\", step: {step}}}}}\n{pad}  body:"
                );
                for s in body {
                    self.statement(s, indent + 4, out);
                }
            }
        }
    }

    fn when(&self, access: &Access) -> String {
        access.when.as_ref().map_or(String::new(), |w| format!(", when: \"{}\"", self.cond(w)))
    }

    fn access(&self, access: &Access) -> String {
        let verb = if self.lists { String::new() } else { format!("{} ", access.verb.word()) };
        let name = &self.fields[access.field].name;
        match &access.place {
            Place::Array(indices) => {
                let indices: Vec<String> = indices.iter().map(|i| self.expr(i)).collect();
                format!("{verb}{name}[{}]", indices.join(", "))
            }
            Place::Pointer(offset) => format!("{verb}{name} + ({})", self.expr(offset)),
        }
    }

    fn expr(&self, e: &Expr) -> String {
        let dim = |d: &usize| ["x", "y", "z"][*d];
        match e {
            Expr::Int(n) if *n < 0 => format!("({n})"),
            Expr::Int(n) => n.to_string(),
            Expr::Param(i) => self.params[*i].0.clone(),
            Expr::Item(d) => self.axes[*d].0.clone(),
            Expr::Thread(d, spelling) => {
                let (d, number) = (dim(d), d);
                match spelling % 4 {
                    0 => format!("(threadIdx.{d} + blockIdx.{d}*blockDim.{d})"),
                    1 => format!("tid{d}"),
                    2 => format!("get_global_id({number})"),
                    _ => {
                        format!("(get_group_id({number})*get_local_size({number}) + get_local_id({number}))")
                    }
                }
            }
            Expr::Local(d) => format!("threadIdx.{}", dim(d)),
            Expr::Block(d) => format!("blockIdx.{}", dim(d)),
            Expr::Variable(i) => format!("v{i}"),
            Expr::Sum(a, b) => format!("({} + {})", self.expr(a), self.expr(b)),
            Expr::Minus(a, b) => format!("({} - {})", self.expr(a), self.expr(b)),
            Expr::Times(n, a) => format!("({n})*{}", self.expr(a)),
            Expr::Quotient(a, n) => format!("({}/{n})", self.expr(a)),
            Expr::Remainder(a, n) => format!("({}%{n})", self.expr(a)),
            Expr::Min(a, b) => format!("min({}, {})", self.expr(a), self.expr(b)),
            Expr::Entry(a) => format!("T[{}%5]", self.expr(a)),
            Expr::Max(a, b) => format!("max({}, {})", self.expr(a), self.expr(b)),
        }
    }

    fn cond(&self, cond: &Cond) -> String {
        match cond {
            Cond::Compare(a, op, b) => format!("{} {op} {}", self.expr(a), self.expr(b)),
            Cond::And(a, b) => format!("({}) && ({})", self.cond(a), self.cond(b)),
            Cond::Or(a, b) => format!("({}) || ({})", self.cond(a), self.cond(b)),
            Cond::Not(a) => format!("!({})", self.cond(a)),
        }
    }

    /// Changes every expression of the document, innermost first.
    pub fn map(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        if let Some(guard) = &mut self.guard {
            guard.map(change);
        }
        for statement in &mut self.body {
            statement.map(change);
        }
    }

    /// Changes every access of the document.
    pub fn accesses(&mut self, change: &mut dyn FnMut(&mut Access)) {
        for statement in &mut self.body {
            statement.accesses(change);
        }
    }
}

fn verb_of(statement: &Statement) -> Option<Verb> {
    match statement {
        Statement::Access(a) | Statement::For(_, _, a) => Some(a.verb),
        Statement::Loop(..) | Statement::Sync => None,
    }
}

impl Statement {
    fn map(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        match self {
            Statement::Access(a) | Statement::For(_, _, a) => a.map(change),
            Statement::Loop(_, from, to, _, body) => {
                from.map(change);
                to.map(change);
                for statement in body {
                    statement.map(change);
                }
            }
            Statement::Sync => {}
        }
    }

    fn accesses(&mut self, change: &mut dyn FnMut(&mut Access)) {
        match self {
            Statement::Access(a) | Statement::For(_, _, a) => change(a),
            Statement::Loop(_, _, _, _, body) => {
                for statement in body {
                    statement.accesses(change);
                }
            }
            Statement::Sync => {}
        }
    }
}

impl Access {
    pub fn map(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        match &mut self.place {
            Place::Array(indices) => indices.iter_mut().for_each(|i| i.map(change)),
            Place::Pointer(offset) => offset.map(change),
        }
        if let Some(when) = &mut self.when {
            when.map(change);
        }
    }
}

impl Cond {
    pub fn map(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        match self {
            Cond::Compare(a, _, b) => {
                a.map(change);
                b.map(change);
            }
            Cond::And(a, b) | Cond::Or(a, b) => {
                a.map(change);
                b.map(change);
            }
            Cond::Not(a) => a.map(change),
        }
    }
}

impl Expr {
    pub fn map(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Sum(a, b) | Expr::Minus(a, b) | Expr::Min(a, b) | Expr::Max(a, b) => {
                a.map(change);
                b.map(change);
            }
            Expr::Times(_, a) | Expr::Quotient(a, _) | Expr::Remainder(a, _) | Expr::Entry(a) => {
                a.map(change);
            }
            _ => {}
        }
        change(self);
    }

    pub fn plus(self, other: Self) -> Self {
        Expr::Sum(Box::new(self), Box::new(other))
    }

    pub fn minus(self, other: Self) -> Self {
        Expr::Minus(Box::new(self), Box::new(other))
    }

    pub fn quotient(self, by: i64) -> Self {
        Expr::Quotient(Box::new(self), by)
    }

    pub fn remainder(self, by: i64) -> Self {
        Expr::Remainder(Box::new(self), by)
    }

    pub fn times(self, by: i64) -> Self {
        Expr::Times(by, Box::new(self))
    }
}
