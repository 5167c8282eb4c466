//! Which launch was meant, where a block or a fold was left out.

use serde::Serialize;

use crate::kernel::Kernel;
use crate::launch::{Chosen, ChosenReason, candidates};
use crate::report::units::{grouped, shape};

/// Why the launch has this block and fold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChoiceDocument {
    /// `given`, `only` (the document has no other launch) or `first` (the first launch of the document).
    pub block: &'static str,
    /// `given`, `only` (the document has no other fold), `unfolded` (of several folds of the document the one
    /// that does not fold) or `first` (the first of several).
    pub fold: &'static str,
    /// In words, where something was left out and there is more than one; null otherwise.
    pub text: Option<String>,
}

impl ChoiceDocument {
    /// Of a launch of a kernel.
    pub fn new(kernel: &Kernel, chosen: &Chosen) -> Self {
        Self { block: chosen.block.word(), fold: chosen.fold.word(), text: text(kernel, chosen) }
    }
}

fn text(kernel: &Kernel, chosen: &Chosen) -> Option<String> {
    if chosen.block == ChosenReason::First {
        let launches = grouped(candidates(kernel).count());
        let which = if chosen.fold == ChosenReason::Given { "that of the first" } else { "the first" };
        return Some(format!("no block was given: {which} of the {launches} launches of the file is taken"));
    }
    let folds = kernel.launch.folds.len();
    let fold = shape(chosen.candidate.fold());
    match chosen.fold {
        ChosenReason::Only if chosen.block == ChosenReason::Given && chosen.candidate.fold() != [1; 3] => {
            Some(format!("no fold was given: {fold} is the only one of the file"))
        }
        ChosenReason::Unfolded => Some(format!(
            "no fold was given: of the {folds} folds of the file the one that does not fold is taken"
        )),
        ChosenReason::First if chosen.block == ChosenReason::Given => {
            Some(format!("no fold was given: of the {folds} folds of the file the first is taken"))
        }
        _ => None,
    }
}
