//! What a text of PTX says, without what its instructions mean.

use crate::expr::Dim;
use crate::text::Span;

/// A text of PTX.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// `.version`: major and minor.
    pub version: (u32, u32),
    /// `.target`: the architecture and what else stands there.
    pub target: Vec<String>,
    /// `.address_size`: 32 or 64.
    pub address_bits: u32,
    /// Variables outside functions.
    pub variables: Vec<Variable>,
    /// Entries and functions, those that are only declared among them (`body` is then false).
    pub functions: Vec<Function>,
    /// Files that `.loc` names, by their numbers.
    pub files: Vec<(u32, String)>,
}

impl Module {
    /// The entries, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.kind == FunctionKind::Entry && f.body)
    }

    /// The function or entry of this name that has a body.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.body && f.name == name)
    }

    /// The variable of this name outside functions.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|v| v.name == name)
    }
}

/// Who else sees a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Linkage {
    Private,
    Visible,
    Weak,
    Extern,
    Common,
}

/// A state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum StateSpace {
    Global,
    Shared,
    Const,
    Local,
    Param,
}

impl StateSpace {
    /// The space of this word (`global`), also with what follows in newer versions (`shared::cta`).
    pub fn named(word: &str) -> Option<StateSpace> {
        Some(match word.split(':').next()? {
            "global" => StateSpace::Global,
            "shared" => StateSpace::Shared,
            "const" => StateSpace::Const,
            "local" => StateSpace::Local,
            "param" => StateSpace::Param,
            _ => return None,
        })
    }
}

/// A type such as `u32`, `b8`, `f16x2` or `pred`, by its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type {
    /// `u`, `s`, `b`, `f`, or `p` for predicates.
    pub kind: char,
    /// Bits of a value: 8 to 128; 1 for predicates.
    pub bits: u32,
}

impl Type {
    /// The type of a word, if it is one. Packed types (`f16x2`, `bf16`, `tf32`, `e4m3x2`) count as floats of their size.
    pub fn named(word: &str) -> Option<Type> {
        let of = |kind, bits| Some(Type { kind, bits });
        match word {
            "pred" => return of('p', 1),
            "bf16" | "e4m3x2" | "e5m2x2" => return of('f', 16),
            "bf16x2" | "f16x2" | "tf32" => return of('f', 32),
            "u16x2" => return of('u', 32),
            "s16x2" => return of('s', 32),
            "f32x2" => return of('f', 64),
            _ => {}
        }
        let kind = word.chars().next()?;
        let bits: u32 = match &word[kind.len_utf8()..] {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            "128" => 128,
            _ => return None,
        };
        matches!(kind, 'u' | 's' | 'b' | 'f').then_some(Type { kind, bits })
    }

    /// Bytes of a value in memory.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }
}

/// A variable in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub space: StateSpace,
    /// Type of an element, or of a component of an element.
    pub element: Type,
    /// Components of an element: 1, 2 or 4.
    pub vector: u64,
    /// Elements; `None` for an array of open length (`.extern .shared`).
    pub count: Option<u64>,
    /// Alignment in bytes, as declared or that of the element.
    pub align: u64,
    /// Who else sees it.
    pub linkage: Linkage,
    /// Values at the start, in order; what is missing is zero.
    pub initial: Vec<Initial>,
    /// Its declaration.
    pub span: Span,
}

impl Variable {
    /// Bytes of it; an array of open length has none.
    pub fn bytes(&self) -> u64 {
        self.count.unwrap_or(0).saturating_mul(self.vector).saturating_mul(self.element.bytes())
    }
}

/// A value that a variable has at the start.
#[derive(Debug, Clone, PartialEq)]
pub enum Initial {
    /// An integer, by its bits.
    Integer(i64),
    /// A float, as the bits of a double.
    Double(u64),
    /// A float, as the bits of a single.
    Single(u32),
    /// An address, or something else that is no number.
    Other(String),
}

/// A parameter of an entry or a function, or its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type; `b8` for structs, which are arrays of bytes.
    pub element: Type,
    /// Elements of an array (a struct by value); `None` for a plain value.
    pub count: Option<u64>,
    /// Alignment in bytes, as declared or that of the type.
    pub align: u64,
    /// With `.ptr`: what is pointed at, where it says so, and its alignment.
    pub pointer: Option<(Option<StateSpace>, u64)>,
    /// Its declaration.
    pub span: Span,
}

impl Param {
    /// Bytes of it.
    pub fn bytes(&self) -> u64 {
        self.count.unwrap_or(1).saturating_mul(self.element.bytes())
    }
}

