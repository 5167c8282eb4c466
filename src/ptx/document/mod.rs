//! From what a kernel was read as to a kernel document.

mod choose;
mod combine;
mod counters;
mod fields;
mod fits;
mod flagged;
mod groups;
mod halving;
mod mix;
mod often;
mod print;
mod reading;
mod statement;
mod words;
mod yaml;

pub(super) use fits::Unfit;
pub(super) use print::Size;
pub(super) use reading::{LINE, Reading, Understood, threads_working, understand, verb};
pub(super) use statement::Status;
pub(super) use yaml::{Frame, document};
