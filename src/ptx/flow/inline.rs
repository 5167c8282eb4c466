//! Functions that a kernel calls, written out in the place of the calls.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::ptx::syntax::{
    Base, Function, Guard, Module, Operand, PtxInstruction, Register, RegisterId, Type,
};

/// Instructions that a kernel may grow to.
const MOST: usize = 60_000;

/// Calls inside of calls.
const DEEPEST: usize = 32;

/// The kernel with the functions that it calls in it, as far as the module has them. Calls that are left are those of
/// functions without a body, by address, and of functions that call themselves, and what makes the kernel too long.
pub(in crate::ptx) fn inlined<'a>(module: &Module, entry: &'a Function) -> Cow<'a, Function> {
    if !entry.instructions.iter().any(|i| i.name == "call") {
        return Cow::Borrowed(entry);
    }
    let made = Function { instructions: Vec::new(), labels: Vec::new(), ..entry.clone() };
    let mut inliner =
        Inliner { module, made, slots: FxHashMap::default(), stored: Vec::new(), names: Vec::new() };
    let starts = inliner.body(entry, &Frame::default(), &[&entry.name]);
    inliner.made.labels = entry.labels.iter().map(|(name, at)| (name.clone(), starts[*at])).collect();
    Cow::Owned(inliner.made)
}

/// The function that a call names; none if it is called by its address. Results and arguments are lists beside it, and
/// behind them may stand the label of a prototype.
pub(in crate::ptx) fn callee(call: &PtxInstruction) -> Option<&str> {
    match call.operands.iter().find(|operand| !matches!(operand, Operand::List(_)))? {
        Operand::Symbol(name, 0) => Some(name),
        _ => None,
    }
}

/// Whether a function calls itself, or others that do.
pub(in crate::ptx) fn recursive(module: &Module, name: &str) -> bool {
    fn goes_round<'m>(
        module: &'m Module,
        name: &'m str,
        path: &mut Vec<&'m str>,
        done: &mut Vec<&'m str>,
    ) -> bool {
        if path.contains(&name) {
            return true;
        }
        let Some(function) = module.function(name).filter(|_| !done.contains(&name)) else { return false };
        path.push(name);
        let mut calls = function.instructions.iter().filter(|i| i.name == "call").filter_map(callee);
        let round = calls.any(|other| goes_round(module, other, path, done));
        path.pop();
        done.push(name);
        round
    }
    goes_round(module, name, &mut Vec::new(), &mut Vec::new())
}

/// Where arguments and results of a call lie: a number for each.
pub(super) type Storage = usize;

/// A function in the place of a call.
#[derive(Default)]
pub(super) struct Frame {
    /// What its registers are counted from.
    pub registers: u32,
    /// Whether it is called, and is not the kernel itself.
    pub called: bool,
    /// Its parameters and results, by name.
    pub passed: Vec<(String, Storage)>,
    /// New names of its variables.
    pub renamed: Vec<(String, String)>,
}

pub(super) struct Inliner<'m> {
    pub module: &'m Module,
    pub made: Function,
    /// The register that stands for these bits of what is passed: where they lie, byte and size.
    slots: FxHashMap<(Storage, i64, u32), RegisterId>,
    /// For each storage, the bytes that were put into it, in pieces; none where the pieces overlap.
    stored: Vec<Option<Vec<(i64, u32)>>>,
    /// Functions whose variables the kernel has, with their new names.
    pub names: Vec<(String, Vec<(String, String)>)>,
}

/// What calls pass, as it is found in the text.
struct Calls {
    /// Arguments that were stored for the next call.
    next: Vec<(String, Storage)>,
    /// Results of the last call, or the function's name where it is not read.
    last: Result<Vec<(String, Storage)>, String>,
}

