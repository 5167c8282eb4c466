//! `compare`: the model beside a simulation of both caches.

use super::asker::fault;
use super::entry::{EntryGrid, EntrySource};
use super::launches::few;
use super::predictor::Predictor;
use super::question::{Pieces, Question, Replies, Reply};
use super::source::KernelsRead;
use crate::launch::{Candidate, Launch, Shapes};
use crate::measure::{CompareOptions, Comparison, compare, compare_with};
use crate::predict::Estimator;
use crate::report::trace::{ComparisonDocument, comparison_document};
use crate::report::{ErrorDocument, Warning};
use crate::space::Block;
use crate::text::Fault;
use crate::trace::TraceLimits;
use crate::trace::entry::EntrySynth;
use crate::traffic::Caches;

/// How far is the model from a simulation?
#[derive(Debug, Clone, Default)]
pub struct Compare {
    /// The launches that are simulated. A simulation takes seconds: without a block, only the first of a document.
    pub shapes: Shapes,
    /// How they are simulated.
    pub simulation: CompareOptions,
    /// The code of the kernel with the data that it needs: the simulation runs it, and the model has the document.
    pub run: Option<EntrySource>,
}

impl Question for Compare {
    type Answer = ComparisonDocument;

    fn blocks(&self) -> Vec<Block> {
        self.shapes.blocks.clone()
    }

    fn answer(&self, kernels: &KernelsRead, on: &Predictor<'_>, _: &Pieces) -> Replies<Self::Answer> {
        let kernels = &*kernels
            .covering(|kernel| few(&self.shapes, kernel).iter().map(|c| c.candidate.block()).collect())?;
        let mut replies = Vec::new();
        for kernel in kernels.kernels() {
            let mut estimator = on.estimator(kernel);
            // A wave in the middle of the launch is simulated: what waits when the launch ends is beyond it.
            if estimator.caches == Caches::Empty {
                estimator.caches = Caches::Cold;
            }
            let warnings = on.warnings(std::slice::from_ref(kernel), kernels.sources());
            for chosen in few(&self.shapes, kernel) {
                let candidate = chosen.candidate;
                let mut warnings = warnings.clone();
                let found = match &self.run {
                    None => compare(&estimator, candidate, self.simulation).map_err(|e| e.to_string()),
                    Some(entry) => self.running(entry, &estimator, candidate, &mut warnings)?,
                };
                replies.push(match found {
                    Ok(found) => Reply::found(comparison_document(&estimator, found, &chosen, warnings)),
                    Err(why) => {
                        let message = format!("{}: {candidate:?} cannot be compared: {why}", kernel.name);
                        Reply::Error(ErrorDocument::single("not-comparable", message, None))
                    }
                });
            }
        }
        Ok(replies)
    }
}

impl Compare {
    /// The comparison with what the threads of an entry do when they run.
    fn running(
        &self,
        entry: &EntrySource,
        estimator: &Estimator<'_>,
        candidate: Candidate,
        warnings: &mut Vec<Warning>,
    ) -> Result<Result<Comparison, String>, Fault> {
        let launch = match Launch::new(estimator.kernel, candidate) {
            Ok(launch) => launch,
            Err(why) => return Ok(Err(why.to_string())),
        };
        let (block, grid) = (Some(launch.sizes.block), EntryGrid::Known(launch.sizes.grid));
        let (machine, name) = EntrySource { block, grid, ..entry.clone() }.machine()?;
        let failed = |why: &dyn std::fmt::Display| fault("no-trace", format!("{name}: {why}"), None);
        let mut synth = EntrySynth::new(&machine, &name, TraceLimits::default()).map_err(|e| failed(&e))?;
        let found = compare_with(estimator, candidate, self.simulation, &mut |block| synth.trace([block]));
        if let Some((count, line)) = synth.guessed() {
            let message = format!(
                "{count} accesses and decisions of the simulation rest on data that was not given, the first in line {line}"
            );
            warnings.push(Warning { code: "data-missing", message, place: None });
        }
        Ok(found.map_err(|e| e.to_string()))
    }
}
