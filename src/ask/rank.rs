//! `rank`: all launches, best first.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::{Serialize, Serializer};

use super::asker::fault;
use super::predictor::Predictor;
use super::question::{Pieces, Question, Replies, Reply};
use super::source::KernelsRead;
use super::tie::Tie;
use crate::kernel::Kernel;
use crate::launch::{Candidate, Shapes};
use crate::predict::{Choice, Choices, Estimator, Placing, Plan, Watch};
use crate::quantity::{Ratio, Seconds};
use crate::report::{
    Answer, ENDED_EARLY, LongRanking, OnDevice, RankingDocument, Table, View, Warning, ranking_columns,
    ranking_document,
};
use crate::space::{Block, Fold};
use crate::text::Fault;

/// Which launches of a kernel are fast? The variants of a document compete.
#[derive(Debug, Clone, Default)]
pub struct Rank {
    /// Launches to consider instead of those of the documents.
    pub shapes: Shapes,
    /// Rates that the model cannot tell apart.
    pub tie: Tie,
    /// How many are answered with; all of them by default.
    pub top: Option<usize>,
}

impl Question for Rank {
    type Answer = RankingDocument;

    fn blocks(&self) -> Vec<Block> {
        self.shapes.blocks.clone()
    }

    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, pieces: &Pieces) -> Replies<Self::Answer> {
        let kernels = &*kernels.covering(|kernel| self.shapes.blocks(kernel))?;
        let mut replies = Vec::new();
        for of_document in kernels.documents() {
            let (launches, placing) = self.placed(of_document, on, usize::MAX, pieces)?;
            let estimators = estimators(of_document, on);
            let ranking = placing.into_ranking(&estimators, &launches);
            let warnings = on.warnings(of_document, kernels.sources());
            replies
                .extend(ranking_document(&estimators, ranking, self.tie.share(), warnings).map(Reply::found));
        }
        Ok(replies)
    }
}

impl Rank {
    /// The launches of the kernels of a document in their places; the results of up to `held` are kept in memory.
    fn placed(
        &self,
        kernels: &[Kernel],
        on: &Predictor<'_>,
        held: usize,
        pieces: &Pieces,
    ) -> Result<(Launches, Placing), Fault> {
        if let Some(message) = kernels.iter().find_map(|of| self.shapes.too_long(of)) {
            let help = "give fewer or smaller folds at a time";
            return Err(fault("too-many-folds", message, Some(help)));
        }
        let launches = Launches::new(&self.shapes, kernels);
        pieces.begin(launches.count());
        let plan = Plan { error_share: self.tie.share(), most: self.top.unwrap_or(usize::MAX), held };
        let watch = Watch { done: &pieces.done, end: &pieces.end };
        let placing = Placing::new(&estimators(kernels, on), &launches, plan, watch);
        Ok((launches, placing))
    }
}

fn estimators<'a>(kernels: &'a [Kernel], on: &'a Predictor<'_>) -> Vec<Estimator<'a>> {
    kernels.iter().map(|k| on.estimator(k)).collect()
}

/// The launches of several kernels, kernel by kernel for each fold all blocks.
struct Launches(Vec<(Vec<Block>, Vec<Fold>)>);

impl Launches {
    fn new(shapes: &Shapes, kernels: &[Kernel]) -> Self {
        Self(kernels.iter().map(|kernel| shapes.lists(kernel)).collect())
    }
}

impl Choices for Launches {
    fn count(&self) -> usize {
        self.0.iter().map(|(blocks, folds)| blocks.len().saturating_mul(folds.len())).sum()
    }

    fn choice(&self, number: usize) -> Choice {
        let mut left = number;
        for (kernel, (blocks, folds)) in self.0.iter().enumerate() {
            if let Some(&fold) = left.checked_div(blocks.len()).and_then(|i| folds.get(i)) {
                return Choice { kernel, candidate: Candidate::shaped(blocks[left % blocks.len()], fold) };
            }
            left -= blocks.len() * folds.len();
        }
        unreachable!("launch {number} of {}", self.count())
    }
}

/// The same question where there may be a million launches: what does not fit into memory is found out again as it
/// is written.
#[derive(Debug)]
pub struct RankAll<'p> {
    /// The question.
    pub rank: Rank,
    /// What predicts, also when the answer is written.
    pub on: &'p Predictor<'p>,
    /// Results of a document that are held in memory; where there are more, they are predicted again.
    pub held: usize,
    /// Counts what is written.
    pub written: Arc<Pieces>,
}

