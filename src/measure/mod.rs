//! Where models and measurements meet: here, predictions beside simulations.

pub mod compare;

pub use compare::{Comparison, Options, Quantity, Uncompared, compare, hierarchy};
