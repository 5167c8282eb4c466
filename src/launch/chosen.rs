//! The one launch that is meant where a block or a fold was left out.

use super::candidate::{Candidate, candidates};
use crate::kernel::Kernel;
use crate::named::named;
use crate::space::{Block, Fold};

named! {
    /// Why a launch has the block or fold that it has.
    pub enum ChosenReason {
        /// It was asked for.
        Given = "given",
        /// The document has no other.
        Only = "only",
        /// Of the folds of the document, the one that does not fold.
        Unfolded = "unfolded",
        /// The first of the document.
        First = "first",
    }
}

/// A launch, and why it is this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chosen {
    /// Block and fold.
    pub candidate: Candidate,
    /// Why this block.
    pub block: ChosenReason,
    /// Why this fold.
    pub fold: ChosenReason,
}

impl Chosen {
    /// Block and fold as they were given. A block that was given alone has the fold of the document if that
    /// lists one only; of several the one that does not fold, and without such the first. Without a block the
    /// first launch of the document is meant.
    pub fn new(kernel: &Kernel, block: Option<Block>, fold: Option<Fold>) -> Self {
        let first = Candidate::first(kernel);
        let (fold, why_fold) = match (fold, block) {
            (Some(fold), _) => (fold, ChosenReason::Given),
            (None, Some(_)) => Self::fold_of_block(kernel),
            (None, None) if kernel.launch.folds.len() == 1 => (first.fold(), ChosenReason::Only),
            (None, None) => (first.fold(), ChosenReason::First),
        };
        let why_block = match block {
            Some(_) => ChosenReason::Given,
            None if candidates(kernel).nth(1).is_none() => ChosenReason::Only,
            None => ChosenReason::First,
        };
        let candidate = Candidate::shaped(block.unwrap_or(first.block()), fold);
        Self { candidate, block: why_block, fold: why_fold }
    }

    /// The fold of a block that was given alone.
    pub fn fold_of_block(kernel: &Kernel) -> (Fold, ChosenReason) {
        match kernel.launch.folds.as_slice() {
            [one] => (*one, ChosenReason::Only),
            many if many.contains(&Fold::ONE) => (Fold::ONE, ChosenReason::Unfolded),
            many => (many.first().copied().unwrap_or(Fold::ONE), ChosenReason::First),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::load;

    fn chosen(
        folds: &str,
        block: Option<[i64; 3]>,
        fold: Option<[i64; 3]>,
    ) -> ([i64; 3], [i64; 3], &'static str) {
        let text = format!(
            "wavecast: 1\nkernel: k\nfields: {{a: {{dtype: f64, size: 64}}}}\ndomain: {{x: 64}}\nloads: ['a[x]']\n\
             launch: {{block: [[8], [16]], registers: 8{folds}}}\n"
        );
        let kernel = load("k", &text, &Default::default()).unwrap().kernels.remove(0);
        let Chosen { candidate, fold, .. } =
            Chosen::new(&kernel, block.map(Block::known), fold.map(Fold::known));
        (candidate.block().into(), candidate.fold().into(), fold.word())
    }

    #[test]
    fn a_block_alone_has_the_fold_of_the_document() {
        let block = Some([32, 1, 1]);
        assert_eq!(chosen("", block, None), ([32, 1, 1], [1; 3], "only"));
        assert_eq!(chosen(", fold: [[4]]", block, None), ([32, 1, 1], [4, 1, 1], "only"));
        assert_eq!(chosen(", fold: [[4], [1]]", block, None), ([32, 1, 1], [1; 3], "unfolded"));
        assert_eq!(chosen(", fold: [[4], [2]]", block, None), ([32, 1, 1], [4, 1, 1], "first"));
        assert_eq!(chosen(", fold: [[4]]", block, Some([2, 1, 1])), ([32, 1, 1], [2, 1, 1], "given"));
        assert_eq!(chosen(", fold: [[4], [1]]", None, None), ([8, 1, 1], [4, 1, 1], "first"));
    }
}
