//! What is known of the functions that CUDA's mathematical library puts into kernels.

use super::reader::Reader;
use crate::ptx::syntax::{Operand, PtxInstruction};

/// What sines, cosines and tangents compare the size of their argument with, as bits: 105,615 in single and 2^31 in
/// double precision. From there on they are reduced with many digits of 2/pi, which lie in a table of the module with
/// this name.
const LARGE: [(Operand, &str); 2] = [
    (Operand::Single(0x47CE_4780), "__cudart_i2opi_f"),
    (Operand::Double(0x41E0_0000_0000_0000), "__cudart_i2opi_d"),
];

impl Reader<'_> {
    /// Whether a comparison of fractions holds: one that asks whether the argument of a sine or cosine is large is taken
    /// to find that it is not, unless somebody says how often it is.
    pub(super) fn small_angle(&mut self, instruction: &PtxInstruction) -> Option<bool> {
        let [result, a, b, ..] = &instruction.operands[..] else { return None };
        let large = |operand: &Operand| {
            LARGE.iter().any(|(limit, table)| operand == limit && self.module.variable(table).is_some())
        };
        let angle_first = large(b);
        if !angle_first && !large(a) {
            return None;
        }
        let less = match instruction.modifiers.first()?.as_str() {
            "lt" | "le" | "ltu" | "leu" => true,
            "gt" | "ge" | "gtu" | "geu" => false,
            _ => return None,
        };
        if self.told_of(instruction.line, result) {
            return None;
        }
        self.heeded.notes.insert(format!(
            "line {line}: arguments of sines and cosines are taken to be small, as large ones need another way to \
             compute them; `--branch {line}=P` says how often the comparison holds",
            line = instruction.line
        ));
        Some(less == angle_first)
    }

    /// Whether somebody says how often a predicate holds that is made in this line, there or where it is asked.
    fn told_of(&self, line: u32, predicate: &Operand) -> bool {
        let Operand::Register(predicate) = predicate else { return false };
        let asked = |i: &&PtxInstruction| i.guard.is_some_and(|guard| guard.register == *predicate);
        let asking = self.function.instructions.iter().filter(asked).map(|i| i.line);
        asking.chain([line]).any(|line| self.told.shares.contains_key(&line))
    }
}
