//! Names of a function's body: registers by the braces they are declared in, and labels.

use rustc_hash::FxHashMap;

use super::ast::{Operand, Register, RegisterId, Type};

/// Registers that one declaration makes: `%r<10>` is ten of them.
struct Range {
    count: u64,
    ty: Type,
}

/// A pair of braces.
#[derive(Default)]
struct Braces<'a> {
    outer: Option<usize>,
    ranges: FxHashMap<&'a str, Range>,
    single: FxHashMap<String, RegisterId>,
    labels: FxHashMap<&'a str, usize>,
    /// Lists of labels, by their own label: `.branchtargets`.
    tables: FxHashMap<&'a str, Vec<&'a str>>,
}

/// The names of a body.
pub(super) struct Scopes<'a> {
    all: Vec<Braces<'a>>,
    open: usize,
    pub registers: Vec<Register>,
    pub labels: Vec<(String, usize)>,
}

impl<'a> Scopes<'a> {
    /// The outermost braces.
    pub fn new() -> Self {
        Self { all: vec![Braces::default()], open: 0, registers: Vec::new(), labels: Vec::new() }
    }

    pub fn enter(&mut self) {
        self.all.push(Braces { outer: Some(self.open), ..Braces::default() });
        self.open = self.all.len() - 1;
    }

    /// Closes the innermost braces; false if these are the outermost ones.
    pub fn leave(&mut self) -> bool {
        let outer = self.all[self.open].outer;
        self.open = outer.unwrap_or(self.open);
        outer.is_some()
    }

    /// The innermost open braces.
    pub fn current(&self) -> usize {
        self.open
    }

    pub fn declare(&mut self, name: &'a str, ty: Type) {
        let id = self.make(name.to_owned(), ty);
        self.all[self.open].single.insert(name.to_owned(), id);
    }

    pub fn declare_range(&mut self, prefix: &'a str, count: u64, ty: Type) {
        self.all[self.open].ranges.insert(prefix, Range { count, ty });
    }

    fn make(&mut self, name: String, ty: Type) -> RegisterId {
        // There are no more registers than characters in the text.
        let id = RegisterId(u32::try_from(self.registers.len()).expect("the text was found to be short"));
        self.registers.push(Register { name, ty });
        id
    }

    /// The register of this name here.
    pub fn register(&mut self, name: &str) -> Option<RegisterId> {
        let mut braces = Some(self.open);
        while let Some(at) = braces {
            if let Some(&id) = self.all[at].single.get(name) {
                return Some(id);
            }
            if let Some(ty) = self.all[at].in_range(name) {
                let id = self.make(name.to_owned(), ty);
                self.all[at].single.insert(name.to_owned(), id);
                return Some(id);
            }
            braces = self.all[at].outer;
        }
        None
    }

    /// A label before this instruction; false if these braces have it already.
    pub fn label(&mut self, name: &'a str, instruction: usize) -> bool {
        self.labels.push((name.to_owned(), instruction));
        self.all[self.open].labels.insert(name, instruction).is_none()
    }

    pub fn table(&mut self, name: &'a str, labels: Vec<&'a str>) {
        self.all[self.open].tables.insert(name, labels);
    }

    fn found<T>(&self, from: usize, look: impl Fn(&Braces<'a>) -> Option<T>) -> Option<T> {
        let mut braces = Some(from);
        while let Some(at) = braces {
            if let Some(found) = look(&self.all[at]) {
                return Some(found);
            }
            braces = self.all[at].outer;
        }
        None
    }

    /// What a symbol means in a branch that stands in the braces `from`.
    pub fn target(&self, from: usize, name: &str) -> Option<Operand> {
        if let Some(instruction) = self.found(from, |b| b.labels.get(name).copied()) {
            return Some(Operand::Label(instruction));
        }
        let table = self.found(from, |b| b.tables.get(name).cloned())?;
        let labels: Option<Vec<_>> = table.into_iter().map(|label| self.target_label(from, label)).collect();
        Some(Operand::List(labels?))
    }

    fn target_label(&self, from: usize, name: &str) -> Option<Operand> {
        self.found(from, |b| b.labels.get(name).copied()).map(Operand::Label)
    }
}

impl Braces<'_> {
    /// The type of a register that a range of these braces has.
    fn in_range(&self, name: &str) -> Option<Type> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        // `%r1<5>` declares `%r10` to `%r14`: where the prefix ends is not seen from the name.
        (1..=digits.min(10)).find_map(|n| {
            let (prefix, number) = name.split_at(name.len() - n);
            let range = self.ranges.get(prefix)?;
            let plain = number == "0" || !number.starts_with('0');
            (plain && number.parse::<u64>().is_ok_and(|n| n < range.count)).then_some(range.ty)
        })
    }
}