impl Inliner<'_> {
    /// Writes a function out. The answer is where its instructions begin, and where it ends.
    fn body(&mut self, function: &Function, frame: &Frame, path: &[&str]) -> Vec<usize> {
        let (mut starts, mut own) = (Vec::with_capacity(function.instructions.len() + 1), Vec::new());
        let mut calls = Calls { next: Vec::new(), last: Ok(Vec::new()) };
        for instruction in &function.instructions {
            let at = self.made.instructions.len();
            starts.push(at);
            let param = instruction.has("param") && matches!(instruction.name.as_str(), "ld" | "st");
            match instruction.name.as_str() {
                "call" => {
                    self.call(function, frame, instruction, &mut calls, path);
                    continue;
                }
                "st" if param => self.store(function, frame, instruction, &mut calls),
                "ld" if param => self.load(function, frame, instruction, &calls),
                "ret" if frame.called => {
                    let mut jump = self.renamed(function, frame, instruction);
                    (jump.name, jump.modifiers) = ("bra".to_owned(), vec!["uni".to_owned()]);
                    jump.operands = vec![Operand::Label(function.instructions.len())];
                    self.made.instructions.push(jump);
                }
                _ => {
                    let same = self.renamed(function, frame, instruction);
                    self.made.instructions.push(same);
                }
            }
            own.extend(at..self.made.instructions.len());
        }
        starts.push(self.made.instructions.len());
        for at in own {
            for operand in &mut self.made.instructions[at].operands {
                placed(operand, &starts);
            }
        }
        starts
    }

    /// A call: the function, if it can be written out; otherwise the call as it stands.
    fn call(
        &mut self,
        function: &Function,
        frame: &Frame,
        call: &PtxInstruction,
        calls: &mut Calls,
        path: &[&str],
    ) {
        let name = callee(call).unwrap_or("a function by its address").to_owned();
        let given = std::mem::take(&mut calls.next);
        let called = self.module.function(&name).filter(|f| {
            let registers = f.params.iter().chain(&f.returns).any(|p| p.name.starts_with('%'));
            let long = self.made.instructions.len() + f.instructions.len() > MOST || path.len() > DEEPEST;
            !registers && !long && !path.contains(&f.name.as_str())
        });
        let symbol = call.operands.iter().position(|o| matches!(o, Operand::Symbol(..)));
        let list = |at: Option<usize>| match at.and_then(|at| call.operands.get(at)) {
            Some(Operand::List(items)) => items.as_slice(),
            _ => &[],
        };
        let (results, arguments) =
            (list(symbol.filter(|at| *at > 0).map(|_| 0)), list(symbol.map(|at| at + 1)));
        let fits = |f: &&Function| f.params.len() == arguments.len() && f.returns.len() >= results.len();
        let Some(called) = called.filter(fits) else {
            let same = self.renamed(function, frame, call);
            self.made.instructions.push(same);
            calls.last = Err(name);
            return;
        };
        // Arguments are named places, or registers and numbers that are put into places here.
        let mut passed = Vec::new();
        for (argument, param) in arguments.iter().zip(&called.params) {
            let known = match argument {
                Operand::Symbol(name, 0) => given.iter().find(|(n, _)| n == name).map(|(_, at)| *at),
                _ => None,
            };
            let at = known.unwrap_or_else(|| self.storage());
            if matches!(argument, Operand::Register(_) | Operand::Integer(_)) {
                let to = self.slot(at, 0, param.element.bits);
                let mut put = self.renamed(function, frame, call);
                let from = self.operand(function, frame, argument);
                moved(&mut put, param.element.bits, Operand::Register(to), from);
                self.made.instructions.push(put);
            }
            passed.push((param.name.clone(), at));
        }
        let mut returned = Vec::new();
        for result in &called.returns {
            let at = self.storage();
            passed.push((result.name.clone(), at));
            returned.push(at);
        }
        let renamed = self.variables(called);
        let registers =
            u32::try_from(self.made.registers.len()).expect("a kernel has at most `MOST` instructions");
        self.made.registers.extend(called.registers.iter().cloned());
        // The jump into the function: over it, where the call is not done.
        let jump = self.made.instructions.len();
        let mut into = self.renamed(function, frame, call);
        (into.name, into.modifiers) = ("bra".to_owned(), vec!["uni".to_owned()]);
        into.guard = into.guard.map(|g| Guard { negated: !g.negated, ..g });
        into.operands = vec![Operand::Label(jump + 1)];
        self.made.instructions.push(into);
        let inner = Frame { registers, called: true, passed, renamed };
        self.body(called, &inner, &[path, &[called.name.as_str()]].concat());
        if call.guard.is_some() {
            self.made.instructions[jump].operands = vec![Operand::Label(self.made.instructions.len())];
        }
        let mut last = Vec::new();
        for (result, at) in results.iter().zip(returned) {
            match result {
                Operand::Symbol(name, 0) => last.push((name.clone(), at)),
                Operand::Register(id) => {
                    let bits = function.register(*id).ty.bits;
                    let mut get = self.renamed(function, frame, call);
                    let from = self.pieces(at, 0, bits, &get);
                    let to = self.operand(function, frame, result);
                    moved(&mut get, bits, to, from.unwrap_or_else(unread));
                    self.made.instructions.push(get);
                }
                _ => {}
            }
        }
        calls.last = Ok(last);
    }

    /// `st.param`: into what stands for an argument of the next call, or for a result.
    fn store(&mut self, function: &Function, frame: &Frame, store: &PtxInstruction, calls: &mut Calls) {
        let (Some(Operand::Address(Base::Symbol(name), offset)), Some(value), Some(ty)) =
            (store.operands.first(), store.operands.get(1), store.ty())
        else {
            return;
        };
        let at = match frame.passed.iter().find(|(n, _)| n == name) {
            Some((_, at)) => *at,
            None => {
                if let Some((_, at)) = calls.next.iter().find(|(n, _)| n == name) {
                    *at
                } else {
                    let at = self.storage();
                    calls.next.push((name.clone(), at));
                    at
                }
            }
        };
        for (value, offset) in parts(value).iter().zip((*offset..).step_by(size(ty))) {
            let to = self.slot(at, offset, ty.bits);
            let mut put = self.renamed(function, frame, store);
            let from = self.operand(function, frame, value);
            moved(&mut put, ty.bits, Operand::Register(to), from);
            self.made.instructions.push(put);
        }
    }

    /// `ld.param`: of a parameter of the kernel, of one that a call has passed, or of a result.
    fn load(&mut self, function: &Function, frame: &Frame, load: &PtxInstruction, calls: &Calls) {
        let (Some(to), Some(Operand::Address(Base::Symbol(name), offset)), Some(ty)) =
            (load.operands.first(), load.operands.get(1), load.ty())
        else {
            let mut same = self.renamed(function, frame, load);
            same.operands.truncate(1);
            same.operands.push(unread());
            self.made.instructions.push(same);
            return;
        };
        if !frame.called && function.params.iter().any(|p| p.name == *name) {
            self.made.instructions.push(load.clone());
            return;
        }
        let passed = frame.passed.iter().find(|(n, _)| n == name).map(|(_, at)| *at);
        let at = match &calls.last {
            Ok(results) => passed.or(results.iter().find(|(n, _)| n == name).map(|(_, at)| *at)),
            Err(_) => passed,
        };
        for (to, offset) in parts(to).iter().zip((*offset..).step_by(size(ty))) {
            let Operand::Register(id) = to else { continue };
            let mut get = self.renamed(function, frame, load);
            let to = self.operand(function, frame, to);
            let register = function.register(*id).ty;
            let from = at.and_then(|at| self.pieces(at, offset, ty.bits, &get));
            match (from, &calls.last) {
                (Some(from), _) => {
                    moved(&mut get, ty.bits, to, from);
                    if ty.bits < register.bits && ty.kind != 'f' {
                        // The register holds the number, with its sign.
                        let kind = if ty.kind == 's' { 's' } else { 'u' };
                        "cvt".clone_into(&mut get.name);
                        get.modifiers =
                            vec![format!("{kind}{}", register.bits), format!("{kind}{}", ty.bits)];
                    }
                }
                // No parameter has such a name.
                (None, Err(name)) => {
                    let place = Operand::Address(Base::Symbol(format!("{name}()")), offset);
                    get.operands = vec![to, place];
                }
                (None, Ok(_)) => get.operands = vec![to, unread()],
            }
            self.made.instructions.push(get);
        }
    }

    fn storage(&mut self) -> Storage {
        self.stored.push(Some(Vec::new()));
        self.stored.len() - 1
    }

    /// The register for bits that are stored.
    fn slot(&mut self, at: Storage, offset: i64, bits: u32) -> RegisterId {
        let stored = &mut self.stored[at];
        if let Some(pieces) = stored
            && !pieces.contains(&(offset, bits))
        {
            let end = |(offset, bits): (i64, u32)| offset.saturating_add(i64::from(bits / 8));
            let apart = |p: &(i64, u32)| end(*p) <= offset || end((offset, bits)) <= p.0;
            if pieces.iter().all(apart) {
                pieces.push((offset, bits));
            } else {
                *stored = None;
            }
        }
        if let Some(known) = self.slots.get(&(at, offset, bits)) {
            return *known;
        }
        let made = self.register(bits);
        self.slots.insert((at, offset, bits), made);
        made
    }

    /// The register in which bits were stored, a part of it, or several.
    fn pieces(&mut self, at: Storage, offset: i64, bits: u32, like: &PtxInstruction) -> Option<Operand> {
        let end = |(offset, bits): (i64, u32)| offset.saturating_add(i64::from(bits / 8));
        let mut pieces = self.stored[at].clone()?;
        if let Some(&(from, whole)) = pieces.iter().find(|p| p.0 <= offset && end(**p) >= end((offset, bits)))
        {
            let held = self.slots[&(at, from, whole)];
            let above = 8 * u32::try_from(offset - from).ok()?;
            if above == 0 {
                return Some(Operand::Register(held));
            }
            let part = self.register(whole);
            let by = Operand::Integer(above.into());
            let (name, modifiers) = ("shr".to_owned(), vec![format!("u{whole}")]);
            let operands = vec![Operand::Register(part), Operand::Register(held), by];
            self.made.instructions.push(PtxInstruction { name, modifiers, operands, ..like.clone() });
            return Some(Operand::Register(part));
        }
        pieces.sort_unstable();
        let inside = pieces.into_iter().filter(|p| p.0 >= offset && end(*p) <= end((offset, bits)));
        let (mut next, mut all) = (offset, Vec::new());
        for piece in inside {
            if piece.0 != next {
                return None;
            }
            next = end(piece);
            all.push(Operand::Register(self.slots[&(at, piece.0, piece.1)]));
        }
        (next == end((offset, bits))).then_some(Operand::Vector(all))
    }

    fn register(&mut self, bits: u32) -> RegisterId {
        let registers = &mut self.made.registers;
        let id = u32::try_from(registers.len()).expect("a kernel has at most `MOST` instructions");
        registers.push(Register { name: format!("%passed{id}"), ty: Type { kind: 'b', bits } });
        RegisterId(id)
    }
}

/// What nothing is known of.
pub(super) fn unread() -> Operand {
    Operand::Other("?".to_owned())
}

/// The components of a vector, or the operand.
fn parts(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(all) => all,
        one => std::slice::from_ref(one),
    }
}

/// Bytes, as a step.
fn size(ty: Type) -> usize {
    usize::try_from(ty.bytes()).map_or(1, |bytes| bytes.max(1))
}

/// Makes the instruction a move.
fn moved(instruction: &mut PtxInstruction, bits: u32, to: Operand, from: Operand) {
    "mov".clone_into(&mut instruction.name);
    instruction.modifiers = vec![format!("b{bits}")];
    instruction.operands = vec![to, from];
}

/// Puts new numbers of instructions in the place of labels.
fn placed(operand: &mut Operand, starts: &[usize]) {
    match operand {
        Operand::Label(at) => *at = starts[*at],
        Operand::List(all) => all.iter_mut().for_each(|o| placed(o, starts)),
        _ => {}
    }
}