impl RankAll<'_> {
    /// Some 50 MB.
    pub const HELD: usize = 1 << 14;
}

impl<'p> Question for RankAll<'p> {
    type Answer = RankingAnswer<'p>;

    fn blocks(&self) -> Vec<Block> {
        self.rank.blocks()
    }

    fn answer(&self, kernels: &KernelsRead, _: &Predictor<'_>, pieces: &Pieces) -> Replies<Self::Answer> {
        let kernels = kernels.covering(|kernel| self.rank.shapes.blocks(kernel))?.into_owned();
        let mut replies = Vec::new();
        for (document, of_document) in kernels.documents().enumerate() {
            let (launches, placing) = self.rank.placed(of_document, self.on, self.held, pieces)?;
            let mut warnings = self.on.warnings(of_document, kernels.sources());
            if let Some(all) = placing.ended_before() {
                let message =
                    format!("ended early: {} of {all} candidates were looked at", placing.candidates());
                warnings.push(Warning { code: ENDED_EARLY, message, place: None });
            }
            self.written.all.fetch_add(placing.results(), Ordering::Relaxed);
            replies.push(Reply::found(RankingAnswer {
                kernels: kernels.clone(),
                document,
                on: self.on,
                launches,
                placing,
                tie: self.rank.tie,
                warnings,
                elapsed_s: None,
                device_relative: None,
                written: Arc::clone(&self.written),
            }));
        }
        Ok(replies)
    }
}

/// A ranking of as many launches as there are.
pub struct RankingAnswer<'p> {
    kernels: KernelsRead,
    /// The document of these kernels that it is about.
    document: usize,
    on: &'p Predictor<'p>,
    launches: Launches,
    placing: Placing,
    tie: Tie,
    warnings: Vec<Warning>,
    /// Seconds that it took, if they are to be told.
    pub elapsed_s: Option<f64>,
    device_relative: Option<Ratio>,
    written: Arc<Pieces>,
}

impl RankingAnswer<'_> {
    /// Which launches are the best.
    pub fn placing(&self) -> &Placing {
        &self.placing
    }

    /// Does something with what writes it.
    fn with<T>(&self, work: impl FnOnce(&LongRanking<'_>) -> T) -> T {
        // The kernels are those whose launches were placed.
        let kernels =
            self.kernels.documents().nth(self.document).expect("there are as many documents as then");
        work(&LongRanking {
            estimators: estimators(kernels, self.on),
            choices: &self.launches,
            placing: &self.placing,
            tie_error_share: self.tie.share(),
            warnings: &self.warnings,
            elapsed_s: self.elapsed_s,
            device_relative: self.device_relative,
            written: &self.written.done,
        })
    }
}

/// The columns of a table of these rankings.
fn heads(answers: &[&RankingAnswer<'_>]) -> Table {
    ranking_columns(answers.iter().any(|a| a.device_relative.is_some()))
}

impl OnDevice for RankingAnswer<'_> {
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method alone is one of a single lifetime"
    )]
    fn launches(&self) -> RankingDocument {
        self.with(|ranking| ranking.shown())
    }

    fn best_time(&self) -> Option<Seconds> {
        self.with(|ranking| {
            let first =
                self.placing.each(&ranking.estimators, ranking.choices, |r| Err(r.prediction.time.seconds));
            first.err()
        })
    }

    fn set_device_relative(&mut self, share: Option<Ratio>) {
        self.device_relative = share;
    }
}

impl Serialize for RankingAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with(|ranking| ranking.serialize(serializer))
    }
}

