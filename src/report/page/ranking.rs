//! Rankings as pages, with the reasons of their best launches.

use std::io;

use serde::Serialize;

use super::frame::page;
use crate::launch::Staircase;
use crate::predict::MemoryLevel;
use crate::report::answer::{Answer, View};
use crate::report::explanation::{AccessDocument, ExplanationDocument, Sentence};
use crate::report::prediction::RankingDocument;
use crate::report::table::Table;

/// A ranking, and why the best of its launches are as fast as they are.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainedRanking {
    /// The ranking.
    pub ranking: RankingDocument,
    /// What is said of each of the first results, in their order.
    pub sentences: Vec<Vec<Sentence>>,
    /// What the first of them are made of; null for one that cannot be explained.
    pub details: Vec<Option<LaunchDetails>>,
    /// Why engines that were counted with disagree, also about launches that a page leaves out: for whoever asked.
    #[serde(skip)]
    pub disagreements: Vec<String>,
}

/// What an explanation says of a launch in numbers, without its neighbours.
#[derive(Debug, Clone, Serialize)]
pub struct LaunchDetails {
    /// What each instruction of a thread costs.
    pub accesses: Vec<AccessDocument>,
    /// Each boundary of the memory hierarchy.
    pub levels: Vec<MemoryLevel>,
    /// How occupancy falls with more registers and more shared memory.
    pub staircase: Staircase,
}

impl From<ExplanationDocument> for LaunchDetails {
    fn from(explanation: ExplanationDocument) -> Self {
        let ExplanationDocument { accesses, levels, staircase, .. } = explanation;
        Self { accesses, levels, staircase }
    }
}

/// What is said of a launch, and what it is made of.
pub type Explained = (Vec<Sentence>, Option<LaunchDetails>);

impl ExplainedRanking {
    /// A ranking of which a page has so many of the launches that cannot run, and numbers of the first `detailed` of
    /// those that are explained.
    pub fn new(
        mut ranking: RankingDocument,
        explained: Vec<Explained>,
        detailed: usize,
        refused: usize,
    ) -> Self {
        let disagree = ranking.infeasible.iter().filter(|r| r.code == "engines-disagree");
        let disagreements = disagree.map(|r| r.reason.to_string()).collect();
        ranking.infeasible.truncate(refused);
        let (sentences, mut details): (_, Vec<_>) = explained.into_iter().unzip();
        details.truncate(detailed);
        Self { ranking, sentences, details, disagreements }
    }
}

impl Answer for ExplainedRanking {
    fn text(&self, view: View) -> String {
        self.ranking.text(view)
    }

    fn table(answers: &[&Self]) -> Table {
        let rankings: Vec<&RankingDocument> = answers.iter().map(|a| &a.ranking).collect();
        RankingDocument::table(&rankings)
    }

    fn picture(&self) -> Option<String> {
        self.ranking.picture()
    }

    fn write_lines(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.ranking.write_lines(out)
    }
}

/// What the script finds in the page.
#[derive(Serialize)]
struct PageData<'a> {
    schema: &'static str,
    view: &'static str,
    rankings: &'a [&'a ExplainedRanking],
}

/// The page of some rankings.
pub fn ranking_page(rankings: &[&ExplainedRanking]) -> String {
    let mut names: Vec<&str> = rankings.iter().map(|r| r.ranking.head.kernel.name.as_str()).collect();
    let mut devices: Vec<String> = rankings.iter().map(|r| r.ranking.head.device.title()).collect();
    names.dedup();
    devices.dedup();
    let title = format!("Launches of {} on {}", names.join(", "), devices.join(", "));
    page(&title, &PageData { schema: "wavecast/report/1", view: "ranking", rankings })
}
