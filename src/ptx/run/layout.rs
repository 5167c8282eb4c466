//! Where everything lies in memory.

use rustc_hash::FxHashMap;

use super::field::EntryField;
use super::refusal::EntryNotRun;
use crate::ptx::syntax::{Initial, Module, StateSpace, Variable};

/// Bits of an address within a field or a window.
pub(super) const FIELD_BITS: u32 = 40;
/// Where shared memory lies among addresses of all spaces.
pub(super) const SHARED_WINDOW: u64 = 1 << FIELD_BITS;
/// Where local memory lies there.
pub(super) const LOCAL_WINDOW: u64 = 2 << FIELD_BITS;
/// Where parameters lie there.
pub(super) const PARAM_WINDOW: u64 = 3 << FIELD_BITS;
/// The first field lies in the middle between the numbers before and behind it, so that an address a little before its
/// first byte is still seen to belong to it.
const FIRST_FIELD: u64 = 16;
/// Bytes of shared memory that a block may have.
const MOST_SHARED: u64 = 1 << 20;
/// Bytes of variables with values at the start.
const MOST_INITIAL: u64 = 1 << 26;

/// A name that has an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol {
    pub space: StateSpace,
    /// In its own space.
    pub address: u64,
    pub bytes: u64,
}

/// A variable in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shared {
    pub name: String,
    pub start: u64,
}

/// Where the variables of a module lie.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// Of the module.
    pub symbols: FxHashMap<String, Symbol>,
    /// Of functions, by the name of the function.
    pub inner: FxHashMap<(String, String), Symbol>,
    /// By where they start.
    pub shared: Vec<Shared>,
    pub shared_bytes: u64,
    /// Of each field, whether it is in constant memory.
    pub constant: Vec<bool>,
}

/// The first byte of a field.
pub(super) fn base(field: usize) -> u64 {
    (field as u64 + FIRST_FIELD) << FIELD_BITS
}

/// The field that an address belongs to, and how far behind its first byte it lies.
pub(super) fn field_at(address: u64) -> Option<(usize, i64)> {
    let middle = 1_u64 << (FIELD_BITS - 1);
    let number = (address.checked_add(middle)? >> FIELD_BITS).checked_sub(FIRST_FIELD)?;
    let field = usize::try_from(number).ok()?;
    Some((field, address.wrapping_sub(base(field)).cast_signed()))
}

impl Layout {
    /// Lays out the variables of a module; those in global and constant memory become fields behind those that there
    /// are.
    pub fn new(
        module: &Module,
        fields: &mut Vec<EntryField>,
        dynamic_shared: u64,
    ) -> Result<Self, EntryNotRun> {
        let mut layout = Self { constant: vec![false; fields.len()], ..Self::default() };
        let outer = module.variables.iter().map(|v| (None, v));
        let inner = module.functions.iter().flat_map(|f| f.variables.iter().map(move |v| (Some(&f.name), v)));
        let mut open = Vec::new();
        let mut initial = 0;
        for (function, variable) in outer.chain(inner) {
            let address = match variable.space {
                StateSpace::Shared if variable.count.is_none() => {
                    open.push((function, variable));
                    continue;
                }
                StateSpace::Shared => layout.place(variable, module.source_name(&variable.name))?,
                StateSpace::Global | StateSpace::Const => {
                    initial += if variable.initial.is_empty() { 0 } else { variable.bytes() };
                    if initial > MOST_INITIAL {
                        return Err(EntryNotRun::TooLarge("what variables are at the start"));
                    }
                    layout.constant.push(variable.space == StateSpace::Const);
                    fields.push(EntryField {
                        name: variable.name.clone(),
                        bytes: variable.count.map(|_| variable.bytes()),
                        data: values(variable),
                    });
                    base(fields.len() - 1)
                }
                StateSpace::Local | StateSpace::Param => continue,
            };
            layout.insert(function, variable, address);
        }
        // Dynamic shared memory lies behind everything else; all its names are the same place.
        let align = open.iter().map(|(_, v)| v.align).max().unwrap_or(1).clamp(1, 1024);
        let start = layout.shared_bytes.next_multiple_of(align);
        for (function, variable) in open {
            layout.shared.push(Shared { name: module.source_name(&variable.name).to_owned(), start });
            layout.insert(function, variable, start);
        }
        layout.shared_bytes = start.saturating_add(dynamic_shared);
        if layout.shared_bytes > MOST_SHARED {
            return Err(EntryNotRun::TooLarge("shared memory"));
        }
        Ok(layout)
    }

    fn place(&mut self, variable: &Variable, name: &str) -> Result<u64, EntryNotRun> {
        let start = self.shared_bytes.next_multiple_of(variable.align.clamp(1, 1024));
        self.shared_bytes = start.saturating_add(variable.bytes());
        if self.shared_bytes > MOST_SHARED {
            return Err(EntryNotRun::TooLarge("shared memory"));
        }
        self.shared.push(Shared { name: name.to_owned(), start });
        Ok(start)
    }

    fn insert(&mut self, function: Option<&String>, variable: &Variable, address: u64) {
        let symbol = Symbol { space: variable.space, address, bytes: variable.bytes() };
        match function {
            None => drop(self.symbols.insert(variable.name.clone(), symbol)),
            Some(function) => {
                self.inner.insert((function.clone(), variable.name.clone()), symbol);
            }
        }
    }

    /// The variable of shared memory that an address belongs to, and how far behind its first byte it lies.
    pub fn shared_at(&self, address: u64) -> (usize, i64) {
        // What has no name of its own belongs to the last variable before it.
        let behind = self.shared.partition_point(|s| s.start <= address);
        let number = behind.saturating_sub(1);
        let start = self.shared.get(number).map_or(0, |s| s.start);
        (number, address.wrapping_sub(start).cast_signed())
    }
}

/// What a variable is at the start; none where the host may have put something there.
fn values(variable: &Variable) -> Option<Vec<u8>> {
    if variable.initial.is_empty() {
        return None;
    }
    let size = usize::try_from(variable.element.bytes()).ok()?;
    let mut bytes = Vec::new();
    for value in &variable.initial {
        let bits = match value {
            Initial::Integer(value) => value.cast_unsigned(),
            Initial::Double(bits) => *bits,
            Initial::Single(bits) => u64::from(*bits),
            Initial::Other(_) => return None,
        };
        bytes.extend(bits.to_le_bytes().iter().take(size));
    }
    bytes.resize(usize::try_from(variable.bytes()).ok()?.max(bytes.len()), 0);
    Some(bytes)
}
