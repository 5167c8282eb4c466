//! A ranking with the reasons of its best launches: what a page shows.

use std::sync::atomic::AtomicUsize;

use super::launches::OneLaunch;
use super::predictor::Predictor;
use super::question::{Pieces, Question, Replies, Reply};
use super::rank::Rank;
use super::source::KernelsRead;
use crate::kernel::Kernel;
use crate::parallel;
use crate::predict::{Choice, Estimator, explain};
use crate::report::{
    ExplainedRanking, ExplanationDocument, LaunchDetails, RankingDocument, ResultDocument,
    explanation_document,
};
use crate::space::Block;

/// Which launches of a kernel are fast, and why are the best of them as fast as they are?
#[derive(Debug, Clone)]
pub struct RankExplained {
    /// The launches. Without `top` a page has the best [`Self::RESULTS`] of them.
    pub rank: Rank,
    /// So many of them are explained.
    pub explained: usize,
}

impl RankExplained {
    /// Launches that a page has by default: a browser shows them without delay, and all their numbers are in it.
    pub const RESULTS: usize = 2000;
    /// Launches without a result that a page has.
    pub const REJECTED: usize = 2000;
    /// Launches of which a page has all that they are made of: each takes some kilobytes.
    pub const DETAILED: usize = 20;
    /// Launches that are explained by default.
    pub const EXPLAINED: usize = 200;
}

impl Default for RankExplained {
    fn default() -> Self {
        Self { rank: Rank::default(), explained: Self::EXPLAINED }
    }
}

impl Question for RankExplained {
    type Answer = ExplainedRanking;

    fn blocks(&self) -> Vec<Block> {
        self.rank.blocks()
    }

    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, pieces: &Pieces) -> Replies<Self::Answer> {
        let rank = Rank { top: self.rank.top.or(Some(Self::RESULTS)), ..self.rank.clone() };
        let rankings = rank.answer(kernels, on, pieces)?;
        // The kernels that were ranked: code is read for the blocks that are asked for.
        let kernels = &*kernels.covering(|kernel| self.rank.shapes.blocks(kernel))?;
        let of = |(reply, of_document): (Reply<RankingDocument>, &[Kernel])| match reply {
            Reply::Found(ranking) => Reply::found(self.explained(*ranking, of_document, on)),
            Reply::Error(error) => Reply::Error(error),
        };
        Ok(rankings.into_iter().zip(kernels.documents()).map(of).collect())
    }
}

impl RankExplained {
    fn explained(
        &self,
        ranking: RankingDocument,
        of_document: &[Kernel],
        on: &Predictor<'_>,
    ) -> ExplainedRanking {
        let estimators: Vec<_> = of_document.iter().map(|k| on.estimator(k)).collect();
        let best: Vec<&ResultDocument> =
            ranking.results.iter().take(self.explained).map(|r| &r.result).collect();
        let explained = parallel::map(&best, |result| match explanation(result, of_document, &estimators) {
            Some(found) => (found.sentences.clone(), Some(LaunchDetails::from(found))),
            None => (Vec::new(), None),
        });
        ExplainedRanking::new(ranking, explained, Self::DETAILED, Self::REJECTED)
    }
}

/// Why a launch is as fast as it is, compared with those that are one step away; nothing if that cannot be said.
fn explanation(
    result: &ResultDocument,
    kernels: &[Kernel],
    estimators: &[Estimator<'_>],
) -> Option<ExplanationDocument> {
    let candidate = result.config.candidate;
    let launch = OneLaunch { block: Some(candidate.block()), fold: Some(candidate.fold()) };
    let kernel = launch.meant(kernels).find(|k| k.variant == result.config.variant)?;
    let position = kernels.iter().position(|k| std::ptr::eq(k, kernel))?;
    let choice = Choice { kernel: position, candidate };
    let found = explain(estimators, choice, &[], &AtomicUsize::new(0)).ok()?;
    Some(explanation_document(estimators, position, &found, &launch.chosen(kernel), Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{DeviceSource, KernelSource};
    use crate::footprint::{Engine, Uncounted};
    use crate::launch::Candidate;
    use crate::predict::{Choices, Placing, Unpredicted};
    use crate::report::ranking_document;

    const KERNEL: &str = "{wavecast: 1, kernel: k, fields: {a: {dtype: f64, size: 4096}}, domain: {x: 4096},
        loads: ['a[x]'], launch: {block: {x: [2048]}}}";

    /// A page has some of the launches that cannot run; who asked hears of all engines that disagree.
    #[test]
    fn disagreements_are_counted_before_the_page_is_cut() {
        let kernels = KernelSource::new("k.yaml", KERNEL).read().unwrap();
        let on = Predictor::new(DeviceSource::named("a100")).unwrap();
        let estimators: Vec<_> = kernels.kernels().iter().map(|k| on.estimator(k)).collect();
        let disagree = |n: u128| Uncounted::Disagreement {
            engines: [Engine::Linear, Engine::Enumeration],
            counts: [n, n + 1],
        };
        let refused: Vec<Unpredicted> = (0..5).map(|n| disagree(n).into()).collect();
        let choices = Same(Candidate::new([64, 1, 1], [1, 1, 1]).unwrap());
        let ranking = Placing::only_refused(refused).into_ranking(&estimators, &choices);
        let document = ranking_document(&estimators, ranking, 0.04, Vec::new()).unwrap();
        let page = ExplainedRanking::new(document, Vec::new(), 0, 2);
        assert_eq!((page.ranking.infeasible.len(), page.disagreements.len()), (2, 5));
        assert_eq!(page.disagreements[4], disagree(4).to_string());
    }

    /// One launch, as often as somebody asks for it.
    struct Same(Candidate);

    impl Choices for Same {
        fn count(&self) -> usize {
            usize::MAX
        }

        fn choice(&self, _: usize) -> Choice {
            Choice { kernel: 0, candidate: self.0 }
        }
    }
}
