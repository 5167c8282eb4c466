//! Registers and variables of functions that are written out in a kernel.

use super::inline::{Frame, Inliner, unread};
use crate::ptx::syntax::{Base, Function, Guard, Operand, PtxInstruction, RegisterId, StateSpace, Variable};

impl Inliner<'_> {
    /// The variables of a function are the kernel's; where the name is taken, with another name.
    pub fn variables(&mut self, called: &Function) -> Vec<(String, String)> {
        if let Some((_, renamed)) = self.names.iter().find(|(name, _)| *name == called.name) {
            return renamed.clone();
        }
        let mut renamed = Vec::new();
        for variable in called.variables.iter().filter(|v| v.space != StateSpace::Param) {
            let mut name = variable.name.clone();
            while self.made.variable(&name).is_some() || self.module.variable(&name).is_some() {
                name.push_str("_of_");
                name.push_str(&called.name);
            }
            renamed.push((variable.name.clone(), name.clone()));
            self.made.variables.push(Variable { name, ..variable.clone() });
        }
        self.names.push((called.name.clone(), renamed.clone()));
        renamed
    }

    /// An instruction with the registers and variables of the kernel.
    pub fn renamed(
        &self,
        function: &Function,
        frame: &Frame,
        instruction: &PtxInstruction,
    ) -> PtxInstruction {
        let mut made = instruction.clone();
        made.guard = made.guard.map(|g| Guard { register: RegisterId(g.register.0 + frame.registers), ..g });
        for operand in &mut made.operands {
            *operand = self.operand(function, frame, operand);
        }
        made
    }

    pub fn operand(&self, function: &Function, frame: &Frame, operand: &Operand) -> Operand {
        let moved = |id: &RegisterId| RegisterId(id.0 + frame.registers);
        let all = |items: &[Operand]| items.iter().map(|o| self.operand(function, frame, o)).collect();
        let boxed = |o: &Operand| Box::new(self.operand(function, frame, o));
        match operand {
            Operand::Register(id) => Operand::Register(moved(id)),
            Operand::Component(id, part) => Operand::Component(moved(id), *part),
            Operand::Address(Base::Register(id), offset) => {
                Operand::Address(Base::Register(moved(id)), *offset)
            }
            Operand::Address(Base::Symbol(name), offset) => match self.name(function, frame, name) {
                Some(name) => Operand::Address(Base::Symbol(name), *offset),
                None => unread(),
            },
            Operand::Symbol(name, offset) => match self.name(function, frame, name) {
                Some(name) => Operand::Symbol(name, *offset),
                None => unread(),
            },
            Operand::Vector(items) => Operand::Vector(all(items)),
            Operand::List(items) => Operand::List(all(items)),
            Operand::Brackets(items) => Operand::Brackets(all(items)),
            Operand::Pair(a, b) => Operand::Pair(boxed(a), boxed(b)),
            Operand::Not(inner) => Operand::Not(boxed(inner)),
            other => other.clone(),
        }
    }

    /// The name that a variable has in the kernel; none where the kernel has another of that name, and for parameters,
    /// which have no address.
    fn name(&self, function: &Function, frame: &Frame, name: &str) -> Option<String> {
        if !frame.called {
            return Some(name.to_owned());
        }
        if let Some((_, new)) = frame.renamed.iter().find(|(old, _)| old == name) {
            return Some(new.clone());
        }
        let taken = self.made.variable(name).is_some() || self.made.params.iter().any(|p| p.name == name);
        let own = function.params.iter().chain(&function.returns).any(|p| p.name == name);
        (!taken && !own).then(|| name.to_owned())
    }
}
