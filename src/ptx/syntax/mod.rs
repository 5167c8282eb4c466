//! Texts of PTX and what they parse to.
//!
//! [`parse`] makes a [`Module`] of a text. A [`Function`] (an entry, or a function that entries call) has its
//! instructions in one list, in the order of the text: numbers of instructions count from 0, labels and directives do
//! not count, and a label in an operand already is the number of the instruction that it stands before
//! ([`Operand::Label`]; the number may be that of the end). Registers are numbers too ([`RegisterId`], an index into
//! [`Function::registers`]): names that are declared twice in different braces are different registers. An
//! instruction keeps its name in parts: `ld.global.nc.v2.f32` has the name `ld` and the modifiers `global`, `nc`, `v2`,
//! `f32`, in this order. What an instruction does is nobody's business here: names that are not known parse like
//! others, and operands in a form that is not known become [`Operand::Other`].

mod ast;
mod body;
mod cursor;
mod declare;
mod lexer;
mod module;
mod names;
mod operand;
mod scope;

pub use ast::{
    Base, Function, FunctionKind, Guard, Initial, Linkage, Module, Operand, Param, PtxInstruction, Register,
    RegisterId, SourceLine, Special, StateSpace, Type, Variable,
};
pub use module::parse;

#[cfg(test)]
mod tests;
