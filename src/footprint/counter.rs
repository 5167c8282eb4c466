//! The choice of the engine: the cheapest exact one within its budget, one that is asked for, and a
//! second one that must agree.

use super::engine::Engine;
use super::query::{Query, Refusal};
use super::{Budget, count_within};
use crate::effort::{aside, is_limited, keeping};

/// Parts of the steps of a launch, of which some are kept for cheaper engines.
const PARTS: u64 = 8;

/// Steps of an operation of isl where it was asked for.
const STEPS_ASKED_FOR: u64 = 50;

/// Parts that an engine has to leave to those that are asked before it, in other counts, and to estimates:
/// one count that is hard must not make estimates of all that come after it.
fn kept_from(engine: Engine) -> u64 {
    match engine {
        Engine::Isl => 6,
        Engine::Enumeration | Engine::Runs => 4,
        Engine::Linear => 2,
        Engine::Sampling => 0,
    }
}

/// A second engine may take one of so many parts of the steps of a launch beside them, for each count.
const PARTS_FOR_SECOND: u64 = 4;

/// How counts are made. Small and without state: copy it to every thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    forced: Option<Engine>,
    verify: bool,
    budget: Budget,
}

/// A number of distinct lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineCount {
    /// Distinct lines; the nearest whole number to the estimate if an interval is given.
    pub lines: u128,
    /// The engine that counted.
    pub engine: Engine,
    /// The second engine, which found the same number. Only if that was asked for, and then `None`
    /// says that no other engine could count.
    pub verified_by: Option<Engine>,
    /// Where the number lies with 95 % confidence. Only if it is an estimate.
    pub interval_lines: Option<(f64, f64)>,
}

/// Why there is no count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uncounted {
    /// Each engine that was asked refused.
    #[error("{}", refusals(.0))]
    Refused(Vec<(Engine, Refusal)>),
    /// Two engines found different numbers: one of them is wrong.
    #[error(
        "{} counts {} lines but {} counts {}: one of them is wrong, please report this",
        .engines[0], .counts[0], .engines[1], .counts[1]
    )]
    Disagreement {
        /// The engine that answered and the one that was to confirm it.
        engines: [Engine; 2],
        /// What each of them counted.
        counts: [u128; 2],
    },
}

impl Uncounted {
    /// Whether it would have taken more steps than there were.
    pub fn is_spent(&self) -> bool {
        matches!(self, Uncounted::Refused(all) if all.iter().any(|r| r.1 == Refusal::Spent))
    }
}

fn refusals(all: &[(Engine, Refusal)]) -> String {
    let each: Vec<String> = all.iter().map(|(engine, why)| format!("{engine}: {why}")).collect();
    format!("no engine could count ({})", each.join("; "))
}

impl Default for Counter {
    fn default() -> Self {
        Self::cheapest()
    }
}

impl Counter {
    /// The first engine that can, in the order of [`Engine::ALL`].
    pub fn cheapest() -> Self {
        Self { forced: None, verify: false, budget: Budget::default() }
    }

    /// This engine and no other.
    pub fn forced(engine: Engine) -> Self {
        Self { forced: Some(engine), ..Self::cheapest() }
    }

    /// A second exact engine counts too and must find the same.
    #[must_use]
    pub fn verified(self) -> Self {
        Self { verify: true, ..self }
    }

    /// With other limits.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The engine that is forced.
    pub fn engine(&self) -> Option<Engine> {
        self.forced
    }

    /// Whether a second engine counts too.
    pub fn verifies(&self) -> bool {
        self.verify
    }

    /// Distinct lines of a query.
    pub fn count(&self, query: &Query) -> Result<LineCount, Uncounted> {
        let count = self.first(query)?;
        if self.verify { self.confirm(query, count) } else { Ok(count) }
    }

