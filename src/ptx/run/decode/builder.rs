//! What is known while the functions of an entry are decoded.

use rustc_hash::FxHashMap;

use super::super::code::{Code, Kind, Local, Op, Origin, Place, Slot};
use super::super::layout::{Layout, Symbol};
use super::super::refusal::EntryNotRun;
use crate::ptx::syntax::{Function, Guard, StateSpace};

/// Bytes of parameters, or of local memory, that a thread may have.
const MOST_BYTES: u64 = 1 << 20;
/// Steps of an entry with all functions that it calls, registers of a thread, and registers in lists. A call that hands
/// a struct on takes many steps.
const MOST_STEPS: usize = 1 << 20;

/// What is known while the functions of an entry are decoded.
pub(in crate::ptx::run) struct Builder<'m> {
    pub code: Code,
    pub layout: &'m Layout,
    pub block: [u32; 3],
    pub grid: [u32; 3],
    pub dynamic_shared: u64,
    constants: FxHashMap<u64, Slot>,
    specials: FxHashMap<Place, Slot>,
    unknown: Option<Slot>,
    /// Of the function that is decoded: its first register, and its variables.
    pub base: Slot,
    symbols: FxHashMap<String, Symbol>,
    /// Where each function that has a body begins, and its parameters and results in memory.
    pub functions: FxHashMap<&'m str, Callee>,
    guard: Option<(Slot, bool)>,
    origin: Origin,
}

/// A function that can be called.
#[derive(Debug, Clone, Default)]
pub(in crate::ptx::run) struct Callee {
    pub number: u32,
    pub params: Vec<(u32, u32)>,
    pub returns: Vec<(u32, u32)>,
}

/// A number of steps, registers or the like.
pub(super) fn small(count: usize) -> u32 {
    u32::try_from(count).expect("`limited` looks after each instruction that there are few")
}

fn narrow(bytes: u64) -> Result<u32, EntryNotRun> {
    u32::try_from(bytes)
        .ok()
        .filter(|&b| u64::from(b) <= MOST_BYTES)
        .ok_or(EntryNotRun::TooLarge("a parameter"))
}

impl<'m> Builder<'m> {
    /// Nothing yet, for a launch of this block, grid and dynamic shared memory.
    pub fn new(layout: &'m Layout, (block, grid, dynamic_shared): ([u32; 3], [u32; 3], u64)) -> Self {
        let mut builder = Self {
            code: Code::default(),
            layout,
            block,
            grid,
            dynamic_shared,
            constants: FxHashMap::default(),
            specials: FxHashMap::default(),
            unknown: None,
            base: 0,
            symbols: FxHashMap::default(),
            functions: FxHashMap::default(),
            guard: None,
            origin: Origin { function: 0, instruction: 0, line: 0 },
        };
        // What nobody wants, and the carry.
        builder.slot(0, true);
        builder.slot(0, true);
        builder
    }

    /// Memory for parameters and results of a function.
    pub fn declare(&mut self, number: u32, function: &'m Function) -> Result<(), EntryNotRun> {
        let mut callee = Callee { number, ..Callee::default() };
        for (list, made) in [(&function.params, &mut callee.params), (&function.returns, &mut callee.returns)]
        {
            for param in list {
                made.push((self.param(param.bytes(), param.align)?, narrow(param.bytes())?));
            }
        }
        self.functions.insert(&function.name, callee);
        Ok(())
    }

    /// Begins a function: its registers, and memory for its variables.
    pub fn begin(&mut self, function: &Function) -> Result<(), EntryNotRun> {
        self.code.functions.push(function.name.clone());
        self.base = small(self.code.registers.len());
        for _ in &function.registers {
            self.slot(0, false);
        }
        self.limited()?;
        self.variables(function)
    }

    /// An error if there are more steps or registers than a program has.
    pub fn limited(&self) -> Result<(), EntryNotRun> {
        let Code { ops, registers, lists, .. } = &self.code;
        let most = ops.len().max(registers.len()).max(lists.len());
        if most > MOST_STEPS { Err(EntryNotRun::TooLarge("the program")) } else { Ok(()) }
    }

