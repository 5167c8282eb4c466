//! What registers hold where ways meet.

use super::reader::Reader;
use super::state::{Edge, State, Value};
use super::why::Cause;
use crate::ptx::syntax::RegisterId;
use crate::ptx::value::{Cond, WhyId};

impl Reader<'_> {
    /// The state at the start of a block that these ways lead to, one of which is taken whenever `cond` holds.
    pub(super) fn join(&mut self, block: usize, edges: &[Edge], cond: &Cond) -> State {
        let mut state = edges[0].state.clone();
        if edges.len() == 1 {
            return state;
        }
        self.know(cond);
        let live: Vec<RegisterId> = self.live[block].iter().collect();
        // When each way is taken, given that one of them is.
        let ways: Vec<Cond> =
            edges.iter().map(|edge| edge.cond.beyond(cond).cloned().fold(Cond::True, Cond::and)).collect();
        for id in live {
            if edges[1..].iter().all(|edge| edge.state.get(id) == edges[0].state.get(id)) {
                continue;
            }
            let values: Vec<Value> = edges.iter().map(|edge| edge.state.get(id).clone()).collect();
            state.set(id, self.chosen(&ways, values, block));
        }
        state
    }

    fn chosen(&mut self, ways: &[Cond], mut values: Vec<Value>, block: usize) -> Value {
        let last = values.pop().expect("a block is reached by a way");
        values
            .into_iter()
            .zip(ways)
            .rev()
            .fold(last, |rest, (value, way)| self.either(way, value, rest, block))
    }

    /// The first where the condition holds, otherwise the second.
    pub(super) fn either(&mut self, cond: &Cond, a: Value, b: Value, block: usize) -> Value {
        if a == b {
            return a;
        }
        match (cond, &a, &b) {
            (Cond::False, ..) => return b,
            // Where both ways seem to be taken always, it is not known which.
            (Cond::True, ..) => {
                let why = self.why(self.first_instruction(block), Cause::Choice, None);
                return Value::Unknown(why);
            }
            (_, Value::Unknown(_), _) => return a,
            (_, _, Value::Unknown(_)) => return b,
            _ => {}
        }
        let instruction = self.first_instruction(block);
        let unknown = |reader: &mut Self, from: Option<WhyId>| {
            Value::Unknown(reader.why(instruction, Cause::Choice, from))
        };
        match (a, b) {
            (Value::Truth(a), Value::Truth(b)) => {
                let (a, b) = (Cond::and(cond.clone(), a), Cond::and(cond.clone().not(), b));
                Value::Truth(Cond::or(a, b))
            }
            (Value::Int(a), Value::Int(b)) if cond.data().is_none() => {
                match self.algebra.select(cond.clone(), a, b) {
                    Some(p) => Value::Int(p),
                    None => unknown(self, None),
                }
            }
            _ => unknown(self, cond.data()),
        }
    }
}