    fn first(&self, query: &Query) -> Result<LineCount, Uncounted> {
        let mut refused = Vec::new();
        let engines = match &self.forced {
            Some(engine) => std::slice::from_ref(engine),
            None => &Engine::ALL,
        };
        for &engine in engines {
            // isl goes through the points of a set one by one and does not count that among its operations.
            if self.forced.is_none() && engine == Engine::Isl && is_limited() {
                refused.push((engine, Refusal::Spent));
                continue;
            }
            let kept = if self.forced.is_some() { 0 } else { kept_from(engine) };
            let budget = if self.forced.is_some() { self.asked() } else { self.budget };
            match keeping(kept, PARTS, || count_within(query, engine, &budget)) {
                Ok(count) => return Ok(count),
                Err(refusal) => refused.push((engine, refusal)),
            }
        }
        Err(Uncounted::Refused(refused))
    }

    /// The budget of an engine that somebody asked for: it may be slow.
    fn asked(&self) -> Budget {
        let steps_of_operation = self.budget.steps_of_operation.min(STEPS_ASKED_FOR);
        Budget { steps_of_operation, ..self.budget }
    }

    /// Asks another exact engine, the one most unlike the closed form first. An estimate is not
    /// confirmed: it is made only where no exact engine can count.
    fn confirm(&self, query: &Query, count: LineCount) -> Result<LineCount, Uncounted> {
        if !count.engine.is_exact() {
            return Ok(count);
        }
        let others = [Engine::Enumeration, Engine::Isl, Engine::Runs, Engine::Linear];
        for second in others.into_iter().filter(|&e| e != count.engine) {
            // A second opinion takes no steps from counts that come later.
            let again = aside(PARTS_FOR_SECOND, || count_within(query, second, &self.asked()));
            let Ok(LineCount { lines, .. }) = again else { continue };
            if lines != count.lines {
                let (engines, counts) = ([count.engine, second], [count.lines, lines]);
                return Err(Uncounted::Disagreement { engines, counts });
            }
            return Ok(LineCount { verified_by: Some(second), ..count });
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Coord, Dim, Form};
    use crate::footprint::Piece;

    /// A row of doubles: 100 lines of 32 bytes.
    fn row() -> Query {
        let x = Coord::Thread(Dim::X);
        let address = Form::coord(x).times(&8).unwrap();
        let piece =
            Piece { array: 0, ranges: [(x, 0, 399)].into(), when: None, address: address.into(), width: 8 };
        Query { pieces: vec![piece], line: 32 }
    }

    #[test]
    fn the_cheapest_is_asked_first() {
        let count = Counter::cheapest().count(&row()).unwrap();
        assert_eq!((count.lines, count.engine, count.verified_by), (100, Engine::Linear, None));
    }

    #[test]
    fn a_second_engine_confirms() {
        let count = Counter::forced(Engine::Runs).verified().count(&row()).unwrap();
        assert_eq!((count.lines, count.verified_by), (100, Some(Engine::Enumeration)));
        let few = Budget { points: 0, segments: 0, operations: 1, ..Budget::default() };
        let alone = Counter::cheapest().verified().within(few).count(&row()).unwrap();
        assert_eq!((alone.lines, alone.verified_by), (100, None));
    }

    #[test]
    fn a_difference_is_an_error() {
        let wrong = LineCount { lines: 99, engine: Engine::Linear, verified_by: None, interval_lines: None };
        let error = Counter::cheapest().confirm(&row(), wrong).unwrap_err();
        let engines = [Engine::Linear, Engine::Enumeration];
        assert_eq!(error, Uncounted::Disagreement { engines, counts: [99, 100] });
        assert!(error.to_string().contains("linear counts 99 lines but enumeration counts 100"), "{error}");
    }

    #[test]
    fn refusals_are_named() {
        let none = Budget { points: 10, ..Budget::default() };
        let error = Counter::forced(Engine::Enumeration).within(none).count(&row()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no engine could count (enumeration: there are more points than the budget allows)"
        );
    }
}