    /// What comes next is done under this guard, and stands here.
    pub fn stand(&mut self, guard: Option<Guard>, origin: Origin) {
        self.guard = guard.map(|g| (self.base + g.register.0, !g.negated));
        self.origin = origin;
    }

    /// Behind the last instruction.
    pub fn unguarded(&mut self) {
        self.guard = None;
    }

    /// A new register.
    pub fn slot(&mut self, value: u64, known: bool) -> Slot {
        self.code.registers.push(value);
        self.code.known.push(known);
        small(self.code.registers.len() - 1)
    }

    pub fn constant(&mut self, value: u64) -> Slot {
        if let Some(&slot) = self.constants.get(&value) {
            return slot;
        }
        let slot = self.slot(value, true);
        self.constants.insert(value, slot);
        slot
    }

    pub fn place(&mut self, place: Place) -> Slot {
        if let Some(&slot) = self.specials.get(&place) {
            return slot;
        }
        let slot = self.slot(0, true);
        self.code.special.push((slot, place));
        self.specials.insert(place, slot);
        slot
    }

    /// A register of which nothing is known.
    pub fn unknown(&mut self) -> Slot {
        if let Some(slot) = self.unknown {
            return slot;
        }
        let slot = self.slot(0, false);
        self.unknown = Some(slot);
        slot
    }

    /// The number of the next step.
    pub fn next(&self) -> u32 {
        small(self.code.ops.len())
    }

    /// A step, under the guard of the instruction.
    pub fn push(&mut self, kind: Kind) {
        self.code.ops.push(Op { guard: self.guard, kind });
        self.code.origins.push(self.origin);
    }

    /// A variable, parameter or label of memory by its name.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).or_else(|| self.layout.symbols.get(name)).copied()
    }

    /// Memory for a parameter.
    fn param(&mut self, bytes: u64, align: u64) -> Result<u32, EntryNotRun> {
        let at = (self.code.params.len() as u64).next_multiple_of(align.clamp(1, 128));
        let end = at.checked_add(bytes).filter(|&end| end <= MOST_BYTES);
        let end = end.and_then(|end| usize::try_from(end).ok());
        self.code.params.resize(end.ok_or(EntryNotRun::TooLarge("memory of parameters"))?, 0);
        narrow(at)
    }

    /// Memory for what a function declares.
    fn variables(&mut self, function: &Function) -> Result<(), EntryNotRun> {
        self.symbols.clear();
        let callee = self.functions[function.name.as_str()].clone();
        let places = callee.params.iter().chain(&callee.returns);
        for (param, &(at, _)) in function.params.iter().chain(&function.returns).zip(places) {
            let symbol = Symbol { space: StateSpace::Param, address: u64::from(at), bytes: param.bytes() };
            self.symbols.insert(param.name.clone(), symbol);
        }
        for variable in &function.variables {
            let bytes = variable.bytes();
            let address = match variable.space {
                // Arguments of calls have the same names again and again.
                StateSpace::Param => match self.symbols.get(&variable.name) {
                    Some(known) if known.bytes >= bytes => continue,
                    _ => u64::from(self.param(bytes, variable.align)?),
                },
                StateSpace::Local => {
                    let at = self.code.local_bytes.next_multiple_of(variable.align.clamp(1, 128));
                    self.code.local_bytes = at.saturating_add(bytes);
                    self.code.local.push(Local { name: variable.name.clone(), start: at, bytes });
                    if self.code.local_bytes > MOST_BYTES {
                        return Err(EntryNotRun::TooLarge("local memory"));
                    }
                    at
                }
                // Those were laid out with the module.
                StateSpace::Shared | StateSpace::Global | StateSpace::Const => {
                    if let Some(&known) =
                        self.layout.inner.get(&(function.name.clone(), variable.name.clone()))
                    {
                        self.symbols.insert(variable.name.clone(), known);
                    }
                    continue;
                }
            };
            self.symbols.insert(variable.name.clone(), Symbol { space: variable.space, address, bytes });
        }
        Ok(())
    }
}
