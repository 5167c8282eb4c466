//! What registers hold.

use std::rc::Rc;

use crate::ptx::syntax::RegisterId;
use crate::ptx::value::{Cond, Poly, WhyId};

/// What a register holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// The bits of a number.
    Int(Poly),
    /// A predicate.
    Truth(Cond),
    Unknown(WhyId),
}

/// All registers at a place.
#[derive(Debug, Clone)]
pub(super) struct State(Rc<Vec<Value>>);

impl State {
    pub fn new(registers: usize, unset: WhyId) -> Self {
        Self(Rc::new(vec![Value::Unknown(unset); registers]))
    }

    pub fn get(&self, id: RegisterId) -> &Value {
        &self.0[id.0 as usize]
    }

    pub fn set(&mut self, id: RegisterId, value: Value) {
        if *self.get(id) != value {
            Rc::make_mut(&mut self.0)[id.0 as usize] = value;
        }
    }
}

/// A way into a block.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    /// The block that it comes from.
    pub from: usize,
    pub state: State,
    /// When it is taken, from the start of the function on.
    pub cond: Cond,
    /// The condition of the jump alone.
    pub jump: Cond,
}
