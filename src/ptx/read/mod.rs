//! Reading a kernel: what each thread touches, as formulas.
//!
//! The walk goes through the blocks of a function once, with formulas in the place of numbers; loops are gone through
//! until it is known how their registers change. What cannot be said as a formula is kept with the reason.

mod arithmetic;
#[cfg(test)]
mod arithmetic_tests;
mod conditions;
mod copies;
mod count;
mod event;
mod execute;
mod exits;
mod fragments;
mod heed;
mod join;
mod library;
mod local;
mod loops;
mod memory;
mod missing;
mod periodic;
mod reader;
mod solve;
mod state;
mod tables;
mod told;
mod walk;
mod why;

pub(super) use copies::copies_nothing;
pub(super) use event::{Access, Event, Operation};
pub(super) use fragments::Fragment;
pub(super) use reader::{Arguments, BaseKind, Reader, Stop};
pub(super) use told::{Assumed, Share, Told};
pub(super) use why::{Cause, Why};