impl Answer for RankingAnswer<'_> {
    const LINES_ARE_RESULTS: bool = true;

    fn text(&self, view: View) -> String {
        self.with(|ranking| ranking.text(view))
    }

    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method alone is one of a single lifetime"
    )]
    fn table(answers: &[&Self]) -> Table {
        let tables = answers.iter().map(|a| a.with(|ranking| ranking.table()));
        Table::join(std::iter::once(heads(answers)).chain(tables))
    }

    fn write_csv(answers: &[&Self], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(heads(answers).csv().as_bytes())?;
        answers.iter().try_for_each(|a| a.with(|ranking| ranking.write_csv_rows(out)))
    }

    fn write_markdown(answers: &[&Self], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(heads(answers).markdown().as_bytes())?;
        answers.iter().try_for_each(|a| a.with(|ranking| ranking.write_markdown_rows(out)))
    }

    fn beside_rows(&self) -> Vec<String> {
        self.with(|ranking| ranking.frame().beside_rows())
    }

    #[cfg(feature = "cli")]
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method alone is one of a single lifetime"
    )]
    fn picture(&self) -> Option<String> {
        self.with(|ranking| ranking.picture())
    }

    fn write_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        self.with(|ranking| ranking.write_lines(out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DeviceSource, KernelSource};
    use super::*;

    const KERNEL: &str =
        "{wavecast: 1, kernel: k, fields: {a: {dtype: f64, shape: [640, 128]}, b: {like: a}},
        domain: {x: 640, y: 128}, loads: ['a[x, y]', 'a[x, y + 1]'], stores: ['b[x, y]'],
        launch: {block: {x: pow2(16..2048), y: pow2(1..2)}, fold: [[1, 1], [1, 2]]},
        variants: [{name: first}, {name: second, work: {flops: 2000}}]}";

    fn kernels() -> KernelsRead {
        KernelSource::new("k.yaml", KERNEL).read().unwrap()
    }

    #[test]
    fn launches_have_the_numbers_of_a_list() {
        let (kernels, shapes) = (kernels(), Shapes::default());
        let launches = Launches::new(&shapes, kernels.kernels());
        let listed = kernels.kernels().iter().enumerate().flat_map(|(kernel, of)| {
            shapes.candidates(of).into_iter().map(move |candidate| Choice { kernel, candidate })
        });
        assert_eq!(
            (0..launches.count()).map(|i| launches.choice(i)).collect::<Vec<_>>(),
            listed.collect::<Vec<_>>()
        );
    }

    /// What is found out again as it is written is what was held, and what the whole document says.
    #[test]
    fn what_is_not_held_is_written_alike() {
        let (kernels, on) = (kernels(), Predictor::new(DeviceSource::named("a100")).unwrap());
        for top in [None, Some(0), Some(7)] {
            let rank = Rank { top, ..Rank::default() };
            let whole = rank.answer(&kernels, &on, &Pieces::default()).unwrap();
            let whole = whole[0].answer().unwrap();
            assert!(whole.summary.feasible > 20 && whole.infeasible.len() > 2);
            for held in [0, 30, usize::MAX] {
                let written = Arc::new(Pieces::default());
                let all = RankAll { rank: rank.clone(), on: &on, held, written: Arc::clone(&written) };
                let replies = all.answer(&kernels, &on, &Pieces::default()).unwrap();
                let long = replies[0].answer().unwrap();
                let json = |value: &dyn Fn() -> serde_json::Result<String>| value().unwrap();
                assert_eq!(
                    json(&|| serde_json::to_string_pretty(long)),
                    json(&|| serde_json::to_string_pretty(whole))
                );
                assert_eq!(written.done.load(Ordering::Relaxed), whole.results.len());
                let written = |write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
                    let mut out = Vec::new();
                    write(&mut out).unwrap();
                    String::from_utf8(out).unwrap()
                };
                let (a, b) = ([long], [whole]);
                assert_eq!(written(&|o| long.write_lines(o)), written(&|o| whole.write_lines(o)));
                assert_eq!(written(&|o| Answer::write_csv(&a, o)), written(&|o| Answer::write_csv(&b, o)));
                assert_eq!(
                    written(&|o| Answer::write_markdown(&a, o)),
                    written(&|o| Answer::write_markdown(&b, o))
                );
                assert_eq!(long.text(View::default()), whole.text(View::default()));
                assert_eq!(RankingAnswer::table(&a).csv(), RankingDocument::table(&b).csv());
                #[cfg(feature = "cli")]
                assert_eq!(long.picture(), whole.picture());
            }
        }
    }

    #[test]
    fn who_ends_it_gets_what_is_known() {
        let (kernels, on) = (kernels(), Predictor::new(DeviceSource::named("a100")).unwrap());
        let question =
            RankAll { rank: Rank::default(), on: &on, held: RankAll::HELD, written: Arc::default() };
        let pieces = Pieces::default();
        pieces.end.store(true, Ordering::Relaxed);
        let replies = question.answer(&kernels, &on, &pieces).unwrap();
        let placing = replies[0].answer().unwrap().placing();
        assert_eq!((placing.candidates(), placing.ended_before()), (0, Some(64)));
        let text = serde_json::to_string(replies[0].answer().unwrap()).unwrap();
        assert!(text.contains("ended early: 0 of 64 candidates were looked at"), "{text}");
    }
}
