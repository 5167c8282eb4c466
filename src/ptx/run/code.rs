//! Functions of PTX, prepared to be run: no names, only numbers of registers and functions on their bits.

use super::convert::Conversion;
use super::word::{F1, F2, F3};

/// A register of a thread, also one that holds a constant.
pub(super) type Slot = u32;

/// The register that takes what nobody wants.
pub(super) const NOWHERE: Slot = 0;
/// The register that carries from one addition to the next.
pub(super) const CARRY: Slot = 1;

/// Registers that follow each other in [`Code::lists`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct List {
    pub start: u32,
    pub count: u32,
}

/// A step of a thread. An instruction is one or more of them.
#[derive(Debug, Clone)]
pub(super) struct Op {
    /// The predicate that it depends on, and whether it has to be true.
    pub guard: Option<(Slot, bool)>,
    pub kind: Kind,
}

/// Where an access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    Global,
    Shared,
    Local,
    Param,
    /// Whatever the address says.
    Generic,
}

/// An address and what is moved there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    pub space: Where,
    pub base: Slot,
    pub offset: i64,
    /// Bytes of an element.
    pub bytes: u8,
    /// Elements.
    pub count: u8,
}

/// What an atomic does with the old value and its operand.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    Function(F2),
    /// The second operand, where the old value is the first.
    Swap,
    /// One more, back to zero beyond the operand.
    Increase,
    /// One less, to the operand below zero or beyond it.
    Decrease,
    /// To what it is not known.
    Unknown,
}

/// What the lanes of a warp do together.
#[derive(Debug, Clone, Copy)]
pub(super) enum Together {
    Shuffle { mode: Shuffle, found: Slot, a: Slot, b: Slot, c: Slot },
    Vote { mode: Vote, value: Slot, negated: bool },
    MatchAny { a: Slot, wide: bool },
    MatchAll { a: Slot, wide: bool, found: Slot },
    Reduce { function: F2, a: Slot },
    Active,
    Elect { found: Slot },
    Wait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// What a barrier hands on of the predicates of all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gather {
    Count,
    And,
    Or,
}

/// What is done. Results come first.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Nothing,
    /// `exact` is false where the machine's result may differ in the last bits.
    Unary {
        function: F1,
        exact: bool,
        to: Slot,
        a: Slot,
    },
    Binary {
        function: F2,
        exact: bool,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Ternary {
        function: F3,
        exact: bool,
        to: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
    },
    Insert {
        bits: u32,
        to: Slot,
        operands: [Slot; 4],
    },
    Permute {
        mode: Option<&'static str>,
        to: Slot,
        operands: [Slot; 3],
    },
    Lookup {
        to: Slot,
        operands: [Slot; 3],
        table: u8,
    },
    Dot {
        signed: [bool; 2],
        to: Slot,
        operands: [Slot; 3],
    },
    Convert {
        conversion: Conversion,
        to: Slot,
        a: Slot,
    },
    Select {
        to: Slot,
        a: Slot,
        b: Slot,
        predicate: Slot,
    },
    /// `to` gets the comparison, combined with a predicate, and `other` its contrary, likewise.
    Compare {
        function: F2,
        to: Slot,
        other: Slot,
        a: Slot,
        b: Slot,
        with: Option<(F2, Slot, bool)>,
    },
    /// `a + b` or `a - b` with what was carried.
    Carry {
        bits: u32,
        subtract: bool,
        takes: bool,
        gives: bool,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    /// Parts of so many bits into a whole, lowest first.
    Pack {
        bits: u32,
        to: Slot,
        parts: List,
    },
    Unpack {
        bits: u32,
        parts: List,
        a: Slot,
    },
    /// Results that are not known.
    Unknown {
        to: List,
    },
    Load {
        reach: Reach,
        signed: bool,
        to: List,
        recorded: bool,
    },
    Store {
        reach: Reach,
        values: List,
        recorded: bool,
    },
    Atomic {
        reach: Reach,
        change: Change,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    /// From global into shared memory; of the source as many bytes as `size` says, if it does.
    Copy {
        to: Reach,
        from: Reach,
        size: Option<Slot>,
    },
    /// Between global and shared memory, as many bytes as `size` says, by themselves.
    Bulk {
        to: Reach,
        from: Reach,
        size: Slot,
    },
    /// Rows of 16 bytes of shared memory, one from each of the first lanes.
    Rows {
        reach: Reach,
        lanes: u32,
        to: List,
    },
    Branch {
        to: u32,
    },
    Table {
        targets: List,
        index: Slot,
    },
    Call {
        to: u32,
    },
    Return,
    Exit,
    Barrier {
        id: Slot,
        threads: Option<Slot>,
        waits: bool,
        gather: Option<(Gather, Slot, bool, Slot)>,
    },
    Warp {
        what: Together,
        to: Slot,
        mask: Option<Slot>,
    },
    Trap,
    /// Something that is not known; why is in [`Code::refused`].
    Refused {
        number: u32,
    },
}

impl Kind {
    /// Whether it makes a difference to others that it is done: it leads elsewhere, or accesses memory.
    pub fn decides(&self) -> bool {
        match self {
            Kind::Load { recorded, .. } | Kind::Store { recorded, .. } => *recorded,
            Kind::Atomic { .. }
            | Kind::Copy { .. }
            | Kind::Bulk { .. }
            | Kind::Rows { .. }
            | Kind::Branch { .. }
            | Kind::Table { .. }
            | Kind::Call { .. }
            | Kind::Return
            | Kind::Exit
            | Kind::Barrier { .. }
            | Kind::Trap => true,
            _ => false,
        }
    }
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// Position in [`Code::functions`].
    pub function: u32,
    /// Number of the instruction in its function.
    pub instruction: u32,
    /// Line of the text.
    pub line: u32,
}

/// An entry with all functions that it calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Code {
    pub ops: Vec<Op>,
    pub origins: Vec<Origin>,
    /// Names of functions, the entry first.
    pub functions: Vec<String>,
    pub lists: Vec<Slot>,
    /// Registers of a thread at its start, and whether they are known.
    pub registers: Vec<u64>,
    pub known: Vec<bool>,
    /// Registers that depend on the thread.
    pub special: Vec<(Slot, Place)>,
    /// Parameters of a thread at its start.
    pub params: Vec<u8>,
    pub local_bytes: u64,
    /// Variables in local memory, by where they start.
    pub local: Vec<Local>,
    pub refused: Vec<String>,
}

impl Code {
    pub fn list(&self, list: List) -> &[Slot] {
        &self.lists[list.start as usize..(list.start + list.count) as usize]
    }
}

/// A variable in local memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Local {
    pub name: String,
    pub start: u64,
    pub bytes: u64,
}

/// A register that says where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Thread(usize),
    Block(usize),
    Lane,
    Warp,
    LanesBelow,
    LanesUpTo,
    LanesAbove,
    LanesFrom,
    ThisLane,
}