/// What a function is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionKind {
    /// A kernel.
    Entry,
    /// Something that is called.
    Func,
}

/// A kernel or a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Whether it is a kernel.
    pub kind: FunctionKind,
    /// Its name.
    pub name: String,
    /// Who else sees it.
    pub linkage: Linkage,
    /// What it returns.
    pub returns: Vec<Param>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// `.reqntid`: the block that it must be launched with.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`: the largest block.
    pub largest_block: Option<[u32; 3]>,
    /// `.maxnreg`: the most registers of a thread.
    pub most_registers: Option<u32>,
    /// Whether it has a body, and is not only declared.
    pub body: bool,
    /// All registers of the body that occur in it.
    pub registers: Vec<Register>,
    /// Variables of the body, in any of its braces. Those in `StateSpace::Param` are arguments of calls; there a name
    /// may stand several times.
    pub variables: Vec<Variable>,
    /// The instructions.
    pub instructions: Vec<PtxInstruction>,
    /// Labels with the instructions that they stand before.
    pub labels: Vec<(String, usize)>,
    /// Its name in the text.
    pub span: Span,
}

impl Function {
    /// The variable of this name in the body.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|v| v.name == name)
    }

    /// The name of a register.
    pub fn register(&self, id: RegisterId) -> &Register {
        &self.registers[id.0 as usize]
    }
}

/// A register of a function: an index into [`Function::registers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegisterId(pub u32);

/// A register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// Its name, `%` included.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// `@%p` or `@!%p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub register: RegisterId,
    /// Whether it has to be false.
    pub negated: bool,
}

/// A place in the text that the PTX was compiled from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLine {
    /// Number of the file, see [`Module::files`].
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct PtxInstruction {
    /// Whether it is done.
    pub guard: Option<Guard>,
    /// Its name up to the first dot: `ld`.
    pub name: String,
    /// What stands between the dots after it: `global`, `nc`, `f32`.
    pub modifiers: Vec<String>,
    /// Its operands, results first.
    pub operands: Vec<Operand>,
    /// Where it stands, without the semicolon.
    pub span: Span,
    /// Its line in the text of PTX, from 1.
    pub line: u32,
    /// What it was compiled from, where `.loc` says so.
    pub source: Option<SourceLine>,
}

impl PtxInstruction {
    /// Whether one of the modifiers is this.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|m| m == modifier)
    }

    /// The last modifier that is a type: that of the operands, for most.
    pub fn ty(&self) -> Option<Type> {
        self.modifiers.iter().rev().find_map(|m| Type::named(m))
    }

    /// The name with all its modifiers.
    pub fn full_name(&self) -> String {
        self.modifiers.iter().fold(self.name.clone(), |name, m| name + "." + m)
    }
}

/// A register that the machine fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// `%tid`: the thread in its block.
    Tid(Dim),
    /// `%ntid`: threads of the block.
    Ntid(Dim),
    /// `%ctaid`: the block.
    Ctaid(Dim),
    /// `%nctaid`: blocks of the grid.
    Nctaid(Dim),
    /// `%laneid`.
    LaneId,
    /// `%warpid`.
    WarpId,
}

/// What an address is counted from.
#[derive(Debug, Clone, PartialEq)]
pub enum Base {
    /// A register.
    Register(RegisterId),
    /// A variable or a parameter.
    Symbol(String),
    /// Nothing: the number is the whole address.
    Nothing,
}

/// An operand of an instruction.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A register.
    Register(RegisterId),
    /// A component `.x .y .z .w` (0 to 3) of a register that is a vector.
    Component(RegisterId, u8),
    /// `%tid.x` and others that are numbers of threads and blocks.
    Special(Special),
    /// Another register of the machine: `%clock64`, `%lanemask_lt`.
    Machine(String),
    /// An integer, by its 64 bits: `0xffffffffffffffff` is -1.
    Integer(i64),
    /// `0f3F800000`, by its bits.
    Single(u32),
    /// `0d3FF0000000000000` or a decimal number with a point, by its bits.
    Double(u64),
    /// A variable, a parameter or a function, plus bytes.
    Symbol(String, i64),
    /// The instruction before which a label stands.
    Label(usize),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `[base + offset]`.
    Address(Base, i64),
    /// `[a, b, ...]`: textures and tensors.
    Brackets(Vec<Operand>),
    /// `a|b`.
    Pair(Box<Operand>, Box<Operand>),
    /// `!a`.
    Not(Box<Operand>),
    /// `(a, b)`: arguments and results of a call.
    List(Vec<Operand>),
    /// `_`: a result that nobody wants.
    Nothing,
    /// What is in none of these forms, as it stands.
    Other(String),
}
